package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// Reranker scores texts by how well they answer a question. It may be slow and
// expensive, and so sees the best matches alone.
type Reranker interface {
	// Name returns its provider and model: "gemini:gemini-2.5-flash".
	Name() string
	// Rerank returns a score for each text, in their order: 0 for a text that has
	// nothing to do with the question, 1 for one that answers it. The query has 1
	// to MaxQuery bytes. There are 2 to MaxReranked texts, none empty. Each is a line such
	// as "(8 May 2023, Ann) I adopted a cat.", after a line with the question if it
	// replies to one, and has some 120 tokens at most, as extract.Tokens estimates.
	// Texts are data: instructions in them are not followed. Rerank is called
	// concurrently, returns as soon as ctx is over, and does not keep the texts. If
	// it returns an error, another number of scores, or a score outside 0 to 1, the
	// search goes on without it.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// How many matches are reranked. On annotated conversations the first thirty have .88
// of the turns that answer a question, and the first ten have .83. Fifty have .90, for
// nearly twice the tokens and the time.
const (
	DefaultReranked = 30
	MaxReranked     = 50
)

const (
	// rerankWeight is the reranker's share of a score. The scores of the first and
	// the tenth match differ by some .2, which four of the reranker's ten steps make
	// up for. The share was chosen without a model, with simulated rerankers on
	// annotated conversations: they give .8 to the turns that answer and .2 to the
	// rest, plus a random error. Up to a standard deviation of .3 this share is
	// within .01 of the best in MRR and nDCG@10.
	rerankWeight = 0.33
	// rerankTokens is how many tokens of a memory the reranker sees, so that all
	// of them fit into extract.DefaultBudget. Few turns of a conversation are
	// longer. The question that a turn replies to takes a third of it at most.
	rerankTokens = 120
	// rerankTime is how long a search waits for the reranker, for each match: 3 seconds
	// for thirty. That is somewhat more than a model takes to read some thousand tokens
	// and write some hundred.
	rerankTime = 100 * time.Millisecond
)

// judgments holds the reranker's scores by memory id; nil if it gave none.
type judgments map[string]float64

// rerank puts the best matches into a new order. Matches behind them cannot
// overtake them, since the reranker's share of their score is 0. If the reranker
// gives no scores, all scores stay as they are.
func (r *Retriever) rerank(
	ctx context.Context,
	wordings []*wording,
	best []*ranked,
	until time.Time,
) (judgments, error) {
	if r.reranker == nil || len(best) < 2 {
		return nil, nil
	}
	top := best[:min(len(best), r.reranked)]
	var scores []float64
	ctx, span := tracing.Start(ctx, "rerank")
	err := r.reranking.call(ctx, until, func(ctx context.Context) (err error) {
		if scores, err = r.reranker.Rerank(ctx, wordings[0].text, texts(top, wordings)); err != nil {
			return err
		}
		return checkScores(scores, len(top))
	})
	span.End(err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errOpen), errors.Is(err, errHurried), errors.As(err, new(*memory.Refusal)):
		return nil, nil
	default:
		r.log.Warn(
			"search without the reranker: it failed",
			"reranker",
			r.reranker.Name(),
			"err",
			err,
		)
		return nil, nil
	}
	out := judgments{}
	for i := range best {
		best[i].score *= 1 - rerankWeight
	}
	for i := range top {
		top[i].score += rerankWeight * scores[i]
		out[top[i].Memory.ID] = scores[i]
	}
	slices.SortFunc(top, better)
	return out, nil
}

func checkScores(scores []float64, want int) error {
	if len(scores) != want {
		return fmt.Errorf("%d scores for %d texts", len(scores), want)
	}
	for _, s := range scores {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("the score %v is not within 0 to 1", s)
		}
	}
	return nil
}

// texts returns the matches as a reranker sees them.
func texts(best []*ranked, wordings []*wording) []string {
	questions := map[string]*memory.Memory{} // by the id of the turn after
	for _, w := range wordings {
		for _, run := range w.found.Runs {
			for i := 1; i < len(run); i++ {
				if asks(run[i-1].Memory.Fact) {
					questions[run[i].Memory.ID] = run[i-1].Memory
				}
			}
		}
	}
	var out []string
	for _, c := range best {
		lead := ""
		if q := questions[c.Memory.ID]; q != nil {
			lead = dateAndAuthor(q)
			lead += lastSentences(clean(q.Fact), rerankTokens/3-extract.Tokens(lead)) + "\n"
		}
		lead += dateAndAuthor(c.Memory)
		out = append(out, lead+passage(clean(c.Memory.Fact), c.wording.terms, rerankTokens-extract.Tokens(lead)))
	}
	return out
}

// lastSentences returns text if it has at most limit tokens, or else as many of
// its last sentences as fit. If not one fits, it returns the beginning of the last.
func lastSentences(text string, limit int) string {
	if extract.Tokens(text) <= limit {
		return text
	}
	limit -= extract.Tokens("…")
	at, last := 0, 0
	for of := sentences.FromString(text); of.Next(); at += len(of.Value()) {
		if last = at; extract.Tokens(text[at:]) <= limit {
			break
		}
	}
	return "…" + firstWords(text[last:], limit)
}

// explain adds the reranker's score to the parts of a match's score.
func (j judgments) explain(c *ranked, e *memory.Explain) *memory.Explain {
	if j == nil {
		return e
	}
	for i := range e.Parts {
		e.Parts[i].Weight *= 1 - rerankWeight
	}
	e.Parts = append(e.Parts, memory.Part{Name: "reranker", Value: j[c.Memory.ID], Weight: rerankWeight})
	return e
}
