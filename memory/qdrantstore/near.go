package qdrantstore

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// near measures vectors for one search by an index without vectors. Qdrant gives the lists
// by meaning while the index is brought up to date. Once it is known which memories the
// search finds, Qdrant gives the cosines of those that no list has.
type near struct {
	s     *Store
	scope memory.Scope
	q     *memory.Query
	now   time.Time
	ahead *index.Ahead       // nil if the index is brought up to date for this search alone
	end   context.CancelFunc // of the call under way
	asked sync.WaitGroup
	limit int // of the lists
	// of is the index for which the lists were asked, and changes are those that it had then. Qdrant reads the payload
	// of a point after it has measured the vector, and so may give the cosine of one revision with the number of the
	// next. It cannot do so with a revision that it had before the call.
	of      *index.Index
	changes int64
	// among are the memories that pass the filter, if Qdrant cannot decide it and few pass; nil
	// for those that it lets through.
	among []*qdrant.PointId

	// These are the answer, once asked is done.
	lists  index.Near
	scores map[string]scored // by id of the memory
	err    error
}

// scored is the cosine of one revision of a memory.
type scored struct {
	cosine   float64
	revision int64
}

// nearTries is how often a search goes by an index without vectors whose memories change
// between the calls. Qdrant's lists read each memory at once, and answer it then.
const nearTries = 3

// searchIndex answers a search by the index of its scope. It reports whether it has: there
// may be no index, or one whose memories change all the time.
func (s *Store) searchIndex(ctx context.Context, scope memory.Scope, q *memory.Query, ahead *index.Ahead) (
	found memory.Found, done bool, err error) {
	for range nearTries {
		n := &near{s: s, scope: scope, q: q, now: s.opts.Now(), ahead: ahead, limit: q.Limit + spare}
		ahead = nil // what has changed since is what a second try is for
		if ix := s.cache.Held(scope); ix != nil && ix.Apart() && n.wanted() {
			n.ask(ctx, ix)
		}
		found, done, err = n.search(ctx)
		if n.end != nil {
			n.end()
		}
		n.asked.Wait() // a store that is closed makes no call
		if done || err != nil || n.end == nil {
			break
		}
	}
	return found, done, err
}

// wanted reports whether the search has lists by meaning.
func (n *near) wanted() bool { return n.q.Limit > 0 && norm(n.q.Vector) > 0 }

// search is one try.
func (n *near) search(ctx context.Context) (found memory.Found, done bool, err error) {
	guess := n.ahead.Guess(n.q, n.now)
	var words *index.Words // are looked up while Qdrant answers
	if n.of != nil {
		words = n.of.Words(n.q, n.now)
	}
	ix, err := n.s.indexOf(ctx, n.scope, n.ahead)
	if err != nil || ix == nil {
		return found, false, err
	}
	if guess.Holds(ix) {
		return guess.Found, true, nil
	}
	if !n.wanted() || !ix.Apart() {
		return ix.Search(n.q, n.s.opts.Now()), true, nil
	}
	if n.end == nil { // the index was read just now
		n.ask(ctx, ix)
	}
	settled := ix.Settled()
	if !words.Hold(ix) {
		words = ix.Words(n.q, n.now)
	}
	for enough := false; !enough; {
		n.asked.Wait()
		if n.err != nil {
			return found, false, n.err
		}
		if found, enough = ix.SearchNear(n.q, &n.lists, words, n.now); !enough {
			n.end()
			n.limit *= 4
			n.passing(ix)
			n.ask(ctx, ix)
		}
	}
	before := n.of == ix && n.changes == ix.Changes()
	done, err = n.measure(ctx, &found, settled, before)
	return found, done, err
}

// fewPass is how many memories pass a filter at most that Qdrant is told one by one.
const fewPass = 2000

// passing looks up which memories pass a filter that Qdrant cannot decide: most of those that
// are nearest may not, and then no list that ends is long enough.
func (n *near) passing(ix *index.Index) {
	if _, complete := filter(n.scope, &n.q.Filter, n.now); complete || n.among != nil {
		return
	}
	if ids, few := ix.Passing(n.q, n.now, fewPass); few {
		n.among = pointIDs(n.scope, ids) // not nil if none passes
	}
}

// ask begins to ask for the lists.
func (n *near) ask(ctx context.Context, ix *index.Index) {
	n.of, n.changes = ix, ix.Changes()
	ctx, n.end = context.WithCancel(ctx)
	n.asked.Go(func() { n.err = n.readLists(ctx) })
}

// nearFields is the payload of a point whose cosine is read.
var nearFields = qdrant.NewWithPayloadInclude("id", "revision")

// query asks for the points next to the vector of the search.
func (n *near) query(passes *qdrant.Filter, limit int, exact bool) *qdrant.QueryPoints {
	return &qdrant.QueryPoints{
		CollectionName: n.s.collection, Query: qdrant.NewQueryDense(n.q.Vector), Using: qdrant.PtrOf(dense),
		Filter: passes, Limit: qdrant.PtrOf(uint64(limit)), WithPayload: nearFields,
		// The cosines are those of the vectors as they were written, not of bytes that stand for them.
		Params: &qdrant.SearchParams{Exact: qdrant.PtrOf(exact),
			Quantization: &qdrant.QuantizationSearchParams{Rescore: qdrant.PtrOf(true)}},
	}
}

