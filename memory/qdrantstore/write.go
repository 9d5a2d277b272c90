package qdrantstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/memoryd/memoryd/memory"
)

// tries is how often a write is decided again because another writer was
// faster. A write that expects a revision fails long before that.
const tries = 10

// change is one write on its way.
type change struct {
	record  *record // to be stored
	past    []step  // to be stored before it
	vector  []float32
	expect  int64 // the revision that must be current; 0 if there must be none
	was     int64 // the number of the write that it was changed by, which must be so still
	removed int64 // how many of its revisions were removed, likewise
	fill    bool  // it only adds a vector
	outcome memory.Outcome
}

// decider gives the change that write i makes of what is there, or its outcome
// if it makes none.
type decider func(i int, was *record, now time.Time) (*change, memory.Outcome, error)

// Put implements memory.Store.
func (s *Store) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := memory.ValidateWrites(scope, writes, s.model.Dimension); err != nil {
		return nil, scope.Wrap("put memories", err)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ids, lives := make([]string, len(writes)), make([]string, len(writes))
	for i := range writes {
		ids[i], lives[i] = writes[i].Memory.ID, writes[i].Life
	}
	refused, release, err := s.claimIDs(ctx, scope.App, writes)
	if err != nil {
		release()
		return nil, scope.Wrap("put memories", err)
	}
	sent := false
	put := func(i int, was *record, now time.Time) (*change, memory.Outcome, error) {
		w := &writes[i]
		if err := refused[i]; err != nil {
			return nil, memory.Outcome{Err: err}, nil
		}
		c, o, err := changeOf(memory.DecidePut(w, was.state(), now), was, w.Terms, w.Vector)
		sent = sent || c != nil
		return c, o, err
	}
	out, err := s.change(ctx, scope, ids, lives, put)
	// A write that failed, or whose caller has left, may still be under way: its claims lapse after it.
	if err == nil || !sent {
		release()
	}
	if err != nil {
		return nil, scope.Wrap("put memories", err)
	}
	return out, nil
}

// Delete implements memory.Store.
func (s *Store) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	out := make([]memory.Outcome, 0, len(removals))
	for len(removals) > 0 {
		some, ids := distinct(removals)
		remove := func(i int, was *record, now time.Time) (*change, memory.Outcome, error) {
			return changeOf(memory.DecideDelete(some[i], was.state(), now), was, nil, nil)
		}
		done, err := s.change(ctx, scope, ids, nil, remove)
		if err != nil {
			return nil, scope.Wrap("delete memories", err)
		}
		out = append(out, done...)
		removals = removals[len(some):]
	}
	return out, nil
}

// distinct cuts removals before the first that names a memory again, and gives
// the ids they name.
func distinct(removals []memory.Removal) (some []memory.Removal, ids []string) {
	seen := map[string]bool{}
	for i, r := range removals {
		if seen[r.ID] {
			return removals[:i], ids
		}
		seen[r.ID] = true
		ids = append(ids, r.ID)
	}
	return removals, ids
}

// changeOf is the change that a decision makes of what is there; nil if it has
// no effect.
func changeOf(d memory.Decision, was *record, terms memory.Terms, vector []float32) (*change, memory.Outcome, error) {
	c := &change{vector: vector, outcome: d.Outcome}
	if was != nil {
		c.expect, c.was, c.removed = was.Memory.Revision, was.n, was.removed
	}
	switch d.Effect {
	case memory.NoEffect:
		return nil, d.Outcome, nil
	case memory.FillVector:
		c.record, c.fill = was, true
		return c, d.Outcome, nil
	}
	c.record = &record{
		Current: memory.Current{Memory: d.Step.Memory, Deleted: d.Step.Action == memory.Deleted},
		terms:   terms, step: newStep(&d.Step, newWrite()),
	}
	if was != nil {
		past, err := was.past()
		if err != nil {
			return nil, d.Outcome, err
		}
		c.past = []step{past}
		c.record.removed, c.record.due = was.removed, was.due
		c.record.expect(past.Expires)
	}
	if c.record.Deleted {
		c.record.expect(c.record.step.Expires)
	}
	return c, d.Outcome, nil
}

