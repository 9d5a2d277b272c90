package qdrantstore

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// A claim outlives a caller that leaves while its write is under way, as that goes on with the writes that
// it was merged with. An id has one memory in the app.
func TestClaimOfAWriteLeft(t *testing.T) {
	var late atomic.Int64
	q := qdranttest.StandIn(t, "1.17.0")
	s, err := Open(t.Context(), "qdrant://"+q.Addr, oldModel, &Options{Exact: true, Now: func() time.Time {
		return time.Now().Add(time.Duration(late.Load()))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Two writes hold both places of the merger, so that the next two wait, and become one.
	write, held, hold, free := s.writes.call, make(chan int, 10), make(chan bool), make(chan bool)
	s.writes.call = func(ctx context.Context, in []writeCall) ([]writeMark, error) {
		switch {
		case in[0].scope.User == "first":
			held <- len(in)
			<-hold
		case slices.ContainsFunc(in, func(c writeCall) bool { return c.scope.User == "ann" }):
			held <- len(in)
			<-free
		}
		return write(ctx, in)
	}
	put := func(ctx context.Context, user, id string, unique bool) chan error {
		scope, done := memory.Scope{App: "app", User: user}, make(chan error, 1)
		go func() {
			out, err := s.Put(ctx, scope, []memory.Write{{UniqueInApp: unique, Memory: memory.Memory{ID: id, Scope: scope,
				Kind: memory.KindFact, Fact: "tea", Timestamp: time.Unix(1_700_000_000, 0)}}})
			if err == nil {
				err = out[0].Err
			}
			done <- err
		}()
		return done
	}
	waiting := func(n int) {
		for {
			s.writes.mu.Lock()
			now := len(s.writes.waiting)
			s.writes.mu.Unlock()
			if now == n {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	others := []chan error{put(t.Context(), "first", "x", false)}
	<-held
	others = append(others, put(t.Context(), "first", "y", false))
	<-held
	left, leave := context.WithCancel(t.Context())
	ann := put(left, "ann", "m", true)
	waiting(1)
	others = append(others, put(t.Context(), "bob", "z", false))
	waiting(2)
	close(hold)
	if n := <-held; n != 2 {
		t.Errorf("a merged write of %d", n)
	}
	leave()
	if err := <-ann; !errors.Is(err, context.Canceled) {
		t.Errorf("the write that was left: %v", err)
	}
	if err := <-put(t.Context(), "cleo", "m", true); !errors.Is(err, memory.ErrAborted) {
		t.Errorf("another write of the id meanwhile: %v", err)
	}
	close(free)
	for _, done := range others {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	late.Store(int64(s.claimTime()))
	if err := <-put(t.Context(), "cleo", "m", true); !errors.Is(err, memory.ErrExists) {
		t.Errorf("another write of the id later: %v", err)
	}
	if found, err := s.FindApp(t.Context(), "app", "m"); err != nil || len(found) != 1 || found[0].Scope.User != "ann" {
		t.Errorf("found %v, %v", found, err)
	}
}
