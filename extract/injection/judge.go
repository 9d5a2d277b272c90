package injection

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"

	"github.com/memoryd/memoryd/memory"
)

// weightsFile has what train/main.go learned. For each of the judges it has a scale, as
// the bits of a float32 in little endian, and a weight of one signed byte a bucket.
//
//go:embed weights.bin
var weightsFile string

// The judges: one for the words of others, and one for the user's own.
const (
	JudgeForeign = iota
	JudgeOwn
	judges
)

// WeightsSize is the length of the file of weights.
const WeightsSize = judges * (4 + buckets)

// Buckets is how many weights a judge has.
const Buckets = buckets

// Scores above which a sentence is held back, by its source. They let through all but 15
// of 25,126 paragraphs of technical documents. An agent speaks of users and of orders
// all the time.
const (
	bar      = 3.0
	barAgent = 4.0
	barOwn   = 3.0
)

// ownSigns are classes without which the user's own words are not judged: they name the
// instructions of a model, those who gave them, or a role or a mode without any.
const ownSigns = order | rule | secret | safety | model | told | hidden | free | jail | dan | become | pretend |
	boss

// judge reports whether a sentence reads like the orders that the weights were learned
// from.
func (s *sentence) judge(folded string) bool {
	judge, least := JudgeForeign, bar
	switch s.from.Source() {
	case memory.TrustUser:
		if !s.has(ownSigns) {
			return false
		}
		judge, least = JudgeOwn, barOwn
	case memory.TrustAgent:
		if !s.foreign() {
			return false
		}
		least = barAgent
	}
	f := pool.Get().(*features)
	defer pool.Put(f)
	f.of(s, folded)
	return Score(judge, f.list) > least
}

// pool keeps features for the next sentence: they are too large to be made each time.
var pool = sync.Pool{New: func() any { return new(features) }}

// Score is how a judge sees a sentence with some features: the more above 0, the more it
// reads like an order. Long sentences weigh as short ones. The sum is one of integers, and
// a root, a product and a quotient are rounded alike everywhere.
func Score(judge int, list []uint32) float64 {
	if len(list) == 0 || len(weightsFile) != WeightsSize {
		return math.Inf(-1)
	}
	w := weightsFile[judge*(4+buckets):]
	scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(w[:4])))
	w = w[4:]
	sum := 0
	for _, at := range list {
		sum += int(int8(w[at]))
	}
	return float64(scale) * (float64(sum) / Size(list))
}

// Features calls see with the features of each sentence of a text, of a user's text without
// what is pasted: that is all that the program which learns the weights needs. The list is
// valid until see returns.
func Features(text string, from memory.Trust, see func(list []uint32)) {
	if from.Source() == memory.TrustUser {
		text, _ = parts(text)
	}
	var f features
	sentences(text, from, func(s *sentence, folded string) bool {
		f.of(s, folded)
		see(f.list)
		return true
	})
}

// few keeps the words of a sentence of two or three words from deciding alone.
const few = 20

// Size is what the sum of the weights of a sentence is divided by, so that long sentences
// weigh as short ones.
func Size(list []uint32) float64 { return math.Sqrt(float64(len(list) + few)) }
