package redissession_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// beside measures a call of a store beside bare commands that move the same data, in
// turns, and reports the ratio of the medians, of the 99th percentiles, and the round
// trips of the call.
func beside(b *testing.B, s *redissession.Store, ours, bare func(i int) error) {
	count := &trips{}
	redissession.Hook(s, count)
	var took, took2 times
	timed := func(call func(int) error, i int) time.Duration {
		begin := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	timed(ours, 0)
	timed(bare, 0)
	count.n.Store(0)
	for i := 1; b.Loop(); i++ {
		took = append(took, timed(ours, i))
		took2 = append(took2, timed(bare, i))
	}
	b.ReportMetric(took.at(0.5)/1000, "p50-µs")
	b.ReportMetric(took.at(0.5)/took2.at(0.5), "p50/bare")
	b.ReportMetric(took.at(0.99)/took2.at(0.99), "p99/bare")
	b.ReportMetric(float64(count.n.Load())/float64(len(took)), "trips")
}

// bareEvent is what a plain program would decode of an event.
type bareEvent struct {
	ID, Author, InvocationID, UTCOffset string
	Timestamp                           time.Time
	Content                             struct {
		Role  string
		Parts []struct{ Text string }
	}
	Actions struct{ StateDelta map[string]json.RawMessage }
}

// prefix begins the names of the keys of a partition that has a session.
func prefix(b *testing.B, c *redis.Client, k sessionstore.Key) (prefix, ref string) {
	for p := range 1024 {
		live := fmt.Sprintf("memoryd:{%d}:live:%s/%s", p, k.App, k.User)
		if n, err := c.ZScore(b.Context(), live, k.ID).Result(); err == nil {
			return fmt.Sprintf("memoryd:{%d}:", p), strconv.FormatInt(int64(n), 10)
		}
	}
	b.Fatalf("%v is in no partition", k)
	return "", ""
}

// BenchmarkGet reads a session of 20 and of 500 events, with the states of session,
// user and app, and the same by bare commands in one pipeline, decoded by
// encoding/json.
func BenchmarkGet(b *testing.B) {
	r := redistest.Start(b)
	c := r.Client(b)
	for _, n := range []int{20, 500} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			s := open(b, r.URL(), nil)
			defer s.Close()
			k := key("ann", fmt.Sprint("get", n))
			for i := range n {
				e := event(b, fmt.Sprint("e", i), `, "app:k": 1`)
				if err := add(b, s, k, e); err != nil {
					b.Fatal(err)
				}
			}
			p, ref := prefix(b, c, k)
			beside(b, s, func(int) error {
				got, err := s.Get(b.Context(), k, sessionstore.Get{NumRecent: -1})
				if err == nil && len(got.Events) != n {
					err = fmt.Errorf("%d events", len(got.Events))
				}
				return err
			}, func(int) error { return bareGet(b.Context(), c, p, ref, n) })
		})
	}
}

func bareGet(ctx context.Context, c *redis.Client, p, ref string, n int) error {
	pipe := c.Pipeline()
	pipe.HMGet(ctx, p+"session:"+ref, "seq", "updated")
	pipe.HGetAll(ctx, p+"state:"+ref)
	pipe.HGetAll(ctx, p+"user:app/ann")
	pipe.HGetAll(ctx, "memoryd:{a:app}:state")
	events := pipe.XRange(ctx, p+"events:"+ref, "-", "+")
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	for _, m := range events.Val() {
		var e bareEvent
		if err := json.Unmarshal([]byte(m.Values["d"].(string)), &e); err != nil {
			return err
		}
	}
	if len(events.Val()) != n {
		return fmt.Errorf("%d events", len(events.Val()))
	}
	return nil
}

