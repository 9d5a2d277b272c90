package evals

import "math"

// example is one observation for a logistic regression.
type example struct {
	values []float64 // the first is 1
	weight float64
	yes    bool
}

// regress returns the weights of a logistic regression by Newton's method (Hastie,
// Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, section 4.4.1). A
// small penalty on all weights but the first keeps them finite where a sign tells all.
func regress(examples []example) []float64 {
	const penalty, steps = 0.5, 30
	n := len(examples[0].values)
	out := make([]float64, n)
	for range steps {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
			if i > 0 {
				gradient[i], hessian[i][i] = -penalty*out[i], penalty
			}
		}
		for _, e := range examples {
			p := logistic(product(out, e.values))
			for i, v := range e.values {
				gradient[i] += e.weight * v * (one(e.yes) - p)
				for j, u := range e.values {
					hessian[i][j] += e.weight * v * u * p * (1 - p)
				}
			}
		}
		for i, step := range solve(hessian, gradient) {
			out[i] += step
		}
	}
	return out
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func product(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// one is 1 for true and 0 for false.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// solve returns x of a·x = b for a positive definite a, which it changes, by Gauss's
// elimination.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < n; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}
