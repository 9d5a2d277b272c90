// Package inflight bounds the bytes that requests hold at a time. A [Pool] is shared
// by all apps: those that wait for room get it in turns, so that a flood by one of
// them does not take it all.
package inflight

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Pool is room for a number of bytes. An app may take what leaves at least as much free
// as it then has, so that one that comes later finds room: alone it can have half. The
// only share of an app may have all that is free; see fair.Fits. Apps take turns, and
// within an app those that came first get room first.
type Pool struct {
	size       int64
	what, flag string // for refusals: what is in flight, and the flag that sets the size

	mu      sync.Mutex
	free    int64
	held    map[string]int64     // by app
	waiting map[string][]*waiter // by app, first come first; no app without any
	turns   []string             // the apps that wait, the next first
	refused int64
}

// waiter waits for its app to have n bytes in place of the has bytes of a share.
type waiter struct {
	app    string
	n, has int64
	ready  chan struct{} // closed once it has them
}

// New makes a Pool. what and flag are for the words of refusals: what the bytes are,
// and the flag that sets size.
func New(size int64, what, flag string) *Pool {
	return &Pool{size: size, what: what, flag: flag, free: size, held: map[string]int64{},
		waiting: map[string][]*waiter{}}
}

// Stats are figures of a Pool.
type Stats struct {
	Size, Used int64 // bytes
	Waiting    int   // requests that wait for room
	Refused    int64 // requests that waited too long, since the start
}

// Stats returns the figures of the pool.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Stats{Size: p.size, Used: p.size - p.free, Refused: p.refused}
	for _, w := range p.waiting {
		out.Waiting += len(w)
	}
	return out
}

// Share is room that a request has.
type Share struct {
	pool *Pool
	app  string
	n    int64
}

// Take waits until an app may have n more bytes. More than the pool has count as all
// of it. The error is a memory.Refusal if there is no room within patience, or that
// of ctx.
func (p *Pool) Take(ctx context.Context, app string, n int64, patience time.Duration) (*Share, error) {
	s := &Share{pool: p, app: app}
	return s, s.Grow(ctx, n, patience)
}

// TakeNow takes n bytes for an app if there is room for them at once.
func (p *Pool) TakeNow(app string, n int64) (s *Share, ok bool) {
	n = min(n, p.size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.turns) > 0 || !fair.Fits(p.held[app], n, p.free) {
		return nil, false // those that wait come first
	}
	p.free -= n
	p.held[app] += n
	return &Share{pool: p, app: app, n: n}, true
}

// Grow waits until the share may have n bytes in all. If it fails the share stays as
// it is.
func (s *Share) Grow(ctx context.Context, n int64, patience time.Duration) error {
	p := s.pool
	n = min(n, p.size)
	if n <= s.n {
		return nil
	}
	w := &waiter{app: s.app, n: n, has: s.n, ready: make(chan struct{})}
	p.mu.Lock()
	if len(p.waiting[w.app]) == 0 {
		p.turns = append(p.turns, w.app)
	}
	p.waiting[w.app] = append(p.waiting[w.app], w)
	p.hand()
	p.mu.Unlock()
	select {
	case <-w.ready:
		s.n = n
		return nil
	default:
	}
	defer fair.Pause(ctx)()
	late := time.NewTimer(patience)
	defer late.Stop()
	var err error
	select {
	case <-w.ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = memory.Refuse(time.Second,
			"%s: there was no room for %d bytes within %v, beside those of other requests:"+
				" %s sets how many bytes there may be at a time, now %d",
			p.what, n, patience, memory.Flag(p.flag), p.size)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && p.leave(w) {
		if ctx.Err() == nil {
			p.refused++
		}
		p.hand() // those behind it may have room
		return err
	}
	s.n = n // also if it came in the moment in which the wait ended
	return nil
}

// Shrink gives back what the share has more than n bytes.
func (s *Share) Shrink(n int64) {
	if n >= s.n {
		return
	}
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += s.n - n
	if p.held[s.app] -= s.n - n; p.held[s.app] == 0 {
		delete(p.held, s.app)
	}
	s.n = n
	p.hand()
}

// Release gives the share back. It may be called again, and on nil.
func (s *Share) Release() {
	if s != nil {
		s.Shrink(0)
	}
}

// hand gives room to those that wait, an app after another, as far as there is room.
// The caller holds p.mu.
func (p *Pool) hand() {
	for i := 0; i < len(p.turns); {
		app := p.turns[i]
		w := p.waiting[app][0]
		if others := p.held[app] - w.has; !fair.Fits(others, w.n, p.free+w.has) {
			if others == 0 {
				return // the next in turn, which smaller ones must not overtake for ever
			}
			i++ // it waits for shares of its own app
			continue
		}
		p.free -= w.n - w.has
		p.held[app] += w.n - w.has
		p.leave(w)
		close(w.ready)
		if len(p.waiting[app]) > 0 { // behind the others
			p.turns = append(slices.Delete(p.turns, i, i+1), app)
		}
		i = 0
	}
}

// leave takes w out of its queue, and reports whether it was there. The caller holds
// p.mu.
func (p *Pool) leave(w *waiter) bool {
	queue := p.waiting[w.app]
	i := slices.Index(queue, w)
	if i < 0 {
		return false
	}
	if len(queue) > 1 {
		p.waiting[w.app] = slices.Delete(queue, i, i+1)
		return true
	}
	delete(p.waiting, w.app)
	i = slices.Index(p.turns, w.app)
	p.turns = slices.Delete(p.turns, i, i+1)
	return true
}
