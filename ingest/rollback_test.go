package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// holding is an export of all that holds, with what is history, but without revisions,
// times of storing and the turns of some sessions.
func (b *bench) holding(but ...string) (out []memory.Memory) {
	b.Helper()
	err := b.memories.Export(b.Context(), func(r memory.Record) error {
		m := r.Memory
		if r.Deleted || m.Kind == memory.KindTurn && slices.Contains(but, m.Source.SessionID) {
			return nil
		}
		m.Revision, m.CreateTime, m.UpdateTime = 0, time.Time{}, time.Time{}
		out = append(out, m)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	slices.SortFunc(out, func(x, y memory.Memory) int { return cmp.Compare(x.ID, y.ID) })
	return out
}

// rollBack rolls an operation back, and returns the operation that did.
func (b *bench) rollBack(op *sessionstore.Operation) *sessionstore.Operation {
	b.Helper()
	did, err := b.service.RollBack(b.Context(), scope, op.ID)
	if err != nil {
		b.Fatal(err)
	}
	return b.succeeds(did)
}

// preview is what a rollback would change, as changes has it.
func (b *bench) preview(op *sessionstore.Operation) (out []string) {
	b.Helper()
	err := b.service.PreviewRollBack(b.Context(), scope, op.ID, func(page []ingest.Changed) error {
		for _, c := range page {
			out = append(out, string(c.Action)+" "+c.Memory.Fact)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// A rollback brings all back that an operation has changed, exactly, whatever kind of
// operation it was. Its preview changes nothing and tells the same. The rollback can be
// rolled back itself, which is as if it had never been.
func TestRollBack(t *testing.T) {
	told := []sessionstore.Event{event(t, "e1", 1, "I live in Rome."), event(t, "e2", 2, "I have a dog called Rex."),
		in(t, "i1", "e3", 3, "My sister lives in Porto.")}
	for name, c := range map[string]struct {
		run  func(b *bench) *sessionstore.Operation
		want []string
	}{
		"what takes the place of what is known": {func(b *bench) *sessionstore.Operation {
			return b.ingest("new", event(t, "n1", 11, "I moved to Oslo."), event(t, "n2", 12, "I like green tea."),
				event(t, "n3", 13, "I moved to Bergen."), event(t, "n4", 14, "I have a dog called Rex."))
		}, []string{"DELETED I moved to Bergen.", "DELETED I moved to Oslo.", "DELETED I like green tea.",
			"UPDATED I live in Rome."}},
		"what is forgotten on request": {func(b *bench) *sessionstore.Operation {
			return b.ingest("new", event(t, "n1", 11, "Forget where I live."), event(t, "n2", 12, "Forget my dog."))
		}, []string{"UPDATED I have a dog called Rex.", "UPDATED I live in Rome."}},
		"facts that a client gives": {func(b *bench) *sessionstore.Operation {
			op, err := b.service.IngestFacts(t.Context(), scope, []ingest.GivenFact{{Fact: "I moved to Oslo."},
				{Fact: "I play chess."}}, ingest.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return op
		}, []string{"DELETED I play chess.", "UPDATED I live in Rome."}},
		"what is taken back": {func(b *bench) *sessionstore.Operation {
			return b.ingest("s", rewind(t, "i1", "r", 4))
		}, []string{"UPDATED My sister lives in Porto."}},
		"everything forgotten": {func(b *bench) *sessionstore.Operation {
			asked := b.succeeds(b.ingest("asks", event(t, "a1", 9, everything)))
			op, err := b.service.Confirm(t.Context(), scope, asked.ID)
			if err != nil {
				t.Fatal(err)
			}
			return op
		}, []string{"UPDATED I have a dog called Rex.", "UPDATED I live in Rome.", "UPDATED My sister lives in Porto."}},
		"nothing": {func(b *bench) *sessionstore.Operation {
			return b.ingest("new", event(t, "n1", 11, "Good morning!"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, parts{})
			b.run()
			b.succeeds(b.ingest("s", told...))
			before := b.holding("new", "asks")
			op := b.succeeds(c.run(b))
			after := b.holding("new", "asks")
			preview := b.preview(op)
			if diff := gocmp.Diff(after, b.holding("new", "asks")); diff != "" {
				t.Errorf("the preview has changed (-was +is):\n%s", diff)
			}
			did := b.rollBack(op)
			if diff := gocmp.Diff(before, b.holding("new", "asks")); diff != "" {
				t.Errorf("rolled back (-before +now):\n%s", diff)
			}
			changes := b.changes(did)
			if diff := gocmp.Diff(preview, changes); diff != "" {
				t.Errorf("changes (-previewed +made):\n%s", diff)
			}
			for _, want := range c.want {
				if !slices.Contains(changes, want) {
					t.Errorf("changes %q lack %q", changes, want)
				}
			}
			if c.want == nil && len(changes) > 0 {
				t.Errorf("changes %q", changes)
			}
			b.rollBack(did)
			if diff := gocmp.Diff(after, b.holding("new", "asks")); diff != "" {
				t.Errorf("the rollback rolled back (-after +now):\n%s", diff)
			}
		})
	}
}

// The turn of a fact that a rollback takes back is outdated for it. It says so after a
// restart of the work at any place, and no longer once the rollback is rolled back or the
// fact is. Other turns, and a rollback that was planned before turns were marked, stay.
func TestRollBackMarksTurns(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 0; ; n += sparse {
			f := &fuse{after: after}
			b := newBench(t, parts{
				sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
				memories: func(m memory.Store) memory.Store { return fusedMemories{m, f} },
			})
			stop := b.run()
			b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome.")))
			op := b.succeeds(b.ingest("new", event(t, "n1", 11, "I moved to Oslo."), event(t, "n2", 12, "Good morning!")))
			before := b.holding()
			f.mu.Lock()
			f.left = n
			f.mu.Unlock()
			did, err := b.service.RollBack(t.Context(), scope, op.ID)
			for errors.Is(err, errBroken) {
				did, err = b.service.RollBack(t.Context(), scope, op.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			did = b.succeeds(did)
			f.mu.Lock()
			over := f.left > 0
			f.left = 0
			f.mu.Unlock()
			if got := b.retracted(); !slices.Equal(got, []string{"I moved to Oslo.: I moved to Oslo."}) {
				t.Errorf("call %d fails (after: %v): the turns say %q", n, after, got)
			}
			if n == 0 { // none has failed
				back := b.succeeds(b.rollBack(did))
				if diff := gocmp.Diff(before, b.holding()); diff != "" {
					t.Errorf("rolled back twice (-before +now):\n%s", diff)
				}
				b.rollBack(back)
				if got := b.retracted(); len(got) != 1 {
					t.Errorf("rolled back three times: the turns say %q", got)
				}
				id := ""
				for _, c := range b.changed(did) {
					if c.Action == memory.Deleted {
						id = c.Memory.ID
					}
				}
				if _, err := b.service.Rollback(t.Context(), scope, id, 1, ingest.Patch{}); err != nil {
					t.Fatal(err)
				}
				if got := b.retracted(); got != nil {
					t.Errorf("the fact holds again: the turns say %q", got)
				}
			}
			stop()
			if over {
				break
			}
		}
	}
}

// A client that edits a fact just before a rollback takes it back keeps it, and its turn does
// not say that it was taken back.
func TestRollBackOvertaken(t *testing.T) {
	edited, said := "I live in Oslo, in Grønland.", []string(nil)
	var b *bench
	b = newBench(t, parts{memories: func(m memory.Store) memory.Store {
		return &overtaken{Store: m, act: func() {
			said = b.retracted()
			for _, m := range b.holding() {
				if m.Kind == memory.KindFact && m.Fact == "I moved to Oslo." {
					if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &edited}); err != nil {
						t.Error(err)
					}
				}
			}
		}}
	}})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome.")))
	op := b.succeeds(b.ingest("new", event(t, "n1", 11, "I moved to Oslo.")))
	b.rollBack(op)
	if len(said) != 1 {
		t.Errorf("before the edit the turns say %q", said)
	}
	if got := b.retracted(); got != nil || !slices.Contains(b.facts(), edited) {
		t.Errorf("the facts are %q, and the turns say %q", b.facts(), got)
	}
}

// overtaken is a memory store in which something happens just before the first delete.
type overtaken struct {
	memory.Store
	once sync.Once
	act  func()
}

func (o *overtaken) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) (
	[]memory.Outcome, error) {
	o.once.Do(o.act)
	return o.Store.Delete(ctx, scope, removals)
}

// retracted lists what turns say of facts that were taken back, as "words of the turn: fact".
func (b *bench) retracted() (out []string) {
	for _, m := range b.holding() {
		for _, r := range m.Retracted {
			out = append(out, m.Fact+": "+r.Fact)
		}
	}
	return out
}

// Each revision of a rollback is a client's, and has its operation.
func TestRollBackRevisions(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	op := b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome.")))
	did := b.rollBack(op)
	if got := b.changed(did); len(got) != 1 || got[0].Memory.Revision != 1 {
		t.Fatalf("changes %+v", got)
	}
	all, err := b.memories.Revisions(t.Context(), scope, b.changed(did)[0].Memory.ID, 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d revisions, %v", len(all), err)
	}
	if r := all[0]; r.Action != memory.Deleted || r.Actor != "client" || r.Operation != did.ID {
		t.Errorf("revision %+v", r)
	}
	if did.Rollback != op.ID || ingest.SessionOf(did) != "" {
		t.Errorf("operation %+v", did)
	}
	if n := len(b.all(memory.KindTurn)); n != 1 {
		t.Errorf("%d turns, want the one that was said", n)
	}
}

// A rollback destroys nothing that was done later: what it leaves alone it says, with the
// reason, and what gave way to something that is gone holds again, or gives way to what
// came later.
func TestRollBackAfterOthers(t *testing.T) {
	moved := event(t, "n1", 11, "I moved to Oslo.")
	find := func(b *bench, fact string) memory.Memory {
		for _, m := range b.holding() {
			if m.Kind == memory.KindFact && m.Fact == fact {
				return m
			}
		}
		b.Fatalf("there is no fact %q", fact)
		return memory.Memory{}
	}
	const rome, oslo = "I live in Rome.", "I moved to Oslo."
	patch := func(b *bench, fact string, p ingest.Patch) {
		if _, err := b.service.Update(t.Context(), scope, find(b, fact).ID, p); err != nil {
			b.Fatal(err)
		}
	}
	fact, topics := "I live in Oslo, in Grønland.", []string{"home"}
	for name, c := range map[string]struct {
		since   func(b *bench)
		changes []string
		want    []string // facts as "fact", and "fact < what took its place"
	}{
		"a client edits what it made": {func(b *bench) { patch(b, oslo, ingest.Patch{Fact: &fact}) },
			[]string{"SKIPPED " + fact, "SKIPPED " + rome}, []string{fact, rome + " < " + fact}},
		"a client labels what it made": {func(b *bench) { patch(b, oslo, ingest.Patch{Topics: &topics}) },
			[]string{"SKIPPED " + rome, "SKIPPED " + oslo}, []string{oslo + " home", rome + " < " + oslo}},
		"a client labels what it changed": {func(b *bench) { patch(b, rome, ingest.Patch{Topics: &topics}) },
			[]string{"DELETED " + oslo, "UPDATED " + rome}, []string{rome + " home"}},
		"a client deletes what it made": {func(b *bench) {
			if err := b.service.Delete(t.Context(), scope, find(b, oslo).ID); err != nil {
				b.Fatal(err)
			}
		}, []string{"SKIPPED " + oslo, "UPDATED " + rome}, []string{rome}},
		"another fact takes the place of what it made": {func(b *bench) {
			b.succeeds(b.ingest("later", event(t, "l1", 21, "I moved to Bergen.")))
		}, []string{"DELETED " + oslo, "UPDATED " + rome}, []string{"I moved to Bergen.", rome + " < I moved to Bergen."}},
		"what it made is said again": {func(b *bench) {
			b.succeeds(b.ingest("later", event(t, "l1", 21, oslo)))
		}, []string{"SKIPPED " + rome, "SKIPPED " + oslo}, []string{oslo, oslo + " < " + oslo, rome + " < " + oslo}},
		"what it made was said again to an earlier build": {func(b *bench) {
			was := find(b, oslo)
			m := was.Clone()
			m.ID, m.Timestamp, m.SupersededBy = "again", m.Timestamp.Add(10*time.Second), was.ID
			m.ValidTo = m.HoldsFrom()
			if _, err := b.memories.Put(t.Context(), scope, []memory.Write{{Memory: m, Actor: "rules"}}); err != nil {
				b.Fatal(err)
			}
		}, []string{"DELETED " + oslo, "UPDATED " + rome, "UPDATED " + oslo}, []string{oslo, rome + " < " + oslo}},
		"something else is said": {func(b *bench) {
			b.succeeds(b.ingest("later", event(t, "l1", 21, "I like green tea.")))
		}, []string{"DELETED " + oslo, "UPDATED " + rome}, []string{"I like green tea.", rome}},
		"a later operation, rolled back before": {func(b *bench) {
			b.rollBack(b.succeeds(b.ingest("later", event(t, "l1", 21, "I moved to Bergen."))))
		}, []string{"DELETED " + oslo, "UPDATED " + rome}, []string{rome}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, parts{})
			b.run()
			b.succeeds(b.ingest("s", event(t, "e1", 1, rome)))
			op := b.succeeds(b.ingest("new", moved))
			c.since(b)
			preview := b.preview(op)
			did := b.rollBack(op)
			changes := b.changes(did)
			if diff := gocmp.Diff(preview, changes); diff != "" {
				t.Errorf("changes (-previewed +made):\n%s", diff)
			}
			slices.Sort(c.changes)
			if slices.Sort(changes); !slices.Equal(changes, c.changes) {
				t.Errorf("changes %q, want %q", changes, c.changes)
			}
			for _, ch := range b.changed(did) {
				if (ch.Action == ingest.Skipped) != (ch.Reason != "") {
					t.Errorf("%s %q for the reason %q", ch.Action, ch.Memory.Fact, ch.Reason)
				}
			}
			byID := map[string]memory.Memory{}
			for _, m := range b.holding() {
				byID[m.ID] = m
			}
			got := []string{}
			for _, m := range byID {
				text := m.Fact
				if slices.Contains(m.Topics, "home") {
					text += " home"
				}
				if m.SupersededBy != "" {
					text += " < " + byID[m.SupersededBy].Fact
				}
				if m.Kind == memory.KindFact {
					got = append(got, text)
				}
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(c.want)); !slices.Equal(got, want) {
				t.Errorf("facts %q, want %q", got, want)
			}
		})
	}
}

// An operation that is not done, that is not there, or that is rolled back already is
// refused in words that say so. One that was rolled back is not tried again.
func TestRollBackRefused(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	b := newBench(t, parts{opts: ingest.Options{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}})
	waits := b.ingest("w", event(t, "w1", 1, "I like tea."))
	refused := func(name, id string, want error, words string) {
		t.Helper()
		_, err := b.service.RollBack(t.Context(), scope, id)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %v with %q", name, err, want, words)
		}
		err = b.service.PreviewRollBack(t.Context(), scope, id, func([]ingest.Changed) error { return nil })
		if !errors.Is(err, want) {
			t.Errorf("preview of %s: %v, want %v", name, err, want)
		}
	}
	refused("one that waits", waits.ID, memory.ErrInvalid, "PENDING")
	refused("one that is not there", sessionstore.OperationID(scope, "x"), memory.ErrNotFound, "for 7 days")
	b.run()
	b.succeeds(waits)
	bob := memory.Scope{App: scope.App, User: "bob"}
	if _, err := b.service.RollBack(t.Context(), bob, waits.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("another user rolls it back: %v", err)
	}
	did := b.rollBack(waits)
	refused("one that is rolled back", waits.ID, memory.ErrExists, did.ID)
	if by, err := b.service.RolledBack(t.Context(), scope, waits.ID); err != nil || by != did.ID {
		t.Errorf("rolled back by %q, %v", by, err)
	}
	if _, err := b.service.Retry(t.Context(), scope, waits.ID); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("tried again: %v", err)
	}
	b.succeeds(b.ingest("w", event(t, "w2", 2, "I like milk.")))
	if got := b.facts(); !slices.Equal(got, []string{"I like milk."}) {
		t.Errorf("facts %q: what was rolled back has come back", got)
	}
}

// Of callers that roll one operation back at the same time one does, also on Redis. The
// others are told which operation it is.
func TestRolledBackTogether(t *testing.T) {
	redis := redistest.Start(t)
	sessions, err := redissession.Open(t.Context(), redis.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sessions.Close() })
	for name, p := range map[string]parts{
		"SQLite": {}, "Redis": {sessions: func(ingest.Sessions) ingest.Sessions { return sessions }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, p)
			b.run()
			b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome.")))
			before := b.holding("new")
			op := b.succeeds(b.ingest("new", event(t, "n1", 11, "I moved to Oslo.")))
			dids, errs := make([]*sessionstore.Operation, 8), make([]error, 8)
			var all sync.WaitGroup
			for i := range dids {
				all.Go(func() { dids[i], errs[i] = b.service.RollBack(context.WithoutCancel(t.Context()), scope, op.ID) })
			}
			all.Wait()
			var did *sessionstore.Operation
			for i := range dids {
				if errs[i] == nil {
					if did != nil {
						t.Error("two callers have won")
					}
					did = dids[i]
				}
			}
			if did == nil {
				t.Fatalf("none has won: %v", errs)
			}
			for _, err := range errs {
				if err != nil && (!errors.Is(err, memory.ErrExists) || !strings.Contains(err.Error(), did.ID)) {
					t.Errorf("a caller that lost: %v", err)
				}
			}
			b.succeeds(did)
			if diff := gocmp.Diff(before, b.holding("new")); diff != "" {
				t.Errorf("rolled back (-before +now):\n%s", diff)
			}
		})
	}
}

