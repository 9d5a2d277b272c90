package evals

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/retrieve"
)

// ConfidenceTable reports trials: how well confidence and score part questions that have
// an answer from those that have none, how far confidence is a probability, its curve
// in ten bins, and the shares of questions that a minConfidence drops.
func ConfidenceTable(trials []Trial) string {
	var out strings.Builder
	row := func(name string, yes, no []Trial) {
		if len(yes) == 0 || len(no) == 0 {
			return
		}
		byConfidence := func(t *Trial) float64 { return t.Confidence }
		area, spread := areaUnder(yes, no, byConfidence)
		score, _ := areaUnder(yes, no, func(t *Trial) float64 { return t.Score })
		fmt.Fprintf(&out, "%-42s %5d %5d   %.3f ± %.3f   %.3f\n", name, len(yes), len(no), area, spread, score)
	}
	fmt.Fprintf(&out, "%-42s %5s %5s   %-13s   score\n", "area under the curve", "yes", "no", "confidence")
	for _, set := range setsOf(trials) {
		of := filtered(trials, func(t *Trial) bool { return t.Set == set && t.Kind == answered })
		row(set+": has an answer or none", of,
			filtered(trials, func(t *Trial) bool { return t.Set == set && t.Kind == unanswered }))
		row(set+": asked of the right speaker or other", ofSpeakers(of),
			filtered(trials, func(t *Trial) bool { return t.Set == set && t.Kind == swapped }))
		row(set+": answer is first or not", filtered(of, func(t *Trial) bool { return t.Right }),
			filtered(of, func(t *Trial) bool { return !t.Right }))
	}
	natural := filtered(trials, func(t *Trial) bool { return t.Kind != swapped })
	fmt.Fprintf(&out, "\n%-42s %5s   %5s   confidence   right\n", "calibration", "n", "Brier")
	for _, set := range append(setsOf(trials), "all") {
		of := filtered(natural, func(t *Trial) bool { return set == "all" || t.Set == set })
		brier, mean, right := calibration(of)
		fmt.Fprintf(&out, "%-42s %5d   %.3f        %.3f   %.3f\n", set, len(of), brier, mean, right)
	}
	fmt.Fprintf(&out, "\n%-42s %5s   %5s   confidence   right\n", "curve of all", "n", "")
	for i := range bins {
		of := filtered(natural, func(t *Trial) bool { return min(int(t.Confidence*bins), bins-1) == i })
		if len(of) > 0 {
			_, mean, right := calibration(of)
			fmt.Fprintf(&out, "%-42s %5d           %.3f   %.3f\n",
				fmt.Sprintf("%.1f to %.1f", float64(i)/bins, float64(i+1)/bins), len(of), mean, right)
		}
	}
	fmt.Fprintf(&out, "\n%-42s %13s   no answer   right\n", "dropped", "minConfidence")
	for _, set := range setsOf(natural) {
		of := filtered(natural, func(t *Trial) bool { return t.Set == set })
		none := filtered(of, func(t *Trial) bool { return t.Kind == unanswered })
		right := filtered(of, func(t *Trial) bool { return t.Right })
		for _, least := range [...]float64{0.15, 0.3} {
			fmt.Fprintf(&out, "%-42s %13.2f   %9s   %s\n",
				set, least, shareBelow(none, least), shareBelow(right, least))
		}
	}
	return out.String()
}

// bins of the curve.
const bins = 10

// shareBelow is the share of trials that a minConfidence drops; "-" if there are none.
func shareBelow(trials []Trial, least float64) string {
	if len(trials) == 0 {
		return "-"
	}
	below := filtered(trials, func(t *Trial) bool { return t.Confidence < least })
	return fmt.Sprintf("%.3f", float64(len(below))/float64(len(trials)))
}

// setsOf returns the sets of trials, in their order.
func setsOf(trials []Trial) (out []string) {
	for i := range trials {
		if !slices.Contains(out, trials[i].Set) {
			out = append(out, trials[i].Set)
		}
	}
	return out
}

func filtered(trials []Trial, keep func(*Trial) bool) (out []Trial) {
	for i := range trials {
		if keep(&trials[i]) {
			out = append(out, trials[i])
		}
	}
	return out
}

// ofSpeakers are the answered questions that are asked of the other speaker as well.
func ofSpeakers(trials []Trial) []Trial {
	return filtered(trials, func(t *Trial) bool { return t.Names })
}

