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
}

// names reads the next names, up to so many. Those of a user are in one partition. Those of
// an app are in all, and their order is that of the partitions together: each is asked for
// some, more with each round, and those count that come before the end of any partition's
// answer.
func (w *walk) names(ctx context.Context, many int) (names []redis.Z, err error) {
	parts, each := []int{partitionOf(w.scope)}, many
	if w.scope.User == "" {
		parts, each = make([]int, partitions), min(many, 8)
		for p := range parts {
			parts[p] = p
		}
	}
	for {
		place := []any{"", ""}
		if w.after != nil {
			place = []any{w.after.At, w.after.Name}
		}
		calls := make([]call, len(parts))
		for i, p := range parts {
			calls[i] = call{recentScript, partitionPrefix(p), append(append([]any{w.scope.App, w.scope.User,
				truth(w.ascending), each}, place...), w.set)}
		}
		values, err := allOf(w.store.together(ctx, calls...))
		if err != nil {
			return nil, err
		}
		some, end := w.merge(values)
		if len(some) > many-len(names) {
			some = some[:many-len(names)]
			end = &sessionstore.Place{At: int64(some[len(some)-1].Score), Name: some[len(some)-1].Member.(string)}
		}
		names = append(names, some...)
		if end == nil {
			w.ended = true
			return names, nil
		}
		w.after = end
		if len(names) == many || w.scope.User != "" {
			return names, nil
		}
		each = min(2*each, many)
	}
}

// merge puts the answers of recent.lua in order, up to the first place at which one of
// them ends before its partition does; nil if none does.
func (w *walk) merge(values []any) (names []redis.Z, end *sessionstore.Place) {
	for _, v := range values {
		r := replyOf(v)
		for all := r.list(0); len(all) > 0; all = all[2:] {
			names = append(names, redis.Z{Member: all.text(0), Score: float64(all.num(1))})
		}
		if r.text(1) != "" {
			at := sessionstore.Place{At: r.num(1), Name: r.text(2)}
			if end == nil || w.compare(at, *end) < 0 {
				end = &at
			}
		}
	}
	slices.SortFunc(names, func(a, b redis.Z) int { return w.compare(placeOf(a), placeOf(b)) })
	if end != nil {
		names = slices.DeleteFunc(names, func(z redis.Z) bool { return w.compare(placeOf(z), *end) > 0 })
	}
	return names, end
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
