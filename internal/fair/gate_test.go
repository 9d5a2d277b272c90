package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// record has the names of what had its turn, in order.
type record struct {
	mu    sync.Mutex
	names []string
}

func (r *record) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
}

// turn computes for a while in the name of a scope, and records name when it begins.
func turn(t *testing.T, ctx context.Context, g *fair.Gate, s memory.Scope, r *record, name string, took time.Duration) error {
	ctx, turn := g.Begin(ctx, s)
	defer turn.End()
	if err := fair.Ready(ctx); err != nil {
		return err
	}
	r.add(name)
	time.Sleep(took) // of the bubble's clock
	return nil
}

// idle checks that nothing has a slot or waits for one.
func idle(t *testing.T, g *fair.Gate) {
	t.Helper()
	synctest.Wait()
	if s := g.Stats(); s.Running != 0 || s.Waiting != 0 {
		t.Errorf("%+v, want nothing running or waiting", s)
	}
}

func TestGateTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, r := fair.NewGate(2, 0), &record{}
		var all sync.WaitGroup
		begin := func(s memory.Scope, name string) {
			all.Go(func() {
				if err := turn(t, t.Context(), g, s, r, name, time.Second); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
		}
		for i := range 6 {
			begin(scope("flood", "u"), fmt.Sprint("flood ", i))
		}
		if s := g.Stats(); s.Running != 2 || s.Waiting != 4 {
			t.Errorf("%+v, want 2 running and 4 waiting", s)
		}
		begin(scope("calm", "u"), "calm")
		all.Wait()
		// Both slots are free in one moment, and either of the two next may record first.
		if at := slices.Index(r.names, "calm"); at != 2 && at != 3 {
			t.Errorf("turns %q: calm was number %d", r.names, at)
		}
		if s := g.Stats(); s.Turns != 7 || s.Waited == 0 {
			t.Errorf("%+v", s)
		}
		idle(t, g)
	})
}

// Who no longer waits takes no slot, and delays nobody.
func TestGateForgetsWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, r := fair.NewGate(1, 0), &record{}
		var all sync.WaitGroup
		all.Go(func() { _ = turn(t, t.Context(), g, scope("a", "u"), r, "first", time.Second) })
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		for range 5 {
			all.Go(func() {
				if err := turn(t, ctx, g, scope("a", "u"), r, "left", time.Second); err != gone {
					t.Errorf("error %v, want the cause of its context", err)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		all.Go(func() { _ = turn(t, t.Context(), g, scope("a", "u"), r, "last", time.Second) })
		synctest.Wait()
		cancel(gone)
		all.Wait()
		if took := time.Since(begin); took != 2*time.Second || !slices.Equal(r.names, []string{"first", "last"}) {
			t.Errorf("%q within %v", r.names, took)
		}
		idle(t, g)
	})
}

// A turn that does not come in time is refused, with words for the client; and early,
// as soon as it is known that it would come too late.
func TestGateRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, r := fair.NewGate(1, 5*time.Second), &record{}
		var all sync.WaitGroup
		var refused []time.Duration
		for range 20 {
			all.Go(func() {
				begin := time.Now()
				err := turn(t, t.Context(), g, scope("flood", "u"), r, "flood", time.Second)
				if err == nil {
					return
				}
				refusal := (*memory.Refusal)(nil)
				if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "-queue-time") || memory.RetryAfter(err) <= 0 {
					t.Errorf("error %v", err)
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				refused = append(refused, time.Since(begin))
			})
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		all.Wait()
		if n := len(r.names); n < 5 || n+len(refused) != 20 || g.Stats().Refused != int64(len(refused)) {
			t.Errorf("%d had their turn and %d were refused: %+v", n, len(refused), g.Stats())
		}
		if slices.Max(refused) > 5*time.Second || slices.Min(refused) != 0 {
			t.Errorf("refused after %v", refused)
		}
		if err := turn(t, t.Context(), g, scope("calm", "u"), r, "calm", time.Second); err != nil {
			t.Errorf("another app: %v", err)
		}
		idle(t, g)
	})
}

// A turn that waits for something else gives its slot to others meanwhile.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fair.NewGate(1, 0)
		ctx, one := g.Begin(t.Context(), scope("a", "u"))
		other, two := g.Begin(t.Context(), scope("b", "u"))
		if err := fair.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		resume := fair.Pause(ctx)
		inner := fair.Pause(ctx) // of a goroutine that works for the same turn
		if err := fair.Ready(other); err != nil {
			t.Fatal(err)
		}
		inner() // resumes nothing, as the outer one still waits
		begin := time.Now()
		done := make(chan time.Duration)
		go func() { resume(); done <- time.Since(begin) }()
		time.Sleep(10 * time.Millisecond)
		two.End()
		if took := <-done; took != 10*time.Millisecond {
			t.Errorf("it went on after %v, want when the other ended", took)
		}
		if s := g.Stats(); s.Running != 1 {
			t.Errorf("%+v", s)
		}
		one.End()
		one.End()
		fair.Pause(ctx)()
		if err := fair.Ready(ctx); err != nil {
			t.Error(err)
		}
		idle(t, g)
	})
}

