package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// saidIn is the body of a request with one event.
func saidIn(session, id, text, more string) string {
	return fmt.Sprintf(`{"sessionId":%q,"events":[{"id":%q,"author":"user","content":%q}]%s}`, session, id, text, more)
}

// An operation says which trigger it waits for, and since and until when. A request that
// would wait for it longer than it may is answered at once. A retry makes its memories.
func TestTrigger(t *testing.T) {
	a := start(t)
	begin := time.Now()
	op := a.want(202, "POST", scope+"/memories/ingest?wait=true",
		saidIn("s1", "e1", "My dog is called Rex.", `,"trigger":{"events":3,"idle":"600s","overlap":1}`))
	if spent := time.Since(begin); spent > 25*time.Second {
		t.Errorf("it took %v to say that memories are due in ten minutes", spent)
	}
	same(t, "waitsFor", at(op, "metadata", "waitsFor"),
		map[string]any{"events": json.Number("3"), "idle": "600s", "overlap": json.Number("1")})
	created, err := time.Parse(time.RFC3339, text(op, "metadata", "createTime"))
	due, err2 := time.Parse(time.RFC3339, text(op, "metadata", "dueTime"))
	if err != nil || err2 != nil || due.Sub(created) != 10*time.Minute {
		t.Errorf("created %v, due %v, %v, %v", created, due, err, err2)
	}
	equal(t, "findable", at(op, "findable"), "true")
	if facts := a.facts(); len(facts) > 0 {
		t.Errorf("facts %q before the trigger fires", facts)
	}
	again := a.want(202, "POST", scope+"/memories/ingest", saidIn("s1", "e2", "I live in Porto.", ""))
	equal(t, "the same operation", text(again, "id") == text(op, "id"), "true")
	equal(t, "its events", at(again, "metadata", "eventsTotal"), "2")
	a.want(200, "POST", "/v1/operations/"+text(op, "id")+"/retry", nil)
	done := a.want(200, "POST", scope+"/sessions/s1/memories?wait=true", nil)
	same(t, "waitsFor of one that is done", at(done, "metadata", "waitsFor"), nil)
	done = a.want(200, "GET", "/v1/operations/"+text(op, "id"), nil)
	equal(t, "done", at(done, "done"), "true")
	same(t, "changes", len(list(done, "response", "memories")), 2)

	waits := a.want(202, "POST", scope+"/memories/ingest", saidIn("s1", "e3", "I love green tea.", ""))
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s1","forceFlush":true}`)
	equal(t, "done", at(a.want(200, "GET", "/v1/operations/"+text(waits, "id"), nil), "done"), "true")
	a.want(202, "POST", scope+"/memories/ingest", saidIn("s1", "e4", "I play chess.", ""))
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s1","trigger":{}}`)
	same(t, "facts", len(a.facts()), 4)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", saidIn("s1", "e5", "I work as a nurse.", ""))
	same(t, "facts", len(a.facts()), 5)
}

// A trigger that contradicts itself is refused with a message that names its field, and
// nothing is stored. Facts and dry runs wait for none.
func TestTriggerRefused(t *testing.T) {
	a := start(t)
	for trigger, want := range map[string]string{
		`{"events":0.5}`:              "trigger.events",
		`{"events":-3}`:               "trigger.events: want 1 to 10000",
		`{"idle":"a while"}`:          "trigger.idle: want seconds",
		`{"idle":"48h"}`:              "trigger.idle: want 1s to 24h",
		`{"idle":60,"interval":60}`:   "trigger: has both idle and interval",
		`{"interval":0.1}`:            "trigger.interval",
		`{"events":2,"overlap":2}`:    "trigger.overlap: want fewer than events",
		`{"overlap":1e9}`:             "trigger.overlap",
		`{"events":2,"appends":true}`: "appends",
		`[]`:                          "trigger",
	} {
		for _, path := range []string{"/memories/ingest", "/memories/dryRun"} {
			a.refused(400, "POST", scope+path, saidIn("s1", "e1", "My dog is called Rex.", `,"trigger":`+trigger), want)
		}
	}
	a.refused(400, "POST", scope+"/memories/ingest", `{"facts":[{"fact":"I live in Porto."}],"trigger":{"events":2}}`,
		"trigger: memories of facts are made at once")
	a.want(404, "GET", scope+"/sessions/s1", nil)
	run := a.want(200, "POST", scope+"/memories/dryRun",
		saidIn("s1", "e1", "My dog is called Rex.", `,"trigger":{"events":9},"forceFlush":true`))
	same(t, "facts of a dry run", len(list(run, "facts")), 1)
}

// Where the configuration says so, events that are appended are remembered: their turns at
// once, and their facts when the trigger fires. The configuration shows its triggers.
func TestTriggerOfAppends(t *testing.T) {
	a := start(t)
	config := a.configured(`{"triggers":{"events":2,"appends":true}}`)
	same(t, "triggers", at(config, "triggers"), map[string]any{"events": json.Number("2"), "appends": true})
	a.want(201, "POST", scope+"/sessions", `{"id":"s1"}`)
	says := func(id, said string) any {
		return a.want(200, "POST", scope+"/sessions/s1/events",
			fmt.Sprintf(`{"id":%q,"author":"user","content":%q,"actions":{"stateDelta":{"last":%q}}}`, id, said, id))
	}
	equal(t, "findable", at(says("e1", "My dog is called Rex."), "findable"), "true")
	found := a.want(200, "POST", scope+"/memories/search", `{"query":"dog"}`)
	same(t, "found", len(list(found, "memories")), 1)
	ops := list(a.want(200, "GET", scope+"/operations", nil), "operations")
	if len(ops) != 1 || len(a.facts()) > 0 {
		t.Fatalf("operations %v, facts %q", ops, a.facts())
	}
	says("e2", "I live in Porto.")
	a.watch(text(ops[0], "id"), func() {})
	same(t, "facts", len(a.facts()), 2)
	same(t, "state", at(a.want(200, "GET", scope+"/sessions/s1", nil), "state", "last"), "e2")
	a.configured(`{"triggers":{"events":2}}`)
	equal(t, "findable", at(says("e3", "I love green tea."), "findable"), "false")
	a.refused(400, "PUT", configPath, `{"triggers":{"events":5,"overlap":7}}`, "triggers.overlap")
}
