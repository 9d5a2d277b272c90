package redissession

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// walk goes through a list of an app that each partition has for its users: sorted sets of
// names, user/id, by a time.
type walk struct {
	store *Store
	// set is "recent", of sessions by their last update, or "ran", of operations by their
	// making; see the package. Only the first changes its order while somebody walks.
	set       string
	scope     memory.Scope // without a user, of all
	ascending bool
	after     *sessionstore.Place // up to which the walk has come; nil at its start
	ended     bool

	parts []*walked // those of the scope, from the first call of names on
}

// walked is how far the list of one partition has been read.
type walked struct {
	index  int
	each   int                 // how many names it is asked for next
	unread []redis.Z           // names that no call of walk.names has answered yet
	after  *sessionstore.Place // up to which names came; nil at the start
	ended  bool                // nothing is behind that
}

// names reads the next names, up to so many. Those of a user are in one partition. Those of
// an app are in all, and their order is that of the partitions together. A partition whose
// names have run out is asked for more, twice as many each time, and the others are not.
func (w *walk) names(ctx context.Context, many int) (names []redis.Z, err error) {
	w.begin(many)
	for len(names) < many {
		asked, err := w.ask(ctx, many)
		if err != nil {
			return nil, err
		}
		some := w.merge(many - len(names))
		names = append(names, some...)
		if len(some) > 0 {
			last := placeOf(some[len(some)-1])
			w.after = &last
		}
		open := slices.ContainsFunc(w.parts, func(p *walked) bool { return !p.ended || len(p.unread) > 0 })
		if w.ended = !open; w.ended {
			break
		}
		if p := w.parts[0]; w.scope.User != "" && asked {
			if len(p.unread) == 0 {
				w.after = p.after // of a user many names of others may have been looked at
			}
			break
		}
	}
	return names, nil
}

// begin sets the partitions that the walk reads.
func (w *walk) begin(many int) {
	if w.parts != nil {
		return
	}
	if w.scope.User != "" {
		w.parts = []*walked{{index: partitionOf(w.scope), each: many, after: w.after}}
		return
	}
	for p := range partitions {
		w.parts = append(w.parts, &walked{index: p, each: min(many, 8), after: w.after})
	}
}

// ask reads more names of those partitions that have none left. It reports whether there
// were any.
func (w *walk) ask(ctx context.Context, many int) (bool, error) {
	var calls []call
	var parts []*walked
	for _, p := range w.parts {
		if p.ended || len(p.unread) > 0 {
			continue
		}
		place := []any{"", ""}
		if p.after != nil {
			place = []any{p.after.At, p.after.Name}
		}
		args := append([]any{w.scope.App, w.scope.User, truth(w.ascending), p.each}, place...)
		calls = append(calls, call{recentScript, partitionPrefix(p.index), append(args, w.set)})
		parts = append(parts, p)
	}
	if len(calls) == 0 {
		return false, nil
	}
	values, err := allOf(w.store.together(ctx, calls...))
	if err != nil {
		return false, err
	}
	for i, p := range parts {
		r := replyOf(values[i])
		for all := r.list(0); len(all) > 0; all = all[2:] {
			p.unread = append(p.unread, redis.Z{Member: all.text(0), Score: float64(all.num(1))})
		}
		if p.ended = r.text(1) == ""; !p.ended {
			p.after = &sessionstore.Place{At: r.num(1), Name: r.text(2)}
		}
		p.each = min(2*p.each, max(many, p.each))
	}
	return true, nil
}

// merge takes up to so many of the unread names in their order, as long as no partition is
// without any: what it has next may come first.
func (w *walk) merge(many int) (names []redis.Z) {
	for len(names) < many {
		var first *walked
		for _, p := range w.parts {
			switch {
			case len(p.unread) == 0 && !p.ended:
				return names
			case len(p.unread) > 0 && (first == nil || w.compare(placeOf(p.unread[0]), placeOf(first.unread[0])) < 0):
				first = p
			}
		}
		if first == nil {
			return names
		}
		names = append(names, first.unread[0])
		first.unread = first.unread[1:]
	}
	return names
}

// placeOf is the place of a name in its list.
func placeOf(z redis.Z) sessionstore.Place {
	return sessionstore.Place{At: int64(math.Round(z.Score)), Name: z.Member.(string)}
}

// compare orders places as the list does.
func (w *walk) compare(a, b sessionstore.Place) int {
	order := cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Name, b.Name))
	if w.ascending {
		return order
	}
	return -order
}
