package qdrantstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// erasedTogether is how many memories are erased together, and how many points one
// operation removes.
const erasedTogether = 500

// erasingField marks a memory whose past revisions are being removed. An erasing that
// finds the mark finishes what another one has begun.
const erasingField = "erasing"

// Erase implements memory.Store. It erases in the collections that the memories were
// moved away from too. Qdrant removes points from its files when its optimizer rewrites
// the segment that had them, and from its log when that is cut.
func (s *Store) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (out memory.Erased, err error) {
	if err = which.Validate(); err == nil {
		out, err = s.eraseEverywhere(ctx, scope, which)
	}
	if err != nil {
		return out, scope.Wrap("erase memories", err)
	}
	return out, nil
}

func (s *Store) eraseEverywhere(ctx context.Context, scope memory.Scope, which memory.Erasure) (
	out memory.Erased, err error) {
	old, err := s.oldCollections(ctx)
	if err != nil {
		return out, err
	}
	if which.DryRun {
		return out, s.findErasable(ctx, scope, which, func(r *record) { out.Add(r.erased()) }, nil)
	}
	if out, err = s.eraseHere(ctx, scope, which); err != nil {
		return out, err
	}
	for _, name := range old {
		t := &Store{client: s.client, set: s.set, opts: s.opts, id: s.id, collection: name, copying: true}
		if _, err := t.eraseHere(ctx, scope, which); err != nil {
			return out, err
		}
	}
	_, err = s.oldCollections(ctx) // a move that has begun meanwhile may have copied what was erased
	return out, err
}

// oldCollections names the collections that the memories were moved away from. The error
// is ErrUnavailable while they move: the copy would have what was erased here.
func (s *Store) oldCollections(ctx context.Context) (old []string, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	all, err := s.collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		switch here := c.collection == s.collection; {
		case c.Store != s.id || here && c.State == active:
		case !here && c.State == retired:
			old = append(old, c.collection)
		default:
			return nil, fmt.Errorf("%w: the memories of collection %s are moving: erase when that is over, or after"+
				" memoryd reembed -discard", memory.ErrUnavailable, s.collection)
		}
	}
	return old, nil
}

// eraseHere erases memories of the collection of s.
func (s *Store) eraseHere(ctx context.Context, scope memory.Scope, which memory.Erasure) (memory.Erased, error) {
	var found, left []*record
	err := s.findErasable(ctx, scope, which, func(r *record) { found = append(found, r) },
		func(r *record) { left = append(left, r) })
	if err != nil {
		return memory.Erased{}, err
	}
	return s.eraseFound(ctx, scope, found, left)
}

// findErasable reads all memories of a scope, deleted ones too. It yields those to erase
// and, unless leave is nil, those of the others that may name another memory, or have done
// so.
func (s *Store) findErasable(ctx context.Context, scope memory.Scope, which memory.Erasure,
	take, leave func(*record)) error {
	named := which.Named()
	var from *qdrant.PointId
	for {
		page, begun, next, err := s.scopePage(ctx, scope, from)
		if err != nil {
			return err
		}
		took := map[*record]bool{}
		if len(which.Sessions) > 0 {
			err = s.eachPast(ctx, scope, page, func(r *record, _ *step, m memory.Memory) error {
				took[r] = took[r] || which.Takes(&m)
				return nil
			})
			if err != nil {
				return err
			}
		}
		for _, r := range page {
			m := &r.Memory
			at, takes := named[m.ID]
			takes = takes && (at == 0 || at == m.Revision) || which.Takes(m) || took[r] || begun[r]
			switch {
			case takes:
				take(r)
			case leave != nil && (m.Revision > 1 || m.SupersededBy != "" || len(m.Forgotten) > 0):
				leave(r)
			}
		}
		if from = next; from == nil {
			return nil
		}
	}
}

// scopePage reads a page of the memories of a scope, and the point that the next page
// begins with. An erasing has begun to remove some of them. If there are conditions, those
// of the page meet one of them.
func (s *Store) scopePage(ctx context.Context, scope memory.Scope, from *qdrant.PointId, one ...*qdrant.Condition) (
	page []*record, begun map[*record]bool, next *qdrant.PointId, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(exportPage)),
		Filter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope))}, Should: one},
		WithPayload: qdrant.NewWithPayloadInclude(append([]string{"id", "session", "revision", erasingField},
			recordFields...)...),
	})
	if err != nil {
		return nil, nil, nil, s.kind(ctx, err)
	}
	begun = map[*record]bool{}
	for _, p := range points {
		fields := p.GetPayload()
		r, err := readRecord(fields)
		if err != nil { // one that cannot be read is erased by its fields
			r = &record{Current: memory.Current{Memory: memory.Memory{ID: fields["id"].GetStringValue(), Scope: scope,
				Revision: fields["revision"].GetIntegerValue(),
				Source:   memory.Source{SessionID: fields["session"].GetStringValue()}}}}
		}
		page, begun[r] = append(page, r), fields[erasingField].GetBoolValue()
	}
	return page, begun, next, nil
}

