package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// sweepCases check [memory.Sweeper]: what has expired goes for good, and nothing else.
func sweepCases() []testCase {
	return []testCase{
		{"Expired", sweepExpired},
		{"Limit", sweepLimit},
		{"BroughtBack", sweepBroughtBack},
		{"Links", sweepLinks},
		{"MadeAgain", sweepMadeAgain},
		{"Removed", removedLast},
		{"RevisionHidden", revisionHidden},
		{"RevisionRemoved", revisionRemoved},
		{"RevisionLimit", revisionLimit},
		{"RevisionsOfDeleted", revisionsOfDeleted},
		{"RevisionsInArchive", revisionsInArchive},
		{"RevisionsErased", revisionsErased},
	}
}

// sweep sweeps until nothing is left, and returns what is gone.
func (b *bank) sweep(before time.Time, limit int) (out memory.Erased) {
	b.Helper()
	for range 100 {
		some, more, err := b.store.Sweep(b.Context(), before, limit)
		if err != nil {
			b.Fatalf("Sweep: %v", err)
		}
		if some.Memories > limit {
			b.Errorf("a sweep of %d has removed %d", limit, some.Memories)
		}
		if out.Add(some); !more {
			return out
		}
	}
	b.Fatal("a sweep does not end")
	return out
}

// expiring is a fact that expires some time after the start.
func expiring(id, text string, after time.Duration) memory.Memory {
	m := fact(id, text)
	m.ExpireTime = start.Add(after)
	return m
}

// Memories that expired before a time go with their revisions, deleted ones too. Those that
// expire at the time or later stay as they are, and so do other scopes.
func sweepExpired(b *bank) {
	fill(b)
	b.put(embedded(expiring("old", "axolotl tea", time.Hour), axis(0)), write(expiring("dead", "numbat", time.Hour)),
		write(expiring("edge", "milk", 2*time.Hour)), write(expiring("later", "milk", 3*time.Hour)),
		write(fact("ever", "tea")))
	b.put(update(expiring("old", "axolotl coffee", time.Hour), 1))
	b.remove("dead")
	b.same("too early", b.sweep(start.Add(time.Hour), 10), memory.Erased{})
	b.clock.advance(4 * time.Hour)
	before := b.exported(ann)
	b.same("swept", b.sweep(start.Add(2*time.Hour), 10), memory.Erased{Memories: 2, Revisions: 4})
	b.noTrace("old", "axolotl")
	b.noTrace("dead", "numbat")
	b.same("again", b.sweep(start.Add(2*time.Hour), 10), memory.Erased{})
	for _, id := range []string{"edge", "later", "ever"} {
		b.same(id, len(b.revisions(ann, id)), 1)
	}
	b.same("other scopes", b.exported(ann), before)
	b.reopen()
	b.noTrace("old", "axolotl")
	b.same("other scopes after a restart", b.exported(ann), before)
}

// A store tells when it last removed a memory for good, after a restart too. A delete, which
// leaves the memory's history, and a sweep and an erasing that find nothing do not count.
func removedLast(b *bank) {
	check := func(what string, want time.Time) {
		b.Helper()
		at, err := b.store.(memory.Audited).Removed(b.Context())
		if err != nil || !at.Equal(want) {
			b.Errorf("Removed %s: %v, %v; want %v", what, at, err, want)
		}
	}
	check("of a new store", time.Time{})
	b.put(write(expiring("m", "tea", time.Hour)), write(fact("n", "milk")), write(fact("o", "juice")))
	b.remove("o")
	b.sweep(b.clock.now(), 10)
	b.erase(ann, memory.Erasure{IDs: []string{"nothing"}})
	check("before anything was", time.Time{})
	b.clock.advance(2 * time.Hour)
	b.sweep(b.clock.now(), 10)
	swept := b.clock.now()
	b.clock.advance(time.Hour)
	check("by a sweep", swept)
	b.erase(ann, memory.Erasure{IDs: []string{"n"}})
	erased := b.clock.now()
	b.clock.advance(time.Hour)
	b.reopen()
	check("by an erasing", erased)
	b.imports(b.export())
	imported := b.clock.now()
	check("by the maker of an archive", imported)
	b.clock.advance(-30 * time.Minute)
	b.put(write(fact("p", "water")))
	b.erase(ann, memory.Erasure{IDs: []string{"p"}})
	check("by a process whose clock is behind", imported)
}

