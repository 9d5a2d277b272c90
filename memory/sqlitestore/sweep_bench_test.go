package sqlitestore_test

import (
	"context"
	"errors"
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

// BenchmarkSweep sweeps expired memories of 100 users: SWEEP_MEMORIES of them or 100,000. For SWEEP_SECONDS, or 60, of
// sweeping they go while one user searches 10,000 memories all the time, the others without searches. Then the room is given
// back beside searches, as long again, and what is left of it without. It reports of both the 95th percentile of the
// searches without and with the sweep beside them, in milliseconds, and their ratio, how many memories a second go beside
// searches and without them, and the size of the file in MB: full, when the room began to be given back beside searches,
// after that, and at the end. 0 seconds leave out the searches.
func BenchmarkSweep(b *testing.B) {
	n := number("SWEEP_MEMORIES", 100_000)
	most := time.Duration(number("SWEEP_SECONDS", 60)) * time.Second
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
		b.StartTimer()
		const last = 1000 // whose sweep has the room given back
		if most > 0 {
			removal := sweepBeside(b, s, now, n-2*last, most)
			removal.report(b, "swept")
			b.ReportMetric(removal.rate, "memories/s-beside")
			b.ReportMetric(sweepRate(b, s, now, n-removal.swept-last), "memories/s-idle")
			b.ReportMetric(diskSize(b, path), "MB-unshrunk")
			sweepBeside(b, s, now, n, most).report(b, "shrunk")
			b.ReportMetric(diskSize(b, path), "MB-shrunk-beside")
			for more := true; more; { // give back what is left
				if _, more, err = s.Sweep(b.Context(), now, last); err != nil {
					b.Fatal(err)
				}
			}
		} else {
			b.ReportMetric(sweepRate(b, s, now, n+1), "memories/s-idle")
		}
		b.StopTimer()
		b.ReportMetric(full, "MB-full")
		b.ReportMetric(fileSize(b, db, path), "MB-swept")
		b.StartTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// number is the number in a variable of the environment.
func number(name string, fallback int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return fallback
	}
	return n
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

// sweptFor is for how long sweepBeside sweeps, and then does not, in turns.
const sweptFor = 5 * time.Second

// beside is how searches were without and with a sweep beside them.
type beside struct {
	alone, beside float64 // the 95th percentile of both, in milliseconds
	swept         int     // memories that went
	rate          float64 // how many in a second of the slots with the sweep
}

// report reports the searches beside some work.
func (s beside) report(b *testing.B, work string) {
	b.ReportMetric(s.alone, "p95-un"+work+"-ms")
	b.ReportMetric(s.beside, "p95-"+work+"-ms")
	b.ReportMetric(s.beside/s.alone, "p95-"+work+"-ratio")
}

// sweepBeside searches for one user all the time, and sweeps in every other slot of time. It sweeps up to n memories,
// for at most most, and gives the room back if none are left. The rate leaves out the time in which room was given
// back.
func sweepBeside(b *testing.B, s *sqlitestore.Store, before time.Time, n int, most time.Duration) beside {
	b.Helper()
	began := time.Now()
	slot := func(at time.Time) int { return int(at.Sub(began) / sweptFor) }
	done := make(chan struct{})
	swept, took := 0, time.Duration(0)
	go func() {
		defer close(done)
		for more := true; more && swept < n && time.Since(began) < 2*most; {
			now := time.Now()
			at := slot(now)
			if at%2 == 0 {
				time.Sleep(began.Add(time.Duration(at+1) * sweptFor).Sub(now))
				continue
			}
			ctx, cancel := context.WithDeadline(b.Context(), began.Add(time.Duration(at+1)*sweptFor))
			out, left, err := s.Sweep(ctx, before, 250)
			if cancel(); err == nil {
				more = left
			} else if !errors.Is(err, context.DeadlineExceeded) {
				b.Error(err)
				return
			}
			if swept += out.Memories; out.Memories > 0 {
				took += time.Since(now)
			}
		}
	}()
	var times [2][]time.Duration
	for searching := true; searching; {
		select {
		case <-done:
			searching = false
		default:
		}
		at := time.Now()
		n := slot(at) % 2
		times[n] = append(times[n], searchOnce(b, s, len(times[n])))
	}
	p95 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)*95/100].Microseconds()) / 1000
	}
	return beside{alone: p95(times[0]), beside: p95(times[1]), swept: swept, rate: float64(swept) / took.Seconds()}
}

// searchOnce searches, and returns how long that took.
func searchOnce(b *testing.B, s *sqlitestore.Store, i int) time.Duration {
	b.Helper()
	v := make([]float32, 256)
	v[7] = 1
	began := time.Now()
	if _, err := s.Search(b.Context(), memory.Scope{App: "app", User: "reader"}, memory.Query{
		Terms: []string{fmt.Sprint("word", i%500), fmt.Sprint("word", i*3%500)}, Vector: v, Limit: 50}); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// diskSize is the size of the file as it is, in MB.
func diskSize(b *testing.B, path string) float64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}

func fileSize(b *testing.B, db *sqlitedb.DB, path string) float64 {
	b.Helper()
	if err := db.Scrub(b.Context()); err != nil {
		b.Fatal(err)
	}
	return diskSize(b, path)
}
