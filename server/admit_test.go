package server_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// held is a memory store whose lists of one app wait until they are let go.
type held struct {
	memory.Store
	app   string
	begun chan struct{}
	let   chan struct{}
}

func (h *held) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	if scope.App == h.app {
		h.begun <- struct{}{}
		select {
		case <-h.let:
		case <-ctx.Done():
			return memory.Page{}, ctx.Err()
		}
	}
	return h.Store.List(ctx, scope, list)
}

// TestRequestsInProgress checks that a user and an app with many requests in progress
// are refused more of them in words, and that another user of the app, another app and
// the health of memoryd are not.
func TestRequestsInProgress(t *testing.T) {
	h := &held{app: "app", begun: make(chan struct{}, 10), let: make(chan struct{})}
	a := start(t, func(s *setup) {
		s.memories = func(m memory.Store) memory.Store { h.Store = m; return h }
		// More compute at a time than are in progress: those that are held compute.
		s.server.Requests, s.server.Processors = 8, 8
	})
	var requests sync.WaitGroup
	begin := func(scope string) {
		requests.Go(func() { a.want(200, "GET", scope+"/memories", nil) })
		<-h.begun
	}
	refused := func(scope, words string) {
		r := a.do("GET", scope+"/memories", nil)
		message, err := checkError(r)
		if err != nil || r.status != http.StatusTooManyRequests || !strings.Contains(message, "-requests") ||
			!strings.Contains(message, words) {
			t.Errorf("a request too many: %d %q, %v", r.status, message, err)
		}
	}
	begin(scope)
	begin(scope)
	refused(scope, "this user has 2 requests in progress and this app 2, and 6 of 8 places are free")
	begin("/v1/apps/app/users/bob")
	begin("/v1/apps/app/users/cleo")
	refused("/v1/apps/app/users/dan", "this user has 0 requests in progress and this app 4")
	r := a.do("POST", scope+"/memories/ingest", talk(t))
	if r.status != http.StatusTooManyRequests {
		t.Errorf("a write too many: %d", r.status)
	}
	a.want(200, "GET", "/v1/apps/other/users/ann/memories", nil)
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if r := a.do("GET", path, nil); r.status != 200 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	close(h.let)
	requests.Wait()
	a.want(200, "GET", scope+"/memories", nil)
}

// TestProcessorsAreShared checks that an app whose requests hold all processors delays
// another by no more than its request in progress.
func TestProcessorsAreShared(t *testing.T) {
	h := &held{app: "app", begun: make(chan struct{}, 10), let: make(chan struct{})}
	a := start(t, func(s *setup) {
		s.memories = func(m memory.Store) memory.Store { h.Store = m; return h }
		s.server.Processors = 1 // two requests compute
	})
	var requests, other sync.WaitGroup
	for range 6 {
		requests.Go(func() { a.want(200, "GET", scope+"/memories", nil) })
	}
	<-h.begun
	<-h.begun
	other.Go(func() { a.want(200, "GET", "/v1/apps/other/users/ann/memories", nil) })
	for a.server.Turns().Waiting < 5 { // four of the flood, and the other
		runtime.Gosched()
	}
	if len(h.begun) != 0 {
		t.Error("a third request computes")
	}
	h.let <- struct{}{}
	other.Wait()
	close(h.let)
	requests.Wait()
}
