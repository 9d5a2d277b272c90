package retrieve

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// newerFirst orders the first n matches that give one attribute of one person a value
// ("I live in Porto.", "I live in Rome.") so that the newest is first: their scores
// change places. It does so only if one of them is a fact that a client gave or
// changed: that is compared with nothing when it is stored, while all that was said in
// sessions was compared already. A question about the past leaves the order.
func newerFirst(best []*ranked, q *question, n int) []*ranked {
	top := best[:min(n, len(best))]
	given := func(c *ranked) bool {
		return c.Memory.Kind == memory.KindFact && (len(c.Memory.Source.EventIDs) == 0 || c.Memory.Edited)
	}
	if q.past || len(q.periods) > 0 || !slices.ContainsFunc(top, given) {
		return best
	}
	type matter struct{ attribute, author string }
	groups := map[matter][]*ranked{}
	for _, c := range top {
		m := &c.Memory
		if c.outdated != nil || m.HoldsFrom().After(q.at) {
			continue
		}
		author := m.Author
		if author == "user" || strings.EqualFold(author, q.user) {
			author = "" // as of a fact that a client gave
		}
		form := canonical.Of(memory.Cut(m.Fact, maxRead))
		if attribute := form.Subject(); attribute != "" {
			at := matter{attribute, author}
			groups[at] = append(groups[at], c)
		}
	}
	for _, group := range groups {
		if !slices.ContainsFunc(group, given) {
			continue
		}
		scores := make([]float64, len(group)) // best first
		for i, c := range group {
			scores[i] = c.score
		}
		slices.SortStableFunc(group, func(a, b *ranked) int { return decided(b).Compare(decided(a)) })
		for i, c := range group {
			c.score = scores[i]
		}
	}
	slices.SortStableFunc(best, better)
	return best
}

// decided returns when the words of a match were said or, if that was later, decided
// on by a client.
func decided(c *ranked) time.Time {
	said, edited := c.Memory.SaidAt(), c.Memory.DecidedAt()
	if edited.After(said) {
		return edited
	}
	return said
}
