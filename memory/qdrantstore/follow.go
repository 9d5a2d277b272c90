package qdrantstore

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

const (
	// maxChanges is how many changes an index takes in. It is read again if there are
	// more.
	maxChanges = 2000
)

// readEntry reads a memory, and whether it was deleted. A vector that was not asked for
// stays in Qdrant.
func readEntry(payload map[string]*qdrant.Value, vectors *qdrant.VectorsOutput) (e *index.Entry, gone bool, err error) {
	e = &index.Entry{}
	if err := decode(payload[docField].GetStringValue(), &e.Memory); err != nil {
		return nil, false, err
	}
	if e.Terms, err = memory.DecodeTerms(payload[termsField].GetStringValue()); err != nil {
		return nil, false, err
	}
	e.Vector = vectors.GetVectors().GetVectors()[dense].GetDense().GetData()
	e.Apart = e.Vector == nil && payload[embeddedField].GetBoolValue()
	return e, payload["gone"].GetBoolValue(), nil
}

// follower keeps the index of a scope up to date: before each search it asks for the
// points with a larger number than that of the last write which the index surely has.
//
// A call of Qdrant reads one shard after another, so an answer may have the head as a
// write has left it and yet not the points of that write. An answer to a call that
// begins later has them. So the index surely has the writes up to the head of the
// answer before the last: a write is acknowledged only once its number is in the head
// and belongs to no other write.
type follower struct {
	s     *Store
	scope memory.Scope
	bare  bool          // the index is one without vectors
	turn  chan struct{} // has an element while a call is under way
	begun atomic.Int64  // calls that have begun
	early chan answer   // to the call that ask has begun; nil for none
	whole bool          // the index was read in one call, and no refresh has followed

	// The rest belongs to the call under way.
	done int64     // the last call that has succeeded
	safe int64     // the number of a write: the index has all up to it
	last writeMark // the last that the head had in an answer
}

// refresh is an index.Refresh. Calls at the same time share one call to Qdrant, which
// begins after all of them. An index that surely has all writes which the head had is
// mostly one of which nothing has changed. So the head alone is read first.
func (f *follower) refresh(ctx context.Context, ix *index.Index) (changed bool, err error) {
	ticket := f.begun.Load()
	if err := f.wait(ctx); err != nil {
		return false, err
	}
	defer func() { <-f.turn }()
	if f.done > ticket {
		return false, nil // another one has asked for this one too
	}
	if f.whole {
		f.whole = false
		ix.Settle(index.Settled{Write: f.safe})
		return false, nil
	}
	if f.early == nil && f.safe == f.last.n && !f.s.heads.sentAfter(f.scope, f.last.n) {
		this := f.begun.Add(1)
		is, err := f.s.peeks.do(ctx, f.scope)
		if err != nil {
			return false, err
		}
		if is == f.last {
			f.done = this
			return false, nil
		}
	}
	this, points := int64(1), []*qdrant.ScoredPoint(nil)
	if early := f.early; early != nil {
		f.early = nil
		resume := fair.Pause(ctx)
		is := <-early
		resume()
		points, err = is.points, is.err
	} else {
		this = f.begun.Add(1)
		points, err = f.s.follows.do(ctx, f.query())
	}
	if err != nil {
		return false, err
	}
	if changed, err = f.take(points, ix); err == nil {
		f.done = this
	}
	return changed, err
}

// peek reads the marks of the last writes of scopes. Qdrant reads a point by its id in half
// of the time in which it looks for changes.
func (s *Store) peek(ctx context.Context, scopes []memory.Scope) ([]writeMark, error) {
	ids, of := make([]*qdrant.PointId, 0, len(scopes)), map[string][]int{}
	for i, scope := range scopes {
		id := headID(scope)
		if len(of[id.GetUuid()]) == 0 { // Qdrant gives a point once, however often it is named
			ids = append(ids, id)
		}
		of[id.GetUuid()] = append(of[id.GetUuid()], i)
	}
	points, err := s.get(ctx, ids, []string{changeField, tokenField})
	if err != nil {
		return nil, err
	}
	out := make([]writeMark, len(scopes))
	for _, p := range points {
		mark := markOf(p.GetPayload())
		for _, i := range of[p.GetId().GetUuid()] {
			out[i] = mark
		}
	}
	return out, nil
}

// answer is one to a call of refresh.
type answer struct {
	points []*qdrant.ScoredPoint
	err    error
}

