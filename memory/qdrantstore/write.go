package qdrantstore

import (
	"context"
	"fmt"
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
	vector  []float32
	expect  int64  // revision that must be current; 0 for none at all
	fill    bool   // it only adds a vector
	mark    string // of this write in the history
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
	mark := uuid.NewString()
	next, err := was.next(m, step{Revision: m.Revision, Action: action, Time: now, Actor: w.Actor, Operation: w.Operation, Write: mark})
	if err != nil {
		return nil, out, err
	}
	next.terms = w.Terms
	return &change{record: next, vector: w.Vector, expect: revision, mark: mark, outcome: memory.Outcome{Memory: m, Changed: true}}, out, nil
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
	mark := uuid.NewString()
	next, err := was.next(m, step{Revision: m.Revision, Action: memory.Deleted, Time: now, Actor: r.Actor, Operation: r.Operation, Write: mark})
	if err != nil {
		return nil, out, err
	}
	next.gone = true
	return &change{record: next, expect: was.memory.Revision, mark: mark, outcome: memory.Outcome{Memory: was.memory, Changed: true}}, out, nil
}

// change reads the memories named, has decide say what becomes of each, writes
// that on the condition that nothing has changed meanwhile, and reads again to
// see which writes went through. Those that another was faster than are decided
// anew.
func (s *Store) change(ctx context.Context, scope memory.Scope, ids []string, decide func(i int, was *record, now time.Time) (*change, memory.Outcome, error)) ([]memory.Outcome, error) {
	out := make([]memory.Outcome, len(ids))
	left := make([]int, len(ids))
	for i := range left {
		left[i] = i
	}
	if len(ids) == 0 {
		return out, ctx.Err()
	}
	records, err := s.read(ctx, scope, ids)
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
		if records, err = s.read(ctx, scope, again); err != nil {
			return nil, err
		}
		for i, c := range changes {
			if c.made(records[ids[i]]) {
				out[i] = c.outcome
			} else {
				left = append(left, i)
			}
		}
	}
	return out, nil
}

// made reports whether a change is in what is there now.
func (c *change) made(now *record) bool {
	if now == nil {
		return false
	}
	if c.fill {
		return now.memory.Revision > c.expect || now.vector
	}
	for _, st := range now.history {
		if st.Write == c.mark {
			return true
		}
	}
	return false
}

// write sends changes in one call: what is new, only where there is nothing
// yet; what changes something, only where it is at the revision expected.
func (s *Store) write(ctx context.Context, changes map[int]*change) error {
	req := &qdrant.UpdateBatchPoints{CollectionName: s.collection, Wait: qdrant.PtrOf(true), Ordering: strictly}
	var fresh []*qdrant.PointStruct
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

// read gives what there is of the memories named, deleted ones too.
func (s *Store) read(ctx context.Context, scope memory.Scope, ids []string, fields ...string) (map[string]*record, error) {
	points := make([]*qdrant.PointId, len(ids))
	for i, id := range ids {
		points[i] = pointID(scope, id)
	}
	payload := qdrant.NewWithPayload(true)
	if fields != nil {
		payload = qdrant.NewWithPayloadInclude(fields...)
	}
	got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection, Ids: points, WithPayload: payload})
	if err != nil {
		return nil, s.kind(ctx, err)
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
