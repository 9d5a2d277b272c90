package evals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The paired bootstrap draws from the differences of two settings, question by
// question, with replacement. The interval is the percentile interval
// (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13),
// p that of the two-sided test on studentized differences moved to mean zero
// (chapter 16 there; Sakai, "Evaluating evaluation metrics based on the
// bootstrap", SIGIR 2006, figure 1). The observed difference counts as one more
// draw, so that p is never 0 (Davison and Hinkley, "Bootstrap Methods and their
// Application", 1997, chapter 4).
const (
	resamples  = 10_000
	seed       = 1993
	confidence = 0.95
	// significant is the p below which a difference is marked as one.
	significant = 0.05
)

// Difference is by how much one setting's figure exceeds another's, on average
// over questions.
type Difference struct {
	Mean      float64
	Low, High float64 // 95 % interval
	P         float64 // probability of a difference as large if there were none
}

// bootstrap summarizes the differences of a figure, question by question.
func bootstrap(differences []float64) Difference {
	n := len(differences)
	if n == 0 {
		return Difference{P: 1}
	}
	center, seen := student(differences, 0)
	random := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, resamples)
	sample := make([]float64, n)
	extreme := 1
	for i := range means {
		for j := range sample {
			sample[j] = differences[random.IntN(n)]
		}
		var t float64
		if means[i], t = student(sample, center); math.Abs(t) >= math.Abs(seen) {
			extreme++
		}
	}
	slices.Sort(means)
	return Difference{
		Mean: center,
		Low:  quantile(means, (1-confidence)/2),
		High: quantile(means, (1+confidence)/2),
		P:    float64(extreme) / (resamples + 1),
	}
}

// student returns the mean of values, and its distance from center in standard
// errors, which is infinite if all values are the same and not the center.
func student(values []float64, center float64) (mean, t float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	off := mean - center
	if math.Abs(off) < 1e-12 { // a rounding error
		return mean, 0
	}
	return mean, off / math.Sqrt(squares/(n-1)/n)
}

// paired returns the differences of a figure, question by question. Both results
// must be of the same questions.
func paired(a, b []Answer, of func(*Answer) float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d questions cannot be compared with %d", len(a), len(b))
	}
	out := make([]float64, len(a))
	for i := range a {
		if a[i].Conversation != b[i].Conversation || a[i].Question != b[i].Question {
			return nil, fmt.Errorf("questions differ: %q of %s, and %q of %s",
				a[i].Question, a[i].Conversation, b[i].Question, b[i].Conversation)
		}
		out[i] = of(&a[i]) - of(&b[i])
	}
	return out, nil
}
