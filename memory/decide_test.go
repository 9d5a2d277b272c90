package memory

import (
	"errors"
	"testing"
	"time"
)

// decideNow is the clock of these tests: finer than stores keep times.
var decideNow = noon.Add(time.Hour + 1234*time.Nanosecond)

// stored is the sample at revision 3, as a store has it.
func stored(edit func(c *Current)) *Current {
	c := &Current{Memory: sample(), Embedded: true}
	if edit != nil {
		edit(c)
	}
	return c
}

func TestDecidePut(t *testing.T) {
	deleted := func(c *Current) { c.Deleted = true }
	bare := func(c *Current) { c.Embedded = false }
	expired := func(c *Current) { c.Memory.ExpireTime = noon }
	for _, c := range []struct {
		name    string
		current *Current
		expect  int64
		fact    string // "" is that of the sample
		vector  bool
		effect  Effect
		action  Action // of the step
		err     error
	}{
		{"a new memory", nil, 0, "", true, AddRevision, Created, nil},
		{"a new memory with a revision expected", nil, 1, "", true, NoEffect, "", ErrAborted},
		{"an update", stored(nil), 3, "likes coffee", true, AddRevision, Updated, nil},
		{"an update of an older revision", stored(nil), 2, "likes coffee", true, NoEffect, "", ErrAborted},
		{"an update of a revision to come", stored(nil), 4, "likes coffee", true, NoEffect, "", ErrAborted},
		{"a create of what is there", stored(nil), 0, "likes coffee", true, NoEffect, "", ErrAborted},
		{"the write of this revision again", stored(nil), 2, "", true, NoEffect, "", nil},
		{"an update that changes nothing", stored(nil), 3, "", true, NoEffect, "", nil},
		{"the same content on an older revision", stored(nil), 1, "", true, NoEffect, "", ErrAborted},
		{"a repetition that brings the vector", stored(bare), 2, "", true, FillVector, "", nil},
		{"an update that only brings the vector", stored(bare), 3, "", true, FillVector, "", nil},
		{"a repetition without a vector", stored(bare), 2, "", false, NoEffect, "", nil},
		{"a create of a deleted memory", stored(deleted), 0, "", true, NoEffect, "", ErrAborted},
		{"a write on a deletion", stored(deleted), 3, "", true, AddRevision, Updated, nil},
		{"the same content as before a deletion", stored(deleted), 2, "", true, NoEffect, "", ErrAborted},
		{"a write on an expired memory", stored(expired), 3, "likes coffee", true, AddRevision, Updated, nil},
		{"a create of an expired memory", stored(expired), 0, "likes coffee", true, NoEffect, "", ErrAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Write{Memory: sample(), Expect: c.expect, Actor: "client", Operation: "op"}
			if c.current != nil {
				w.Memory.ExpireTime = c.current.Memory.ExpireTime
			}
			if c.fact != "" {
				w.Memory.Fact = c.fact
			}
			if c.vector {
				w.Vector = []float32{1}
			}
			d := DecidePut(&w, c.current, decideNow)
			if d.Effect != c.effect || d.Step.Action != c.action || !errors.Is(d.Outcome.Err, c.err) {
				t.Fatalf("effect %v, action %q, error %v; want %v, %q, %v",
					d.Effect, d.Step.Action, d.Outcome.Err, c.effect, c.action, c.err)
			}
			if d.Outcome.Changed != (c.effect == AddRevision) {
				t.Errorf("changed is %v", d.Outcome.Changed)
			}
			there := c.current != nil && !c.current.Deleted
			if c.effect != AddRevision {
				if shown := d.Outcome.Memory.ID != ""; shown != there || there && d.Outcome.Memory.Revision != 3 {
					t.Errorf("the outcome shows revision %d of %q", d.Outcome.Memory.Revision, d.Outcome.Memory.ID)
				}
				return
			}
			checkStep(t, &d.Step, &w, c.current)
			if !d.Outcome.Memory.SameContent(&d.Step.Memory) || d.Outcome.Memory.Revision != d.Step.Revision {
				t.Errorf("the outcome is %+v, the step %+v", d.Outcome.Memory, d.Step.Memory)
			}
		})
	}
}

