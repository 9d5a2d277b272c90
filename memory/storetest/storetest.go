// Package storetest is the specification of [memory.Store], written as tests.
// Every implementation runs [Run], and a new promise is first a new case here.
// Each case is a function whose comment is the promise it checks, with the
// reason where the promise alone does not show it.
//
// Nothing sleeps and nothing reads the wall clock: the suite gives every store
// its clock and moves the clock itself.
//
// # Adding a store
//
// A backend implements [memory.Store], [memory.Archive] and [memory.Movable],
// and its test hands Run a [Harness] that opens it at a new, empty place. The
// reference in this package does so in some 600 lines, over maps; it is the
// shortest example of each method.
//
// A good order is that of the groups in Run: writes first, then reads, lists,
// filters, searches. Package memory has the rules as functions, so that a
// backend only reads, calls and stores:
//
//   - Put, Delete and Import read the current state, call [memory.DecidePut],
//     [memory.DecideDelete] or [memory.DecideImport], and store the effect.
//     Nothing may change between the reading and the storing: a transaction
//     does that, or a write on the condition that the revision is still the one
//     that was read.
//   - List takes [memory.List.Paging], the order of [memory.Order.Compare], and
//     [memory.Paging.Cut].
//   - Filters of the backend's own are translations of [memory.Filter.Match]. They
//     may narrow by [memory.Conjuncts] of an expression; the rest is checked by Match,
//     before the limit.
//   - Search takes the weights of [memory.IDF] and [memory.Saturate], finds the
//     turns that facts cite with [memory.Citations], orders turns by
//     [memory.CompareTurns], and cuts runs with [memory.Spans].
//   - A move indexes memories with [memory.Indexer.Apply].
//
// The Model group at the end runs random calls on the backend and on the
// reference. It reports the first call whose answers differ.
package storetest

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Dimension is the length of every vector in the suite, except in moves to
// other models.
const Dimension = 8

// Harness opens stores at one place, which is empty at first.
type Harness struct {
	// Open opens the place for a model, or opens it again with everything that
	// was written to it. The store reads the time only from now.
	Open func(t *testing.T, now func() time.Time, model memory.Model) (memory.Store, error)
	// StoredModel gives the model of the store with an ID at the place. None is
	// open.
	StoredModel func(t *testing.T, id string) memory.Model
	// Close closes a store that Open returned. The suite closes each one before
	// it opens the next, and the last one when its case is over.
	Close func(t *testing.T, s memory.Store)
	// Keeps reports whether the place has some text anywhere, in any form that a person
	// could read. The store is open meanwhile. Nil if the place cannot tell.
	Keeps func(t *testing.T, text string) bool
	// Shared says that the place may be open several times at once, as several processes
	// would have it. The suite then has the cases of the group Shared.
	Shared bool
}

// Run checks every promise of [memory.Store]. Each case calls newHarness for a
// place of its own. The cases of a group run at the same time.
func Run(t *testing.T, newHarness func(t *testing.T) Harness) {
	type group struct {
		name  string
		cases []testCase
	}
	groups := []group{
		{"Put", putCases()},
		{"Fields", fieldCases()},
		{"Get", getCases()},
		{"Delete", deleteCases()},
		{"List", listCases()},
		{"Filter", filterCases()},
		{"Counts", countCases()},
		{"Where", whereCases()},
		{"Search", searchCases()},
		{"Context", contextCases()},
		{"Succession", successionCases()},
		{"Quarantine", quarantineCases()},
		{"Profiles", profileCases()},
		{"Revisions", revisionCases()},
		{"Isolation", isolationCases()},
		{"Reopen", reopenCases()},
		{"Archive", archiveCases()},
		{"Erase", eraseCases()},
		{"Across", acrossCases()},
		{"Sweep", sweepCases()},
		{"Move", moveCases()},
		{"Concurrency", concurrencyCases()},
		{"Model", modelCases()},
	}
	if newHarness(t).Shared {
		groups = append(groups, group{"Shared", sharedCases()})
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					b := newBank(t, newHarness(t), first)
					b.another = func(model memory.Model) *bank {
						to := newBank(t, newHarness(t), model)
						to.clock = b.clock
						to.reopen() // by that clock
						return to
					}
					c.test(b)
				})
			}
		})
	}
}

// A testCase is one promise and its name in the output.
type testCase struct {
	name string
	test func(b *bank)
}
