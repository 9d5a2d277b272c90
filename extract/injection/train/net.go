package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/memory"
)

// How the net is learned.
const (
	netRounds = 16
	netTexts  = 50_000 // of a round, drawn again for each
	netShare  = 0.4    // of the texts of which there are many: composed ones and those of public sources
	netBatch  = 192    // texts of a step
	netRate   = 0.005  // of Adam, in the first round; it falls evenly to 0
	netDecay  = 1e-5   // of a weight in each step
	// Shares of what is left out each time, so that nothing decides alone: of the vectors of words, of all marks of a
	// word, and of the filters.
	dropVector, dropMarks, dropFilter = 0.05, 0.1, 0.1
)

// sample is a text as the net reads it.
type sample struct {
	attack, agent bool
	weight        float32
	injection.Reading
}

// samplesOf are the texts that the net learns from: those of others, as of the judge of these. They are read once,
// by some goroutines, as that takes longer than a round.
func samplesOf(lines, ordinary []text) []sample {
	var all []sample
	add := func(t text, weight float64) {
		all = append(all, sample{attack: t.attack, agent: t.from == memory.TrustAgent, weight: float32(weight)})
	}
	var texts []text
	draw := rand.New(rand.NewPCG(7, 8))
	for _, t := range lines {
		if t.from.Source() != memory.TrustUser && (t.share == 1 || draw.Float64() < netShare) {
			texts = append(texts, t)
			add(t, written*t.share)
		}
	}
	seen := map[string]bool{}
	for _, t := range ordinary {
		if !seen[t.words] && draw.Float64() < netShare {
			seen[t.words] = true
			texts = append(texts, t)
			add(t, 1)
		}
	}
	var wait sync.WaitGroup
	const readers = 4
	for k := range readers {
		wait.Go(func() {
			for i := k; i < len(texts); i += readers {
				from := memory.TrustExternal
				if all[i].agent {
					from = memory.TrustAgent
				}
				all[i].Reading = injection.Read(texts[i].words, from)
			}
		})
	}
	wait.Wait()
	return all
}

// rows are the rows of the embedder at unit length.
var rows = sync.OnceValue(func() [][]float32 {
	out := make([][]float32, embed.Builtin{}.NumRows())
	for i := range out {
		out[i] = make([]float32, embed.Builtin{}.Model().Dimension)
		embed.Builtin{}.Row(i, out[i])
	}
	return out
})

// worker learns from a part of a batch.
type worker struct {
	// net is shared by all workers, and read alone. grad is what the texts of this worker add to each weight.
	net, grad *injection.Net
	random    *rand.Rand
	loss      float64
	// words are those of a text as the net sees them, and back the gradient of each.
	words, back [][width]float32
	// noVector and noMarks tell which words are without their vector or their marks this time.
	noVector, noMarks []bool
	// values are those of the filters, a row for each word. A filter below 0 counts as 0.
	values []float32
	// projected has the rows of the embedder that this batch needs, and rowGrads their gradients: a batch has each
	// frequent word many times, and projects it once.
	projected, rowGrads map[int32]*[width]float32
}

// Short names for the sizes of the net.
const (
	width   = injection.NetWidth
	reach   = injection.NetReach
	filters = injection.NetFilters
	hidden  = injection.NetHidden
	inputs  = injection.NetInputs
)

// row is a row of the embedder as the net sees it now.
func (w *worker) row(at int32) *[width]float32 {
	if p := w.projected[at]; p != nil {
		return p
	}
	p := new([width]float32)
	for i, x := range rows()[at] {
		axpy(p[:], w.net.Project[i*width:][:width], x)
	}
	w.projected[at] = p
	return p
}

// axpy adds x times some numbers.
func axpy(sum, numbers []float32, x float32) {
	numbers = numbers[:len(sum)]
	for i := range sum {
		sum[i] += numbers[i] * x
	}
}

