// Package retrieve answers queries with memories. A store finds candidates by
// words and by meaning; this package ranks them, may have a model word the query
// in other ways and rerank the best, and writes them as a block for a prompt.
package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// Limits of a Request.
const (
	DefaultTopK = 10
	MaxTopK     = 100
	MaxQuery    = 16 << 10 // bytes, of each wording
	MaxQueries  = 8
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
	// Weights has other weights of parts of ranking, at least 0, by name.
	Weights map[string]float64
	// Reranker puts the best matches into a new order. Defaults to none.
	Reranker Reranker
	// Reranked is how many matches the reranker sees, 2 to MaxReranked. Defaults to
	// DefaultReranked.
	Reranked int
	// Expander words the questions of requests with Expand in other ways. Defaults to
	// none.
	Expander Expander
	// Zone is the time zone of requests that name none. Defaults to UTC.
	Zone *time.Location
	// Redact returns a wording of a question in an app without the secrets in it, before
	// anything else sees it. Defaults to leaving it as it is.
	Redact func(ctx context.Context, app, query string) string
	Log    *slog.Logger // Defaults to discarding.
	// Now is the clock of searches, the store's. Defaults to time.Now.
	Now func() time.Time
}

// Retriever searches one store.
type Retriever struct {
	store    memory.Store
	embedder embed.Embedder
	reranker Reranker // nil if there is none
	reranked int      // matches that it sees
	expander Expander // nil if there is none
	weights  [partCount]float64
	zone     *time.Location
	redact   func(ctx context.Context, app, query string) string // nil for none
	log      *slog.Logger
	now      func() time.Time

	embedding, expanding, reranking breaker
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
		reranked: min(max(cmp.Or(opts.Reranked, DefaultReranked), 2), MaxReranked),
		expander: opts.Expander,
		weights:  rawWeights(opts.Without, opts.Weights),
		zone:     cmp.Or(opts.Zone, time.UTC),
		redact:   opts.Redact,
		log:      opts.Log,
		now:      opts.Now,
	}
	r.reranking.limit, r.expanding.limit = time.Duration(r.reranked)*rerankTime, expandTime
	if embedder.Model().Remote {
		r.embedding.limit = embedTime
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Zone is the time zone of requests that name none.
func (r *Retriever) Zone() *time.Location { return r.zone }

// Request is one search.
type Request struct {
	Query string // 1 to MaxQuery bytes, not all space
	// Queries are up to MaxQueries other wordings of Query, such as what might have been
	// said that answers it. A search finds what any wording finds, and each match has
	// the best of its scores. Query says whom and what time the question is about; if it
	// is "", the first of Queries does.
	Queries []string
	// Expand asks Options.Expander for other wordings of Query. It has no effect if there
	// are Queries, since that caller has worded the question, or if Query has more than
	// 2,048 bytes, since that is a document.
	Expand   bool
	TopK     int // 1 to MaxTopK; 0 is DefaultTopK
	MinScore float64
	// MinConfidence leaves the answer without matches if its confidence is below: 0 to 1.
	MinConfidence float64
	Filter        memory.Filter
	// Shared has the search find the shared knowledge of the app too, ranked with the
	// memories of the scope. It has no effect with Filter.SessionID: shared knowledge is of
	// no session.
	Shared  bool
	Zone    *time.Location // of who asks: "yesterday" is the day there. Nil is Options.Zone.
	Explain bool
	// Patience is how long the search waits for models of other machines, for all of them
	// together: it goes on without one that is late. 0 is as long as each of them may take.
	Patience time.Duration
	// Lines asks for Match.Line, and for what a model is better shown once: a fact and
	// the turn that it cites are one match, and what is outdated is left out where its
	// successor comes before it and facts tell all of it. The place is that of the best.
	Lines bool
}

func (r *Request) validate() error {
	switch {
	case strings.TrimSpace(r.Query) == "" && (r.Query != "" || len(r.Queries) == 0):
		return fmt.Errorf("%w: query is empty", memory.ErrInvalid)
	case len(r.Query) > MaxQuery:
		return fmt.Errorf("%w: query has %d bytes, more than %d", memory.ErrInvalid, len(r.Query), MaxQuery)
	case len(r.Queries) > MaxQueries:
		return fmt.Errorf("%w: queries has %d texts, more than %d", memory.ErrInvalid, len(r.Queries), MaxQueries)
	case r.TopK < 0 || r.TopK > MaxTopK:
		return fmt.Errorf("%w: topK %d is not within 1 to %d", memory.ErrInvalid, r.TopK, MaxTopK)
	case !(r.MinScore >= 0 && r.MinScore <= 1):
		return fmt.Errorf("%w: minScore %v is not within 0 to 1", memory.ErrInvalid, r.MinScore)
	case !(r.MinConfidence >= 0 && r.MinConfidence <= 1):
		return fmt.Errorf("%w: minConfidence %v is not within 0 to 1", memory.ErrInvalid, r.MinConfidence)
	}
	for i, q := range r.Queries {
		if strings.TrimSpace(q) == "" {
			return fmt.Errorf("%w: queries[%d] is empty", memory.ErrInvalid, i)
		}
		if len(q) > MaxQuery {
			return fmt.Errorf("%w: queries[%d] has %d bytes, more than %d", memory.ErrInvalid, i, len(q), MaxQuery)
		}
	}
	return r.Filter.Validate()
}

// texts returns the wordings of a valid request, the question first.
func (r *Request) texts() []string {
	if r.Query == "" {
		return r.Queries
	}
	return append([]string{r.Query}, r.Queries...)
}

// embedTime is how long a search waits for a remote embedder before it goes by
// words alone.
const embedTime = 2 * time.Second

// embed sets the vectors of wordings, unless the embedder fails or is late.
func (r *Retriever) embed(ctx context.Context, wordings []*wording, until time.Time) error {
	texts := make([]string, len(wordings))
	for i, w := range wordings {
		texts[i] = strings.TrimSpace(w.meant + " " + w.told)
	}
	var vectors [][]float32
	ctx, span := tracing.Start(ctx, "embed")
	err := r.embedding.call(ctx, until, func(ctx context.Context) (err error) {
		vectors, err = embed.Vectors(ctx, r.embedder, embed.Query, texts)
		return err
	})
	span.End(err)
	switch {
	case err == nil:
		for i, w := range wordings {
			w.vector = vectors[i]
		}
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, errOpen) && !errors.Is(err, errHurried):
		r.log.Warn("search by words alone: embedding the query failed", "err", err)
	}
	return nil
}

