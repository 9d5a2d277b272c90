package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/memoryd/memoryd/extract/injection"
)

// folds is how many parts the texts are split into, and noFold takes all of them to learn
// from. Rows are never drawn at random: texts of one template, or with the same words, would
// be in both parts, and say nothing of how new ones are judged.
const (
	folds  = 5
	noFold = -1
)

// split parts texts by their templates, so that a template is in one part alone.
func split(all []text, fold int) (rest, held []text) {
	for _, t := range all {
		h := fnv.New32a()
		h.Write([]byte(t.words)) // of which no write fails
		if int(h.Sum32()%folds) == fold {
			held = append(held, t)
		} else {
			rest = append(rest, t)
		}
	}
	return rest, held
}

// fewWords is how many words a slot may have at most to be left whole: names and numbers.
const fewWords = 8

// without leaves out the share of a fold of the words of slots.
func without(slots map[string][]string, fold int) map[string][]string {
	return share(slots, func(i int) bool { return i%folds != fold })
}

// only keeps the share of a fold of the words of slots.
func only(slots map[string][]string, fold int) map[string][]string {
	return share(slots, func(i int) bool { return i%folds == fold })
}

func share(slots map[string][]string, keep func(i int) bool) map[string][]string {
	out := map[string][]string{}
	for name, words := range slots {
		for i, w := range words {
			if len(words) < fewWords || keep(i) {
				out[name] = append(out[name], w)
			}
		}
	}
	return out
}

// count is how many texts of a kind there are, and how many of them pass each bar.
type count struct {
	all  int
	over [len(bars)]int
}

// bars are the scores whose counts are shown, beside the bar of the source.
var bars = [...]float64{-2, -1.5, -1, -.5, 0, .5, 1}

// report prints by language and source how many of the texts that were held back, and that
// no rule finds, a judge with these weights holds back.
func report(held []text, weights [2][]float64) {
	counts := map[string]*count{}
	for _, t := range held {
		if injection.ByRules(t.words, t.from) != "" {
			continue
		}
		best := math.Inf(-1)
		injection.Windows(t.words, t.from, func(judge int, bar float64, list []uint32) {
			sum := 0.0
			for _, at := range list {
				sum += weights[judge][at]
			}
			best = max(best, sum/injection.Size(list)-bar)
		})
		kind := map[bool]string{true: "attack  ", false: "harmless"}[t.attack]
		for _, name := range []string{kind + " " + t.language, kind + " " + string(t.from), kind + " all"} {
			n := counts[name]
			if n == nil {
				n = &count{}
				counts[name] = n
			}
			n.all++
			for i, bar := range bars {
				if best > bar {
					n.over[i]++
				}
			}
		}
	}
	fmt.Printf("%-18s texts  per cent over the bar and %v\n", "", bars)
	for _, name := range sortedKeys(counts) {
		n := counts[name]
		var b strings.Builder
		for _, over := range n.over {
			fmt.Fprintf(&b, " %5.1f", 100*float64(over)/float64(n.all))
		}
		fmt.Printf("%-18s %5d %s\n", name, n.all, b.String())
	}
}