// Whichever call of a rollback fails, before or after it took effect, all is brought back
// in the end, and the operation tells the same.
func TestRollBackCallsFail(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n += sparse {
			f := &fuse{left: 0, after: after}
			b := newBench(t, parts{
				sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
				memories: func(m memory.Store) memory.Store { return fusedMemories{m, f} },
			})
			stop := b.run()
			b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome."), event(t, "e2", 2, "I have a dog called Rex.")))
			before := b.holding("new")
			op := b.succeeds(b.ingest("new", event(t, "n1", 11, "I moved to Oslo."), event(t, "n2", 12, "Forget my dog.")))
			b.succeeds(b.ingest("later", event(t, "l1", 21, "I moved to Bergen.")))
			f.mu.Lock()
			f.left = n
			f.mu.Unlock()
			did, err := b.service.RollBack(t.Context(), scope, op.ID)
			for errors.Is(err, errBroken) {
				did, err = b.service.RollBack(t.Context(), scope, op.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := b.changes(b.succeeds(did))
			slices.Sort(got)
			want := []string{"DELETED I moved to Oslo.", "UPDATED Forget my dog.", "UPDATED I have a dog called Rex.",
				"UPDATED I have a dog called Rex.", "UPDATED I live in Rome."}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("call %d fails (after: %v): changes (-want +got):\n%s", n, after, diff)
			}
			for i, m := range before { // Rome gives way to what came later
				if m.Kind == memory.KindFact && m.Fact == "I live in Rome." {
					before[i].SupersededBy = ""
				}
			}
			now := slices.DeleteFunc(b.holding("new", "later"), func(m memory.Memory) bool { return m.Fact == "I moved to Bergen." })
			for i, m := range now {
				if m.Fact == "I live in Rome." && m.Kind == memory.KindFact {
					if m.SupersededBy == "" {
						t.Errorf("call %d fails (after: %v): Rome holds beside Bergen", n, after)
					}
					now[i].SupersededBy, now[i].ValidTo = "", time.Time{}
				}
			}
			if diff := gocmp.Diff(before, now); diff != "" {
				t.Errorf("call %d fails (after: %v) (-before +now):\n%s", n, after, diff)
			}
			stop()
			f.mu.Lock()
			over := f.left > 0
			f.mu.Unlock()
			if over {
				if n < 10 {
					t.Fatalf("a rollback has only %d calls?", n)
				}
				break
			}
		}
	}
}

