package injection

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
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

// Scores above which a window is held back, by its source. They are set by texts of templates
// and words that the weights were not learned from: train/README.md. An agent speaks of
// users and of orders all the time, and documents more often than the answers of tools.
const (
	bar      = 1.5
	barTool  = 1.0
	barAgent = 2.5
	barOwn   = 1.5
)

// judge reports whether a sentence reads like the orders that the weights were learned
// from.
func (s *sentence) judge(folded string) bool {
	judge, least := s.judgedBy()
	if judge == JudgeOwn {
		return s.aimed && s.score(judge, folded) > least
	}
	over := s.score(judge, folded) - least
	least = farBelow
	if s.from == memory.TrustAgent {
		least = farBelowAgent
	}
	if theNet() == nil || over < least || s.bare() {
		return false
	}
	return over+theNet().score(s.of, s.first, s.first+len(s.words)) > 0
}

// bare reports whether all words are numbers or single letters, which give no order: tables and logs have thousands,
// and the net would read each.
func (s *sentence) bare() bool {
	return !slices.ContainsFunc(s.words, func(w word) bool {
		return !isNumber(w.text) && (len(w.text) > 1 || isUnspacedWord(&w))
	})
}

// How far below its bar the sum of a window is that the net is not asked about. That spares most ordinary windows the
// net, which takes a hundred times as long. Agents write most, and their bar is the highest.
const (
	farBelow      = -5.0
	farBelowAgent = -3.0
)

// namesAgent reports whether words of a user may be turned against the agent: they name its
// prompt, those who made it or run it, a role without limits, or rules that are its own or that
// were there before. All else that a user says is a wish, however it is put.
func (s *sentence) namesAgent() bool {
	if s.has(secret | free | jail | dan | boss) {
		return true
	}
	for i := range s.words {
		if s.words[i].ideas&maker != 0 || s.words[i].class&(order|rule|safety) != 0 && !s.near(my, i, 3, 4) &&
			!s.topic(i) && s.near(your|prior|all|void|lifted|hidden|model, i, 4, 4) {
			return true
		}
	}
	return false
}

// doubtful are reasons for which rules hold back ordinary texts too: "The agent must ask the
// user", "The assistant stores the user's name", "The user must not know the password". Manuals are
// full of them.
var doubtful = map[string]bool{
	Persists: true, Addresses: true, Sends: true, Deletes: true, Standing: true, Conceals: true,
}

// plainest is the score below which a sentence is not held back for such a reason. Of attacks
// that rules find nearly none has so low a score.
const plainest = 0.0

// plain reports whether a sentence that a rule found, and each part of it, reads as ordinary
// texts do: an order is not hidden by what else its sentence says.
func (s *sentence) plain(folded string) bool {
	judge, _ := s.judgedBy()
	if judge != JudgeForeign || s.score(judge, folded) >= plainest {
		return false
	}
	return s.slices(func(from, to int, part *sentence) bool {
		end := len(folded)
		if to < len(s.words) {
			end = s.words[to].at - s.words[0].at
		}
		return part.score(judge, folded[s.words[from].at-s.words[0].at:end]) < plainest
	})
}

// score is how a judge sees a sentence.
func (s *sentence) score(judge int, folded string) float64 {
	f := pool.Get().(*features)
	defer pool.Put(f)
	f.of(s, folded)
	return Score(judge, f.list)
}

// judgedBy is the judge of a sentence, and its bar.
func (s *sentence) judgedBy() (judge int, least float64) {
	switch s.from.Source() {
	case memory.TrustUser:
		return JudgeOwn, barOwn
	case memory.TrustAgent:
		return JudgeForeign, barAgent
	case memory.TrustTool:
		return JudgeForeign, barTool
	}
	return JudgeForeign, bar
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

// Windows calls see with the features of each window of a text that a judge looks at, and
// with the judge and its bar. The list is valid until see returns.
func Windows(text string, from memory.Trust, see func(judge int, least float64, list []uint32)) {
	var f features
	check(text, from, func(s *sentence, folded string) string {
		judge, least := s.judgedBy()
		f.of(s, folded)
		see(judge, least, f.list)
		return ""
	})
}

// few keeps the words of a sentence of two or three words from deciding alone.
const few = 20

// Size is what the sum of the weights of a sentence is divided by, so that long sentences
// weigh as short ones.
func Size(list []uint32) float64 { return math.Sqrt(float64(len(list) + few)) }
