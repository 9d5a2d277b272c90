package fair

import (
	"context"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Gate lets as many compute at a time as it has slots. Those who wait for a slot get
// it in the order of a Queue.
type Gate struct {
	patience   time.Duration // 0 for no limit
	background bool

	mu      sync.Mutex
	free    int
	slots   int
	waiting *Queue[*waiter]
	stats   Stats
}

// waiter is a Turn that waits for a slot.
type waiter struct{ ready chan struct{} }

// Stats are figures of a Queue or a Gate since the start.
type Stats struct {
	Waiting int           // that wait now
	Running int           // that have their turn now
	Turns   int64         // that came
	Waited  time.Duration // by all of them together
	Refused int64         // turns that would have had to wait longer than they may
}

// NewGate makes a Gate for requests, with a number of slots. A request that would have
// to wait longer than patience for a slot, or for its turn to write, is refused; 0 is
// no limit.
func NewGate(slots int, patience time.Duration) *Gate {
	return &Gate{patience: patience, free: slots, slots: slots, waiting: NewQueue[*waiter]()}
}

// NewBackgroundGate makes a Gate for work that no request waits for, with a number of
// slots. It refuses nothing.
func NewBackgroundGate(slots int) *Gate {
	g := NewGate(slots, 0)
	g.background = true
	return g
}

// Stats returns the figures of the gate.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.stats
	out.Waiting, out.Running = g.waiting.Len(), g.slots-g.free
	return out
}

// slot is one of the gate's, in the hands of a turn.
type slot struct {
	ticket *Ticket[*waiter]
	since  time.Time
}

// acquire waits for a slot. It gives up when ctx is done, or when limit has passed,
// unless that is 0. Once needless is closed it returns nil.
func (g *Gate) acquire(ctx context.Context, scope memory.Scope, limit time.Duration, needless <-chan struct{}) (
	*slot, error) {
	g.mu.Lock()
	g.stats.Turns++
	w := g.waiting.Push(scope, &waiter{make(chan struct{})})
	g.hand()
	g.mu.Unlock()
	select {
	case <-w.Value.ready:
		return &slot{w, time.Now()}, nil
	default:
	}
	begin := time.Now()
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case <-w.Value.ready:
	case <-needless:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = errLate
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Waited += time.Since(begin)
	if g.waiting.Remove(w) {
		return nil, err
	}
	return &slot{w, time.Now()}, nil // also if it came in the moment in which the wait ended
}

// hand gives free slots to those whose turn it is. The caller holds g.mu.
func (g *Gate) hand() {
	for g.free > 0 && g.waiting.Len() > 0 {
		g.free--
		close(g.waiting.Pop().Value.ready)
	}
}

// release gives a slot to the next.
func (g *Gate) release(s *slot) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting.Charge(s.ticket, time.Since(s.since))
	g.free++
	g.hand()
}

// wait estimates how long a scope would wait for a slot.
func (g *Gate) wait(scope memory.Scope) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting.Wait(scope) / time.Duration(g.slots)
}

// refuse makes the error of a turn that would have to wait too long, and counts it.
func (g *Gate) refuse(wait time.Duration, what string) error {
	g.mu.Lock()
	g.stats.Refused++
	g.mu.Unlock()
	return memory.Refuse(wait, "this app has so much in progress that %s would wait %v, longer than %v:"+
		" -queue-time sets how long", what, wait.Round(time.Millisecond), g.patience)
}
