package fair

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// errLate: a turn did not come in time.
var errLate = errors.New("its turn did not come in time")

// Turn is one request, or one piece of work in the background, at a Gate. While it
// computes it has a slot. While it waits for a disk, the network or a model it has
// none, and then takes one again. It travels in a context, so that what waits can
// tell it, however far below; see Pause.
type Turn struct {
	gate     *Gate
	scope    memory.Scope
	patience time.Duration // of the gate; 0 for a turn that is never refused

	mu      sync.Mutex
	slot    *slot         // nil for none
	settled chan struct{} // closed once the turn has a slot or has ended; nil if nothing waits for that
	paused  int           // how many calls wait
	writing bool          // it has written, and is no longer refused
	ended   bool
}

type turnKey struct{}

// Begin makes a Turn, without a slot yet, and a context that carries it. The caller
// ends it.
func (g *Gate) Begin(ctx context.Context, scope memory.Scope) (context.Context, *Turn) {
	t := &Turn{gate: g, scope: scope, patience: g.patience}
	return context.WithValue(ctx, turnKey{}, t), t
}

// Carry returns ctx with the turn of another context, if that has one.
func Carry(ctx, from context.Context) context.Context {
	if t := of(from); t != nil {
		return context.WithValue(ctx, turnKey{}, t)
	}
	return ctx
}

// Apart returns ctx without its turn, for what waits beside the turn while that computes.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, turnKey{}, (*Turn)(nil))
}

// Fork makes a Turn of its own at the gate of ctx's turn, for work that several turns
// wait for, and waits until it has a slot or ctx is done. It is not refused: each of
// those who wait for the work bounds its own wait, with Await. Without a turn it does
// nothing. The caller calls end.
func Fork(ctx context.Context) (forked context.Context, end func(), err error) {
	t := of(ctx)
	if t == nil {
		return ctx, func() {}, nil
	}
	ctx, own := t.gate.Begin(ctx, t.scope)
	own.patience = 0
	return ctx, own.End, Ready(ctx)
}

// Await waits until work has begun that other turns may wait for too. It is refused
// after the patience of ctx's own turn, whatever becomes of the others.
func Await(ctx context.Context, begun <-chan struct{}) error {
	var late <-chan time.Time
	t := of(ctx)
	if t != nil && t.patience > 0 {
		timer := time.NewTimer(t.patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late:
		return t.gate.refuse(t.patience, "a request")
	}
}

// Yield lets others have their turn between two parts of long work.
func Yield(ctx context.Context) error {
	Leave(ctx)
	return Continue(ctx)
}

// Continue is Ready for work that has begun, such as an answer that is written in
// parts: it is not refused, and waits until it has a slot or ctx is done.
func Continue(ctx context.Context) error {
	t := of(ctx)
	if t == nil || !t.wants() {
		return nil
	}
	return t.take(ctx, 0)
}

// of is the turn that a context carries; nil for none.
func of(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// ScopeOf returns for which scope ctx computes; false if it has no turn.
func ScopeOf(ctx context.Context) (memory.Scope, bool) {
	t := of(ctx)
	if t == nil {
		return memory.Scope{}, false
	}
	return t.scope, true
}

// Ready waits until the turn of ctx has a slot, if there is one and it has none. The
// error is a memory.Refusal if that would take longer than the turn's patience, or
// the cause of ctx.
func Ready(ctx context.Context) error {
	t := of(ctx)
	if t == nil || !t.wants() {
		return nil
	}
	if err := Early(ctx); err != nil {
		return err
	}
	err := t.take(ctx, t.patience)
	if errors.Is(err, errLate) {
		return t.gate.refuse(t.patience, "a request")
	}
	return err
}

// Early refuses the turn of ctx at once if it would have to wait for a slot longer than
// its patience. Without a turn it does nothing.
func Early(ctx context.Context) error {
	t := of(ctx)
	if t == nil || t.patience == 0 {
		return nil
	}
	if wait := t.gate.wait(t.scope); wait > t.patience {
		return t.gate.refuse(wait, "a request")
	}
	return nil
}

// wants reports whether the turn computes and has no slot.
func (t *Turn) wants() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wanting()
}

// wanting is wants for callers that hold t.mu.
func (t *Turn) wanting() bool { return t.slot == nil && t.paused == 0 && !t.ended }

// take waits for a slot for the turn. Goroutines that work for one turn share it: as soon as one
// of them has a slot the others wait for none. With a second wait the turn would wait for itself
// at a gate of one slot.
func (t *Turn) take(ctx context.Context, limit time.Duration) error {
	t.mu.Lock()
	if !t.wanting() {
		t.mu.Unlock()
		return nil
	}
	if t.settled == nil {
		t.settled = make(chan struct{})
	}
	settled := t.settled
	t.mu.Unlock()
	s, err := t.gate.acquire(ctx, t.scope, limit, settled)
	if s == nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slot != nil || t.ended {
		t.gate.release(s)
		return nil
	}
	t.slot = s
	t.settle()
	return nil
}

// settle ends the waits of all who wait for a slot for the turn. The caller holds t.mu.
func (t *Turn) settle() {
	if t.settled != nil {
		close(t.settled)
		t.settled = nil
	}
}

// comeback is how long a turn waits for a slot after a pause, at most. Then it goes on
// without one: its caller may hold what others with a slot wait for.
const comeback = 100 * time.Millisecond

// Pause gives the slot of ctx's turn to others while the caller waits for something
// other than a processor. The caller calls resume after that. Without a turn, or
// without a slot, both do nothing.
func Pause(ctx context.Context) (resume func()) {
	t := of(ctx)
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused == 0 && t.slot == nil {
		return func() {} // it had no slot before, and needs none after
	}
	t.paused++
	t.leave()
	return func() { t.resume(ctx) }
}

// leave gives up the slot, if there is one. The caller holds t.mu.
func (t *Turn) leave() {
	if t.slot != nil {
		t.gate.release(t.slot)
		t.slot = nil
	}
}

// resume takes a slot again once nothing of the turn waits any more.
func (t *Turn) resume(ctx context.Context) {
	t.mu.Lock()
	t.paused--
	t.mu.Unlock()
	if t.wants() {
		_ = t.take(ctx, comeback) // without a slot it goes on all the same
	}
}

// Leave gives up the slot of ctx's turn: what follows is no work. Ready takes one
// again.
func Leave(ctx context.Context) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leave()
	}
}

// End ends the turn.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.leave()
	t.settle()
}

// Background reports whether ctx has a turn of work in the background, for which no
// request waits.
func Background(ctx context.Context) bool {
	t := of(ctx)
	return t != nil && t.gate.background
}

// Refuse decides whether the turn of ctx may wait as long for its turn to write. If
// not, it returns a memory.Refusal. What has written once is not refused later, as its
// caller could not tell how much of it was done; work in the background never is.
func Refuse(ctx context.Context, wait time.Duration) error {
	t := of(ctx)
	if t == nil || t.patience == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait > t.patience && !t.writing {
		return t.gate.refuse(wait, "a write")
	}
	t.writing = true
	return nil
}
