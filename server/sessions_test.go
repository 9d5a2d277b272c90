package server_test

import (
	"fmt"
	"net/url"
	"regexp"
	"testing"
)

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func TestCreateSession(t *testing.T) {
	a := start(t)
	t.Run("with an id, state and events", func(t *testing.T) {
		a := a.with(t)
		s := a.want(201, "POST", scope+"/sessions",
			`{"id": "s1", "state": {"k": 1, "user:u": "x", "app:a": [2], "temp:t": 3},
			"events": [{"id": "e1", "content": "hello", "timestamp": 1700000000.25}]}`)
		equal(t, "id, app and user", []any{at(s, "id"), at(s, "appName"), at(s, "userId")}, `["s1", "app", "ann"]`)
		equal(t, "state", at(s, "state"), `{"k": 1, "user:u": "x", "app:a": [2]}`)
		same(t, "events", each(list(s, "events"), "id"), []string{"e1"})
		same(t, "lastUpdateTime", text(s, "lastUpdateTime"), "2023-11-14T22:13:20.250000Z")
		same(t, "read again", a.want(200, "GET", scope+"/sessions/s1", nil), s)
	})
	t.Run("without an id", func(t *testing.T) {
		a := a.with(t)
		for _, body := range []any{nil, "", " \n", "{}", `{"id": ""}`, `{"id": "  \t "}`} {
			s := a.want(201, "POST", scope+"/sessions", body)
			if !uuidForm.MatchString(text(s, "id")) {
				t.Errorf("body %q: the id is %v, not a UUID", body, at(s, "id"))
			}
			equal(t, "events", at(s, "events"), `[]`)
		}
	})
	t.Run("space around an id is trimmed", func(t *testing.T) {
		s := a.with(t).want(201, "POST", scope+"/sessions", `{"id": "  in the middle "}`)
		same(t, "id", text(s, "id"), "in the middle")
		a.with(t).want(200, "GET", scope+"/sessions/in%20the%20middle", nil)
	})
	t.Run("twice", func(t *testing.T) {
		a := a.with(t)
		a.want(201, "POST", scope+"/sessions", `{"id": "twice", "state": {"k": 1}}`)
		before := a.contents()
		a.refused(409, "POST", scope+"/sessions",
			`{"id": "twice", "state": {"k": 2, "user:k": 2, "app:k": 2}, "events": [{"id": "new"}]}`, "twice")
		a.refused(409, "POST", scope+"/sessions", `{"id": " twice "}`, "twice")
		same(t, "what is stored", a.contents(), before)
		a.want(201, "POST", "/v1/apps/app/users/bob/sessions", `{"id": "twice"}`)
	})
	t.Run("a body of another scope", func(t *testing.T) {
		a := a.with(t)
		a.want(201, "POST", scope+"/sessions", `{"appName": "app", "userId": "ann"}`)
		a.refused(400, "POST", scope+"/sessions", `{"appName": "other"}`, "appName")
		a.refused(400, "POST", scope+"/sessions", `{"userId": "bob"}`, "userId")
	})
	t.Run("one bad event stops all", func(t *testing.T) {
		a := a.with(t)
		a.refused(400, "POST", scope+"/sessions",
			`{"id": "half", "state": {"user:half": 1}, "events": [{"id": "e1"}, {"id": "a/b"}]}`, "events[1]")
		a.refused(404, "GET", scope+"/sessions/half", nil, "half")
		s := a.want(201, "POST", scope+"/sessions", `{}`)
		if at(s, "state", "user:half") != nil {
			t.Error("a refused request has changed the user's state")
		}
	})
}