// loaded is called once all memories of an index are read, before it is made, with the points
// of the last call, which are all if it was a single one. The first refresh is for what was
// written meanwhile, of which several calls may each have a part. It makes no call if a single
// one has read all, and nothing was written: the head among the points is the one that was read
// before, and no point has a larger number, as those of a write whose head is yet to come.
func (f *follower) loaded(ctx context.Context, single bool, points []*qdrant.RetrievedPoint) {
	is, at, later := writeMark{}, headID(f.scope).GetUuid(), false
	for _, p := range points {
		if p.GetId().GetUuid() == at {
			is = markOf(p.GetPayload())
		}
		later = later || p.GetPayload()[changeField].GetIntegerValue() > changeNumber(f.scope, f.safe)
	}
	if f.whole = single && is == f.last && !later; !f.whole {
		f.ask(ctx)
	}
}

// ask begins the call of the first refresh, before there is an index: all memories are
// read, and their index is still made. If that fails, no refresh waits for the answer.
func (f *follower) ask(ctx context.Context) {
	f.begun.Add(1)
	early := make(chan answer, 1)
	f.early = early
	query := f.query()
	f.s.asks.Go(func() {
		ctx, cancel := f.s.bounded(ctx)
		defer cancel()
		points, err := f.s.followAll(ctx, []*qdrant.QueryPoints{query})
		early <- answer{slices.Concat(points...), err}
	})
}

// wait waits for the turn.
func (f *follower) wait(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	default:
	}
	defer fair.Pause(ctx)()
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return f.s.kind(ctx, ctx.Err())
	}
}

// followFields is the payload that a change is read from.
var followFields = append([]string{changeField, tokensField, "gone"}, indexFields...)

// query asks for the head, and for what was written after safe.
func (f *follower) query() *qdrant.QueryPoints {
	changed := &qdrant.Filter{Must: []*qdrant.Condition{
		qdrant.NewMatch("scope", tenant(f.scope)), changedAfter(f.scope, f.safe),
	}}
	return &qdrant.QueryPoints{
		CollectionName: f.s.collection, Limit: qdrant.PtrOf(uint64(maxChanges)),
		Filter: &qdrant.Filter{Should: []*qdrant.Condition{
			qdrant.NewHasID(headID(f.scope)), qdrant.NewFilterAsCondition(changed),
		}},
		WithPayload: qdrant.NewWithPayloadInclude(followFields...), WithVectors: denseUnless(f.bare),
	}
}

// changedAfter is a condition for the points of the writes of a scope after one.
func changedAfter(scope memory.Scope, write int64) *qdrant.Condition {
	return qdrant.NewRange(changeField, &qdrant.Range{
		Gt:  qdrant.PtrOf(float64(changeNumber(scope, write))),
		Lte: qdrant.PtrOf(float64(changeNumber(scope, maxWrites))),
	})
}

// followAll makes calls of refresh together.
func (s *Store) followAll(ctx context.Context, queries []*qdrant.QueryPoints) ([][]*qdrant.ScoredPoint, error) {
	answers, err := s.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{
		CollectionName: s.collection, QueryPoints: queries,
	})
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	out := make([][]*qdrant.ScoredPoint, len(answers))
	for i, a := range answers {
		out[i] = a.GetResult()
	}
	return out, nil
}

// take takes an answer into the index.
func (f *follower) take(points []*qdrant.ScoredPoint, ix *index.Index) (changed bool, err error) {
	if len(points) == maxChanges {
		return false, index.ErrDiverged
	}
	h, at := &head{}, headID(f.scope).GetUuid()
	for _, p := range points {
		if p.GetId().GetUuid() == at {
			h = readHead(p.GetPayload())
		}
	}
	leapt := f.last.n == 0 && h.n > int64(len(h.tokens)) // since the scope had no head; see leap
	if leapt || !h.follows(f.last) {
		if h.lacks(f.last) {
			f.s.noteMissed(f.scope, f.last)
		}
		return false, index.ErrDiverged
	}
	later := map[string]bool{}
	for _, p := range points {
		if p.GetId().GetUuid() == at {
			continue
		}
		e, gone, err := readEntry(p.GetPayload(), p.GetVectors())
		if err != nil {
			return changed, err
		}
		later[e.Memory.ID] = true
		if changed = true; gone {
			ix.Remove(e.Memory.ID, e.Memory.Revision)
		} else {
			ix.Put(e)
		}
	}
	f.safe, f.last = f.last.n, h.last()
	ix.Settle(index.Settled{Write: f.safe, Later: later})
	return changed, nil
}
