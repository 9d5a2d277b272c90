package qdrantstore

import (
	"context"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
)

// Count implements memory.Counter. Qdrant counts each figure by its filter.
func (s *Store) Count(ctx context.Context, scope memory.Scope) (memory.Counts, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var out memory.Counts
	lasting := []memory.Kind{memory.KindFact, memory.KindProfile}
	all := 0 // facts and values, current or not
	now := s.opts.Now()
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx).WithMaxGoroutines(counting)
	for _, figure := range []struct {
		of   memory.Filter
		into *int
	}{
		{memory.Filter{Kinds: lasting[:1]}, &out.Facts},
		{memory.Filter{Kinds: lasting[1:]}, &out.Values},
		{memory.Filter{Kinds: lasting, History: true}, &all},
		{memory.Filter{Kinds: []memory.Kind{memory.KindTurn}, History: true}, &out.Turns},
		{memory.Filter{State: memory.Quarantined, History: true}, &out.Quarantined},
	} {
		passes, _ := filter(scope, &figure.of, now)
		p.Go(func(ctx context.Context) error {
			n, err := s.client.Count(ctx, &qdrant.CountPoints{
				CollectionName: s.collection, Filter: passes, Exact: qdrant.PtrOf(true)})
			*figure.into = int(n)
			return s.kind(ctx, err)
		})
	}
	if err := p.Wait(); err != nil {
		return memory.Counts{}, scope.Wrap("count memories", err)
	}
	// A write between two of the counts must not make the difference negative.
	out.Superseded = max(0, all-out.Facts-out.Values)
	return out, nil
}
