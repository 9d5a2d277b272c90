package qdrantstore

import (
	"context"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// The point of a memory has how many of its past revisions were removed, and when the next
// one expires that a sweep may remove: so a sweep finds what is due in one request. A sweep
// first sets the new count, on the condition that neither the revision nor the count has
// changed, then removes the points of the revisions, and then sets the next time. If it is
// cut off between, revisions are there that the count has already: reads leave them out as
// expired, and the next sweep removes them. A write passes only if the count is the one that
// it has read.
const (
	removedField = "removed"
	dueField     = "due"
)

// withRemoved passes a memory of which so many revisions were removed.
func withRemoved(n int64) *qdrant.Condition {
	if n == 0 {
		return qdrant.NewIsEmpty(removedField)
	}
	return qdrant.NewMatchInt(removedField, n)
}

// expect notes that one of the revisions of r expires at a time, if it ever does.
func (r *record) expect(at time.Time) {
	if micros := at.UnixMicro(); !at.IsZero() && (r.due == 0 || micros < r.due) {
		r.due = micros
	}
}

// expired reports whether a step has expired at now.
func (st *step) expired(now time.Time) bool { return !st.Expires.IsZero() && !now.Before(st.Expires) }

// vanished reports whether nothing is left of a memory, as it was deleted by a revision that
// has expired.
func (r *record) vanished(now time.Time) bool {
	return r.Deleted && r.step.expired(now)
}

// due reads up to limit memories with revisions that expired before a time, by scope: those
// that were deleted by one, and those of which past ones did.
func (s *Store) due(ctx context.Context, before time.Time, limit int) (
	deleted, aged map[memory.Scope][]*record, more bool, err error) {
	found, more, err := s.passed(ctx, dueField, before, limit)
	deleted, aged = map[memory.Scope][]*record{}, map[memory.Scope][]*record{}
	for scope, records := range found {
		for _, r := range records {
			if r.Deleted && passedBefore(r.step.Expires, before) {
				deleted[scope] = append(deleted[scope], r)
			} else {
				aged[scope] = append(aged[scope], r)
			}
		}
	}
	return deleted, aged, more, err
}

// passedBefore reports whether a time is set and before another one.
func passedBefore(at, before time.Time) bool { return !at.IsZero() && at.Before(before) }

// aging is what a sweep does to the past revisions of a memory.
type aging struct {
	*record
	there   int64
	gone    []*qdrant.PointId
	count   int64  // of removed revisions, afterwards
	next    record // due is when the next revision expires
	partial bool   // others are due too
}

// sweepPast removes past revisions that expired before a time, of memories of one scope,
// and up to left of them.
func (s *Store) sweepPast(ctx context.Context, scope memory.Scope, found []*record, before time.Time, old []string,
	left *int, out *memory.Erased) error {
	all := map[*record]*aging{}
	for _, r := range found {
		all[r] = &aging{record: r}
		if r.Deleted {
			all[r].next.expect(r.step.Expires)
		}
	}
	err := s.eachPast(ctx, scope, found, func(r *record, st *step, _ memory.Memory) error {
		a := all[r]
		a.there++
		switch {
		case !passedBefore(st.Expires, before):
			a.next.expect(st.Expires)
		case *left == 0:
			a.partial = true
		default:
			*left--
			a.gone = append(a.gone, pastID(scope, r.Memory.ID, st.Revision))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var ops []*qdrant.PointsUpdateOperation
	var ids []string
	for r, a := range all {
		// Fewer are missing than were counted if a sweep was cut off, and more if some are lost.
		a.count = min(r.Memory.Revision-1-a.there, r.removed) + int64(len(a.gone))
		if a.count != r.removed {
			ops = append(ops, s.setCount(scope, a))
		}
		ids = append(ids, r.Memory.ID)
	}
	if len(ops) > 0 {
		if err := s.updateUnhurried(ctx, ops...); err != nil {
			return err
		}
	}
	within, cancel := s.unhurried(ctx)
	now, err := s.read(within, scope, ids, recordFields)
	cancel()
	if err != nil {
		return err
	}
	var gone []*qdrant.PointId
	ops = nil
	for r, a := range all {
		if is := now[r.Memory.ID]; is == nil || is.removed != a.count {
			continue // others were faster, and the next sweep looks again
		}
		gone = append(gone, a.gone...)
		out.Add(memory.Erased{Revisions: len(a.gone)})
		if !a.partial {
			ops = append(ops, s.setDue(scope, a))
		}
	}
	if err := s.remove(ctx, gone); err != nil {
		return err
	}
	if err := s.removeOld(ctx, old, gone); err != nil {
		return err
	}
	if len(ops) == 0 {
		return nil
	}
	return s.updateUnhurried(ctx, ops...)
}

// unchanged selects the point of a memory if it is at the revision that was read, and so
// many of its revisions were removed.
func (a *aging) unchanged(scope memory.Scope, removed int64) *qdrant.PointsSelector {
	return qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
		qdrant.NewHasID(pointID(scope, a.Memory.ID)), qdrant.NewMatchInt("revision", a.Memory.Revision),
		withRemoved(removed)}})
}

// setCount sets how many revisions of a memory were removed.
func (s *Store) setCount(scope memory.Scope, a *aging) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
		Payload:        map[string]*qdrant.Value{removedField: qdrant.NewValueInt(a.count)},
		PointsSelector: a.unchanged(scope, a.removed)})
}

// setDue sets when the next revision of a memory expires.
func (s *Store) setDue(scope memory.Scope, a *aging) *qdrant.PointsUpdateOperation {
	if a.next.due == 0 {
		return qdrant.NewPointsUpdateDeletePayload(&qdrant.PointsUpdateOperation_DeletePayload{
			Keys: []string{dueField}, PointsSelector: a.unchanged(scope, a.count)})
	}
	return qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
		Payload:        map[string]*qdrant.Value{dueField: qdrant.NewValueInt(a.next.due)},
		PointsSelector: a.unchanged(scope, a.count)})
}
