package storetest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// getCases check reads by id.
func getCases() []testCase {
	return []testCase{
		{"Order", getOrder},
		{"LeavesOut", getLeavesOut},
		{"EmptyScope", emptyScope},
	}
}

// Get answers in the order of the ids, not of the writes.
func getOrder(b *bank) {
	b.put(write(fact("b", "tea")), write(fact("c", "tea")), write(fact("a", "tea")))
	for _, names := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}, {"c"}} {
		b.same("Get", ids(b.get(ann, names...)), names)
	}
}

// Get leaves out memories that are missing, deleted or expired. Expiry is by
// the store's clock, and takes effect at exactly that time. A superseded memory
// is history, and Get returns it.
func getLeavesOut(b *bank) {
	brief, history := fact("brief", "tea"), fact("history", "tea")
	brief.ExpireTime = start.Add(time.Hour)
	history.ValidTo = start
	b.put(write(brief), write(history), write(fact("gone", "tea")), write(fact("kept", "tea")))
	b.remove("gone")
	all := []string{"missing", "kept", "gone", "brief", "Kept", "kep", "history"}
	b.clock.advance(time.Hour - time.Microsecond)
	b.same("Get just before expiry", ids(b.get(ann, all...)), []string{"kept", "brief", "history"})
	b.clock.advance(time.Microsecond)
	b.same("Get at expiry", ids(b.get(ann, all...)), []string{"kept", "history"})
}

// A scope that was never written to reads as empty. A new user needs no
// registration.
func emptyScope(b *bank) {
	b.same("Get", b.get(ann, "a", "b"), []memory.Memory(nil))
	b.same("List", b.list(ann, memory.List{}), []memory.Memory(nil))
	found := b.search(memory.Query{Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 5, Context: 2})
	b.same("Search", found, memory.Found{Stats: memory.Stats{DF: []int{0, 0}}})
}
