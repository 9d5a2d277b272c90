package redissession_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// While other calls hold all connections, leases are renewed, and Redis is watched.
func TestConnectionsExhausted(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, log := watched(t, r.URL()+"?pool_size=1")
	k := key("ann", "s")
	must(t, request(t, s, k, "e1", "op"))
	works, err := s.Claim(t.Context(), "me", time.Minute, 1)
	if err != nil || len(works) != 1 {
		t.Fatalf("claimed %+v, %v", works, err)
	}
	conn := redissession.Client(s).Conn()
	defer conn.Close()
	must(t, conn.Ping(t.Context()).Err()) // holds the only connection
	within, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Get(within, k, sessionstore.Get{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a call got a connection: %v", err)
	}
	must(t, s.Renew(t.Context(), k.Scope, "me", time.Minute))
	must(t, s.Check(t.Context()))
	r.Client(t).FlushAll(t.Context())
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
}

// A Redis that does not answer in time is logged once, and so is that it answers
// again.
func TestWatchHangs(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.URL(), &redissession.Options{Timeout: 2 * time.Second})
	defer s.Close()
	log := &lines{}
	r.Signal(t, "STOP")
	for range 2 {
		s.Look(t.Context(), log.logger())
	}
	if n := log.count("Redis cannot be watched"); n != 1 {
		t.Errorf("the log says %d times that Redis hangs:\n%s", n, log.buf.String())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.Look(ended, log.logger()) // says nothing of Redis
	r.Signal(t, "CONT")
	waitFor(t, func() bool {
		s.Look(t.Context(), log.logger())
		return log.count("Redis answers again") == 1
	})
}

// during calls a function whenever a store is about to read a key.
type during struct {
	key  string
	call func(context.Context)
}

func (during) DialHook(next redis.DialHook) redis.DialHook { return next }

func (during) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (d during) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) == 2 && args[0] == "get" && args[1] == d.key {
			d.call(ctx)
		}
		return next(ctx, cmd)
	}
}

// Sessions that are bound to another memory store make the store not ready, without
// a moment in which it is, until they are bound to the right one again.
func TestBoundElsewhere(t *testing.T) {
	t.Parallel()
	const bound = "memoryd:{work}:bound"
	r := redistest.Start(t)
	s, log := watched(t, r.URL())
	if _, err := s.Bind(t.Context(), "A"); err != nil {
		t.Fatal(err)
	}
	red := false // after the next look it is
	redissession.Hook(s, during{bound, func(ctx context.Context) {
		if err := s.Check(ctx); red != (err != nil && strings.Contains(err.Error(), "another memory store")) {
			t.Errorf("within a look: %v, want it red: %t", err, red)
		}
	}})
	for _, to := range []string{"A", "B", "B", "B", "A", "A"} {
		must(t, r.Client(t).Set(t.Context(), bound, to, 0).Err())
		s.Look(t.Context(), log.logger())
		red = to == "B"
		if err := s.Check(t.Context()); red != (err != nil) {
			t.Errorf("bound to %s: %v", to, err)
		}
	}
	if n := log.count("another memory store"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log.buf.String())
	}
}

// Where nothing is written a look costs no command for each of the partitions. What
// others write, or empty, is looked at.
func TestIdleLook(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, log := watched(t, r.URL())
	other, _ := watched(t, r.URL())
	commands := func() int {
		t.Helper()
		info, err := r.Client(t).Info(t.Context(), "commandstats").Result()
		must(t, err)
		_, after, _ := strings.Cut(info, "cmdstat_hmget:calls=")
		n := 0
		_, err = fmt.Sscanf(after, "%d", &n)
		must(t, err)
		return n
	}
	k := key("ann", "s")
	must(t, request(t, other, k, "e1", "op"))
	for range 2 { // the first learns what is there, and the second compares
		s.Look(t.Context(), log.logger())
	}
	before := commands()
	for range 3 {
		s.Look(t.Context(), log.logger())
	}
	if n := commands() - before; n != 0 {
		t.Errorf("three looks at an idle Redis make %d commands", n)
	}
	must(t, request(t, other, k, "e2", "op2"))
	s.Look(t.Context(), log.logger())
	if n := commands() - before; n < 1024 {
		t.Errorf("after a write a look makes %d commands", n)
	}
	r.Flush(t)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
}
