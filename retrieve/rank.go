package retrieve

import (
	"github.com/memoryd/memoryd/memory"
)

// window is how many turns before and after a turn are its context: an answer
// often has none of the words of the question that was asked one turn before.
const window = 1

// rank scores every candidate that passes the filter. It keeps those with a
// score above 0.
func (r *Retriever) rank(q *memory.Query, found memory.Found) []memory.Match {
	best := bestLexical(found.Stats)
	var out []memory.Match
	for _, run := range found.Runs {
		for i := range run {
			c := &run[i]
			if !c.Match {
				continue
			}
			freqs, length := around(run, i)
			parts := []memory.Part{
				{Name: "lexical", Weight: r.weights.Lexical, Value: share(memory.LexicalScore(found.Stats, c.Freqs, c.Length), best)},
				{Name: "context", Weight: r.weights.Context, Value: share(memory.LexicalScore(found.Stats, freqs, length), best)},
				{Name: "dense", Weight: r.weights.Dense, Value: min(max(c.Cosine, 0), 1)},
			}
			score := 0.0
			for _, p := range parts {
				score += p.Weight * p.Value
			}
			if score > 0 {
				out = append(out, memory.Match{Memory: c.Memory, Score: min(score, 1),
					Explain: &memory.Explain{Parts: parts, Terms: shared(q.Terms, c.Freqs)}})
			}
		}
	}
	return out
}

// bestLexical is what a memory would score that had every word of the query
// without end: the score that counts as 1.
func bestLexical(s memory.Stats) float64 {
	sum := 0.0
	for _, df := range s.DF {
		sum += memory.IDF(s.Docs, df) * (memory.BM25K1 + 1)
	}
	return sum
}

func share(score, best float64) float64 {
	if best == 0 {
		return 0
	}
	return score / best
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

func shared(terms []string, freqs []int) []string {
	out := []string{}
	for i, t := range terms {
		if freqs[i] > 0 {
			out = append(out, t)
		}
	}
	return out
}
