package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/memoryd/memoryd/extract/gist"
)

// How the weights are learned.
const (
	rounds    = 24
	keep      = 0.5  // of the words of a sentence, each time, so that no word decides alone
	rate      = 0.08 // of the first steps; the last are near 0
	wordScale = 3    // of the words of a sentence beside its vector
	dense     = 3    // of the vector
	decay     = 1e-4 // of weights, for each sentence
	rare      = 2    // a word or pair of fewer sentences teaches nothing
)

// weights are those of all labels: for each bucket, and each number of a vector, one a label. The labels are the
// themes, and behind them the kinds.
type weights struct {
	names           []string
	biases          []float64
	buckets, vector []float64
	words, dense    float64 // how much words and vectors count; 1 once all is learned
}

// learn fits two multinomial logistic regressions over the same features, one for themes and one for kinds, by
// stochastic gradient descent. A sentence of kind "not" teaches no theme: it may be of any other.
func learn(names []string, examples []example) *weights {
	t := len(names)
	l := t + gist.Kinds
	w := &weights{
		names: names, biases: make([]float64, l),
		buckets: make([]float64, l*gist.Buckets), vector: make([]float64, l*gist.Dimension),
		words: wordScale, dense: dense,
	}
	random := rand.New(rand.NewPCG(1, 2)) // fixed, so that the same texts give the same weights
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	often := make([]int, gist.Buckets)
	for i := range examples {
		for _, b := range examples[i].list {
			often[b]++
		}
	}
	slopes := make([]float64, l)
	var kept []uint32
	n := 0
	for round := range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for _, at := range order {
			e := &examples[at]
			kept = kept[:0]
			for _, b := range e.list {
				if random.Float64() < keep && often[b] >= rare {
					kept = append(kept, b)
				}
			}
			size := gist.Size(e.list) * keep
			w.score(kept, e.vector, size, slopes)
			loss += descend(slopes[:t], e.theme, e.kind != gist.KindNone)
			loss += descend(slopes[t:], e.kind, true)
			speed := rate * (1 - float64(n)/float64(rounds*len(order)))
			n++
			for i, g := range slopes {
				w.biases[i] -= speed * g
			}
			for _, b := range kept {
				step(w.buckets[int(b)*l:][:l], slopes, wordScale/size, speed)
			}
			for d, x := range e.vector {
				if x != 0 {
					step(w.vector[d*l:][:l], slopes, dense*float64(x)/gist.VectorStep, speed)
				}
			}
		}
		shrink := math.Exp(-decay * rate * (1 - (float64(round)+0.5)/rounds) * float64(len(order)))
		for i := range w.buckets {
			w.buckets[i] *= shrink
		}
		for i := range w.vector {
			w.vector[i] *= shrink
		}
		fmt.Fprintf(os.Stderr, "round %d: loss %.4f\n", round+1, loss/float64(len(order)))
	}
	for i := range w.buckets {
		w.buckets[i] *= wordScale
	}
	for i := range w.vector {
		w.vector[i] *= dense
	}
	w.words, w.dense = 1, 1
	return w
}

// step moves weights against slopes times x.
func step(w, slopes []float64, x, speed float64) {
	for i, s := range slopes {
		w[i] -= speed * s * x
	}
}

// descend turns scores into the slopes of the loss, the logarithm of the probability of one of them. Slopes are 0 if
// nothing is to be learned.
func descend(scores []float64, want int, learned bool) float64 {
	if !learned {
		clear(scores)
		return 0
	}
	gist.Softmax(scores)
	loss := -math.Log(scores[want] + 1e-12)
	scores[want]--
	return loss
}

// score gives the scores of all labels.
func (w *weights) score(list []uint32, vector [gist.Dimension]int8, size float64, out []float64) {
	l := len(w.biases)
	clear(out)
	for _, b := range list {
		for i, x := range w.buckets[int(b)*l:][:l] {
			out[i] += x
		}
	}
	for i := range out {
		out[i] = w.words*out[i]/size + w.biases[i]
	}
	for d, x := range vector {
		if x == 0 {
			continue
		}
		n := w.dense * float64(x) / gist.VectorStep
		for i, y := range w.vector[d*l:][:l] {
			out[i] += n * y
		}
	}
}

// pack writes weights as bytes, the largest of a kind as 127; package gist tells the layout.
func (w *weights) pack() []byte {
	names := strings.Join(w.names, "\n")
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	out = append(out, names...)
	words, vector := scaleOf(w.buckets), scaleOf(w.vector)
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(words)))
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(vector)))
	for _, b := range w.biases {
		out = append(out, byte(int8(max(-127, min(127, math.Round(b*16))))))
	}
	for _, x := range w.buckets {
		out = append(out, byte(int8(max(-127, min(127, math.Round(x/words))))))
	}
	for _, x := range w.vector {
		out = append(out, byte(int8(max(-127, min(127, math.Round(x/vector))))))
	}
	return out
}

// scaleOf is the step of the weights of a kind: the largest is 127 of them.
func scaleOf(w []float64) float64 {
	most := 1e-9
	for _, x := range w {
		most = max(most, math.Abs(x))
	}
	return most / 127
}

// report tells how sentences are read.
func (w *weights) report(examples []example) {
	t := len(w.names)
	scores := make([]float64, len(w.biases))
	right, third, all, kinds, loss := 0, 0, 0, 0, 0.0
	for i := range examples {
		e := &examples[i]
		w.score(e.list, e.vector, gist.Size(e.list), scores)
		best := 0
		for k, s := range scores[t:] {
			if s > scores[t+best] {
				best = k
			}
		}
		if best == e.kind {
			kinds++
		}
		if e.kind == gist.KindNone {
			continue
		}
		all++
		better := 0
		for _, s := range scores[:t] {
			if s > scores[e.theme] {
				better++
			}
		}
		if better == 0 {
			right++
		}
		if better < 3 {
			third++
		}
		gist.Softmax(scores[:t])
		loss -= math.Log(scores[e.theme] + 1e-12)
	}
	fmt.Fprintf(os.Stderr,
		"of %d sentences: the theme is the likeliest for %.3f, one of three for %.3f; loss %.3f; kind %.3f\n",
		len(examples), float64(right)/float64(all), float64(third)/float64(all), loss/float64(all),
		float64(kinds)/float64(len(examples)))
}
