package sqlitestore_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

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

// BenchmarkCold measures the first search of a scope, which reads its memories from the
// file.
func BenchmarkCold(b *testing.B) {
	for _, n := range []int{1000, 50_000} {
		b.Run(fmt.Sprint("memories=", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "memoryd.db")
			model := memory.Model{Embedder: "e", Dimension: 256, Analyzer: "words"}
			scope := memory.Scope{App: "app", User: "ann"}
			open := func() (*sqlitedb.DB, *sqlitestore.Store) {
				db, err := sqlitedb.Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				s, err := sqlitestore.New(db, model, nil)
				if err != nil {
					b.Fatal(err)
				}
				return db, s
			}
			db, s := open()
			r := rand.New(rand.NewPCG(1, 2))
			for from := 0; from < n; from += 500 {
				var writes []memory.Write
				for i := from; i < from+500; i++ {
					vector, terms := make([]float32, 256), memory.Terms{}
					vector[i%256] = 1
					var words []string
					for range 20 {
						words = append(words, fmt.Sprint("word", int(math.Pow(10_000, r.Float64()))))
						terms[words[len(words)-1]]++
					}
					m := memory.Memory{
						ID: uuid.NewString(), Scope: scope, Kind: memory.KindTurn, Author: "user",
						Fact: strings.Join(words, " "), Timestamp: time.Unix(int64(i), 0),
					}
					m.Source = memory.Source{SessionID: fmt.Sprint("session", i/20), EventIDs: []string{fmt.Sprint("e", i)}}
					writes = append(writes, memory.Write{Actor: "bench", Terms: terms, Vector: vector, Memory: m})
				}
				if _, err := s.Put(b.Context(), scope, writes); err != nil {
					b.Fatal(err)
				}
			}
			db.Close()
			for b.Loop() {
				b.StopTimer()
				db, s := open()
				b.StartTimer()
				q := memory.Query{Terms: []string{"word1"}, Limit: 10}
				if _, err := s.Search(b.Context(), scope, q); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				db.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkWhere measures a search of 10,000 memories with an expression and without.
func BenchmarkWhere(b *testing.B) {
	db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, err := sqlitestore.New(db, memory.Model{Embedder: "e", Dimension: 256, Analyzer: "words"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	scope := memory.Scope{App: "app", User: "ann"}
	r := rand.New(rand.NewPCG(1, 2))
	direction := func() []float32 {
		v, square := make([]float32, 256), 0.0
		for i := range v {
			v[i] = float32(r.NormFloat64())
			square += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(square))
		}
		return v
	}
	for from := 0; from < 10_000; from += 500 {
		var writes []memory.Write
		for i := from; i < from+500; i++ {
			terms := memory.Terms{}
			var words []string
			for range 20 {
				words = append(words, fmt.Sprint("word", int(math.Pow(10_000, r.Float64()))))
				terms[words[len(words)-1]]++
			}
			m := memory.Memory{
				ID: uuid.NewString(), Scope: scope, Kind: memory.KindTurn, Author: "user",
				Fact: strings.Join(words, " "), Timestamp: time.Unix(int64(i), 0),
				Source:   memory.Source{SessionID: fmt.Sprint("session", i/20), EventIDs: []string{fmt.Sprint("e", i)}},
				Metadata: memory.Metadata{"n": fmt.Append(nil, i), "name": fmt.Appendf(nil, `"name %d"`, i%100)},
			}
			writes = append(writes, memory.Write{Actor: "bench", Terms: terms, Vector: direction(), Memory: m})
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
	number, err := memory.Number("9990")
	if err != nil {
		b.Fatal(err)
	}
	pattern, err := memory.Pattern(`word9[0-9]+ word1[0-9]* `)
	if err != nil {
		b.Fatal(err)
	}
	metadata := func(key string, op memory.Op, v memory.Value) memory.Where {
		return memory.Cmp{Field: memory.FieldMetadata, Key: key, Op: op, Value: v}
	}
	for _, c := range []struct {
		name  string
		where memory.Where
	}{
		{"none", nil},
		{"time", memory.Cmp{Field: memory.FieldTimestamp, Op: memory.OpAtLeast, Value: memory.Time(time.Unix(9990, 0))}},
		{"number", metadata("n", memory.OpAtLeast, number)},
		{"text", metadata("name", memory.OpEqual, memory.Text("name 7"))},
		{"part", memory.Cmp{Field: memory.FieldFact, Op: memory.OpHas, Value: memory.Text("word999 ")}},
		{"pattern", memory.Cmp{Field: memory.FieldFact, Op: memory.OpMatches, Value: pattern}},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := memory.Query{Filter: memory.Filter{Where: c.where}, Terms: []string{"word1", "word2", "word30", "word400"},
				Vector: direction(), Limit: 100, Context: 2, Cited: true, Succession: true, Sessions: true}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Search(b.Context(), scope, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPerson lists the memories of one person, among those of 200 users of an app who have 100
// each, by the filter's Person and by an expression that each memory is compared with.
func BenchmarkPerson(b *testing.B) {
	db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := sqlitestore.New(db, memory.Model{Embedder: "e", Dimension: 1, Analyzer: "words"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for u := range 200 {
		scope := memory.Scope{App: "app", User: fmt.Sprintf("~app_name=a&user_id=u%d", u)}
		var writes []memory.Write
		for i := range 100 {
			writes = append(writes, memory.Write{Vector: []float32{1}, Memory: memory.Memory{ID: fmt.Sprint("m", i), Scope: scope,
				Kind: memory.KindFact, Fact: strings.Repeat("some words ", 8), Timestamp: time.Unix(1_600_000_000+int64(i), 0)}})
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
	pattern, err := memory.Pattern("^~(?:[^&]*&)*user_id=u7(?:&|$)")
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]memory.Filter{
		"person":     {Person: memory.Person{User: "u7", Part: "user_id=u7"}},
		"expression": {Where: memory.Cmp{Field: memory.FieldUser, Op: memory.OpMatches, Value: pattern}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := s.ListApp(b.Context(), "app", memory.List{Filter: f})
				if err != nil || len(page.Memories) != 100 {
					b.Fatalf("%d memories, %v", len(page.Memories), err)
				}
			}
		})
	}
}