// Search returns the best matches in a scope, best first, ties by id. Memories
// that have nothing in common with the query are left out, so there may be fewer
// than TopK, or none. If the embedder fails, words alone decide; if the expander
// fails, the query stands alone; if the reranker fails, the ranking stands.
func (r *Retriever) Search(ctx context.Context, scope memory.Scope, req Request) ([]memory.Match, error) {
	found, err := r.Answer(ctx, scope, req)
	return found.Matches, err
}

// Answer is Search, and tells how likely it is that the first match answers.
func (r *Retriever) Answer(ctx context.Context, scope memory.Scope, req Request) (out Answer, err error) {
	if err := scope.ValidateOwner(); err != nil {
		return Answer{}, err
	}
	if err := req.validate(); err != nil {
		return Answer{}, err
	}
	if req.TopK == 0 {
		req.TopK = DefaultTopK
	}
	if r.redact != nil {
		req.Query = r.redact(ctx, scope.App, req.Query)
		req.Queries = slices.Clone(req.Queries)
		for i, q := range req.Queries {
			req.Queries[i] = r.redact(ctx, scope.App, q)
		}
	}
	ctx, span := tracing.Start(ctx, "search")
	defer func() { endSearch(span, &req, len(out.Matches), err) }()
	prepared := r.prepare(ctx, scope, &req)
	wordings := wordingsOf(req.texts())
	var until time.Time
	if req.Patience > 0 {
		until = time.Now().Add(req.Patience)
	}
	if req.Expand && len(req.Queries) == 0 {
		if wordings, err = r.expand(ctx, wordings, until); err != nil {
			return Answer{}, err
		}
	}
	asked := readQuestion(wordings[0].text, scope.User, req.Filter.AsOf, r.now().In(cmp.Or(req.Zone, r.zone)))
	asked = asked.byID(wordings)
	if err := r.find(ctx, &req, prepared, wordings, until); err != nil {
		return Answer{}, err
	}
	asked, again := asked.bySaid(wordings)
	if again {
		if err := r.find(ctx, &req, prepared, wordings, until); err != nil {
			return Answer{}, err
		}
	}
	topK := req.TopK
	if req.Lines {
		req.TopK = min(2*topK, MaxTopK)
	}
	n := max(req.TopK, changeDepth)
	if r.reranker != nil {
		n = max(n, r.reranked)
	}
	var best []*ranked
	if asked.all {
		if best, err = r.everything(ctx, scope, &req, asked); err != nil {
			return Answer{}, err
		}
	}
	weights, reranked := allWeights, judgments(nil)
	if asked.several = asked.several || len(best) > 0; len(best) == 0 {
		best, weights = r.rank(wordings, asked, n)
		if reranked, err = r.rerank(ctx, wordings, best, until); err != nil {
			return Answer{}, err
		}
		best = changeFirst(newerFirst(succeed(best, asked), asked, req.TopK), asked, req.TopK)
	}
	out.Matches = make([]memory.Match, 0, req.TopK)
	for i, c := range balance(best, req.TopK, (*ranked).weight) {
		if c.score < req.MinScore {
			break
		}
		if i == 0 && !out.weigh(c, &req) {
			break
		}
		m := memory.Match{Memory: c.Memory.Clone(), Score: c.score, Outdated: c.outdated}
		for _, o := range c.newer {
			m.Newer = append(m.Newer, o.Memory.ID)
		}
		if req.Explain {
			m.Explain = explainPlace(c, reranked.explain(c, explain(c, weights, len(wordings) > 1)))
		}
		out.Matches = append(out.Matches, m)
	}
	out.text, out.asked = textOf(wordings), asked
	if req.Lines {
		out.Matches = balance(lines(out.Matches, out.text), topK, weightOf)
	}
	return out, nil
}

// endSearch ends the span of a search with so many matches.
func endSearch(span *tracing.Span, req *Request, matches int, err error) {
	span.Int("memoryd.top_k", req.TopK)
	span.Int("memoryd.matches", matches)
	span.Content("memoryd.query", req.texts)
	span.End(err)
}
