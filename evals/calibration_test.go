package evals

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/retrieve"
)

func confident(values ...float64) (out []Trial) {
	for _, v := range values {
		out = append(out, Trial{Confidence: v})
	}
	return out
}

// The wanted figures are calculated by hand, the spreads by the formula of Hanley and
// McNeil.
func TestAreaUnder(t *testing.T) {
	for name, c := range map[string]struct {
		yes, no      []Trial
		area, spread float64
	}{
		"apart":            {confident(.8, .9), confident(.1, .2), 1, 0},
		"the wrong way":    {confident(.1), confident(.9), 0, 0},
		"all the same":     {confident(.5, .5), confident(.5, .5), .5, .632587},
		"three and a half": {confident(.9, .5), confident(.5, .1), .875, .407107},
	} {
		area, spread := areaUnder(c.yes, c.no, func(t *Trial) float64 { return t.Confidence })
		if d := cmp.Diff([]float64{c.area, c.spread}, []float64{area, spread}, cmpopts.EquateApprox(0, 1e-6)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestCalibration(t *testing.T) {
	trials := []Trial{{Confidence: 1, Right: true}, {Confidence: .5}, {Confidence: .25}, {Confidence: .75, Right: true}}
	brier, mean, right := calibration(trials)
	want := []float64{(0.25 + 0.0625 + 0.0625) / 4, 0.625, 0.5}
	if d := cmp.Diff(want, []float64{brier, mean, right}, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Errorf("Brier, mean, right (-want +got):\n%s", d)
	}
	for least, want := range map[float64]string{0: "0.000", .25: "0.000", .3: "0.250", .75: "0.500", 1: "0.750"} {
		if got := shareBelow(trials, least); got != want {
			t.Errorf("below %v: %s, want %s", least, got, want)
		}
	}
	if got := shareBelow(nil, 1); got != "-" {
		t.Errorf("of none: %s", got)
	}
}

// trialsOf has n answered questions and as many without an answer. The first sign after
// the constant is high for most whose first match is right, and the others are constant.
func trialsOf(set string, n int) (out []Trial) {
	for i := range 2 * n {
		signs := make([]float64, len(retrieve.Signs()))
		signs[0], signs[1] = 1, float64(i%10)/10
		t := Trial{Set: set, Kind: unanswered, Signs: signs}
		if i < n {
			t.Kind, t.Right = answered, i%10 > 4
		}
		out = append(out, t)
	}
	return out
}

// One set has weights, and no other set to be judged by; two are judged by each other.
func TestFitConfidence(t *testing.T) {
	one, two := trialsOf("one", 40), trialsOf("two", 40)
	if got := FitConfidence(one); !strings.Contains(got, "speaker") || strings.Contains(got, "others") {
		t.Errorf("got %s", got)
	}
	got := FitConfidence(append(one, two...))
	if !strings.Contains(got, "weights of the others") || !strings.Contains(got, "two: has an answer or none") {
		t.Errorf("got %s", got)
	}
	// Two ways of one set are no others.
	for i := range two {
		two[i].Set = "one, alone"
	}
	if got := FitConfidence(append(one, two...)); strings.Contains(got, "others") {
		t.Errorf("got %s", got)
	}
}

// The weights give a mean confidence that is the share of right first matches, where a
// question without an answer counts as a third of one with an answer.
func TestFitConfidenceIsCalibrated(t *testing.T) {
	trials := trialsOf("one", 40)
	weights := fitConfidence(trials)
	if weights[1] <= 0 {
		t.Errorf("weights %v", weights)
	}
	for i, w := range weights[2:] {
		if w != 0 {
			t.Errorf("%s tells nothing, and weighs %v", retrieve.Signs()[i+2], w)
		}
	}
	var mean, right, sum float64
	for _, one := range trials {
		w := 1.0
		if one.Kind == unanswered {
			w = mostMissing
		}
		mean, sum = mean+w*logistic(product(weights, one.Signs)), sum+w
		if one.Right {
			right += w
		}
	}
	if math.Abs(mean-right)/sum > 1e-6 {
		t.Errorf("the mean is %v, and %v are right", mean/sum, right/sum)
	}
}
