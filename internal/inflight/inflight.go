// Package inflight bounds the bytes that requests hold at a time. A [Pool] is shared
// by all apps and their users: those that wait for room get it in turns, so that a
// flood by one of them does not take it all.
package inflight

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Pool is room for a number of bytes, which apps and their users share as fair.Shares
// has it. Those that wait get room in turns: apps in turn, within an app its users in
// turn, and of one user first come, first served.
type Pool struct {
	size       int64
	what, flag string // for refusals: what is in flight, and the flag that sets the size

	mu      sync.Mutex
	shares  *fair.Shares
	apps    []*appTurns // that wait, the next first
	waiting int         // requests
	refused int64
}

// appTurns are the users of an app that wait, the next first.
type appTurns struct {
	app   string
	users []*userTurns
}

// userTurns are the requests of a user that wait, first come first.
type userTurns struct {
	user  string
	queue []*waiter
}

// waiter waits for its scope to have n bytes in place of the has bytes of a share.
type waiter struct {
	scope  memory.Scope
	n, has int64
	ready  chan struct{} // closed once it has them
}

// New makes a Pool. what and flag are for the words of refusals: what the bytes are,
// and the flag that sets size.
func New(size int64, what, flag string) *Pool {
	return &Pool{size: size, what: what, flag: flag, shares: fair.NewShares(size)}
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
	return Stats{Size: p.size, Used: p.size - p.shares.Free(), Waiting: p.waiting, Refused: p.refused}
}

// Share is room that a request has.
type Share struct {
	pool  *Pool
	scope memory.Scope
	n     int64
}

// Take waits until a scope may have n more bytes. More than the pool has count as all
// of it. The error is a memory.Refusal if there is no room within patience, or that
// of ctx.
func (p *Pool) Take(ctx context.Context, scope memory.Scope, n int64, patience time.Duration) (*Share, error) {
	s := &Share{pool: p, scope: scope}
	return s, s.Grow(ctx, n, patience)
}

// TakeNow takes n bytes for a scope if they are free and no request waits for some.
func (p *Pool) TakeNow(scope memory.Scope, n int64) (s *Share, ok bool) {
	n = min(n, p.size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting > 0 || !p.shares.Fits(scope, n, 0) {
		return nil, false
	}
	p.shares.Add(scope, n)
	return &Share{pool: p, scope: scope, n: n}, true
}

// Grow waits until the share may have n bytes in all. If it fails the share stays as
// it is.
func (s *Share) Grow(ctx context.Context, n int64, patience time.Duration) error {
	p := s.pool
	n = min(n, p.size)
	if n <= s.n {
		return nil
	}
	w := &waiter{scope: s.scope, n: n, has: s.n, ready: make(chan struct{})}
	p.mu.Lock()
	p.join(w)
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
	if err != nil && p.leave(w, false) {
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
	p.shares.Add(s.scope, n-s.n)
	s.n = n
	p.hand()
}

// Release gives the share back. It may be called again, and on nil.
func (s *Share) Release() {
	if s != nil {
		s.Shrink(0)
	}
}

// join puts w behind the requests of its user that wait. The caller holds p.mu.
func (p *Pool) join(w *waiter) {
	p.waiting++
	a := slices.IndexFunc(p.apps, func(a *appTurns) bool { return a.app == w.scope.App })
	if a < 0 {
		a = len(p.apps)
		p.apps = append(p.apps, &appTurns{app: w.scope.App})
	}
	app := p.apps[a]
	u := slices.IndexFunc(app.users, func(u *userTurns) bool { return u.user == w.scope.User })
	if u < 0 {
		u = len(app.users)
		app.users = append(app.users, &userTurns{user: w.scope.User})
	}
	app.users[u].queue = append(app.users[u].queue, w)
}

// hand gives room to those that wait, in turns, as far as there is room. The caller
// holds p.mu.
func (p *Pool) hand() {
	for {
		w := p.next()
		if w == nil {
			return
		}
		p.shares.Add(w.scope, w.n-w.has)
		p.leave(w, true)
		close(w.ready)
	}
}

// next is the request that gets room next; nil if there is no room for one whose turn
// it is. A user that waits for its own shares lets other users pass, and an app that
// waits for its own shares lets other apps pass. Smaller requests do not pass one that
// waits for the shares of others: it might wait for ever.
func (p *Pool) next() *waiter {
	for _, a := range p.apps {
		for _, u := range a.users {
			w := u.queue[0]
			if p.shares.Fits(w.scope, w.n, w.has) {
				return w
			}
			app, user := p.shares.Has(w.scope)
			if app == w.has {
				return nil // it waits for other apps
			}
			if user == w.has {
				break // it waits for other users of its app
			}
		}
	}
	return nil
}

// leave takes w out of its queue, and reports whether it was there. If w has had its
// turn, its user goes behind the others of the app, and its app behind other apps. The
// caller holds p.mu.
func (p *Pool) leave(w *waiter, turn bool) bool {
	a := slices.IndexFunc(p.apps, func(a *appTurns) bool { return a.app == w.scope.App })
	if a < 0 {
		return false
	}
	app := p.apps[a]
	u := slices.IndexFunc(app.users, func(u *userTurns) bool { return u.user == w.scope.User })
	if u < 0 {
		return false
	}
	user := app.users[u]
	i := slices.Index(user.queue, w)
	if i < 0 {
		return false
	}
	p.waiting--
	user.queue = slices.Delete(user.queue, i, i+1)
	app.users = after(app.users, u, turn, len(user.queue) > 0)
	p.apps = after(p.apps, a, turn, len(app.users) > 0)
	return true
}

// after is turns once the one at i has had its turn, or has only become shorter. It
// stays if it waits for more.
func after[T any](turns []T, i int, turn, more bool) []T {
	if more && !turn {
		return turns
	}
	one := turns[i]
	if turns = slices.Delete(turns, i, i+1); more {
		turns = append(turns, one)
	}
	return turns
}
