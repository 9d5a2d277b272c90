package qdrantstore

import (
	"context"

	"github.com/qdrant/go-client/qdrant"
)

// oneOrder has all replicas take writes in one order. In any other ordering
// each replica would check a condition on its own data, and two writers could
// both win.
var oneOrder = &qdrant.WriteOrdering{Type: qdrant.WriteOrderingType_Strong}

// insertOnly writes points that are not there yet.
func insertOnly(points ...*qdrant.PointStruct) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
		Points: points, UpdateMode: qdrant.UpdateMode_InsertOnly.Enum(),
	})
}

// updateOnly replaces a point that meets conditions.
func updateOnly(p *qdrant.PointStruct, conditions ...*qdrant.Condition) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
		Points: []*qdrant.PointStruct{p}, UpdateMode: qdrant.UpdateMode_UpdateOnly.Enum(),
		UpdateFilter: &qdrant.Filter{Must: conditions},
	})
}

// update sends operations that Qdrant takes one after another.
func (s *Store) update(ctx context.Context, collection string, ops ...*qdrant.PointsUpdateOperation) error {
	_, err := s.client.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{
		CollectionName: collection, Wait: qdrant.PtrOf(true), Ordering: oneOrder, Operations: ops,
	})
	return s.kind(ctx, err)
}
