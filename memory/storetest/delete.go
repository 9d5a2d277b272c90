package storetest

import (
	"errors"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// deleteCases check removals: what is gone afterwards, and when a removal
// changes nothing or is aborted. See [memory.DecideDelete].
func deleteCases() []testCase {
	return []testCase{
		{"Deleted", deleted},
		{"Repeated", deleteRepeated},
		{"Missing", deleteMissing},
		{"Expect", deleteExpect},
		{"StandAlone", removalsStandAlone},
		{"Expired", deleteExpired},
	}
}

// A deleted memory is gone from Get, List and Search with all its statistics,
// and the outcome shows it as it last was.
func deleted(b *bank) {
	m := full("m")
	b.put(embedded(m, axis(0)), embedded(fact("other", "likes tea"), axis(0)))
	b.clock.advance(time.Minute)
	out := b.tryRemove(memory.Removal{ID: "m", Actor: "client"})
	if out[0].Err != nil || !out[0].Changed || !out[0].Memory.SameContent(&m) {
		b.Errorf("outcome: changed %v, error %v, memory %+v", out[0].Changed, out[0].Err, out[0].Memory)
	}
	b.same("Get", ids(b.get(ann, "m", "other")), []string{"other"})
	b.same("List", ids(b.list(ann, memory.List{})), []string{"other"})
	found := b.search(memory.Query{Terms: []string{"likes", "tea"}, Vector: axis(0), Limit: 5})
	b.same("Search", foundIDs(found), []string{"other"})
	b.same("statistics", found.Stats, memory.Stats{Docs: 1, DF: []int{1, 1}})
}

// Deleting a deleted memory changes nothing: no error, no revision, whatever
// revision the removal was decided on. A client may send a deletion twice.
func deleteRepeated(b *bank) {
	b.put(write(fact("m", "likes tea")))
	b.remove("m")
	before := b.contents(ann, "m")
	b.clock.advance(time.Minute)
	for _, expect := range []int64{0, 1} {
		out := b.tryRemove(memory.Removal{ID: "m", Expect: expect})
		if out[0].Err != nil || out[0].Changed || out[0].Memory.Fact != "likes tea" {
			b.Errorf("Delete again, Expect %d: changed %v, error %v, memory %+v", expect, out[0].Changed, out[0].Err,
				out[0].Memory)
		}
	}
	b.same("the store after it", b.contents(ann, "m"), before)
}

// Deleting a memory that never was is ErrNotFound, and leaves nothing behind.
// The client named a wrong id, and should hear of it.
func deleteMissing(b *bank) {
	for _, expect := range []int64{0, 1} {
		out := b.tryRemove(memory.Removal{ID: "m", Expect: expect})
		b.same("outcome", out, []memory.Outcome{{Err: memory.ErrNotFound}})
	}
	b.put(write(fact("m", "likes tea")))
}

// A removal decided on another revision than the current one is ErrAborted,
// shows the current memory, and leaves it. Decided on the current one it goes
// through.
func deleteExpect(b *bank) {
	b.put(write(fact("m", "likes tea")))
	current := b.put(update(fact("m", "likes coffee"), 1))[0]
	before := b.contents(ann)
	for _, expect := range []int64{1, 3, 9} {
		out := b.tryRemove(memory.Removal{ID: "m", Expect: expect})
		b.same("outcome", out, []memory.Outcome{{Memory: current, Err: memory.ErrAborted}})
	}
	b.same("the store after it", b.contents(ann), before)
	out := b.tryRemove(memory.Removal{ID: "m", Expect: 2})
	if out[0].Err != nil || !out[0].Changed {
		b.Errorf("Delete of the current revision: changed %v, error %v", out[0].Changed, out[0].Err)
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
}

// Removals stand alone: one that fails stops none of the others, and the
// outcomes come in the order of the removals. A purge goes on beyond a memory
// that changed meanwhile.
func removalsStandAlone(b *bank) {
	b.put(write(fact("a", "tea")), write(fact("b", "tea")), write(fact("c", "tea")), write(fact("d", "tea")))
	b.remove("d")
	out := b.tryRemove(
		memory.Removal{ID: "missing"}, memory.Removal{ID: "b"}, memory.Removal{ID: "d"},
		memory.Removal{ID: "c", Expect: 7}, memory.Removal{ID: "a", Expect: 1},
	)
	type step struct {
		ID      string
		Changed bool
		Kind    error
	}
	var got []step
	for _, o := range out {
		s := step{ID: o.Memory.ID, Changed: o.Changed}
		for _, kind := range []error{memory.ErrNotFound, memory.ErrAborted} {
			if errors.Is(o.Err, kind) {
				s.Kind = kind
			}
		}
		got = append(got, s)
	}
	b.same("outcomes", got, []step{
		{"", false, memory.ErrNotFound}, {"b", true, nil}, {"d", false, nil}, {"c", false, memory.ErrAborted},
		{"a", true, nil},
	})
	b.same("Get", ids(b.get(ann, "a", "b", "c", "d")), []string{"c"})
}

// An expired memory reads as deleted: deleting it changes nothing and does not
// fail, whatever revision the removal was decided on.
func deleteExpired(b *bank) {
	m := fact("m", "likes tea")
	m.ExpireTime = start.Add(time.Hour)
	b.put(write(m))
	b.clock.advance(2 * time.Hour)
	for _, expect := range []int64{0, 1, 5} {
		if out := b.tryRemove(memory.Removal{ID: "m", Expect: expect}); out[0].Err != nil || out[0].Changed {
			b.Errorf("Delete of an expired memory, Expect %d: changed %v, error %v", expect, out[0].Changed, out[0].Err)
		}
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
	if r := b.revisions(ann, "m"); len(r) != 1 {
		b.Errorf("%d revisions, want 1", len(r))
	}
}
