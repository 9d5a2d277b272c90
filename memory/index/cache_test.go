package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

var ann = memory.Scope{App: "a", User: "ann"}

func fact(scope memory.Scope, id string, revision int64) *Entry {
	return &Entry{Memory: memory.Memory{ID: id, Scope: scope, Kind: memory.KindFact, Fact: "likes coffee",
		Revision: revision}, Terms: memory.Terms{"coffee": 1}}
}

func TestCacheCount(t *testing.T) {
	build := func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
		for i := range 50 {
			take([]*Entry{{Memory: memory.Memory{ID: fmt.Sprint(i), Scope: scope, Kind: memory.KindFact,
				Fact: "likes tea", Revision: 1},
				Terms: memory.Terms{"tea": 1}, Vector: []float32{1}}})
		}
		return nil, nil
	}
	c := NewCache(100_000, build) // room for a few of these
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := range 300 {
				scope := memory.Scope{App: "a", User: fmt.Sprint((w + i) % 5)}
				if _, err := c.Get(t.Context(), scope, time.Now); err != nil {
					t.Error(err)
				}
				c.Put(scope, fact(scope, "new", int64(i+1)))
			}
		})
	}
	workers.Wait()
	indexed := int64(0)
	for el := c.recent.Front(); el != nil; el = el.Next() {
		indexed += el.Value.(*cached).bytes
	}
	s := c.Stats()
	if s.Bytes != indexed || s.Bytes > c.limit || s.Scopes != c.recent.Len() {
		t.Errorf("counts %d bytes in %d scopes, holds %d in %d, may hold %d",
			s.Bytes, s.Scopes, indexed, c.recent.Len(), c.limit)
	}
	if s.Hits+s.Misses != 8*300 || s.Loads == 0 || s.Loads > s.Misses {
		t.Errorf("figures %+v", s)
	}
}

// Recent has an index as soon as Get has returned it.
func TestRecent(t *testing.T) {
	c := NewCache(0, func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
		take([]*Entry{fact(scope, "m", 1)})
		return nil, nil
	})
	for i := range 1000 {
		scope := memory.Scope{App: "a", User: fmt.Sprint(i)}
		if _, err := c.Get(t.Context(), scope, time.Now); err != nil {
			t.Fatal(err)
		}
		if all := c.Recent(0); len(all) != i+1 || all[0].Scope != scope {
			t.Fatalf("after %d searches there are %d indexes, want the last search's at the front", i+1, len(all))
		}
	}
}

// The heap stays within a tenth of the limit while ten thousand scopes are searched.
func TestLimitBoundsTheHeap(t *testing.T) {
	const limit = 16 << 20
	r := rand.New(rand.NewPCG(1, 2))
	c := NewCache(limit, func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
		for i := range 1 + r.IntN(40) {
			e := random(r, i, 1, 256)
			e.Memory.Scope, e.Memory.Fact = scope, strings.Repeat("word ", 20)
			take([]*Entry{e})
		}
		return nil, nil
	})
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 10_000 {
		if _, err := c.Get(t.Context(), memory.Scope{App: "a", User: fmt.Sprint(i)}, time.Now); err != nil {
			t.Fatal(err)
		}
		if i%2500 != 2499 {
			continue
		}
		if held := heap() - before; held > limit*11/10 || held < limit*8/10 {
			t.Errorf("%d bytes held after %d scopes, with a limit of %d", held, i+1, limit)
		}
	}
	runtime.KeepAlive(c)
}

func TestQueuedWritesAreBounded(t *testing.T) {
	some := func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
		take([]*Entry{fact(scope, "first", 1)})
		return nil, nil
	}
	c := NewCache(1<<30, some)
	if _, err := c.Get(t.Context(), ann, time.Now); err != nil {
		t.Fatal(err)
	}
	for i := range maxQueued + 2 {
		c.Put(ann, fact(ann, fmt.Sprint(i), 1))
	}
	if len(c.scopes) != 0 || c.stats.Bytes != 0 {
		t.Errorf("%d scopes and %d bytes are left", len(c.scopes), c.stats.Bytes)
	}
	// They count before they are taken in.
	c = NewCache(50_000, some)
	for _, user := range []string{"a", "b"} {
		if _, err := c.Get(t.Context(), memory.Scope{App: "a", User: user}, time.Now); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		scope := memory.Scope{App: "a", User: "a"}
		c.Put(scope, fact(scope, fmt.Sprint(i), 1))
	}
	if s := c.Stats(); s.Scopes != 1 || s.Bytes > c.limit {
		t.Errorf("after many writes to the index used first: %+v", s)
	}
}

func TestEmptyScope(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	c := NewCache(1<<30, func(context.Context, memory.Scope, func([]*Entry) int64) (Refresh, error) {
		begun <- struct{}{}
		<-goOn
		return nil, nil
	})
	first := make(chan *Index)
	search := func() {
		ix, err := c.Get(t.Context(), ann, time.Now)
		if err != nil {
			t.Error(err)
		}
		first <- ix
	}
	go search()
	<-begun
	c.Put(ann, fact(ann, "m", 1)) // committed after the file was read
	goOn <- struct{}{}
	if ix := <-first; len(ix.slots) != 1 {
		t.Errorf("the search found %d memories, want 1", len(ix.slots))
	}
	c.Remove(ann, &memory.Memory{ID: "m", Revision: 2})
	go search()
	if ix := <-first; len(ix.slots) != 0 {
		t.Errorf("after the deletion: %d memories", len(ix.slots))
	}
	if s := c.Stats(); s.Scopes != 0 || s.Bytes != 0 {
		t.Errorf("an empty index stays: %+v", s)
	}
}