// An operation that has failed can be rolled back: what it has made is gone, what is left
// of it is passed over, and later events of its session are read as ever.
func TestRollBackFailed(t *testing.T) {
	broken := &brokenAt{word: "poison"}
	b := newBench(t, parts{extractor: broken, opts: ingest.Options{BatchEvents: 1, MaxAttempts: 2}})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome.")))
	before := b.holding("new")
	op := b.done(b.ingest("new", event(t, "n1", 11, "I moved to Oslo."), event(t, "n2", 12, "This is poison."),
		event(t, "n3", 13, "I like tea.")))
	if op.State != sessionstore.Failed || op.EventsDone != 1 {
		t.Fatalf("operation %+v", op)
	}
	b.rollBack(op)
	if diff := gocmp.Diff(before, b.holding("new")); diff != "" {
		t.Errorf("rolled back (-before +now):\n%s", diff)
	}
	if _, err := b.service.Retry(t.Context(), scope, op.ID); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("tried again: %v", err)
	}
	b.succeeds(b.ingest("new", event(t, "n4", 14, "I like milk.")))
	if got := b.facts(); !slices.Equal(got, []string{"I like milk.", "I live in Rome."}) {
		t.Errorf("facts %q", got)
	}
	if n := len(b.all(memory.KindTurn)); n != 5 {
		t.Errorf("%d turns, want all 5 that were said", n)
	}
}

