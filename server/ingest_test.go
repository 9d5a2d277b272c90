package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// remembered returns the kind, fact and revision of each memory of a scope, by id.
// Ingesting the same events again must not change it.
func (a *api) remembered(path string) map[string]string {
	a.t.Helper()
	out := map[string]string{}
	for _, m := range list(a.want(200, "GET", path+"/memories?pageSize=1000", nil), "memories") {
		out[text(m, "id")] = fmt.Sprint(at(m, "kind"), " ", at(m, "fact"), " ", at(m, "revision"))
	}
	return out
}

func TestIngest(t *testing.T) {
	a := start(t)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	equal(t, "operation", []any{at(op, "done"), at(op, "metadata", "state"), at(op, "metadata", "eventsTotal"),
		at(op, "metadata", "eventsDone")}, `[true, "SUCCEEDED", 7, 7]`)
	var facts []string
	for _, ch := range list(op, "response", "memories") {
		facts = append(facts, text(ch, "memory", "fact"))
		if at(ch, "memory", "source", "quote") == nil || text(ch, "memory", "source", "sessionId") != "talk" ||
			len(list(ch, "memory", "source", "eventIds")) == 0 {
			t.Errorf("the source of a fact is %v", at(ch, "memory", "source"))
		}
	}
	all := strings.Join(facts, "\n")
	for _, want := range []string{"Maya", "ramen", "marathon"} {
		if !strings.Contains(all, want) {
			t.Errorf("no fact mentions %s:\n%s", want, all)
		}
	}
	turns := list(a.want(200, "GET", scope+"/memories?kind=turn&orderBy=timestamp+asc", nil), "memories")
	same(t, "turns", len(turns), 5) // two of the seven events are tool traffic
	equal(t, "a turn", []any{at(turns, 0, "author"), at(turns, 0, "timestamp"), at(turns, 0, "source")},
		`["user", "2024-03-01T09:00:00.000000Z", {"sessionId": "talk", "eventIds": ["t1"]}]`)
	same(t, "the agent's author", text(turns, 1, "author"), "guide")
	same(t, "events of the session", len(list(a.want(200, "GET", scope+"/sessions/talk", nil), "events")), 7)
}

// TestIngestForms checks that every form in which clients send a session makes the
// same memories, in any order and any number of times.
func TestIngestForms(t *testing.T) {
	a := start(t)
	// Each form has an app of its own. Ids depend on the scope, so the comparison
	// leaves them out.
	contents := func(app string) []string {
		var out []string
		for _, s := range a.remembered("/v1/apps/" + app + "/users/ann") {
			out = append(out, s)
		}
		slices.Sort(out)
		return out
	}
	send := func(app string, body any) any {
		t.Helper()
		return a.want(200, "POST", "/v1/apps/"+app+"/users/ann/memories/ingest?wait=true", body)
	}
	whole := talk(t)
	send("plain", whole)
	want := contents("plain")
	events := whole["events"].([]any)

	send("camel", map[string]any{"id": "talk", "appName": "camel", "userId": "ann", "state": map[string]any{"k": 1},
		"events": events, "lastUpdateTime": 1709402409.5})
	same(t, "a whole Session", contents("camel"), want)
	send("snake", map[string]any{"id": "talk", "app_name": "snake", "user_id": "ann", "state": map[string]any{"k": 1},
		"events": events, "last_update_time": 1709402409.5})
	same(t, "a whole Session of ADK Python", contents("snake"), want)

	back := slices.Clone(events)
	slices.Reverse(back)
	send("back", map[string]any{"sessionId": "talk", "events": back})
	same(t, "in reverse", contents("back"), want)
	for _, e := range back {
		send("one", map[string]any{"sessionId": "talk", "events": []any{e}})
	}
	same(t, "one by one in reverse", contents("one"), want)
	for range 3 {
		before := a.remembered("/v1/apps/one/users/ann")
		op := send("one", whole)
		equal(t, "changes of a repetition", at(op, "response"), `{"memories": []}`)
		equal(t, "events of a repetition", at(op, "metadata", "eventsTotal"), `0`)
		send("one", map[string]any{"sessionId": "talk", "events": events[2:4]})
		same(t, "memories after a repetition", a.remembered("/v1/apps/one/users/ann"), before)
	}
}

