package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/memory"
)

const allOfShop = "/v1/apps/shop/all/memories"

// stock adds facts of some users, n each, and returns the ids by user.
func (a *api) stock(n int, users ...string) map[string][]string {
	a.t.Helper()
	out := map[string][]string{}
	for _, user := range users {
		for i := range n {
			m := a.want(201, "POST", "/v1/apps/shop/users/"+user+"/memories", request{
				"fact":     fmt.Sprintf("%s keeps %d jars of ramen.", user, i),
				"topics":   []string{fmt.Sprint("T", i%2)},
				"metadata": request{"n": i},
			})
			out[user] = append(out[user], text(m, "id"))
		}
	}
	return out
}

// texts are those of all memories of a user.
func (a *api) texts(user string) (out []string) {
	a.t.Helper()
	for _, m := range list(a.want(200, "GET", "/v1/apps/shop/users/"+user+"/memories?history=true", nil), "memories") {
		out = append(out, text(m, "fact"))
	}
	slices.Sort(out)
	return out
}

// A purge takes the memories that meet all conditions, with their history, and no other;
// a dry run counts the same and changes nothing.
func TestPurge(t *testing.T) {
	dir := t.TempDir()
	a := start(t, inDir(dir))
	ids := a.stock(6, "ann", "bob")
	const ann = "/v1/apps/shop/users/ann"
	changed := ann + "/memories/" + ids["ann"][3]
	a.want(200, "PATCH", changed, request{"fact": "ann keeps an okapi."})
	a.want(200, "PATCH", changed, request{"fact": "ann keeps a numbat."})
	body := request{"topics": []string{"T1"}, "filter": "metadata.n > 1", "kind": "fact", "dryRun": true}
	if n := number(a.want(200, "POST", ann+"/memories/purge", body), "count"); n != 2 {
		t.Errorf("a dry run counts %v", n)
	}
	if got := a.texts("ann"); len(got) != 6 {
		t.Errorf("a dry run left %q", got)
	}
	body["dryRun"] = false
	for _, want := range []float64{2, 0} {
		if n := number(a.want(200, "POST", ann+"/memories/purge", body), "count"); n != want {
			t.Errorf("purged %v, want %v", n, want)
		}
	}
	left := []string{"ann keeps 0 jars of ramen.", "ann keeps 1 jars of ramen.", "ann keeps 2 jars of ramen.",
		"ann keeps 4 jars of ramen."}
	if got := a.texts("ann"); !slices.Equal(got, left) {
		t.Errorf("left are %q", got)
	}
	a.want(404, "GET", changed+"/revisions", nil)
	for _, word := range []string{"okapi", "numbat"} {
		if files := filetest.With(t, dir, word); len(files) > 0 {
			t.Errorf("%q is still in %v", word, files)
		}
	}
	if got := a.texts("bob"); len(got) != 6 {
		t.Errorf("bob has %q", got)
	}
}

// Turns and facts of a session are purged, superseded ones too; the session stays.
func TestPurgeSession(t *testing.T) {
	a := start(t)
	const ann = "/v1/apps/shop/users/ann"
	a.said("ann", "s1", "", "I live in Porto.", "I live in Lisbon now.")
	a.said("ann", "s2", "", "I am allergic to peanuts.")
	was := len(a.texts("ann"))
	n := number(a.want(200, "POST", ann+"/memories/purge", request{"sessionId": "s1"}), "count")
	if n < 4 || int(n) != was-len(a.texts("ann")) {
		t.Errorf("purged %v of %d, left %q", n, was, a.texts("ann"))
	}
	for _, fact := range a.texts("ann") {
		if !strings.Contains(fact, "peanuts") {
			t.Errorf("left is %q", fact)
		}
	}
	if n := len(list(a.want(200, "GET", ann+"/sessions/s1", nil), "events")); n != 2 {
		t.Errorf("the session has %d events", n)
	}
}

// Across the users of an app: lists, an id, and a purge.
func TestAllMemories(t *testing.T) {
	a := start(t)
	ids := a.stock(5, "ann", "bob", "cy")
	a.want(201, "POST", "/v1/apps/other/users/ann/memories", request{"fact": "Another app keeps ramen."})
	got := map[string]bool{}
	for token := ""; ; {
		out := a.want(200, "GET", allOfShop+"?filter=metadata.n%3E0&pageSize=5&pageToken="+token, nil)
		for _, m := range list(out, "memories") {
			got[text(m, "userId")+text(m, "id")] = true
			if text(m, "appName") != "shop" {
				t.Errorf("a list of the app has %v", m)
			}
		}
		if token = text(out, "nextPageToken"); token == "" {
			break
		}
	}
	if len(got) != 12 {
		t.Errorf("the list has %v", got)
	}
	if m := a.want(200, "GET", allOfShop+"/"+ids["bob"][0], nil); text(m, "userId") != "bob" {
		t.Errorf("found %v", m)
	}
	a.want(404, "GET", allOfShop+"/none", nil)
	for i, want := range []float64{6, 6, 0} {
		body := request{"filter": "metadata.n >= 3", "dryRun": i == 0}
		if n := number(a.want(200, "POST", allOfShop+"/purge", body), "count"); n != want {
			t.Errorf("call %d has taken %v, want %v", i, n, want)
		}
	}
	for user := range ids {
		if n := len(a.texts(user)); n != 3 {
			t.Errorf("%s has %d", user, n)
		}
	}
}

