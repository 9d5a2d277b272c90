package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// takeBack notes in a batch which events the session's rewinds take back, and
// deletes the turns of these. It reads all that was said up to the batch, since
// the rewind and the events it takes back may arrive in any order, and holds a few
// of the events at a time.
func (s *Service) takeBack(ctx context.Context, b *batch) error {
	if !b.work.Rewinds {
		return nil
	}
	var back rewinds
	err := s.upTo(ctx, b, func(events []sessionstore.NumberedEvent) error {
		for _, e := range events {
			back.see(e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.takenBack = map[string]time.Time{}
	spans := back.spans()
	if len(spans) == 0 {
		return nil
	}
	return s.upTo(ctx, b, func(events []sessionstore.NumberedEvent) error {
		events = slices.DeleteFunc(events, func(e sessionstore.NumberedEvent) bool { return !spans.has(e) })
		for _, e := range events {
			b.takenBack[e.ID] = e.Timestamp
		}
		return s.deleteTurns(ctx, b, events)
	})
}

// upTo calls see with all events of a session up to those of a batch, some at a time.
func (s *Service) upTo(ctx context.Context, b *batch, see func([]sessionstore.NumberedEvent) error) error {
	for after := int64(0); after < b.last; {
		some, err := s.sessions.Events(ctx, b.work, after, min(s.opts.BatchEvents, int(b.last-after)))
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return nil
		}
		after = some[len(some)-1].Seq
		if err := see(some); err != nil {
			return err
		}
	}
	return nil
}

// place is where an event is in the order in which events were said.
type place struct {
	at  int64 // its time, in microseconds since 1970
	seq int64
}

func placeOf(e *sessionstore.NumberedEvent) place { return place{e.Timestamp.UnixMicro(), e.Seq} }

func (p place) before(o place) bool { return p.at < o.at || p.at == o.at && p.seq < o.seq }

// rewinds collects what tells which events of a session are taken back, without the
// events. A rewind names an invocation: the events from the first of that invocation
// up to the rewind are as if never said.
type rewinds struct {
	firsts map[string]place // of each invocation
	all    []rewind
}

type rewind struct {
	place
	invocation string
}

// see adds an event. They may come in any order.
func (r *rewinds) see(e sessionstore.NumberedEvent) {
	if r.firsts == nil {
		r.firsts = map[string]place{}
	}
	at := placeOf(&e)
	if first, ok := r.firsts[e.InvocationID]; !ok || at.before(first) {
		r.firsts[e.InvocationID] = at
	}
	if e.RewindBefore != "" {
		r.all = append(r.all, rewind{at, e.RewindBefore})
	}
}

// spans returns what is taken back, once all events are seen.
func (r *rewinds) spans() (out spans) {
	slices.SortFunc(r.all, func(a, b rewind) int {
		if a.before(b.place) {
			return -1
		}
		return 1
	})
	for i := len(r.all) - 1; i >= 0; i-- { // from the end, as a rewind may be taken back itself
		first, ok := r.firsts[r.all[i].invocation]
		if !ok || !first.before(r.all[i].place) {
			continue
		}
		out = append(out, span{first, r.all[i].place})
		for i > 0 && !r.all[i-1].before(first) {
			i--
		}
	}
	return out
}

// spans are parts of a session, each from one place up to, not including, another.
type (
	spans []span
	span  struct{ from, to place }
)

func (s spans) has(e sessionstore.NumberedEvent) bool {
	at := placeOf(&e)
	return slices.ContainsFunc(s, func(s span) bool { return !at.before(s.from) && at.before(s.to) })
}

// takenBack returns which of some events others of them take back, and when they
// were said.
func takenBack(all []sessionstore.NumberedEvent) map[string]time.Time {
	var back rewinds
	for _, e := range all {
		back.see(e)
	}
	spans, out := back.spans(), map[string]time.Time{}
	for _, e := range all {
		if spans.has(e) {
			out[e.ID] = e.Timestamp
		}
	}
	return out
}

// deleteTurns deletes the turns of events taken back. It writes those that are
// missing first: another process may be late with writing them, and a turn that was
// deleted stays so.
func (s *Service) deleteTurns(ctx context.Context, b *batch, events []sessionstore.NumberedEvent) error {
	var turns []extract.Turn
	var removals []memory.Removal
	for _, e := range events {
		if t, ok := extract.ReadTurn(b.key.ID, e.Event); ok {
			turns = append(turns, t)
			removals = append(removals, memory.Removal{
				ID: turnID(b.key, e.ID, t.Text), Actor: "rewind", Operation: b.work.Request.ID,
				Labels: b.work.Request.Labels, RevisionExpireTime: s.revisionEnd(&b.work.Request),
			})
		}
	}
	if _, err := s.putTurns(ctx, b.work, turns, false); err != nil {
		return err
	}
	removals, err := s.leaveBroughtBack(ctx, b.key.Scope, removals)
	if err == nil {
		_, err = s.memories.Delete(ctx, b.key.Scope, removals)
	}
	return err
}

// broughtBack tells, of the revisions of a memory, newest first, whether a rollback has
// brought it back last. Then the rewind that had deleted it does not do so again.
type broughtBack struct {
	is   bool
	seen int
	last memory.Revision
}

func (b *broughtBack) see(r *memory.Revision) bool {
	if b.seen++; b.seen == 1 {
		b.last = *r
	}
	b.is = b.is || b.seen == 2 && r.Action == memory.Deleted && byRollback(&b.last)
	return b.is
}

// leaveBroughtBack removes from some deletions those of turns that a rollback has brought
// back.
func (s *Service) leaveBroughtBack(ctx context.Context, scope memory.Scope, removals []memory.Removal) (
	[]memory.Removal, error) {
	ids := make([]string, len(removals))
	for i := range removals {
		ids[i] = removals[i].ID
	}
	stored, err := s.memories.Get(ctx, scope, ids)
	if err != nil && !errors.As(err, new(*memory.Damage)) {
		return nil, err
	}
	left := map[string]bool{}
	for i := range stored {
		if stored[i].Revision < 3 { // made, deleted, brought back
			continue
		}
		var back broughtBack
		if err := memory.EachRevision(ctx, s.memories, scope, stored[i].ID, func(r *memory.Revision) bool {
			return !back.see(r) && back.seen < 2
		}); err != nil {
			return nil, err
		}
		left[stored[i].ID] = back.is
	}
	return slices.DeleteFunc(removals, func(r memory.Removal) bool { return left[r.ID] }), nil
}

// withdrawn returns the facts of the session that rest on events taken back
// alone, each with its state before these events. A fact that a client has edited
// is the client's word now, and stays. It adds to r the facts that may hold again
// without them.
func (s *Service) withdrawn(ctx context.Context, b *batch, r *related) (out []consolidate.Withdrawal, err error) {
	if len(b.takenBack) == 0 {
		return nil, nil
	}
	ofSession := memory.Filter{SessionID: b.key.ID, Kinds: []memory.Kind{memory.KindFact}, History: true}
	err = each(ctx, s.memories, b.key.Scope, ofSession, func(m *memory.Memory) error {
		if !restsOn(m, b.takenBack) || consolidate.FromClient(m) {
			return nil
		}
		w := consolidate.Withdrawal{Seq: b.last, Memory: *m, Reason: "taken back"}
		var back broughtBack
		err := memory.EachRevision(ctx, s.memories, m.Scope, m.ID, func(r *memory.Revision) bool {
			if back.see(r) {
				return false
			}
			if r.Action != memory.Deleted && !restsOn(&r.Memory, b.takenBack) {
				w.Before = &r.Memory
			}
			return w.Before == nil
		})
		if err != nil {
			return err
		}
		if !back.is {
			out = append(out, w)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err := r.loadWithout(ctx, &out[i].Memory); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// restsOn reports whether a fact rests on nothing but these events. An earlier
// session of the same name may have had events of their IDs; those were said at
// another time.
func restsOn(m *memory.Memory, events map[string]time.Time) bool {
	for i, id := range m.Source.EventIDs {
		timestamp, ok := events[id]
		if !ok || i == 0 && !m.Timestamp.Equal(timestamp) {
			return false
		}
	}
	return len(m.Source.EventIDs) > 0
}