// Only the events of an operation that was rolled back are passed over, whatever the options of those
// that wait behind it.
func TestRollBackPassesOver(t *testing.T) {
	broken := &brokenAt{word: "poison"}
	b := newBench(t, parts{extractor: broken, opts: ingest.Options{MaxAttempts: 1}})
	stop := b.run()
	op := b.done(b.ingest("s", event(t, "e1", 1, "This is poison.")))
	if op.State != sessionstore.Failed {
		t.Fatalf("operation %+v", op)
	}
	b.rollBack(op)
	stop()
	ops := []*sessionstore.Operation{b.ingest("s", event(t, "e2", 2, "I like milk.")),
		b.ingestWith("s", ingest.RequestOptions{Labels: memory.Labels{"k": "v"}}, event(t, "e3", 3, "I play chess."))}
	b.run()
	for _, op := range ops {
		b.succeeds(op)
	}
	if got := b.facts(); !slices.Equal(got, []string{"I like milk.", "I play chess."}) {
		t.Errorf("facts %q", got)
	}
}

// brokenAt is an extractor that fails at a word.
type brokenAt struct {
	rules.Extractor
	word string
}

func (e *brokenAt) Extract(ctx context.Context, batch extract.Batch) (extract.Found, error) {
	for _, turn := range batch.Turns {
		if strings.Contains(turn.Text, e.word) {
			return extract.Found{}, errBroken
		}
	}
	return e.Extractor.Extract(ctx, batch)
}

