// Package learned tells by learned weights which attribute of its speaker a statement is about, and whether it states
// the value or tells of a change: "Nantes is home now" changes the home.
//
// It complements the tables of package canonical, which know words and their order: weights also judge sentences in
// words that no table has. A label has a linear judge over the words, pairs of words and the vector of the built-in
// embedder. Weights are integers, so a score is the same on every machine. The folder train has the sentences that they
// are learned from, and the program that learns them.
package learned

import (
	_ "embed" // for weights.bin
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"github.com/memoryd/memoryd/extract/english"
)

// weightsFile has what train learned, in little endian:
//
//	uint32    length of the names in bytes
//	          the names of the labels, one a line
//	float32   scale of the weights of words
//	float32   scale of the weights of vectors
//	int8      for each label, its bias, in steps of 1/8
//	int8      for each bucket, the weight of each label
//	int8      for each number of a vector, the weight of each label
//
//go:embed weights.bin
var weightsFile string

// Label is an attribute, and how a statement speaks of it.
type Label struct {
	Slot string // "home"
	// Change says that the statement tells of a change: "I moved to Rome". Without it the value is stated.
	Change bool
}

// A label without either ending is an instruction, such as "instr-brief": who gives one means it from now on, so that
// it needs no label of a change.

// labelOf reads the name of a label: "home.c".
func labelOf(name string) Label {
	slot, kind, _ := strings.Cut(name, ".")
	return Label{Slot: slot, Change: kind == "c"}
}

// Found is a label of a statement. A score above 0 makes it likelier than not.
type Found struct {
	Label
	Score float64
}

// model has the weights in memory.
type model struct {
	labels          []Label
	words, vectors  float64 // scales
	biases          string  // of int8
	buckets, vector string  // of int8, rows of one weight a label
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
	var m model
	for name := range strings.SplitSeq(file[4:4+n], "\n") {
		m.labels = append(m.labels, labelOf(name))
	}
	rest := file[4+n:]
	m.words = float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[:4]))))
	m.vectors = float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[4:8]))))
	rest = rest[8:]
	l := len(m.labels)
	if len(rest) != l*(1+Buckets+Dimension) {
		return nil, false
	}
	m.biases, m.buckets, m.vector = rest[:l], rest[l:l+l*Buckets], rest[l+l*Buckets:]
	return &m, true
}

// Of gives the labels of a statement with a score above least, in no order. Words are those of [english.Lex].
func Of(ws english.Words, least float64) []Found {
	m := load()
	if len(ws) == 0 || len(ws) > maxWords || len(m.labels) == 0 {
		return nil
	}
	f := pool.Get().(*Features)
	defer pool.Put(f)
	f.Of(ws)
	l := len(m.labels)
	sums, dense := make([]int, l), make([]int, l)
	for _, at := range f.List {
		row := m.buckets[int(at)*l:][:l]
		for i := range sums {
			sums[i] += int(int8(row[i]))
		}
	}
	for d, x := range f.Vector {
		if x == 0 {
			continue
		}
		row := m.vector[d*l:][:l]
		for i := range dense {
			dense[i] += int(x) * int(int8(row[i]))
		}
	}
	size := Size(f.List)
	var out []Found
	for i, label := range m.labels {
		// The conversions keep a processor from fusing a product and a sum, which would round otherwise.
		score := float64(m.words*float64(sums[i])/size) + float64(m.vectors*float64(dense[i])/VectorStep) +
			float64(int8(m.biases[i]))/8
		if score > least {
			out = append(out, Found{Label: label, Score: score})
		}
	}
	return out
}

// pool keeps features for the next statement.
var pool = sync.Pool{New: func() any { return new(Features) }}
