package evals

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Setting is a way of ranking: all of it, or without some of its parts.
type Setting struct {
	Name    string
	Without []string           // names of retrieve's parts
	Weights map[string]float64 // of parts, by name, instead of their own
}

// Everything is the ranking that is served.
var Everything = Setting{Name: "all"}

// Ablations are everything, and then everything without each part in turn.
func Ablations() []Setting {
	out := []Setting{Everything}
	for _, p := range retrieve.Parts() {
		out = append(out, Setting{Name: "no-" + p, Without: []string{p}})
	}
	return out
}

// ParseSetting reads "all", "no-PART+PART" (all but these), "PART+PART" (these alone) or
// "PART=0.2+PART=0.1" (all, with these weights of some).
func ParseSetting(name string) (Setting, error) {
	if name == Everything.Name {
		return Everything, nil
	}
	if strings.Contains(name, "=") {
		return parseWeights(name)
	}
	list, without := strings.CutPrefix(name, "no-")
	named := strings.Split(list, "+")
	for _, n := range named {
		if !slices.Contains(retrieve.Parts(), n) {
			return Setting{}, fmt.Errorf("setting %q: want all, no-PART, PART or PART=WEIGHT, "+
				"several parts with + between them, of %s", name, strings.Join(retrieve.Parts(), ", "))
		}
	}
	left := slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(named, p) == without })
	if len(left) == 0 {
		return Setting{}, fmt.Errorf("setting %q leaves nothing to rank by", name)
	}
	dropped := slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(left, p) })
	return Setting{Name: name, Without: dropped}, nil
}

// parseWeights reads a setting that gives parts other weights.
func parseWeights(name string) (Setting, error) {
	s := Setting{Name: name, Weights: map[string]float64{}}
	for one := range strings.SplitSeq(name, "+") {
		part, number, _ := strings.Cut(one, "=")
		w, err := strconv.ParseFloat(number, 64)
		_, twice := s.Weights[part]
		if err != nil || !(w >= 0 && w <= maxWeight) || twice || !slices.Contains(retrieve.Parts(), part) {
			return Setting{}, fmt.Errorf("setting %q: %q is not PART=WEIGHT, each part once, a weight of 0 to %d, "+
				"of %s", name, one, maxWeight, strings.Join(retrieve.Parts(), ", "))
		}
		s.Weights[part] = w
	}
	return s, nil
}

// maxWeight is far above any weight of a part.
const maxWeight = 100

// retriever returns a retriever that ranks as a setting says.
func (b *Bank) retriever(s Setting, log *slog.Logger) *retrieve.Retriever {
	opts := &retrieve.Options{
		Without: s.Without, Weights: s.Weights,
		Reranker: b.Reranker, Reranked: b.Reranked, Expander: b.Expander, Log: log,
	}
	return retrieve.New(b.stores.Memories, b.embedder, opts)
}

// asked is how many results each question asks for: those that a block is made of. The
// first of them have ranks.
const asked, placed = retrieve.MaxTopK, 50

// budgets are the tokens of the blocks whose evidence is counted.
var budgets = [...]int{1000, 2000}

// curve are the numbers of results after which tokens are counted.
var curve = []int{1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50}

// Answer is the outcome of one question.
type Answer struct {
	Conversation string  `json:"conversation"`
	Question     string  `json:"question"`
	Category     string  `json:"category"`
	Apart        bool    `json:"apart,omitempty"` // not pooled
	Evidence     []Place `json:"evidence"`
	// Tokens are those of the texts of the first 1, 2, 3, 5, 10, 15, 20, 25, 30,
	// 40 and 50 results, as extract.Tokens counts them.
	Tokens []int `json:"tokens"`
	// Shown is the share of the evidence in a block of at most 1,000 and of 2,000 tokens,
	// be it that a long turn is shown in part.
	Shown  [len(budgets)]float64 `json:"shown"`
	Millis float64               `json:"ms"` // that the search took
}

// Place says where in the results a turn was found.
type Place struct {
	Turn string `json:"turn"`
	// Rank is the turn's rank among the turns that the results cite, from 1 on, in
	// the order in which they are first cited; 0 if no result cites it.
	Rank int `json:"rank"`
	// Result is the number of the first result that cites it, from 1 on; 0 if
	// none does.
	Result int `json:"result"`
}

// Ask asks all questions in each setting. The settings take turns at asking a
// question first, since the first search of a scope warms up the store for the
// others.
func (b *Bank) Ask(ctx context.Context, settings []Setting, log *slog.Logger) ([]Result, error) {
	results := make([]Result, len(settings))
	var retrievers []*retrieve.Retriever
	for i, s := range settings {
		results[i].Setting = s.Name
		retrievers = append(retrievers, b.retriever(s, log))
	}
	turn := 0
	for i := range b.dataset.Conversations {
		c := &b.dataset.Conversations[i]
		for _, q := range c.Questions {
			for j := range settings {
				at := (turn + j) % len(settings)
				begin := time.Now()
				request := retrieve.Request{Query: q.Text, TopK: asked, Expand: true}
				found, err := retrievers[at].Answer(ctx, b.dataset.scope(c), request)
				if err != nil {
					return nil, fmt.Errorf("%s: %q: %w", c.Name, q.Text, err)
				}
				took := time.Since(begin)
				first := found.Matches[:min(placed, len(found.Matches))]
				results[at].Answers = append(results[at].Answers, Answer{
					Conversation: c.Name, Question: q.Text, Category: q.Category, Apart: q.Category == b.dataset.Apart,
					Evidence: places(first, q.Evidence), Tokens: tokens(first), Shown: shown(&found, q.Evidence),
					Millis: float64(took.Microseconds()) / 1000})
			}
			turn++
		}
	}
	for i := range results {
		results[i].summarize(b.dataset)
	}
	return results, nil
}

// places finds turns among the results.
func places(found []memory.Match, turns []string) []Place {
	ranks, results := map[string]int{}, map[string]int{}
	for i := range found {
		for _, id := range found[i].Memory.Source.EventIDs {
			if ranks[id] == 0 {
				ranks[id], results[id] = len(ranks)+1, i+1
			}
		}
	}
	var out []Place
	for _, id := range turns {
		out = append(out, Place{id, ranks[id], results[id]})
	}
	return out
}

// shown measures the evidence in the blocks of an answer.
func shown(found *retrieve.Answer, evidence []string) (out [len(budgets)]float64) {
	for i, budget := range budgets {
		in := Answer{Evidence: places(found.Block(budget).Memories, evidence)}
		out[i] = in.within(asked)
	}
	return out
}

// tokens counts the tokens of the first results, at each point of the curve.
func tokens(found []memory.Match) []int {
	out := make([]int, len(curve))
	sum := 0
	for i, k := range curve {
		from := 0
		if i > 0 {
			from = curve[i-1]
		}
		for _, m := range found[min(from, len(found)):min(k, len(found))] {
			sum += extract.Tokens(m.Memory.Fact)
		}
		out[i] = sum
	}
	return out
}