// forward reads a text, with the values of the filters at each word. Beyond the ends of the text there is nothing,
// which counts as 0.
func (w *worker) forward(s *sample, drop bool) {
	n := len(s.Words)
	w.words, w.back = w.words[:0], w.back[:0]
	w.noVector, w.noMarks = w.noVector[:0], w.noMarks[:0]
	for i := range s.Words {
		var v [width]float32
		noVector, noMarks := drop && w.random.Float64() < dropVector, drop && w.random.Float64() < dropMarks
		if !noVector {
			for j, at := range s.Words[i].Rows {
				axpy(v[:], w.row(at)[:], s.Words[i].Shares[j])
			}
		}
		if !noMarks {
			for _, m := range s.Words[i].Marks {
				axpy(v[:], w.net.Marks[int(m)*width:][:width], 1)
			}
		}
		w.words, w.back = append(w.words, v), append(w.back, [width]float32{})
		w.noVector, w.noMarks = append(w.noVector, noVector), append(w.noMarks, noMarks)
	}
	w.values = w.values[:0]
	for i := range n {
		at := len(w.values)
		w.values = append(w.values, w.net.Biases...)
		sum := w.values[at:]
		for k := range reach {
			j := i + k - reach/2
			if j < 0 || j >= n {
				continue
			}
			for d, x := range w.words[j] {
				if x != 0 {
					axpy(sum, w.net.Filters[(k*width+d)*filters:][:filters], x)
				}
			}
		}
	}
}

// view is a window after the forward pass.
type view struct {
	in    [inputs]float32 // of the hidden layer
	best  [filters]int    // the word at which each filter is highest, -1 if it is nowhere above 0
	sums  [hidden]float32 // of the hidden layer, of which those below 0 count as 0
	score float32
}

// view reads a window of the text that forward has read.
func (w *worker) view(s *sample, win *injection.NetWindow, drop bool) (v view) {
	for f := range v.best {
		v.best[f] = -1
	}
	for i := win.From; i < win.To; i++ {
		for f, x := range w.values[i*filters:][:filters] {
			if x > v.in[f] {
				v.in[f], v.best[f] = x, i
			}
		}
	}
	if drop {
		for f := range filters {
			if w.random.Float64() < dropFilter {
				v.in[f], v.best[f] = 0, -1
			} else {
				v.in[f] /= 1 - dropFilter
			}
		}
	}
	if win.Addressed {
		v.in[filters] = 1
	}
	if s.agent {
		v.in[filters+1] = 1
	}
	v.sums = [hidden]float32(w.net.Rests)
	for i, x := range v.in {
		if x != 0 {
			axpy(v.sums[:], w.net.Hidden[i*hidden:][:hidden], x)
		}
	}
	v.score = w.net.Out[hidden]
	for i, x := range v.sums {
		if x > 0 {
			v.score += x * w.net.Out[i]
		}
	}
	return v
}

// backward adds the gradients of a window, by the chain rule from the score down to the words. Only the word at
// which a filter is highest has a part in it, so that this costs less than forward.
func (w *worker) backward(v *view, want, weight float32) {
	p := float32(1 / (1 + math.Exp(-float64(v.score))))
	if want == 1 {
		w.loss -= float64(weight) * math.Log(float64(p)+1e-9)
	} else {
		w.loss -= float64(weight) * math.Log(1-float64(p)+1e-9)
	}
	d := (p - want) * weight
	var in [inputs]float32
	w.grad.Out[hidden] += d
	for h, x := range v.sums {
		if x <= 0 {
			continue
		}
		w.grad.Out[h] += d * x
		g := d * w.net.Out[h]
		w.grad.Rests[h] += g
		for i, y := range v.in {
			if y != 0 {
				w.grad.Hidden[i*hidden+h] += g * y
				in[i] += g * w.net.Hidden[i*hidden+h]
			}
		}
	}
	for f, i := range v.best {
		g := in[f] / (1 - dropFilter)
		if i < 0 || g == 0 {
			continue
		}
		w.grad.Biases[f] += g
		for k := range reach {
			j := i + k - reach/2
			if j < 0 || j >= len(w.words) {
				continue
			}
			for e := range width {
				at := (k*width+e)*filters + f
				w.grad.Filters[at] += g * w.words[j][e]
				w.back[j][e] += g * w.net.Filters[at]
			}
		}
	}
}

