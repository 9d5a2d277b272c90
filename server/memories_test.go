package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestAddMemory(t *testing.T) {
	a := start(t)
	equal(t, "an empty list", a.want(200, "GET", scope+"/memories", nil), `{"memories": []}`)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "Ann keeps bees. 🐝", "topics": ["HOBBIES", "x"],
		"metadata": {"a": 1, "b": null, "c": {"d": [1e400]}}, "ttl": "48h",
		"validFrom": "2024-05-01T00:00:00+02:00", "appName": "app", "userId": "ann"}`)
	equal(t, "what was given", []any{at(m, "fact"), at(m, "topics"), at(m, "metadata"), at(m, "validFrom"),
		at(m, "kind"), at(m, "revision"), at(m, "appName"), at(m, "userId"), at(m, "source")},
		`["Ann keeps bees. 🐝", ["HOBBIES", "x"], {"a": 1, "b": null, "c": {"d": [1e400]}},
			"2024-04-30T22:00:00.000000Z", "fact", 1, "app", "ann", {}]`)
	for _, field := range []string{"id", "timestamp", "createTime", "updateTime", "expireTime"} {
		if text(m, field) == "" {
			t.Errorf("there is no %s in %v", field, m)
		}
	}
	same(t, "as read", a.want(200, "GET", scope+"/memories/"+text(m, "id"), nil), m)
	same(t, "as listed", a.want(200, "GET", scope+"/memories", nil), any(map[string]any{"memories": []any{m}}))
	plain := a.want(201, "POST", scope+"/memories", `{"fact": "Ann keeps bees. 🐝"}`)
	if text(plain, "id") == text(m, "id") || at(plain, "expireTime") != nil || at(plain, "validFrom") != nil ||
		at(plain, "metadata") != nil {
		t.Errorf("a plain memory is %v", plain)
	}
	equal(t, "topics of a plain memory", at(plain, "topics"), `[]`)
	for _, ttl := range []string{"0", "null", `"0s"`} {
		if m := a.want(201, "POST", scope+"/memories", `{"fact": "x", "ttl": `+ttl+`}`); at(m, "expireTime") != nil {
			t.Errorf("ttl %s: it expires at %v", ttl, at(m, "expireTime"))
		}
	}
	for _, ttl := range []string{"3600", "3600.5", "1e3", `"1h30m"`, `"0.5s"`, `"100ms"`} {
		r := a.do("POST", scope+"/memories", `{"fact": "x", "ttl": `+ttl+`}`)
		if m, err := parse(r.raw); err != nil || r.status != 201 || at(m, "expireTime") == nil {
			t.Errorf("ttl %s: status %d: %s", ttl, r.status, r.raw)
		}
	}
	// The shortest ttl is rounded up, not down to zero: the memory expires before
	// it can be read.
	m = a.want(201, "POST", scope+"/memories", `{"fact": "x", "ttl": "1ns"}`)
	a.refused(404, "GET", scope+"/memories/"+text(m, "id"), nil)
	a.refused(400, "POST", scope+"/memories", `{"fact": " \n\t"}`, "fact")
}

func TestGetMemory(t *testing.T) {
	a := start(t)
	a.refused(404, "GET", scope+"/memories/none", nil, "none", "not found")
	a.refused(404, "GET", scope+"/memories/ingest", nil)
	a.refused(404, "GET", scope+"/memories/search", nil)
	a.refused(404, "GET", scope+"/memories/none/revisions", nil)
	a.refused(404, "PATCH", scope+"/memories/none", `{"fact": "x"}`)
	a.refused(404, "DELETE", scope+"/memories/none", nil)
}

func TestPatchMemory(t *testing.T) {
	a := start(t)
	path := scope + "/memories/" + text(a.want(201, "POST", scope+"/memories",
		`{"fact": "one", "topics": ["t"], "metadata": {"a": 1}, "ttl": 3600}`), "id")
	before := a.want(200, "GET", path, nil)
	for i, step := range []struct{ body, field, want string }{
		{`{"fact": "two"}`, "fact", `"two"`},
		{`{"topics": ["u", "v"]}`, "topics", `["u", "v"]`},
		{`{"topics": null}`, "topics", `[]`},
		{`{"metadata": {"b": {"c": 1.50}}}`, "metadata", `{"b": {"c": 1.50}}`},
		{`{"metadata": null}`, "metadata", `null`},
		{`{"ttl": null}`, "expireTime", `null`},
		{`{"fact": "three", "topics": ["w"], "metadata": {"d": 1}}`, "fact", `"three"`},
	} {
		m := a.want(200, "PATCH", path, step.body)
		equal(t, step.body, at(m, step.field), step.want)
		equal(t, "revision", at(m, "revision"), fmt.Sprint(i+2))
		same(t, "as read", a.want(200, "GET", path, nil), m)
		for _, f := range []string{"id", "createTime", "timestamp", "kind", "fact", "topics", "metadata",
			"expireTime"} {
			if !strings.Contains(step.body, f) && !(f == "expireTime" && strings.Contains(step.body, "ttl")) {
				same(t, f+" after "+step.body, at(m, f), at(before, f))
			}
		}
		before = m
	}
	m := a.want(200, "PATCH", path, `{"ttl": "24h"}`)
	if at(m, "expireTime") == nil {
		t.Error("a ttl gives no expireTime")
	}
	a.want(200, "PATCH", path, `{"ttl": 0}`)
	unchanged := a.want(200, "PATCH", path, `{"fact": "three"}`)
	equal(t, "the same fact again makes no revision", at(unchanged, "revision"), `10`) // seven above, and two of ttl
	if hits := list(a.want(200, "POST", scope+"/memories/search", `{"query": "three"}`), "memories"); len(hits) != 1 {
		t.Errorf("the changed fact is found %d times", len(hits))
	}
	equal(t, "a search for the old words", a.want(200, "POST", scope+"/memories/search",
		`{"query": "two", "minScore": 0.2}`), `{"memories": [], "confidence": 0}`)

	stored := a.contents()
	for _, body := range []string{``, `{}`, `null`, `{"fact": null}`, `{"fact": ""}`} {
		a.refused(400, "PATCH", path, body, "fact")
	}
	a.refused(400, "PATCH", path, `{"revision": 5}`, "revision")
	a.refused(400, "PATCH", path, `{"id": "x"}`, "id")
	a.refused(400, "PATCH", path, `{"appName": "other", "fact": "x"}`, "appName")
	same(t, "what is stored", a.contents(), stored)
}

func TestDeleteMemoryAndRevisions(t *testing.T) {
	a := start(t)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "one"}`)
	path := scope + "/memories/" + text(m, "id")
	a.want(200, "PATCH", path, `{"fact": "two"}`)
	a.want(204, "DELETE", path, nil)
	a.refused(404, "DELETE", path, nil, text(m, "id"))
	a.refused(404, "GET", path, nil)
	a.refused(404, "PATCH", path, `{"fact": "three"}`)
	equal(t, "the list", a.want(200, "GET", scope+"/memories", nil), `{"memories": []}`)
	equal(t, "a search", a.want(200, "POST", scope+"/memories/search", `{"query": "two"}`), `{"memories": [], "confidence": 0}`)
	revisions := list(a.want(200, "GET", path+"/revisions", nil), "revisions")
	var got []any
	for _, r := range revisions {
		got = append(got, []any{at(r, "revision"), at(r, "action"), at(r, "fact"), at(r, "actor")})
		if text(r, "createTime") == "" {
			t.Errorf("revision %v has no time", at(r, "revision"))
		}
	}
	equal(t, "revisions", got,
		`[[3, "DELETED", "two", "client"], [2, "UPDATED", "two", "client"], [1, "CREATED", "one", "client"]]`)
}

