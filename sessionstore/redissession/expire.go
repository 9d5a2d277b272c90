package redissession

import (
	"cmp"
	"context"
	"fmt"
)

// expiredTogether is how many sessions one script deletes: others wait as long as it
// runs, some milliseconds.
const expiredTogether = 50

// ttl is Options.TTL as scripts have it.
func (s *Store) ttl() int64 { return s.opts.TTL.Milliseconds() }

// Expire implements sessionstore.Expirer. It looks at all partitions, and at those again
// that have more.
func (s *Store) Expire(ctx context.Context, limit int) (n int, err error) {
	look := make([]int, partitions)
	for p := range look {
		look[p] = p
	}
	for len(look) > 0 && n < limit && err == nil {
		calls := make([]call, len(look))
		for i, p := range look {
			calls[i] = call{expireScript, partitionPrefix(p), []any{s.clock(), expiredTogether}}
		}
		var more []int
		for i, a := range s.together(ctx, calls...) {
			if a.err != nil {
				err = cmp.Or(err, a.err) // a node does not answer, or a slot moves: others go on
				continue
			}
			r := replyOf(a.value)
			n += int(r.num(0))
			if r.num(0) == expiredTogether {
				more = append(more, look[i])
			}
			for _, app := range r.list(1).texts() {
				err = cmp.Or(err, s.redeliver(ctx, outbox{look[i], app}))
			}
		}
		look = more
	}
	if err != nil {
		return n, fmt.Errorf("remove expired sessions: %w", err)
	}
	return n, nil
}
