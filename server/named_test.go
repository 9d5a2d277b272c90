package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client's name, description and expiry come back, a patch changes them, null clears
// them, and a filter finds by them.
func TestNames(t *testing.T) {
	a := start(t)
	future := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")
	m := a.want(201, "POST", scope+"/memories", fmt.Sprintf(`{"fact": "Ann keeps bees.", "displayName": "Hobby 🐝",
		"description": "What she does on Sundays.", "expireTime": %q}`, future))
	path := scope + "/memories/" + text(m, "id")
	equal(t, "the memory", []any{at(m, "displayName"), at(m, "description"), at(m, "expireTime")},
		fmt.Sprintf(`["Hobby 🐝", "What she does on Sundays.", %q]`, future))
	same(t, "as read", a.want(200, "GET", path, nil), m)
	for filter, found := range map[string]bool{
		`display_name:hobby`: true, `displayName="x"`: false, `description=~"^What"`: true, `description:*`: true,
		`revision=1`: true, `revision>1`: false, `NOT revision<1.5`: false,
	} {
		list := a.want(200, "GET", scope+"/memories?filter="+url.QueryEscape(filter), nil)
		same(t, filter, any(strings.Contains(fmt.Sprint(list), "bees")), any(found))
	}
	m = a.want(200, "PATCH", path, `{"displayName": "Work", "description": null, "expireTime": null}`)
	equal(t, "patched", []any{at(m, "displayName"), at(m, "description"), at(m, "expireTime"), at(m, "revision"),
		at(m, "fact")}, `["Work", null, null, 2, "Ann keeps bees."]`)
	m = a.want(200, "PATCH", path, `{"displayName": null}`)
	equal(t, "cleared", at(m, "displayName"), `null`)

	past := time.Now().Add(-time.Second).UTC().Format(time.RFC3339)
	for want, body := range map[string]string{
		"displayName":             fmt.Sprintf(`{"displayName": %q}`, strings.Repeat("é", 129)),
		"description":             fmt.Sprintf(`{"description": %q}`, strings.Repeat("x", 4097)),
		"expireTime: " + past[:4]: fmt.Sprintf(`{"expireTime": %q}`, past),
		"ttl and expireTime":      fmt.Sprintf(`{"ttl": 5, "expireTime": %q}`, future),
	} {
		a.refused(400, "PATCH", path, body, want)
		a.refused(400, "POST", scope+"/memories", `{"fact": "x", `+body[1:], want)
	}
	a.refused(400, "PATCH", path, `{"ttl": null, "expireTime": null}`, "ttl and expireTime")
}

// A client that names a memory can repeat the request. What says something else is
// refused, and so is the id of a memory that is gone.
func TestOwnID(t *testing.T) {
	a := start(t)
	const path = scope + "/memories"
	body := `{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 1}, "ttl": 3600}`
	first := a.want(201, "POST", path, body)
	equal(t, "the id", at(first, "id"), `"note-1"`)
	same(t, "repeated", a.want(201, "POST", path, body), first)
	same(t, "as one spells JSON otherwise", a.want(201, "POST", path,
		`{"ttl": "1h", "metadata": {"a": 1.0}, "topics": ["x"], "fact": "Ann keeps bees.", "id": "note-1"}`), first)
	for _, other := range []string{
		`{"id": "note-1", "fact": "Ann keeps ducks.", "topics": ["x"], "metadata": {"a": 1}, "ttl": 3600}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 2}, "ttl": 3600}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 1}, "ttl": 3601}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 1}}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "metadata": {"a": 1}, "ttl": 3600}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 1}, "ttl": 3600,
			"displayName": "n"}`,
		`{"id": "note-1", "fact": "Ann keeps bees.", "topics": ["x"], "metadata": {"a": 1}, "ttl": 3600,
			"validFrom": "2024-01-01T00:00:00Z"}`,
	} {
		a.refused(409, "POST", path, other, "note-1", "already exists", "something else")
	}
	said := `{"id": "note-3", "fact": "Ann keeps bees.", "author": "bob"}`
	by := a.want(201, "POST", path, said)
	equal(t, "the author", at(by, "author"), `"bob"`)
	same(t, "repeated with an author", a.want(201, "POST", path, said), by)
	a.refused(409, "POST", path, `{"id": "note-3", "fact": "Ann keeps bees."}`, "something else")
	a.refused(400, "POST", path, `{"fact": "x", "author": "`+strings.Repeat("x", 257)+`"}`, "author")
	// The repetition of a request that came before a change undoes nothing.
	changed := a.want(200, "PATCH", path+"/note-1", `{"fact": "Ann keeps ducks."}`)
	same(t, "repeated after a change", a.want(201, "POST", path, body), changed)

	a.want(204, "DELETE", path+"/note-1", nil)
	a.refused(409, "POST", path, body, "already exists", "was deleted")
	expired := `{"id": "note-2", "fact": "x", "ttl": "1ns"}`
	a.want(201, "POST", path, expired)
	a.refused(409, "POST", path, expired, "has expired")
	// Another user's id is another memory.
	a.want(201, "POST", strings.Replace(path, "ann", "bob", 1), body)

	for _, bad := range []string{`"a/b"`, `".."`, `"` + strings.Repeat("x", 257) + `"`, `"a\u0000"`, `7`,
		`"6ba7b811-9dad-51d1-80b4-00c04fd430c8"`} {
		a.refused(400, "POST", path, `{"id": `+bad+`, "fact": "x"}`, "id")
	}
	a.want(201, "POST", path, `{"id": "6ba7b811-9dad-41d1-80b4-00c04fd430c8", "fact": "x"}`)
}

// Of several requests with one id at once, all that say the same get the same memory.
func TestOwnIDAtOnce(t *testing.T) {
	a := start(t)
	var each sync.WaitGroup
	answers := make([]any, 16)
	for i := range answers {
		each.Go(func() {
			r := a.do("POST", scope+"/memories", `{"id": "one", "fact": "Ann keeps bees."}`)
			if answers[i], _ = parse(r.raw); r.status != 201 {
				t.Errorf("status %d: %s", r.status, r.raw)
			}
		})
	}
	each.Wait()
	for _, m := range answers {
		same(t, "the memory", m, answers[0])
	}
}
