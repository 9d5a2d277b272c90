package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// changedBy reads the ids of all memories that an operation has changed, sorted.
func (b *bank) changedBy(s memory.Scope, operation string) []string {
	b.Helper()
	out := []string{}
	for from, pages := "", 0; ; pages++ {
		ids, next, err := b.store.ChangedBy(b.Context(), s, operation, from)
		if err != nil || len(ids) > memory.MaxPageSize || pages > 1000 {
			b.Fatalf("ChangedBy(%q), page %d: %d ids, error %v", operation, pages, len(ids), err)
		}
		out = append(out, ids...)
		if from = next; from == "" {
			slices.Sort(out)
			return out
		}
	}
}

// An operation has changed the memories of its scope that have a revision of it, also a
// past one, and also if they are deleted or expired now. Writes that made no revision
// count for nothing, nor do other scopes.
func changedBy(b *bank) {
	by := func(w memory.Write, operation string) memory.Write {
		w.Operation = operation
		return w
	}
	bob := memory.Scope{App: "app", User: "bob"}
	of := func(s memory.Scope, m memory.Memory) memory.Memory {
		m.Scope = s
		return m
	}
	short := fact("expires", "tea")
	short.ExpireTime = at(60)
	b.put(by(write(fact("made", "tea")), "op"), by(write(fact("past", "tea")), "op"), by(write(short), "op"),
		by(write(fact("others", "tea")), "other"), write(fact("nobody's", "tea")), write(fact("gone", "tea")),
		write(fact("twice", "tea")))
	b.putIn(bob, by(write(of(bob, fact("bob's", "tea"))), "op"))
	b.put(by(update(fact("past", "milk"), 1), "other"), by(update(fact("twice", "milk"), 1), "op"))
	b.put(by(update(fact("twice", "coffee"), 2), "op"))
	b.try(by(write(fact("others", "milk")), "op"), by(write(fact("nobody's", "tea")), "op"))
	b.tryRemove(memory.Removal{ID: "gone", Operation: "op"}, memory.Removal{ID: "missing", Operation: "op"})
	b.remove("made")
	b.clock.advance(2 * time.Hour)
	for range 2 {
		b.same("op", b.changedBy(ann, "op"), []string{"expires", "gone", "made", "past", "twice"})
		b.same("other", b.changedBy(ann, "other"), []string{"others", "past"})
		b.same("bob", b.changedBy(bob, "op"), []string{"bob's"})
		for _, operation := range []string{"o", "op%", "OP", "missing"} {
			b.same(operation, b.changedBy(ann, operation), []string{})
		}
		b.same("no such scope", b.changedBy(memory.Scope{App: "app", User: "eve"}, "op"), []string{})
		b.reopen()
	}
	b.erase(ann, memory.Erasure{IDs: []string{"past"}})
	b.same("after an erasing", b.changedBy(ann, "op"), []string{"expires", "gone", "made", "twice"})
}

// More than a page of changes are read in pages.
func changedByMany(b *bank) {
	const n = memory.MaxPageSize + 30
	var want []string
	for from := 0; from < 2*n; from += 206 {
		var writes []memory.Write
		for i := from; i < from+206; i++ {
			w := write(fact(fmt.Sprintf("m%05d", i), "tea"))
			if i%2 == 0 {
				w.Operation = "op"
				want = append(want, w.Memory.ID)
			}
			writes = append(writes, w)
		}
		b.put(writes...)
	}
	b.same("ids", b.changedBy(ann, "op"), want)
}
