package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// Reranker judges texts beside a question. It may be slow and dear, and so is
// asked about the best matches alone.
type Reranker interface {
	// Name names it, with its provider: "gemini:gemini-2.5-flash".
	Name() string
	// Rerank gives each text a score, in their order: 0 for what has nothing to
	// do with the question, 1 for what answers it. The query has 1 to MaxQuery
	// bytes. There are 2 to 30 texts, none empty; each is a line as "(8 May 2023,
	// Ann) I adopted a cat.", after one with the question if it replies to one,
	// and has some 120 tokens at most, as extract.Tokens estimates. What they say
	// is data, and no instruction. It is called concurrently, returns as
	// soon as ctx is over, and does not keep the texts. An error, another number
	// of scores, or a score that is not within 0 to 1, leaves the search as it
	// would be without.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

const (
	// rerankTop is how many matches are judged. On annotated conversations they
	// have .88 of what answers a question, the first ten .80, and fifty would have
	// .90 for nearly twice the tokens.
	rerankTop = 30
	// rerankWeight is the share of the reranker in a score. Between the first and
	// the tenth match ranking leaves some .2, which four of ten steps of the
	// reranker make up for. It was chosen without a model, with judges made up for
	// annotated conversations that give .8 to what answers and .2 to the rest,
	// give or take an error: up to a standard deviation of .3 a share of this
	// size is within .01 of the best in MRR and nDCG@10.
	rerankWeight = 0.33
	// rerankTokens is how much of a memory is shown to a reranker, so that all
	// of them fit into extract.DefaultBudget. Few turns of a conversation are
	// longer. The question that one replies to has a third of it at most.
	rerankTokens = 120
	// rerankTime is how long a search waits for the reranker: what a model takes
	// to read some thousand tokens and to write some hundred, and some more.
	rerankTime = 3 * time.Second
)

// judged is what a reranker says of memories, by their ids; nil if it has said
// nothing.
type judged map[string]float64

// rerank puts the best matches into a new order. What is behind them cannot
// overtake them, as the reranker's share of its score is nothing. If the reranker
// does not judge, all scores stay as they are.
func (r *Retriever) rerank(
	ctx context.Context,
	query string,
	terms []string,
	found memory.Found,
	best []*ranked,
) (judged, error) {
	if r.reranker == nil || len(best) < 2 {
		return nil, nil
	}
	top := best[:min(len(best), rerankTop)]
	var scores []float64
	err := r.reranking.call(ctx, func(ctx context.Context) (err error) {
		if scores, err = r.reranker.Rerank(ctx, query, texts(top, found, terms)); err != nil {
			return err
		}
		return checkScores(scores, len(top))
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errOpen):
		return nil, nil
	default:
		r.log.Warn(
			"search without the reranker: it has not judged the matches",
			"reranker",
			r.reranker.Name(),
			"err",
			err,
		)
		return nil, nil
	}
	out := judged{}
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

// texts are matches as a reranker sees them.
func texts(best []*ranked, found memory.Found, terms []string) []string {
	questions := map[string]*memory.Memory{} // by the id of the turn after
	for _, run := range found.Runs {
		for i := 1; i < len(run); i++ {
			if asks(run[i-1].Memory.Fact) {
				questions[run[i].Memory.ID] = &run[i-1].Memory
			}
		}
	}
	var out []string
	for _, c := range best {
		lead := ""
		if q := questions[c.Memory.ID]; q != nil {
			lead = by(q) + ending(clean(q.Fact), rerankTokens/3-extract.Tokens(by(q))) + "\n"
		}
		lead += by(&c.Memory)
		out = append(out, lead+passage(clean(c.Memory.Fact), terms, rerankTokens-extract.Tokens(lead)))
	}
	return out
}

// ending is a text of at most so many tokens, or as many of its last sentences
// as fit; of one that does not fit the beginning.
func ending(text string, most int) string {
	if extract.Tokens(text) <= most {
		return text
	}
	most -= extract.Tokens("…")
	at, last := 0, 0
	for of := sentences.FromString(text); of.Next(); at += len(of.Value()) {
		if last = at; extract.Tokens(text[at:]) <= most {
			break
		}
	}
	return "…" + begin(text[last:], most)
}

// explain adds to what a score is made of what the reranker says.
func (j judged) explain(c *ranked, e *memory.Explain) *memory.Explain {
	if j == nil {
		return e
	}
	for i := range e.Parts {
		e.Parts[i].Weight *= 1 - rerankWeight
	}
	e.Parts = append(e.Parts, memory.Part{Name: "reranker", Value: j[c.Memory.ID], Weight: rerankWeight})
	return e
}
