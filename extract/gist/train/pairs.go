package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/gist"
)

// How the weights of pairs are learned. There are few of them, so that more rounds change them little.
const (
	pairRounds = 300
	pairRate   = 0.1  // of the first steps; the last are near 0
	pairDecay  = 3e-4 // of weights, each step
)

// pair is two statements of one speaker, and whether the later one takes the place of the earlier.
type pair struct {
	before, after string
	seen          []float64 // nil if they cannot be compared
	replaces      bool
}

// readPairs reads a file of pairs: y or n, the earlier statement and the later one, with tabs between.
func readPairs(path string) (out []pair, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 || parts[0] != "y" && parts[0] != "n" {
			return nil, fmt.Errorf("%s, line %d: want y or n, and two statements", path, n)
		}
		p := pair{before: parts[1], after: parts[2], replaces: parts[0] == "y"}
		before, after := gist.Of(p.before), gist.Of(p.after)
		if after.Comparable(&before) {
			p.seen = after.PairOf(&before, nil)
		}
		out = append(out, p)
	}
	return out, lines.Err()
}

// learnPairs fits a logistic regression by stochastic gradient descent. Pairs that cannot be compared teach nothing.
func learnPairs(pairs []pair) []float64 {
	known := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.seen == nil })
	w := make([]float64, len(known[0].seen))
	random := rand.New(rand.NewPCG(1, 2)) // fixed, so that the same pairs give the same weights
	n := 0
	for range pairRounds {
		random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
		for i := range known {
			p := &known[i]
			slope := probability(w, p.seen)
			if p.replaces {
				slope--
			}
			speed := pairRate * (1 - float64(n)/float64(pairRounds*len(known)))
			n++
			for k, x := range p.seen {
				w[k] -= speed * (slope*x + pairDecay*w[k])
			}
		}
	}
	return w
}

// probability is the logistic function of the weighted sum.
func probability(w, seen []float64) float64 {
	sum := 0.0
	for i, x := range seen {
		sum += w[i] * x
	}
	return 1 / (1 + math.Exp(-sum))
}

// reportPairs tells how many of the pairs that replace, and of the others, are judged to do so at some bars.
func reportPairs(w []float64, pairs []pair) {
	for _, bar := range []float64{.5, .7, .8, .9, .95} {
		var n, judged [2]int
		for i := range pairs {
			p := &pairs[i]
			k := 0
			if p.replaces {
				k = 1
			}
			n[k]++
			if p.seen != nil && probability(w, p.seen) >= bar {
				judged[k]++
			}
		}
		fmt.Fprintf(os.Stderr, "bar %.2f: %d of %d that replace (%.3f), %d of %d others (%.3f)\n", bar,
			judged[1], n[1], float64(judged[1])/float64(n[1]), judged[0], n[0], float64(judged[0])/float64(n[0]))
	}
}

// runPairs learns the weights of the pairs of a file, and writes them.
func runPairs(texts, out string, apart int) error {
	names, _, err := readTexts("texts.tsv")
	if err != nil {
		return err
	}
	pairs, err := readPairs(texts)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d pairs\n", len(pairs))
	if apart > 0 {
		learned, kept := split(pairs, apart)
		reportPairs(learnPairs(learned), kept)
		return nil
	}
	w := learnPairs(pairs)
	reportPairs(w, pairs)
	var b strings.Builder
	for i, name := range append(slices.Clone(gist.PairNames), names...) {
		fmt.Fprintf(&b, "%s\t%.3f\n", name, w[i])
	}
	return os.WriteFile(out, []byte(b.String()), 0o644)
}
