package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// in is an event of an invocation.
func in(t testing.TB, invocation, id string, n int, text string) sessionstore.Event {
	t.Helper()
	return event(t, id, n, text, fmt.Sprintf(`, "invocationId": %q`, invocation))
}

// rewind is an event that takes back all events from an invocation on.
func rewind(t testing.TB, invocation, id string, n int) sessionstore.Event {
	t.Helper()
	actions := fmt.Sprintf(`, "invocationId": %q, "actions": {"rewindBeforeInvocationId": %q}`, id, invocation)
	return event(t, id, n, "", actions)
}

// Facts and turns that a rewind takes back are gone, and those before and after
// stay, whatever the order and the requests in which they and the rewind arrive.
func TestRewindInAnyOrder(t *testing.T) {
	events := []sessionstore.Event{
		in(t, "i1", "a", 1, "I live in Porto."),
		in(t, "i2", "b", 2, "I love sailing."),
		in(t, "i2", "c", 3, "My sister is a nurse."),
		rewind(t, "i2", "r", 4),
		in(t, "i3", "d", 5, "I play the cello."),
	}
	orders := [][]int{{0, 1, 2, 3, 4}, {0, 1, 3, 2, 4}, {3, 2, 1, 0, 4}, {4, 0, 1, 3, 2}, {1, 3, 0, 4, 2}}
	for _, together := range []int{1, 2, 5} {
		for _, order := range orders {
			b := newBench(t, parts{})
			b.run()
			for part := range slices.Chunk(order, together) {
				var some []sessionstore.Event
				for _, i := range part {
					some = append(some, events[i])
				}
				b.succeeds(b.ingest("s", some...))
			}
			if diff := cmp.Diff([]string{"I live in Porto.", "I play the cello."}, b.facts()); diff != "" {
				t.Errorf("order %v, %d together: facts (-want +got):\n%s", order, together, diff)
			}
			if n := len(b.all(memory.KindTurn)); n != 2 {
				t.Errorf("order %v, %d together: %d turns, want 2", order, together, n)
			}
		}
	}
}

// A statement that is made again after it was taken back is remembered, in one
// batch as in several.
func TestSaidAgainAfterRewind(t *testing.T) {
	for _, size := range []int{1, 100} {
		b := newBench(t, parts{opts: ingest.Options{BatchEvents: size}})
		b.run()
		b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto.")))
		b.succeeds(b.ingest("s", rewind(t, "i1", "r", 2), in(t, "i2", "b", 3, "I live in Porto.")))
		facts := b.all(memory.KindFact)
		if len(facts) != 1 || facts[0].Source.EventIDs[0] != "b" {
			t.Errorf("batches of %d: facts %+v", size, facts)
		}
	}
}

// A fact that several sessions have stays when one of them takes it back, whatever
// the order in which they arrive.
func TestRewindLeavesWhatOthersSaid(t *testing.T) {
	requests := map[string]func(b *bench) *sessionstore.Operation{
		"early": func(b *bench) *sessionstore.Operation {
			return b.ingest("s1", in(t, "i1", "a", 1, "Thanks! Please remember that I love sailing."))
		},
		"rewind": func(b *bench) *sessionstore.Operation { return b.ingest("s1", rewind(t, "i1", "r", 2)) },
		"late": func(b *bench) *sessionstore.Operation {
			return b.ingest("s2", event(t, "b", 3, "Hi! I love sailing."))
		},
		"later": func(b *bench) *sessionstore.Operation { return b.ingest("s3", event(t, "c", 4, "I love sailing.")) },
	}
	for _, order := range []string{
		"early rewind late later", "early late later rewind", "late early later rewind", "later late early rewind",
		"rewind late early later", "later early rewind late", "early later rewind late",
	} {
		b := newBench(t, parts{})
		b.run()
		for _, name := range strings.Fields(order) {
			b.succeeds(requests[name](b))
		}
		facts := b.all(memory.KindFact)
		if len(facts) != 1 || facts[0].Source.SessionID != "s2" || facts[0].Fact != "I love sailing." {
			t.Errorf("%s: facts %+v", order, facts)
		}
		before := b.all()
		if err := b.sessions.Delete(t.Context(), key("s2")); err != nil {
			t.Fatal(err)
		}
		b.succeeds(requests["late"](b)) // once more from the start
		if diff := cmp.Diff(before, b.all()); diff != "" {
			t.Errorf("%s: ingested again (-before +after):\n%s", order, diff)
		}
	}
}

