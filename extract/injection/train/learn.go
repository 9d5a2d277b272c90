package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/memory"
)

// example is a text as a judge sees it: the features of its windows.
type example struct {
	attack bool
	// weight is how much the text counts beside others.
	weight float64
	// sentences has the buckets of the features of each sentence.
	sentences [][]uint32
}

// How the weights are learned.
const (
	rounds  = 16
	keep    = 0.75 // of the features of a window, each time, so that no word decides alone
	rate    = 0.3  // of a step
	decay   = 2e-7 // of a weight, each time that it is used
	bias    = -2.0 // most sentences are no orders
	written = 6.0  // weight of a text that was written for this; an ordinary one has 1
)

// learn returns the weights of the judges, each of which is learned beside the other.
func learn(lines, ordinary []text) (weights [2][]float64) {
	var wait sync.WaitGroup
	for _, judge := range []int{injection.JudgeForeign, injection.JudgeOwn} {
		wait.Go(func() { weights[judge] = fit(examplesFor(judge, lines, ordinary)) })
	}
	wait.Wait()
	return weights
}

// examplesFor are the texts that a judge learns from. Others may say nothing that a user
// may not, and of the wishes of a user their judge learns nothing. The judge of a user's
// own words learns that all that is harmless is, but not from the attacks of others: a
// user may say most of them.
func examplesFor(judge int, lines, ordinary []text) (out []example) {
	add := func(t text, weight float64) {
		from := memory.TrustExternal
		switch {
		case judge == injection.JudgeOwn:
			from = memory.TrustUser
		case t.from == memory.TrustAgent:
			from = t.from
		}
		e := example{attack: t.attack, weight: weight}
		injection.Features(t.words, from, func(list []uint32) {
			e.sentences = append(e.sentences, slices.Clone(list))
		})
		if len(e.sentences) > 0 {
			out = append(out, e)
		}
	}
	for _, t := range lines {
		own := t.from.Source() == memory.TrustUser
		if judge == injection.JudgeOwn && (own || !t.attack) || judge == injection.JudgeForeign && (t.attack || !own) {
			add(t, written*t.share)
		}
	}
	seen := map[string]bool{}
	for _, t := range ordinary {
		if !seen[t.words] {
			seen[t.words] = true
			add(t, 1)
		}
	}
	return out
}

// fit learns weights by logistic regression, with steps that shrink by AdaGrad. Of an
// attack the sentence counts that reads most like one; of a harmless text each does.
func fit(examples []example) []float64 {
	w := make([]float64, injection.Buckets)
	g := make([]float64, injection.Buckets) // sums of the squares of steps
	// The seed is fixed, so that the same texts give the same weights.
	random := rand.New(rand.NewPCG(1, 2))
	score := func(list []uint32) float64 {
		sum := 0.0
		for _, at := range list {
			sum += w[at]
		}
		return sum / injection.Size(list)
	}
	var kept []uint32
	step := func(list []uint32, want, weight float64) float64 {
		kept = kept[:0]
		for _, at := range list {
			if random.Float64() < keep {
				kept = append(kept, at)
			}
		}
		if len(kept) == 0 {
			return 0
		}
		list = kept
		z := score(list) + bias
		p := 1 / (1 + math.Exp(-z))
		d := (p - want) * weight / injection.Size(list)
		for _, at := range list {
			g[at] += d * d
			w[at] -= rate * d / math.Sqrt(g[at]+1e-8)
			w[at] *= 1 - decay
		}
		return -weight * (want*math.Log(p+1e-12) + (1-want)*math.Log(1-p+1e-12))
	}
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	// Texts come in another order each round: those of one file are alike.
	for round := range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for _, i := range order {
			e := &examples[i]
			if !e.attack {
				for _, list := range e.sentences {
					loss += step(list, 0, e.weight)
				}
				continue
			}
			best := e.sentences[0]
			for _, list := range e.sentences[1:] {
				if score(list) > score(best) {
					best = list
				}
			}
			loss += step(best, 1, e.weight)
		}
		fmt.Fprintf(os.Stderr, "round %d: loss %.4f\n", round+1, loss/float64(len(order)))
	}
	return w
}

// pack writes weights as bytes, the largest as 127.
func pack(w []float64) []byte {
	most := 0.0
	for _, x := range w {
		most = max(most, math.Abs(x))
	}
	scale := most / 127
	out := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(scale)))
	for _, x := range w {
		out = append(out, byte(int8(math.Round(x/scale))))
	}
	return out
}
