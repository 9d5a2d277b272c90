package gist

import (
	_ "embed" // for pairs.txt
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A later statement may take the place of an earlier one: "I switched to ING" of "My account is at the Sparkasse". The
// weights of pairs.txt judge that by logistic regression. They see the themes and kinds of both sentences, the words
// that both have, who is spoken of, and words such as "now". Some pairs are not judged at all (see Comparable): the
// later statement is about somebody else or something beside the first, in jest, in quotes, or of long ago.

// pairsFile has the weights of pairs that train learned: a name and a weight a line.
//
//go:embed pairs.txt
var pairsFile string

// PairNames are the names of the numbers that weights of pairs see, in order. Behind them are the themes.
var PairNames = []string{
	"bias", "near", "cosine", "near change", "near state",
	"after state", "after change", "after end", "after ask", "after not",
	"before state", "before change", "before end", "before ask", "before not",
	"shared", "share", "change", "now", "new", "correction", "denied", "self", "passes",
	"another subject", "other kin", "kin gone", "speaker instead", "third", "third of nobody", "theirs", "mine",
	"same owned", "other owned", "owned elsewhere",
	"both numbers", "one number", "both names", "after length", "before length",
}

// pairWeights are the weights, in the order of PairNames and the themes.
var pairWeights = sync.OnceValue(func() []float64 {
	w, err := parsePairs(pairsFile, load().names)
	if err != nil {
		return nil // weights of another shape are those of a program that learns new ones
	}
	return w
})

// parsePairs reads the file of the weights of pairs.
func parsePairs(file string, themes []string) ([]float64, error) {
	var out []float64
	names := append(slices.Clone(PairNames), themes...)
	for line := range strings.Lines(file) {
		name, weight, ok := strings.Cut(strings.TrimSpace(line), "\t")
		w, err := strconv.ParseFloat(weight, 64)
		if !ok || err != nil || len(out) == len(names) || names[len(out)] != name {
			return nil, fmt.Errorf("pairs: line %d: %q", len(out)+1, line)
		}
		out = append(out, w)
	}
	if len(out) != len(names) {
		return nil, fmt.Errorf("pairs: %d weights, want %d", len(out), len(names))
	}
	return out, nil
}

// Replaces is the probability that a statement takes the place of one that its speaker made before, in another session:
// that what the earlier one says holds no longer. It is 0 where the later one is about somebody else, or tells of
// something that leaves the earlier one as it is.
func (r *Reading) Replaces(before *Reading) float64 {
	w := pairWeights()
	if w == nil || !r.Comparable(before) {
		return 0
	}
	var room [MaxThemes + 64]float64
	sum := 0.0
	for i, x := range r.PairOf(before, room[:0]) {
		sum += float64(w[i] * x) // the conversion keeps a processor from fusing both
	}
	return 1 / (1 + math.Exp(-sum))
}

// Comparable reports whether a statement is one about the same person as an earlier one, and tells of what is so.
func (r *Reading) Comparable(before *Reading) bool {
	c, b := &r.cues, &before.cues
	switch {
	case c.length == 0 || b.length == 0 || c.fading:
		return false
	case c.another(b) && !c.mine:
		return false
	case c.first && b.subject != "" && !b.self && !slices.Contains(c.kin, b.subject):
		return false // "I live in Rome now" after "my cousin lives in Porto"
	case len(c.owned) > 0 && len(b.owned) > 0 && !meet(c.owned, b.owned) && 2*shared(c.stems, b.stems) > len(b.stems):
		return false // "my lamp is red, a present of aunt Maria" after the same of a kettle
	case c.named != "" && !meet(stemsOfWord(c.named), b.stems) && !b.third:
		return false // "Ann moved to Rome" after "Eva lives in Bonn"
	case b.named != "" && !meet(stemsOfWord(b.named), c.stems) && !c.third && !c.theirs:
		return false // "I am not allergic anymore" after "Anna is allergic to nuts"
	case c.owner != "" && !slices.Contains(b.stems, c.owner):
		return false
	}
	return true
}

// another reports whether a statement begins with somebody whom the earlier one does not name: "mum has a new number".
func (c *cues) another(before *cues) bool {
	return c.subject != "" && !slices.ContainsFunc(before.kin, func(k string) bool { return Related(k, c.subject) })
}

// PairOf appends to out what the weights see of two statements.
func (r *Reading) PairOf(before *Reading, out []float64) []float64 {
	c, b := &r.cues, &before.cues
	near := r.Near(before)
	// The themes of both, and whether the later one tells of a change.
	out = append(out, 1, near, r.cosine(before), near*r.Changes(), near*before.Asserts())
	for _, k := range r.kinds {
		out = append(out, float64(k))
	}
	for _, k := range before.kinds {
		out = append(out, float64(k))
	}
	// The words that both have.
	common := shared(c.stems, b.stems)
	others := slices.ContainsFunc(c.kin, func(k string) bool { return !slices.Contains(b.kin, k) })
	out = append(out, float64(min(common, 3))/3, float64(common)/float64(1+min(len(c.stems), len(b.stems))),
		one(c.change), one(c.now), one(c.new), one(c.fixes), one(meet(c.denied, b.stems)), one(c.self), one(c.passes),
		one(c.another(b)), one(others), one(len(b.kin) > 0 && len(c.kin) == 0),
		one(c.subject == "" && b.subject != "" && c.self && !slices.Contains(c.kin, b.subject)), one(c.third),
		one(c.third && len(b.kin) == 0 && !b.name && !b.third), one(c.theirs && !b.theirs), one(c.mine),
		one(meet(c.owned, b.owned)), one(len(c.owned) > 0 && len(b.owned) > 0 && !meet(c.owned, b.owned)),
		one(len(c.owned) > 0 && len(b.owned) == 0 && !meet(c.owned, b.stems)),
		one(c.number && b.number), one(c.number != b.number),
		one(c.name && b.name), float64(min(c.length, 20))/20, float64(min(b.length, 20))/20)
	// Each theme has a weight: one employer follows another, while hobbies are several.
	for i := range load().names {
		out = append(out, float64(r.roots[i]*before.roots[i]))
	}
	return out
}

// stemsOfWord is the stem of a word, if it has one.
func stemsOfWord(w string) []string {
	if stem := stemOf(w); stem != "" {
		return []string{stem}
	}
	return nil
}

// shared is how many of some stems are among others; both are sorted.
func shared(a, b []string) (n int) {
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); ok {
			n++
		}
	}
	return n
}

// meet reports whether any of some stems is among others.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// cosine is that of the vectors of two sentences.
func (r *Reading) cosine(o *Reading) float64 {
	dot, a, b := 0, 0, 0
	for i, x := range r.vector {
		y := int(o.vector[i])
		dot, a, b = dot+int(x)*y, a+int(x)*int(x), b+y*y
	}
	if a == 0 || b == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(a)*float64(b))
}

// one is a cue as a number.
func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