// The same within one session, where the rewind comes late.
func TestRewindLeavesWhatWasSaidAfter(t *testing.T) {
	a, r, c := in(t, "i1", "a", 1, "I love sailing."), rewind(t, "i1", "r", 2), in(t, "i3", "c", 3, "I love sailing.")
	for i, order := range [][]sessionstore.Event{{a, r, c}, {a, c, r}, {c, a, r}, {c, r, a}, {r, a, c}} {
		b := newBench(t, parts{})
		b.run()
		for _, e := range order {
			b.succeeds(b.ingest("s", e))
		}
		if facts := b.all(memory.KindFact); len(facts) != 1 || facts[0].Source.EventIDs[0] != "c" {
			t.Errorf("order %d: facts %+v", i, facts)
		}
	}
}

// A rewind that is taken back itself takes nothing back.
func TestRewindTakenBack(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto."), in(t, "i2", "b", 2, "I love sailing."),
		rewind(t, "i2", "i3", 3), rewind(t, "i3", "i4", 4)))
	if diff := cmp.Diff([]string{"I live in Porto.", "I love sailing."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// A fact that a client has edited stays, although its event is taken back.
func TestRewindLeavesCorrections(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I love sailing.")))
	text := "I love rowing."
	id := b.all(memory.KindFact)[0].ID
	if _, err := b.service.Update(t.Context(), scope, id, ingest.Patch{Fact: &text}); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", rewind(t, "i1", "r", 2)))
	if diff := cmp.Diff([]string{text}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// A fact that a client gave for a time does not hide the same fact without an end.
func TestExpiringFactStandsForItself(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	given := ingest.NewMemory{Fact: "I love sailing.", TTL: time.Hour}
	if _, err := b.service.Add(t.Context(), scope, given); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", event(t, "a", 1, "I love sailing.")))
	lasting := slices.DeleteFunc(b.all(memory.KindFact), func(m memory.Memory) bool { return !m.ExpireTime.IsZero() })
	if len(lasting) != 1 {
		t.Errorf("facts that last: %+v", lasting)
	}
}

// A fact that a client deleted does not come back because the same statement of
// another session is taken back.
func TestRewindBringsNothingDeletedBack(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s2", event(t, "b", 3, "I love sailing.")))
	if err := b.service.Delete(t.Context(), scope, b.all(memory.KindFact)[0].ID); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s1", in(t, "i1", "a", 1, "I love sailing.")))
	b.succeeds(b.ingest("s1", rewind(t, "i1", "r", 2)))
	if facts := b.facts(); len(facts) != 0 {
		t.Errorf("facts %q", facts)
	}
}

// A rewind does not touch the facts of an earlier session of the same name, whose
// events had the same IDs.
func TestRewindInAnotherLife(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "1", 1, "I live in Porto.")))
	if err := b.sessions.Delete(t.Context(), key("s")); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", in(t, "i1", "1", 100, "I love sailing."), rewind(t, "i1", "2", 101)))
	if diff := cmp.Diff([]string{"I live in Porto."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// A fact that a client edited stands, although another session said it first.
func TestChangedFactStands(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("late", event(t, "e9", 900, "I live in Porto.")))
	m := b.all(memory.KindFact)[0]
	topics := []string{"MINE"}
	if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Topics: &topics}); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("early", event(t, "e1", 1, "I live in Porto.")))
	if facts := b.all(memory.KindFact); len(facts) != 1 || facts[0].ID != m.ID {
		t.Errorf("facts %+v", facts)
	}
}

// A fact makes room only for one that takes its place, and not for one that a
// client has deleted before.
func TestNothingGivesWayToTheDeleted(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	early := event(t, "e1", 1, "I live in Porto.")
	b.succeeds(b.ingest("s1", early))
	if err := b.service.Delete(t.Context(), scope, b.all(memory.KindFact)[0].ID); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s2", event(t, "e2", 2, "I live in Porto.")))
	if err := b.sessions.Delete(t.Context(), key("s1")); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s1", early))
	if facts := b.all(memory.KindFact); len(facts) != 1 || facts[0].Source.SessionID != "s2" {
		t.Errorf("facts %+v", facts)
	}
}

// Of two statements of the same words and time the one with the smaller event ID
// stands, whether they arrive in one batch or in two.
func TestSameTime(t *testing.T) {
	for _, size := range []int{1, 100} {
		b := newBench(t, parts{opts: ingest.Options{BatchEvents: size}})
		b.run()
		b.succeeds(b.ingest("s", event(t, "b", 1, "I live in Porto."), event(t, "a", 1, "I live in Porto.")))
		if facts := b.all(memory.KindFact); len(facts) != 1 || facts[0].Source.EventIDs[0] != "a" {
			t.Errorf("batches of %d: facts %+v", size, facts)
		}
	}
}
