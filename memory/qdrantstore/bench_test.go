package qdrantstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"
	"google.golang.org/grpc"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

const benchDimension = 256

// corpus is a scope of turns, 30 to a session, of words as unevenly used as in
// speech (Zipf).
type corpus struct {
	zipf   *rand.Zipf
	random *rand.Rand
}

func newCorpus() *corpus {
	r := rand.New(rand.NewPCG(1, 2))
	return &corpus{rand.NewZipf(r, 1.1, 20, 29_999), r}
}

func (c *corpus) terms(n int) memory.Terms {
	out := memory.Terms{}
	for range n {
		out[fmt.Sprint("w", c.zipf.Uint64())]++
	}
	return out
}

func (c *corpus) vector() []float32 {
	v := make([]float32, benchDimension)
	for i := range v {
		v[i] = float32(c.random.NormFloat64())
	}
	return v
}

func (c *corpus) fill(b *testing.B, s memory.Store, scope memory.Scope, n int) {
	for from := 0; from < n; from += 200 {
		var writes []memory.Write
		for i := from; i < min(n, from+200); i++ {
			terms := c.terms(14)
			m := memory.Memory{ID: fmt.Sprint("m", i), Scope: scope, Kind: memory.KindTurn,
				Fact: strings.Repeat("some words ", 8), Author: "Ann",
				Timestamp: time.Unix(1_600_000_000+int64(i)*600, 0).UTC(),
				Source:    memory.Source{SessionID: fmt.Sprint("s", i/30), EventIDs: []string{fmt.Sprint("e", i)}}}
			writes = append(writes, memory.Write{Memory: m, Terms: terms, Vector: c.vector()})
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCold is the first search of a scope: its index is read. It reports the median and
// its ratio to that of the bare client's reading of the same points, in one call.
func BenchmarkCold(b *testing.B) {
	q := qdranttest.Start(b)
	if !q.Real {
		b.Skip("no real Qdrant")
	}
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint("memories=", n), func(b *testing.B) {
			s, err := Open(b.Context(), q.URL(b), Model{Embedder: "bench", Dimension: benchDimension, Analyzer: "bench"},
				&Options{Timeout: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			c, scope := newCorpus(), memory.Scope{App: "a", User: "u"}
			c.fill(b, s, scope, n)
			var store, bare []time.Duration
			for b.Loop() {
				s.cache.Clear()
				begin := time.Now()
				if _, err := s.Search(b.Context(), scope, memory.Query{Terms: []string{"w1"}, Limit: 10}); err != nil {
					b.Fatal(err)
				}
				store = append(store, time.Since(begin))
				begin = time.Now()
				if _, err := s.client.Scroll(b.Context(), &qdrant.ScrollPoints{
					CollectionName: s.collection, Limit: qdrant.PtrOf(uint32(n)), Filter: live(scope, time.Now()),
					WithPayload: qdrant.NewWithPayloadInclude(indexFields...), WithVectors: qdrant.NewWithVectorsInclude(dense),
				}); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(begin))
			}
			slices.Sort(store)
			slices.Sort(bare)
			cold, read := store[len(store)/2], bare[len(bare)/2]
			b.ReportMetric(float64(cold.Microseconds())/1000, "ms-cold")
			b.ReportMetric(float64(cold)/float64(read), "cold/bare")
		})
	}
}

// BenchmarkSearch asks the same questions as a search of a large scope does:
// by Qdrant's lists through the store, by the same calls of the bare client (the words
// counted, the same by session, both lists, the order of the sessions, the points), by
// the two lists alone, by the counts alone, and by an index without vectors. It reports
// the times, the ratios to the same calls and to the two lists alone, and how long the
// counts take with and without those by session.
//
// SEARCH_MEMORIES names another size, of which it waits until Qdrant has sorted it: a
// million take hours.
func BenchmarkSearch(b *testing.B) {
	q := qdranttest.Start(b)
	if !q.Real {
		b.Skip("no real Qdrant")
	}
	sizes, named := []int{1_000, 10_000, 100_000}, os.Getenv("SEARCH_MEMORIES")
	if named != "" {
		n, err := strconv.Atoi(named)
		if err != nil {
			b.Fatal(err)
		}
		sizes = []int{n}
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint("memories=", n), func(b *testing.B) {
			m := Model{Embedder: "bench", Dimension: benchDimension, Analyzer: "bench"}
			url := q.URL(b)
			s, err := Open(b.Context(), url, m, &Options{Timeout: time.Minute, CacheBytes: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			c, scope := newCorpus(), memory.Scope{App: "a", User: "u"}
			c.fill(b, s, scope, n)
			if named != "" {
				awaitSorted(b, s)
			}
			bare, err := Open(b.Context(), url, m, &Options{Timeout: time.Minute, CacheBytes: 4 << 30})
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			KeepNoVectors(bare)
			if _, err := bare.cached(context.WithValue(b.Context(), inBackground{}, true), scope, nil); err != nil {
				b.Fatal(err)
			}
			calls := &recorder{client: q.Client(b)}
			calls.watch(b, s, url)
			var took [6][]time.Duration
			for b.Loop() {
				terms := slices.Collect(func(yield func(string) bool) {
					for t := range c.terms(6) {
						if !yield(t) {
							return
						}
					}
				})
				query := memory.Query{Terms: terms, Vector: c.vector(), Limit: 100, Cited: true, Context: 4,
					Sessions: true}
				calls.made = nil
				for i, ask := range []func() error{
					func() error { _, err := s.Search(b.Context(), scope, query); return err },
					func() error { return calls.again(b.Context(), func(string, any) bool { return true }) },
					func() error {
						return calls.again(b.Context(), func(_ string, req any) bool {
							q, ok := req.(*qdrant.QueryBatchPoints)
							return ok && q.GetQueryPoints()[0].GetUsing() != ""
						})
					},
					func() error {
						return calls.again(b.Context(), func(method string, _ any) bool { return counts(method) })
					},
					func() error {
						return calls.again(b.Context(),
							func(method string, _ any) bool { return path.Base(method) == "Count" })
					},
					func() error { _, err := bare.Search(b.Context(), scope, query); return err },
				} {
					begin := time.Now()
					if err := ask(); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(begin))
				}
			}
			at := func(i int, p float64) float64 {
				slices.Sort(took[i])
				return float64(took[i][int(p*float64(len(took[i])-1))].Microseconds()) / 1000
			}
			b.ReportMetric(at(0, 0.5), "p50-ms")
			b.ReportMetric(at(0, 0.95), "p95-ms")
			b.ReportMetric(at(0, 0.99), "p99-ms")
			b.ReportMetric(at(0, 0.5)/at(1, 0.5), "p50/same-calls")
			b.ReportMetric(at(0, 0.99)/at(1, 0.99), "p99/same-calls")
			b.ReportMetric(at(0, 0.5)/at(2, 0.5), "p50/lists-alone")
			b.ReportMetric(at(0, 0.99)/at(2, 0.99), "p99/lists-alone")
			b.ReportMetric(at(3, 0.5), "counts-ms")
			b.ReportMetric(at(4, 0.5), "counts-not-by-session-ms")
			b.ReportMetric(at(2, 0.5), "lists-alone-ms")
			b.ReportMetric(at(5, 0.5), "bare-p50-ms")
			b.ReportMetric(at(5, 0.99), "bare-p99-ms")
			b.ReportMetric(at(5, 0.5)/at(2, 0.5), "bare-p50/lists-alone")
			b.ReportMetric(at(5, 0.99)/at(2, 0.99), "bare-p99/lists-alone")
		})
	}
}

// awaitSorted returns when Qdrant has nothing left to sort.
func awaitSorted(b *testing.B, s *Store) {
	for begin := time.Now(); ; time.Sleep(time.Second) {
		info, err := s.client.GetCollectionInfo(b.Context(), s.collection)
		if err != nil {
			b.Fatal(err)
		}
		if info.GetStatus() == qdrant.CollectionStatus_Green {
			b.Logf("sorted %s after the last write", time.Since(begin).Round(time.Second))
			return
		}
	}
}

// recorder keeps the calls that a store makes, to make them again on a bare
// client.
type recorder struct {
	client *qdrant.Client
	mu     sync.Mutex
	made   []call
}

type call struct {
	method string
	req    any
	answer func() any
}

// watch has a store make its calls through the recorder.
func (r *recorder) watch(b *testing.B, s *Store, url string) {
	set, err := parseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	set.config.GrpcOptions = append(set.config.GrpcOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			if answer := answerOf(method); answer != nil {
				r.mu.Lock()
				r.made = append(r.made, call{method, req, answer})
				r.mu.Unlock()
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
	s.client.Close()
	if s.client, err = qdrant.NewClient(&set.config); err != nil {
		b.Fatal(err)
	}
}

// answerOf makes an answer to a call of a search by lists. It is nil for others: the store looks at the same time
// whether an index has room.
func answerOf(method string) func() any {
	switch path.Base(method) {
	case "Count":
		return func() any { return new(qdrant.CountResponse) }
	case "Facet":
		return func() any { return new(qdrant.FacetResponse) }
	case "Get":
		return func() any { return new(qdrant.GetResponse) }
	case "QueryBatch":
		return func() any { return new(qdrant.QueryBatchResponse) }
	}
	return nil
}

// counts reports whether a call is one that a store makes several of at a time.
func counts(method string) bool { return path.Base(method) == "Count" || path.Base(method) == "Facet" }

// again makes the calls that pass which: counts at the same time, as the store
// did, and all others one after another.
func (r *recorder) again(ctx context.Context, which func(string, any) bool) error {
	conn := r.client.GetConnection()
	for made := r.made; len(made) > 0; {
		n := 1
		for n < len(made) && counts(made[0].method) && counts(made[n].method) {
			n++
		}
		all := pool.New().WithErrors().WithMaxGoroutines(counting)
		for _, c := range made[:n] {
			if which(c.method, c.req) {
				all.Go(func() error {
					return conn.Invoke(ctx, c.method, c.req, c.answer(), grpc.MaxCallRecvMsgSize(maxMessage))
				})
			}
		}
		if err := all.Wait(); err != nil {
			return err
		}
		made = made[n:]
	}
	return nil
}

// BenchmarkMove moves memories by an indexer that takes no time. It reports how
// many it moves in a second, and for how long writes fail at the end.
func BenchmarkMove(b *testing.B) {
	q := qdranttest.Start(b)
	if !q.Real {
		b.Skip("no real Qdrant")
	}
	const n = 10_000
	scope, c := memory.Scope{App: "app", User: "ann"}, newCorpus()
	instantly := func(_ context.Context, records []memory.Record) error {
		for i := range records {
			records[i].Vector, records[i].Terms = c.vector(), c.terms(14)
		}
		return nil
	}
	for b.Loop() {
		b.StopTimer()
		s, err := Open(b.Context(), q.URL(b), Model{Embedder: "from", Dimension: benchDimension, Analyzer: "bench"},
			&Options{Timeout: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		c.fill(b, s, scope, n)
		b.StartTimer()
		begin := time.Now()
		m, err := s.Move(b.Context(), Model{Embedder: "to", Dimension: benchDimension, Analyzer: "bench"})
		if err != nil {
			b.Fatal(err)
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
		b.ReportMetric(float64(time.Since(last).Milliseconds()), "ms-finish")
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}
