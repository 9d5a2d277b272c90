package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// Two memoryd on one Redis hold each user to one limit together, exactly, also when one
// of them starts again. The rate gives the next token after an hour.
func TestQuotasTogether(t *testing.T) {
	t.Parallel()
	args := []string{"-user-rate", "0.001", "-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
	two := []*process{start(t, t.TempDir(), args...), start(t, t.TempDir(), args...)}
	// An answer of Redis later than a second has a process count by itself for a while.
	alone := func() (n int) {
		for _, p := range two {
			n += strings.Count(p.logs.String(), "counts for quotas by itself")
		}
		return n
	}
	const users = 5
	ask := func(p *process, user int) (passed bool) {
		res, err := http.Get(fmt.Sprintf("%s/v1/apps/shop/users/u%d/sessions", p.url, user))
		if err != nil {
			t.Error(err)
			return false
		}
		res.Body.Close()
		if res.StatusCode != 200 && (res.StatusCode != 429 || len(res.Header.Get("Retry-After")) < 3) {
			t.Errorf("%s, Retry-After %s", res.Status, res.Header.Get("Retry-After"))
		}
		return res.StatusCode == 200
	}
	first := 0              // of the users
	for _, p := range two { // the first requests connect to Redis
		ask(p, -1)
	}
	for ; ; first += users {
		before := alone()
		var passed [users]atomic.Int64
		var all sync.WaitGroup
		for i := range 8 * users {
			all.Go(func() {
				if ask(two[i%2], first+i%users) {
					passed[i%users].Add(1)
				}
			})
		}
		all.Wait()
		if alone() > before && first < 5*users {
			time.Sleep(3 * time.Second) // until they count together again
			continue
		}
		for user := range passed {
			if n := passed[user].Load(); n != 1 {
				t.Errorf("%d requests of user %d passed, want 1", n, user)
			}
		}
		break
	}
	two[0].terminate(t)
	again := start(t, t.TempDir(), args...)
	ask(again, -1)
	if ask(again, first) {
		t.Error("a request passed after the restart")
	}
}

// A limit out of its bounds is refused at start, by name.
func TestBadQuotas(t *testing.T) {
	for _, flag := range []string{"-key-rate=-1", "-app-rate=NaN", "-user-rate=0.0001", "-user-rate=+Inf", "-app-rate=10001",
		"-key-requests=-1", "-app-requests=1000001", "-user-requests=1.5", "-user-memories=-1", "-app-model-calls=-1", "-app-model-tokens=-1", "-user-model-calls=-1", "-user-model-tokens=-1", "-user-bytes=-1",
		"-user-sessions=-1"} {
		name, _, _ := strings.Cut(flag, "=")
		runFails(t, name, 2, flag, "-data", t.TempDir(), "-listen", "127.0.0.1:0")
	}
}

// A user's sessions and memories stay within their limits, also after a restart.
func TestQuotasOfAUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"-user-memories", "2", "-user-bytes", "2000", "-user-sessions", "1"}
	p := start(t, dir, args...)
	const scope = "/v1/apps/shop/users/ann"
	post := func(want int, path, body, flag string) {
		t.Helper()
		res, err := http.Post(p.url+scope+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want || !strings.Contains(string(answer), flag) ||
			want == 429 && res.Header.Get("Retry-After") != "60" {
			t.Errorf("POST %s: %s %s, Retry-After %s, %v", path, res.Status, answer, res.Header.Get("Retry-After"), err)
		}
	}
	post(201, "/sessions", `{"id": "a"}`, "")
	post(201, "/memories", `{"fact": "The cat is called Tom."}`, "")
	post(429, "/memories", `{"fact": "`+strings.Repeat("x", 1500)+`"}`, "-user-bytes")
	post(201, "/memories", `{"fact": "The dog is called Kim."}`, "")
	for range 2 {
		post(429, "/sessions", `{"id": "b"}`, "-user-sessions")
		post(429, "/memories", `{"fact": "The fish is called Lea."}`, "-user-memories")
		post(429, "/memories/ingest", `{"sessionId": "a", "events": [{"content": "hello"}]}`, "-user-memories")
		post(200, "/memories/search", `{"query": "cat"}`, "Tom")
		p.terminate(t)
		p = start(t, dir, args...)
	}
}
