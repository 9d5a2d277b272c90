package ingest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// apart has a bench write events and turns in two steps, as with stores that are
// not in one place.
func apart(ingest.Together) ingest.Together { return nil }

// many are n turns of one conversation.
func many(t testing.TB, n int) (out []sessionstore.Event) {
	for i := range n {
		out = append(out, event(t, fmt.Sprint("g", i), 100+i, fmt.Sprintf("Giraffe number %d.", i)))
	}
	return out
}

// found are the ids of the events whose turns a search for giraffes finds.
func (b *bench) found() map[string]bool {
	b.Helper()
	found, err := b.memories.Search(b.Context(), scope, memory.Query{Terms: []string{"giraff"}, Limit: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]bool{}
	for _, run := range found.Runs {
		for _, c := range run {
			out[c.Memory.Source.EventID()] = true
		}
	}
	return out
}

// findable checks that an operation says whether its turns can be found, and that
// n turns can, before any of them was processed.
func (b *bench) findable(op *sessionstore.Operation, want bool, n int) {
	b.Helper()
	if got := len(b.found()); op.Findable != want || got != n {
		b.Errorf("%d turns can be found, want %d; the operation says %v", got, n, op.Findable)
	}
}

// The turns of a request can be found when it is answered, before anything has
// run, and the operation says so: in one step with the events and in two, and of
// more events than one step has.
func TestFindableAtOnce(t *testing.T) {
	for name, together := range map[string]func(ingest.Together) ingest.Together{"together": nil, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no wait ends before the stores do
				b := newBench(t, parts{together: together})
				b.findable(b.ingest("s", many(t, 3)...), true, 3)
				// Sent again, alone and with more.
				b.findable(b.ingest("s", many(t, 2)...), true, 3)
				b.findable(b.ingest("s", many(t, 4)...), true, 4)
				b.findable(b.ingest("long", many(t, 450)...), true, 450)
				if n := b.service.FindableLate(); n != 0 {
					t.Errorf("%d requests were late", n)
				}
			})
		})
	}
	t.Run("very long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, parts{})
			b.findable(b.ingest("s", many(t, 2300)...), true, 2300)
			// Apart, a request waits for the first thousand.
			b = newBench(t, parts{together: apart})
			b.findable(b.ingest("s", many(t, 1001)...), false, 1000)
			if n := b.service.FindableLate(); n != 1 {
				t.Errorf("%d requests were late, want 1", n)
			}
		})
	})
}

// Turns of events that were appended without a request can be found when memories
// of them are requested: by themselves, with other events, and of a part of the
// session.
func TestFindableOnceRequested(t *testing.T) {
	for name, together := range map[string]func(ingest.Together) ingest.Together{"together": nil, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no wait ends before the stores do
				b := newBench(t, parts{together: together})
				events := many(t, 700)
				add := func(from, to int) {
					t.Helper()
					// Late ones first, so that the order of time is not that of arrival.
					for i := to - 100; i >= from; i -= 100 {
						_, err := b.sessions.Append(t.Context(), key("s"), events[i:i+100], sessionstore.Append{Create: true})
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				add(0, 500)
				b.findable(&sessionstore.Operation{}, false, 0)
				op, err := b.service.AddRange(t.Context(), key("s"), ingest.Range{From: time.Unix(1_700_000_000+110, 0),
					To: time.Unix(1_700_000_000+120, 0)}, 1000, 1<<20, ingest.RequestOptions{})
				if err != nil {
					t.Fatal(err)
				}
				b.findable(op, true, 10)
				op, err = b.service.AddSession(t.Context(), key("s"), ingest.RequestOptions{})
				if err != nil {
					t.Fatal(err)
				}
				b.findable(op, true, 500)
				if op, err = b.service.AddSession(t.Context(), key("s"), ingest.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
				b.findable(op, true, 500)
				add(500, 600)
				op = b.ingest("s", events[600:]...)
				if !op.Findable || !b.found()["g650"] {
					t.Errorf("after more: %v", op.Findable)
				}
				b.run()
				b.succeeds(op)
				b.findable(op, true, 700)
			})
		})
	}
	b := newBench(t, parts{})
	if _, err := b.service.AddSession(t.Context(), key("none"), ingest.RequestOptions{}); err == nil {
		t.Error("a session that is missing has memories requested")
	}
}

