package evals

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A constant alone is the log-odds of the share. A sign that is there or not has the
// difference of two log-odds, less what the penalty takes.
func TestRegress(t *testing.T) {
	log := math.Log
	for name, c := range map[string]struct {
		examples []example
		want     []float64
		within   float64
	}{
		"a constant": {[]example{
			{[]float64{1}, 1, true}, {[]float64{1}, 1, true}, {[]float64{1}, 1, true}, {[]float64{1}, 1, false},
		}, []float64{log(3)}, 1e-9},
		"weights are counts": {[]example{{[]float64{1}, 3, true}, {[]float64{1}, 1, false}}, []float64{log(3)}, 1e-9},
		"a sign": {[]example{
			{[]float64{1, 0}, 1e6, true}, {[]float64{1, 0}, 3e6, false},
			{[]float64{1, 1}, 8e6, true}, {[]float64{1, 1}, 1e6, false},
		}, []float64{-log(3), log(8) + log(3)}, 1e-5},
		"a sign that tells nothing": {[]example{
			{[]float64{1, 0}, 2, true}, {[]float64{1, 0}, 1, false},
			{[]float64{1, 1}, 2, true}, {[]float64{1, 1}, 1, false},
		}, []float64{log(2), 0}, 1e-9},
	} {
		if d := cmp.Diff(c.want, regress(c.examples), cmpopts.EquateApprox(0, c.within)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A sign that tells all has a weight that is finite, where the penalty balances the data:
// penalty × weight is the sum of what the examples miss.
func TestRegressBounded(t *testing.T) {
	examples := []example{{[]float64{1, 1}, 10, true}, {[]float64{1, -1}, 10, false}}
	w := regress(examples)
	if missed := 20 * (1 - logistic(w[1])); math.Abs(w[0]) > 1e-9 || math.Abs(0.5*w[1]-missed) > 1e-9 {
		t.Errorf("weights %v, and the examples miss %v", w, missed)
	}
}

func TestSolve(t *testing.T) {
	a := [][]float64{{4, 2, 0}, {2, 5, 1}, {0, 1, 3}}
	if d := cmp.Diff([]float64{1, -2, 3}, solve(a, []float64{0, -5, 7}), cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
