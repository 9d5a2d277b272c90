package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// takeBack notes in a batch which events the session's rewinds take back, and
// deletes the turns of these. It reads all that was said up to the batch, since
// the rewind and the events it takes back may arrive in any order.
func (s *Service) takeBack(ctx context.Context, b *batch) error {
	if !b.work.Rewinds {
		return nil
	}
	var all []sessionstore.NumberedEvent
	for after := int64(0); after < b.last; {
		some, err := s.sessions.Events(ctx, b.work, after, min(s.opts.BatchEvents, int(b.last-after)))
		if err != nil {
			return err
		}
		if len(some) == 0 {
			break
		}
		all = append(all, some...)
		after = some[len(some)-1].Seq
	}
	b.takenBack = takenBack(all)
	return s.deleteTurns(ctx, b, all)
}

// takenBack returns which of some events others of them take back, and when they
// were said. A rewind names an invocation: the events from the first of that
// invocation up to the rewind are as if never said.
func takenBack(all []sessionstore.NumberedEvent) map[string]time.Time {
	out := map[string]time.Time{}
	slices.SortFunc(all, chronological)
	for i := len(all) - 1; i >= 0; i-- { // from the end, as a rewind may be taken back itself
		rewind := all[i]
		if rewind.RewindBefore == "" {
			continue
		}
		first := slices.IndexFunc(all[:i], func(e sessionstore.NumberedEvent) bool {
			return e.InvocationID == rewind.RewindBefore
		})
		if first < 0 {
			continue
		}
		for _, e := range all[first:i] {
			out[e.ID] = e.Timestamp
		}
		i = first
	}
	return out
}

// deleteTurns deletes the turns of the events taken back. It writes those that
// are missing first: another process may be late with writing them, and a turn
// that was deleted stays so.
func (s *Service) deleteTurns(ctx context.Context, b *batch, all []sessionstore.NumberedEvent) error {
	var turns []extract.Turn
	var removals []memory.Removal
	for _, e := range all {
		t, ok := extract.ReadTurn(b.key.ID, e.Event)
		if _, taken := b.takenBack[e.ID]; ok && taken {
			turns = append(turns, t)
			removals = append(removals, memory.Removal{
				ID: turnID(b.key, e.ID, t.Text), Actor: "rewind", Operation: b.work.Request.ID,
			})
		}
	}
	if err := s.putTurns(ctx, b.key, turns, false); err != nil {
		return err
	}
	_, err := s.memories.Delete(ctx, b.key.Scope, removals)
	return err
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
		past, err := s.memories.Revisions(ctx, m.Scope, m.ID)
		if err != nil {
			return err
		}
		w := consolidate.Withdrawal{Seq: b.last, Memory: *m, Reason: "taken back"}
		for i := range past { // newest first
			if past[i].Action != memory.Deleted && !restsOn(&past[i].Memory, b.takenBack) {
				w.Before = &past[i].Memory
				break
			}
		}
		out = append(out, w)
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
