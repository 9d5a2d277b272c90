package ingest

import (
	"context"
	"errors"
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
	var all []sessionstore.Numbered
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
func takenBack(all []sessionstore.Numbered) map[string]time.Time {
	back := map[string]time.Time{}
	slices.SortFunc(all, inOrder)
	for i := len(all) - 1; i >= 0; i-- { // from the end, as a rewind may be taken back itself
		e := all[i]
		if e.RewindBefore == "" {
			continue
		}
		first := slices.IndexFunc(all[:i], func(x sessionstore.Numbered) bool { return x.InvocationID == e.RewindBefore })
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
func (s *Service) hide(ctx context.Context, b *batch, all []sessionstore.Numbered, back map[string]time.Time) error {
	var writes []extract.Turn
	var gone []memory.Removal
	for _, e := range all {
		t, ok := extract.ReadTurn(b.work.Key.ID, e.Event)
		if _, taken := back[e.ID]; ok && taken {
			writes = append(writes, t)
			gone = append(gone, memory.Removal{ID: turnID(b.work.Key, e.ID, t.Text), Actor: "rewind", Operation: b.work.Operation})
		}
	}
	if err := s.putTurns(ctx, b.work.Key, writes, false); err != nil {
		return err
	}
	_, err := s.memories.Delete(ctx, b.work.Key.Scope, gone)
	return err
}

// ending is a stored fact that holds no more.
type ending struct {
	memory memory.Memory
	// by is what has taken its place, so that it holds again if it was said
	// again since. Without one it was taken back, and holds if anybody else has
	// said it.
	by memory.Memory
}

// takeBack drafts the end of the facts that rest on nothing but events taken
// back: they are as they were before those, or gone, and what they had
// superseded holds again. One that a client has changed is the client's word
// now. It gives the facts that are gone.
func (d *decision) takeBack(ctx context.Context, back map[string]time.Time) (gone []ending, err error) {
	if len(back) == 0 {
		return nil, nil
	}
	key := d.batch.work.Key
	err = d.each(ctx, key.Scope, memory.Filter{SessionID: key.ID, Kinds: []memory.Kind{memory.KindFact}, History: true}, func(m *memory.Memory) error {
		if !restsOn(m, back) {
			return nil
		}
		past, err := d.memories.Revisions(ctx, m.Scope, m.ID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(past, func(r memory.Revision) bool { return r.Actor == client }) {
			return nil
		}
		e := d.change(d.batch.to, m)
		e.reason = "taken back"
		i := slices.IndexFunc(past, func(r memory.Revision) bool { return r.Action != memory.Deleted && !restsOn(&r.Memory, back) })
		if i < 0 {
			e.gone = true
			gone = append(gone, ending{memory: *m})
			return nil
		}
		e.now = past[i].Memory.Clone()
		e.now.ValidTo, e.now.SupersededBy = m.ValidTo, m.SupersededBy
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range gone {
		by := &gone[i].memory
		if err := d.each(ctx, key.Scope, memory.Filter{SupersededBy: by.ID, History: true}, func(m *memory.Memory) error {
			e := d.change(d.batch.to, m)
			to, next := by.ValidTo, by.SupersededBy
			for next != "" && d.gone(next) {
				to, next = d.entries[next].was.ValidTo, d.entries[next].was.SupersededBy
			}
			e.now.ValidTo, e.now.SupersededBy, e.reason = to, next, "what superseded it was taken back"
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return gone, nil
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

// restated finds who else has said what holds no more: what said the same was
// left out while the first stood. It reads the turns again that have the words
// of a fact, and gives, for each fact, the first one said. For a model that is
// done with the batch, so that it is one call; see sayAgain.
func (d *decision) restated(ctx context.Context, ended []ending) ([]candidate, error) {
	if d.extractor.Budget() > 0 {
		return nil, nil
	}
	var out []candidate
	for i := range ended {
		turns, err := d.sayAgain(ctx, &ended[i])
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			found, err := d.extractor.Extract(ctx, extract.Batch{Turns: []extract.Turn{t}})
			if err != nil {
				return nil, err
			}
			c, err := d.again(ctx, found.Facts, &ended[i].memory)
			if err != nil {
				return nil, err
			}
			if c != nil {
				out = append(out, *c)
				break
			}
		}
	}
	return out, nil
}

// sayAgain is the turns that may say again what has ended, as turns to read.
func (d *decision) sayAgain(ctx context.Context, e *ending) ([]extract.Turn, error) {
	said, err := d.sayingSo(ctx, &e.memory)
	if err != nil {
		return nil, err
	}
	var out []extract.Turn
	for i := range said {
		if m := &said[i]; e.by.ID == "" || m.Timestamp.After(e.by.Timestamp) {
			out = append(out, extract.Turn{SessionID: m.Source.SessionID, EventID: m.Source.EventIDs[0], Author: m.Author, Timestamp: m.Timestamp,
				User: true /* as the speaker of what has ended was */, Text: m.Fact})
		}
	}
	return out, nil
}

// again picks, of the facts in a turn, the one that says what has ended; nil if
// there is none, or if a client has deleted it.
func (d *decision) again(ctx context.Context, facts []extract.Fact, ended *memory.Memory) (*candidate, error) {
	for _, c := range candidatesOf(ended.Scope, d.batch, facts) {
		if c.forget || statement(&c.memory) != statement(ended) {
			continue
		}
		return d.renewed(ctx, &c, ended)
	}
	return nil, nil
}

// renewed is a candidate that may have stood before: what is deleted stays so
// under its id, so it gets another. It is nil if a client has deleted it.
func (d *decision) renewed(ctx context.Context, c *candidate, ended *memory.Memory) (*candidate, error) {
	switch past, err := d.memories.Revisions(ctx, c.memory.Scope, c.memory.ID); {
	case errors.Is(err, memory.ErrNotFound): // it never stood
		return c, nil
	case err != nil:
		return nil, err
	case past[0].Action != memory.Deleted:
		return c, nil
	case past[0].Actor == client:
		return nil, nil
	}
	c.memory.ID = derive("again", c.memory.ID, ended.ID)
	return c, nil
}

// sayingSo is the turns of a fact's author that have most of its words, in the
// order in which they were said: most, as the same fact is said with a year or
// without one, after "please remember that" or not. Those that are taken back
// are deleted by now; one that a client has changed is nobody's word any more.
func (s *Service) sayingSo(ctx context.Context, fact *memory.Memory) ([]memory.Memory, error) {
	q := memory.Query{Terms: terms(fact.Fact), Limit: marksLimit, Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}}
	quoted := terms(fact.Source.Quote)
	q.Terms = slices.DeleteFunc(q.Terms, func(t string) bool { return !slices.Contains(quoted, t) }) // dates were written beside the words
	found, err := s.memories.Search(ctx, fact.Scope, q)
	if err != nil {
		return nil, err
	}
	var out []memory.Memory
	for _, run := range found.Runs {
		for _, c := range run {
			missing := 0
			for _, f := range c.Freqs {
				if f == 0 {
					missing++
				}
			}
			if c.Memory.Author == fact.Author && c.Memory.Revision == 1 && 2*missing <= len(q.Terms) {
				out = append(out, c.Memory)
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return said(&a, &b) })
	return out, nil
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
