package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// readAtOnce is how many memories a scope has at most, roughly, whose index a search reads
// before it answers. To read more takes longer than Qdrant takes to answer.
const readAtOnce = 2000

// filler reads the indexes that no search waits for, one at a time: apps take turns, and their users. Qdrant's lists
// answer searches meanwhile. Of each scope they answer one search at a time, as far as that does not take long: several
// at once keep the reading from its end, and all of them are answered sooner by the index.
type filler struct {
	mu      sync.Mutex
	scopes  map[memory.Scope]*reading // not ended
	shares  *fair.Shares              // of maxReadings
	queue   *fair.Queue[*reading]     // to be read
	running bool                      // some are read, until the queue is empty
	cancel  context.CancelFunc        // of the reading under way; nil if there is none
	closed  chan struct{}
	all     sync.WaitGroup
	wait    time.Duration // turnWait, except in tests
}

// reading is an index that is read in the background, or will be once a search has been answered
// by the lists or a second one waits.
type reading struct {
	queued bool
	turn   chan struct{} // of the search that Qdrant's lists answer; full while there is one
	ended  chan struct{} // closed once the index is read, or cannot be
}

const (
	// maxReadings bounds the scopes of a filler. The searches of others take no turns.
	maxReadings = 32
	// turnWait is how long a search waits for its turn or for the index, at most. Searches of 100,000 memories by 16
	// clients kept the reading for over 25 s with a wait of .5 s, and for 9 s with this one.
	turnWait = 2 * time.Second
)

// inBackground is the key of the context of a reading that no search waits for. A search may
// have begun a reading of the same scope before.
type inBackground struct{}

func newFiller() *filler {
	return &filler{scopes: map[memory.Scope]*reading{}, shares: fair.NewShares(maxReadings),
		queue: fair.NewQueue[*reading](), closed: make(chan struct{}), wait: turnWait}
}

// byLists waits until Qdrant's lists may answer a search of a scope. The caller calls leave once
// they have: then the index is read for the searches that follow. If it is read before the turn of
// the search comes, leave is nil.
func (s *Store) byLists(ctx context.Context, scope memory.Scope) (leave func(), err error) {
	if s.sizes.of(scope) == large {
		return func() {}, nil
	}
	r := s.filler.reading(scope)
	if r == nil {
		return func() {}, nil
	}
	fill := func() { s.fill(scope) }
	leave = func() {
		<-r.turn
		fill()
	}
	select {
	case r.turn <- struct{}{}:
		return leave, nil
	default:
		fill() // for the second search
	}
	defer fair.Pause(ctx)()
	late := time.NewTimer(s.filler.wait)
	defer late.Stop()
	select {
	case r.turn <- struct{}{}:
		return leave, nil
	case <-r.ended:
		return nil, nil
	case <-late.C:
		return fill, nil
	case <-s.filler.closed:
		return nil, fmt.Errorf("%w: the store is closed", memory.ErrUnavailable)
	case <-ctx.Done():
		return nil, s.kind(ctx, context.Cause(ctx))
	}
}

// reading returns the reading of a scope, which it makes if it is missing; nil if there are too
// many.
func (f *filler) reading(scope memory.Scope) *reading {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.scopes[scope]; r != nil {
		return r
	}
	if f.isClosed() || !f.shares.Fits(scope, 1, 0) {
		return nil
	}
	f.shares.Add(scope, 1)
	r := &reading{turn: make(chan struct{}, 1), ended: make(chan struct{})}
	f.scopes[scope] = r
	return r
}

// fill has the index of a scope read in the background, for the searches that follow. If that
// fails, a later search tries again.
func (s *Store) fill(scope memory.Scope) {
	f := s.filler
	r := f.reading(scope)
	f.mu.Lock()
	defer f.mu.Unlock()
	if r == nil || r.queued || f.isClosed() {
		return
	}
	r.queued = true
	f.queue.Push(scope, r)
	if !f.running {
		f.running = true
		f.all.Go(s.readQueued)
	}
}

// readQueued reads indexes until none is queued.
func (s *Store) readQueued() {
	for {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), inBackground{}, true))
		next := s.filler.next(cancel)
		if next == nil {
			cancel()
			return
		}
		begin := time.Now()
		if s.sizes.of(next.Scope) != large {
			_, _ = s.cached(ctx, next.Scope, nil)
		}
		cancel()
		s.filler.end(next, time.Since(begin))
	}
}

// next is what is to be read now, which cancel ends; nil for none.
func (f *filler) next(cancel context.CancelFunc) *fair.Ticket[*reading] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isClosed() || f.queue.Len() == 0 {
		f.running, f.cancel = false, nil
		return nil
	}
	f.cancel = cancel
	return f.queue.Pop()
}

// end is the end of a reading.
func (f *filler) end(of *fair.Ticket[*reading], took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue.Charge(of, took)
	f.shares.Add(of.Scope, -1)
	delete(f.scopes, of.Scope)
	close(of.Value.ended)
}

// reads reports whether the index of a scope is being read, or will be.
func (f *filler) reads(scope memory.Scope) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scopes[scope] != nil
}

func (f *filler) isClosed() bool {
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}

// close ends the reading under way, and begins no other.
func (f *filler) close() {
	f.mu.Lock()
	if !f.isClosed() {
		close(f.closed)
	}
	if f.cancel != nil {
		f.cancel()
	}
	f.mu.Unlock()
	f.all.Wait()
}

// indexOf returns the index of a scope, or nil if Qdrant answers the search: the scope
// is too large for an index, or too large to wait until its index is read.
func (s *Store) indexOf(ctx context.Context, scope memory.Scope, ahead *index.Ahead) (*index.Index, error) {
	if s.sizes.of(scope) == large || s.filler.reads(scope) && s.cache.Held(scope) == nil {
		return nil, nil
	}
	ix, err := s.cached(ctx, scope, ahead)
	if errors.Is(err, errLarge) || errors.Is(err, errLong) {
		return nil, nil
	}
	return ix, err
}

// cached reads the index of a scope unless the cache has it. One that turns out to have no
// room for its vectors is read again without them.
func (s *Store) cached(ctx context.Context, scope memory.Scope, ahead *index.Ahead) (*index.Index, error) {
	ix, err := s.cache.GetAhead(ctx, scope, s.opts.Now, ahead)
	if errors.Is(err, errVectors) {
		ix, err = s.cache.Get(ctx, scope, s.opts.Now)
	}
	return ix, err
}

// roughly counts the memories of a scope, deleted ones too.
func (s *Store) roughly(ctx context.Context, scope memory.Scope) (int, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	n, err := s.client.Count(ctx, &qdrant.CountPoints{
		CollectionName: s.collection, Exact: qdrant.PtrOf(false),
		Filter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope))}},
	})
	return int(n), s.kind(ctx, err)
}
