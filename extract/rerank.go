package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"strings"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
)

const (
	maxRelevance = 10
	// queryTokens is how much of a question the model sees. A longer question is
	// a document.
	queryTokens = 400
	// scoreTokens is the room for the score of one text in the answer: twice what
	// one takes.
	scoreTokens = 32
	// budgetTexts is how many texts share DefaultBudget. More get as much each.
	budgetTexts = 30
)

// Reranker asks a language model how relevant memories are to a question, all of
// them in one call. It is safe for concurrent use.
type Reranker struct {
	generator Generator
	log       *slog.Logger
}

// NewReranker returns a reranker that asks g. It logs the cost of each call at
// the level debug.
func NewReranker(g Generator, log *slog.Logger) *Reranker {
	return &Reranker{generator: g, log: log}
}

// Name is the generator's model.
func (r *Reranker) Name() string { return r.generator.Model() }

// Rerank gives each text its relevance to a query: 0 to 1 in tenths, and 0 if
// the model leaves it out. The model sees the first 400 tokens of the query, as
// Tokens counts them, and the beginning of each text; all texts have the same
// share of DefaultBudget or, beyond 30 texts, as much as each of 30. A relevance
// off the scale makes the answer unreadable; a number that no text has is ignored.
// The errors are the generator's, and ErrUnreadable.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	type reply struct {
		Scores []modelScore `json:"scores"`
	}
	p := Prompt{
		System: systemText(rerankInstructions), Data: rerankData(query, texts), Schema: rerankSchema,
		MaxTokens: scoreTokens * (len(texts) + 1),
	}
	answer, cost, err := ask(ctx, r.generator, p, false, func(a *reply) error {
		if a.Scores == nil {
			return errors.New("it has no list named scores")
		}
		for _, s := range a.Scores {
			if s.Relevance < 0 || s.Relevance > maxRelevance {
				return fmt.Errorf("the relevance of %d is %d, which is not within 0 to %d",
					s.N, s.Relevance, maxRelevance)
			}
		}
		return nil
	})
	r.log.Debug("reranked", "model", r.Name(), "texts", len(texts), "calls", cost.Calls,
		"inputTokens", cost.InputTokens, "outputTokens", cost.OutputTokens, "repaired", cost.Repaired, "ok", err == nil)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(texts))
	for _, s := range answer.Scores {
		if s.N >= 1 && int(s.N) <= len(texts) {
			out[s.N-1] = float64(s.Relevance) / maxRelevance
		}
	}
	return out, nil
}

// modelScore is a score as a model writes it; numbers count from 1.
type modelScore struct {
	N         lineNumber `json:"n"`
	Relevance lineNumber `json:"relevance"`
}

var rerankSchema = object(map[string]any{
	"scores": list(object(map[string]any{
		"n":         integerType,
		"relevance": integerType,
	})),
})

// rerankData writes a question and texts as data for a model.
func rerankData(query string, texts []string) string {
	var out strings.Builder
	query = writeQuestion(&out, query)
	room := (DefaultBudget - Tokens(query)) / min(len(texts), budgetTexts)
	for i, text := range texts {
		writeLine(&out, struct {
			N      int    `json:"n"`
			Memory string `json:"memory"`
		}{i + 1, cutTokens(legible.Text(text), room)})
	}
	return out.String()
}

// writeQuestion writes as much of a question as a model sees, and returns it.
func writeQuestion(out *strings.Builder, query string) string {
	query = cutTokens(legible.Text(query), queryTokens)
	writeLine(out, struct {
		Question string `json:"question"`
	}{query})
	return query
}

// cutTokens returns the longest prefix of text that has at most limit tokens.
func cutTokens(text string, limit int) string {
	if Tokens(text) <= limit {
		return text
	}
	return memory.Cut(text, sort.Search(len(text), func(n int) bool { return Tokens(memory.Cut(text, n+1)) > limit }))
}
