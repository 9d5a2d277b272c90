package qdrantstore

import (
	"context"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
)

// counter sends the counting queries of one search, several at a time.
type counter struct {
	sr   *search
	pool *pool.ContextPool
}

// count takes the statistics: how many memories there are and how many have
// each word, and the same of the turns of each session.
func (sr *search) count(ctx context.Context) error {
	sr.stats.DF = make([]int, len(sr.q.Terms))
	turns := map[string]int{}                         // in each session
	having := make([]map[string]int, len(sr.q.Terms)) // turns in each session that have a word
	c := counter{sr, pool.New().WithErrors().WithFirstError().WithContext(ctx).WithMaxGoroutines(counting)}
	c.total(visible(sr.scope, sr.now), &sr.stats.Docs)
	c.bySession(visible(sr.scope, sr.now), &turns)
	for i, t := range sr.q.Terms {
		have := func() *qdrant.Filter {
			return &qdrant.Filter{
				Must:    []*qdrant.Condition{qdrant.NewMatchInt("words", wordNumber(sr.scope, t))},
				MustNot: []*qdrant.Condition{notAfter("expires", sr.now)},
			}
		}
		c.total(have(), &sr.stats.DF[i])
		c.bySession(have(), &having[i])
	}
	if sr.q.Bytes || sr.q.CountHidden {
		hidden := live(sr.scope, sr.now)
		hidden.Must = append(hidden.Must, qdrant.NewMatchBool(hiddenField, true))
		c.total(hidden, &sr.stats.Hidden)
	}
	if sr.q.Bytes {
		c.pool.Go(func(ctx context.Context) (err error) {
			sr.stats.Bytes, err = sr.s.bytesOf(ctx, sr.scope)
			return err
		})
	}
	if err := c.pool.Wait(); err != nil {
		return err
	}
	if sr.q.Sessions {
		sr.countSessions(turns, having)
	}
	return nil
}

// total counts the points that pass.
func (c counter) total(passes *qdrant.Filter, into *int) {
	c.pool.Go(func(ctx context.Context) error {
		n, err := c.sr.s.client.Count(ctx, &qdrant.CountPoints{
			CollectionName: c.sr.s.collection, Filter: passes, Exact: qdrant.PtrOf(true),
		})
		*into = int(n)
		return c.sr.s.kind(ctx, err)
	})
}

// bySession counts the turns that pass in each session, if the query asks for
// sessions. The counts are not exact ones: an exact facet finds the values
// first and then counts each with a query of its own. An approximate one counts
// all points of each segment in one go, if there are at most ten times as
// many values as its Limit. So it is right too, except for a point
// that is being moved to another segment, which it may count twice. That is
// good enough: the statistics of a session only say which turns to prefer.
func (c counter) bySession(passes *qdrant.Filter, into *map[string]int) {
	if !c.sr.q.Sessions {
		return
	}
	passes.Must = append(passes.Must, qdrant.NewMatch("kind", string(memory.KindTurn)))
	c.pool.Go(func(ctx context.Context) error {
		counts, err := c.sr.s.client.Facet(ctx, &qdrant.FacetCounts{
			CollectionName: c.sr.s.collection, Key: "session", Filter: passes, Exact: qdrant.PtrOf(false),
			Limit: qdrant.PtrOf(uint64(maxSessions)),
		})
		*into = make(map[string]int, len(counts))
		for _, n := range counts {
			(*into)[n.GetValue().GetStringValue()] = int(n.GetCount())
		}
		return c.sr.s.kind(ctx, err)
	})
}

// countSessions puts the statistics of sessions together.
func (sr *search) countSessions(turns map[string]int, having []map[string]int) {
	rows := map[string]int{} // by session
	for i, counts := range having {
		for session, n := range counts {
			row, ok := rows[session]
			if !ok {
				row = len(rows)
				rows[session] = row
				sr.stats.Sessions = append(sr.stats.Sessions, memory.SessionStats{
					ID: session, Turns: turns[session], DF: make([]int, len(sr.q.Terms)),
				})
			}
			sr.stats.Sessions[row].DF[i] = n
		}
	}
	// A session may have begun between two of the counts.
	sr.stats.SessionCount = max(len(turns), len(sr.stats.Sessions))
}

// bytesOf adds up Memory.Bytes of the live memories of a scope. Qdrant adds nothing up
// itself, so that all of them are read.
func (s *Store) bytesOf(ctx context.Context, scope memory.Scope) (sum int64, err error) {
	all := memory.List{Filter: memory.Filter{History: true, Hidden: true}, PageSize: memory.MaxPageSize}
	for {
		page, err := s.List(ctx, scope, all)
		if err != nil {
			return 0, err
		}
		for i := range page.Memories {
			sum += page.Memories[i].Bytes()
		}
		if all.PageToken = page.NextPageToken; all.PageToken == "" {
			return sum, nil
		}
	}
}
