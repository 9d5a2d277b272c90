package qdrantstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// tries is how often a write is decided anew because another writer was
// faster. A write that expects a revision fails long before that.
const tries = 10

// change is one write on its way.
type change struct {
	record  *record // to be stored
	past    []step  // to be stored before it
	vector  []float32
	expect  int64 // revision that must be current; 0 for none at all
	fill    bool  // it only adds a vector
	outcome memory.Outcome
}

// Put implements memory.Store.
func (s *Store) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := memory.ValidateWrites(scope, writes, s.model.Dimension); err != nil {
		return nil, wrap("put memories", scope, err)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ids := make([]string, len(writes))
	for i := range writes {
		ids[i] = writes[i].Memory.ID
	}
	out, err := s.change(ctx, scope, ids, func(i int, was *record, now time.Time) (*change, memory.Outcome, error) {
		return decidePut(&writes[i], was, now)
	})
	if err != nil {
		return nil, wrap("put memories", scope, err)
	}
	return out, nil
}

// decidePut gives the change a write makes of what is there, or its outcome if
// it makes none.
func decidePut(w *memory.Write, was *record, now time.Time) (*change, memory.Outcome, error) {
	m := w.Memory.Clone()
	trim(&m)
	var out memory.Outcome
	revision, there := int64(0), was != nil && !was.gone
	if was != nil {
		revision = was.memory.Revision
	}
	if there {
		out.Memory = was.memory
	}
	if there && (revision == w.Expect || revision == w.Expect+1) && was.memory.SameContent(&m) {
		if w.Vector == nil || was.vector {
			return nil, out, nil
		}
		return &change{record: was, vector: w.Vector, expect: revision, fill: true, outcome: out}, out, nil
	}
	if revision != w.Expect {
		out.Err = memory.ErrAborted
		return nil, out, nil
	}
	m.Revision, m.CreateTime, m.UpdateTime = revision+1, now, now
	action := memory.Created
	if was != nil {
		m.CreateTime, action = was.memory.CreateTime, memory.Updated
	}
	next := &record{memory: m, terms: w.Terms, step: step{Revision: m.Revision, Action: action, Time: now, Actor: w.Actor, Operation: w.Operation}}
	c, err := follow(was, next, w.Vector, memory.Outcome{Memory: m, Changed: true})
	return c, out, err
}

// follow is the change from one record, or none, to the next.
func follow(was, next *record, vector []float32, done memory.Outcome) (*change, error) {
	next.step.Write = uuid.NewString()
	c := &change{record: next, vector: vector, outcome: done}
	if was == nil {
		return c, nil
	}
	past, err := was.past()
	c.expect, c.past = was.memory.Revision, []step{past}
	return c, err
}

// trim cuts times to what is kept, so that what comes back from a write is what
// a read gives.
func trim(m *memory.Memory) {
	for _, t := range []*time.Time{&m.Timestamp, &m.ValidFrom, &m.ValidTo, &m.ExpireTime} {
		if !t.IsZero() {
			*t = t.UTC().Truncate(time.Microsecond)
		}
	}
}

// Delete implements memory.Store.
func (s *Store) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	out := make([]memory.Outcome, 0, len(removals))
	for len(removals) > 0 {
		n, seen := 0, map[string]bool{} // those before the first that is named again
		for n < len(removals) && !seen[removals[n].ID] {
			seen[removals[n].ID] = true
			n++
		}
		some := removals[:n]
		ids := make([]string, n)
		for i := range some {
			ids[i] = some[i].ID
		}
		done, err := s.change(ctx, scope, ids, func(i int, was *record, now time.Time) (*change, memory.Outcome, error) {
			return decideDelete(some[i], was, now)
		})
		if err != nil {
			return nil, wrap("delete memories", scope, err)
		}
		out = append(out, done...)
		removals = removals[n:]
	}
	return out, nil
}

