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
// Qdrant gives to one of those who ask for it at a time. The claim is given back once the outcome of the
// write is known: later writes are refused by the memory that it has stored. The claim of a process that
// has died lapses, and so does that of a write without an outcome, which may still be on its way.
const (
	claimField   = "claim"   // a token of the writer that has the claim
	claimedField = "claimed" // until when, in microseconds since 1970
)

// claimTime is how long a claim holds. A write that its caller has left ends before: it has begun within
// a Timeout of the claim, and goes on with those merged with it for ten. One more is for clocks that differ.
func (s *Store) claimTime() time.Duration { return 12 * s.opts.Timeout }

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
				claimedField: qdrant.NewValueInt(now.Add(s.claimTime()).UnixMicro())}}},
		UpdateFilter: &qdrant.Filter{Must: []*qdrant.Condition{before(claimedField, now)}},
	}))
	release = func() {
		// Also where the call was cut off. If it fails, the claim lapses.
		ctx, cancel := s.bounded(context.WithoutCancel(ctx))
		defer cancel()
		_ = s.update(ctx, s.collection, deleteWhere(qdrant.NewHasID(point), qdrant.NewMatch(claimField, token)))
	}
	if err != nil {
		// The claim may be taken all the same. A Qdrant that does not answer is not waited for once more.
		if context.Cause(ctx) != errSlow {
			release()
		}
		return nil, err
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
