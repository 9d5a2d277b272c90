package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// archiveCases check [memory.Archive], by moving the records of one store into
// another of the same kind.
func archiveCases() []testCase {
	return []testCase{
		{"MovesAll", archiveMovesAll},
		{"AgainDoesNothing", archiveAgain},
		{"NewerStays", archiveNewerStays},
		{"RefusesNonsense", archiveInvalid},
	}
}

// export gives all records of a store.
func (b *bank) export() (out []memory.Record) {
	b.Helper()
	add := func(r memory.Record) error {
		out = append(out, r)
		return nil
	}
	if err := b.store.(memory.Archive).Export(b.Context(), add); err != nil {
		b.Fatalf("Export: %v", err)
	}
	return out
}

// imports imports records and returns how many were stored.
func (b *bank) imports(records []memory.Record) int {
	b.Helper()
	n, err := b.store.(memory.Archive).Import(b.Context(), records)
	if err != nil {
		b.Fatalf("Import: %v", err)
	}
	return n
}

// furnish writes two scopes with changes, deletions, memories with and without
// vectors, expiry, and a long history.
func (b *bank) furnish() {
	b.talk(ann, "s", "a", 1, 2, 7)
	b.put(embedded(full("m"), toward(0.5)), embedded(fact("f", "tea milk"), toward(-0.5)), write(fact("late", "milk")))
	b.clock.advance(time.Minute)
	// A turn changes its place in the session, one memory stays deleted, and
	// one is deleted and brought back without a vector.
	b.put(update(turn("a2", "s", 20, "tea tea milk"), 1))
	b.remove("a7", "f")
	b.clock.advance(time.Minute)
	b.put(update(fact("f", "tea again"), 2))
	// More revisions than stores read or write in one call.
	for i := range int64(120) {
		w := update(fact("often", fmt.Sprint("tea ", i)), i)
		w.Labels = memory.Labels{"i": fmt.Sprint(i)}
		b.put(w)
	}
	// The same id in another scope.
	other := fact("m", "another's tea")
	other.Scope = memory.Scope{App: "app", User: "bob"}
	if _, err := b.store.Put(b.Context(), other.Scope, []memory.Write{embedded(other, axis(1))}); err != nil {
		b.Fatal(err)
	}
}

// Another store imports everything that one exports: memories, history,
// deletions, words and vectors. A deleted memory stays deleted there.
func archiveMovesAll(b *bank) {
	b.furnish()
	to := b.another(first)
	records := b.export()
	b.same("imported", to.imports(records), len(records))
	bob := memory.Scope{App: "app", User: "bob"}
	for range 2 {
		b.same("ann's", to.contents(ann, "a7", "f"), b.contents(ann, "a7", "f"))
		b.same("bob's", to.contents(bob, "a7"), b.contents(bob, "a7"))
		for _, q := range []memory.Query{
			{Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 20, Context: 1},
			{Vector: toward(0.3), Limit: 2, Context: 2},
		} {
			b.same("found", sorted(to.search(q)), sorted(b.search(q)))
		}
		to.reopen()
	}
	out := to.try(write(turn("a7", "s", 7, "back")))
	b.same("a create of what was deleted", errors.Is(out[0].Err, memory.ErrAborted), true)
	b.same("exported again", len(to.export()), len(records))
}

// Importing again, in part and in another order, does nothing. An import that
// was cut off is simply started again.
func archiveAgain(b *bank) {
	b.furnish()
	to := b.another(first)
	records := b.export()
	b.same("the first half", to.imports(records[:len(records)/2]), len(records)/2)
	b.same("all", to.imports(records), len(records)-len(records)/2)
	before := to.contents(ann)
	b.same("all again", to.imports(records), 0)
	b.same("contents", to.contents(ann), before)
}

// Importing an export does not undo writes since. An old backup does not
// overwrite newer memories.
func archiveNewerStays(b *bank) {
	b.put(write(fact("m", "tea")), write(fact("n", "tea")))
	old := b.export()
	b.put(update(fact("m", "milk"), 1))
	b.remove("n")
	before := b.contents(ann, "n")
	b.same("imported", b.imports(old), 0)
	b.same("contents", b.contents(ann, "n"), before)
	to := b.another(first)
	to.imports(old)
	b.same("the newer ones over the older", to.imports(b.export()), 2)
	b.same("contents there", to.contents(ann, "n"), before)
}

// A record that no store can have written is ErrInvalid, and nothing of the
// call is stored.
func archiveInvalid(b *bank) {
	b.put(write(fact("m", "tea")))
	good := b.export()[0]
	for what, spoil := range map[string]func(r *memory.Record){
		"no history": func(r *memory.Record) { r.History = nil },
		"a gap in history": func(r *memory.Record) {
			r.Memory.Revision, r.History = 3, append(r.History, memory.Step{Revision: 3})
		},
		"an empty fact":                func(r *memory.Record) { r.Memory.Fact = "" },
		"a vector too short":           func(r *memory.Record) { r.Vector = []float32{1} },
		"a word less than once":        func(r *memory.Record) { r.Terms = memory.Terms{"tea": 0} },
		"no time of making":            func(r *memory.Record) { r.Memory.CreateTime = time.Time{} },
		"a revision of another memory": func(r *memory.Record) { r.History[0].Memory.ID = "other" },
		"a revision of another user":   func(r *memory.Record) { r.History[0].Memory.User = "somebody" },
		"a revision of no time":        func(r *memory.Record) { r.History[0].Time = time.Time{} },
		"an unknown action":            func(r *memory.Record) { r.History[0].Action = "STOLEN" },
		"deleted without a deletion":   func(r *memory.Record) { r.Deleted = true },
	} {
		to := b.another(first)
		bad := good
		bad.History = slices.Clone(good.History)
		bad.Memory.ID, bad.History[0].Memory.ID = "bad", "bad"
		spoil(&bad)
		_, err := to.store.(memory.Archive).Import(b.Context(), []memory.Record{good, bad})
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("%s: %v", what, err)
		}
		b.same(what, len(to.export()), 0)
	}
}
