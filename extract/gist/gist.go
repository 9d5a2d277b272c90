// Package gist tells by learned weights which theme of a life a sentence is about ("home", "diet", "trip-plan"), and
// whether it tells how things are, tells that they have changed, asks, or does none of these.
//
// It complements package canonical, whose rules compare two facts only in words that their tables know. Weights judge a
// sentence in any words ("The boxes are unpacked, Nantes it is"), but less surely. So they end nothing: a search uses
// them to put the newer of two statements first. Sums of weights are integers, so that they are the same on every
// machine. The folder train has the sentences that the weights are learned from, and the program that learns them.
package gist

import (
	_ "embed" // for weights.bin
	"encoding/binary"
	"math"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/memoryd/memoryd/extract/english"
)

// weightsFile has what train learned, in little endian:
//
//	uint32    length of the names in bytes
//	          the names of the themes, one a line
//	float32   scale of the weights of words
//	float32   scale of the weights of vectors
//	int8      for each label, its bias, in steps of 1/16
//	int8      for each bucket, the weight of each label
//	int8      for each number of a vector, the weight of each label
//
// The labels are the themes, and behind them the kinds.
//
//go:embed weights.bin
var weightsFile string

// Kinds of sentences.
const (
	KindState  = iota // tells how things are: "I live in Porto"
	KindChange        // tells that they have become so: "We moved to Porto"
	KindEnd           // tells that they are so no longer: "I gave up the flat"
	KindAsk           // asks for them: "Where do I live?"
	KindNone          // is about something else, or about nothing that holds: "Find me a flat in Porto"
	Kinds
)

// KindNames are the names of the kinds in the texts that weights are learned from.
var KindNames = [Kinds]string{"state", "change", "end", "ask", "not"}

// MaxThemes bounds the themes.
const MaxThemes = 96

// Reading is how a sentence reads.
type Reading struct {
	// roots are the square roots of the probabilities of the themes.
	roots [MaxThemes]float32
	// kinds are the probabilities of the kinds.
	kinds  [Kinds]float32
	vector [Dimension]int8
	cues   cues
}

// Asserts is the probability that a sentence tells how things are or what has changed.
func (r *Reading) Asserts() float64 {
	return float64(r.kinds[KindState] + r.kinds[KindChange] + r.kinds[KindEnd])
}

// Changes is the probability that a sentence tells of a change or an end.
func (r *Reading) Changes() float64 { return float64(r.kinds[KindChange] + r.kinds[KindEnd]) }

// Ends is the probability that a sentence tells that something is so no longer.
func (r *Reading) Ends() float64 { return float64(r.kinds[KindEnd]) }

// Near tells how alike the themes of two sentences are, from 0 to 1: the Bhattacharyya coefficient of their
// probabilities (A. Bhattacharyya, 1943).
func (r *Reading) Near(o *Reading) float64 {
	sum := float32(0)
	for i := range r.roots {
		sum += float32(r.roots[i] * o.roots[i]) // the conversion keeps a processor from fusing both
	}
	return float64(sum)
}

// Theme is the likeliest theme of a sentence, and its probability.
func (r *Reading) Theme() (string, float64) {
	best := 0
	for i := range r.roots {
		if r.roots[i] > r.roots[best] {
			best = i
		}
	}
	names := load().names
	if best >= len(names) {
		return "", 0
	}
	return names[best], float64(r.roots[best] * r.roots[best])
}

// model has the weights in memory.
type model struct {
	names           []string // of the themes
	words, vectors  float64  // scales
	biases          string   // of int8
	buckets, vector string   // of int8, rows of one weight a label
}

var load = sync.OnceValue(func() *model {
	m, ok := parse(weightsFile)
	if !ok {
		return &model{} // weights of another size are those of a program that learns new ones
	}
	return m
})

// parse reads the file of weights.
func parse(file string) (*model, bool) {
	if len(file) < 4 {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint32([]byte(file[:4])))
	if len(file) < 4+n+8 {
		return nil, false
	}
	m := model{names: strings.Split(file[4:4+n], "\n")}
	rest := file[4+n:]
	m.words = float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[:4]))))
	m.vectors = float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[4:8]))))
	rest = rest[8:]
	l := len(m.names) + Kinds
	if len(m.names) > MaxThemes || len(rest) != l*(1+Buckets+Dimension) {
		return nil, false
	}
	m.biases, m.buckets, m.vector = rest[:l], rest[l:l+l*Buckets], rest[l+l*Buckets:]
	return &m, true
}

// readings are those of the sentences read last: searches of one user meet the same ones.
var readings, _ = lru.New[string, Reading](4096) // some 6 MB; New fails for a size of 0 alone

// Of reads a sentence. One of more than 48 words is read up to there.
func Of(text string) Reading {
	if r, ok := readings.Get(text); ok {
		return r
	}
	r := read(text)
	readings.Add(strings.Clone(text), r)
	return r
}

func read(text string) (r Reading) {
	m := load()
	ws := english.Lex(text)
	if len(ws) == 0 || len(m.names) == 0 {
		return r
	}
	f := pool.Get().(*Features)
	defer pool.Put(f)
	ws = ws[:min(len(ws), maxWords)]
	f.Of(ws)
	r.vector = f.Vector
	r.cues.read(text, ws)
	var sums, dense [MaxThemes + Kinds]int32
	l := len(m.names) + Kinds
	for _, at := range f.List {
		for i, w := range []byte(m.buckets[int(at)*l:][:l]) {
			sums[i] += int32(int8(w))
		}
	}
	for d, x := range f.Vector {
		if x == 0 {
			continue
		}
		for i, w := range []byte(m.vector[d*l:][:l]) {
			dense[i] += int32(x) * int32(int8(w))
		}
	}
	var scores [MaxThemes + Kinds]float64
	size := Size(f.List)
	for i := range l {
		scores[i] = float64(m.words*float64(sums[i])/size) + float64(m.vectors*float64(dense[i])/VectorStep) +
			float64(int8(m.biases[i]))/16
	}
	t := len(m.names)
	Softmax(scores[:t])
	Softmax(scores[t:l])
	for i, p := range scores[:t] {
		r.roots[i] = float32(math.Sqrt(p))
	}
	for i, p := range scores[t:l] {
		r.kinds[i] = float32(p)
	}
	return r
}

// Softmax turns scores into probabilities.
func Softmax(scores []float64) {
	most := scores[0]
	for _, s := range scores {
		most = max(most, s)
	}
	sum := 0.0
	for i, s := range scores {
		scores[i] = math.Exp(s - most)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

// pool keeps features for the next sentence.
var pool = sync.Pool{New: func() any { return new(Features) }}
