package inflight_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
)

// scope is that of a name such as "app" or "app/user".
func scope(name string) memory.Scope {
	app, user, _ := strings.Cut(name, "/")
	return memory.Scope{App: app, User: user}
}

// take takes a share that must be there at once.
func take(t *testing.T, p *inflight.Pool, name string, n int64) *inflight.Share {
	t.Helper()
	s, err := p.Take(t.Context(), scope(name), n, 0)
	if err != nil {
		t.Fatalf("%s takes %d: %v", name, n, err)
	}
	return s
}

// refused takes a share for which there must be no room.
func refused(t *testing.T, p *inflight.Pool, name string, n int64) {
	t.Helper()
	_, err := p.Take(t.Context(), scope(name), n, 0)
	if !errors.Is(err, memory.ErrExhausted) || !strings.Contains(err.Error(), "-bodies") {
		t.Errorf("%s takes %d: error %v", name, n, err)
	}
	if s, ok := p.TakeNow(scope(name), n); ok {
		s.Release()
		t.Errorf("%s takes %d at once", name, n)
	}
}

func used(t *testing.T, p *inflight.Pool, want int64) {
	t.Helper()
	if got := p.Stats(); got.Used != want || got.Waiting != 0 {
		t.Errorf("used is %d with %d waiting, want %d with none", got.Used, got.Waiting, want)
	}
}

// A share counts until it is released, once, and shrinks.
func TestShares(t *testing.T) {
	p := inflight.New(100, "bodies", "-bodies")
	a := take(t, p, "a", 40)
	used(t, p, 40)
	a.Shrink(10)
	a.Shrink(20)
	used(t, p, 10)
	if err := a.Grow(t.Context(), 30, 0); err != nil {
		t.Fatal(err)
	}
	used(t, p, 30)
	a.Release()
	a.Release()
	(*inflight.Share)(nil).Release()
	used(t, p, 0)
	take(t, p, "a", 1000).Release() // more than there is counts as all of it
	used(t, p, 0)
}

// An app alone has half, and another one finds room beside it.
func TestHalf(t *testing.T) {
	p := inflight.New(100, "bodies", "-bodies")
	for _, user := range []string{"a/1", "a/2", "a/3", "a/4", "a/5"} {
		take(t, p, user, 10)
	}
	refused(t, p, "a/6", 10)
	take(t, p, "b", 20)
	take(t, p, "c", 15)
	if got := p.Stats(); got.Refused != 1 || got.Used != 85 {
		t.Errorf("stats are %+v", got)
	}
}

// A user alone has half of what its app may have, and another user of the app finds
// room beside it.
func TestHalfOfAnApp(t *testing.T) {
	p := inflight.New(100, "bodies", "-bodies")
	for range 5 {
		take(t, p, "a/1", 5)
	}
	refused(t, p, "a/1", 5)
	take(t, p, "a/2", 10)
	refused(t, p, "a/2", 5)
	take(t, p, "a/3", 5)
	take(t, p, "a/4", 10)
	refused(t, p, "a/5", 1) // the app has half
	take(t, p, "b/1", 10)
	used(t, p, 60)
}

// What an app takes leaves as much free as it then has, whatever the sizes of its
// shares: only its one share may be larger. The same holds for a user within its app.
func TestHalfOfLarge(t *testing.T) {
	p := inflight.New(100, "bodies", "-bodies")
	a := take(t, p, "a/1", 30)
	refused(t, p, "a/2", 30)
	refused(t, p, "a/1", 1)
	more := take(t, p, "a/2", 20)
	if err := more.Grow(t.Context(), 21, 0); !errors.Is(err, memory.ErrExhausted) {
		t.Errorf("51 of 100 for one app: %v", err)
	}
	more.Release()
	if err := a.Grow(t.Context(), 90, 0); err != nil {
		t.Errorf("the only share grows: %v", err)
	}
	take(t, p, "b", 10)
	used(t, p, 100)
}

