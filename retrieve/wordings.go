package retrieve

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// wording is one text that a question is searched with, and what was found.
type wording struct {
	text   string
	meant  string   // the same with "I" for a name of the user: the vector is of this and of told
	told   string   // the words in which its answers are told
	shown  string   // the text in explanations, or what an expander added to the question
	terms  []string // analyzed words, distinct
	vector []float32
	found  memory.Found

	evidence *evidence // once found is ranked
}

// wordingsOf returns the wordings of texts, each once.
func wordingsOf(texts []string) (out []*wording) {
	for i, text := range texts {
		if !slices.Contains(texts[:i], text) {
			out = append(out, newWording(text))
		}
	}
	return out
}

func newWording(text string) *wording {
	// The words are of each wording, as each may ask for another matter.
	told := toldAs(text)
	return &wording{text: text, meant: text, shown: text, told: told, terms: withTold(matterOf(text), told)}
}

// textOf returns what wordings say, one a line.
func textOf(wordings []*wording) string {
	texts := make([]string, len(wordings))
	for i, w := range wordings {
		texts[i] = w.shown
	}
	return strings.Join(texts, "\n")
}

// prepared are the searches of a request: of its scope, and of shared knowledge, which is
// nil if the request does not want that.
type prepared struct {
	own, shared memory.PreparedSearch
}

// prepare begins the searches of a request, before its question is read and embedded: a store
// of servers is asked what has changed meanwhile. All wordings, and a second search in other
// words, see the memories as they were at least then.
func (r *Retriever) prepare(ctx context.Context, scope memory.Scope, req *Request) (out prepared) {
	out.own = r.store.PrepareSearch(ctx, scope)
	if req.Shared && !scope.OfApp() && req.Filter.SessionID == "" {
		out.shared = r.store.PrepareSearch(ctx, memory.Shared(scope.App))
	}
	return out
}

// find searches the store with each wording.
func (r *Retriever) find(
	ctx context.Context, req *Request, prepared prepared, wordings []*wording, until time.Time,
) (err error) {
	if err := r.embed(ctx, wordings, until); err != nil {
		return err
	}
	ctx, span := tracing.Start(ctx, "find")
	defer func() { span.End(err) }()
	shared := findShared(ctx, req, prepared.shared, wordings)
	for _, w := range wordings {
		w.found, err = prepared.own(ctx, memory.Query{
			Filter:   req.Filter,
			Terms:    w.terms,
			Vector:   w.vector,
			Limit:    candidates,
			Cited:    true,
			Context:  2 * reach,
			Sessions: r.weights[session] > 0,

			Succession: true,
		})
		if err != nil {
			break
		}
	}
	if sharedErr := shared(); err == nil {
		err = sharedErr
	}
	return err
}

// fuse returns the n best matches of several rankings, and the n best of shared
// knowledge. A match has the place that it has in the ranking with its best score: scores
// of all wordings have one scale. It is outdated if it is so in any ranking.
func fuse(rankings [][]*ranked, q *question, n int) []*ranked {
	if len(rankings) == 1 {
		return rankings[0]
	}
	type place struct {
		scope memory.Scope
		id    string
	}
	of := func(c *ranked) place { return place{c.Memory.Scope, c.Memory.ID} }
	byID := map[place]*ranked{}
	for _, ranking := range rankings {
		for _, c := range ranking {
			if best := byID[of(c)]; best == nil || c.score > best.score {
				byID[of(c)] = c
			}
		}
	}
	for _, ranking := range rankings {
		for _, c := range ranking {
			if best := byID[of(c)]; best != c {
				best.markAs(c)
			}
		}
	}
	out := slices.SortedFunc(maps.Values(byID), better)
	for _, c := range out {
		for i, by := range c.successors {
			if best := byID[of(by)]; best != nil {
				c.successors[i] = best
			}
		}
	}
	out = succeed(out, q)
	own, shared := apart(out)
	if len(shared) == 0 {
		return own[:min(len(own), n)]
	}
	out = append(own[:min(len(own), n)], shared[:min(len(shared), n)]...)
	slices.SortStableFunc(out, better)
	return out
}

// markAs marks a match as outdated as another ranking has it.
func (c *ranked) markAs(o *ranked) {
	if o.outdated == nil {
		return
	}
	if c.outdated == nil {
		c.outdated, c.until, c.successors = o.outdated, o.until, o.successors
		return
	}
	if o.until.to.After(c.until.to) {
		c.until, c.outdated.Since = o.until, o.until.to
	}
	c.outdated.Redundant = c.outdated.Redundant || o.outdated.Redundant
	for _, id := range o.outdated.By {
		if !slices.Contains(c.outdated.By, id) {
			c.outdated.By = append(c.outdated.By, id)
		}
	}
	c.successors = append(c.successors, o.successors...)
}
