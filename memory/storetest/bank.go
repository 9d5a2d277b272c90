package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/memory"
)

// ann is the scope of cases that need only one.
var ann = memory.Scope{App: "app", User: "ann"}

// start is the first time of every clock.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// precision is how far a score may differ from the one computed here: the
// rounding of single-precision vectors of Dimension, with a margin.
const precision = 1e-6

// A clock stands still until it is moved.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// storeIDs are the IDs of the stores of all cases so far.
var storeIDs sync.Map

// A bank is the store of one case with its clock. Its methods stop the case
// when a call fails that should not.
type bank struct {
	*testing.T
	clock    *clock
	store    memory.Store
	model    memory.Model // that it is open for
	harness  Harness
	searches atomic.Int64             // of searchIn
	another  func(memory.Model) *bank // for a model, at a place of its own, by the same clock
}

// newBank opens a store for a case, and closes the last one when the case is
// over. Two places never have a store of the same ID.
func newBank(t *testing.T, h Harness, model memory.Model) *bank {
	b := &bank{T: t, clock: &clock{}, model: model, harness: h}
	b.clock.nanos.Store(start.UnixNano())
	b.open()
	t.Cleanup(func() {
		b.healthy()
		h.Close(t, b.store)
	})
	if _, twice := storeIDs.LoadOrStore(b.store.ID(), true); twice {
		t.Fatalf("ID %q is that of another place too", b.store.ID())
	}
	return b
}

// healthy checks that an audit finds nothing, and that ann's memories are counted as they
// are listed: whatever a case did, the store was not damaged by it.
func (b *bank) healthy() {
	b.checkCounts()
	audited, ok := b.store.(memory.Audited)
	if !ok {
		b.Errorf("%T is not Audited", b.store)
		return
	}
	err := audited.Audit(context.Background(), func(memory.Record) error { return nil },
		func(f memory.Finding) { b.Errorf("the audit of a healthy store finds %+v", f) })
	if err != nil {
		b.Errorf("audit: %v", err)
	}
}

// first is the model of cases that need only one.
var first = memory.Model{Embedder: "first", Dimension: Dimension, Analyzer: "words", Keys: "keys"}

// open opens the place for b.model.
func (b *bank) open() {
	b.Helper()
	s, err := b.harness.Open(b.T, b.clock.now, b.model)
	if err != nil {
		b.Fatalf("Open for %v: %v", b.model, err)
	}
	b.store = s
}

// reopen closes the store and opens it again.
func (b *bank) reopen() {
	b.Helper()
	b.harness.Close(b.T, b.store)
	b.open()
}

// try writes into ann's memory and returns the outcomes without checking them.
func (b *bank) try(writes ...memory.Write) []memory.Outcome {
	b.Helper()
	return b.tryIn(ann, writes...)
}

// tryIn is try in a scope.
func (b *bank) tryIn(s memory.Scope, writes ...memory.Write) []memory.Outcome {
	b.Helper()
	out, err := b.store.Put(b.Context(), s, writes)
	if err != nil {
		b.Fatalf("Put: %v", err)
	}
	if len(out) != len(writes) {
		b.Fatalf("Put of %d writes gave %d outcomes", len(writes), len(out))
	}
	return out
}

// put writes into ann's memory, checks that each write changes it, and returns
// the memories as stored.
func (b *bank) put(writes ...memory.Write) []memory.Memory {
	b.Helper()
	return b.putIn(ann, writes...)
}

// putIn is put in a scope.
func (b *bank) putIn(s memory.Scope, writes ...memory.Write) []memory.Memory {
	b.Helper()
	var stored []memory.Memory
	for i, o := range b.tryIn(s, writes...) {
		if o.Err != nil || !o.Changed {
			b.Fatalf("Put of %q with Expect %d: changed %v, error %v", writes[i].Memory.ID, writes[i].Expect, o.Changed,
				o.Err)
		}
		stored = append(stored, o.Memory)
	}
	return stored
}

// tryRemove deletes from ann's memory and returns the outcomes without checking
// them.
func (b *bank) tryRemove(removals ...memory.Removal) []memory.Outcome {
	b.Helper()
	out, err := b.store.Delete(b.Context(), ann, removals)
	if err != nil {
		b.Fatalf("Delete: %v", err)
	}
	if len(out) != len(removals) {
		b.Fatalf("Delete of %d gave %d outcomes", len(removals), len(out))
	}
	return out
}

// remove deletes memories of ann, and checks that each was there.
func (b *bank) remove(ids ...string) {
	b.Helper()
	for _, id := range ids {
		o := b.tryRemove(memory.Removal{ID: id, Actor: "client"})[0]
		if o.Err != nil || !o.Changed {
			b.Fatalf("Delete of %q: changed %v, error %v", id, o.Changed, o.Err)
		}
	}
}

