package evals

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Setting is a way of ranking: all of it, or without some of its parts.
type Setting struct {
	Name    string
	Without []string // names of retrieve's parts
}

// Everything is ranking as it is served.
var Everything = Setting{Name: "all"}

// Ablations are everything, then everything but each part in turn.
func Ablations() []Setting {
	out := []Setting{Everything}
	for _, p := range retrieve.Parts() {
		out = append(out, Setting{"no-" + p, []string{p}})
	}
	return out
}

// ParseSetting reads "all", "no-PART+PART" (all but these) or "PART+PART" (these
// alone).
func ParseSetting(name string) (Setting, error) {
	if name == Everything.Name {
		return Everything, nil
	}
	list, without := strings.CutPrefix(name, "no-")
	named := strings.Split(list, "+")
	for _, n := range named {
		if !slices.Contains(retrieve.Parts(), n) {
			return Setting{}, fmt.Errorf("setting %q: want all, no-PART or PART, several parts with + between them, of %s", name, strings.Join(retrieve.Parts(), ", "))
		}
	}
	left := slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(named, p) == without })
	if len(left) == 0 {
		return Setting{}, fmt.Errorf("setting %q leaves nothing to rank by", name)
	}
	return Setting{name, slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(left, p) })}, nil
}

// retriever is one that ranks as a setting says.
func (b *Bank) retriever(s Setting, log *slog.Logger) *retrieve.Retriever {
	return retrieve.New(b.stores.Memories, b.embedder, &retrieve.Options{Without: s.Without, Reranker: b.Reranker, Log: log})
}

// asked is how many results each question asks for.
const asked = 50

// curve is after how many results tokens are counted.
var curve = []int{1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50}

// Answer is what a question found.
type Answer struct {
	Conversation string  `json:"conversation"`
	Question     string  `json:"question"`
	Category     string  `json:"category"`
	Apart        bool    `json:"apart,omitempty"` // not pooled
	Evidence     []Place `json:"evidence"`
	Tokens       []int   `json:"tokens"` // of the texts of the first 1, 2, 3, 5, 10, 15, 20, 25, 30, 40 and 50 results, as extract.Tokens counts
	Millis       float64 `json:"ms"`     // that the search took
}

// Place is where a turn was found.
type Place struct {
	Turn string `json:"turn"`
	// Rank is among the turns that the results cite: walking these best first,
	// every event that a result cites and none before it did takes the next
	// rank. It begins with 1; 0 is not found.
	Rank int `json:"rank"`
	// Result is the first result that cites it, from 1 on; 0 is none.
	Result int `json:"result"`
}

// Ask asks all questions in each of some settings. The settings take turns at
// being the first to ask a question, so that none has the others warm up the
// store for it.
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
				found, err := retrievers[at].Search(ctx, b.dataset.scope(c), retrieve.Request{Query: q.Text, TopK: asked})
				if err != nil {
					return nil, fmt.Errorf("%s: %q: %w", c.Name, q.Text, err)
				}
				took := time.Since(begin)
				results[at].Answers = append(results[at].Answers, Answer{Conversation: c.Name, Question: q.Text, Category: q.Category, Apart: q.Category == b.dataset.Apart,
					Evidence: places(found, q.Evidence), Tokens: tokens(found), Millis: float64(took.Microseconds()) / 1000})
			}
			turn++
		}
	}
	for i := range results {
		results[i].summarize(b.dataset)
	}
	return results, nil
}

// places finds turns in what was found.
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

// tokens counts those of the first results, at each point of the curve.
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
