package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/memoryd/memoryd/extract/learned"
)

// How the weights are learned.
const (
	rounds         = 14
	keep           = 0.6  // of the words of a sentence, each time, so that no word decides alone
	blind          = 0.35 // of the sentences are learned without their vector, each time
	rate           = 0.7
	vectorRate     = 1.0
	decay          = 1e-6
	sure           = 0.8  // a sentence of ordinary talk with such a score teaches nothing
	ordinaryShare  = 0.25 // of ordinary talk that a round sees
	ordinaryWeight = 0.5  // of a sentence of ordinary talk
	begin          = -4.0 // of 100 labels a sentence has one or two
)

// A step moves the weights of the labels that a sentence is judged wrongly by, and of no others: of 120 labels nearly
// all are far from a sentence, and leaving those out saves most of the time. Biases begin low for the same reason.

// weights are those of all labels: for each bucket, and each number of a vector, one a label.
type weights struct {
	labels  []string
	biases  []float64
	buckets []float64
	vector  []float64
}

// Each label is learned on its own, beside the others: a sentence may bear several, and most bear none. The parts of
// the score have rates of their own, since a number of a vector is far smaller than a word. What a sentence teaches:
//
//   - one of texts.txt, that it bears its labels and no others. A sentence of a change states the new value too, and
//     teaches the label of the state nothing.
//   - one of ordinary talk, that it bears no label of a change and is no order, at a lower weight. It may state
//     anything. If a judge is sure of it, it teaches nothing: talk has some changes, and to deny them would cost more.

// learn fits a logistic regression for each label, with steps that shrink by AdaGrad.
func learn(labels []string, examples []example) *weights {
	l := len(labels)
	w := &weights{
		labels: labels, biases: make([]float64, l),
		buckets: make([]float64, l*learned.Buckets), vector: make([]float64, l*learned.Dimension),
	}
	squares, vectorSquares := make([]float64, len(w.buckets)), make([]float64, len(w.vector))
	biasSquares := make([]float64, l)
	for i := range w.biases {
		w.biases[i] = begin
	}
	states := statesOf(labels)
	random := rand.New(rand.NewPCG(1, 2))
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	scores, slopes := make([]float64, l), make([]float64, l)
	var unseen [learned.Dimension]int8
	var kept []uint32
	var active []int // the labels that an example moves
	for round := range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for _, at := range order {
			e := &examples[at]
			if e.ordinary && random.Float64() > ordinaryShare {
				continue
			}
			kept = kept[:0]
			for _, b := range e.list {
				if random.Float64() < keep {
					kept = append(kept, b)
				}
			}
			size := learned.Size(e.list)
			vector := &e.vector
			if random.Float64() < blind {
				vector = &unseen
			}
			w.score(kept, vector, size*keep, scores)
			loss += slopesOf(e, states, scores, slopes)
			active = active[:0]
			for i, g := range slopes {
				if g == 0 {
					continue
				}
				active = append(active, i)
				biasSquares[i] += g * g
				w.biases[i] -= rate * g / math.Sqrt(biasSquares[i]+1)
			}
			for _, b := range kept {
				step(active, w.buckets[int(b)*l:][:l], squares[int(b)*l:][:l], slopes, 1/size, rate)
			}
			for d, x := range vector {
				if x != 0 {
					step(active, w.vector[d*l:][:l], vectorSquares[d*l:][:l], slopes,
						float64(x)/learned.VectorStep, vectorRate)
				}
			}
		}
		fmt.Fprintf(os.Stderr, "round %d: loss %.4f\n", round+1, loss/float64(len(order)))
	}
	return w
}

// step moves the weights of some labels against slopes times x.
func step(active []int, w, squares, slopes []float64, x, rate float64) {
	for _, i := range active {
		g := slopes[i] * x
		squares[i] += g * g
		w[i] = w[i]*(1-decay) - rate*g/math.Sqrt(squares[i]+1e-3)
	}
}

