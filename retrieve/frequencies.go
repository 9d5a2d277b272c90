package retrieve

import (
	"math"

	"github.com/memoryd/memoryd/memory"
)

// The constants of BM25 over sessions, where a session is the text and its length
// is in turns. Length counts in full (b = 1), since a long session has a bit of
// everything.
const (
	sessionK1   = 2.0
	sessionMean = 20.0 // turns of an ordinary session
)

// inverseFrequencies returns the weight of each word of the query, and the score
// of an imaginary memory that has each of them infinitely often. That score
// counts as 1.
func inverseFrequencies(s memory.Stats) (idf []float64, best float64) {
	for _, df := range s.DF {
		w := memory.IDF(s.Docs, df)
		idf = append(idf, w)
		best += w * (memory.BM25K1 + 1)
	}
	return idf, best
}

// sessionScores scores the session of each run by the words of its turns, as a share of
// the score of the best session in the scope, which need not have a run.
func sessionScores(found *memory.Found) map[string]float64 {
	s := &found.Stats
	df := make([]int, len(s.DF)) // how many sessions have each word
	for _, in := range s.Sessions {
		for i, n := range in.DF {
			if n > 0 {
				df[i]++
			}
		}
	}
	idf := make([]float64, len(df))
	for i, n := range df {
		idf[i] = math.Log(1 + (float64(s.SessionCount)-float64(n)+0.5)/(float64(n)+0.5))
	}
	score := func(in memory.SessionStats) (sum float64) {
		for i, n := range in.DF {
			if n > 0 {
				f := float64(n)
				sum += idf[i] * f * (sessionK1 + 1) / (f + sessionK1*float64(in.Turns)/sessionMean)
			}
		}
		return sum
	}
	most := 0.0
	for _, in := range s.Sessions {
		most = max(most, score(in))
	}
	out := map[string]float64{}
	for _, run := range found.Runs {
		id := run[0].Memory.Source.SessionID
		if in, ok := s.Sessions[id]; ok {
			out[id] = score(in) / most
		}
	}
	return out
}