func TestGetSession(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions",
		`{"id": "s", "events": [{"id": "e1", "timestamp": 1700000001}, {"id": "e2", "timestamp": 1700000002},
		{"id": "e3", "timestamp": "2023-11-14T23:13:23+01:00"}, {"id": "e4", "timestamp": 1700000004.5}]}`)
	at2 := url.QueryEscape("2023-11-14T22:13:22Z")
	for query, want := range map[string][]string{
		"":                                       {"e1", "e2", "e3", "e4"},
		"?numRecentEvents=":                      {"e1", "e2", "e3", "e4"},
		"?numRecentEvents=0":                     {},
		"?numRecentEvents=1":                     {"e4"},
		"?numRecentEvents=3":                     {"e2", "e3", "e4"},
		"?numRecentEvents=999999999":             {"e1", "e2", "e3", "e4"},
		"?after=" + at2:                          {"e2", "e3", "e4"},
		"?after=1700000002":                      {"e2", "e3", "e4"},
		"?after=1700000002.000001":               {"e3", "e4"},
		"?after=1700000004.5":                    {"e4"},
		"?after=2023-11-14T23%3A13%3A23%2B01:00": {"e3", "e4"},
		"?after=1800000000":                      {},
		"?after=1700000002&numRecentEvents=2":    {"e3", "e4"},
		"?after=1700000004&numRecentEvents=3":    {"e4"},
		"?after=1700000001&numRecentEvents=0":    {},
	} {
		s := a.want(200, "GET", scope+"/sessions/s"+query, nil)
		if at(s, "events") == nil {
			t.Errorf("%s: events is null", query)
		}
		same(t, query, each(list(s, "events"), "id"), want)
	}
	for _, bad := range []string{
		"numRecentEvents=-1", "numRecentEvents=abc", "numRecentEvents=1.5", "numRecentEvents=1e3",
		"numRecentEvents=99999999999999999999", "after=yesterday", "after=NaN", "after=Inf", "after=1e999",
		"after=%00", "after=%ff", "after=true", "after=0000-01-01T00:00:00Z", "after=9999-12-31T23:59:59Z",
	} {
		a.refused(400, "GET", scope+"/sessions/s?"+bad, nil, bad[:5])
	}
	a.refused(404, "GET", scope+"/sessions/missing", nil, "missing", "not found")
	a.refused(404, "GET", "/v1/apps/app/users/bob/sessions/s", nil)
	a.refused(404, "GET", "/v1/apps/other/users/ann/sessions/s", nil)
}

// TestCreateFromAnswer checks that the answer of a GET can be sent back as a new
// session.
func TestCreateFromAnswer(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions",
		`{"id": "s", "state": {"k": 1, "user:k": 2}, "events": [{"id": "e1", "content": "hello"}]}`)
	s := a.want(200, "GET", scope+"/sessions/s", nil)
	a.want(204, "DELETE", scope+"/sessions/s", nil)
	a.want(201, "POST", scope+"/sessions", s)
	got := a.want(200, "GET", scope+"/sessions/s", nil)
	for _, field := range []string{"id", "state", "events"} {
		same(t, field, at(got, field), at(s, field))
	}
	a.want(201, "POST", scope+"/sessions",
		`{"id": "snake", "app_name": "app", "user_id": "ann", "last_update_time": 1.5}`)
	a.refused(400, "POST", scope+"/sessions", `{"user_id": "bob"}`, "userId")
}

func TestListSessions(t *testing.T) {
	a := start(t)
	equal(t, "of nobody", a.want(200, "GET", scope+"/sessions", nil), `{"sessions": []}`)
	equal(t, "of no app", a.want(200, "GET", "/v1/apps/none/sessions", nil), `{"sessions": []}`)
	want := map[string]bool{}
	for i := range 7 {
		id := fmt.Sprintf("s%d", i)
		want[id] = true
		a.want(201, "POST", scope+"/sessions",
			map[string]any{"id": id, "state": map[string]any{"i": i, "user:last": i},
				"events": []any{map[string]any{"content": "hello"}}})
	}
	a.want(201, "POST", "/v1/apps/app/users/bob/sessions", `{"id": "bobs", "state": {"app:shared": true}}`)
	a.want(201, "POST", "/v1/apps/other/users/ann/sessions", `{"id": "others"}`)

	walk := func(path string, size int) []string {
		t.Helper()
		ids, token := []string{}, ""
		for range 20 {
			page := a.want(200, "GET", fmt.Sprintf("%s?pageSize=%d&pageToken=%s", path, size, url.QueryEscape(token)),
				nil)
			got := list(page, "sessions")
			if len(got) > size || len(got) == 0 {
				t.Fatalf("a page of %d has %d sessions", size, len(got))
			}
			for _, s := range got {
				if _, ok := s.(map[string]any)["events"]; ok {
					t.Error("a listed session has events")
				}
				if at(s, "state", "app:shared") != true {
					t.Error("a listed session lacks the app's state")
				}
			}
			ids = append(ids, each(got, "id")...)
			if token = text(page, "nextPageToken"); token == "" {
				return ids
			}
		}
		t.Fatal("the list has no end")
		return nil
	}
	for _, size := range []int{1, 3, 7, 100} {
		got := walk(scope+"/sessions", size)
		same(t, "sessions of ann", got, []string{"s6", "s5", "s4", "s3", "s2", "s1", "s0"})
		same(t, "sessions of the app", len(walk("/v1/apps/app/sessions", size)), 8)
	}
	all := a.want(200, "GET", scope+"/sessions", nil)
	equal(t, "state of a listed session", at(all, "sessions", 6, "state"),
		`{"i": 0, "user:last": 6, "app:shared": true}`)
	same(t, "users of the app's list", text(a.want(200, "GET", "/v1/apps/app/sessions?pageSize=1", nil), "sessions", 0,
		"userId"), "bob")
	same(t, "no token on the last page", at(a.want(200, "GET", scope+"/sessions?pageSize=7", nil), "nextPageToken"),
		nil)
}

