package qdrantstore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// revokedField is the payload of a point that revokes a life: when it was revoked, in
// microseconds since 1970.
const revokedField = "revoked"

// revokedID names the point that revokes a life, by a keyed hash.
func (s *Store) revokedID(life string) *qdrant.PointId {
	h := hmac.New(sha256.New, []byte(s.id))
	h.Write([]byte(life))
	return qdrant.NewIDUUID(derive("revoked", string(h.Sum(nil))))
}

// revokedIDs names the points that revoke the lives of some writes, by life.
func (s *Store) revokedIDs(lives []string) map[string]*qdrant.PointId {
	out := map[string]*qdrant.PointId{}
	for _, life := range lives {
		if life != "" && out[life] == nil {
			out[life] = s.revokedID(life)
		}
	}
	return out
}

// Revoke implements memory.Store.
func (s *Store) Revoke(ctx context.Context, scope memory.Scope, lives []string) error {
	err := memory.ValidateLives(lives)
	now := s.opts.Now()
	for some := range slices.Chunk(lives, erasedTogether) {
		if err == nil {
			err = s.revokeSome(ctx, scope, some, now)
		}
	}
	if err != nil {
		return scope.Wrap("revoke writes", err)
	}
	return nil
}

func (s *Store) revokeSome(ctx context.Context, scope memory.Scope, lives []string, now time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var points []*qdrant.PointStruct
	for _, life := range lives {
		points = append(points, &qdrant.PointStruct{
			Id: s.revokedID(life), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
			Payload: map[string]*qdrant.Value{revokedField: qdrant.NewValueInt(now.UnixMicro())},
		})
	}
	old := qdrant.NewRange(revokedField, &qdrant.Range{
		Lt: qdrant.PtrOf(float64(now.Add(-memory.RevokedFor).UnixMicro()))})
	if err := s.update(ctx, s.collection,
		qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: points}),
		deleteWhere(old)); err != nil {
		return err
	}
	_, err := s.readToWrite(ctx, scope, nil) // fails if the memories move, as the move may have missed this
	return err
}

// moveRevocations copies the points of revoked lives, and of the last removal, to the
// collection that the memories have moved to. Nothing is revoked meanwhile: the old
// collection is draining.
func (m *move) moveRevocations(ctx context.Context) error {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	removed, err := m.from.Removed(ctx)
	if err != nil {
		return err
	}
	if !removed.IsZero() {
		if err := m.to.update(ctx, m.to.collection, removalAt(removed)); err != nil {
			return err
		}
	}
	for from := (*qdrant.PointId)(nil); ; {
		points, next, err := m.from.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
			CollectionName: m.from.collection, Offset: from, Limit: qdrant.PtrOf(uint32(erasedTogether)),
			Filter: &qdrant.Filter{Must: []*qdrant.Condition{
				qdrant.NewRange(revokedField, &qdrant.Range{Gte: qdrant.PtrOf(0.0)})}},
			WithPayload: qdrant.NewWithPayloadInclude(revokedField),
		})
		if err != nil {
			return m.from.kind(ctx, err)
		}
		var copies []*qdrant.PointStruct
		for _, p := range points {
			copies = append(copies, &qdrant.PointStruct{
				Id: p.GetId(), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}), Payload: p.GetPayload()})
		}
		if len(copies) > 0 {
			if err := m.to.update(ctx, m.to.collection, qdrant.NewPointsUpdateUpsert(
				&qdrant.PointsUpdateOperation_PointStructList{Points: copies})); err != nil {
				return err
			}
		}
		if from = next; from == nil {
			return nil
		}
	}
}

// eraseLate erases what was written although its life was revoked meanwhile: the erasing
// may have looked before it came.
func (s *Store) eraseLate(ctx context.Context, scope memory.Scope, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	records, err := s.read(ctx, scope, ids, recordFields)
	if err != nil || len(records) == 0 {
		return err
	}
	_, err = s.eraseFound(ctx, scope, slices.Collect(maps.Values(records)), nil)
	return err
}
