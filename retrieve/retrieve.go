// Package retrieve answers queries with memories. A store finds candidates by
// words and by meaning; this package ranks them, may have a model rerank the best,
// and writes them as a block for a prompt.
package retrieve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// Limits of a Request.
const (
	DefaultTopK = 10
	MaxTopK     = 100
	MaxQuery    = 16 << 10 // bytes
)

// candidates is the length of the lists that a store returns for ranking. A memory
// at place 100 both by words and by meaning has only its neighbours to lift it
// into the answer: on annotated conversations lists of 60 and of 200 give the same
// recall, up to the 50th match.
const candidates = 100

// Options of New. The zero value is the default.
type Options struct {
	// Without names parts of ranking to leave out; see Parts.
	Without []string
	// Reranker puts the best matches into a new order. Defaults to none.
	Reranker Reranker
	Log      *slog.Logger // Defaults to discarding.
}

// Retriever searches one store.
type Retriever struct {
	store    memory.Store
	embedder embed.Embedder
	reranker Reranker // nil if there is none
	weights  [partCount]float64
	log      *slog.Logger
	now      func() time.Time

	embedding, reranking breaker
}

// New returns a Retriever over store. The embedder must be the one that the
// store's vectors were made with.
func New(store memory.Store, embedder embed.Embedder, opts *Options) *Retriever {
	if opts == nil {
		opts = &Options{}
	}
	r := &Retriever{
		store:    store,
		embedder: embedder,
		reranker: opts.Reranker,
		weights:  rawWeights(opts.Without),
		log:      opts.Log,
		now:      time.Now,
	}
	r.reranking.limit = rerankTime
	if embedder.Model().Remote {
		r.embedding.limit = embedTime
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Request is one search.
type Request struct {
	Query    string // 1 to MaxQuery bytes, not all space
	TopK     int    // 1 to MaxTopK; 0 is DefaultTopK
	MinScore float64
	Filter   memory.Filter
	Explain  bool
	// Lines asks for Match.Line, and for what a model is better shown once: a fact and
	// the turn that it cites are one match, and what is outdated is left out where its
	// successor comes before it and facts tell all of it. The place is that of the best.
	Lines bool
}

func (r *Request) validate() error {
	switch {
	case strings.TrimSpace(r.Query) == "":
		return fmt.Errorf("%w: query is empty", memory.ErrInvalid)
	case len(r.Query) > MaxQuery:
		return fmt.Errorf("%w: query has %d bytes, more than %d", memory.ErrInvalid, len(r.Query), MaxQuery)
	case r.TopK < 0 || r.TopK > MaxTopK:
		return fmt.Errorf("%w: topK %d is not within 1 to %d", memory.ErrInvalid, r.TopK, MaxTopK)
	case !(r.MinScore >= 0 && r.MinScore <= 1):
		return fmt.Errorf("%w: minScore %v is not within 0 to 1", memory.ErrInvalid, r.MinScore)
	}
	return r.Filter.Validate()
}

// embedTime is how long a search waits for a remote embedder before it goes by
// words alone.
const embedTime = 2 * time.Second

// embed returns the vector of a question, or nil if the embedder fails or is late.
func (r *Retriever) embed(ctx context.Context, query string) ([]float32, error) {
	var vectors [][]float32
	err := r.embedding.call(ctx, func(ctx context.Context) (err error) {
		vectors, err = embed.Vectors(ctx, r.embedder, embed.Query, []string{query})
		return err
	})
	switch {
	case err == nil:
		return vectors[0], nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !errors.Is(err, errOpen):
		r.log.Warn("search by words alone: embedding the query failed", "err", err)
	}
	return nil, nil
}

// Search returns the best matches in a scope, best first, ties by id. Memories
// that have nothing in common with the query are left out, so there may be fewer
// than TopK, or none. If the embedder fails, words alone decide; if the reranker
// fails, the ranking stands.
func (r *Retriever) Search(ctx context.Context, scope memory.Scope, req Request) ([]memory.Match, error) {
	if err := scope.Validate(); err != nil {
		return nil, err
	}
	if err := req.validate(); err != nil {
		return nil, err
	}
	if req.TopK == 0 {
		req.TopK = DefaultTopK
	}
	asked := readQuestion(req.Query, scope.User, req.Filter.AsOf, r.now())
	q := memory.Query{
		Filter:   req.Filter,
		Terms:    asked.terms,
		Limit:    candidates,
		Cited:    true,
		Context:  2 * reach,
		Sessions: r.weights[session] > 0,

		Succession: true,
	}
	var err error
	if q.Vector, err = r.embed(ctx, req.Query); err != nil {
		return nil, err
	}
	found, err := r.store.Search(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	topK := req.TopK
	if req.Lines {
		req.TopK = min(2*topK, MaxTopK)
	}
	n := req.TopK
	if r.reranker != nil {
		n = max(n, rerankTop)
	}
	best, weights := r.rank(found, asked, q.Vector != nil, n)
	reranked, err := r.rerank(ctx, req.Query, q.Terms, found, best)
	if err != nil {
		return nil, err
	}
	best = newerFirst(succeed(best, asked), asked, req.TopK)
	out := make([]memory.Match, 0, req.TopK)
	for _, c := range best[:min(len(best), req.TopK)] {
		if c.score < req.MinScore {
			break
		}
		m := memory.Match{Memory: c.Memory, Score: c.score, Outdated: c.outdated}
		if req.Explain {
			m.Explain = explainPlace(c, reranked.explain(c, explain(c, weights, q.Terms)))
		}
		out = append(out, m)
	}
	if req.Lines {
		out = lines(out, req.Query, topK)
	}
	return out, nil
}