// eachPast yields the past revisions that some memories have and that can be read, in any
// order.
func (s *Store) eachPast(ctx context.Context, scope memory.Scope, of []*record,
	yield func(*record, *step, memory.Memory) error) error {
	var ids []*qdrant.PointId
	owner := map[string]*record{}
	read := func() error {
		ctx, cancel := s.unhurried(ctx)
		defer cancel()
		got, err := s.get(ctx, ids, []string{pastField})
		ids = nil
		for _, p := range got {
			var st step
			if decode(p.GetPayload()[pastField].GetStringValue(), &st) != nil {
				continue
			}
			was, err := st.read()
			if err != nil {
				continue
			}
			if err := yield(owner[p.GetId().GetUuid()], &st, was.Memory); err != nil {
				return err
			}
		}
		return err
	}
	for _, r := range of {
		for n := int64(1); n < r.Memory.Revision; n++ {
			id := pastID(scope, r.Memory.ID, n)
			ids, owner[id.GetUuid()] = append(ids, id), r
			if len(ids) == pastTogether {
				if err := read(); err != nil {
					return err
				}
				clear(owner)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return read()
}

// eraseFound has others no longer name some memories, removes these, and has every index
// of the scope read again: also if there are none, as an erasing that was cut off may have
// removed them.
func (s *Store) eraseFound(ctx context.Context, scope memory.Scope, found, left []*record) (
	out memory.Erased, err error) {
	erased := map[string]bool{}
	for _, r := range found {
		erased[r.Memory.ID] = true
	}
	if len(erased) > 0 {
		if err := s.unlink(ctx, scope, left, erased); err != nil {
			return out, err
		}
	}
	if len(found) > 0 {
		if err := s.noteRemoval(ctx); err != nil {
			return out, err
		}
	}
	for some := range slices.Chunk(found, erasedTogether) {
		if err := s.removeMemories(ctx, scope, some); err != nil {
			return out, err
		}
		for _, r := range some {
			out.Add(r.erased())
		}
	}
	if s.copying {
		return out, nil
	}
	s.cache.Drop(scope)
	return out, s.leap(ctx, scope, len(found) > 0)
}

// erased counts a memory that is erased with the revisions that a sweep has left.
func (r *record) erased() memory.Erased {
	return memory.Erased{Memories: 1, Revisions: int(r.Memory.Revision - r.removed)}
}

// removeMemories removes memories with their past revisions. Others may write to them
// meanwhile, which makes another past revision: a memory is removed only at the revision
// whose past was removed before it.
func (s *Store) removeMemories(ctx context.Context, scope memory.Scope, found []*record) error {
	for range tries {
		var all, past []*qdrant.PointId
		at := map[int64][]*qdrant.PointId{}
		var ids []string
		for _, r := range found {
			for n := int64(1); n < r.Memory.Revision; n++ {
				past = append(past, pastID(scope, r.Memory.ID, n))
			}
			p := pointID(scope, r.Memory.ID)
			all, at[r.Memory.Revision] = append(all, p), append(at[r.Memory.Revision], p)
			ids = append(ids, r.Memory.ID)
		}
		if len(past) > 0 {
			mark := qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
				Payload: map[string]*qdrant.Value{erasingField: qdrant.NewValueBool(true)},
				PointsSelector: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
					qdrant.NewHasID(all...)}})})
			if err := s.updateUnhurried(ctx, mark); err != nil {
				return err
			}
			if err := s.remove(ctx, past); err != nil {
				return err
			}
		}
		var ops []*qdrant.PointsUpdateOperation
		for revision, points := range at {
			ops = append(ops, deleteWhere(qdrant.NewHasID(points...), qdrant.NewMatchInt("revision", revision)))
		}
		if err := s.updateUnhurried(ctx, ops...); err != nil {
			return err
		}
		s.written.Add(1)
		within, cancel := s.unhurried(ctx)
		still, err := s.read(within, scope, ids, recordFields)
		cancel()
		if err != nil || len(still) == 0 {
			return err
		}
		found = slices.Collect(maps.Values(still))
	}
	return fmt.Errorf("%w: others change the same memories all the time", memory.ErrUnavailable)
}

