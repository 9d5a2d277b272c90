package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// What the fallback finds stands in for what the extractor cannot say now. Its
// facts have ids of their own, which follow from the events, so that they are
// known again when the extractor has answered and takes their place. Meanwhile
// the work goes on waiting: it is tried again, and fails, as without them.

// standIns are the facts of the fallback in some turns.
func (d *decision) standIns(ctx context.Context, turns []extract.Turn) ([]candidate, error) {
	found, err := d.opts.Fallback.Extract(ctx, extract.Batch{Turns: turns})
	if err != nil {
		return nil, err
	}
	out := d.candidatesOf(found.Facts)
	for i := range out {
		out[i].memory.ID = standInID(out[i].memory.ID)
	}
	return slices.DeleteFunc(out, func(c candidate) bool { return c.forget }), nil
}

// fillIn has the fallback's facts stand in for those of all that waits, beside
// what is known.
func (s *Service) fillIn(ctx context.Context, w sessionstore.Work) error {
	for after := w.Done; after < w.Requested; {
		events, err := s.sessions.Events(ctx, w, after, min(s.opts.BatchEvents, int(w.Requested-after)))
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		after = events[len(events)-1].Seq
		if err := s.fillInFor(ctx, batchOf(w, events)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) fillInFor(ctx context.Context, b *batch) error {
	back, err := s.rewound(ctx, b)
	if err != nil {
		return err
	}
	turns := slices.DeleteFunc(slices.Clone(b.turns), func(t extract.Turn) bool { return !back[t.EventID].IsZero() })
	d := s.decision(b, true)
	facts, err := d.standIns(ctx, turns)
	if err != nil || len(facts) == 0 {
		return err
	}
	if err := d.decide(ctx, facts); err != nil {
		return err
	}
	var writes []memory.Write
	for _, c := range d.changes() {
		if c.Action == memory.Created && !saidAgain(&c.Memory) {
			writes = append(writes, memory.Write{Memory: c.Memory, Actor: s.opts.Fallback.Name(), Operation: b.work.Request.ID})
		}
	}
	if err := s.index(ctx, writes, !s.embedder.Model().Remote); err != nil {
		return err
	}
	_, err = s.memories.Put(ctx, b.key.Scope, writes)
	return err
}

// retire drafts the end of the facts that stood in for those of the batch, and
// gives those that a client has deleted or changed: what rests on their words is
// settled.
func (d *decision) retire(ctx context.Context) (settled []memory.Source, err error) {
	if d.opts.Fallback == nil {
		return nil, nil
	}
	facts, err := d.standIns(ctx, d.batch.turns)
	if err != nil {
		return nil, err
	}
	for i := range facts {
		c := &facts[i]
		past, err := d.memories.Revisions(ctx, c.memory.Scope, c.memory.ID)
		switch {
		case errors.Is(err, memory.ErrNotFound):
		case err != nil:
			return nil, err
		case slices.ContainsFunc(past, func(r memory.Revision) bool { return r.Actor == client }):
			settled = append(settled, c.memory.Source)
		case past[0].Action != memory.Deleted:
			e := d.change(c.seq, &past[0].Memory)
			e.gone, e.reason = true, d.extractor.Name()+" has read it"
			if err := d.freed(ctx, &past[0].Memory); err != nil {
				return nil, err
			}
		}
	}
	return settled, nil
}
