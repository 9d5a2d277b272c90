package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A provisional fact is one that the fallback finds while the extractor gives no
// answer. Its ID follows from the event, so that it is found again when the
// extractor has answered and its facts replace it. Provisional facts do not
// complete the work: it is tried again, and may fail, as it would without them.

// provisionalFacts are the facts of the fallback in some turns.
func (s *Service) provisionalFacts(
	ctx context.Context, b *batch, turns []extract.Turn, forms consolidate.Forms,
) ([]consolidate.Fact, error) {
	found, err := s.opts.Fallback.Extract(ctx, extract.Batch{Turns: turns})
	if err != nil {
		return nil, err
	}
	out := b.newFacts(found.Facts, forms)
	for i := range out {
		out[i].Memory.ID = provisionalID(out[i].Memory.ID)
	}
	return slices.DeleteFunc(out, func(f consolidate.Fact) bool { return f.Forget }), nil
}

// addProvisional adds provisional facts of all events that wait beside what is
// known.
func (s *Service) addProvisional(ctx context.Context, w sessionstore.Work) error {
	for after := w.Done; after < w.Requested; {
		events, err := s.sessions.Events(ctx, w, after, min(s.opts.BatchEvents, int(w.Requested-after)))
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		after = events[len(events)-1].Seq
		if err := s.addProvisionalOf(ctx, newBatch(w, events)); err != nil {
			return err
		}
	}
	return nil
}

// addProvisionalOf adds the provisional facts of one batch. They change nothing
// else, so that nothing else is left to undo when they are replaced.
func (s *Service) addProvisionalOf(ctx context.Context, b *batch) (err error) {
	if b.received, err = s.received(ctx, b.key, b.turns); err != nil {
		return err
	}
	if err := s.takeBack(ctx, b); err != nil {
		return err
	}
	r := s.relatedTo(b)
	if err := s.configure(ctx, b); err != nil {
		return err
	}
	facts, err := s.provisionalFacts(ctx, b, b.standingTurns(), r.forms)
	facts = slices.DeleteFunc(facts, func(f consolidate.Fact) bool {
		_, keep := b.policy.Keep(f.Memory.Topics, false)
		return !keep
	})
	if err != nil || len(facts) == 0 {
		return err
	}
	if err := r.loadFacts(ctx, facts); err != nil {
		return err
	}
	var writes []memory.Write
	now := sessionstore.Micros(s.opts.Now())
	for _, c := range r.plan(consolidate.Input{New: facts, Disabled: true, Exact: b.exact(), Last: b.last}).Changes {
		if c.Action == memory.Created && !consolidate.Repetition(&c.Memory) {
			setExpiry(&c.Memory, now, b.ttl.Created.Duration)
			writes = append(writes, memory.Write{
				Memory: c.Memory, Actor: s.opts.Fallback.Name(), Operation: b.work.Request.ID, Life: b.work.Life(),
				Labels: b.work.Request.Labels, RevisionExpireTime: s.revisionEnd(&b.work.Request),
			})
		}
	}
	if err := s.index(ctx, writes, !s.embedder.Model().Remote); err != nil {
		return err
	}
	_, err = s.memories.Put(ctx, b.key.Scope, writes)
	return err
}

// replaced returns the provisional facts that the facts of a batch replace, and
// the words of those that a client has deleted or edited. It adds to r the facts
// that may hold again without them.
func (s *Service) replaced(
	ctx context.Context, b *batch, r *related,
) (out []consolidate.Withdrawal, settled []memory.Source, err error) {
	if s.opts.Fallback == nil {
		return nil, nil, nil
	}
	facts, err := s.provisionalFacts(ctx, b, b.turns, r.forms)
	if err != nil {
		return nil, nil, err
	}
	for i := range facts {
		m := &facts[i].Memory
		var latest *memory.Revision
		decided := false
		err := memory.EachRevision(ctx, s.memories, m.Scope, m.ID, func(r *memory.Revision) bool {
			if latest == nil {
				latest = r
			}
			decided = decidedByClient(*r)
			return !decided
		})
		switch {
		case errors.Is(err, memory.ErrNotFound):
		case err != nil:
			return nil, nil, err
		case decided:
			settled = append(settled, m.Source)
		case latest.Action != memory.Deleted:
			out = append(out, consolidate.Withdrawal{
				Seq: facts[i].Seq, Memory: latest.Memory, Reason: s.extractor.Name() + " has read it",
			})
			if err := r.loadWithout(ctx, &latest.Memory); err != nil {
				return nil, nil, err
			}
		}
	}
	return out, settled, nil
}

// decidedByClient reports whether a client deleted a memory, or changed its text.
func decidedByClient(r memory.Revision) bool {
	return r.Actor == client && (r.Action == memory.Deleted || r.Memory.Edited)
}
