package evals

import (
	"math"
	"slices"
)

// metric is a figure of one answer, from 0 to 1. Evidence turns are relevant, and
// all others are not; see Järvelin and Kekäläinen, "Cumulated gain-based evaluation
// of IR techniques", 2002, for nDCG, and Voorhees, "The TREC-8 question answering
// track report", 1999, for the reciprocal rank.
type metric struct {
	name string
	of   func(*Answer) float64
}

// metrics are those that a report shows for each group.
var metrics = []metric{
	recallAt("recall@1", 1), recallAt("recall@5", 5), recallAt("recall@10", 10),
	recallAt("recall@25", 25), recallAt("recall@50", 50),
	{"hit@10", func(a *Answer) float64 { return a.hit(10) }},
	{"MRR", (*Answer).reciprocalRank},
	{"nDCG@10", func(a *Answer) float64 { return a.ndcg(10) }},
	{"1000 tokens", func(a *Answer) float64 { return a.Shown[0] }},
	{"2000 tokens", func(a *Answer) float64 { return a.Shown[1] }},
}

// compared are the metrics that settings are compared by.
var compared = metricsNamed("recall@10", "MRR", "nDCG@10")

func recallAt(name string, k int) metric {
	return metric{name, func(a *Answer) float64 { return a.recall(k) }}
}

func metricsNamed(names ...string) (out []metric) {
	for _, m := range metrics {
		if slices.Contains(names, m.name) {
			out = append(out, m)
		}
	}
	return out
}

// recall is the share of the evidence within the first k ranks.
func (a *Answer) recall(k int) float64 {
	return a.share(func(p Place) bool { return p.Rank > 0 && p.Rank <= k })
}

// within is the share of the evidence that the first k results cite.
func (a *Answer) within(k int) float64 {
	return a.share(func(p Place) bool { return p.Result > 0 && p.Result <= k })
}

func (a *Answer) share(found func(Place) bool) float64 {
	n := 0
	for _, p := range a.Evidence {
		if found(p) {
			n++
		}
	}
	return float64(n) / float64(len(a.Evidence))
}

// hit is 1 if any evidence is within the first k ranks.
func (a *Answer) hit(k int) float64 {
	if first := a.first(); first > 0 && first <= k {
		return 1
	}
	return 0
}

// reciprocalRank is 1 divided by the rank of the first evidence; 0 if none was
// found.
func (a *Answer) reciprocalRank() float64 {
	if first := a.first(); first > 0 {
		return 1 / float64(first)
	}
	return 0
}

// first is the rank of the first evidence; 0 if none was found.
func (a *Answer) first() (rank int) {
	for _, p := range a.Evidence {
		if p.Rank > 0 && (rank == 0 || p.Rank < rank) {
			rank = p.Rank
		}
	}
	return rank
}

// ndcg is the gain of evidence within the first k ranks, discounted by the
// logarithm of its rank, as a share of the gain with all evidence on top.
func (a *Answer) ndcg(k int) float64 {
	discount := func(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }
	var gain, ideal float64
	for i, p := range a.Evidence {
		if p.Rank > 0 && p.Rank <= k {
			gain += discount(p.Rank)
		}
		if i < k {
			ideal += discount(i + 1)
		}
	}
	return gain / ideal
}

// mean is the mean of a figure over answers; 0 if there are none.
func mean(answers []Answer, of func(*Answer) float64) float64 {
	sum := 0.0
	for i := range answers {
		sum += of(&answers[i])
	}
	return sum / max(1, float64(len(answers)))
}

// quantile is the value below which a share of sorted values lies.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