// get gets memories by id.
func (b *bank) get(s memory.Scope, ids ...string) []memory.Memory {
	b.Helper()
	got, err := b.store.Get(b.Context(), s, ids)
	if err != nil {
		b.Fatalf("Get(%q): %v", ids, err)
	}
	return got
}

// list reads all pages of a list, and checks that no memory is on two.
func (b *bank) list(s memory.Scope, l memory.List) []memory.Memory {
	b.Helper()
	var all []memory.Memory
	seen := map[string]bool{}
	for {
		page, err := b.store.List(b.Context(), s, l)
		if err != nil {
			b.Fatalf("List(%+v): %v", l, err)
		}
		size := cmp.Or(l.PageSize, memory.DefaultPageSize)
		if len(page.Memories) > size {
			b.Fatalf("List(%+v): a page has %d memories, more than %d", l, len(page.Memories), size)
		}
		for _, m := range page.Memories {
			if seen[m.ID] {
				b.Fatalf("List(%+v): %q is there twice", l, m.ID)
			}
			seen[m.ID] = true
		}
		all = append(all, page.Memories...)
		if page.NextPageToken == "" {
			return all
		}
		if len(page.Memories) == 0 {
			b.Fatalf("List(%+v): an empty page has a next one", l)
		}
		l.PageToken = page.NextPageToken
	}
}

// history reads all revisions of a memory, newest first.
func (b *bank) history(s memory.Scope, id string) (out []memory.Revision, err error) {
	err = memory.EachRevision(b.Context(), b.store, s, id, func(r *memory.Revision) bool {
		out = append(out, *r)
		return true
	})
	return out, err
}

// revisions gives the history of a memory that has one.
func (b *bank) revisions(s memory.Scope, id string) []memory.Revision {
	b.Helper()
	got, err := b.history(s, id)
	if err != nil {
		b.Fatalf("Revisions(%q): %v", id, err)
	}
	return got
}

// search queries ann's memory.
func (b *bank) search(q memory.Query) memory.Found {
	b.Helper()
	return b.searchIn(ann, q)
}

// searchIn queries, and checks the rules that every answer keeps.
func (b *bank) searchIn(s memory.Scope, q memory.Query) memory.Found {
	b.Helper()
	// A prepared search finds the same, with another search between its two steps. One in three
	// searches shows it.
	var search memory.PreparedSearch
	if b.searches.Add(1)%3 == 1 {
		search = b.store.PrepareSearch(b.Context(), s)
	}
	found, err := b.store.Search(b.Context(), s, q)
	if err != nil {
		b.Fatalf("Search(%+v): %v", q, err)
	}
	if search != nil {
		prepared, err := search(b.Context(), q)
		if err != nil {
			b.Fatalf("prepared search(%+v): %v", q, err)
		}
		b.same("a prepared search", sorted(prepared), sorted(found))
	}
	if got, want := len(found.Stats.DF), len(q.Terms); got != want {
		b.Fatalf("Search(%+v): %d document frequencies for %d terms", q, got, want)
	}
	seen := map[string]bool{}
	for _, run := range found.Runs {
		// A store that drops expired memories from a run may leave none.
		if len(run) == 0 {
			b.Fatalf("Search(%+v): an empty run", q)
		}
		inOrder := func(x, y memory.Candidate) int { return memory.CompareTurns(x.Memory, y.Memory) }
		if !slices.IsSortedFunc(run, inOrder) {
			b.Errorf("Search(%+v): run %q is not in order of time and event", q, runIDs(run))
		}
		// A hit or context, the same holds of each.
		for _, c := range run {
			m := c.Memory
			switch {
			case seen[m.ID]:
				b.Errorf("Search(%+v): %q is there twice", q, m.ID)
			case m.Scope != s:
				b.Errorf("Search(%+v): %q is of %v", q, m.ID, m.Scope)
			case len(run) > 1 && (m.Kind != memory.KindTurn || m.Source.SessionID != run[0].Memory.Source.SessionID):
				b.Errorf("Search(%+v): run %q is not of one session's turns", q, runIDs(run))
			case !m.Live(b.clock.now()):
				b.Errorf("Search(%+v): %q has expired", q, m.ID)
			case c.Match != q.Match(m, b.clock.now()):
				b.Errorf("Search(%+v): %q has Match %v", q, m.ID, c.Match)
			case len(c.Freqs) != len(q.Terms):
				b.Errorf("Search(%+v): %q has %d frequencies for %d terms", q, m.ID, len(c.Freqs), len(q.Terms))
			}
			seen[m.ID] = true
		}
	}
	return found
}

// contents is all that can be read of a scope: the listed memories and their
// history.
type contents struct {
	Memories  []memory.Memory
	Revisions map[string][]memory.Revision
}

// contents reads a scope. The ids name memories whose history is read though
// they are not listed.
func (b *bank) contents(s memory.Scope, ids ...string) contents {
	b.Helper()
	c := contents{Memories: b.list(s, memory.List{}), Revisions: map[string][]memory.Revision{}}
	for _, m := range c.Memories {
		ids = append(ids, m.ID)
	}
	for _, id := range ids {
		if r, err := b.history(s, id); err == nil {
			c.Revisions[id] = r
		} else if !errors.Is(err, memory.ErrNotFound) {
			b.Fatalf("Revisions(%q): %v", id, err)
		}
	}
	return c
}

