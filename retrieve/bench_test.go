package retrieve_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
)

// vocabulary is made-up words, used as unevenly as people use theirs (Zipf).
type vocabulary struct {
	words []string
	zipf  *rand.Zipf
}

func newVocabulary() *vocabulary {
	random := rand.New(rand.NewPCG(1, 2))
	v := &vocabulary{zipf: rand.NewZipf(random, 1.1, 20, 29_999)}
	for range 30_000 {
		var w strings.Builder
		for range 2 + random.IntN(3) {
			w.WriteByte("bdfgklmnprstvz"[random.IntN(14)])
			w.WriteByte("aeiou"[random.IntN(5)])
		}
		v.words = append(v.words, w.String())
	}
	return v
}

func (v *vocabulary) sentence(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = v.words[v.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// newMemories is a store with n turns of 14 words, 50 to a session.
func newMemories(b *testing.B, v *vocabulary, scope memory.Scope, n int) *sqlitestore.Store {
	b.Helper()
	s := emptyStore(b)
	for from := 0; from < n; from += 1000 {
		var writes []memory.Write
		for i := from; i < min(n, from+1000); i++ {
			m := memory.Memory{ID: fmt.Sprintf("m%d", i), Scope: scope, Kind: memory.KindTurn, Fact: v.sentence(14), Author: "Ann",
				Timestamp: time.Unix(1_600_000_000+int64(i)*600, 0).UTC(),
				Source:    memory.Source{SessionID: fmt.Sprintf("s%d", i/50), EventIDs: []string{fmt.Sprintf("e%d", i)}}}
			writes = append(writes, indexed(b, m))
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// resident is the process's resident size in MB, where the system tells.
func resident() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err == nil {
				return kb / 1024
			}
		}
	}
	return 0
}

// BenchmarkSearch asks questions of 6 words in scopes of several sizes. The
// resident size is that of the whole test process, smaller scopes before
// larger ones.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			v := newVocabulary()
			scope := memory.Scope{App: "a", User: "u"}
			r := retrieve.New(newMemories(b, v, scope, n), embed.Builtin{}, nil)
			search := func() {
				found, err := r.Search(b.Context(), scope, retrieve.Request{Query: v.sentence(6)})
				if err != nil || len(found) == 0 {
					b.Fatal(len(found), err)
				}
			}
			search() // reads the scope from the file
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				search()
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(resident(), "resident-MB")
		})
	}
}
