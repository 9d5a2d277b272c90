package retrieve

import (
	"context"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// "What do you know about me?" has no word of what would answer it: all that is known of the user does. So such a
// question is answered with a list of the facts that hold, and of the values of profiles, newest first.

// asksForEverything reports whether a question asks for all that is known of the one who asks: whether it has a phrase
// for that person, such as "about me", and no other words than those in which one asks for all.
func asksForEverything(words []string, text string) bool {
	if about, all := everythingUnspaced, everythingPieces; slices.ContainsFunc(about, func(p string) bool {
		return strings.Contains(text, p)
	}) {
		rest := strings.Join(plainWords(text), "")
		for _, pieces := range [][]string{about, all} {
			for _, p := range pieces {
				rest = strings.ReplaceAll(rest, p, "")
			}
		}
		return rest == ""
	}
	left := slices.Clone(words)
	found := false
	for _, phrase := range everythingAbout {
		for i := 0; i+len(phrase) <= len(left); i++ {
			if slices.Equal(left[i:i+len(phrase)], phrase) {
				left, found = slices.Delete(left, i, i+len(phrase)), true
				break
			}
		}
	}
	return found && !slices.ContainsFunc(left, func(w string) bool { return !everythingWords.Has(w) })
}

// longestFirst orders texts so that none comes before one that it is a part of.
func longestFirst[T ~string | ~[]string](all []T) []T {
	slices.SortStableFunc(all, func(a, b T) int { return len(b) - len(a) })
	return all
}

// everything answers a question for all that is known of the user: the newest facts that hold and values of profiles,
// that pass the filter. It is empty if there are none, or if it cannot be told which of several people the user is.
func (r *Retriever) everything(
	ctx context.Context, scope memory.Scope, req *Request, q *question,
) (out []*ranked, err error) {
	if err := r.checkSole(ctx, scope, q); err != nil {
		return nil, err
	}
	list := memory.List{Filter: req.Filter, PageSize: 2 * MaxTopK}
	list.Kinds = slices.DeleteFunc([]memory.Kind{memory.KindFact, memory.KindProfile}, func(k memory.Kind) bool {
		return len(req.Filter.Kinds) > 0 && !slices.Contains(req.Filter.Kinds, k)
	})
	if len(list.Kinds) == 0 {
		return nil, nil
	}
	// It is as relevant as can be, and of the one person whom the question is about.
	w := &wording{evidence: &evidence{speaker: 0.5, about: 1, relevance: 1}}
	for len(out) < req.TopK {
		page, err := r.store.List(ctx, scope, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			m := &page.Memories[i]
			if m.IsShared() || !q.asksOwn(m) && m.Author != q.sole && m.Profile == nil {
				continue
			}
			c := &ranked{Candidate: &memory.Candidate{Memory: m, Match: true}, wording: w, final: true}
			c.parts[statement], c.parts[answer] = 1-float64(len(out))*olderBy, 1
			c.score = c.parts[statement]
			out = append(out, c)
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	return out, nil
}

// checkSole asks the store whether the one author of what was found is the only person who speaks in the whole scope: a
// search finds a part of it. If not, that names no user.
func (r *Retriever) checkSole(ctx context.Context, scope memory.Scope, q *question) error {
	if q.sole == "" {
		return nil
	}
	page, err := r.store.List(ctx, scope, memory.List{PageSize: 1, Filter: memory.Filter{
		Kinds: []memory.Kind{memory.KindFact, memory.KindTurn}, History: true,
		Where: memory.And{
			memory.Cmp{Field: memory.FieldTrust, Op: memory.OpEqual, Value: memory.Text(string(memory.TrustUser))},
			memory.Cmp{Field: memory.FieldAuthor, Op: memory.OpNot, Value: memory.Text(q.sole)},
			memory.Cmp{Field: memory.FieldAuthor, Op: memory.OpNot, Value: memory.Text("")},
		},
	}})
	if err == nil && len(page.Memories) > 0 {
		q.sole = ""
	}
	return err
}

// olderBy is how much lower a score in a list of everything is than that of the next newer memory: so little that each
// counts in full where a block weighs them.
const olderBy = 1e-6

// allWeights has the one part that scores in a list of everything have.
var allWeights = [partCount]float64{statement: 1}