// What is not a turn makes none, and does not keep the others from being found.
// Given facts can be found once their memories are made.
func TestFindableAmongOthers(t *testing.T) {
	b := newBench(t, parts{})
	events := []sessionstore.Event{
		event(t, "a", 1, "A giraffe."),
		event(t, "p", 2, "A giraffe that", `, "partial": true`),
		event(t, "n", 3, ""),
		event(t, "", 4, "A giraffe without an id."),
		event(t, "a", 5, "A giraffe under an id that is taken."),
	}
	b.findable(b.ingest("s", events...), true, 2)
	b.findable(b.ingest("none", event(t, "x", 1, "")), true, 2)
	op, err := b.service.IngestFacts(t.Context(), scope, []ingest.GivenFact{{Fact: "Giraffes are tall."}},
		ingest.RequestOptions{})
	if err != nil || op.Findable {
		t.Errorf("given facts: %+v, %v", op, err)
	}
	if n := b.service.FindableLate(); n != 0 {
		t.Errorf("%d requests were late", n)
	}
}

// An event that is stored already keeps its text: the turn of another text under
// its id is not written.
func TestFindableIsWhatIsStored(t *testing.T) {
	b := newBench(t, parts{})
	_, err := b.sessions.Append(t.Context(), key("s"), []sessionstore.Event{event(t, "a", 1, "A giraffe.")},
		sessionstore.Append{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	b.findable(b.ingest("s", event(t, "a", 1, "No giraffe at all."), event(t, "b", 2, "Another giraffe.")), true, 2)
	for _, m := range b.all(memory.KindTurn) {
		if strings.HasPrefix(m.Fact, "No") {
			t.Errorf("turn %+v", m)
		}
	}
}

// Turns that a client has changed or deleted stay so, and rewound ones are gone,
// when their events are sent again.
func TestFindableLeavesTurnsAsTheyAre(t *testing.T) {
	b := newBench(t, parts{})
	b.ingest("s", many(t, 3)...)
	var edited, deleted string
	for _, m := range b.all(memory.KindTurn) {
		switch m.Source.EventID() {
		case "g0":
			edited = m.ID
		case "g1":
			deleted = m.ID
		}
	}
	text := "An okapi, and no giraffe."
	if _, err := b.service.Update(t.Context(), scope, edited, ingest.Patch{Fact: &text}); err != nil {
		t.Fatal(err)
	}
	if err := b.service.Delete(t.Context(), scope, deleted); err != nil {
		t.Fatal(err)
	}
	before := b.all()
	if err := b.sessions.Delete(t.Context(), key("s")); err != nil {
		t.Fatal(err)
	}
	op := b.ingest("s", many(t, 3)...) // a new life: all turns are written again
	if diff := cmp.Diff(before, b.all()); diff != "" || !op.Findable {
		t.Errorf("after ingesting again (-before +after):\n%s", diff)
	}
	b = newBench(t, parts{})
	stop := b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "A giraffe."), in(t, "i2", "b", 2, "A giraffe again."),
		rewind(t, "i2", "r", 3)))
	stop()
	b.findable(b.ingest("s", in(t, "i2", "b", 2, "A giraffe again.")), true, 1)
}

