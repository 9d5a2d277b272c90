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

// saidAt is an event of the user at a time.
func saidAt(t *testing.T, id string, at time.Time, text string) sessionstore.Event {
	t.Helper()
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id":%q,"author":"user","timestamp":%q,"content":%q}`,
		id, at.Format(time.RFC3339Nano), text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// homes are the statements about where the user lives that are current at a time;
// the zero time is now.
func (b *bench) homes(asOf time.Time) (out []string) {
	b.Helper()
	page, err := b.memories.List(b.Context(), scope, memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, AsOf: asOf}})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range page.Memories {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(m.Fact, "I live in "), "."))
	}
	slices.Sort(out)
	return out
}

// A fact dated in the future is not current before its time and ends nothing
// before it, and what is said after it was received ends it.
func TestDatedInTheFuture(t *testing.T) {
	now := time.Now()
	future := now.AddDate(40, 0, 0)
	porto, rome := saidAt(t, "p", now.Add(-time.Hour), "I live in Porto."), saidAt(t, "r", future, "I live in Rome.")
	for _, order := range [][]sessionstore.Event{{porto, rome}, {rome, porto}} {
		b := newBench(t, parts{})
		b.run()
		for i, e := range order {
			b.succeeds(b.ingest(fmt.Sprint("s", i), e))
		}
		check := func(what string, at time.Time, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, b.homes(at)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", order[0].ID, what, diff)
			}
		}
		check("now", time.Time{}, "Porto")
		check("tomorrow", now.Add(48*time.Hour), "Porto")
		check("then", future.Add(time.Hour), "Rome")
		b.succeeds(b.ingest("later", saidAt(t, "l", time.Now(), "I live in Lisbon.")))
		check("after another statement", time.Time{}, "Lisbon")
		check("then, after another statement", future.Add(time.Hour), "Lisbon")
		b.succeeds(b.ingest("again", saidAt(t, "a", time.Now(), "I live in Rome.")))
		check("said again", time.Time{}, "Rome")
	}
}

// A clock that is ahead by some hours makes no statement later than those that
// were received after it, nor hides it.
func TestClockAhead(t *testing.T) {
	for _, ahead := range []time.Duration{time.Second, 9 * time.Hour, memory.MaxSkew} {
		b := newBench(t, parts{})
		b.run()
		b.succeeds(b.ingest("s", saidAt(t, "p", time.Now().Add(-time.Minute), "I live in Porto.")))
		b.succeeds(b.ingest("s", saidAt(t, "r", time.Now().Add(ahead-time.Minute), "I live in Rome.")))
		if diff := cmp.Diff([]string{"Rome"}, b.homes(time.Time{})); diff != "" {
			t.Errorf("%v ahead (-want +got):\n%s", ahead, diff)
		}
		b.succeeds(b.ingest("t", saidAt(t, "l", time.Now(), "I live in Lisbon.")))
		if diff := cmp.Diff([]string{"Lisbon"}, b.homes(time.Time{})); diff != "" {
			t.Errorf("%v ahead, and then another statement (-want +got):\n%s", ahead, diff)
		}
		b.succeeds(b.ingest("t", saidAt(t, "f", time.Now(), "Please forget that I live in Rome.")))
		for _, m := range b.all(memory.KindFact) {
			if strings.Contains(m.Fact, "Rome") {
				t.Errorf("%v ahead: forgotten, and there is %+v", ahead, m)
			}
		}
	}
}

// A fact that a client gives for a day in the future ends nothing before that day,
// and can be found before it.
func TestGivenForTheFuture(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	move := time.Now().AddDate(1, 0, 0)
	b.succeeds(b.ingest("s", saidAt(t, "p", time.Now().Add(-time.Hour), "I live in Porto.")))
	if _, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "I live in Rome.", ValidFrom: move}); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", saidAt(t, "q", time.Now().Add(-time.Hour), "I live in Porto, near the river.")))
	b.succeeds(b.ingest("s2", saidAt(t, "f", time.Now().Add(-2*time.Hour), "I live in Faro.")))
	for _, m := range b.all(memory.KindFact) {
		if strings.HasPrefix(m.Fact, "I live in Porto") && !m.ValidTo.IsZero() && m.ValidTo.Before(move.Add(-time.Minute)) {
			t.Errorf("%q ends before the move: %+v", m.Fact, m)
		}
	}
	if got := b.homes(time.Time{}); !slices.Contains(got, "Rome") || !slices.Contains(got, "Porto") {
		t.Errorf("now: %q", got)
	}
}
