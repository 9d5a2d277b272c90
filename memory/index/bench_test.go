package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// BenchmarkWords searches an index without vectors for 100 hits by six words, as unevenly used as in speech (Zipf). It
// reports how long the part takes that can be done while the store measures the vectors, how long the rest does, and
// the bytes of a memory.
func BenchmarkWords(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint("memories=", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			zipf := rand.NewZipf(r, 1.1, 20, 29_999)
			word := func() string { return fmt.Sprint("w", zipf.Uint64()) }
			ix, fact := newIndex(), strings.Repeat("some words ", 8)
			for i := range n {
				e := &Entry{Apart: true, Terms: memory.Terms{}, Memory: memory.Memory{
					ID: fmt.Sprint("m", i), Scope: ann, Kind: memory.KindTurn, Fact: fact, Author: "Ann", Revision: 1,
					Timestamp: time.Unix(1_600_000_000+int64(i)*600, 0),
					Source:    memory.Source{SessionID: fmt.Sprint("s", i/30), EventIDs: []string{fmt.Sprint("e", i)}},
				}}
				for range 14 {
					e.Terms[word()]++
				}
				ix.Put(e)
			}
			near := &Near{}
			for range 100 {
				near.Hits.Best = append(near.Hits.Best, Scored{ID: fmt.Sprint("m", r.IntN(n)), Cosine: .5 + r.Float64()/2})
			}
			var words, rest time.Duration
			now := time.Now()
			for b.Loop() {
				q := &memory.Query{Vector: []float32{1}, Limit: 100, Cited: true, Context: 4, Sessions: true}
				for range 6 {
					q.Terms = append(q.Terms, word())
				}
				begin := time.Now()
				w := ix.Words(q, now)
				words += time.Since(begin)
				begin = time.Now()
				ix.SearchNear(q, near, w, now)
				rest += time.Since(begin)
			}
			b.ReportMetric(float64(words.Microseconds())/1000/float64(b.N), "words-ms")
			b.ReportMetric(float64(rest.Microseconds())/1000/float64(b.N), "rest-ms")
			bytes, _ := ix.size()
			b.ReportMetric(float64(bytes)/float64(n), "bytes/memory")
		})
	}
}
