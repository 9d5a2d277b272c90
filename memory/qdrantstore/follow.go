package qdrantstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

const (
	// loadedFirst is how many memories the first two calls read that fill an index, and
	// loadedMost how many each later one reads at most: Qdrant looks for the beginning of
	// each page in the whole scope. The memories of a later one take about loadedBytes.
	loadedFirst = 200
	loadedMost  = 1000
	loadedBytes = 4 << 20
	// maxChanges is how many changes an index takes in. It is read again if there are
	// more.
	maxChanges = 2000
	// largeFor is how long a scope counts as too large for an index before it is
	// measured again.
	largeFor = time.Minute
)

// errLarge says that a scope is too large for an index.
var errLarge = errors.New("the scope is too large for an index")

// large are the scopes that are too large for an index, and when that was measured.
type large struct {
	mu     sync.Mutex
	scopes map[memory.Scope]time.Time
}

// has reports whether a scope was too large lately.
func (l *large) has(scope memory.Scope) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.scopes[scope]
	if ok && time.Since(at) > largeFor {
		delete(l.scopes, scope)
		ok = false
	}
	return ok
}

// maxLarge bounds the scopes that are remembered as too large.
const maxLarge = 10_000

// add remembers a scope.
func (l *large) add(scope memory.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scopes == nil || len(l.scopes) >= maxLarge {
		l.scopes = map[memory.Scope]time.Time{}
	}
	l.scopes[scope] = time.Now()
}

// load is the index.Loader of the store. The head is read first: what is written later
// has a larger number, and the first refresh finds it.
func (s *Store) load(ctx context.Context, scope memory.Scope, take func([]*index.Entry) int64) (index.Refresh, error) {
	h, err := s.headOf(ctx, scope)
	if err != nil {
		return nil, err
	}
	wire, read, measured := int64(0), 0, false
	together := loadedFirst
	for next := s.page(ctx, scope, nil, together); next != nil; {
		page := <-next
		if page.err != nil {
			return nil, page.err
		}
		if next = nil; page.next != nil {
			next = s.page(ctx, scope, page.next, together) // while this one is read
		}
		entries, err := readEntries(page.points)
		if err != nil {
			return nil, err
		}
		read += len(entries)
		for _, e := range entries {
			wire += e.Size()
		}
		together = int(min(loadedMost, 1+loadedBytes*int64(read)/(wire+1)))
		size := take(entries)
		limit := s.cache.Stats().Limit / 2
		expected := size
		if !measured && next != nil && size > limit/16 {
			measured = true
			if expected, err = s.estimate(ctx, scope, size/int64(max(read, 1))); err != nil {
				return nil, err
			}
		}
		if expected > limit {
			s.large.add(scope)
			return nil, errLarge
		}
	}
	f := &follower{s: s, scope: scope, turn: make(chan struct{}, 1), safe: h.n, last: h.last()}
	return f.refresh, nil
}

// loadedPage is a page of the live memories of a scope.
type loadedPage struct {
	points []*qdrant.RetrievedPoint
	next   *qdrant.PointId // that the next page begins with; nil for none
	err    error
}

// indexFields is the payload that an index.Entry is read from.
var indexFields = []string{docField, termsField}

// page reads a page of the live memories of a scope in the background.
func (s *Store) page(
	ctx context.Context, scope memory.Scope, from *qdrant.PointId, together int,
) <-chan loadedPage {
	out := make(chan loadedPage, 1)
	go func() {
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
			CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(together)),
			Filter: live(scope, s.opts.Now()), WithPayload: qdrant.NewWithPayloadInclude(indexFields...),
			WithVectors: qdrant.NewWithVectorsInclude(dense),
		})
		out <- loadedPage{points, next, s.kind(ctx, err)}
	}()
	return out
}

// estimate is what a scope takes in an index if each of its memories takes one.
func (s *Store) estimate(ctx context.Context, scope memory.Scope, one int64) (int64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	n, err := s.client.Count(ctx, &qdrant.CountPoints{
		CollectionName: s.collection, Filter: live(scope, s.opts.Now()), Exact: qdrant.PtrOf(true),
	})
	return one * int64(n), s.kind(ctx, err)
}

// readChunk is how many memories one goroutine reads.
const readChunk = 50

// readEntries reads memories with their words and vectors.
func readEntries(points []*qdrant.RetrievedPoint) ([]*index.Entry, error) {
	out := make([]*index.Entry, len(points))
	p := pool.New().WithErrors().WithFirstError()
	for from := 0; from < len(points); from += readChunk {
		p.Go(func() (err error) {
			for i := from; i < min(from+readChunk, len(points)); i++ {
				if out[i], _, err = readEntry(points[i].GetPayload(), points[i].GetVectors()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, p.Wait()
}

// readEntry reads a memory, and whether it was deleted.
func readEntry(payload map[string]*qdrant.Value, vectors *qdrant.VectorsOutput) (e *index.Entry, gone bool, err error) {
	e = &index.Entry{}
	if err := decode(payload[docField].GetStringValue(), &e.Memory); err != nil {
		return nil, false, err
	}
	if e.Terms, err = memory.DecodeTerms(payload[termsField].GetStringValue()); err != nil {
		return nil, false, err
	}
	e.Vector = vectors.GetVectors().GetVectors()[dense].GetDense().GetData()
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
	turn  chan struct{} // has an element while a call is under way
	begun atomic.Int64  // calls that have begun

	// The rest belongs to the call under way.
	done int64     // the last call that has succeeded
	safe int64     // the number of a write: the index has all up to it
	last writeMark // the last that the head had in an answer
}

// refresh is an index.Refresh. Calls at the same time share one call to Qdrant, which
// begins after all of them.
func (f *follower) refresh(ctx context.Context, ix *index.Index) (changed bool, err error) {
	ticket := f.begun.Load()
	if err := f.wait(ctx); err != nil {
		return false, err
	}
	defer func() { <-f.turn }()
	if f.done > ticket {
		return false, nil // another one has asked for this one too
	}
	this := f.begun.Add(1)
	points, err := f.s.follows.do(ctx, f.query())
	if err != nil {
		return false, err
	}
	if changed, err = f.take(points, ix); err == nil {
		f.done = this
	}
	return changed, err
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
		qdrant.NewMatch("scope", tenant(f.scope)),
		qdrant.NewRange(changeField, &qdrant.Range{
			Gt:  qdrant.PtrOf(float64(changeNumber(f.scope, f.safe))),
			Lte: qdrant.PtrOf(float64(changeNumber(f.scope, maxWrites))),
		}),
	}}
	return &qdrant.QueryPoints{
		CollectionName: f.s.collection, Limit: qdrant.PtrOf(uint64(maxChanges)),
		Filter: &qdrant.Filter{Should: []*qdrant.Condition{
			qdrant.NewHasID(headID(f.scope)), qdrant.NewFilterAsCondition(changed),
		}},
		WithPayload: qdrant.NewWithPayloadInclude(followFields...), WithVectors: qdrant.NewWithVectorsInclude(dense),
	}
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
	for _, p := range points {
		if p.GetId().GetUuid() == at {
			continue
		}
		e, gone, err := readEntry(p.GetPayload(), p.GetVectors())
		if err != nil {
			return changed, err
		}
		if changed = true; gone {
			ix.Remove(e.Memory.ID, e.Memory.Revision)
		} else {
			ix.Put(e)
		}
	}
	f.safe, f.last = f.last.n, h.last()
	return changed, nil
}
