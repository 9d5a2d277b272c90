package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// history is all facts of the scope in the order in which they were said. Each
// has its time in seconds, and the fact that ended it and when, or "again" if it
// is a repetition.
func (b *bench) history() []string {
	b.Helper()
	page, err := b.memories.List(b.Context(), scope, memory.List{
		PageSize: memory.MaxPageSize, Order: memory.Order{Ascending: true},
		Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	texts := map[string]string{}
	for _, m := range page.Memories {
		texts[m.ID] = m.Fact
	}
	out := []string{}
	for _, m := range page.Memories {
		line := fmt.Sprintf("%s %d", m.Fact, m.Timestamp.Unix()-1_700_000_000)
		if m.ValidTo.Equal(m.Timestamp) {
			line += " again"
		} else if !m.ValidTo.IsZero() {
			line += fmt.Sprintf(" to %d by %s", m.ValidTo.Unix()-1_700_000_000, texts[m.SupersededBy])
		}
		out = append(out, line)
	}
	return out
}

// orders returns the orders of n things: all of them if they are few, else some.
func orders(n int) (out [][]int) {
	var first []int
	for i := range n {
		first = append(first, i)
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	seen := map[string]bool{}
	for range 12 / sparse {
		if key := fmt.Sprint(first); !seen[key] {
			seen[key] = true
			out = append(out, slices.Clone(first))
		}
		random.Shuffle(n, func(i, j int) { first[i], first[j] = first[j], first[i] })
	}
	return out
}

// Of facts that exclude each other the later one holds, and a fact that is said
// again becomes a repetition, whatever the order, sessions and requests in which
// they arrive.
func TestConsolidation(t *testing.T) {
	for _, c := range []struct {
		name string
		said []string // one second after another
		want []string
	}{
		{"another value", []string{"My favourite colour is blue.", "My favourite colour is green now."},
			[]string{"My favourite colour is blue. 0 to 1 by My favourite colour is green now.",
				"My favourite colour is green now. 1"}},
		{"a chain", []string{"I live in Porto.", "I moved to Lisbon.", "I live in Berlin now."},
			[]string{"I live in Porto. 0 to 1 by I moved to Lisbon.",
				"I moved to Lisbon. 1 to 2 by I live in Berlin now.", "I live in Berlin now. 2"}},
		{"back again",
			[]string{"My favourite colour is blue.", "My favourite colour is green.", "My favourite colour is blue."},
			[]string{"My favourite colour is blue. 0 to 1 by My favourite colour is green.",
				"My favourite colour is green. 1 to 2 by My favourite colour is blue.",
				"My favourite colour is blue. 2"}},
		{"the same in other words",
			[]string{"I really love sailing.", "I love sailing!", "By the way, I love sailing."},
			[]string{"I really love sailing. 0", "I love sailing! 1 again", "I love sailing. 2 again"}},
		{"no longer", []string{"I eat meat.", "I don't eat meat anymore."},
			[]string{"I eat meat. 0 to 1 by I don't eat meat anymore.", "I don't eat meat anymore. 1"}},
		{"forgotten",
			[]string{"I love sailing.", "My sister is a nurse.", "Please forget that I love sailing."},
			[]string{"My sister is a nurse. 1"}},
		{"forgotten and said again",
			[]string{"I love sailing.", "Please forget that I love sailing.", "I love sailing."},
			[]string{"I love sailing. 2"}},
		{"no contradiction",
			[]string{"I have a dog.", "I have a cat.", "My sister lives in Porto.", "I live in Lisbon."},
			[]string{"I have a dog. 0", "I have a cat. 1", "My sister lives in Porto. 2", "I live in Lisbon. 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, sessions := range []int{1, 2} {
				for _, size := range []int{1, 100} {
					for _, order := range orders(len(c.said)) {
						b := newBench(t, parts{opts: ingest.Options{BatchEvents: size}})
						b.run()
						for _, i := range order {
							e := event(t, fmt.Sprint("e", i), i, c.said[i])
							b.succeeds(b.ingest(fmt.Sprint("s", i%sessions), e))
						}
						if diff := cmp.Diff(c.want, b.history()); diff != "" {
							t.Errorf("%d sessions, batches of %d, order %v (-want +got):\n%s",
								sessions, size, order, diff)
						}
					}
				}
			}
			b := newBench(t, parts{})
			b.run()
			var events []sessionstore.Event
			for i, text := range c.said {
				events = append(events, event(t, fmt.Sprint("e", i), i, text))
			}
			b.succeeds(b.ingest("s", events...))
			if diff := cmp.Diff(c.want, b.history()); diff != "" {
				t.Errorf("all in one batch (-want +got):\n%s", diff)
			}
		})
	}
}

// A fact that a rewind takes back leaves the fact it had superseded as it was
// before.
func TestRewindOfWhatSuperseded(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto."), in(t, "i2", "b", 2, "I moved to Lisbon.")))
	b.succeeds(b.ingest("other", event(t, "c", 4, "I live in Berlin.")))
	b.succeeds(b.ingest("s", rewind(t, "i2", "r", 3)))
	want := []string{"I live in Porto. 1 to 4 by I live in Berlin.", "I live in Berlin. 4"}
	if diff := cmp.Diff(want, b.history()); diff != "" {
		t.Errorf("after taking back what was in between (-want +got):\n%s", diff)
	}
	b = newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto."), in(t, "i2", "b", 2, "I moved to Lisbon.")))
	b.succeeds(b.ingest("s", rewind(t, "i2", "r", 3)))
	if diff := cmp.Diff([]string{"I live in Porto. 1"}, b.history()); diff != "" {
		t.Errorf("after taking back the last (-want +got):\n%s", diff)
	}
}

// With consolidation disabled new facts stand beside known ones, except those
// that say the same.
func TestDisableConsolidation(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s1", event(t, "a", 1, "I live in Porto.")))
	for i, text := range []string{"I live in Lisbon.", "I live in Porto."} {
		said := []sessionstore.Event{event(t, fmt.Sprint("b", i), 2+i, text)}
		op, err := b.service.Ingest(t.Context(), key("s2"), said, ingest.RequestOptions{DisableConsolidation: true})
		if err != nil {
			t.Fatal(err)
		}
		b.succeeds(op)
	}
	want := []string{"I live in Porto. 1", "I live in Lisbon. 2", "I live in Porto. 3 again"}
	if diff := cmp.Diff(want, b.history()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Facts of one request have a time each, in their order, as facts that were said
// one after another.
func TestGivenFactsTimes(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	given := []ingest.GivenFact{{Fact: "I live in Berlin."}, {Fact: "I love sailing."}, {Fact: "I have a dog."}}
	op, err := b.service.IngestFacts(t.Context(), scope, given, ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.succeeds(op)
	said := map[string]time.Time{}
	for _, m := range b.all(memory.KindFact) {
		said[m.Fact] = m.Timestamp
	}
	for i := range given[1:] {
		if before, after := said[given[i].Fact], said[given[i+1].Fact]; !before.Before(after) {
			t.Errorf("%q was said at %v, and %q at %v", given[i].Fact, before, given[i+1].Fact, after)
		}
	}
}

// Facts that a client gives are compared with known ones, and leave no session
// behind.
func TestGivenFacts(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "a", 1, "I live in Porto."), event(t, "b", 2, "I love sailing.")))
	given := []ingest.GivenFact{{Fact: "I live in Lisbon.", Topics: []string{"home"}}, {Fact: "I love sailing"}}
	op, err := b.service.IngestFacts(t.Context(), scope, given, ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := b.changes(b.succeeds(op))
	if diff := cmp.Diff([]string{"CREATED I live in Lisbon.", "UPDATED I live in Porto.",
		"UPDATED I love sailing."}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, m := range b.all(memory.KindFact) {
		if m.Fact == "I live in Lisbon." && !slices.Equal(m.Topics, []string{"home"}) {
			t.Errorf("topics %v", m.Topics)
		}
	}
	if n := len(b.all(memory.KindTurn)); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
	page, err := b.sessions.List(t.Context(), scope, sessionstore.List{})
	if err != nil || len(page.Sessions) != 1 {
		t.Errorf("sessions %+v, %v", page.Sessions, err)
	}
	for _, facts := range [][]ingest.GivenFact{
		nil, make([]ingest.GivenFact, ingest.MaxGiven+1), {{Fact: " "}}, {{Fact: "x", Topics: []string{""}}},
	} {
		if _, err := b.service.IngestFacts(t.Context(), scope, facts, ingest.RequestOptions{}); !isInvalid(err) {
			t.Errorf("%d facts: error %v, want ErrInvalid", len(facts), err)
		}
	}
}

// A rollback adds a revision that is equal to an earlier one, and brings a deleted
// memory back.
func TestRollback(t *testing.T) {
	b := newBench(t, parts{})
	m, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "one", Topics: []string{"t"}, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	two := "two"
	if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &two, Topics: &[]string{}}); err != nil {
		t.Fatal(err)
	}
	if err := b.service.Delete(t.Context(), scope, m.ID); err != nil {
		t.Fatal(err)
	}
	back, err := b.service.Rollback(t.Context(), scope, m.ID, 1, ingest.Patch{})
	same := back.Fact == "one" && slices.Equal(back.Topics, m.Topics) && back.ExpireTime.Equal(m.ExpireTime)
	if err != nil || !same || back.Revision != 4 {
		t.Errorf("rolled back to %+v, %v", back, err)
	}
	if again, err := b.service.Rollback(t.Context(), scope, m.ID, 1, ingest.Patch{}); err != nil || again.Revision != 4 {
		t.Errorf("rolled back again to %+v, %v", again, err)
	}
	if _, err := b.service.Rollback(t.Context(), scope, m.ID, 3, ingest.Patch{}); !isInvalid(err) {
		t.Errorf("to the deletion: %v", err)
	}
	for id, revision := range map[string]int64{m.ID: 9, "missing": 1} {
		_, err := b.service.Rollback(t.Context(), scope, id, revision, ingest.Patch{})
		if err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("revision %d of %s: %v", revision, id, err)
		}
	}
	found, err := b.memories.Search(t.Context(), scope, memory.Query{Terms: []string{"one"}, Limit: 1})
	if err != nil || len(found.Runs) != 1 {
		t.Errorf("the words of the memory find %+v, %v", found, err)
	}
}

// A dry run shows the changes that an ingestion then makes, and makes none.
func TestDryRun(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "a", 1, "I live in Porto.")))
	before := b.all()
	events := []sessionstore.Event{
		event(t, "b", 2, "I moved to Lisbon."), event(t, "c", 3, "I love sailing."), event(t, "d", 4, "Hello there!"),
	}
	p, err := b.service.DryRun(t.Context(), key("s"), events, ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, c := range p.Changes {
		said = append(said, string(c.Action)+" "+c.Memory.Fact)
	}
	if len(p.Facts) != 2 || p.Err != nil {
		t.Errorf("preview %+v", p)
	}
	if diff := cmp.Diff(before, b.all()); diff != "" {
		t.Errorf("memories (-before +after):\n%s", diff)
	}
	did := b.changes(b.succeeds(b.ingest("s", events...)))
	slices.Sort(said)
	slices.Sort(did)
	if diff := cmp.Diff(said, did); diff != "" {
		t.Errorf("(-dry run +ingestion):\n%s", diff)
	}
}
