package evals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The paired bootstrap: the differences of two settings, question by question,
// are drawn anew, with replacement. The interval is the percentile interval
// (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13),
// p that of the two-sided test on studentized differences moved to mean zero
// (chapter 16 there; Sakai, "Evaluating evaluation metrics based on the
// bootstrap", SIGIR 2006, figure 1), counting what was seen as one more draw, so
// that it is never 0 (Davison and Hinkley, "Bootstrap Methods and their
// Application", 1997, chapter 4).
const (
	resamples  = 10_000
	seed       = 1993
	confidence = 0.95
	// significant is the p below which a difference is marked as one.
	significant = 0.05
)

// Difference is how much one setting's figure is above another's, on average
// over questions.
type Difference struct {
	Mean      float64
	Low, High float64 // 95 % interval
	P         float64 // of a difference as large, were there none
}

// bootstrap tells what differences come to.
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
	return Difference{Mean: center, Low: quantile(means, (1-confidence)/2), High: quantile(means, (1+confidence)/2), P: float64(extreme) / (resamples + 1)}
}

// student gives the mean of values, and how far from center it is in standard
// errors; that is without end where all are the same but not the center.
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
	if math.Abs(off) < 1e-12 { // what rounding leaves of none
		return mean, 0
	}
	return mean, off / math.Sqrt(squares/(n-1)/n)
}

// paired gives the differences of a figure, question by question. Both must
// have been asked the same.
func paired(a, b []Answer, of func(*Answer) float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d questions cannot be compared with %d", len(a), len(b))
	}
	out := make([]float64, len(a))
	for i := range a {
		if a[i].Conversation != b[i].Conversation || a[i].Question != b[i].Question {
			return nil, fmt.Errorf("questions differ: %q of %s, and %q of %s", a[i].Question, a[i].Conversation, b[i].Question, b[i].Conversation)
		}
		out[i] = of(&a[i]) - of(&b[i])
	}
	return out, nil
}
