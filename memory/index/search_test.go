package index

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// randomEntries are facts with a word and a vector of unit length each. Every seventh
// has no vector, and every eleventh one of a dimension that no query has.
func randomEntries(n, dim int) (out []*Entry) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		e := fact(ann, fmt.Sprintf("m%06d", i), 1)
		e.Terms = memory.Terms{fmt.Sprint("word", i%50): 1 + i%6, "long": i % 200}
		if i%7 > 0 {
			e.Vector = unit(random, dim)
		}
		if i > 0 && i%11 == 0 {
			e.Vector = unit(random, dim+1)
		}
		out = append(out, e)
	}
	out[0].Vector = unit(random, dim)
	return out
}

func unit(random *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(random.NormFloat64())
	}
	length := norm(v)
	for i := range v {
		v[i] /= float32(length)
	}
	return v
}

// A search in an index that is large enough for two cores gives the same as a
// comparison of the query with each memory.
func TestSearchOfLargeIndex(t *testing.T) {
	const dim = 8
	ix := newIndex()
	entries := randomEntries(12_000, dim)
	for i, e := range entries {
		ix.Put(e)
		if i%10 == 3 {
			ix.Remove(e.Memory.ID, 2)
			entries[i] = nil
		}
	}
	entries = slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil })
	if len(ix.vectors.blocks) < helped {
		t.Fatalf("%d blocks are too few for two cores", len(ix.vectors.blocks))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		q := memory.Query{Terms: []string{"word7", "long", "absent"}, Vector: unit(random, dim), Limit: 20}
		found := ix.Search(&q, time.Now())
		type scored struct {
			id    string
			score float64
		}
		lists := map[string][]scored{}
		cosines, freqs := map[string]float64{}, map[string][]int{}
		for _, e := range entries {
			id := e.Memory.ID
			if len(e.Vector) == dim {
				for i, x := range e.Vector {
					cosines[id] += float64(x) * float64(q.Vector[i])
				}
			}
			freqs[id] = []int{e.Terms["word7"], e.Terms["long"], 0}
			lists["dense"] = append(lists["dense"], scored{id, cosines[id]})
			lists["lexical"] = append(lists["lexical"],
				scored{id, memory.LexicalScore(found.Stats, freqs[id], e.Terms.Length())})
		}
		got := map[string]memory.Candidate{}
		for _, run := range found.Runs {
			for _, c := range run {
				got[c.Memory.ID] = c
			}
		}
		want := map[string]bool{}
		for _, list := range lists {
			slices.SortFunc(list, func(a, b scored) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
			})
			for _, s := range list[:q.Limit] {
				want[s.id] = true
				c, ok := got[s.id]
				if !ok {
					t.Fatalf("%s with score %v was not found", s.id, s.score)
				}
				if d := c.Cosine - cosines[s.id]; d > 1e-6 || d < -1e-6 || !slices.Equal(c.Freqs, freqs[s.id]) {
					t.Errorf("%s has cosine %v and words %v, want %v and %v",
						s.id, c.Cosine, c.Freqs, cosines[s.id], freqs[s.id])
				}
			}
		}
		if len(got) != len(want) {
			t.Errorf("found %d memories, want %d", len(got), len(want))
		}
	}
}
