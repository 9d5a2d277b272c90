package retrieve

import (
	"math"
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// The constants of BM25 over sessions, where a session is the text and its length
// is in turns. Length counts in full (b = 1), since a long session has a bit of
// everything.
const (
	sessionK1   = 2.0
	sessionMean = 20.0 // turns of an ordinary session
)

// wordK1 is k1 of BM25 over memories. It is lower than that of a store's list, which is
// long enough for both: that a turn has a word tells nearly all, and how often little.
const wordK1 = 0.8

// saturate is memory.Saturate with wordK1.
func saturate(freq, length float64) float64 {
	return freq * (wordK1 + 1) / (freq + wordK1*(1-memory.BM25B+memory.BM25B*length/memory.AvgLength))
}

// nameWeight is how much more a word counts that names the author whom the question is
// about. Each of that author's turns has the word, so its frequency makes it worth little.
const nameWeight = 2

// inverseFrequencies returns the weight of each of terms, the words of the query, and the
// score of an imaginary memory that has each of them infinitely often. That score counts
// as 1. names are words of names of authors, alias those of a name that stands for "I";
// terms are not needed if there are neither.
func inverseFrequencies(s memory.Stats, terms, names, alias []string) (idf []float64, best float64) {
	for i, df := range s.DF {
		w := memory.IDF(s.Docs, df)
		if len(names) > 0 && slices.Contains(names, terms[i]) {
			w *= nameWeight
		}
		if len(alias) > 0 && slices.Contains(alias, terms[i]) {
			w *= aliasWeight * indicator(df > 0)
		}
		idf = append(idf, w)
		best += w * (wordK1 + 1)
	}
	return idf, best
}

// sessionScores scores the session of each run by the words of its turns, as a share of
// the score of the best session in the scope, which need not have a run.
func sessionScores(found *memory.Found) map[string]float64 {
	s := &found.Stats
	df := make([]int, len(s.DF)) // how many sessions have each word
	for k := range s.Sessions {
		for i, n := range s.Sessions[k].DF {
			if n > 0 {
				df[i]++
			}
		}
	}
	idf := make([]float64, len(df))
	for i, n := range df {
		idf[i] = math.Log(1 + (float64(s.SessionCount)-float64(n)+0.5)/(float64(n)+0.5))
	}
	score := func(in *memory.SessionStats) (sum float64) {
		for i, n := range in.DF {
			if n > 0 {
				f := float64(n)
				sum += idf[i] * f * (sessionK1 + 1) / (f + sessionK1*float64(in.Turns)/sessionMean)
			}
		}
		return sum
	}
	most := 0.0
	for i := range s.Sessions {
		most = max(most, score(&s.Sessions[i]))
	}
	of := map[string]bool{} // the sessions of runs
	for _, run := range found.Runs {
		of[run[0].Memory.Source.SessionID] = true
	}
	out := make(map[string]float64, len(of))
	for i := range s.Sessions {
		if in := &s.Sessions[i]; of[in.ID] {
			out[in.ID] = score(in) / most
		}
	}
	return out
}
