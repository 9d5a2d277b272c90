package retrieve

import (
	"cmp"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// window is how many turns before and after a turn are its context: an answer
// often has none of the words of the question that was asked one turn before.
const window = 1

// ranked is a candidate with its score and what that is made of.
type ranked struct {
	*memory.Candidate
	score float64
	parts [3]float64 // lexical, context and dense, each 0 to 1
}

// rank scores every candidate that passes the filter, and puts the best first,
// ties by id. It leaves out those that score 0.
func (r *Retriever) rank(found memory.Found, asOf time.Time) []ranked {
	weights := [3]float64{r.weights.Lexical, r.weights.Context, r.weights.Dense}
	idf, best := weigh(found.Stats)
	var out []ranked
	for _, run := range found.Runs {
		if !asOf.IsZero() { // nothing said later had been heard yet
			run = slices.DeleteFunc(slices.Clone(run), func(c memory.Candidate) bool { return c.Memory.Timestamp.After(asOf) })
		}
		for i := range run {
			c := ranked{Candidate: &run[i]}
			if !c.Match {
				continue
			}
			freqs, length := around(run, i)
			c.parts = [3]float64{lexical(idf, c.Freqs, c.Length, best), lexical(idf, freqs, length, best), 0}
			if c.Cosine > r.embedder.Model().Noise {
				c.parts[2] = min(c.Cosine, 1)
			}
			for p, value := range c.parts {
				c.score += weights[p] * value
			}
			if c.score = min(c.score, 1); c.score > 0 {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b ranked) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.Memory.ID, b.Memory.ID)
	})
	return out
}

// explain says what a score is made of.
func (r *Retriever) explain(c ranked, terms []string) *memory.Explain {
	out := &memory.Explain{Terms: []string{}, Parts: []memory.Part{
		{Name: "lexical", Value: c.parts[0], Weight: r.weights.Lexical},
		{Name: "context", Value: c.parts[1], Weight: r.weights.Context},
		{Name: "dense", Value: c.parts[2], Weight: r.weights.Dense},
	}}
	for i, t := range terms {
		if c.Freqs[i] > 0 {
			out.Terms = append(out.Terms, t)
		}
	}
	return out
}

// weigh is the weight of each of the query's words, and what a memory would
// score that had every one of them without end: the score that counts as 1.
func weigh(s memory.Stats) (idf []float64, best float64) {
	for _, df := range s.DF {
		w := memory.IDF(s.Docs, df)
		idf = append(idf, w)
		best += w * (memory.BM25K1 + 1)
	}
	return idf, best
}

// lexical is memory.LexicalScore as a share of the best.
func lexical(idf []float64, freqs []int, length int, best float64) float64 {
	if best == 0 {
		return 0
	}
	sum := 0.0
	for i, f := range freqs {
		sum += idf[i] * memory.Saturate(f, length)
	}
	return sum / best
}

// around is the words of a candidate and its window as if they were one
// memory, its length brought to that of one. A fact's is just its own.
func around(run []memory.Candidate, i int) (freqs []int, length int) {
	from, to := max(0, i-window), min(len(run), i+window+1)
	freqs = make([]int, len(run[i].Freqs))
	for _, c := range run[from:to] {
		for t, f := range c.Freqs {
			freqs[t] += f
		}
		length += c.Length
	}
	return freqs, length / (to - from)
}