// Those that wait get room in turns, whatever the first app has waiting, and within an
// app whatever its first user has waiting.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(10, "bodies", "-bodies")
		first := take(t, p, "z", 10)
		got := make(chan string, 10)
		wait := func(name string) {
			go func() {
				s, err := p.Take(t.Context(), scope(name), 10, time.Minute)
				if err != nil {
					t.Error(err)
				}
				got <- name
				s.Release()
			}()
			synctest.Wait()
		}
		waiting := []string{"a/1", "a/1", "a/1", "a/1", "a/2", "b/1", "b/1", "a/3", "c/1"}
		for _, name := range waiting {
			wait(name)
		}
		first.Release()
		var order []string
		for range waiting {
			order = append(order, <-got)
		}
		want := []string{"a/1", "b/1", "c/1", "a/2", "b/1", "a/3", "a/1", "a/1", "a/1"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("the order (-want +got):\n%s", diff)
		}
		synctest.Wait()
		used(t, p, 0)
	})
}

// A user that floods its app holds up no other user of it: neither by what it has nor
// by what it has waiting.
func TestFloodOfAUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(100, "bodies", "-bodies")
		ctx, cancel := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		for range 1000 {
			flood.Go(func() {
				s, err := p.Take(ctx, scope("a/flood"), 5, time.Hour)
				if err == nil {
					<-ctx.Done()
				}
				s.Release()
			})
		}
		synctest.Wait()
		if got := p.Stats(); got.Used != 25 || got.Waiting != 995 {
			t.Errorf("the flood has %+v", got)
		}
		calm := take(t, p, "a/calm", 10)
		take(t, p, "b/calm", 10).Release()
		calm.Release()
		cancel()
		flood.Wait()
		used(t, p, 0)
	})
}

// A large share that waits for other users of its app is not overtaken by their small
// ones, but other apps pass it.
func TestLargeWithinAnApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(100, "bodies", "-bodies")
		flood := take(t, p, "a/flood", 20)
		got := make(chan string, 3)
		wait := func(name string, n int64) {
			go func() {
				if _, err := p.Take(t.Context(), scope(name), n, time.Hour); err != nil {
					t.Error(err)
				}
				got <- name
			}()
			synctest.Wait()
		}
		wait("a/large", 40)
		wait("a/small", 1)
		take(t, p, "b/small", 1)
		if len(got) != 0 {
			t.Errorf("%s has room already", <-got)
		}
		flood.Release()
		<-got
		<-got
		used(t, p, 42)
	})
}

// A large share is not overtaken for ever by small ones, and one that gives up is
// out of the way.
func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(10, "bodies", "-bodies")
		small := take(t, p, "a", 2)
		ctx, cancel := context.WithCancel(t.Context())
		large := make(chan error)
		go func() {
			_, err := p.Take(ctx, scope("b"), 10, time.Hour)
			large <- err
		}()
		synctest.Wait()
		after := make(chan error)
		go func() {
			_, err := p.Take(t.Context(), scope("c"), 1, time.Hour)
			after <- err
		}()
		synctest.Wait()
		select {
		case <-after:
			t.Error("a small share came before a large one that waited")
		default:
		}
		cancel()
		if err := <-large; !errors.Is(err, context.Canceled) {
			t.Errorf("the large one ended with %v", err)
		}
		if err := <-after; err != nil {
			t.Error(err)
		}
		small.Release()
		used(t, p, 1)
	})
}

// A share that waits for more keeps what it has, and is refused after its patience.
func TestGrowWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(10, "bodies", "-bodies")
		a, b := take(t, p, "a", 3), take(t, p, "b", 3)
		begin := time.Now()
		if err := a.Grow(t.Context(), 8, 5*time.Second); !errors.Is(err, memory.ErrExhausted) {
			t.Errorf("growing beyond what is free: %v", err)
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it was refused after %v", took)
		}
		used(t, p, 6)
		b.Release()
		if err := a.Grow(t.Context(), 10, 0); err != nil {
			t.Error(err)
		}
		used(t, p, 10)
	})
}
