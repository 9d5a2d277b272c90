package inflight_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
)

// take takes a share that must be there at once.
func take(t *testing.T, p *inflight.Pool, app string, n int64) *inflight.Share {
	t.Helper()
	s, err := p.Take(t.Context(), app, n, 0)
	if err != nil {
		t.Fatalf("%s takes %d: %v", app, n, err)
	}
	return s
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
	for range 5 {
		take(t, p, "a", 10)
	}
	_, err := p.Take(t.Context(), "a", 10, 0)
	if !errors.Is(err, memory.ErrExhausted) || !strings.Contains(err.Error(), "-bodies") {
		t.Errorf("a sixth share of a tenth: %v", err)
	}
	take(t, p, "b", 20)
	take(t, p, "c", 15)
	if got := p.Stats(); got.Refused != 1 || got.Used != 85 {
		t.Errorf("stats are %+v", got)
	}
}

// What an app takes leaves as much free as it then has, whatever the sizes of its
// shares: only its one share may be larger.
func TestHalfOfLarge(t *testing.T) {
	p := inflight.New(100, "bodies", "-bodies")
	a := take(t, p, "a", 30)
	if _, err := p.Take(t.Context(), "a", 30, 0); !errors.Is(err, memory.ErrExhausted) {
		t.Errorf("60 of 100 for one app: %v", err)
	}
	more := take(t, p, "a", 20)
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

// Those that wait get room in turns, whatever the first app has waiting.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inflight.New(10, "bodies", "-bodies")
		first := take(t, p, "z", 10)
		got := make(chan string, 10)
		wait := func(app string) {
			go func() {
				s, err := p.Take(t.Context(), app, 10, time.Minute)
				if err != nil {
					t.Error(err)
				}
				got <- app
				s.Release()
			}()
			synctest.Wait()
		}
		for _, app := range []string{"a", "a", "a", "b", "b", "c"} {
			wait(app)
		}
		first.Release()
		order := ""
		for range 6 {
			order += <-got
		}
		if order != "abcaba" {
			t.Errorf("the order is %s", order)
		}
		synctest.Wait()
		used(t, p, 0)
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
			_, err := p.Take(ctx, "b", 10, time.Hour)
			large <- err
		}()
		synctest.Wait()
		after := make(chan error)
		go func() {
			_, err := p.Take(t.Context(), "c", 1, time.Hour)
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
