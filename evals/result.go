package evals

import (
	"slices"
)

// Result is what the questions of a dataset came to in one setting.
type Result struct {
	Setting string `json:"setting"`
	Groups  []Row  `json:"groups"`
	// Search is how long searches took, in milliseconds.
	Search struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
		P99 float64 `json:"p99"`
	} `json:"searchMs"`
	Curve   []Point  `json:"curve"`
	Answers []Answer `json:"answers"`
}

// Row is the figures of a group of questions, by name, averaged over them.
type Row struct {
	Group   string             `json:"group"`
	N       int                `json:"n"`
	Figures map[string]float64 `json:"figures"`
}

// Point is what the first K results come to, averaged over the pooled questions.
type Point struct {
	K      int     `json:"k"`
	Tokens float64 `json:"tokens"`
	// Recall is the share of the evidence that those results cite. Where each
	// cites one turn, and no turn is cited twice, it is recall@K.
	Recall float64 `json:"recall"`
}

// summarize works out what follows from the answers.
func (r *Result) summarize(d *Dataset) {
	r.Groups = []Row{row(d.Pooled, pooled(r.Answers))}
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

func row(group string, answers []Answer) Row {
	out := Row{Group: group, N: len(answers), Figures: map[string]float64{}}
	for _, m := range metrics {
		out.Figures[m.name] = mean(answers, m.of)
	}
	return out
}

func answersOf(all []Answer, of func(*Answer) bool) (out []Answer) {
	for i := range all {
		if of(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

// pooled are the answers that a single figure is given for.
func pooled(all []Answer) []Answer {
	return answersOf(all, func(a *Answer) bool { return !a.Apart })
}
