package sqlitestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
)

// BenchmarkSweep sweeps expired memories of 100 users, SWEEP_MEMORIES of them or 100,000,
// while one user searches 10,000 memories. It reports the 95th percentile of the searches
// without and with the sweep beside them, in milliseconds, their ratio, how many memories a
// second go beside searches (the first half) and without any (the rest, with the room given
// back), and the size of the file before and after, in MB.
func BenchmarkSweep(b *testing.B) {
	n := 100_000
	if s := os.Getenv("SWEEP_MEMORIES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "memoryd.db")
		db, err := sqlitedb.Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		s, err := sqlitestore.New(db, memory.Model{Embedder: "e", Dimension: 256, Analyzer: "words"}, nil)
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		fillSweep(b, s, "reader", 10_000, time.Time{})
		for user := range 100 {
			fillSweep(b, s, fmt.Sprint("u", user), n/100, now.Add(-time.Minute))
		}
		full := fileSize(b, db, path)
		alone := searchTimes(b, s, 2000, nil)
		b.StartTimer()
		beside, loaded := 0.0, 0.0
		done := make(chan struct{})
		go func() {
			defer close(done)
			loaded = sweepRate(b, s, now, n/2)
		}()
		beside = searchTimes(b, s, 0, done)
		time.Sleep(1100 * time.Millisecond) // the store counts as used for a second
		idle := sweepRate(b, s, now, n)
		b.StopTimer()
		b.ReportMetric(alone, "p95-alone-ms")
		b.ReportMetric(beside, "p95-swept-ms")
		b.ReportMetric(beside/alone, "p95-ratio")
		b.ReportMetric(loaded, "memories/s-beside")
		b.ReportMetric(idle, "memories/s-idle")
		b.ReportMetric(full, "MB-full")
		b.ReportMetric(fileSize(b, db, path), "MB-swept")
		b.StartTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// sweepRate sweeps up to n memories, and then gives the room back if none are left. It
// returns how many memories went in a second of all that.
func sweepRate(b *testing.B, s *sqlitestore.Store, before time.Time, n int) float64 {
	b.Helper()
	began, swept := time.Now(), 0
	for more := true; more && swept < n; {
		out, left, err := s.Sweep(b.Context(), before, 1000)
		if err != nil {
			b.Error(err)
		}
		swept, more = swept+out.Memories, left
	}
	return float64(swept) / time.Since(began).Seconds()
}

// fillSweep gives a user memories that expire at a time.
func fillSweep(b *testing.B, s *sqlitestore.Store, user string, n int, expires time.Time) {
	b.Helper()
	scope := memory.Scope{App: "app", User: user}
	for from := 0; from < n; from += 500 {
		var writes []memory.Write
		for i := from; i < min(from+500, n); i++ {
			terms := memory.Terms{}
			for j := range 14 {
				terms[fmt.Sprint("word", (i*7+j*13)%500)] = 1
			}
			v := make([]float32, 256)
			v[i%256] = 1
			writes = append(writes, memory.Write{Terms: terms, Vector: v, Memory: memory.Memory{
				ID: fmt.Sprintf("%s-%08d", user, i), Scope: scope, Kind: memory.KindFact, ExpireTime: expires,
				Fact: fmt.Sprintf("%s says a sentence of usual length about number %d.", user, i), Timestamp: time.Now()}})
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
}

// searchTimes searches n times, or until done, and returns the 95th percentile in
// milliseconds.
func searchTimes(b *testing.B, s *sqlitestore.Store, n int, done <-chan struct{}) float64 {
	b.Helper()
	v := make([]float32, 256)
	v[7] = 1
	var took []time.Duration
	for i := 0; n == 0 || i < n; i++ {
		select {
		case <-done:
			n = i
		default:
		}
		began := time.Now()
		if _, err := s.Search(b.Context(), memory.Scope{App: "app", User: "reader"}, memory.Query{
			Terms: []string{fmt.Sprint("word", i%500), fmt.Sprint("word", i*3%500)}, Vector: v, Limit: 50}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return float64(took[len(took)*95/100].Microseconds()) / 1000
}

func fileSize(b *testing.B, db *sqlitedb.DB, path string) float64 {
	b.Helper()
	if err := db.Scrub(b.Context()); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}