// score gives the scores of all labels.
func (w *weights) score(list []uint32, vector *[learned.Dimension]int8, size float64, out []float64) {
	l := len(w.labels)
	clear(out)
	for _, b := range list {
		row := w.buckets[int(b)*l:][:l]
		for i := range out {
			out[i] += row[i]
		}
	}
	for i := range out {
		out[i] = out[i]/size + w.biases[i]
	}
	for d, x := range vector {
		if x == 0 {
			continue
		}
		row, n := w.vector[d*l:][:l], float64(x)/learned.VectorStep
		for i := range out {
			out[i] += n * row[i]
		}
	}
}

// slopesOf gives the slopes of the loss, and the loss. A sentence that tells of a change states the new value as
// well, so that the label of the state learns nothing from it. Slopes near 0 are left out, which saves most of the
// time.
func slopesOf(e *example, states []int, scores, out []float64) (loss float64) {
	if e.ordinary {
		return ordinarySlopes(states, scores, out)
	}
	for i, z := range scores {
		p := 1 / (1 + math.Exp(-z))
		out[i] = p
		if p < 0.003 {
			out[i] = 0
		}
		loss -= math.Log(1 - p + 1e-12)
	}
	for _, i := range e.labels {
		p := 1 / (1 + math.Exp(-scores[i]))
		out[i] = p - 1
		loss += math.Log(1-p+1e-12) - math.Log(p+1e-12)
		if s := states[i]; s >= 0 {
			out[s] = 0
		}
	}
	return loss
}

// ordinarySlopes are those of ordinary talk: it states many things, and hardly ever tells of a change or gives an
// order.
func ordinarySlopes(states []int, scores, out []float64) (loss float64) {
	clear(out)
	for i, z := range scores {
		// Talk has some changes: a judge that is sure of one is mostly right.
		if p := 1 / (1 + math.Exp(-z)); states[i] != aState && p > 0.003 && p < sure {
			out[i] = p * ordinaryWeight
			loss -= math.Log(1 - p + 1e-12)
		}
	}
	return loss
}

// aState marks the label of a state.
const aState = -2

// statesOf gives for each label of a change that of the state, or -1, and aState for a state.
func statesOf(labels []string) []int {
	out := make([]int, len(labels))
	for i, name := range labels {
		out[i] = -1
		if strings.HasSuffix(name, ".s") {
			out[i] = aState
		}
		for k, other := range labels {
			if slot, ok := strings.CutSuffix(name, ".c"); ok && other == slot+".s" {
				out[i] = k
			}
		}
	}
	return out
}

// pack writes weights as bytes, the largest of a kind as 127; package learned tells the layout.
func (w *weights) pack() []byte {
	names := strings.Join(w.labels, "\n")
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	out = append(out, names...)
	words, vector := scaleOf(w.buckets), scaleOf(w.vector)
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(words)))
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(vector)))
	for _, b := range w.biases {
		out = append(out, byte(int8(max(-127, min(127, math.Round(b*8))))))
	}
	for _, x := range w.buckets {
		out = append(out, byte(int8(math.Round(x/words))))
	}
	for _, x := range w.vector {
		out = append(out, byte(int8(math.Round(x/vector))))
	}
	return out
}

func scaleOf(w []float64) float64 {
	most := 1e-9
	for _, x := range w {
		most = max(most, math.Abs(x))
	}
	return most / 127
}

// report tells how the sentences that were learned from are judged.
func (w *weights) report(examples []example) {
	scores := make([]float64, len(w.labels))
	hit, all, false0, false1, ordinary := 0, 0, 0, 0, 0
	for i := range examples {
		e := &examples[i]
		w.score(e.list, &e.vector, learned.Size(e.list), scores)
		top := 0.0
		for k, s := range scores {
			if strings.HasSuffix(w.labels[k], ".c") {
				top = max(top, s)
			}
		}
		switch {
		case e.ordinary:
			ordinary++
			if top > 0 {
				false1++
			}
		case len(e.labels) == 0 && top > 0:
			false0++
		}
		for _, k := range e.labels {
			all++
			if scores[k] > 0 {
				hit++
			}
		}
	}
	fmt.Fprintf(os.Stderr,
		"labels found: %d of %d; changes found in sentences without: %d, in %d of ordinary talk: %d\n",
		hit, all, false0, ordinary, false1)
}
