package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/analyzer"
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
	// Turns that other batches or requests wrote are deleted rather than left
	// unwritten: a deleted one stays so, whoever is late with writing it.
	var writes []extract.Turn
	var gone []memory.Removal
	for _, e := range all {
		t, ok := extract.ReadTurn(e.Event)
		if _, taken := back[e.ID]; ok && taken {
			writes = append(writes, t)
			gone = append(gone, memory.Removal{ID: turnID(b.work.Key, e.ID, t.Text), Actor: "rewind", Operation: b.work.Operation})
		}
	}
	if err := s.putTurns(ctx, b.work.Key, writes, false); err != nil {
		return nil, err
	}
	_, err := s.memories.Delete(ctx, b.work.Key.Scope, gone)
	return back, err
}

// takeBack plans the deletion of the facts that rest on nothing but events
// taken back. One that a client has changed is the client's word now.
func (s *Service) takeBack(ctx context.Context, b *batch, back map[string]time.Time, p *plan) error {
	if len(back) == 0 {
		return nil
	}
	list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{SessionID: b.work.Key.ID, Kinds: []memory.Kind{memory.KindFact}}}
	for {
		page, err := s.memories.List(ctx, b.work.Key.Scope, list)
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			if restsOn(&m, back) && !clients(&m) {
				p.Changes = append(p.Changes, change{Seq: b.to, Action: memory.Deleted, Expect: m.Revision, Memory: m})
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		list.PageToken = page.NextPageToken
	}
}

// restated finds who else has said what is deleted now: duplicates were left
// out while the first stood. It reads the turns again that have the words of a
// fact, and gives, for each fact, the first one said.
func (s *Service) restated(ctx context.Context, b *batch, deleted []change) ([]candidate, error) {
	var out []candidate
	for i := range deleted {
		gone := &deleted[i].Memory
		turns, err := s.sayingSo(ctx, gone)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			m, err := s.readAgain(ctx, &t, gone)
			if err != nil {
				return nil, err
			}
			if m != nil {
				out = append(out, candidate{b.to, *m})
				break
			}
		}
	}
	return out, nil
}

// sayingSo is the turns of a fact's author that have most of its words, in the
// order in which they were said: most, as the same fact is said with a year or
// without one, after "please remember that" or not. Those that are taken back
// are deleted by now; one that a client has changed is nobody's word any more.
func (s *Service) sayingSo(ctx context.Context, fact *memory.Memory) ([]memory.Memory, error) {
	q := memory.Query{Terms: analyzer.Question(fact.Fact), Limit: known, Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}}
	quoted := analyzer.Question(fact.Source.Quote)
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

// readAgain extracts from a turn the fact that says the same as gone; nil if
// there is none, or if a client has deleted it.
func (s *Service) readAgain(ctx context.Context, turn, gone *memory.Memory) (*memory.Memory, error) {
	facts, err := s.extractor.Extract(ctx, []extract.Turn{{EventID: turn.Source.EventIDs[0], Author: turn.Author, Timestamp: turn.Timestamp,
		User: true /* as the speaker of gone was */, Text: turn.Fact}})
	if err != nil {
		return nil, err
	}
	for _, m := range memoriesOf(sessionstore.Key{Scope: turn.Scope, ID: turn.Source.SessionID}, facts) {
		if statement(&m) != statement(gone) {
			continue
		}
		switch past, err := s.memories.Revisions(ctx, m.Scope, m.ID); {
		case errors.Is(err, memory.ErrNotFound): // it never stood
			return &m, nil
		case err != nil:
			return nil, err
		case past[0].Action != memory.Deleted:
			return &m, nil
		case past[0].Actor == client:
			return nil, nil
		}
		// It stood until gone came, and what is deleted stays so under its id.
		m.ID = derive("again", m.ID, gone.ID)
		return &m, nil
	}
	return nil, nil
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