func TestIngestNeverChangesState(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions", `{"id": "s", "state": {"k": 1, "user:k": 1, "app:k": 1}}`)
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"id": "s", "state": {"k": 2, "new": 2}, "events": [{"id": "e1", "content": "hello",
		"actions": {"stateDelta": {"k": 3, "user:k": 3, "app:k": 3, "new": 3}}}]}`)
	s := a.want(200, "GET", scope+"/sessions/s", nil)
	equal(t, "state", at(s, "state"), `{"k": 1, "user:k": 1, "app:k": 1}`)
	equal(t, "the event's own delta", at(s, "events", 0, "actions", "stateDelta"),
		`{"k": 3, "user:k": 3, "app:k": 3, "new": 3}`)
}

// TestTurnsAreFoundAtOnce checks that a search by words finds a turn as soon as
// its request is answered, before the extractor has run.
func TestTurnsAreFoundAtOnce(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	t.Cleanup(func() { close(g.open) })
	hit := func(word, session string) {
		t.Helper()
		got := a.find(request{"query": word})
		if len(got) == 0 || text(got, 0, "memory", "source", "sessionId") != session ||
			text(got, 0, "memory", "kind") != "turn" {
			t.Errorf("%s finds %v", word, got)
		}
	}
	a.want(202, "POST", scope+"/memories/ingest",
		`{"sessionId": "s1", "events": [{"id": "e1", "content": "The password of the shed is quince."}]}`)
	hit("quince", "s1")
	a.want(201, "POST", scope+"/sessions", `{"id": "s2", "events": [{"content": "A medlar tree grows there."}]}`)
	same(t, "before it is asked for", len(a.find(request{"query": "medlar"})), 0)
	a.want(202, "POST", scope+"/sessions/s2/memories", nil)
	hit("medlar", "s2")
}

func TestAddSessionToMemory(t *testing.T) {
	a := start(t)
	a.refused(404, "POST", scope+"/sessions/none/memories", nil, "none")
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	op := a.want(200, "POST", scope+"/sessions/s/memories?wait=true", nil)
	equal(t, "of an empty session", []any{at(op, "done"), at(op, "metadata", "eventsTotal"), at(op, "response")},
		`[true, 0, {"memories": []}]`)
	a.want(200, "POST", scope+"/sessions/s/events", map[string]any{"events": talk(t)["events"]})
	equal(t, "before it is asked for", a.want(200, "GET", scope+"/memories", nil), `{"memories": []}`)
	op = a.want(200, "POST", scope+"/sessions/s/memories?wait=true", `{}`)
	equal(t, "events", at(op, "metadata", "eventsTotal"), `7`)
	before := a.remembered(scope)
	a.want(200, "POST", scope+"/sessions/s/memories?wait=true", nil)
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		map[string]any{"sessionId": "s", "events": talk(t)["events"]})
	same(t, "both ways of adding", a.remembered(scope), before)
	a.refused(400, "POST", scope+"/sessions/s/memories", `{"x": 1}`, "x")
	for _, wait := range []string{"yes", "2", "TRUE%20", "%00"} {
		a.refused(400, "POST", scope+"/sessions/s/memories?wait="+wait, nil, "wait")
	}
}

// TestIngestRefuses checks that a bad ingest request is refused as a whole.
func TestIngestRefuses(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	before := a.contents()
	for body, word := range map[string]string{
		`{"events": [{"id": "e"}]}`:                                               "sessionId",
		`{"sessionId": "", "events": []}`:                                         "sessionId",
		`{"sessionId": "s", "id": "t", "events": []}`:                             "sessionId",
		`{"sessionId": "a/b", "events": [{"id": "e"}]}`:                           "session",
		`{"sessionId": "..", "events": [{"id": "e"}]}`:                            "session",
		`{"sessionId": "s", "appName": "other", "events": [{"id": "e"}]}`:         "appName",
		`{"sessionId": "s", "userId": "bob", "events": [{"id": "e"}]}`:            "userId",
		`{"sessionId": "s", "app_name": "other", "events": [{"id": "e"}]}`:        "app",
		`{"sessionId": "s", "user_id": "bob", "events": [{"id": "e"}]}`:           "user",
		`{"sessionId": "s", "events": [{"id": "e"}, {"id": "e2", "content": 5}]}`: "events[1]",
		`{"sessionId": "s", "events": [{"id": "e"}], "more": 1}`:                  "more",
		`{"sessionId": "s", "events": {"id": "e"}}`:                               "events",
	} {
		a.refused(400, "POST", scope+"/memories/ingest", body, word)
	}
	same(t, "what is stored", a.contents(), before)
}

// TestParallelIngest checks that no event of many concurrent clients is lost.
func TestParallelIngest(t *testing.T) {
	a := start(t)
	const clients, each = 8, 12
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				body := fmt.Sprintf(`{"sessionId": "s%d", "events": [{"id": "e%d-%d", "content": "My name is C%dx%d."}]}`,
					i%3, c, i, c, i)
				if r := a.do("POST", scope+"/memories/ingest", body); r.status != http.StatusAccepted {
					t.Errorf("status %d: %s", r.status, r.raw)
				}
			}
		})
	}
	wg.Wait()
	events := 0
	for i := range 3 {
		path := fmt.Sprintf("%s/sessions/s%d", scope, i)
		events += len(list(a.want(200, "GET", path, nil), "events"))
		a.want(200, "POST", path+"/memories?wait=true", nil)
	}
	same(t, "events", events, clients*each)
	same(t, "turns", len(list(a.want(200, "GET", scope+"/memories?kind=turn&pageSize=1000", nil), "memories")),
		clients*each)
}

// TestFindable checks that each call that stores events says whether their turns
// can be found: a search that begins after the answer finds them if it says so.
func TestFindable(t *testing.T) {
	g := newGate() // no fact is extracted until the end
	a := start(t, func(s *setup) { s.extractor = g })
	defer close(g.open)
	finds := func(query string, want bool) {
		t.Helper()
		found := list(a.want(200, "POST", scope+"/memories/search", map[string]any{"query": query}), "memories")
		has := func(m any) bool { return strings.Contains(strings.ToLower(text(m, "memory", "fact")), query) }
		same(t, query, slices.ContainsFunc(found, has), want)
	}
	op := a.want(202, "POST", scope+"/memories/ingest", `{"sessionId": "s", "events": [{"content": "A giraffe."}]}`)
	same(t, "ingest", at(op, "findable"), true)
	finds("giraffe", true)

	out := a.want(200, "POST", scope+"/sessions/s/events", `{"content": "An okapi."}`)
	same(t, "append", at(out, "findable"), false)
	finds("okapi", false)
	op = a.want(202, "POST", scope+"/sessions/s/memories", nil)
	same(t, "memories of a session", at(op, "findable"), true)
	finds("okapi", true)

	op = a.want(202, "POST", scope+"/memories/ingest", `{"facts": [{"fact": "Zebras are striped."}]}`)
	same(t, "facts", at(op, "findable"), false)
	finds("zebras", false)
}
