package redissession_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore"
)

// BenchmarkClusterAppend has 16 clients append an event each to 100 sessions of as many
// users on a cluster of three, in turns with bare clients that send the same bytes:
// each XADD and HSET in a pipeline of its own, and all of a round in one pipeline for
// each node, which is the most that sharing round trips could gain.
func BenchmarkClusterAppend(b *testing.B) {
	const clients, sessions, each = 16, 100, 25 // appends of a client in a round
	cluster := redistest.StartCluster(b)
	s := open(b, cluster.URL(), nil)
	defer s.Close()
	var addrs []string
	for _, m := range cluster.Masters {
		addrs = append(addrs, m.Addr)
	}
	bare := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, MaxRetries: -1})
	defer bare.Close()
	for i := range sessions {
		must(b, add(b, s, key(fmt.Sprint("user", i), "s")))
	}
	var next atomic.Int64
	round := func(one func(ctx context.Context, n int64, e sessionstore.Event) error) (took times) {
		var group sync.WaitGroup
		all := make([]times, clients)
		for c := range clients {
			group.Go(func() {
				for range each {
					n := next.Add(1)
					e := said(b, fmt.Sprint("e", n))
					begin := time.Now()
					if err := one(b.Context(), n, e); err != nil {
						b.Error(err)
					}
					all[c] = append(all[c], time.Since(begin))
				}
			})
		}
		group.Wait()
		return slices.Concat(all...)
	}
	send := func(ctx context.Context, pipe redis.Pipeliner, n int64, e sessionstore.Event) {
		slot := fmt.Sprintf("bare{%d}:", n%sessions)
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: slot + "events", Values: []any{"d", []byte(e.Doc)}})
		pipe.HSet(ctx, slot+"state", "k", "1")
	}
	var ours, alone times
	var oursTook, aloneTook, togetherTook time.Duration
	for b.Loop() {
		begin := time.Now()
		ours = append(ours, round(func(ctx context.Context, n int64, e sessionstore.Event) error {
			_, err := s.Append(ctx, key(fmt.Sprint("user", n%sessions), "s"), []sessionstore.Event{e},
				sessionstore.Append{})
			return err
		})...)
		oursTook += time.Since(begin)

		begin = time.Now()
		alone = append(alone, round(func(ctx context.Context, n int64, e sessionstore.Event) error {
			pipe := bare.Pipeline()
			send(ctx, pipe, n, e)
			_, err := pipe.Exec(ctx)
			return err
		})...)
		aloneTook += time.Since(begin)

		begin = time.Now()
		for range each {
			pipe := bare.Pipeline()
			for range clients {
				n := next.Add(1)
				send(b.Context(), pipe, n, said(b, fmt.Sprint("e", n)))
			}
			if _, err := pipe.Exec(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		togetherTook += time.Since(begin)
	}
	n := float64(len(ours))
	b.ReportMetric(n/oursTook.Seconds(), "appends/s")
	b.ReportMetric(n/aloneTook.Seconds(), "bare/s")
	b.ReportMetric(n/togetherTook.Seconds(), "bare-together/s")
	b.ReportMetric(ours.at(0.5)/1000, "p50-µs")
	b.ReportMetric(ours.at(0.5)/alone.at(0.5), "p50/bare")
	b.ReportMetric(ours.at(0.99)/alone.at(0.99), "p99/bare")
}
