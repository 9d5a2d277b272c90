package qdrantstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// ChangedBy implements memory.Store. It looks at all revisions of a page of memories,
// in the order of their points: no index has the operations.
func (s *Store) ChangedBy(ctx context.Context, scope memory.Scope, operation, from string) (
	ids []string, next string, err error) {
	var at *qdrant.PointId
	if from != "" {
		at = qdrant.NewIDUUID(from)
	}
	page, _, after, err := s.scopePage(ctx, scope, at)
	if err == nil {
		now := s.opts.Now()
		page = slices.DeleteFunc(page, func(r *record) bool { return r.vanished(now) })
		found := map[*record]bool{}
		for _, r := range page {
			found[r] = r.step.Operation == operation
		}
		err = s.eachPast(ctx, scope, page, func(r *record, st *step, _ memory.Memory) error {
			found[r] = found[r] || st.Operation == operation && !st.expired(now)
			return nil
		})
		for _, r := range page {
			if found[r] {
				ids = append(ids, r.Memory.ID)
			}
		}
	}
	if err != nil {
		return nil, "", scope.Wrap(fmt.Sprintf("find the changes of operation %.80q", operation), err)
	}
	return ids, after.GetUuid(), nil
}