func decideDelete(r memory.Removal, was *record, now time.Time) (*change, memory.Outcome, error) {
	if was == nil {
		return nil, memory.Outcome{Err: memory.ErrNotFound}, nil
	}
	out := memory.Outcome{Memory: was.memory}
	if was.gone || !was.memory.Live(now) {
		return nil, out, nil
	}
	if r.Expect != 0 && r.Expect != was.memory.Revision {
		out.Err = memory.ErrAborted
		return nil, out, nil
	}
	m := was.memory
	m.Revision++
	m.UpdateTime = now
	next := &record{memory: m, gone: true, step: step{Revision: m.Revision, Action: memory.Deleted, Time: now, Actor: r.Actor, Operation: r.Operation}}
	c, err := follow(was, next, nil, memory.Outcome{Memory: was.memory, Changed: true})
	return c, out, err
}

// change reads the memories named, has decide say what becomes of each, writes
// that on the condition that nothing has changed meanwhile, and reads again to
// see which writes went through. Those that another was faster than are decided
// anew. What it reads after a write tells also that the collection is still the
// one to write to: if a move to another was about to end, nothing is
// acknowledged that it may have missed.
func (s *Store) change(ctx context.Context, scope memory.Scope, ids []string, decide func(i int, was *record, now time.Time) (*change, memory.Outcome, error)) ([]memory.Outcome, error) {
	out := make([]memory.Outcome, len(ids))
	left := make([]int, len(ids))
	for i := range left {
		left[i] = i
	}
	if len(ids) == 0 {
		return out, ctx.Err()
	}
	records, err := s.readToWrite(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	for try := 0; len(left) > 0; try++ {
		if try == tries {
			return nil, fmt.Errorf("%w: others change the same memories all the time", memory.ErrUnavailable)
		}
		now := s.opts.Now().UTC().Truncate(time.Microsecond)
		changes := map[int]*change{}
		for _, i := range left {
			c, o, err := decide(i, records[ids[i]], now)
			if err != nil {
				return nil, err
			}
			if out[i] = o; c != nil {
				changes[i] = c
			}
		}
		if len(changes) == 0 {
			return out, nil
		}
		if err := s.write(ctx, changes); err != nil {
			return nil, err
		}
		left = left[:0]
		var again []string
		for i := range changes {
			again = append(again, ids[i])
		}
		if records, err = s.readToWrite(ctx, scope, again); err != nil {
			return nil, err
		}
		for i, c := range changes {
			made, err := s.made(ctx, c, records[ids[i]])
			if err != nil {
				return nil, err
			}
			if made {
				out[i] = c.outcome
			} else {
				left = append(left, i)
			}
		}
	}
	return out, nil
}

// made reports whether a change is in what is there now, or was.
func (s *Store) made(ctx context.Context, c *change, now *record) (bool, error) {
	switch {
	case now == nil:
		return false, nil
	case c.fill:
		return now.memory.Revision > c.expect || now.vector, nil
	case now.memory.Revision <= c.record.step.Revision:
		return now.step.Write == c.record.step.Write, nil
	}
	steps, err := s.steps(ctx, now.memory.Scope, now.memory.ID, c.record.step.Revision, c.record.step.Revision+1)
	return err == nil && steps[0].Write == c.record.step.Write, err
}

// pastTogether is how many past revisions are read or written in one call.
const pastTogether = 50

// steps reads the revisions from one number to before another, all of which
// others have followed.
func (s *Store) steps(ctx context.Context, scope memory.Scope, id string, from, to int64) ([]step, error) {
	var out []step
	for from < to {
		upTo := min(to, from+pastTogether)
		var ids []*qdrant.PointId
		place := map[string]int64{}
		for n := from; n < upTo; n++ {
			p := pastID(scope, id, n)
			ids, place[p.GetUuid()] = append(ids, p), n-from
		}
		got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection, Ids: ids, WithPayload: qdrant.NewWithPayload(true)})
		if err != nil {
			return nil, s.kind(ctx, err)
		}
		if len(got) < len(ids) {
			return nil, fmt.Errorf("memory %.80q has lost revisions between %d and %d", id, from, upTo-1)
		}
		some := make([]step, len(ids))
		for _, p := range got {
			if err := decode(p.GetPayload()[pastField].GetStringValue(), &some[place[p.GetId().GetUuid()]]); err != nil {
				return nil, err
			}
		}
		out = append(out, some...)
		from = upTo
	}
	return out, nil
}

