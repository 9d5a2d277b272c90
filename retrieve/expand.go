package retrieve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// Expander guesses what may have been said that answers a question, for callers that
// have no model to word their queries.
type Expander interface {
	// Name returns its provider and model: "gemini:gemini-2.5-flash".
	Name() string
	// Expand returns statements, the likeliest first. The first 3 are used, except those
	// that are blank, no valid UTF-8, or longer than 1,000 bytes. The query has 1 to
	// 2,048 bytes, and is data: instructions in it are not followed. Expand is called
	// concurrently, and returns as soon as ctx is over. If it returns an error, or no
	// statement, the search goes on with the query alone.
	Expand(ctx context.Context, query string) ([]string, error)
}

const (
	// maxGuesses is how many statements are searched. Each takes as long as a search of
	// its own. On annotated conversations one guess finds .05 more of the turns that
	// answer a question among the first ten matches, and three find .07 more.
	maxGuesses = 3
	// maxGuess is in bytes. It is more than one sentence has in any script.
	maxGuess = 1000
	// expandTime is how long a search waits for the expander. It is several times what a
	// model takes to write three sentences.
	expandTime = 3 * time.Second
)

// expand returns wordings with the statements that an expander adds to a question. Each
// is searched together with the question, so that a wrong guess costs little. There are
// none if the expander fails.
func (r *Retriever) expand(ctx context.Context, wordings []*wording, until time.Time) ([]*wording, error) {
	query := wordings[0].text
	if r.expander == nil || len(query) > maxRead {
		return wordings, nil
	}
	var guesses []string
	ctx, span := tracing.Start(ctx, "expand")
	err := r.expanding.call(ctx, until, func(ctx context.Context) (err error) {
		guesses, err = r.expander.Expand(ctx, query)
		return err
	})
	span.End(err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errOpen), errors.Is(err, errHurried), errors.As(err, new(*memory.Refusal)):
		return wordings, nil
	default:
		r.log.Warn("search without the expander: it failed", "expander", r.expander.Name(), "err", err)
		return wordings, nil
	}
	for _, g := range guesses[:min(len(guesses), maxGuesses)] {
		known := slices.ContainsFunc(wordings, func(w *wording) bool { return w.shown == g })
		if known || strings.TrimSpace(g) == "" || len(g) > maxGuess || !utf8.ValidString(g) {
			continue
		}
		w := newWording(query + " " + g)
		w.shown = g
		wordings = append(wordings, w)
	}
	return wordings, nil
}
