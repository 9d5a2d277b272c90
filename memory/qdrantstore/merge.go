package qdrantstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

const (
	// mergedCalls is how many merged calls of one kind are under way at a time. Calls
	// that come meanwhile wait, and become the next one.
	mergedCalls = 2
	// mergedMost is how many calls one merged call has at most.
	mergedMost = 100
)

// merger makes one call to Qdrant of the calls that wait at the same time. Under
// load Qdrant then gets a few large calls in place of many small ones, and each
// of them waits for the disk once. A call that comes alone goes out at once.
type merger[In, Out any] struct {
	call  func(context.Context, []In) ([]Out, error) // gives one Out for each In
	limit time.Duration                              // of a merged call, however many callers wait
	ended func(context.Context) error                // the error of a call whose context has ended

	mu      sync.Mutex
	running int
	waiting []*mergedCall[In, Out]
	under   map[*callers]bool // of the merged calls under way
	closed  bool
	all     sync.WaitGroup
}

// mergedCall is one call that waits, or is under way with others.
type mergedCall[In, Out any] struct {
	in    In
	out   Out
	err   error
	done  chan struct{}
	group *callers
}

// callers are those who wait for one merged call.
type callers struct {
	left   atomic.Int64 // who have not gone
	cancel context.CancelFunc
}

// gone is called by each caller that no longer waits. The last one ends the call.
func (c *callers) gone() {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

// do makes a call together with others that wait.
func (m *merger[In, Out]) do(ctx context.Context, in In) (out Out, err error) {
	if ctx.Err() != nil {
		return out, m.ended(ctx)
	}
	defer fair.Pause(ctx)() // the caller waits for Qdrant, and computes nothing meanwhile
	c := &mergedCall[In, Out]{in: in, done: make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, c)
	if m.under == nil {
		m.under = map[*callers]bool{}
	}
	if m.running < mergedCalls {
		m.running++
		m.all.Go(m.run)
	}
	m.mu.Unlock()
	select {
	case <-c.done:
		return c.out, c.err
	case <-ctx.Done():
		m.leave(c)
		return out, m.ended(ctx)
	}
}

// leave takes a call back whose caller has gone, if it is not under way yet.
func (m *merger[In, Out]) leave(c *mergedCall[In, Out]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range m.waiting {
		if w == c {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
			return
		}
	}
	if c.group != nil {
		c.group.gone()
	}
}

// run makes merged calls until none waits.
func (m *merger[In, Out]) run() {
	for {
		m.mu.Lock()
		n := min(len(m.waiting), mergedMost)
		if n == 0 {
			m.running--
			m.mu.Unlock()
			return
		}
		some := m.waiting[:n:n]
		m.waiting = append([]*mergedCall[In, Out](nil), m.waiting[n:]...)
		ctx, cancel := context.WithTimeoutCause(context.Background(), m.limit, errSlow)
		group := &callers{cancel: cancel}
		group.left.Store(int64(n))
		for _, c := range some {
			c.group = group
		}
		m.under[group] = true
		if m.closed {
			cancel()
		}
		m.mu.Unlock()
		m.answer(ctx, some)
		cancel()
		m.mu.Lock()
		delete(m.under, group)
		m.mu.Unlock()
	}
}

// answer makes one call of some. If it fails for another reason than that Qdrant
// is unavailable, each is called by itself: the fault may be of one alone.
func (m *merger[In, Out]) answer(ctx context.Context, some []*mergedCall[In, Out]) {
	ins := make([]In, len(some))
	for i, c := range some {
		ins[i] = c.in
	}
	var outs []Out
	err := ctx.Err()
	if err != nil {
		err = m.ended(ctx)
	} else {
		outs, err = m.call(ctx, ins)
	}
	if err != nil && len(some) > 1 && ctx.Err() == nil && !errors.Is(err, memory.ErrUnavailable) {
		for _, c := range some {
			m.answer(ctx, []*mergedCall[In, Out]{c})
		}
		return
	}
	for i, c := range some {
		if c.err = err; err == nil {
			c.out = outs[i]
		}
		close(c.done)
	}
}

// close ends the calls under way, and returns once they have ended. Later ones fail.
func (m *merger[In, Out]) close() {
	m.mu.Lock()
	m.closed = true
	for group := range m.under {
		group.cancel()
	}
	m.mu.Unlock()
	m.all.Wait()
}