func TestPatchSession(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions", `{"id": "s", "state": {"k": 1, "keep": true, "user:k": 1}}`)
	s := a.want(200, "PATCH", scope+"/sessions/s",
		`{"stateDelta": {"k": null, "n": 1e400, "user:k": 2, "app:k": {"a": [1.0]}, "temp:k": 4}}`)
	equal(t, "state", at(s, "state"), `{"k": null, "keep": true, "n": 1e400, "user:k": 2, "app:k": {"a": [1.0]}}`)
	if at(s, "events") != nil {
		t.Error("the answer of a PATCH has events, of which a session may have any number")
	}
	whole := a.want(200, "GET", scope+"/sessions/s", nil)
	if n := len(list(whole, "events")); n != 1 {
		t.Fatalf("the change is recorded as %d events, not as one", n)
	}
	equal(t, "the recorded change", at(whole, "events", 0, "actions", "stateDelta"),
		`{"k": null, "n": 1e400, "user:k": 2, "app:k": {"a": [1.0]}}`)
	same(t, "lastUpdateTime", at(s, "lastUpdateTime"), at(whole, "events", 0, "timestamp"))
	same(t, "state, read again", at(whole, "state"), at(s, "state"))
	other := a.want(201, "POST", "/v1/apps/app/users/bob/sessions", `{}`)
	equal(t, "what another user sees", at(other, "state"), `{"app:k": {"a": [1.0]}}`)

	before := a.contents()
	a.refused(404, "PATCH", scope+"/sessions/missing", `{"stateDelta": {"user:k": 3}}`, "missing")
	a.refused(404, "PATCH", "/v1/apps/app/users/bob/sessions/s", `{"stateDelta": {"k": 3}}`)
	for _, body := range []string{"", "{}", "null", `{"stateDelta": null}`, `{"stateDelta": 5}`, `{"stateDelta": []}`,
		`{"stateDelta": "k"}`, `{"stateDelta": {"": 1}}`,
		`{"stateDelta": {"user:": 1}}`, `{"stateDelta": {"a\u0000b": 1}}`, `{"stateDelta": {"k": 1, "k": 2}}`} {
		a.refused(400, "PATCH", scope+"/sessions/s", body)
	}
	a.refused(400, "PATCH", scope+"/sessions/s", `{"states": {"k": 1}}`, "states")
	same(t, "what is stored", a.contents(), before)
}