// Operations whose events are in one batch are rolled back each by itself.
func TestRollBackOneOfBatch(t *testing.T) {
	b := newBench(t, parts{})
	var ops []*sessionstore.Operation
	for i, text := range []string{"I live in Rome.", "I like tea.", "I play chess."} {
		ops = append(ops, b.ingest("s", event(t, fmt.Sprint("e", i), i, text)))
	}
	b.run()
	for _, op := range ops {
		b.succeeds(op)
	}
	b.rollBack(ops[1])
	if got := b.facts(); !slices.Equal(got, []string{"I live in Rome.", "I play chess."}) {
		t.Errorf("facts %q", got)
	}
	b.rollBack(ops[0])
	if got := b.facts(); !slices.Equal(got, []string{"I play chess."}) {
		t.Errorf("facts %q", got)
	}
}

// A rewind that was rolled back takes nothing back again when the session goes on.
func TestRollBackRewind(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I live in Rome."), in(t, "i1", "e2", 2, "My sister lives in Porto.")))
	want := b.facts()
	b.rollBack(b.succeeds(b.ingest("s", rewind(t, "i1", "r", 4))))
	b.succeeds(b.ingest("s", in(t, "i2", "e3", 5, "I like green tea.")))
	want = append(want, "I like green tea.")
	if slices.Sort(want); !slices.Equal(b.facts(), want) {
		t.Errorf("facts %q, want %q", b.facts(), want)
	}
	if n := len(b.all(memory.KindTurn)); n != 3 {
		t.Errorf("%d turns, want 3", n)
	}
	b.succeeds(b.ingest("s", rewind(t, "i2", "r2", 6)))
	if got := b.facts(); slices.Contains(got, "I like green tea.") || len(got) != len(want)-1 {
		t.Errorf("facts after another rewind %q", got)
	}
}