// A turn that comes back from a pause never waits for long, as it may hold what others
// with a slot wait for.
func TestPauseHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fair.NewGate(1, 0)
		ctx, one := g.Begin(t.Context(), scope("a", "u"))
		_ = fair.Ready(ctx)
		resume := fair.Pause(ctx)
		other, two := g.Begin(t.Context(), scope("b", "u"))
		_ = fair.Ready(other)
		begin := time.Now()
		resume()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it waited for %v", took)
		}
		one.End()
		two.End()
		idle(t, g)
	})
}

// Without a turn in the context nothing waits, and a turn without a slot pauses for
// nothing.
func TestNoTurn(t *testing.T) {
	ctx := t.Context()
	fair.Pause(ctx)()
	fair.Leave(ctx)
	if err := errors.Join(fair.Ready(ctx), fair.Refuse(ctx, time.Hour)); err != nil {
		t.Error(err)
	}
	ctx, turn := fair.NewGate(1, time.Second).Begin(ctx, scope("a", "u"))
	defer turn.End()
	fair.Pause(ctx)()
	fair.Leave(ctx)
}

// A write that would wait too long is refused, unless its request has written before:
// nobody could tell how much of it was done.
func TestRefuse(t *testing.T) {
	g := fair.NewGate(1, time.Second)
	ctx, turn := g.Begin(t.Context(), scope("a", "u"))
	defer turn.End()
	if err := fair.Refuse(ctx, 2*time.Second); !errors.Is(err, memory.ErrExhausted) || memory.RetryAfter(err) != 2*time.Second {
		t.Errorf("a first write: %v", err)
	}
	if err := fair.Refuse(ctx, time.Second); err != nil {
		t.Errorf("a write in time: %v", err)
	}
	if err := fair.Refuse(ctx, time.Hour); err != nil {
		t.Errorf("a second write: %v", err)
	}
	background, work := fair.NewGate(1, 0).Begin(t.Context(), scope("a", "u"))
	defer work.End()
	if err := fair.Refuse(background, time.Hour); err != nil {
		t.Errorf("a write in the background: %v", err)
	}
}

// What several turns wait for is not refused with one of them: each waits as long as it
// may by itself.
func TestAwaitIsEachOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fair.NewGate(1, 5*time.Second)
		busy, one := g.Begin(t.Context(), scope("a", "u"))
		if err := fair.Ready(busy); err != nil {
			t.Fatal(err)
		}
		first, two := g.Begin(t.Context(), scope("b", "u"))
		begun := make(chan struct{})
		go func() {
			_, end, err := fair.Fork(first)
			defer end()
			if err != nil {
				t.Error(err)
			}
			close(begun)
		}()
		var all sync.WaitGroup
		all.Go(func() {
			began := time.Now()
			err := fair.Await(first, begun)
			if !errors.Is(err, memory.ErrExhausted) || time.Since(began) != 5*time.Second {
				t.Errorf("the first one has %v after %v", err, time.Since(began))
			}
		})
		time.Sleep(3 * time.Second)
		later, three := g.Begin(t.Context(), scope("b", "u"))
		all.Go(func() {
			if err := fair.Await(later, begun); err != nil {
				t.Errorf("the later one: %v", err)
			}
		})
		gone, cancel := context.WithCancel(later)
		all.Go(func() {
			if err := fair.Await(gone, begun); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that left: %v", err)
			}
		})
		background, four := fair.NewBackgroundGate(1).Begin(t.Context(), scope("b", "u"))
		all.Go(func() {
			if err := fair.Await(background, begun); err != nil {
				t.Errorf("the one in the background: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		time.Sleep(4 * time.Second) // beyond what the first one waits
		one.End()
		all.Wait()
		for _, turn := range []*fair.Turn{two, three, four} {
			turn.End()
		}
		idle(t, g)
	})
}

// Work that has begun waits for its turn again, and is never refused.
func TestContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fair.NewGate(1, time.Second)
		request, one := g.Begin(t.Context(), scope("a", "u"))
		if err := fair.Ready(request); err != nil {
			t.Fatal(err)
		}
		fair.Leave(request)
		other, two := g.Begin(t.Context(), scope("b", "u"))
		if err := fair.Ready(other); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, two.End)
		began := time.Now()
		if err := fair.Continue(fair.Carry(t.Context(), request)); err != nil || time.Since(began) != time.Minute {
			t.Errorf("it goes on after %v: %v", time.Since(began), err)
		}
		if s := g.Stats(); s.Running != 1 || s.Refused != 0 {
			t.Errorf("%+v", s)
		}
		one.End()
		if err := fair.Continue(fair.Carry(t.Context(), t.Context())); err != nil {
			t.Error(err)
		}
		idle(t, g)
	})
}

// Goroutines that work for one turn wait for one slot together: what one of them has got the
// others do not wait for, nor what has ended.
func TestTurnIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fair.NewGate(1, 0)
		busy, one := g.Begin(t.Context(), scope("a", "u"))
		if err := fair.Ready(busy); err != nil {
			t.Fatal(err)
		}
		shared, two := g.Begin(t.Context(), scope("b", "u"))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := fair.Continue(shared); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		one.End()
		all.Wait()
		if s := g.Stats(); s.Running != 1 || s.Waiting != 0 {
			t.Errorf("%+v, want one running", s)
		}
		ended, three := g.Begin(t.Context(), scope("c", "u"))
		all.Go(func() {
			if err := fair.Ready(ended); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		three.End()
		all.Wait()
		two.End()
		idle(t, g)
	})
}