func TestLoadEndsWithItsCallers(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error)
	c := NewCache(1<<30, func(ctx context.Context, _ memory.Scope, _ func([]*Entry) int64) (Refresh, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for range 2 {
		go func() { _, err := c.Get(ctx, ann, time.Now); done <- err }()
	}
	<-begun
	cancel()
	for range 2 {
		if err := <-done; err == nil {
			t.Error("no error")
		}
	}
	if err := <-ended; err == nil {
		t.Error("the reading did not end")
	}
	if s := c.Stats(); s.Scopes != 0 || s.Bytes != 0 {
		t.Errorf("left behind: %+v", s)
	}
}

// Close ends readings, even one whose index was dropped meanwhile, and waits for them.
func TestCloseEndsLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, over := make(chan struct{}), false
		c := NewCache(1<<30, func(ctx context.Context, _ memory.Scope, _ func([]*Entry) int64) (Refresh, error) {
			begun <- struct{}{}
			<-ctx.Done()
			time.Sleep(10 * time.Millisecond)
			over = true
			return nil, ctx.Err()
		})
		done := make(chan error)
		go func() { _, err := c.Get(t.Context(), ann, time.Now); done <- err }()
		<-begun
		c.Drop(ann)
		c.Close()
		if !over {
			t.Error("a reading goes on after Close")
		}
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a search under way: %v", err)
		}
		if _, err := c.Get(t.Context(), ann, time.Now); !errors.Is(err, errClosed) {
			t.Errorf("a search after Close: %v", err)
		}
	})
}

// A search that is refused, as its reading of the scope does not get its turn in time,
// refuses no other search that waits for the same reading.
func TestLoadIsRefusedToEachOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		build := func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
			take([]*Entry{fact(scope, "first", 1)})
			return nil, nil
		}
		c := NewCache(1<<30, build)
		gate := fair.NewGate(1, 5*time.Second)
		busy, one := gate.Begin(t.Context(), memory.Scope{App: "b", User: "bob"})
		if err := fair.Ready(busy); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		search := func(g *fair.Gate, refused bool) {
			all.Go(func() {
				ctx, turn := g.Begin(t.Context(), ann)
				defer turn.End()
				if _, err := c.Get(ctx, ann, time.Now); errors.Is(err, memory.ErrExhausted) != refused || !refused && err != nil {
					t.Errorf("refused %v, want %v: %v", errors.Is(err, memory.ErrExhausted), refused, err)
				}
			})
			synctest.Wait()
		}
		search(gate, true)
		time.Sleep(3 * time.Second)
		search(gate, false)
		search(fair.NewBackgroundGate(1), false)
		time.Sleep(4 * time.Second) // beyond what the first one waits
		one.End()
		all.Wait()
		if f := c.Stats(); f.Loads != 1 {
			t.Errorf("%d readings", f.Loads)
		}
	})
}

// An index that is brought up to date ahead is searched as it was meanwhile. That answer holds
// where nothing has changed, and no longer than that.
func TestAhead(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Index)
		err     error
		holds   bool
		reading int64 // of the scope
	}{
		"unchanged": {holds: true, reading: 1},
		"written":   {change: func(ix *Index) { ix.Put(fact(ann, "second", 1)) }, reading: 1},
		"deleted":   {change: func(ix *Index) { ix.Remove("first", 2) }, reading: 1},
		"lost":      {err: ErrDiverged, reading: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, answer := 0, make(chan struct{})
				fresh := func(_ context.Context, ix *Index) (bool, error) {
					if asked++; asked != 2 { // the first is of the reading
						return false, nil
					}
					<-answer
					if c.change != nil {
						c.change(ix)
					}
					return c.change != nil, c.err
				}
				load := func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
					take([]*Entry{fact(scope, "first", 1), fact(scope, "kept", 1)})
					return fresh, nil
				}
				cache := NewCache(1<<30, load)
				defer cache.Close()
				bound := context.WithCancel
				if cache.Begin(t.Context(), ann, bound) != nil {
					t.Fatal("a scope that is not read is brought up to date")
				}
				if _, err := cache.Get(t.Context(), ann, time.Now); err != nil {
					t.Fatal(err)
				}
				ahead := cache.Begin(t.Context(), ann, bound)
				guess := ahead.Guess(&memory.Query{}, time.Now())
				if guess == nil {
					t.Fatal("no guess while the refresh is under way")
				}
				close(answer)
				for range 2 {
					ix, err := cache.GetAhead(t.Context(), ann, time.Now, ahead)
					if err != nil {
						t.Fatal(err)
					}
					if got := guess.Holds(ix); got != c.holds {
						t.Errorf("the guess holds: %v, want %v", got, c.holds)
					}
					if ahead.Guess(&memory.Query{}, time.Now()) != nil {
						t.Error("a guess where there is nothing to wait for")
					}
				}
				if got := cache.Stats().Loads; got != c.reading {
					t.Errorf("%d readings, want %d", got, c.reading)
				}
			})
		})
	}
}

// The end of a call that was begun ahead is not waited for by a caller that has gone. Close
// ends it.
func TestAheadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := NewCache(1<<30, func(_ context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error) {
			take([]*Entry{fact(scope, "first", 1)})
			return func(ctx context.Context, _ *Index) (bool, error) {
				if asked++; asked == 1 {
					return false, nil
				}
				<-ctx.Done()
				return false, ctx.Err()
			}, nil
		})
		if _, err := c.Get(t.Context(), ann, time.Now); err != nil {
			t.Fatal(err)
		}
		bound := context.WithCancel
		ahead := c.Begin(t.Context(), ann, bound)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.GetAhead(gone, ann, time.Now, ahead); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that has gone: %v", err)
		}
		c.Close()
		if c.Begin(t.Context(), ann, bound) != nil {
			t.Error("a closed cache begins a call")
		}
	})
}