// change reads the memories named, has decide say what becomes of each, writes
// that on the condition that nothing has changed meanwhile, and reads again to
// see which writes went through. It decides the others again. The reading after
// a write also shows the manifest: if a move is about to end, no write is
// acknowledged that the move may have missed. It shows the head of the scope too: a
// write is acknowledged once that has its number. And it shows which of the lives that
// the writes are of were revoked: what was written of those is erased.
func (s *Store) change(
	ctx context.Context, scope memory.Scope, ids, lives []string, decide decider,
) ([]memory.Outcome, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	c := changing{s: s, scope: scope, ids: ids, lives: lives, out: make([]memory.Outcome, len(ids))}
	for i := range ids {
		c.left = append(c.left, i)
	}
	var err error
	if c.is, err = s.readToWrite(ctx, scope, ids, lives...); err != nil {
		return nil, err
	}
	for range tries {
		changes, err := c.decide(decide)
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			mark, err := s.write(ctx, scope, c.is.head, changes)
			if err == nil {
				err = c.confirm(ctx, changes)
			}
			if err != nil {
				return nil, err
			}
			if !s.heads.confirm(scope, c.is.head, mark) {
				for i := range changes {
					c.behind = append(c.behind, ids[i])
				}
			}
		}
		if len(c.left) == 0 {
			if err := s.renumber(ctx, scope, c.behind, c.is.head); err != nil {
				return nil, err
			}
			return c.out, s.eraseLate(ctx, scope, c.late)
		}
	}
	return nil, fmt.Errorf("%w: others change the same memories all the time", memory.ErrUnavailable)
}

// changing is a call of change.
type changing struct {
	s          *Store
	scope      memory.Scope
	ids, lives []string
	is         toWrite // as it was read last
	out        []memory.Outcome
	left       []int    // that are not decided for good
	behind     []string // of which the head does not tell surely
	late       []string // that were written after their life was revoked
}

// revoked reports whether the life of a write is revoked.
func (c *changing) revoked(i int) bool { return c.lives != nil && c.is.revoked[c.lives[i]] }

// decide decides on what is left, and returns the changes to make.
func (c *changing) decide(decide decider) (map[int]*change, error) {
	now := c.s.opts.Now()
	changes := map[int]*change{}
	var left []int
	for _, i := range c.left {
		if c.revoked(i) {
			c.out[i] = memory.Outcome{Err: memory.ErrRevoked}
			continue
		}
		if was := c.is.records[c.ids[i]]; was != nil && was.sweeping {
			return nil, errSweeping
		}
		made, o, err := decide(i, c.is.records[c.ids[i]], now)
		if err != nil {
			return nil, err
		}
		if c.out[i] = o; made != nil {
			changes[i] = made
			left = append(left, i)
		} else if o.Err == nil && !c.s.copying {
			c.behind = append(c.behind, c.ids[i])
		}
	}
	c.left = left
	return changes, nil
}

