package ingest_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/sessionstore"
)

// Every method of a session store either brings text of a client, and is redacted, or
// does not. A new one is decided on here, and in ingest/redact.go if it does.
func TestEveryMethodIsRedactedOrNeedsNot(t *testing.T) {
	redacted := strings.Fields("Create Update Append Fail AppendTurns")
	plain := strings.Fields(`Get List ListApp Find State Delete Bind Rebind Claim Renew Events Save Finish Status Changes Operations AppOperations Retry
		Expire EraseChanges Subscribe Backlog Config PutConfig EraseSession EraseEvents EraseUser EraseApp Users Apps
		PutTurns Unwritten`)
	known := map[string]bool{}
	for _, name := range append(redacted, plain...) {
		known[name] = true
	}
	for _, store := range []reflect.Type{reflect.TypeFor[ingest.Sessions](), reflect.TypeFor[ingest.Together]()} {
		for i := range store.NumMethod() {
			if name := store.Method(i).Name; !known[name] {
				t.Errorf("%s.%s is in no list: does it bring text that ingest.Redactor must redact?", store.Name(),
					name)
			}
		}
	}
}

// What was stored before an app asked for redaction is redacted for the extractor, and a
// fact that says no more than that there is a secret is not made.
func TestRedactedForTheExtractor(t *testing.T) {
	b := newBench(t, parts{})
	events := []sessionstore.Event{event(t, "e1", 1, "My password is hunter2. My dog is called Rex.")}
	if _, err := b.sessions.Append(t.Context(), key("s"), events, sessionstore.Append{Create: true}); err != nil {
		t.Fatal(err)
	}
	b.configured(`{"redaction":{"kinds":["passwords"]}}`)
	b.run()
	b.done(b.ingest("s", event(t, "e2", 2, "My wifi password is Zwiebel77! My cat is called Tom.")))
	facts := 0
	for _, m := range b.all() {
		if strings.Contains(m.Fact, "Zwiebel77") || m.Kind == "fact" && strings.Contains(m.Fact, "assword") {
			t.Errorf("%s %q", m.Kind, m.Fact)
		}
		if m.Kind == "fact" {
			facts++
		}
	}
	if facts != 2 {
		t.Errorf("%d facts, want those of the dog and the cat", facts)
	}
}
