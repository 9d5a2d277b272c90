package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// A fact that is forgotten, by a client or on request, must not be told by its turn
// either. The turn gets the id of the fact in Forgotten before the fact is deleted: if
// the deletion fails, it is tried again, and marks the same turns. Facts that are
// deleted for another reason, as their words were taken back or a model has read them
// better, hide nothing.

// citedTurns returns the turns that facts cite, by the ids of the facts, as far as the
// facts are stored.
func (s *Service) citedTurns(ctx context.Context, facts ...memory.Memory) (map[string][]memory.Memory, error) {
	out := map[string][]memory.Memory{}
	for i := range facts {
		f := &facts[i]
		if !f.Kind.Statement() || len(f.Source.EventIDs) == 0 {
			continue
		}
		found, err := s.memories.Search(ctx, f.Scope, memory.Query{
			Filter: memory.Filter{History: true, Kinds: []memory.Kind{f.Kind}, SessionID: f.Source.SessionID},
			Terms:  []string{canonical.TextKey(canonical.Text(f.Fact))}, Limit: relatedLimit, Cited: true,
		})
		if err != nil {
			return nil, err
		}
		cited := memory.Citations{}
		cited.Cite(f)
		for _, run := range found.Runs {
			for _, c := range run {
				if cited.Cites(c.Memory) {
					out[f.ID] = append(out[f.ID], c.Memory.Clone())
				}
			}
		}
	}
	return out, nil
}

// forgetTurns hides the turns that facts cite which a client deletes.
func (s *Service) forgetTurns(ctx context.Context, facts ...memory.Memory) error {
	turns, err := s.citedTurns(ctx, facts...)
	if err != nil {
		return err
	}
	for fact, cited := range turns {
		for i := range cited {
			if err := s.markForgotten(ctx, &cited[i], fact, memory.Write{Actor: client}); err != nil {
				return err
			}
		}
	}
	return nil
}

// recallTurns has searches find the turns again that a fact cites, unless another of
// their facts was forgotten too, and no longer takes them for outdated.
func (s *Service) recallTurns(ctx context.Context, fact *memory.Memory) error {
	turns, err := s.citedTurns(ctx, *fact)
	if err != nil {
		return err
	}
	for _, t := range turns[fact.ID] {
		if !slices.Contains(t.Forgotten, fact.ID) && len(t.Retracted) == 0 {
			continue
		}
		err := s.rewriteTurn(ctx, &t, memory.Write{Actor: client}, true, func(m *memory.Memory) {
			m.Forgotten = slices.DeleteFunc(m.Forgotten, func(id string) bool { return id == fact.ID })
			m.Restore(fact.Fact)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hideTurns hides the turns that tell what was forgotten, or asked to forget it.
func (s *Service) hideTurns(ctx context.Context, b *batch, p plan) error {
	for i := range p.Forgotten {
		fact := &p.Forgotten[i]
		operation := p.operationOf(b, fact)
		if fact.Kind == memory.KindTurn {
			if err := s.hideTurn(ctx, b, fact, operation); err != nil {
				return err
			}
			continue
		}
		stored, err := s.citedTurns(ctx, *fact)
		if err != nil {
			return err
		}
		for _, t := range append(stored[fact.ID], b.turnsCitedBy(fact)...) {
			if err := s.markForgotten(ctx, &t, fact.ID, s.by(b, operation)); err != nil {
				return err
			}
		}
	}
	return nil
}

// operationOf returns the operation that forgets a fact, or hides a turn, of a plan.
func (p *plan) operationOf(b *batch, forgotten *memory.Memory) string {
	for i := range p.Changes {
		if p.Changes[i].Memory.ID == forgotten.ID {
			return b.work.OperationOf(p.Changes[i].Seq)
		}
	}
	for i := range p.Asked {
		id := p.Asked[i].Memory.ID
		if id == forgotten.ID || slices.Contains(forgotten.Forgotten, id) {
			return b.work.OperationOf(p.Asked[i].Seq)
		}
	}
	return b.work.Request.ID
}

// hideTurn hides a turn that is about what is to be forgotten, although no fact that
// is forgotten cites it: such a turn is hidden by the fact, and comes back with it.
func (s *Service) hideTurn(ctx context.Context, b *batch, turn *memory.Memory, operation string) error {
	return s.rewriteTurn(ctx, turn, s.by(b, operation), false, func(m *memory.Memory) {
		if len(m.Forgotten) == 0 {
			m.Forgotten = turn.Forgotten
		}
	})
}

// turnsCitedBy returns the turns of a batch that a fact found in it cites.
func (b *batch) turnsCitedBy(fact *memory.Memory) (out []memory.Memory) {
	cited := memory.Citations{}
	cited.Cite(fact)
	for _, t := range b.turns {
		if m := turnMemory(b.key, t); cited.Cites(&m) {
			out = append(out, m)
		}
	}
	return out
}

// markForgotten notes in a turn that a fact of it was forgotten.
func (s *Service) markForgotten(ctx context.Context, turn *memory.Memory, fact string, by memory.Write) error {
	return s.rewriteTurn(ctx, turn, by, false, func(m *memory.Memory) {
		if !slices.Contains(m.Forgotten, fact) {
			m.Forgotten = append(m.Forgotten, fact)
			slices.Sort(m.Forgotten) // whatever was forgotten first
		}
	})
}

// by is a write of no memory yet that says who makes it: the extractor, for an operation of
// a batch.
func (s *Service) by(b *batch, operation string) memory.Write {
	return memory.Write{Actor: s.extractor.Name(), Operation: operation, Labels: b.work.Request.Labels,
		RevisionExpireTime: s.revisionEnd(&b.work.Request)}
}

// rewriteTurn changes a stored turn as by says, however it was changed meanwhile. One that is gone
// stays so. A hidden turn needs no vector until it is found again: vectors asks a
// remote embedder for one.
func (s *Service) rewriteTurn(
	ctx context.Context, turn *memory.Memory, by memory.Write, vectors bool, change func(*memory.Memory),
) error {
	for try := 0; ; try++ {
		found, err := s.memories.Get(ctx, turn.Scope, []string{turn.ID})
		if err != nil || len(found) == 0 {
			return err
		}
		m := found[0].Clone()
		if change(&m); m.SameContent(&found[0]) {
			return nil
		}
		by.Memory, by.Expect = m, m.Revision
		writes := []memory.Write{by}
		if err := s.index(ctx, writes, vectors || !s.embedder.Model().Remote); err != nil {
			return err
		}
		out, err := s.memories.Put(ctx, turn.Scope, writes)
		if err != nil {
			return err
		}
		if out[0].Err == nil || !errors.Is(out[0].Err, memory.ErrAborted) || try == maxRewrites {
			return named(turn.Scope, turn.ID, out[0].Err)
		}
	}
}
