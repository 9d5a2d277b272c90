package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// sweepingField marks an expired memory that a sweep is removing. The mark takes the number
// of the memory's last write away, so that no write that has read the memory before goes
// through any longer, and a write that sees the mark is told to come again. A sweep that was
// cut off is finished by the next one.
const sweepingField = "sweeping"

// errSweeping is the error of a write to a memory that a sweep is removing.
var errSweeping = fmt.Errorf("%w: the memory has expired and is being removed: try again", memory.ErrUnavailable)

// Sweep implements memory.Sweeper. While the memories move to another model it removes
// nothing.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (out memory.Erased, more bool, err error) {
	began := time.Now()
	limit = min(limit, sweptTogether)
	old, err := s.oldCollections(ctx)
	if errors.Is(err, memory.ErrUnavailable) && ctx.Err() == nil {
		return out, false, nil // also if Qdrant is away: the next sweep comes soon
	}
	var found, deleted, aged map[memory.Scope][]*record
	if err == nil {
		found, more, err = s.passed(ctx, "expires", before, limit)
	}
	for scope, records := range found {
		if err == nil {
			err = s.sweepScope(ctx, scope, records, expiredBefore(before), old, &out)
		}
	}
	if err == nil {
		var others bool
		deleted, aged, others, err = s.due(ctx, before, limit)
		more = more || others
	}
	for scope, records := range deleted {
		if err == nil {
			err = s.sweepScope(ctx, scope, records, qdrant.NewMatchBool("gone", true), old, &out)
		}
	}
	left := limit
	for scope, records := range aged {
		if err == nil {
			err = s.sweepPast(ctx, scope, records, before, old, &left, &out)
		}
	}
	more = more || left == 0
	if err == nil && more {
		err = rest(ctx, time.Since(began))
	}
	if err != nil {
		return out, false, fmt.Errorf("sweep expired memories: %w", err)
	}
	return out, more, nil
}

const (
	// sweptTogether is how many memories a sweep reads in one call, and removes, at most.
	sweptTogether = 200
	// restFactor is how many times as long as a sweep took it rests: it does not see the
	// searches of other processes, and fewer than one search in twenty meets it then.
	restFactor = 24
	// longestRest bounds a rest.
	longestRest = 10 * time.Second
)

// rest waits after some work of a sweep.
func rest(ctx context.Context, took time.Duration) error {
	select {
	case <-time.After(min(restFactor*took, longestRest)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expiredBefore passes the memories that expired before a time, deleted ones too.
func expiredBefore(t time.Time) *qdrant.Condition { return before("expires", t) }

// passed reads up to limit memories whose field has a time before another one, by scope.
func (s *Store) passed(ctx context.Context, field string, at time.Time, limit int) (
	out map[memory.Scope][]*record, more bool, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	points, err := s.client.Scroll(ctx, &qdrant.ScrollPoints{CollectionName: s.collection,
		Filter: &qdrant.Filter{Must: []*qdrant.Condition{before(field, at)}},
		Limit:  qdrant.PtrOf(uint32(limit)), WithPayload: qdrant.NewWithPayloadInclude(recordFields...)})
	if err != nil {
		return nil, false, s.kind(ctx, err)
	}
	out = map[memory.Scope][]*record{}
	for _, p := range points {
		r, err := readRecord(p.GetPayload())
		if err != nil {
			continue // damaged: memoryd check tells of it
		}
		out[r.Memory.Scope] = append(out[r.Memory.Scope], r)
	}
	return out, len(points) == limit, nil
}

// sweepScope removes memories of one scope that have expired or were deleted, and have not
// been brought back since they were read: a condition still holds. Searches leave them out
// already, so that their indexes need not be read again.
func (s *Store) sweepScope(ctx context.Context, scope memory.Scope, found []*record, still *qdrant.Condition,
	old []string, out *memory.Erased) error {
	ids := make([]string, len(found))
	erased := map[string]bool{}
	at := map[int64][]*qdrant.PointId{}
	for i, r := range found {
		ids[i] = r.Memory.ID
		at[r.Memory.Revision] = append(at[r.Memory.Revision], pointID(scope, r.Memory.ID))
	}
	for revision, points := range at {
		if err := s.mark(ctx, points, revision, still); err != nil {
			return err
		}
	}
	within, cancel := s.unhurried(ctx)
	marked, err := s.read(within, scope, ids, recordFields)
	cancel()
	if err != nil {
		return err
	}
	var past, points []*qdrant.PointId
	for id, r := range marked {
		if !r.sweeping {
			continue
		}
		erased[id] = true
		points = append(points, pointID(scope, id))
		for n := int64(1); n < r.Memory.Revision; n++ {
			past = append(past, pastID(scope, id, n))
		}
		out.Add(memory.Erased{Memories: 1, Revisions: int(r.Memory.Revision - r.removed)})
	}
	if len(points) == 0 {
		return nil
	}
	if err := s.unlinkSwept(ctx, scope, erased); err != nil {
		return err
	}
	if err := s.noteRemoval(ctx); err != nil {
		return err
	}
	if err := s.remove(ctx, past); err != nil {
		return err
	}
	if err := s.removeOld(ctx, old, append(past, points...)); err != nil {
		return err
	}
	s.written.Add(1)
	return s.updateUnhurried(ctx, deleteWhere(qdrant.NewHasID(points...), qdrant.NewMatchBool(sweepingField, true)))
}

// mark marks memories that are at a revision and meet a condition.
func (s *Store) mark(ctx context.Context, points []*qdrant.PointId, revision int64, still *qdrant.Condition) error {
	passes := func(last *qdrant.Condition) *qdrant.PointsSelector {
		return qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
			qdrant.NewHasID(points...), qdrant.NewMatchInt("revision", revision), last}})
	}
	return s.updateUnhurried(ctx,
		qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
			Payload:        map[string]*qdrant.Value{sweepingField: qdrant.NewValueBool(true)},
			PointsSelector: passes(still)}),
		qdrant.NewPointsUpdateDeletePayload(&qdrant.PointsUpdateOperation_DeletePayload{
			Keys: []string{changeField}, PointsSelector: passes(qdrant.NewMatchBool(sweepingField, true))}))
}

// unlinkSwept has the memories of a scope no longer name some that go. Indexes keep what
// they have of them until they are read again.
func (s *Store) unlinkSwept(ctx context.Context, scope memory.Scope, erased map[string]bool) error {
	more := []*qdrant.Condition{qdrant.NewMatchBool("forgotten", true),
		qdrant.NewRange("revision", &qdrant.Range{Gt: qdrant.PtrOf(1.0)})}
	for id := range erased {
		more = append(more, qdrant.NewMatch("by", id))
	}
	for from := (*qdrant.PointId)(nil); ; {
		page, _, next, err := s.scopePage(ctx, scope, from, more...)
		if err != nil {
			return err
		}
		var left []*record
		for _, r := range page {
			if !erased[r.Memory.ID] {
				left = append(left, r)
			}
		}
		if err := s.unlink(ctx, scope, left, erased); err != nil {
			return err
		}
		if from = next; from == nil {
			return nil
		}
	}
}

// removeOld removes points from the collections that the memories were moved away from.
func (s *Store) removeOld(ctx context.Context, old []string, points []*qdrant.PointId) error {
	for _, name := range old {
		t := &Store{client: s.client, set: s.set, opts: s.opts, id: s.id, collection: name, copying: true}
		if err := t.remove(ctx, points); err != nil {
			return err
		}
	}
	return nil
}
