package ingest

import (
	"context"

	"github.com/memoryd/memoryd/memory"
)

// purgedTogether is how many memories a purge chooses before it erases them.
const purgedTogether = 10_000

// Purge erases the memories of a scope that pass a filter, those of the past included, with
// their revisions and for good, and returns how many. One that changes after it was chosen
// stays. Sessions stay too: a turn that is purged is not made again, as its event is done.
// A call that fails or is cut off has purged a part, and can be repeated. With dryRun it
// counts the memories and changes nothing.
func (s *Service) Purge(ctx context.Context, scope memory.Scope, f memory.Filter, dryRun bool) (int, error) {
	return s.purge(ctx, f, dryRun, func(list memory.List) (memory.Page, error) {
		return s.memories.List(ctx, scope, list)
	})
}

// PurgeApp is Purge across all users of an app.
func (s *Service) PurgeApp(ctx context.Context, app string, f memory.Filter, dryRun bool) (int, error) {
	return s.purge(ctx, f, dryRun, func(list memory.List) (memory.Page, error) {
		return s.memories.ListApp(ctx, app, list)
	})
}

func (s *Service) purge(ctx context.Context, f memory.Filter, dryRun bool,
	read func(memory.List) (memory.Page, error)) (count int, err error) {
	f.History, f.Hidden = true, true
	// New memories come behind all others in this order.
	list := memory.List{Filter: f, Order: memory.Order{Field: "createTime", Ascending: true},
		PageSize: memory.MaxPageSize}
	chosen, n := map[memory.Scope]*memory.Erasure{}, 0
	for {
		page, err := read(list)
		if err != nil {
			return count, err
		}
		for i := range page.Memories {
			m := &page.Memories[i]
			of := chosen[m.Scope]
			if of == nil {
				of = &memory.Erasure{}
				chosen[m.Scope] = of
			}
			of.IDs, of.Revisions = append(of.IDs, m.ID), append(of.Revisions, m.Revision)
		}
		last := page.NextPageToken == ""
		switch n += len(page.Memories); {
		case dryRun:
			count += len(page.Memories)
			clear(chosen)
		case last || n >= purgedTogether:
			if err := s.erasePurged(ctx, chosen, &count); err != nil {
				return count, err
			}
			clear(chosen)
			n = 0
		}
		if last {
			return count, nil
		}
		list.PageToken = page.NextPageToken
	}
}

// erasePurged erases what was chosen of each scope.
func (s *Service) erasePurged(ctx context.Context, chosen map[memory.Scope]*memory.Erasure, count *int) error {
	for scope, which := range chosen {
		erased, err := s.memories.Erase(ctx, scope, *which)
		*count += erased.Memories
		if err != nil {
			return err
		}
	}
	return nil
}