func TestDeleteSession(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions",
		`{"id": "s", "state": {"k": 1, "user:k": 2, "app:k": 3}, "events": [{"id": "e1"}]}`)
	a.want(201, "POST", "/v1/apps/app/users/bob/sessions", `{"id": "s"}`)
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"id": "e2", "content": "My name is Ann."}]}`)
	memories := a.want(200, "GET", scope+"/memories", nil)
	if len(list(memories, "memories")) == 0 {
		t.Fatal("no memories were made")
	}
	for range 2 {
		a.want(204, "DELETE", scope+"/sessions/s", nil)
		a.refused(404, "GET", scope+"/sessions/s", nil)
	}
	a.want(204, "DELETE", "/v1/apps/app/users/nobody/sessions/never", nil)
	a.want(200, "GET", "/v1/apps/app/users/bob/sessions/s", nil)
	same(t, "memories", a.want(200, "GET", scope+"/memories", nil), memories)
	a.refused(404, "POST", scope+"/sessions/s/events", `{"events": [{"id": "e3"}]}`)
	again := a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	equal(t, "state of the next session", at(again, "state"), `{"user:k": 2, "app:k": 3}`)
	equal(t, "events of the next session", at(again, "events"), `[]`)
}

// TestDeleteSessionWithWorkLeft checks that memories are still made of a session
// that is deleted meanwhile.
func TestDeleteSessionWithWorkLeft(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	a.want(204, "DELETE", scope+"/sessions/talk", nil)
	a.refused(404, "GET", scope+"/sessions/talk", nil)
	close(g.open)
	done := a.stream(text(op, "id"))
	same(t, "state", text(done[len(done)-1], "metadata", "state"), "SUCCEEDED")
	if len(list(done[len(done)-1], "response", "memories")) == 0 {
		t.Error("no facts were found in the deleted session")
	}
}

// TestScopesAreApart checks that users with sessions and events of the same ids see
// nothing of each other.
func TestScopesAreApart(t *testing.T) {
	a := start(t)
	const bob = "/v1/apps/app/users/bob"
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"id": "e", "content": "My name is Ann and I love figs."}]}`)
	a.want(200, "POST", bob+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"id": "e", "content": "My name is Bob and I love plums."}]}`)
	a.want(200, "PATCH", scope+"/sessions/s", `{"stateDelta": {"user:secret": "ann's"}}`)
	equal(t, "Bob's state", at(a.want(200, "GET", bob+"/sessions/s", nil), "state"), `{}`)
	same(t, "Bob's events", len(list(a.want(200, "GET", bob+"/sessions/s", nil), "events")), 1)
	for path, foreign := range map[string]string{scope: "plums", bob: "figs"} {
		equal(t, "a search for "+foreign, a.want(200, "POST", path+"/memories/search",
			map[string]any{"query": foreign, "minScore": 0.1}), `{"memories": [], "confidence": 0}`)
	}
	id := text(a.want(200, "GET", scope+"/memories", nil), "memories", 0, "id")
	for _, elsewhere := range []string{bob, "/v1/apps/other/users/ann"} {
		a.refused(404, "GET", elsewhere+"/memories/"+id, nil)
		a.refused(404, "PATCH", elsewhere+"/memories/"+id, `{"fact": "mine"}`)
		a.refused(404, "DELETE", elsewhere+"/memories/"+id, nil)
		a.refused(404, "GET", elsewhere+"/memories/"+id+"/revisions", nil)
	}
	a.want(200, "GET", scope+"/memories/"+id, nil)
	same(t, "Ann's operations", len(list(a.want(200, "GET", scope+"/operations", nil), "operations")), 1)
}

// TestOneUserTwoSpellings checks that all escapes of an id in a path name the same
// user.
func TestOneUserTwoSpellings(t *testing.T) {
	a := start(t)
	a.want(201, "POST", "/v1/apps/app/users/ann@x.com/sessions", `{"id": "s:1 é"}`)
	for _, path := range []string{"ann%40x.com/sessions/s:1%20%C3%A9", "ann@x.com/sessions/s%3a1%20%c3%a9",
		"%61nn@x.com/sessions/%73%3A1%20%C3%A9"} {
		s := a.want(200, "GET", "/v1/apps/app/users/"+path, nil)
		same(t, "user and session", []string{text(s, "userId"), text(s, "id")}, []string{"ann@x.com", "s:1 é"})
	}
	// Segments are unescaped once: %2540 is the three characters %40.
	equal(t, "another user", a.want(200, "GET", "/v1/apps/app/users/ann%2540x.com/sessions", nil), `{"sessions": []}`)
	s := a.want(201, "POST", "/v1/apps/app/users/ann%252fx/sessions", `{}`)
	same(t, "user with an escape in it", text(s, "userId"), "ann%2fx")
	s = a.want(201, "POST", "/v1/apps/app/users/a+b/sessions", `{}`)
	same(t, "user with a plus", text(s, "userId"), "a+b")
}