// Turns of a remote embedder can be found by words at once and get their vectors
// later.
func TestFindableBeforeVectors(t *testing.T) {
	b := newBench(t, parts{embedder: remote{}})
	op := b.ingest("s", many(t, 3)...)
	b.findable(op, true, 3)
	vectors := func() (n int) {
		err := b.memories.Export(t.Context(), func(r memory.Record) error {
			if r.Vector != nil {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := vectors(); n != 0 {
		t.Errorf("%d vectors before processing", n)
	}
	b.run()
	b.succeeds(op)
	if n := vectors(); n < 3 {
		t.Errorf("%d vectors after processing", n)
	}
}

// remote is an embedder that counts as remote.
type remote struct{ embed.Builtin }

func (r remote) Model() embed.Model {
	m := r.Builtin.Model()
	m.Remote = true
	return m
}

// While the memories move to another model for good, events are taken, and their
// turns follow.
func TestNotFindableWhileMoving(t *testing.T) {
	b := newBench(t, parts{})
	to := model()
	to.Analyzer = "another"
	move, err := b.memories.Move(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	b.findable(b.ingest("s", many(t, 2)...), true, 2) // until the end of the move nothing changes
	index := func(_ context.Context, records []memory.Record) error {
		for i := range records {
			records[i].Terms = memory.Terms{"moved": 1}
		}
		return nil
	}
	if n, err := move.Step(t.Context(), index); n != 2 || err != nil {
		t.Errorf("a step moves %d memories, %v; want the turns of the request", n, err)
	}
	if err := move.Finish(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	op := b.ingest("s", many(t, 4)...)
	if op.Findable || b.service.FindableLate() != 1 {
		t.Errorf("operation %+v, %d late", op, b.service.FindableLate())
	}
	if s, err := b.sessions.Get(t.Context(), key("s"), sessionstore.Get{NumRecent: -1}); err != nil || len(s.Events) != 4 {
		t.Errorf("session %+v, %v", s, err)
	}
}

// A memory store of its own that is unavailable does not keep events from being
// stored, and the operation says that the turns cannot be found yet.
func TestNotFindableWhileUnavailable(t *testing.T) {
	var back atomic.Bool
	b := newBench(t, parts{memories: func(s memory.Store) memory.Store { return absent{s, &back} }})
	op := b.ingest("s", many(t, 2)...)
	b.findable(op, false, 0)
	back.Store(true)
	b.run()
	b.succeeds(op)
	b.findable(&sessionstore.Operation{}, false, 2)
	if n := b.service.FindableLate(); n != 1 {
		t.Errorf("%d requests were late, want 1", n)
	}
}

// Whichever step of a request fails, before or after it took effect, a process that
// starts on the file as it is then makes the memories of all events that are
// stored, and the request can be sent again.
func TestEveryStepOfARequestFailsOnce(t *testing.T) {
	events := append(story(t), many(t, 450)...)
	want := newBench(t, parts{})
	want.run()
	want.succeeds(want.ingest("s", events...))
	for _, after := range []bool{false, true} {
		for n := 1; n <= 3; n++ {
			file := filepath.Join(t.TempDir(), "memoryd.db")
			f := &fuse{left: n, after: after}
			first := newBench(t, parts{file: file,
				together: func(t ingest.Together) ingest.Together { return fusedTogether{t, f} }})
			op, err := first.service.Ingest(t.Context(), key("s"), events, ingest.RequestOptions{})
			if n == 1 && err == nil || n > 1 && (err != nil || op.Findable) {
				t.Fatalf("step %d failed: %+v, %v", n, op, err)
			}
			first.close() // the process dies here, and nothing was processed
			b := newBench(t, parts{file: file})
			stored := n > 1 || after
			if s, err := b.sessions.Get(t.Context(), key("s"), sessionstore.Get{NumRecent: -1}); (err == nil) != stored ||
				stored && len(s.Events) != len(events) {
				t.Errorf("step %d failed, after its effect %v: the session is %v, %v", n, after, s != nil, err)
			}
			// Events and the first turns are in one step: both are there, or neither.
			if found := len(b.found()); (found > 0) != stored {
				t.Errorf("step %d failed, after its effect %v: %d turns", n, after, found)
			}
			b.run()
			op = b.ingest("s", events...)
			if !op.Findable || len(b.found()) != 450 {
				t.Errorf("step %d failed, after its effect %v: %d turns once it is sent again, says %v",
					n, after, len(b.found()), op.Findable)
			}
			b.succeeds(op)
			if diff := cmp.Diff(want.all(), b.all()); diff != "" {
				t.Fatalf("step %d failed, after its effect %v (-undisturbed +failed):\n%s", n, after, diff)
			}
		}
	}
}
