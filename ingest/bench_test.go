package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/evals"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// slow is a model that finds a new fact in each batch, after a delay, and changes
// no known fact.
type slow struct {
	delay   time.Duration
	asked   atomic.Int64
	longest atomic.Int64 // tokens of a comparison
}

func (*slow) Model() string { return "test:slow" }

func (s *slow) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return extract.Answer{}, ctx.Err()
	}
	usage := extract.Usage{Calls: 1}
	if !strings.Contains(p.Data, `"text":`) {
		s.longest.Store(max(s.longest.Load(), int64(extract.Tokens(p.System+p.Data))))
		return extract.Answer{Text: `{"verdicts":[]}`, Usage: usage}, nil
	}
	text := fmt.Sprintf(`{"facts":[{"fact":"Ann has moved to place number %d with her sister.",
		"topic":"USER_PERSONAL_INFO","events":[1],"quote":"moved to Porto",
		"when":"","confidence":1,"forget":false}]}`, -s.asked.Add(1))
	return extract.Answer{Text: text, Usage: usage}, nil
}

// build makes a service on the embedded stores.
func build(b *testing.B, extractor extract.Extractor) (*ingest.Service, memory.Store) {
	b.Helper()
	db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		b.Fatal(err)
	}
	memories, err := sqlitestore.New(db, model(), nil)
	if err != nil {
		b.Fatal(err)
	}
	s := ingest.New(sessions, memories, embed.Builtin{}, extractor, nil)
	ctx, cancel := context.WithCancel(context.Background())
	running := make(chan struct{})
	go func() { s.Run(ctx); close(running) }()
	b.Cleanup(func() { cancel(); <-running })
	return s, memories
}

// waitFor waits until an operation has succeeded.
func waitFor(b *testing.B, s *ingest.Service, op *sessionstore.Operation) {
	b.Helper()
	op, err := s.Wait(b.Context(), op.Key.Scope, op.ID, time.Minute)
	if err != nil || op.State != sessionstore.Succeeded {
		b.Fatal(op, err)
	}
}

// talk is sessions of ten users, twenty for each, of twenty turns. The turns are
// those of the bundled conversations, in random order. A user repeats none before
// all were said.
func talk(b *testing.B) (sessions map[sessionstore.Key][]sessionstore.Event, events int) {
	b.Helper()
	said, err := evals.Conversations()
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	for _, c := range said.Conversations {
		for _, s := range c.Sessions {
			for _, e := range s.Events {
				texts = append(texts, e.Text())
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	sessions = map[sessionstore.Key][]sessionstore.Event{}
	for user := range 10 {
		scope := memory.Scope{App: "app", User: fmt.Sprint("user", user)}
		for n := range 400 {
			if n%len(texts) == 0 {
				random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			}
			key := sessionstore.Key{Scope: scope, ID: fmt.Sprint("s", n/20)}
			sessions[key] = append(sessions[key], event(b, fmt.Sprint("e", n), 60*n, texts[n%len(texts)]))
			events++
		}
	}
	return sessions, events
}

// BenchmarkIngest posts 200 sessions, and waits until all have become memories.
// A client posts as soon as its last request was answered.
func BenchmarkIngest(b *testing.B) {
	for _, clients := range []int{1, 10} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			sessions, events := talk(b)
			for b.Loop() {
				s, _ := build(b, rules.New())
				posts := pool.NewWithResults[*sessionstore.Operation]().WithErrors().WithMaxGoroutines(clients)
				for key, said := range sessions {
					posts.Go(func() (*sessionstore.Operation, error) {
						return s.Ingest(b.Context(), key, said, ingest.RequestOptions{})
					})
				}
				ops, err := posts.Wait()
				if err != nil {
					b.Fatal(err)
				}
				for _, op := range ops {
					waitFor(b, s, op)
				}
			}
			b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkIngestBesideSlowModel posts sessions of ten events while a model takes
// five seconds for each, for which answers do not wait. Goroutines and live heap
// are the cost of 200 sessions that wait.
func BenchmarkIngestBesideSlowModel(b *testing.B) {
	s, _ := build(b, extract.NewModel(&slow{delay: 5 * time.Second}, nil))
	var took []time.Duration
	post := func(i int) {
		events := make([]sessionstore.Event, 10)
		for j := range events {
			text := fmt.Sprintf("I have moved to Porto, and this is number %d of session %d.", j, i)
			events[j] = event(b, fmt.Sprint("e", j), j, text)
		}
		begin := time.Now()
		key := sessionstore.Key{Scope: memory.Scope{App: fmt.Sprint("app", i%5), User: fmt.Sprint("user", i)}, ID: "s"}
		if _, err := s.Ingest(b.Context(), key, events, ingest.RequestOptions{}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before, i := heap(), 0
	for b.Loop() {
		post(i)
		i++
	}
	for ; i < 200; i++ {
		post(i)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
	b.ReportMetric(heap()-before, "heap-MB")
}

// BenchmarkPrompt ingests one session into memories of more and more facts that
// are much alike. The prompt of a comparison does not grow with them.
func BenchmarkPrompt(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint("memories=", n), func(b *testing.B) {
			model := &slow{}
			s, memories := build(b, extract.NewModel(model, nil))
			for from := 0; from < n; from += 1000 {
				var writes []memory.Write
				for i := from; i < min(n, from+1000); i++ {
					m := memory.Memory{
						ID: fmt.Sprint("m", i), Scope: scope, Kind: memory.KindFact,
						Fact:      fmt.Sprintf("Ann has moved to place number %d with her sister.", i),
						Timestamp: time.Unix(1_600_000_000+int64(i), 0).UTC(),
					}
					writes = append(writes, memory.Write{Memory: m, Terms: analyzer.Of(&m)})
				}
				if _, err := memories.Put(b.Context(), scope, writes); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				i++
				said := []sessionstore.Event{event(b, "e", i, "I have moved to Porto with my sister.")}
				op, err := s.Ingest(b.Context(), key(fmt.Sprint("s", i)), said, ingest.RequestOptions{})
				if err != nil {
					b.Fatal(err)
				}
				waitFor(b, s, op)
			}
			b.ReportMetric(float64(model.longest.Load()), "tokens-longest")
		})
	}
}