// A sweep removes no more than its limit, and tells that there is more.
func sweepLimit(b *bank) {
	for i := range 25 {
		s := memory.Scope{App: "app", User: fmt.Sprint("u", i%4)}
		m := expiring(fmt.Sprint("m", i), "tea", time.Duration(i+1)*time.Minute)
		m.Scope = s
		b.putIn(s, write(m))
	}
	b.clock.advance(time.Hour)
	some, more, err := b.store.Sweep(b.Context(), b.clock.now(), 10)
	if err != nil || !more || some.Memories != 10 {
		b.Errorf("the first sweep: %+v, more %t, error %v", some, more, err)
	}
	b.same("the rest", b.sweep(b.clock.now(), 10), memory.Erased{Memories: 15, Revisions: 15})
	users, err := b.store.Users(b.Context(), "app", "", 10)
	if err != nil || len(users) > 0 {
		b.Errorf("users that are left: %q, %v", users, err)
	}
}

// A memory that was brought back before the sweep stays with its history.
func sweepBroughtBack(b *bank) {
	b.put(write(expiring("m", "tea", time.Hour)), write(expiring("n", "tea", time.Hour)))
	b.clock.advance(2 * time.Hour)
	b.put(update(fact("m", "tea"), 1))
	b.put(update(expiring("n", "tea", 5*time.Hour), 1))
	b.same("swept", b.sweep(b.clock.now(), 10), memory.Erased{})
	b.same("revisions", len(b.revisions(ann, "m")), 2)
	b.clock.advance(4 * time.Hour)
	b.same("swept later", b.sweep(b.clock.now(), 10), memory.Erased{Memories: 1, Revisions: 2})
	b.same("left", ids(b.list(ann, memory.List{})), []string{"m"})
}

// Memories that name what was swept no longer do, at past revisions neither, and stay
// history.
func sweepLinks(b *bank) {
	ended := fact("ended", "tea")
	ended.ValidTo, ended.SupersededBy = start.Add(time.Minute), "passing"
	was := ended
	was.ID = "was"
	told := turn("told", "s", 0, "tea")
	told.Forgotten = []string{"passing", "kept"}
	b.put(write(expiring("passing", "milk", time.Hour)), write(ended), write(was), write(told),
		write(fact("kept", "tea")))
	b.put(update(fact("was", "water"), 1))
	b.clock.advance(2 * time.Hour)
	b.same("swept", b.sweep(b.clock.now(), 10), memory.Erased{Memories: 1, Revisions: 1})
	check := func() {
		b.Helper()
		for _, m := range append(b.get(ann, "ended", "told"), b.revisions(ann, "was")[1].Memory) {
			if m.SupersededBy == "passing" || slices.Contains(m.Forgotten, "passing") {
				b.Errorf("%q names what was swept: %+v", m.ID, m)
			}
		}
		b.same("still history", b.get(ann, "ended")[0].ValidTo, ended.ValidTo)
		b.same("still names another", b.get(ann, "told")[0].Forgotten, []string{"kept"})
	}
	check()
	b.reopen()
	check()
}

// A memory that was swept can be made again, and is found then, also by a store that had
// the old one in memory.
func sweepMadeAgain(b *bank) {
	b.put(write(expiring("m", "axolotl", time.Hour)), write(fact("other", "tea")))
	b.put(update(expiring("m", "axolotl tea", time.Hour), 1))
	b.same("found before", len(b.finds(b.store, "axolotl")), 1)
	b.clock.advance(2 * time.Hour)
	b.sweep(b.clock.now(), 10)
	if _, err := b.history(ann, "m"); !errors.Is(err, memory.ErrNotFound) {
		b.Errorf("the history of what was swept: %v", err)
	}
	b.clock.advance(time.Minute)
	b.put(write(fact("m", "axolotl numbat")))
	b.same("found", len(b.finds(b.store, "numbat")), 1)
	b.same("revisions", len(b.revisions(ann, "m")), 1)
}
