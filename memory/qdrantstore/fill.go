package qdrantstore

import (
	"context"
	"errors"
	"sync"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// readAtOnce is how many memories a scope has at most, roughly, whose index a search reads
// before it answers. To read more takes longer than Qdrant takes to answer.
const readAtOnce = 2000

// filler reads the indexes that no search waits for, one at a time, in the order in which they
// were asked for. Qdrant's lists answer searches meanwhile. Of each scope they answer one search
// at a time: several at once keep the reading from its end, and all of them are answered sooner
// by the index.
type filler struct {
	mu      sync.Mutex
	scopes  map[memory.Scope]*reading // not ended, maxReadings at most
	queue   []*reading                // to be read, in order
	running bool                      // some are read, until the queue is empty
	cancel  context.CancelFunc        // of the reading under way; nil if there is none
	closed  bool
	all     sync.WaitGroup
}

// reading is an index that is read in the background, or will be after the search that asked for
// it first.
type reading struct {
	scope  memory.Scope
	queued bool
	turn   chan struct{} // of the search that Qdrant's lists answer; full while there is one
	ended  chan struct{} // closed once the index is read, or cannot be
}

// maxReadings bounds the scopes of a filler. The searches of others take no turns.
const maxReadings = 1000

// inBackground is the key of the context of a reading that no search waits for. A search may
// have begun a reading of the same scope before.
type inBackground struct{}

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
	defer fair.Pause(ctx)()
	select {
	case r.turn <- struct{}{}:
		return func() {
			<-r.turn
			s.fill(scope)
		}, nil
	case <-r.ended:
		return nil, nil
	case <-ctx.Done():
		return nil, s.kind(ctx, ctx.Err())
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
	if f.closed || len(f.scopes) >= maxReadings {
		return nil
	}
	if f.scopes == nil {
		f.scopes = map[memory.Scope]*reading{}
	}
	r := &reading{scope: scope, turn: make(chan struct{}, 1), ended: make(chan struct{})}
	f.scopes[scope] = r
	return r
}

// fill has the index of a scope read in the background, for the searches that follow. If that
// fails, a later search tries again.
func (s *Store) fill(scope memory.Scope) {
	f := &s.filler
	r := f.reading(scope)
	f.mu.Lock()
	defer f.mu.Unlock()
	if r == nil || r.queued || f.closed {
		return
	}
	r.queued = true
	f.queue = append(f.queue, r)
	if !f.running {
		f.running = true
		f.all.Go(s.readQueued)
	}
}

// readQueued reads indexes until none is queued.
func (s *Store) readQueued() {
	f := &s.filler
	for {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), inBackground{}, true))
		r := f.next(cancel)
		if r == nil {
			cancel()
			return
		}
		if s.sizes.of(r.scope) != large {
			_, _ = s.cached(ctx, r.scope, nil)
		}
		cancel()
		f.end(r)
	}
}

// next is what is to be read now, which cancel ends; nil for none.
func (f *filler) next(cancel context.CancelFunc) *reading {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 || f.closed {
		f.running, f.cancel = false, nil
		return nil
	}
	r := f.queue[0]
	f.queue, f.cancel = f.queue[1:], cancel
	return r
}

// end is the end of a reading.
func (f *filler) end(r *reading) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.scopes, r.scope)
	close(r.ended)
}

// reads reports whether the index of a scope is being read, or will be.
func (f *filler) reads(scope memory.Scope) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scopes[scope] != nil
}

// close ends the reading under way, and begins no other.
func (f *filler) close() {
	f.mu.Lock()
	f.closed = true
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
	n, err := s.client.Count(ctx, &qdrant.CountPoints{
		CollectionName: s.collection, Exact: qdrant.PtrOf(false),
		Filter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope))}},
	})
	return int(n), s.kind(ctx, err)
}