// confirm reads the memories that were written, sets the outcomes of the
// changes that went through, and leaves the others with what is there now.
func (c *changing) confirm(ctx context.Context, changes map[int]*change) (err error) {
	var written, lives []string
	for i := range changes {
		written = append(written, c.ids[i])
		if c.lives != nil {
			lives = append(lives, c.lives[i])
		}
	}
	if c.is, err = c.s.readToWrite(ctx, c.scope, written, lives...); err != nil {
		return err
	}
	c.left = nil
	for i, one := range changes {
		now := c.is.records[c.ids[i]]
		made, err := c.s.wasMade(ctx, one, now)
		if err != nil {
			return err
		}
		switch {
		case made && c.revoked(i):
			c.out[i], c.late = memory.Outcome{Err: memory.ErrRevoked}, append(c.late, c.ids[i])
		case made:
			c.out[i] = one.outcome
		default:
			c.left = append(c.left, i)
		}
		if !made && now == nil { // it was erased meanwhile, and its past has been written again
			if err := c.s.remove(ctx, one.pastIDs(c.scope)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pastIDs names the points of the past revisions that a change writes.
func (c *change) pastIDs(scope memory.Scope) (out []*qdrant.PointId) {
	for _, st := range c.past {
		out = append(out, pastID(scope, c.record.Memory.ID, st.Revision))
	}
	return out
}

// wasMade reports whether a change is in the memory as it is now, or in its
// history.
func (s *Store) wasMade(ctx context.Context, c *change, now *record) (bool, error) {
	switch {
	case now == nil:
		return false, nil
	case c.fill:
		return now.Memory.Revision > c.expect || now.Embedded, nil
	case now.Memory.Revision <= c.record.step.Revision:
		return now.step.Write == c.record.step.Write, nil
	}
	revision := c.record.step.Revision
	steps, err := s.steps(ctx, now.Memory.Scope, now.Memory.ID, revision, revision+1)
	if err == nil && len(steps) == 0 {
		return false, fmt.Errorf("%w: revision %d of memory %.80q has expired since it was written",
			memory.ErrUnavailable, revision, now.Memory.ID)
	}
	return err == nil && steps[0].Write == c.record.step.Write, err
}

// pastTogether is how many past revisions are read or written in one call.
const pastTogether = 50

// steps reads the past revisions that there are from one number to before another.
func (s *Store) steps(ctx context.Context, scope memory.Scope, id string, from, to int64) ([]step, error) {
	var out []step
	for from < to {
		upTo := min(to, from+pastTogether)
		some, err := s.someSteps(ctx, scope, id, from, upTo)
		if err != nil {
			return nil, err
		}
		out, from = append(out, some...), upTo
	}
	return out, nil
}

// someSteps is steps in one call.
func (s *Store) someSteps(ctx context.Context, scope memory.Scope, id string, from, to int64) ([]step, error) {
	var ids []*qdrant.PointId
	index := map[string]int64{}
	for n := from; n < to; n++ {
		p := pastID(scope, id, n)
		ids, index[p.GetUuid()] = append(ids, p), n-from
	}
	got, err := s.get(ctx, ids, []string{pastField})
	if err != nil {
		return nil, err
	}
	out, there := make([]step, len(ids)), make([]bool, len(ids))
	for _, p := range got {
		i := index[p.GetId().GetUuid()]
		if err := decode(p.GetPayload()[pastField].GetStringValue(), &out[i]); err != nil {
			return nil, err
		}
		there[i] = true
	}
	n := 0
	for i := range out {
		if there[i] {
			out[n], n = out[i], n+1
		}
	}
	return out[:n], nil
}

// write sends changes in one call: new memories only where there is none,
// others only where the expected revision is current. Qdrant takes the
// operations of a call one after another, so past revisions go first. More than
// fit into one call go ahead of it. The write has a number that follows the head.
func (s *Store) write(ctx context.Context, scope memory.Scope, h *head, changes map[int]*change) (writeMark, error) {
	call := writeCall{scope: scope, head: h}
	var past []*qdrant.PointStruct
	var updates []*qdrant.PointsUpdateOperation
	for _, c := range changes {
		for _, st := range c.past {
			p, err := st.point(c.record.Memory.Scope, c.record.Memory.ID)
			if err != nil {
				return writeMark{}, err
			}
			past = append(past, p)
		}
		p, err := c.record.point(c.vector)
		if err != nil {
			return writeMark{}, err
		}
		call.numbered = append(call.numbered, p)
		if c.expect == 0 {
			call.fresh = append(call.fresh, p)
		} else {
			updates = append(updates, updateOnly(p, qdrant.NewMatchInt("revision", c.expect), c.unnumbered(scope),
				withRemoved(c.removed)))
		}
	}
	for some := range slices.Chunk(past, pastTogether) {
		op := qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: some})
		if len(past) <= pastTogether {
			call.ops = append(call.ops, op)
			break
		}
		if err := s.update(ctx, s.collection, op); err != nil {
			return writeMark{}, err
		}
	}
	call.ops = append(call.ops, updates...)
	return s.writes.do(ctx, call)
}

// unnumbered passes a point that no write has given another number since it was read.
// A write that has read it earlier would take that number away, under which searches
// look for it.
func (c *change) unnumbered(scope memory.Scope) *qdrant.Condition {
	if c.was == 0 {
		return qdrant.NewIsEmpty(changeField)
	}
	return qdrant.NewMatchInt(changeField, changeNumber(scope, c.was))
}

// writeCall is one call of write.
type writeCall struct {
	scope    memory.Scope
	head     *head // of the scope, as it was read
	ops      []*qdrant.PointsUpdateOperation
	fresh    []*qdrant.PointStruct // to be written where there is none
	numbered []*qdrant.PointStruct // that get the number of the write, in ops or in fresh
	again    []*qdrant.PointId     // that get it too, and are not written otherwise
}

// number gives the calls of one request their numbers, one for all calls of a scope,
// and returns the operations that follow all others: the last of them change the heads.
// A collection that memories are copied to has no heads yet.
func (s *Store) number(calls []writeCall) (marks []writeMark, after []*qdrant.PointsUpdateOperation) {
	if s.copying {
		return make([]writeMark, len(calls)), nil
	}
	read, now := map[memory.Scope]*head{}, map[memory.Scope]*head{}
	for _, c := range calls {
		if h := read[c.scope]; h == nil || h.n < c.head.n {
			read[c.scope] = c.head
		}
	}
	var swaps []*qdrant.PointsUpdateOperation
	for _, c := range calls {
		h := now[c.scope]
		if h == nil {
			var was *head
			was, h = s.heads.next(c.scope, read[c.scope])
			now[c.scope] = h
			swaps = append(swaps, h.swap(c.scope, was))
		}
		change := changeNumber(c.scope, h.n)
		for _, p := range c.numbered {
			p.Payload[changeField] = qdrant.NewValueInt(change)
		}
		if len(c.again) > 0 {
			after = append(after, setNumber(c.again, change))
		}
		marks = append(marks, h.last())
	}
	return marks, append(after, swaps...)
}

// mergedBytes bounds the points of several calls that are written in one, as
// protocol buffers.
const mergedBytes = 8 << 20

// writeAll makes calls of write together: the new points of all of them in one
// operation, as far as they are not too large for that.
func (s *Store) writeAll(ctx context.Context, calls []writeCall) (marks []writeMark, err error) {
	for from, to := 0, 0; from < len(calls); from = to {
		to = from + together(calls[from:])
		some, after := s.number(calls[from:to])
		var ops []*qdrant.PointsUpdateOperation
		var fresh []*qdrant.PointStruct
		for _, c := range calls[from:to] {
			ops, fresh = append(ops, c.ops...), append(fresh, c.fresh...)
		}
		if fresh != nil {
			ops = append(ops, insertOnly(fresh...))
		}
		err := s.update(ctx, s.collection, append(ops, after...)...)
		s.written.Add(1) // before it is acknowledged, and also if the answer was lost
		if err != nil {
			for _, c := range calls[from:to] {
				s.heads.forget(c.scope)
			}
			return nil, err
		}
		marks = append(marks, some...)
	}
	return marks, nil
}

// together is how many of some calls fit into one request, at least one.
func together(calls []writeCall) int {
	size := 0
	for i, c := range calls {
		n := 0
		for _, op := range c.ops {
			n += proto.Size(op)
		}
		for _, p := range c.fresh {
			n += proto.Size(p)
		}
		if size += n; i > 0 && size > mergedBytes {
			return i
		}
	}
	return len(calls)
}
