package evals

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/retrieve"
)

// One set has weights, and no other set to be judged by.
func TestFitConfidenceOfOneSet(t *testing.T) {
	var trials []Trial
	for i := range 20 {
		signs := make([]float64, len(retrieve.Signs()))
		signs[0], signs[1] = 1, float64(i)/20
		kind := "answered"
		if i%3 == 0 {
			kind = "unanswered"
		}
		trials = append(trials, Trial{Set: "one", Kind: kind, Right: kind == "answered" && i > 8, Signs: signs})
	}
	if got := FitConfidence(trials); !strings.Contains(got, "speaker") || strings.Contains(got, "others") {
		t.Errorf("got %s", got)
	}
}
