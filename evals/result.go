package evals

import (
	"slices"
)

// Result is the outcome of all questions of a dataset in one setting.
type Result struct {
	Setting string `json:"setting"`
	Groups  []Row  `json:"groups"`
	// Search has quantiles of the times of searches, in milliseconds.
	Search struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
		P99 float64 `json:"p99"`
	} `json:"searchMs"`
	Curve   []Point  `json:"curve"`
	Answers []Answer `json:"answers"`
}

// Row has the figures of a group of questions, by name, averaged over them.
type Row struct {
	Group   string             `json:"group"`
	N       int                `json:"n"`
	Figures map[string]float64 `json:"figures"`
}

// Point has the tokens and the recall of the first K results, averaged over the
// pooled questions.
type Point struct {
	K      int     `json:"k"`
	Tokens float64 `json:"tokens"`
	// Recall is the share of the evidence that those results cite. It is recall@K
	// if each result cites one turn, and none is cited twice.
	Recall float64 `json:"recall"`
}

// summarize computes the figures from the answers.
func (r *Result) summarize(d *Dataset) {
	several := answersOf(pooled(r.Answers), func(a *Answer) bool { return len(a.Evidence) > 1 })
	r.Groups = []Row{row(d.Pooled, pooled(r.Answers)), row("of several turns", several)}
	for _, name := range d.Categories {
		r.Groups = append(r.Groups, row(name, answersOf(r.Answers, func(a *Answer) bool { return a.Category == name })))
	}
	var took []float64
	for i := range r.Answers {
		took = append(took, r.Answers[i].Millis)
	}
	slices.Sort(took)
	r.Search.P50, r.Search.P95, r.Search.P99 = quantile(took, .5), quantile(took, .95), quantile(took, .99)
	for i, k := range curve {
		r.Curve = append(r.Curve, Point{K: k,
			Tokens: mean(pooled(r.Answers), func(a *Answer) float64 { return float64(a.Tokens[i]) }),
			Recall: mean(pooled(r.Answers), func(a *Answer) float64 { return a.within(k) })})
	}
}

// row computes the figures of a group.
func row(group string, answers []Answer) Row {
	out := Row{Group: group, N: len(answers), Figures: map[string]float64{}}
	for _, m := range metrics {
		out.Figures[m.name] = mean(answers, m.of)
	}
	return out
}

// answersOf are the answers that a condition holds of.
func answersOf(all []Answer, of func(*Answer) bool) (out []Answer) {
	for i := range all {
		if of(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

// pooled are the answers of the pooled group.
func pooled(all []Answer) []Answer {
	return answersOf(all, func(a *Answer) bool { return !a.Apart })
}
