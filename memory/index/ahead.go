package index

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Ahead is a Refresh that has begun before the query of its search is known. A nil one has
// not. While it waits for the store, the caller reads the question, embeds it, and searches
// the index as it is: mostly nothing has changed, and the answer holds.
type Ahead struct {
	of     *cached
	cancel context.CancelFunc
	done   chan struct{} // closed after the rest is set

	changed bool
	err     error
}

// Bound bounds the time of a call, as context.WithTimeout does.
type Bound func(context.Context) (context.Context, context.CancelFunc)

// Begin begins to bring the index of a scope up to date, for calls of GetAhead. It returns nil
// where that is no work to wait for, or where GetAhead would have to read the scope.
func (c *Cache) Begin(ctx context.Context, scope memory.Scope, bound Bound) *Ahead {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.scopes[scope]
	if !ok || c.closed {
		return nil
	}
	e := el.Value.(*cached)
	select {
	case <-e.ready:
	default:
		return nil
	}
	if e.err != nil || e.fresh == nil {
		return nil
	}
	a := &Ahead{of: e, done: make(chan struct{})}
	ctx, a.cancel = bound(fair.Apart(ctx))
	c.aheads[a] = true
	c.fills.Go(func() {
		defer a.cancel()
		a.changed, a.err = e.fresh(ctx, e.index)
		close(a.done)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.aheads, a)
	})
	return a
}

// wait returns what the Refresh has returned. Its caller computes nothing meanwhile. Several
// callers may wait, and each gets the same.
func (a *Ahead) wait(ctx context.Context) (changed bool, err error) {
	select {
	case <-a.done:
		return a.changed, a.err
	default:
	}
	defer fair.Pause(ctx)()
	select {
	case <-a.done:
		return a.changed, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Guess is the answer of an index as it was before it was brought up to date.
type Guess struct {
	Found   memory.Found
	ix      *Index
	changes int64
}

// Guess answers a query of memory.Store.Search while the Refresh is under way. It returns
// nil where there is nothing to wait for, and for an index whose vectors stay in the store.
func (a *Ahead) Guess(q *memory.Query, now time.Time) *Guess {
	if a == nil || a.of.index.Apart() {
		return nil
	}
	select {
	case <-a.done:
		return nil
	default:
	}
	ix := a.of.index
	changes := ix.Changes()
	return &Guess{ix.Search(q, now), ix, changes}
}

// Holds reports whether an index, which is up to date now, gives the same answer.
func (g *Guess) Holds(ix *Index) bool {
	return g != nil && g.ix == ix && g.changes == ix.Changes()
}
