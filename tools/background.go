package tools

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/sourcegraph/conc/panics"
)

// minSearches is how many searches of preloads may run at a time, however few
// processors there are. It includes those that outlived their preloads, as their
// store does not heed its context. More would only make each other late: a
// preload beyond it waits for a slot, and gives up in time.
const minSearches = 16

// background runs calls that may outlive the call that started them, and waits
// for them when its owner ends.
type background struct {
	slots chan struct{} // holds one value for each call that runs

	mu    sync.Mutex
	calls map[*sync.WaitGroup]struct{} // those that run, each by itself
}

func newBackground(limit int) *background {
	return &background{slots: make(chan struct{}, limit), calls: map[*sync.WaitGroup]struct{}{}}
}

// start runs call in a goroutine that wait waits for. It takes a slot first, or
// fails as soon as ctx is over.
func (g *background) start(ctx context.Context, call func()) error {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	running := new(sync.WaitGroup)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls[running] = struct{}{}
	running.Go(func() {
		call()
		<-g.slots
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.calls, running)
	})
	return nil
}

// wait returns when the calls are over that run now. Later ones do not hold it
// up, so that it ends while requests go on.
func (g *background) wait() {
	g.mu.Lock()
	calls := slices.Collect(maps.Keys(g.calls))
	g.mu.Unlock()
	for _, running := range calls {
		running.Wait()
	}
}

// inBackground makes a call and returns its result, or the error of ctx as soon
// as ctx is over, whether or not the call heeds it. A panic of the call becomes
// an error.
func inBackground[T any](ctx context.Context, g *background, call func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	var none T
	done := make(chan result, 1)
	err := g.start(ctx, func() {
		var r result
		if p := panics.Try(func() { r.v, r.err = call() }); p != nil {
			r.err = p.AsError()
		}
		done <- r
	})
	if err != nil {
		return none, err
	}
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
