package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// doubler is a merger whose calls wait until they are let go, and double numbers.
// It fails for the number 13.
type doubler struct {
	merger[int, int]
	calls [][]int
	goOn  chan struct{}
}

var errUnlucky = errors.New("unlucky")

func newDoubler() *doubler {
	d := &doubler{goOn: make(chan struct{})}
	d.limit = time.Minute
	d.ended = func(ctx context.Context) error { return ctx.Err() }
	var mu sync.Mutex
	d.call = func(ctx context.Context, in []int) (out []int, err error) {
		mu.Lock()
		d.calls = append(d.calls, in)
		mu.Unlock()
		select {
		case <-d.goOn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		for _, n := range in {
			if n == 13 {
				err = errUnlucky
			}
			out = append(out, 2*n)
		}
		return out, err
	}
	return d
}

// Calls that come while others are under way become one call, each gets its own
// answer, and a call that comes alone goes out at once.
func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubler()
		var all sync.WaitGroup
		for n := range 5 {
			all.Go(func() {
				if out, err := d.do(t.Context(), n); out != 2*n || err != nil {
					t.Errorf("%d gives %d, %v", n, out, err)
				}
			})
			synctest.Wait()
		}
		if diff := cmp.Diff([][]int{{0}, {1}}, d.calls); diff != "" {
			t.Errorf("under way (-want +got):\n%s", diff)
		}
		close(d.goOn)
		all.Wait()
		d.close()
		if diff := cmp.Diff([]int{2, 3, 4}, d.calls[2]); diff != "" || len(d.calls) != 3 {
			t.Errorf("merged %v", d.calls)
		}
	})
}

// A fault of one call is its own.
func TestMergeFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubler()
		var all sync.WaitGroup
		for _, n := range []int{1, 2, 12, 13, 14} {
			all.Go(func() {
				if _, err := d.do(t.Context(), n); errors.Is(err, errUnlucky) != (n == 13) {
					t.Errorf("%d gives %v", n, err)
				}
			})
			synctest.Wait()
		}
		close(d.goOn)
		all.Wait()
		d.close()
	})
}

// A caller that goes does not end the call of others, and the last one does.
func TestMergeCallersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubler()
		ends := map[int]context.CancelFunc{}
		results := make(chan error, 9)
		for n := range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			ends[n] = cancel
			go func() { _, err := d.do(ctx, n); results <- err }()
			synctest.Wait()
		}
		ends[2]() // waits
		synctest.Wait()
		ends[0]() // under way alone: 3 and 4 take its place
		synctest.Wait()
		if diff := cmp.Diff([][]int{{0}, {1}, {3, 4}}, d.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		ends[3]()
		synctest.Wait()
		close(d.goOn)
		synctest.Wait()
		failed := 0
		for range 5 {
			if <-results != nil {
				failed++
			}
		}
		if failed != 3 {
			t.Errorf("%d calls failed, want those of the 3 callers that left", failed)
		}
		d.close()
	})
}

// Once the store is closed no call begins, even one whose caller has gone before it could.
func TestMergeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubler()
		results := make(chan error, 5)
		for n := range 5 {
			go func() { _, err := d.do(t.Context(), n); results <- err }()
			synctest.Wait()
		}
		d.close()
		for range 5 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Errorf("a call under way or behind it: %v", err)
			}
		}
		if _, err := d.do(t.Context(), 5); !errors.Is(err, context.Canceled) {
			t.Errorf("a call of a closed store: %v", err)
		}
		if diff := cmp.Diff([][]int{{0}, {1}}, d.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// Calls that are too many or too large for one are several.
func TestMergeBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubler()
		var all sync.WaitGroup
		for n := range mergedCalls + mergedMost + 1 {
			all.Go(func() {
				if _, err := d.do(t.Context(), 100+n); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		close(d.goOn)
		all.Wait()
		d.close()
		for _, c := range d.calls {
			if len(c) > mergedMost {
				t.Errorf("a call of %d", len(c))
			}
		}
	})
}

// Puts of many scopes at a time have each its own outcome.
func TestMergedPuts(t *testing.T) {
	s, err := Open(t.Context(), qdranttest.Start(t).URL(t), Model{Embedder: "e", Dimension: 4, Analyzer: "a"},
		&Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			scope := memory.Scope{App: "app", User: fmt.Sprint("user", n%4)}
			// Ten puts of each scope write the same memory: one of them makes it.
			w := memory.Write{Memory: memory.Memory{ID: "m", Scope: scope, Kind: memory.KindFact,
				Fact: fmt.Sprint("fact ", n), Timestamp: time.Unix(1_700_000_000, 0)}}
			own := w
			own.Memory.ID = fmt.Sprint("own", n)
			out, err := s.Put(t.Context(), scope, []memory.Write{w, own})
			if err != nil {
				t.Error(err)
				return
			}
			if lost := out[0].Err != nil; lost && !errors.Is(out[0].Err, memory.ErrAborted) ||
				lost == out[0].Changed || !out[1].Changed || out[1].Err != nil {
				t.Errorf("put %d: %+v", n, out)
			}
			if !out[0].Changed && out[0].Memory.Fact == w.Memory.Fact {
				t.Errorf("put %d lost to itself", n)
			}
		})
	}
	all.Wait()
	for u := range 4 {
		scope := memory.Scope{App: "app", User: fmt.Sprint("user", u)}
		page, err := s.List(t.Context(), scope, memory.List{})
		if err != nil || len(page.Memories) != 11 {
			t.Errorf("user %d has %d memories, %v; want 11", u, len(page.Memories), err)
		}
	}
}
