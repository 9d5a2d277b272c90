package ingest

import (
	"context"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// rewound maps the ids of events that the batch's rewinds take back to the
// number of the event that does. A rewind names an invocation: the events from
// the first of that invocation up to the rewind are as if never said.
func (s *Service) rewound(ctx context.Context, b *batch) (map[string]int64, error) {
	back := map[string]int64{}
	if !slices.ContainsFunc(b.events, func(e sessionstore.Numbered) bool { return e.RewindBefore != "" }) {
		return back, nil
	}
	var all []sessionstore.Numbered
	for after := int64(0); after < b.to; {
		some, err := s.sessions.Events(ctx, b.work, after, s.opts.BatchEvents)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		all = append(all, some...)
		after = some[len(some)-1].Seq
	}
	slices.SortFunc(all, said)
	for i, e := range all {
		if _, ours := b.seq[e.ID]; !ours || e.RewindBefore == "" {
			continue
		}
		first := slices.IndexFunc(all[:i], func(x sessionstore.Numbered) bool { return x.InvocationID == e.RewindBefore })
		if first < 0 {
			continue
		}
		for _, x := range all[first:i] {
			back[x.ID] = e.Seq
		}
	}
	// Turns that other batches or requests wrote are deleted rather than left
	// unwritten: a deleted one stays so, whoever is late with writing it.
	var writes []extract.Turn
	var gone []memory.Removal
	for _, e := range all {
		if t, ok := extract.ReadTurn(e.Event); ok && back[e.ID] != 0 {
			writes = append(writes, t)
			gone = append(gone, memory.Removal{ID: turnID(b.work.Key, e.ID, cut(t.Text, memory.MaxFact)), Actor: "rewind", Operation: b.work.Operation})
		}
	}
	if err := s.putTurns(ctx, b.work.Key, writes, false); err != nil {
		return nil, err
	}
	_, err := s.memories.Delete(ctx, b.work.Key.Scope, gone)
	return back, err
}

// takeBack plans the deletion of the facts that rest on nothing but events
// taken back.
func (s *Service) takeBack(ctx context.Context, b *batch, back map[string]int64, p *plan) error {
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
			seq := int64(0)
			for _, id := range m.Source.EventIDs {
				if seq = back[id]; seq == 0 {
					break
				}
			}
			if seq != 0 {
				p.Changes = append(p.Changes, change{Seq: seq, Action: memory.Deleted, Expect: m.Revision, Memory: m})
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		list.PageToken = page.NextPageToken
	}
}
