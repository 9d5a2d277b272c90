package memory

import "math"

// The constants of BM25 as Robertson and Zaragoza recommend them ("The
// Probabilistic Relevance Framework", 2009, section 3.4: k1 1.2 to 2, b 0.5 to
// 0.8). AvgLength stands for the mean length of a memory in words. It is a
// constant, so that the weight of a word in a memory does not change when other
// memories come and go, and is the same on every backend. Its value is the mean
// over turns of conversations after stop words, name and date included.
const (
	BM25K1    = 1.2
	BM25B     = 0.75
	AvgLength = 20.0
)

// MinDocs is the least number of memories that words are weighed by, however
// few a scope has. In a scope of three, counts say little about how rare a word
// is: without this bound a word that two of them have would be nearly
// worthless.
const MinDocs = 100

// IDF is the weight of a term that df of docs memories have: ln(1 + (N - df +
// 0.5) / (df + 0.5)) with N = max(docs, MinDocs). This is BM25's inverse
// document frequency in the form that is never negative.
func IDF(docs, df int) float64 {
	return math.Log(1 + (float64(max(docs, MinDocs))-float64(df)+0.5)/(float64(df)+0.5))
}

// Saturate is BM25's term frequency part, 0 to k1+1. It grows ever slower with
// freq, and is less in a longer text. Neither need be whole: the text of a
// neighbour may count in part.
func Saturate(freq, length float64) float64 {
	if freq == 0 {
		return 0
	}
	return freq * (BM25K1 + 1) / (freq + BM25K1*(1-BM25B+BM25B*length/AvgLength))
}

// LexicalScore is BM25 of one memory: the sum over terms of IDF times Saturate.
func LexicalScore(s Stats, freqs []int, length int) float64 {
	sum := 0.0
	for i, f := range freqs {
		sum += IDF(s.Docs, s.DF[i]) * Saturate(float64(f), float64(length))
	}
	return sum
}