// checkStep checks the step that a write adds to what is there.
func checkStep(t *testing.T, st *Step, w *Write, current *Current) {
	t.Helper()
	revision, created := int64(1), Micros(decideNow)
	if current != nil {
		revision, created = current.Memory.Revision+1, current.Memory.CreateTime
	}
	m := &st.Memory
	if st.Revision != revision || m.Revision != revision || !m.SameContent(&w.Memory) {
		t.Errorf("step %+v, want revision %d", st, revision)
	}
	if !m.CreateTime.Equal(created) || !m.UpdateTime.Equal(Micros(decideNow)) || !st.Time.Equal(m.UpdateTime) {
		t.Errorf("created %v, updated %v, at %v", m.CreateTime, m.UpdateTime, st.Time)
	}
	if st.Actor != w.Actor || st.Operation != w.Operation {
		t.Errorf("step by %q in %q", st.Actor, st.Operation)
	}
}

// The times of a write are cut before it is compared, so that a repetition of a
// finer time is one.
func TestDecidePutCutsTimes(t *testing.T) {
	w := Write{Memory: sample()}
	w.Memory.Timestamp = w.Memory.Timestamp.In(time.FixedZone("east", 3600)).Add(999)
	d := DecidePut(&w, nil, decideNow)
	if got := d.Step.Memory.Timestamp; got != noon {
		t.Errorf("timestamp %v, want %v", got, noon)
	}
	again := DecidePut(&w, &Current{Memory: d.Step.Memory, Embedded: true}, decideNow)
	if again.Effect != NoEffect || again.Outcome.Err != nil {
		t.Errorf("the same again: %+v", again)
	}
}

func TestDecideDelete(t *testing.T) {
	for _, c := range []struct {
		name    string
		current *Current
		expect  int64
		effect  Effect
		err     error
	}{
		{"a memory that never was", nil, 0, NoEffect, ErrNotFound},
		{"a memory that never was, at a revision", nil, 1, NoEffect, ErrNotFound},
		{"whichever revision is current", stored(nil), 0, AddRevision, nil},
		{"the current revision", stored(nil), 3, AddRevision, nil},
		{"an older revision", stored(nil), 2, NoEffect, ErrAborted},
		{"a deleted memory", stored(func(c *Current) { c.Deleted = true }), 0, NoEffect, nil},
		{"an older revision of a deleted memory", stored(func(c *Current) { c.Deleted = true }), 1, NoEffect, nil},
		{"an expired memory", stored(func(c *Current) { c.Memory.ExpireTime = noon }), 7, NoEffect, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := DecideDelete(Removal{ID: "m", Expect: c.expect, Actor: "client"}, c.current, decideNow)
			if d.Effect != c.effect || !errors.Is(d.Outcome.Err, c.err) {
				t.Fatalf("effect %v, error %v; want %v, %v", d.Effect, d.Outcome.Err, c.effect, c.err)
			}
			if c.current != nil && d.Outcome.Memory.Revision != 3 {
				t.Errorf("the outcome shows revision %d", d.Outcome.Memory.Revision)
			}
			if c.effect != AddRevision {
				return
			}
			st := &d.Step
			if st.Revision != 4 || st.Memory.Revision != 4 || st.Action != Deleted || st.Actor != "client" ||
				!st.Time.Equal(Micros(decideNow)) || !st.Memory.UpdateTime.Equal(st.Time) {
				t.Errorf("step %+v", st)
			}
			if !d.Outcome.Changed || !st.Memory.SameContent(&d.Outcome.Memory) {
				t.Errorf("outcome %+v of step %+v", d.Outcome, st)
			}
		})
	}
}

func TestDecideImport(t *testing.T) {
	for revision, want := range map[int64]bool{2: false, 3: false, 4: true} {
		r := Record{Memory: Memory{Revision: revision}}
		if got := DecideImport(&r, stored(nil)); got != want {
			t.Errorf("revision %d over 3: %v, want %v", revision, got, want)
		}
		if !DecideImport(&r, nil) {
			t.Errorf("revision %d over none is refused", revision)
		}
	}
}

func TestRevisionsOf(t *testing.T) {
	history := []Step{
		{Revision: 1, Action: Created, Time: noon, Actor: "a", Memory: Memory{Fact: "tea"}},
		{Revision: 2, Action: Deleted, Time: noon.Add(1), Actor: "b", Operation: "op", Memory: Memory{Fact: "milk"}},
	}
	got := RevisionsOf(history)
	if len(got) != 2 || got[0].Revision != 2 || got[0].Fact != "milk" || got[0].Operation != "op" ||
		!got[0].CreateTime.Equal(noon.Add(1)) || got[1].Action != Created || got[1].Actor != "a" {
		t.Errorf("%+v", got)
	}
}
