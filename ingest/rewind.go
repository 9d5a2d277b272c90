package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// rewound is the ids of a session's events that rewinds take back, and when
// they were said. A rewind names an invocation: the events from the first of
// that invocation up to the rewind are as if never said. It looks at all that
// was said up to this batch, since either may arrive late.
func (s *Service) rewound(ctx context.Context, b *batch) (map[string]time.Time, error) {
	back := map[string]time.Time{}
	if !b.work.Rewinds {
		return back, nil
	}
	var all []sessionstore.NumberedEvent
	for after := int64(0); after < b.to; {
		some, err := s.sessions.Events(ctx, b.work, after, min(s.opts.BatchEvents, int(b.to-after)))
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		all = append(all, some...)
		after = some[len(some)-1].Seq
	}
	back = takenBack(all)
	return back, s.hide(ctx, b, all, back)
}

// takenBack reads which of some events others of them take back.
func takenBack(all []sessionstore.NumberedEvent) map[string]time.Time {
	back := map[string]time.Time{}
	slices.SortFunc(all, inOrder)
	for i := len(all) - 1; i >= 0; i-- { // from the end, as a rewind may be taken back itself
		e := all[i]
		if e.RewindBefore == "" {
			continue
		}
		first := slices.IndexFunc(all[:i], func(x sessionstore.NumberedEvent) bool { return x.InvocationID == e.RewindBefore })
		if first < 0 {
			continue
		}
		for _, x := range all[first:i] {
			back[x.ID] = x.Timestamp
		}
		i = first
	}
	return back
}

// hide deletes the turns taken back, rather than leave them unwritten: others
// may be late with writing them, and a deleted one stays so.
func (s *Service) hide(ctx context.Context, b *batch, all []sessionstore.NumberedEvent, back map[string]time.Time) error {
	var writes []extract.Turn
	var gone []memory.Removal
	for _, e := range all {
		t, ok := extract.ReadTurn(b.key.ID, e.Event)
		if _, taken := back[e.ID]; ok && taken {
			writes = append(writes, t)
			gone = append(gone, memory.Removal{ID: turnID(b.key, e.ID, t.Text), Actor: "rewind", Operation: b.work.Request.ID})
		}
	}
	if err := s.putTurns(ctx, b.key, writes, false); err != nil {
		return err
	}
	_, err := s.memories.Delete(ctx, b.key.Scope, gone)
	return err
}

// takeBack drafts the end of the facts that rest on nothing but events taken
// back: they are as they were before those, or gone. One that a client has
// changed is the client's word now. What they had ended, or only said before
// others, is known by then, so that it can hold again.
func (d *decision) takeBack(ctx context.Context, back map[string]time.Time) error {
	if len(back) == 0 {
		return nil
	}
	key := d.batch.key
	var gone []*memory.Memory
	err := d.each(ctx, key.Scope, memory.Filter{SessionID: key.ID, Kinds: []memory.Kind{memory.KindFact}, History: true}, func(m *memory.Memory) error {
		if !restsOn(m, back) || clients(m) {
			return nil
		}
		past, err := d.memories.Revisions(ctx, m.Scope, m.ID)
		if err != nil {
			return err
		}
		e := d.change(d.batch.to, m)
		e.reason = "taken back"
		i := slices.IndexFunc(past, func(r memory.Revision) bool { return r.Action != memory.Deleted && !restsOn(&r.Memory, back) })
		if e.gone = i < 0; !e.gone {
			to, by := m.ValidTo, m.SupersededBy
			e.now = past[i].Memory.Clone()
			e.now.ValidTo, e.now.SupersededBy = to, by
			d.reverted[m.ID] = m.Timestamp
		}
		gone = append(gone, m)
		return nil
	})
	for _, m := range gone {
		if err == nil {
			err = d.freed(ctx, m)
		}
	}
	return err
}

// freed reads what may hold again without a memory.
func (d *decision) freed(ctx context.Context, without *memory.Memory) error {
	if err := d.learn(ctx, d.form(without.Fact).LookupKeys()); err != nil {
		return err
	}
	return d.each(ctx, without.Scope, memory.Filter{SupersededBy: without.ID, History: true}, func(m *memory.Memory) error {
		if d.known[m.ID] == nil {
			d.known[m.ID] = m
		}
		return nil
	})
}

// each calls do with all memories that pass a filter.
func (s *Service) each(ctx context.Context, scope memory.Scope, f memory.Filter, do func(*memory.Memory) error) error {
	list := memory.List{PageSize: memory.MaxPageSize, Filter: f}
	for {
		page, err := s.memories.List(ctx, scope, list)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			if err := do(&page.Memories[i]); err != nil {
				return err
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		list.PageToken = page.NextPageToken
	}
}

// restsOn reports whether a fact rests on nothing but these events. Another
// life of the session may have had events of their ids: those were said at
// another time.
func restsOn(m *memory.Memory, events map[string]time.Time) bool {
	for i, id := range m.Source.EventIDs {
		said, ok := events[id]
		if !ok || i == 0 && !m.Timestamp.Equal(said) {
			return false
		}
	}
	return len(m.Source.EventIDs) > 0
}
