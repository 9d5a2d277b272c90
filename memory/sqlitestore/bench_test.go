package sqlitestore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
)

// BenchmarkMove moves memories to vectors of another length by an indexer that
// takes no time. It reports how many it moves in a second, and how long one
// write waits at the end.
func BenchmarkMove(b *testing.B) {
	const n = 20_000
	scope := memory.Scope{App: "app", User: "ann"}
	from := memory.Model{Embedder: "from", Dimension: 256, Analyzer: "words"}
	to := memory.Model{Embedder: "to", Dimension: 768, Analyzer: "words"}
	index := func(dimension int) ([]float32, memory.Terms) {
		terms := memory.Terms{}
		for i := range 14 {
			terms[fmt.Sprint("word", i)] = 1
		}
		return make([]float32, dimension), terms
	}
	for b.Loop() {
		b.StopTimer()
		db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
		if err != nil {
			b.Fatal(err)
		}
		s, err := sqlitestore.New(db, from, nil)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < n; i += 200 {
			var writes []memory.Write
			for j := range 200 {
				w := memory.Write{Memory: memory.Memory{ID: fmt.Sprint("m", i+j), Scope: scope, Kind: memory.KindTurn,
					Fact: strings.Repeat("some words ", 8), Timestamp: time.Unix(1_600_000_000, 0)}}
				w.Vector, w.Terms = index(from.Dimension)
				writes = append(writes, w)
			}
			if _, err := s.Put(b.Context(), scope, writes); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		begin := time.Now()
		m, err := s.Move(b.Context(), to)
		if err != nil {
			b.Fatal(err)
		}
		first := time.Since(begin)
		instantly := func(_ context.Context, records []memory.Record) error {
			for i := range records {
				records[i].Vector, records[i].Terms = index(to.Dimension)
			}
			return nil
		}
		for taken := 1; taken > 0; {
			if taken, err = m.Step(b.Context(), instantly); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(n/time.Since(begin).Seconds(), "memories/s")
		last := time.Now()
		if err := m.Finish(b.Context(), instantly); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(first.Microseconds())/1000, "ms-begin")
		b.ReportMetric(float64(time.Since(last).Microseconds())/1000, "ms-finish")
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