// learn adds the gradients of a text. Of an attack the window counts that reads most like one, as an order is
// mostly in one sentence of many. Of a harmless text each window counts, as none may be held back.
func (w *worker) learn(s *sample) {
	if len(s.Windows) == 0 {
		return
	}
	w.forward(s, true)
	if s.attack {
		var best view
		for i := range s.Windows {
			if v := w.view(s, &s.Windows[i], true); i == 0 || v.score > best.score {
				best = v
			}
		}
		w.backward(&best, 1, s.weight)
	} else {
		for i := range s.Windows {
			v := w.view(s, &s.Windows[i], true)
			w.backward(&v, 0, s.weight)
		}
	}
	for i := range w.back {
		if w.back[i] == ([width]float32{}) {
			continue
		}
		if !w.noVector[i] {
			for j, at := range s.Words[i].Rows {
				g := w.rowGrads[at]
				if g == nil {
					g = new([width]float32)
					w.rowGrads[at] = g
				}
				axpy(g[:], w.back[i][:], s.Words[i].Shares[j])
			}
		}
		if !w.noMarks[i] {
			for _, m := range s.Words[i].Marks {
				axpy(w.grad.Marks[int(m)*width:][:width], w.back[i][:], 1)
			}
		}
	}
}

// finish brings the gradients of rows to those of their projection.
func (w *worker) finish() {
	for at, g := range w.rowGrads {
		for i, x := range rows()[at] {
			axpy(w.grad.Project[i*width:][:width], g[:], x)
		}
	}
}

// learnNet learns the net by steps of Adam (Kingma and Ba, 2015). Two workers share a batch, and their gradients
// are added up. Rows come in no fixed order, so another run makes a net that is as good, and not the same to the
// last bit.
func learnNet(all []sample) *injection.Net {
	random := rand.New(rand.NewPCG(5, 6))
	net, first, second := injection.NewNet(), injection.NewNet(), injection.NewNet()
	// The scales keep what each layer gives at about 1: rows have unit length, and some hundred numbers go into a
	// filter.
	for i, scale := range []float64{0.5, 0.3, 0.13, 0, 0.2, 0, 0.25} {
		for j := range net.All()[i] {
			net.All()[i][j] = float32(random.NormFloat64() * scale)
		}
	}
	order := random.Perm(len(all))
	some := min(netTexts, len(all))
	total, step := netRounds*(some/netBatch), 0
	for round := range netRounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss := 0.0
		for from := 0; from+netBatch <= some; from += netBatch {
			const workers = 2
			var team [workers]*worker
			var wait sync.WaitGroup
			for k := range workers {
				w := &worker{net: net, grad: injection.NewNet(), random: rand.New(rand.NewPCG(uint64(step), uint64(k))),
					projected: map[int32]*[width]float32{}, rowGrads: map[int32]*[width]float32{}}
				team[k] = w
				wait.Go(func() {
					for i := k; i < netBatch; i += workers {
						w.learn(&all[order[from+i]])
					}
					w.finish()
				})
			}
			wait.Wait()
			step++
			// The first steps are small, as Adam knows little of the gradients then.
			rate := netRate * (1 - float64(step)/float64(total+1)) * min(1, float64(step)/100)
			// Both means begin at 0, which these undo.
			fix1, fix2 := 1-math.Pow(.9, float64(step)), 1-math.Pow(.999, float64(step))
			for m, weights := range net.All() {
				a, b := first.All()[m], second.All()[m]
				for i := range weights {
					g := 0.0
					for _, w := range team {
						g += float64(w.grad.All()[m][i])
					}
					g /= netBatch
					a[i] = float32(.9*float64(a[i]) + .1*g)
					b[i] = float32(.999*float64(b[i]) + .001*g*g)
					by := float64(a[i]) / fix1 / (math.Sqrt(float64(b[i])/fix2) + 1e-8)
					weights[i] -= float32(rate * (by + netDecay*float64(weights[i])))
				}
			}
			for _, w := range team {
				loss += w.loss
			}
		}
		fmt.Fprintf(os.Stderr, "net, round %d: loss %.4f\n", round+1, loss/float64(some))
	}
	return net
}

// packNet writes the net as the file that injection reads.
func packNet(net *injection.Net) (out []byte) {
	for _, matrix := range net.All() {
		for _, x := range matrix {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out
}