// calibration returns the mean squared error of confidence (Brier, "Verification of
// forecasts expressed in terms of probability", 1950), its mean, and the share of trials
// whose first match answers, which a probability has for its mean.
func calibration(trials []Trial) (brier, mean, right float64) {
	n := max(1, float64(len(trials)))
	for _, t := range trials {
		d := t.Confidence - one(t.Right)
		brier, mean, right = brier+d*d/n, mean+t.Confidence/n, right+one(t.Right)/n
	}
	return brier, mean, right
}

// areaUnder returns the area under the curve of a figure that parts yes from no: the
// probability that one of yes has more than one of no. spread is half of its 95 %
// interval (Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982).
func areaUnder(yes, no []Trial, of func(*Trial) float64) (area, spread float64) {
	for i := range yes {
		for j := range no {
			switch a, b := of(&yes[i]), of(&no[j]); {
			case a > b:
				area++
			case a == b:
				area += 0.5
			}
		}
	}
	n, m := float64(len(yes)), float64(len(no))
	area /= n * m
	better, worse := area/(2-area), 2*area*area/(1+area)
	variance := (area*(1-area) + (n-1)*(better-area*area) + (m-1)*(worse-area*area)) / (n * m)
	return area, 1.96 * math.Sqrt(max(variance, 0))
}

// FitConfidence returns the weights of the signs that fit trials, as text for package
// retrieve, and how well those do in each set that are fitted on the others.
//
// A user first needs to be told that nothing answers. Questions whose answer is
// there but not first are neither, so that they count little while the signs get their
// weights relative to each other; then all questions give the constant and the scale, so
// that confidence is the probability that the first match answers.
func FitConfidence(trials []Trial) string {
	var out strings.Builder
	for i, w := range fitConfidence(trials) {
		fmt.Fprintf(&out, "%-10s %6.2f\n", retrieve.Signs()[i], w)
	}
	if !slices.ContainsFunc(trials, func(t Trial) bool { return groupOf(t.Set) != groupOf(trials[0].Set) }) {
		return out.String() // no other set to fit on
	}
	out.WriteString("\neach set with the weights of the others\n")
	var held []Trial
	for _, set := range setsOf(trials) {
		group := groupOf(set)
		weights := fitConfidence(filtered(trials, func(t *Trial) bool { return groupOf(t.Set) != group }))
		for _, t := range filtered(trials, func(t *Trial) bool { return t.Set == set }) {
			t.Confidence = logistic(product(weights, t.Signs))
			held = append(held, t)
		}
	}
	out.WriteString(ConfidenceTable(held))
	return out.String()
}

// groupOf is the dataset of a set: "beam" of "beam, messages of the user".
func groupOf(set string) string {
	group, _, _ := strings.Cut(set, ",")
	return group
}

// The weights of trials in the fit of the signs. A set that is there in two ways counts
// half in each. How many questions of a set have no answer is the choice of its authors, so
// that all of them together count as this share of those with one, and in the constant and
// the scale at most as mostMissing.
const (
	notFirst    = 0.1 // an answer that is there but not first
	otherOne    = 0.4 // there are as many of these as of questions
	missing     = 0.4
	mostMissing = 1.0 / 3 // nearly as in LoCoMo
)

func fitConfidence(trials []Trial) []float64 {
	var relative, all []example
	sets := setsOf(trials)
	each := map[string]float64{} // how many questions of a set have an answer for each that has none
	for _, set := range sets {
		each[set] = perMissing(trials, set)
	}
	for i := range trials {
		t := &trials[i]
		weight := 1.0
		if slices.ContainsFunc(sets, func(s string) bool { return s != t.Set && groupOf(s) == groupOf(t.Set) }) {
			weight = 0.5
		}
		signs := example{values: t.Signs, weight: weight, yes: t.Right}
		scale := signs
		switch {
		case t.Kind == swapped:
			signs.weight *= otherOne
			scale.weight = 0
		case t.Kind == answered && !t.Right:
			signs.weight *= notFirst
		case t.Kind == unanswered:
			signs.weight *= missing * each[t.Set]
			scale.weight *= min(1, mostMissing*each[t.Set])
		}
		relative, all = append(relative, signs), append(all, scale)
	}
	weights := regress(relative)
	for i := range all {
		all[i].values = []float64{1, product(weights, all[i].values)}
	}
	scale := regress(all)
	for i := range weights {
		weights[i] *= scale[1]
	}
	weights[0] += scale[0]
	return weights
}

// perMissing is how many questions of a set have an answer for each that has none.
func perMissing(trials []Trial, set string) float64 {
	var yes, no float64
	for i := range trials {
		if t := &trials[i]; t.Set == set {
			yes, no = yes+one(t.Kind == answered), no+one(t.Kind == unanswered)
		}
	}
	return yes / max(no, 1)
}
