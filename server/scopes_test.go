package server_test

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// liveHeap is what the process holds, in bytes.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one has made ready to be freed
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// visit makes the calls of a user who has nothing: a search, a preload, an
// operation that is unknown, read and watched, and a list.
func (a *api) visit(user string) {
	a.t.Helper()
	scope := "/v1/apps/app/users/" + user
	operation := "/v1/operations/" + sessionstore.OperationID(memory.Scope{App: "app", User: user}, "unknown")
	for _, c := range []struct {
		method, path, body, accept string
		want                       int
	}{
		{"POST", scope + "/memories/search", `{"query": "Where does Ann live?"}`, "", 200},
		{"POST", scope + "/tools/preload_memory", `{"args": {"query": "Where does Ann live?"}}`, "", 200},
		{"GET", operation, "", "", 404},
		{"GET", operation, "", "text/event-stream", 404},
		{"GET", scope + "/memories", "", "", 200},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Host = "localhost"
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		a.server.ServeHTTP(w, r)
		if w.Code != c.want {
			a.t.Fatalf("%s %s: %d, want %d: %s", c.method, c.path, w.Code, c.want, w.Body)
		}
	}
}

// TestScopesLeaveNothing checks that users without memories leave nothing in
// memory, whatever they ask for and however many there are.
func TestScopesLeaveNothing(t *testing.T) {
	a := start(t)
	const users, bytesEach = 5000, 100 // an index without memories alone was 2,900 bytes
	for i := range 500 {               // what is made once
		a.visit(fmt.Sprint("first", i))
	}
	before := liveHeap()
	for i := range users {
		a.visit(fmt.Sprint("user", i))
	}
	if grown := liveHeap() - before; grown > users*bytesEach {
		t.Errorf("%d users left %d bytes, may leave %d", users, grown, users*bytesEach)
	}
	runtime.KeepAlive(a)
}

// BenchmarkScopes measures what users without memories leave, in bytes each, in
// rounds of 20,000 users: the figure of a later round is not higher than noise.
func BenchmarkScopes(b *testing.B) {
	a := start(b)
	const users = 20_000
	round := 0
	for b.Loop() {
		before := liveHeap()
		for i := range users {
			a.with(b).visit(fmt.Sprint("user", round, "-", i))
		}
		b.ReportMetric(float64(liveHeap()-before)/users, "B-left/user")
		round++
	}
}