// write sends changes in one call: what is new, only where there is nothing
// yet; what changes something, only where it is at the revision expected.
func (s *Store) write(ctx context.Context, changes map[int]*change) error {
	req := &qdrant.UpdateBatchPoints{CollectionName: s.collection, Wait: qdrant.PtrOf(true), Ordering: strictly}
	var past, fresh []*qdrant.PointStruct
	for _, c := range changes {
		for _, st := range c.past {
			p, err := st.point(c.record.memory.Scope, c.record.memory.ID)
			if err != nil {
				return err
			}
			past = append(past, p)
		}
	}
	for some := range slices.Chunk(past, pastTogether) {
		before := &qdrant.UpdateBatchPoints{CollectionName: s.collection, Wait: qdrant.PtrOf(true), Ordering: strictly,
			Operations: []*qdrant.PointsUpdateOperation{qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: some})}}
		if len(past) <= pastTogether {
			req.Operations = before.Operations // Qdrant takes them one after another
			break
		}
		if _, err := s.client.UpdateBatch(ctx, before); err != nil {
			return s.kind(ctx, err)
		}
	}
	for _, c := range changes {
		p, err := c.record.point(c.vector)
		if err != nil {
			return err
		}
		if c.expect == 0 {
			fresh = append(fresh, p)
			continue
		}
		req.Operations = append(req.Operations, qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{p},
			UpdateMode: qdrant.UpdateMode_UpdateOnly.Enum(), UpdateFilter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchInt("revision", c.expect)}}}))
	}
	if fresh != nil {
		req.Operations = append(req.Operations, insertOnly(fresh...))
	}
	_, err := s.client.UpdateBatch(ctx, req)
	return s.kind(ctx, err)
}

// strictly has all replicas take writes in one order. In any other each would
// check a condition on what it has itself, and two writers could both win.
var strictly = &qdrant.WriteOrdering{Type: qdrant.WriteOrderingType_Strong}

func insertOnly(points ...*qdrant.PointStruct) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: points, UpdateMode: qdrant.UpdateMode_InsertOnly.Enum()})
}

// readToWrite is read of whole memories, and ErrUnavailable once they have moved
// to another collection, or are about to.
func (s *Store) readToWrite(ctx context.Context, scope memory.Scope, ids []string) (map[string]*record, error) {
	points := []*qdrant.PointId{deedID}
	for _, id := range ids {
		points = append(points, pointID(scope, id))
	}
	got, err := s.get(ctx, points, append([]string{deedField}, whole...))
	if err != nil {
		return nil, err
	}
	out := map[string]*record{}
	for _, p := range got {
		if p.GetId().GetUuid() == deedID.GetUuid() {
			if err := writable(p, s.collection); err != nil {
				return nil, err
			}
			continue
		}
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, err
		}
		out[r.memory.ID] = r
	}
	return out, nil
}

func (s *Store) get(ctx context.Context, points []*qdrant.PointId, fields []string) ([]*qdrant.RetrievedPoint, error) {
	got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection, Ids: points, WithPayload: qdrant.NewWithPayloadInclude(fields...)})
	return got, s.kind(ctx, err)
}

// read gives what there is of the memories named, deleted ones too.
func (s *Store) read(ctx context.Context, scope memory.Scope, ids []string, fields []string) (map[string]*record, error) {
	points := make([]*qdrant.PointId, len(ids))
	for i, id := range ids {
		points[i] = pointID(scope, id)
	}
	got, err := s.get(ctx, points, fields)
	if err != nil {
		return nil, err
	}
	out := map[string]*record{}
	for _, p := range got {
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, err
		}
		out[r.memory.ID] = r
	}
	return out, nil
}