// TestRollback checks that a rollback restores what a revision said, also of a
// deleted memory.
func TestRollback(t *testing.T) {
	a := start(t)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "one", "topics": ["t"]}`)
	path := scope + "/memories/" + text(m, "id")
	a.want(200, "PATCH", path, `{"fact": "two", "topics": []}`)
	a.want(204, "DELETE", path, nil)
	back := a.want(200, "POST", path+"/rollback", `{"revision": 1}`)
	equal(t, "memory", []any{at(back, "fact"), at(back, "topics"), at(back, "revision")}, `["one", ["t"], 4]`)
	same(t, "Get", a.want(200, "GET", path, nil), back)
	a.want(204, "DELETE", path, nil)
	changed := a.want(200, "POST", path+"/rollback",
		`{"revision": 1, "change": {"fact": "three", "metadata": {"k": 1}, "validTo": null, "ttl": 60}}`)
	equal(t, "changed", []any{at(changed, "fact"), at(changed, "topics"), at(changed, "metadata"), at(changed, "revision")},
		`["three", ["t"], {"k": 1}, 6]`)
	same(t, "Get", a.want(200, "GET", path, nil), changed)
	equal(t, "the only revision since the deletion", []any{
		at(a.want(200, "GET", path+"/revisions", nil), "revisions", 0, "fact"),
		at(a.want(200, "GET", path+"/revisions", nil), "revisions", 1, "action")}, `["three", "DELETED"]`)
	a.refused(400, "POST", path+"/rollback", `{"revision": 1, "change": {}}`, "nothing to change")
	a.refused(400, "POST", path+"/rollback", `{"revision": 3}`, "deletion")
	a.refused(404, "POST", path+"/rollback", `{"revision": 9}`, "9")
	a.refused(404, "POST", scope+"/memories/none/rollback", `{"revision": 1}`)
}

// TestSuperseded checks that a contradicting fact supersedes an older one, that a
// dry run predicts it, and that facts of a client do it too.
func TestSuperseded(t *testing.T) {
	a := start(t)
	event := func(id, at, said string) string {
		return fmt.Sprintf(`{"sessionId": "s", "events": [{"id": %q, "author": "user", "timestamp": %q, "content": %q}]}`,
			id, at, said)
	}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", event("e1", "2024-05-01T00:00:00Z", "I live in Porto."))
	move := event("e2", "2024-06-01T00:00:00Z", "I moved to Lisbon.")
	preview := a.want(200, "POST", scope+"/memories/dryRun", move)
	equal(t, "facts of the dry run", at(preview, "facts", 0, "fact"), `"I moved to Lisbon."`)
	equal(t, "exchanges of the dry run", at(preview, "exchanges"), `[]`)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", move)
	for name, memories := range map[string]any{"dry run": at(preview, "memories"),
		"operation": at(op, "response", "memories")} {
		var got []string
		for _, m := range memories.([]any) {
			got = append(got, text(m, "action")+" "+text(m, "memory", "fact"))
		}
		slices.Sort(got)
		same(t, name, got, []string{"CREATED I moved to Lisbon.", "UPDATED I live in Porto."})
	}
	facts := func(query string) (out []string) {
		for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact"+query, nil), "memories") {
			out = append(out, text(m, "fact"))
		}
		return out
	}
	same(t, "current", facts(""), []string{"I moved to Lisbon."})
	same(t, "history", facts("&history=true"), []string{"I moved to Lisbon.", "I live in Porto."})
	a.refused(400, "GET", scope+"/memories?history=maybe", nil, "history")
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"facts": [{"fact": "I live in Berlin.", "topics": ["home"]}]}`)
	if n := len(list(a.want(200, "GET", scope+"/sessions", nil), "sessions")); n != 1 {
		t.Errorf("%d sessions, want the one that was ingested", n)
	}
	same(t, "after given facts", facts(""), []string{"I live in Berlin."})
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"facts": [{"fact": "I live in Rome."}], "disableConsolidation": true}`)
	same(t, "without consolidation", len(facts("")), 2)
}

// TestAddSessionInTime checks that a request may name a part of a session by time,
// and that a later request for all of it makes memories of the rest.
func TestAddSessionInTime(t *testing.T) {
	a := start(t)
	var events []string
	for i, said := range []string{"I live in Porto.", "I love sailing.", "I have a dog.", "My sister is a nurse."} {
		event := fmt.Sprintf(`{"id": "e%d", "author": "user", "timestamp": "2024-05-0%dT00:00:00Z", "content": "%s"}`,
			i, i+1, said)
		events = append(events, event)
	}
	a.want(201, "POST", scope+"/sessions", `{"id": "s", "events": [`+strings.Join(events, ",")+`]}`)
	add := func(body string) []string {
		op := a.want(200, "POST", scope+"/sessions/s/memories?wait=true", body)
		equal(t, "session", at(op, "metadata", "sessionId"), `"s"`)
		var facts []string
		for _, m := range list(op, "response", "memories") {
			facts = append(facts, text(m, "memory", "fact"))
			equal(t, "source", at(m, "memory", "source", "sessionId"), `"s"`)
		}
		return facts
	}
	same(t, "from the second to before the fourth",
		add(`{"startTime": "2024-05-02T00:00:00Z", "endTime": "2024-05-04T00:00:00Z"}`),
		[]string{"I love sailing.", "I have a dog."})
	same(t, "again", len(add(`{"startTime": "2024-05-02T00:00:00Z", "endTime": "2024-05-04T00:00:00Z"}`)), 0)
	same(t, "before all", len(add(`{"endTime": "2024-05-01T00:00:00Z"}`)), 0)
	same(t, "all", add(``), []string{"I live in Porto.", "My sister is a nurse."})
	same(t, "sessions", len(list(a.want(200, "GET", scope+"/sessions", nil), "sessions")), 1)
	same(t, "turns", len(list(a.want(200, "GET", scope+"/memories?kind=turn", nil), "memories")), 4)
	a.refused(400, "POST", scope+"/sessions/s/memories",
		`{"startTime": "2024-05-02T00:00:00Z", "endTime": "2024-05-02T00:00:00Z"}`, "endTime")
	a.refused(404, "POST", scope+"/sessions/none/memories", `{"endTime": "2024-05-02T00:00:00Z"}`)
}

// TestRevisionOfAnExtractedFact checks that the revision of an extracted fact names
// the operation that made it.
func TestRevisionOfAnExtractedFact(t *testing.T) {
	a := start(t)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	id := text(op, "response", "memories", 0, "memory", "id")
	r := at(a.want(200, "GET", scope+"/memories/"+id+"/revisions", nil), "revisions", 0)
	equal(t, "revision", []any{at(r, "revision"), at(r, "action"), at(r, "actor"), at(r, "operation")},
		`[1, "CREATED", "rules", "`+text(op, "id")+`"]`)
}

func TestListMemories(t *testing.T) {
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId": "other", "events": [
		{"id": "o1", "content": "I love figs.", "timestamp": "2023-01-01T00:00:00Z"}]}`)
	a.want(201, "POST", scope+"/memories", `{"fact": "Given.", "topics": ["MINE", "YOURS"]}`)
	a.want(201, "POST", scope+"/memories", `{"fact": "Given too.", "topics": ["MINE"]}`)
	get := func(query string) []any {
		t.Helper()
		return list(a.want(200, "GET", scope+"/memories?"+query, nil), "memories")
	}
	all := get("")
	times := each(all, "timestamp")
	if !slices.IsSortedFunc(times, func(x, y string) int { return strings.Compare(y, x) }) || len(all) < 8 {
		t.Errorf("the list is not newest first: %v", times)
	}
	is := func(query, field string, want ...string) {
		t.Helper()
		got := get(query)
		if len(got) == 0 || len(got) == len(all) {
			t.Errorf("?%s gives %d of %d", query, len(got), len(all))
		}
		for _, m := range got {
			values := []string{text(m, field), text(m, "source", field)}
			for _, topic := range list(m, field) {
				values = append(values, topic.(string))
			}
			if !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(want, v) }) {
				t.Errorf("?%s gives a memory with %s %v", query, field, values)
			}
		}
	}
	is("kind=fact", "kind", "fact")
	is("kind=turn", "kind", "turn")
	is("topic=MINE", "topics", "MINE")
	is("topic=YOURS&topic=USER_PERSONAL_INFO", "topics", "YOURS", "USER_PERSONAL_INFO")
	is("sessionId=other", "sessionId", "other")
	same(t, "both kinds", len(get("kind=fact&kind=turn")), len(all))
	same(t, "several filters", len(get("kind=turn&sessionId=other")), 1)
	same(t, "of no session", len(get("sessionId=none")), 0)
	same(t, "of no topic", len(get("topic=none")), 0)

	// The pages together are the whole list, in every order.
	for _, order := range []string{"", "timestamp", "timestamp desc", "timestamp asc", "createTime", "createTime asc",
		"updateTime desc", "updateTime asc"} {
		query := "orderBy=" + url.QueryEscape(order)
		whole := each(get(query), "id")
		var paged []string
		token := ""
		for range 20 {
			page := a.want(200, "GET", scope+"/memories?pageSize=3&"+query+"&pageToken="+url.QueryEscape(token), nil)
			paged = append(paged, each(list(page, "memories"), "id")...)
			if token = text(page, "nextPageToken"); token == "" {
				break
			}
		}
		same(t, query, paged, whole)
		same(t, query, len(whole), len(all))
	}
	newest, oldest := each(get("orderBy=timestamp"), "id"), each(get("orderBy=timestamp+asc"), "id")
	slices.Reverse(oldest)
	same(t, "the other way round", oldest, newest)

	token := text(a.want(200, "GET", scope+"/memories?pageSize=1", nil), "nextPageToken")
	for _, bad := range []string{
		"kind=fax", "kind=", "kinds=fact", "topics=MINE", "orderBy=fact", "orderBy=timestamp+up",
		"orderBy=timestamp%3Bdrop", "orderBy=createTime&pageToken=" + token, "pageSize=0", "pageSize=-1",
		"pageSize=1001", "pageSize=1000000000", "pageSize=99999999999999999999", "pageSize=1.5", "pageSize=ten",
		"page_size=5", "pageToken=x", "pageToken=%00", "pageToken=%ff", "pageToken=e30",
	} {
		name, _, _ := strings.Cut(bad, "=")
		if strings.Contains(bad, "pageToken="+token) {
			name = "pageToken"
		}
		a.refused(400, "GET", scope+"/memories?"+bad, nil, name)
	}
}