// BenchmarkList reads a page of 50 of a user's 1,000 sessions with their states, and
// the same by bare commands: the list, then a pipeline of the sessions.
func BenchmarkList(b *testing.B) {
	r := redistest.Start(b)
	c := r.Client(b)
	s := open(b, r.URL(), nil)
	defer s.Close()
	scope := memory.Scope{App: "app", User: "ann"}
	for i := range 1000 {
		must(b, add(b, s, key("ann", fmt.Sprint("s", i)), event(b, "e", `, "app:k": 1`)))
	}
	p, _ := prefix(b, c, key("ann", "s0"))
	bare := func(ctx context.Context, names []redis.Z, err error) error {
		if err != nil {
			return err
		}
		pipe := c.Pipeline()
		pipe.HGetAll(ctx, p+"user:app/ann")
		pipe.HGetAll(ctx, "memoryd:{a:app}:state")
		for _, n := range names {
			ref := strconv.FormatInt(int64(n.Score), 10)
			pipe.HMGet(ctx, p+"session:"+ref, "updated")
			pipe.HGetAll(ctx, p+"state:"+ref)
		}
		_, err = pipe.Exec(ctx)
		return err
	}
	b.Run("user", func(b *testing.B) {
		beside(b, s, func(int) error {
			_, err := s.List(b.Context(), scope, sessionstore.List{PageSize: 50})
			return err
		}, func(int) error {
			names, err := c.ZRevRangeWithScores(b.Context(), p+"live:app/ann", 0, 50).Result()
			return bare(b.Context(), names, err)
		})
	})
	b.Run("app", func(b *testing.B) {
		beside(b, s, func(int) error {
			_, err := s.ListApp(b.Context(), "app", sessionstore.List{PageSize: 50})
			return err
		}, func(int) error {
			names, err := c.ZRevRangeWithScores(b.Context(), "memoryd:{a:app}:sessions", 0, 50).Result()
			return bare(b.Context(), names, err)
		})
	})
}

// BenchmarkClaim looks for work where there is none, and claims 1 and 16 sessions of
// as many users, each with a request. The bare commands read the work index, then the
// partitions, then write and read what a claim does of the sessions, each in one
// pipeline.
func BenchmarkClaim(b *testing.B) {
	for _, n := range []int{0, 1, 16} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			r := redistest.Start(b)
			c := r.Client(b)
			s := open(b, r.URL(), nil)
			defer s.Close()
			type place struct{ prefix, ref, scope, op string }
			var at []place
			for i := range n {
				k := key(fmt.Sprint("user", i), "s")
				_, err := s.Append(b.Context(), k, []sessionstore.Event{said(b, "e")},
					sessionstore.Append{Create: true, Request: &sessionstore.Request{ID: fmt.Sprint("op", i)}})
				must(b, err)
				p, ref := prefix(b, c, k)
				at = append(at, place{p, ref, k.App + "/" + k.User, fmt.Sprint("op", i)})
			}
			if _, err := s.Claim(b.Context(), "me", time.Microsecond, 16); err != nil { // sweeps all partitions
				b.Fatal(err)
			}
			beside(b, s, func(int) error {
				got, err := s.Claim(b.Context(), "me", time.Microsecond, 16) // the lease is over at once
				if err == nil && len(got) != n {
					err = fmt.Errorf("%d sessions", len(got))
				}
				return err
			}, func(int) error {
				ctx := b.Context()
				if err := c.ZRange(ctx, "memoryd:{work}:partitions", 0, -1).Err(); err != nil || n == 0 {
					return err
				}
				look, claim := c.Pipeline(), c.Pipeline()
				for _, a := range at {
					look.ZRangeWithScores(ctx, a.prefix+"since", 0, 99)
					look.HGetAll(ctx, a.prefix+"leases")
					claim.HIncrBy(ctx, a.prefix+"session:"+a.ref, "bare", 1)
					claim.HSet(ctx, a.prefix+"bare", a.scope, "1 me")
					claim.HGetAll(ctx, a.prefix+"session:"+a.ref)
					claim.ZRange(ctx, a.prefix+"waiting:"+a.ref, 0, -1)
					claim.HIncrBy(ctx, a.prefix+"operation:"+a.op, "bare", 1)
					claim.HGet(ctx, a.prefix+"operation:"+a.op, "request")
					claim.Exists(ctx, a.prefix+"plan:"+a.ref)
				}
				if _, err := look.Exec(ctx); err != nil {
					return err
				}
				_, err := claim.Exec(ctx)
				return err
			})
		})
	}
}
