package extract

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/memoryd/memoryd/internal/legible"
)

const (
	// MaxGuesses is how many statements an Expander returns at most.
	MaxGuesses = 3
	// guessTokens is the length of a statement. A sentence has half of it in any script,
	// and a longer text is no guess but a document.
	guessTokens = 120
	// frameTokens is the room in the answer for what is around the statements.
	frameTokens = 40
)

// Expander asks a language model what may have been said that answers a question. It
// is safe for concurrent use.
type Expander struct {
	generator Generator
	log       *slog.Logger
}

// NewExpander returns an expander that asks g. It logs the cost of each call at the
// level debug.
func NewExpander(g Generator, log *slog.Logger) *Expander {
	return &Expander{generator: g, log: log}
}

// Name is the generator's model.
func (e *Expander) Name() string { return e.generator.Model() }

// Expand returns up to MaxGuesses statements that might answer a query, the likeliest
// first, each one line without characters that cannot be seen; none if the model
// guesses nothing. The model sees the first 400 tokens of the query, as Tokens counts
// them. Statements that are empty, longer than 120 tokens, or given before are left out.
// The errors are the generator's, and ErrUnreadable.
func (e *Expander) Expand(ctx context.Context, query string) ([]string, error) {
	type reply struct {
		Statements []any `json:"statements"`
	}
	var data strings.Builder
	writeQuestion(&data, query)
	p := Prompt{
		System: systemText(expandInstructions), Data: data.String(), Schema: expandSchema,
		MaxTokens: MaxGuesses*guessTokens + frameTokens,
	}
	answer, cost, err := ask(ctx, e.generator, p, false, func(a *reply) error {
		if a.Statements == nil {
			return errors.New("it has no list named statements")
		}
		return nil
	})
	e.log.Debug("expanded", "model", e.Name(), "calls", cost.Calls, "inputTokens", cost.InputTokens,
		"outputTokens", cost.OutputTokens, "repaired", cost.Repaired, "ok", err == nil)
	if err != nil {
		return nil, err
	}
	return guesses(answer.Statements), nil
}

// guesses returns the statements of an answer that can be used.
func guesses(statements []any) (out []string) {
	seen := map[string]bool{}
	for _, s := range statements {
		text, _ := s.(string) // "" for anything else
		text = strings.TrimSpace(legible.Line(text))
		if text == "" || seen[text] || Tokens(text) > guessTokens {
			continue
		}
		seen[text] = true
		if out = append(out, text); len(out) == MaxGuesses {
			break
		}
	}
	return out
}

var expandSchema = object(map[string]any{"statements": list(stringType)})