// same reports a difference between got and want. No list and an empty one are
// equal, and so are times in different zones, and JSON values that are written
// differently.
func (b *bank) same(what string, got, want any) {
	b.Helper()
	if reflect.DeepEqual(want, got) { // mostly, and in a tenth of the time
		return
	}
	// Scores and cosines differ in their last digits from store to store.
	opts := gocmp.Options{
		cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, precision), cmpopts.EquateErrors(),
		cmpopts.SortSlices(func(x, y memory.SessionStats) bool { return x.ID < y.ID }),
		gocmp.FilterValues(func(x, y json.RawMessage) bool { return len(x)+len(y) > 0 }, gocmp.Comparer(sameValue)),
	}
	if d := gocmp.Diff(want, got, opts); d != "" {
		b.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// sameValue reports whether a filter takes two JSON values for one.
func sameValue(x, y json.RawMessage) bool {
	// The rule itself is not exported, and a filter applies it.
	f := memory.Filter{Metadata: memory.Metadata{"k": x}}
	return f.Match(&memory.Memory{Metadata: memory.Metadata{"k": y}}, time.Time{})
}

// fact is a fact of ann's, said when the clock starts.
func fact(id, text string) memory.Memory {
	return memory.Memory{ID: id, Scope: ann, Kind: memory.KindFact, Fact: text, Timestamp: start}
}

// turn is a turn of ann's in a session, a number of minutes after the start.
// Its event has the same id.
func turn(id, session string, minute int, text string) memory.Memory {
	m := fact(id, text)
	m.Kind, m.Timestamp = memory.KindTurn, start.Add(time.Duration(minute)*time.Minute)
	m.Source = memory.Source{SessionID: session, EventIDs: []string{id}}
	return m
}

// write creates m, found by the words of its fact and without a vector.
func write(m memory.Memory) memory.Write {
	return memory.Write{Memory: m, Terms: words(m.Fact), Actor: "client"}
}

// embedded is write with a vector.
func embedded(m memory.Memory, vector []float32) memory.Write {
	w := write(m)
	w.Vector = vector
	return w
}

// update is write, expecting a revision.
func update(m memory.Memory, expect int64) memory.Write {
	w := write(m)
	w.Expect = expect
	return w
}

// words counts the words of a text, without any folding or stemming.
func words(text string) memory.Terms {
	t := memory.Terms{}
	for w := range strings.FieldsSeq(text) {
		t[w]++
	}
	return t
}

// axis is the unit vector along one dimension.
func axis(i int) []float32 {
	v := make([]float32, Dimension)
	v[i] = 1
	return v
}

// toward is a unit vector with the given cosine to axis(0).
func toward(cosine float64) []float32 {
	v := make([]float32, Dimension)
	v[0], v[1] = float32(cosine), float32(math.Sqrt(1-cosine*cosine))
	return v
}

// ids gives the ids of memories, in their order.
func ids(ms []memory.Memory) []string {
	var out []string
	for _, m := range ms {
		out = append(out, m.ID)
	}
	return out
}

// runIDs gives the ids in one run.
func runIDs(run []memory.Candidate) []string {
	var out []string
	for _, c := range run {
		out = append(out, c.Memory.ID)
	}
	return out
}

// runs gives the ids in each run, runs in order of their first.
func runs(f memory.Found) [][]string {
	var out [][]string
	for _, run := range f.Runs {
		out = append(out, runIDs(run))
	}
	slices.SortFunc(out, slices.Compare[[]string])
	return out
}

// foundIDs gives the ids of all memories found, sorted.
func foundIDs(f memory.Found) []string {
	return slices.Sorted(slices.Values(slices.Concat(runs(f)...)))
}

// candidate gives the candidate with an id, and stops the case if it was not
// found.
func candidate(b *bank, f memory.Found, id string) memory.Candidate {
	b.Helper()
	for _, run := range f.Runs {
		for _, c := range run {
			if c.Memory.ID == id {
				return c
			}
		}
	}
	b.Fatalf("%q is not among what was found, %q", id, foundIDs(f))
	return memory.Candidate{}
}

// sorted is f with its runs and its succession in order of their first memory, as
// their order means nothing.
func sorted(f memory.Found) memory.Found {
	f.Runs = slices.Clone(f.Runs)
	slices.SortFunc(f.Runs, func(x, y []memory.Candidate) int { return cmp.Compare(x[0].Memory.ID, y[0].Memory.ID) })
	f.Succession = slices.Clone(f.Succession)
	slices.SortFunc(f.Succession, func(x, y memory.Candidate) int { return cmp.Compare(x.Memory.ID, y.Memory.ID) })
	return f
}