// deleteWhere removes the points that meet conditions.
func deleteWhere(conditions ...*qdrant.Condition) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateDeletePoints(&qdrant.PointsUpdateOperation_DeletePoints{
		Points: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: conditions})})
}

// updateUnhurried is update with the time of a page of an export.
func (s *Store) updateUnhurried(ctx context.Context, ops ...*qdrant.PointsUpdateOperation) error {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	return s.update(ctx, s.collection, ops...)
}

// remove removes points.
func (s *Store) remove(ctx context.Context, points []*qdrant.PointId) error {
	for some := range slices.Chunk(points, erasedTogether) {
		if err := s.updateUnhurried(ctx, qdrant.NewPointsUpdateDeletePoints(
			&qdrant.PointsUpdateOperation_DeletePoints{Points: qdrant.NewPointsSelectorIDs(some)})); err != nil {
			return err
		}
	}
	return nil
}

// unlink has memories and their past revisions no longer name what was erased.
func (s *Store) unlink(ctx context.Context, scope memory.Scope, left []*record, erased map[string]bool) error {
	err := s.eachPast(ctx, scope, left, func(r *record, st *step, m memory.Memory) (err error) {
		if !m.Unlink(erased) {
			return nil
		}
		if st.Doc, err = memory.EncodeJSON(m); err != nil {
			return err
		}
		p, err := st.point(scope, r.Memory.ID)
		if err != nil {
			return err
		}
		return s.updateUnhurried(ctx, updateOnly(p))
	})
	for _, r := range left {
		if err == nil && r.Memory.Unlink(erased) {
			err = s.unlinkCurrent(ctx, scope, r)
		}
	}
	return err
}

// unlinkCurrent stores a memory that no longer names what was erased, if it still is at
// the revision that was read.
func (s *Store) unlinkCurrent(ctx context.Context, scope memory.Scope, r *record) error {
	payload, err := r.payload(r.terms, r.Embedded)
	if err != nil {
		return err
	}
	unchanged := qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
		qdrant.NewHasID(pointID(scope, r.Memory.ID)), qdrant.NewMatchInt("revision", r.Memory.Revision)}})
	ops := []*qdrant.PointsUpdateOperation{qdrant.NewPointsUpdateSetPayload(
		&qdrant.PointsUpdateOperation_SetPayload{
			Payload: map[string]*qdrant.Value{docField: payload[docField]}, PointsSelector: unchanged})}
	empty := map[string]bool{"by": r.Memory.SupersededBy == "", "forgotten": len(r.Memory.Forgotten) == 0}
	for field, gone := range empty {
		if gone {
			ops = append(ops, qdrant.NewPointsUpdateDeletePayload(&qdrant.PointsUpdateOperation_DeletePayload{
				Keys: []string{field}, PointsSelector: unchanged}))
		}
	}
	return s.updateUnhurried(ctx, ops...)
}

// leapBy is how many numbers a leap leaves out. Others may have taken some of the first
// meanwhile: see leap.
const leapBy = 1024

// leap moves the head of a scope so far that no index can follow it: an index learns of
// points that are written, and not of those that are removed. All processes then read
// the scope again. Writes that move the head meanwhile do not stop it, unless they have
// come so close that an index of theirs would take the leap for a loss. Those that it
// takes the number away from take another one. A scope without a head gets one only if
// something was erased.
func (s *Store) leap(ctx context.Context, scope memory.Scope, erased bool) error {
	for range tries {
		landed, err := s.leapOnce(ctx, scope, erased)
		if landed || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: others write the same scope all the time", memory.ErrUnavailable)
}

func (s *Store) leapOnce(ctx context.Context, scope memory.Scope, erased bool) (landed bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	was, err := s.headOf(ctx, scope)
	if err != nil || was.n == 0 && !erased {
		return true, err
	}
	to := &head{n: was.n + leapBy, tokens: []string{uuid.NewString()}}
	op := to.swap(scope, was)
	if was.n > 0 {
		op = updateOnly(to.point(scope), qdrant.NewRange(changeField, &qdrant.Range{
			Lt: qdrant.PtrOf(float64(changeNumber(scope, to.n-keptTokens)))}))
	}
	s.heads.forget(scope)
	if err := s.update(ctx, s.collection, op); err != nil {
		return false, err
	}
	is, err := s.headOf(ctx, scope)
	return err == nil && is.follows(to.last()), err
}