// readLists reads the lists. They may have more than pass: the index looks at each.
func (n *near) readLists(ctx context.Context) error {
	passes, _ := filter(n.scope, &n.q.Filter, n.now)
	if n.among != nil {
		passes = &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewHasID(n.among...)}}
	}
	queries, lists := []*qdrant.QueryPoints{n.query(passes, n.limit, n.s.opts.Exact)}, []*index.List{&n.lists.Hits}
	if n.q.Succession {
		keys := n.query(keys(n.scope, &n.q.Filter, n.now), n.limit, n.s.opts.Exact)
		queries, lists = append(queries, keys), append(lists, &n.lists.Keys)
	}
	answers, err := n.s.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{
		CollectionName: n.s.collection, QueryPoints: queries,
	})
	if err != nil {
		return n.s.kind(ctx, err)
	}
	n.scores = map[string]scored{}
	for i, a := range answers {
		points := a.GetResult()
		*lists[i] = index.List{All: len(points) < n.limit}
		for _, p := range points {
			id, is := p.GetPayload()["id"].GetStringValue(), scoreOf(p)
			n.scores[id] = is
			lists[i].Best = append(lists[i].Best, index.Scored{ID: id, Cosine: is.cosine})
		}
	}
	return nil
}

func scoreOf(p *qdrant.ScoredPoint) scored {
	return scored{float64(p.GetScore()), p.GetPayload()["revision"].GetIntegerValue()}
}

// measuring reads the cosines of memories that no list has, and checks that they are of the
// revisions that the index has.
type measuring struct {
	*near
	settled index.Settled // as it was before the memories were found
	before  bool          // the index had all revisions before the lists were asked
	// Qdrant reads the payload of a point four times as long as it measures the vector. So it is
	// not asked for the revision of a memory that was never changed before settled: it only
	// leaves out what was written since.
	unchanged, others []*qdrant.PointId
	mu                sync.Mutex
	left              map[string]*memory.Candidate // by id of the point: those without a cosine
}

// measure sets the cosines that an index without vectors leaves out. It reports whether all
// are of the revisions that the index has: a write meanwhile may have made others.
func (n *near) measure(ctx context.Context, found *memory.Found, settled index.Settled, before bool) (
	done bool, err error) {
	m := &measuring{near: n, settled: settled, before: before, left: map[string]*memory.Candidate{}}
	for _, run := range append(found.Runs, found.Succession) {
		for i := range run {
			m.add(&run[i])
		}
	}
	if err := m.read(ctx); err != nil || len(m.left) == 0 {
		return err == nil, err
	}
	m.unchanged, m.others = nil, nil
	for _, c := range m.left { // just written by another process, or gone
		m.others = append(m.others, pointID(n.scope, c.Memory.ID))
	}
	err = m.read(ctx)
	return len(m.left) == 0, err
}

// add takes a memory that was found.
func (m *measuring) add(c *memory.Candidate) {
	if !math.IsNaN(c.Cosine) {
		return
	}
	is, ok := m.scores[c.Memory.ID]
	if ok && is.revision == c.Memory.Revision && (m.before || is.revision == 1) {
		c.Cosine = is.cosine
		return
	}
	id := pointID(m.scope, c.Memory.ID)
	if m.left[id.GetUuid()] = c; c.Memory.Revision == 1 && !m.settled.Later[c.Memory.ID] {
		m.unchanged = append(m.unchanged, id)
	} else {
		m.others = append(m.others, id)
	}
}

// read reads the cosines, in several calls at the same time.
func (m *measuring) read(ctx context.Context) error {
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx)
	for some := range slices.Chunk(m.unchanged, contextTogether) {
		call := m.query(&qdrant.Filter{
			Must:    []*qdrant.Condition{qdrant.NewHasID(some...)},
			MustNot: []*qdrant.Condition{changedAfter(m.scope, m.settled.Write)},
		}, len(some), true)
		call.WithPayload = nil
		p.Go(func(ctx context.Context) error {
			return m.take(ctx, call, func(*memory.Candidate, *qdrant.ScoredPoint) bool { return true })
		})
	}
	for some := range slices.Chunk(m.others, contextTogether) {
		call := m.query(&qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewHasID(some...)}}, len(some), true)
		p.Go(func(ctx context.Context) error {
			return m.take(ctx, call, func(c *memory.Candidate, p *qdrant.ScoredPoint) bool {
				return scoreOf(p).revision == c.Memory.Revision
			})
		})
	}
	return p.Wait()
}

// take sets the cosines of one call where they are of the revision that the index has.
func (m *measuring) take(ctx context.Context, call *qdrant.QueryPoints,
	is func(*memory.Candidate, *qdrant.ScoredPoint) bool) error {
	points, err := m.s.client.Query(ctx, call)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range points {
		id := p.GetId().GetUuid()
		if c := m.left[id]; c != nil && is(c, p) {
			c.Cosine = float64(p.GetScore())
			delete(m.left, id)
		}
	}
	return m.s.kind(ctx, err)
}
