package qdrantstore

import (
	"context"
	"errors"
	"sync"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// readAtOnce is how many memories a scope has at most, roughly, whose index a search reads
// before it answers. To read more takes longer than Qdrant takes to answer.
const readAtOnce = 2000

// filler reads the indexes that no search waits for, one at a time: Qdrant answers the
// searches meanwhile.
type filler struct {
	mu     sync.Mutex
	cancel context.CancelFunc // of the reading under way; nil if there is none
	scope  memory.Scope       // that is read
	closed bool
	all    sync.WaitGroup
}

// inBackground is the key of the context of a reading that no search waits for. A search may
// have begun a reading of the same scope before.
type inBackground struct{}

// fill has the index of a scope read in the background, for the searches that follow,
// unless another one is being read. If that fails, a later search tries again.
func (s *Store) fill(scope memory.Scope) {
	f := &s.filler
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil || f.closed || s.sizes.of(scope) == large {
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), inBackground{}, true))
	f.cancel, f.scope = cancel, scope
	f.all.Go(func() {
		defer cancel()
		_, _ = s.cached(ctx, scope, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cancel = nil
	})
}

// reads reports whether the index of a scope is being read.
func (f *filler) reads(scope memory.Scope) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cancel != nil && f.scope == scope
}

// close ends the reading under way.
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
