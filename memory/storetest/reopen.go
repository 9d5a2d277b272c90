package storetest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// reopenCases check that nothing depends on what a store has in memory.
func reopenCases() []testCase {
	return []testCase{
		{"KeepsAll", reopenKeepsAll},
		{"KeepsDeletions", reopenKeepsDeletions},
		{"KeepsTokens", reopenKeepsTokens},
		{"KeepsID", reopenKeepsID},
		{"ExpiryMeanwhile", expiryMeanwhile},
	}
}

// Closed and opened again, a store gives the same answers: memories, their
// history, and searches with the same measures.
func reopenKeepsAll(b *bank) {
	b.talk(ann, "s", "a", 1, 2, 7)
	b.put(embedded(full("m"), toward(0.5)), embedded(fact("f", "tea milk"), toward(-0.5)), write(fact("late", "milk")))
	b.clock.advance(time.Minute)
	b.put(update(turn("a2", "s", 20, "tea tea milk"), 1))
	b.try(embedded(fact("late", "milk"), axis(0)))
	b.remove("a7", "f")
	questions := []memory.Query{
		{Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 20, Context: 1},
		{Terms: []string{"milk", "none"}, Limit: 1},
		{Vector: toward(0.3), Limit: 2, Context: 2},
		{Filter: memory.Filter{SessionID: "s"}, Terms: []string{"chat"}, Limit: 3},
	}
	answers := func() []memory.Found {
		var all []memory.Found
		for _, q := range questions {
			all = append(all, sorted(b.search(q)))
		}
		return all
	}
	before, found := b.contents(ann, "a7", "f", "missing"), answers()
	for range 2 {
		b.reopen()
		b.same("contents after reopening", b.contents(ann, "a7", "f", "missing"), before)
		b.same("answers after reopening", answers(), found)
	}
	m := fact("late", "coffee")
	b.put(update(m, 1))
	b.same("found after a change", foundIDs(b.search(memory.Query{Terms: []string{"coffee"}, Limit: 5})),
		[]string{"late"})
}

// A deleted memory stays deleted, and its id stays taken.
func reopenKeepsDeletions(b *bank) {
	b.put(write(fact("m", "tea")))
	b.remove("m")
	b.reopen()
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
	out := b.try(write(fact("m", "tea")))
	b.same("create", out[0].Err, memory.ErrAborted)
	out = b.tryRemove(memory.Removal{ID: "m"})
	b.same("Delete again", out[0].Changed, false)
	b.same("Delete again", out[0].Err, error(nil))
}

// A page token works after the store is reopened. A client may hold one across
// a restart.
func reopenKeepsTokens(b *bank) {
	for i := range 5 {
		b.put(write(turn(fmt.Sprint("m", i), "s", i, "tea")))
	}
	l := memory.List{PageSize: 2}
	var got []string
	for {
		page, err := b.store.List(b.Context(), ann, l)
		if err != nil {
			b.Fatal(err)
		}
		got = append(got, ids(page.Memories)...)
		if l.PageToken = page.NextPageToken; l.PageToken == "" {
			break
		}
		b.reopen()
	}
	b.same("walk", got, []string{"m4", "m3", "m2", "m1", "m0"})
}

// A memory that expires while the store is closed is gone when it opens. No
// timer runs for it: every read compares with the clock.
func expiryMeanwhile(b *bank) {
	m := fact("m", "tea")
	m.ExpireTime = at(60)
	b.put(embedded(m, axis(0)), write(fact("kept", "tea")))
	b.clock.advance(time.Hour)
	b.reopen()
	found := b.search(memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 5})
	b.same("Search", foundIDs(found), []string{"kept"})
	b.same("statistics", found.Stats, memory.Stats{Docs: 1, DF: []int{1}})
	b.same("List", ids(b.list(ann, memory.List{})), []string{"kept"})
}

// A store keeps its ID when it is reopened. Sessions are bound to the store of
// this ID.
func reopenKeepsID(b *bank) {
	id := b.store.ID()
	b.put(write(fact("m", "tea")))
	b.reopen()
	b.same("ID", b.store.ID(), id)
}
