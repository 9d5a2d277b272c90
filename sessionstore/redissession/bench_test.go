package redissession_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// times are how long calls took.
type times []time.Duration

func (t times) at(p float64) float64 {
	slices.Sort(t)
	return float64(t[int(p*float64(len(t)-1))].Nanoseconds())
}

// trips counts the round trips of a client: the packets it sends.
type trips struct{ n atomic.Int64 }

func (t *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { t.n.Add(1); return next(ctx, cmd) }
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { t.n.Add(1); return next(ctx, cmds) }
}

// said is an event with a kilobyte of text that sets one key of state.
func said(b *testing.B, id string) sessionstore.Event {
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": %q, "author": "user", "timestamp": %d, "content": %q,`+
		` "actions": {"stateDelta": {"k": 1}}}`,
		id, time.Now().Unix(), strings.Repeat("some words ", 93)))
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkAppend appends events one by one through the store, and the same
// bytes by a bare pipeline of XADD and HSET, in turns, and reports the ratio of
// the medians, of the 99th percentiles, and the round trips an append takes.
func BenchmarkAppend(b *testing.B) {
	r := redistest.Start(b)
	s := open(b, r.URL(), nil)
	defer s.Close()
	count := &trips{}
	redissession.Hook(s, count)
	c := r.Client(b)
	for _, delta := range []string{"", "app:"} {
		b.Run("delta="+delta+"k", func(b *testing.B) {
			k := key("ann", "bench"+delta)
			if err := add(b, s, k); err != nil {
				b.Fatal(err)
			}
			var ours, bare times
			count.n.Store(0)
			for i := 0; b.Loop(); i++ {
				e := said(b, fmt.Sprint("e", i))
				if delta != "" {
					var err error
					if e, err = e.WithStateDelta("app:k", []byte("1")); err != nil {
						b.Fatal(err)
					}
				}
				begin := time.Now()
				if _, err := s.Append(b.Context(), k, []sessionstore.Event{e}, sessionstore.Append{}); err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(begin))
				begin = time.Now()
				pipe := c.Pipeline()
				pipe.XAdd(b.Context(), &redis.XAddArgs{Stream: "bare", Values: []any{"d", []byte(e.Doc)}})
				pipe.HSet(b.Context(), "bare-state", "k", "1")
				if delta != "" {
					pipe.HSet(b.Context(), "bare-app", "k", "1")
				}
				if _, err := pipe.Exec(b.Context()); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(begin))
			}
			b.ReportMetric(ours.at(0.5)/1000, "p50-µs")
			b.ReportMetric(ours.at(0.5)/bare.at(0.5), "p50/bare")
			b.ReportMetric(ours.at(0.99)/bare.at(0.99), "p99/bare")
			b.ReportMetric(float64(count.n.Load())/float64(len(ours)), "calls/append")
		})
	}
}

// BenchmarkSessions measures a page of the list, the last 20 events and an
// append among 10 and among 1,000 sessions of 100 events each.
func BenchmarkSessions(b *testing.B) {
	for _, n := range []int{10, 1000} {
		r := redistest.Start(b)
		s := open(b, r.URL(), nil)
		scope := memory.Scope{App: "app", User: "ann"}
		for i := range n {
			events := make([]sessionstore.Event, 100)
			for j := range events {
				events[j] = said(b, fmt.Sprint("e", j))
			}
			if err := add(b, s, key("ann", fmt.Sprint("s", i)), events...); err != nil {
				b.Fatal(err)
			}
		}
		i := 0
		for what, call := range map[string]func() error{
			"list": func() error { _, err := s.List(b.Context(), scope, sessionstore.List{PageSize: 10}); return err },
			"last20": func() error {
				_, err := s.Get(b.Context(), key("ann", fmt.Sprint("s", i%n)), sessionstore.Get{NumRecent: 20})
				return err
			},
			"append": func() error {
				return add(b, s, key("ann", fmt.Sprint("s", i%n)),
					said(b, fmt.Sprint("more", i)))
			},
		} {
			b.Run(fmt.Sprintf("%s/sessions=%d", what, n), func(b *testing.B) {
				for b.Loop() {
					i++
					if err := call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		s.Close()
	}
}

// BenchmarkRequest appends one event with a request for memories, as an ingestion does, for
// one of 1,000 users, and reports what Redis computes for it.
func BenchmarkRequest(b *testing.B) {
	r := redistest.Start(b)
	s := open(b, r.URL(), nil)
	defer s.Close()
	c := r.Client(b)
	if err := c.ConfigResetStat(b.Context()).Err(); err != nil {
		b.Fatal(err)
	}
	n := 0
	for ; b.Loop(); n++ {
		k := key(fmt.Sprint("u", n%1000), "s")
		_, err := s.Append(b.Context(), k, []sessionstore.Event{said(b, fmt.Sprint("e", n))}, sessionstore.Append{Create: true,
			Request: &sessionstore.Request{ID: sessionstore.OperationID(k.Scope, fmt.Sprint(n))}})
		if err != nil {
			b.Fatal(err)
		}
	}
	stats, err := c.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(stats) {
		var calls, micros float64
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%f,usec=%f", &calls, &micros); err == nil {
			b.ReportMetric(micros/float64(n), "redis-µs/op")
		}
	}
}
