package ingest_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// labels are patches of all that is not the text of a fact.
func labels() map[string]ingest.Patch {
	long := 24 * 365 * time.Hour
	return map[string]ingest.Patch{
		"topics":   {Topics: &[]string{"MINE"}},
		"metadata": {Metadata: &memory.Metadata{"by": json.RawMessage(`"me"`)}},
		"ttl":      {TTL: &long},
	}
}

// A fact whose labels a client has changed ends when its author says otherwise,
// whenever that arrives, and its author can still have it forgotten or take it back.
func TestLabelsShieldNoText(t *testing.T) {
	const porto, lisbon = "I live in Porto.", "I live in Lisbon."
	for name, patch := range labels() {
		for what, c := range map[string]struct {
			later sessionstore.Event
			want  []string
		}{
			"said later": {event(t, "b", 2, lisbon), []string{lisbon}},
			"forgotten":  {event(t, "b", 2, "Please forget that I live in Porto."), []string{}},
			"taken back": {rewind(t, "i1", "b", 2), []string{}},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				b := newBench(t, parts{})
				b.run()
				b.succeeds(b.ingest("s", in(t, "i1", "a", 1, porto)))
				m := b.all(memory.KindFact)[0]
				patched, err := b.service.Update(t.Context(), scope, m.ID, patch)
				if err != nil || patched.Edited || !patched.Labelled || !patched.EditTime.IsZero() || patched.Revision != m.Revision+1 {
					t.Fatalf("%+v, %v", patched, err)
				}
				b.succeeds(b.ingest("s", c.later))
				if diff := cmp.Diff(c.want, append([]string{}, b.facts()...)); diff != "" {
					t.Errorf("facts (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A fact whose text a client has changed is shielded from what was said before
// that, and not from what is said later, whatever labels the client changes after.
func TestEditTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var clock atomic.Int64 // seconds; the worker reads it whenever it wakes
	clock.Store(now.Unix())
	advance := func() {
		now = now.Add(time.Hour)
		clock.Store(now.Unix())
	}
	b := newBench(t, parts{opts: ingest.Options{Now: func() time.Time { return time.Unix(clock.Load(), 0).UTC() }}})
	b.run()
	at := func(id string, when time.Time, text string) sessionstore.Event {
		doc, err := json.Marshal(map[string]any{"id": id, "author": "user", "timestamp": when, "content": text})
		if err != nil {
			t.Fatal(err)
		}
		e, err := sessionstore.ParseEvent(doc)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	b.succeeds(b.ingest("s", at("a", now, "I live in Porto.")))
	m := b.all(memory.KindFact)[0]
	advance()
	text := "I live in Faro."
	if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &text}); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", at("b", now.Add(-time.Minute), "I live in Lisbon.")))
	if facts := b.facts(); len(facts) != 2 {
		t.Errorf("after a statement from before the edit: %q", facts)
	}
	said := now.Add(time.Minute)
	advance()
	if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Topics: &[]string{"MINE"}}); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", at("c", said, "I live in Berlin.")))
	if diff := cmp.Diff([]string{"I live in Berlin."}, b.facts()); diff != "" {
		t.Errorf("after a statement from between the edit and the labels (-want +got):\n%s", diff)
	}
}
