package ingest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// BenchmarkClients has many clients post one turn after another, each for a user of
// its own, while memories are made: with events and turns in one step, as memoryd
// does on one file, and in two. It reports the turns acknowledged in a second, and
// how many of them could not be found then.
func BenchmarkClients(b *testing.B) {
	for _, clients := range []int{1, 100, 500} {
		b.Run(fmt.Sprint(clients, "/together"), func(b *testing.B) { benchmarkClients(b, clients, true) })
		b.Run(fmt.Sprint(clients, "/apart"), func(b *testing.B) { benchmarkClients(b, clients, false) })
	}
}

func benchmarkClients(b *testing.B, clients int, join bool) {
	db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		b.Fatal(err)
	}
	memories, err := sqlitestore.New(db, model(), nil)
	if err != nil {
		b.Fatal(err)
	}
	opts := &ingest.Options{}
	if join {
		opts.Together = assembly.Together(sessions, memories)
	}
	s := ingest.New(sessions, memories, embed.Builtin{}, rules.New(), opts)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	defer running.Wait()
	defer cancel()
	// Events that are parsed in time, as the time of the parts before ingestion is
	// the same for both.
	events := make([]sessionstore.Event, b.N)
	for i := range events {
		events[i] = event(b, fmt.Sprint("e", i), i, fmt.Sprintf("My code word today is %d, and I like trams.", i))
	}
	var next, late atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	begin := time.Now()
	for c := range clients {
		all.Go(func() {
			key := sessionstore.Key{Scope: memory.Scope{App: "app", User: fmt.Sprint("user", c)}, ID: "s"}
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				op, err := s.Ingest(b.Context(), key, events[i:i+1], ingest.RequestOptions{})
				if err != nil {
					b.Error(err)
				} else if !op.Findable {
					late.Add(1)
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "turns/s")
	b.ReportMetric(100*float64(late.Load())/float64(b.N), "%-late")
}