// A list of deleted memories says when and by whom each was deleted; the other lists have none
// of them.
func TestListDeleted(t *testing.T) {
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId": "s", "events": [{"content": "I love figs."}]}`)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"content": "Forget that I love figs."}]}`)
	tea := text(a.want(201, "POST", scope+"/memories", `{"fact": "Ann drinks tea."}`), "id")
	a.want(204, "DELETE", scope+"/memories/"+tea, nil)
	gone := a.want(200, "GET", scope+"/memories?deleted=true&kind=fact&orderBy=updateTime", nil)
	same(t, "newest first", each(list(gone, "memories"), "fact"), []string{"Ann drinks tea.", "I love figs."})
	same(t, "by a call", text(gone, "deletions", 0, "actor"), "client")
	same(t, "when", text(gone, "deletions", 0, "time"), text(gone, "memories", 0, "updateTime"))
	same(t, "by words", text(gone, "deletions", 1, "operation"), text(op, "id"))
	since := "&filter=update_time%3E%22" + text(gone, "deletions", 1, "time") + "%22"
	same(t, "since a time", len(list(a.want(200, "GET", scope+"/memories?deleted=true&kind=fact"+since, nil), "memories")), 1)
	same(t, "history", len(list(a.want(200, "GET", scope+"/memories?kind=fact&history=true", nil), "memories")), 0)
	equal(t, "of another user", a.want(200, "GET", scope+"2/memories?deleted=true", nil), `{"memories": [], "deletions": []}`)
	a.refused(400, "GET", "/v1/apps/app/all/memories?deleted=true", nil, "deleted")
}