// An answer tells that two users have a memory of the id that is asked for.
func TestAmbiguousMemory(t *testing.T) {
	a := start(t, func(s *setup) {
		s.memories = func(store memory.Store) memory.Store {
			for _, user := range []string{"ann", "bob"} {
				m := memory.Memory{ID: "same", Scope: memory.Scope{App: "shop", User: user}, Kind: memory.KindFact,
					Fact: "Ramen.", Timestamp: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
				if _, err := store.Put(t.Context(), m.Scope, []memory.Write{{Memory: m}}); err != nil {
					t.Fatal(err)
				}
			}
			return store
		}
	})
	out := a.want(400, "GET", allOfShop+"/same", nil)
	if message := fmt.Sprint(out); !strings.Contains(message, "2 users") ||
		!strings.Contains(message, "ann") || !strings.Contains(message, "bob") {
		t.Errorf("the answer is %v", out)
	}
}

// A purge without a condition is refused, and so is one of an app without a filter.
func TestPurgeRefuses(t *testing.T) {
	a := start(t)
	a.stock(1, "ann")
	const purge = "/v1/apps/shop/users/ann/memories/purge"
	for _, body := range []request{
		{}, {"dryRun": true}, {"filter": ""}, {"filter": "  "}, {"topics": []string{}}, {"kind": "thought"},
		{"kind": ""}, {"filter": "fact ="}, {"filter": "(" + strings.Repeat("(", 1000)}, {"until": "soon"},
		{"filter": strings.Repeat("x ", 1<<19)}, {"all": true}, {"kind": "fact", "userId": "bob"},
	} {
		a.want(400, "POST", purge, body)
		a.want(400, "POST", allOfShop+"/purge", body)
	}
	for _, body := range []request{
		{"kind": "fact"}, {"topics": []string{"T0"}}, {"sessionId": "s"}, {"until": "2030-01-01T00:00:00Z"},
		{"filter": "kind = fact", "userId": "ann"},
	} {
		a.want(400, "POST", allOfShop+"/purge", body)
	}
	a.want(400, "POST", allOfShop+"/purge", request{"filter": "kind = fact", "appName": "other"})
	if got := a.texts("ann"); len(got) != 1 {
		t.Errorf("left are %q", got)
	}
}

// A list of revisions with a filter is, in pages of any size, the whole list without those
// that it does not pass.
func TestRevisionFilter(t *testing.T) {
	a := start(t, func(s *setup) {
		s.memories = func(store memory.Store) memory.Store {
			for i := range 25 {
				m := memory.Memory{ID: "m", Scope: memory.Scope{App: "shop", User: "ann"}, Kind: memory.KindFact,
					Fact: fmt.Sprintf("%d jars.", i), Timestamp: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
				w := memory.Write{Memory: m, Expect: int64(i), Labels: memory.Labels{"odd": fmt.Sprint(i % 2)}}
				if out, err := store.Put(t.Context(), m.Scope, []memory.Write{w}); err != nil || out[0].Err != nil {
					t.Fatal(out, err)
				}
			}
			return store
		}
	})
	const path = "/v1/apps/shop/users/ann/memories/m/revisions"
	for filter, want := range map[string]int{
		"": 25, `labels.odd = 1`: 12, `labels.odd:"1" AND revision > 20`: 2, "action = CREATED": 1, "labels.even:*": 0,
		"NOT labels.odd = 0": 12, `fact =~ "^1[0-9] jars"`: 10,
	} {
		for _, size := range []int{1, 5, 100} {
			got, before := 0, 26.0
			for token := ""; ; {
				q := url.Values{"filter": {filter}, "pageSize": {fmt.Sprint(size)}, "pageToken": {token}}
				out := a.want(200, "GET", path+"?"+q.Encode(), nil)
				for _, r := range list(out, "revisions") {
					if got++; number(r, "revision") >= before {
						t.Errorf("%s: revision %v after %v", filter, number(r, "revision"), before)
					}
					before = number(r, "revision")
				}
				if token = text(out, "nextPageToken"); token == "" {
					break
				}
			}
			if got != want {
				t.Errorf("%s in pages of %d has %d revisions, want %d", filter, size, got, want)
			}
		}
	}
	first := list(a.want(200, "GET", path+"?pageSize=1", nil), "revisions")[0]
	if fmt.Sprint(first.(map[string]any)["labels"]) != "map[odd:0]" {
		t.Errorf("the newest revision is %v", first)
	}
	a.want(400, "GET", path+"?filter=kind%3Dfact", nil)
	a.want(400, "GET", path+"?filter=labels%3D", nil)
}
