package qdrantstore

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// A write whose id is to be unique in its app takes a claim of the id first: a point of its own, which
// Qdrant gives to one of those who ask for it at a time. The claim is given back once the memory is
// stored, by which later writes are refused. The claim of a process that has died lapses.
const (
	claimField   = "claim"   // a token of whoever has the claim
	claimedField = "claimed" // until when, in microseconds since 1970
	claimTime    = time.Minute
)

// claimIDs takes the claims of the writes that want one. It returns why some of the writes are refused,
// by their places, and how to give the claims back.
func (s *Store) claimIDs(ctx context.Context, app string, writes []memory.Write) (
	refused map[int]error, release func(), err error) {
	var taken []func()
	release = func() {
		for _, f := range taken {
			f()
		}
	}
	refused = map[int]error{}
	for i := range writes {
		if !writes[i].UniqueInApp {
			continue
		}
		back, err := s.claimID(ctx, app, writes[i].Memory.ID)
		switch {
		case errors.Is(err, memory.ErrAborted) || errors.Is(err, memory.ErrExists):
			refused[i] = err
		case err != nil:
			return nil, release, err
		default:
			taken = append(taken, back)
		}
	}
	return refused, release, nil
}

// claimID takes the claim of an id in an app, and makes sure that no user has or had a memory of it.
// It returns how to give the claim back. The error is ErrAborted if another write has the claim, and
// ErrExists if there is such a memory.
func (s *Store) claimID(ctx context.Context, app, id string) (release func(), err error) {
	now, token := s.opts.Now(), uuid.NewString()
	point := qdrant.NewIDUUID(derive("claim", app, id))
	err = s.update(ctx, s.collection, qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
		Points: []*qdrant.PointStruct{{Id: point, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
			Payload: map[string]*qdrant.Value{claimField: qdrant.NewValueString(token),
				claimedField: qdrant.NewValueInt(now.Add(claimTime).UnixMicro())}}},
		UpdateFilter: &qdrant.Filter{Must: []*qdrant.Condition{before(claimedField, now)}},
	}))
	if err != nil {
		return nil, err
	}
	release = func() {
		// Also where the call was cut off. If it fails, the claim lapses.
		ctx, cancel := s.bounded(context.WithoutCancel(ctx))
		defer cancel()
		_ = s.update(ctx, s.collection, deleteWhere(qdrant.NewHasID(point), qdrant.NewMatch(claimField, token)))
	}
	got, err := s.get(ctx, []*qdrant.PointId{point}, []string{claimField})
	if err == nil && (len(got) == 0 || got[0].GetPayload()[claimField].GetStringValue() != token) {
		return nil, memory.ErrAborted
	}
	if err == nil {
		var owners []string
		if owners, err = s.OwnersApp(ctx, app, id); len(owners) > 0 {
			err = memory.ErrExists
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
