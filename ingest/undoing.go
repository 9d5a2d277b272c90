package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A rollback follows from the histories of the memories alone, so it needs no plan: each
// revision has the operation that made it, and a revision of the rollback says that its
// memory is done. A worker that repeats an event leaves these out, and reports the same.

// undoer undoes an operation.
type undoer struct {
	scope          memory.Scope
	operation, own string // ids of the operation and of its rollback
}

// pasts reads histories, each once.
type pasts struct {
	undoer
	store memory.Store
	read  map[string]*past
	heirs map[string]string // see undoingPart
	now   time.Time
}

// of reads the history of a memory; nil if there is none.
func (p *pasts) of(ctx context.Context, id string) (*past, error) {
	if found, ok := p.read[id]; ok {
		return found, nil
	}
	r := readPast{operation: p.operation, own: p.own}
	err := memory.EachRevision(ctx, p.store, p.scope, id, r.see)
	if errors.Is(err, memory.ErrNotFound) { // it was erased
		p.read[id] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.read[id] = r.end()
	return p.read[id], nil
}

// successor is what stands in the place of a fact that gave way to a memory which the
// operation has made.
type successor struct {
	stays bool      // that memory is left as it is
	id    string    // of the memory that took its place since; "" if none has
	at    time.Time // when it did
}

// successor follows what took the place of memories that the operation has made.
func (p *pasts) successor(ctx context.Context, id string) (out successor, err error) {
	for range memory.MaxSuccession {
		q, err := p.of(ctx, id)
		if err != nil || q == nil || q.latest.Action == memory.Deleted && !q.made {
			return successor{}, err
		}
		if !q.made {
			return out, nil
		}
		u := q.undo(p.now)
		if u.action == Skipped && q.latest.Action != memory.Deleted && q.latest.Memory.Live(p.now) {
			return successor{stays: true}, nil
		}
		m := &q.latest.Memory
		if m.SupersededBy == "" {
			return p.heir(ctx, id)
		}
		id = m.SupersededBy
		out = successor{id: id, at: m.ValidTo}
		if id == q.after.Memory.SupersededBy { // by the operation itself: it counts if it is followed by another one
			if next, err := p.of(ctx, id); err != nil || next == nil || !next.made {
				return successor{}, err
			}
		}
	}
	return successor{}, nil
}

// heir is the fact that says the same as a memory which the operation has made.
func (p *pasts) heir(ctx context.Context, of string) (successor, error) {
	id := p.heirs[of]
	if id == "" {
		return successor{}, nil
	}
	q, err := p.of(ctx, id)
	if err != nil || q == nil || q.latest.Action == memory.Deleted ||
		q.undone == nil && q.latest.Memory.SupersededBy != of {
		return successor{}, err
	}
	return successor{id: id, at: q.latest.Memory.HoldsFrom()}, nil
}

// changed decides what becomes of a memory that the operation has changed. One that gave
// way to a memory which stays gives way to that still.
func (p *pasts) changed(ctx context.Context, id string) (undone, error) {
	q, err := p.of(ctx, id)
	if err != nil || q == nil {
		return undone{}, err
	}
	u := q.undo(p.now)
	to := q.after.Memory.SupersededBy
	if u.action != memory.Updated || u.done || q.after.Action == memory.Deleted ||
		to == u.memory.SupersededBy || to == "" {
		return u, nil
	}
	next, err := p.successor(ctx, to)
	switch {
	case err != nil:
		return undone{}, err
	case next.stays:
		return q.skip("memory %s, which took its place, stays", to), nil
	case next.id != "" && next.id != id && u.memory.SupersededBy == "":
		m := u.memory
		m.SupersededBy, m.ValidTo = next.id, next.at
		return q.back(m), nil
	}
	return u, nil
}

// dependent decides what becomes of a fact that gave way to a memory which the operation
// has made: it holds, or gives way to what took the place of that one.
func (p *pasts) dependent(ctx context.Context, id string) (undone, error) {
	q, err := p.of(ctx, id)
	if err != nil || q == nil {
		return undone{}, err
	}
	if q.undone != nil {
		return q.undo(p.now), nil
	}
	m := q.latest.Memory
	if q.latest.Action == memory.Deleted || m.SupersededBy == "" {
		return undone{}, nil
	}
	to, err := p.of(ctx, m.SupersededBy)
	if err != nil || to == nil || !to.made {
		return undone{}, err
	}
	next, err := p.successor(ctx, m.SupersededBy)
	if err != nil || next.stays || next.id == id {
		return undone{}, err
	}
	repeats := m.Repeats()
	m.SupersededBy = next.id
	switch {
	case next.id != "" && !repeats:
		m.ValidTo = next.at
	case next.id == "" && m.ToEditTime.IsZero():
		m.ValidTo = time.Time{}
	}
	return q.back(m), nil
}

// planUndone decides what becomes of the memories that an event of a rollback names.
func (s *Service) planUndone(ctx context.Context, u undoer, part undoingPart) (out []undone, err error) {
	p := &pasts{undoer: u, store: s.memories, read: map[string]*past{}, heirs: part.Heirs,
		now: s.opts.Now()}
	for _, some := range []struct {
		ids    []string
		decide func(context.Context, string) (undone, error)
	}{{part.Changed, p.changed}, {part.Dependents, p.dependent}} {
		for _, id := range some.ids {
			one, err := some.decide(ctx, id)
			if err != nil {
				return nil, err
			}
			if one.action != "" {
				one.retracts = p.retracts(&one)
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// undoSome does the work of the next event of a rollback.
func (s *Service) undoSome(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	events, err := s.sessions.Events(ctx, w, w.Done, 1)
	if err != nil {
		return 0, err
	}
	if len(events) == 0 {
		return 0, memory.ErrAborted
	}
	e := &events[0]
	part, err := readUndoing(&e.Event)
	if err != nil {
		return 0, err
	}
	undone, err := s.undo(ctx, w, part, e.Timestamp)
	if err != nil {
		return 0, err
	}
	var changes []sessionstore.Change
	for i := range undone {
		if c := undone[i].changed(); c != nil {
			doc, err := json.Marshal(c)
			if err != nil {
				return 0, err
			}
			changes = append(changes, sessionstore.Change{Seq: e.Seq, Doc: doc})
		}
	}
	if e.Seq == w.Requested {
		if err := s.giveUp(ctx, w); err != nil {
			return 0, err
		}
	}
	return e.Seq, s.finish(ctx, w, e.Seq, changes)
}

// undo brings the memories of an event back, and returns what became of them. at is when
// the rollback was asked for. Another writer may change a memory meanwhile: it is then
// decided on again.
func (s *Service) undo(ctx context.Context, w sessionstore.Work, part undoingPart, at time.Time) ([]undone, error) {
	u := undoer{scope: w.Key.Scope, operation: w.Request.Rollback, own: w.Request.ID}
	for try := range maxRewrites {
		all, err := s.planUndone(ctx, u, part)
		if err != nil {
			return nil, err
		}
		if try == 0 {
			if err := s.accountUndone(ctx, w, all); err != nil {
				return nil, err
			}
		}
		aborted, err := s.applyUndone(ctx, w, all, retraction{turns: part.Turns, at: at})
		if err != nil || !aborted {
			return all, err
		}
	}
	return nil, fmt.Errorf("%w: other writers change the memories all the time", memory.ErrUnavailable)
}

// accountUndone tells of the memories that a rollback changes, before they change.
func (s *Service) accountUndone(ctx context.Context, w sessionstore.Work, all []undone) error {
	told := Accounted{ID: fmt.Sprintf("%s/%d", w.Request.ID, w.Done+1), Key: w.Key, Operation: w.Request.ID}
	for i := range all {
		if all[i].action != Skipped {
			told.Facts = append(told.Facts, all[i].memory.ID)
		}
	}
	if s.opts.Account == nil || len(told.Facts) == 0 {
		return nil
	}
	return s.opts.Account(ctx, told)
}

// applyUndone writes what is not done yet, and puts into all what the store has then.
// aborted reports that another writer was faster somewhere.
func (s *Service) applyUndone(ctx context.Context, w sessionstore.Work, all []undone, r retraction) (
	aborted bool, err error) {
	var refused []*undone
	take := func(u *undone, o *memory.Outcome) {
		switch {
		case errors.Is(o.Err, memory.ErrAborted), errors.Is(o.Err, memory.ErrNotFound):
			refused = append(refused, u)
		case u.action == memory.Deleted && !o.Changed: // it has expired this moment
			u.action = ""
		default:
			u.memory = o.Memory
		}
	}
	for from := 0; from < len(all); from += writesTogether {
		some := all[from:min(len(all), from+writesTogether)]
		if err := s.retractTurns(ctx, w, some, r); err != nil {
			return false, err
		}
		var writes []memory.Write
		var removals []memory.Removal
		var written, removed []*undone
		for i := range some {
			switch u := &some[i]; {
			case u.done:
			case u.action == memory.Updated:
				written = append(written, u)
				writes = append(writes, memory.Write{Memory: u.memory, Expect: u.expect, Actor: client,
					Operation: w.Request.ID, Life: w.Life()})
			case u.action == memory.Deleted:
				removed = append(removed, u)
				removals = append(removals, memory.Removal{ID: u.memory.ID, Expect: u.expect, Actor: client,
					Operation: w.Request.ID})
			}
		}
		if len(writes) > 0 {
			out, err := s.putIndexed(ctx, w.Key.Scope, writes)
			if err != nil {
				return false, err
			}
			for i := range out {
				take(written[i], &out[i])
			}
		}
		if len(removals) > 0 {
			out, err := s.memories.Delete(ctx, w.Key.Scope, removals)
			if err != nil {
				return false, err
			}
			for i := range out {
				take(removed[i], &out[i])
			}
		}
	}
	return len(refused) > 0, s.restoreTurns(ctx, w, refused, r)
}

// giveUp makes the work of the operation due that is rolled back, if it has failed: a
// worker passes over what is left of it.
func (s *Service) giveUp(ctx context.Context, w sessionstore.Work) error {
	op, err := s.sessions.Status(ctx, w.Key.Scope, w.Request.Rollback)
	if errors.Is(err, memory.ErrNotFound) || err == nil && op.State != sessionstore.Failed {
		return nil
	}
	if err == nil {
		_, err = s.sessions.Retry(ctx, w.Key.Scope, w.Request.Rollback)
	}
	return err
}

// isRolledBack reports whether the oldest operation that waits for work is rolled back.
func (s *Service) isRolledBack(ctx context.Context, w sessionstore.Work) (bool, error) {
	if w.Request.ID == "" {
		return false, nil
	}
	by, err := s.RolledBack(ctx, w.Key.Scope, w.Request.ID)
	return by != "", err
}

// passOver counts events as done whose operation was rolled back before it came to them.
// Their turns can be found, as they were said, and no facts are made of them.
func (s *Service) passOver(ctx context.Context, w sessionstore.Work, err error) (to int64, _ error) {
	if err != nil {
		return 0, err
	}
	if len(w.Asked) > 0 {
		w.Requested = min(w.Requested, w.Asked[0].Last)
	}
	b, err := s.nextBatch(ctx, w, 0)
	if err != nil {
		return 0, err
	}
	if _, err := s.putMissing(ctx, w, b.turns); err != nil {
		return 0, err
	}
	return b.last, s.finish(ctx, w, b.last, nil)
}
