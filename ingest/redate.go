package ingest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// redate sets the own time of a fact as a client patches it, and moves the ends of the
// facts whose place it took. ErrInvalid for a turn, and for an end before the beginning.
func (s *Service) redate(ctx context.Context, m *memory.Memory, p Patch) error {
	if m.Kind != memory.KindFact {
		return fmt.Errorf("%w: validFrom, validTo: a fact has them, and this memory is a %s", memory.ErrInvalid, m.Kind)
	}
	was, now := *m, sessionstore.Micros(s.opts.Now())
	if m.Repeats() { // it stands by itself now
		m.ValidTo, m.SupersededBy = time.Time{}, ""
	}
	if p.ValidFrom != nil {
		m.ValidFrom, m.FromEditTime = memory.Micros(*p.ValidFrom), now
	}
	if p.ValidTo != nil {
		m.ValidTo, m.ToEditTime = memory.Micros(*p.ValidTo), now
	}
	m.UTCOffset = cmp.Or(m.UTCOffset, p.UTCOffset)
	given := !extracted(m) || !m.FromEditTime.IsZero() // else ValidFrom is a day that the text names
	if given && !m.ValidTo.IsZero() && !m.ValidFrom.IsZero() && !m.ValidTo.After(m.ValidFrom) {
		return fmt.Errorf("%w: validTo: %s is not after validFrom, %s", memory.ErrInvalid,
			sessionstore.FormatTime(m.ValidTo), sessionstore.FormatTime(m.ValidFrom))
	}
	if m.ValidTo.IsZero() || m.Repeats() { // what ends when it begins would pass for a repetition
		m.SupersededBy = ""
	}
	if err := m.Validate(); err != nil {
		return err
	}
	return s.moveEnds(ctx, &was, m)
}

// moveEnds has the facts that m superseded end when m now begins to hold. An end that a
// client has set since m was said stays. It comes before the write of m: where that
// fails, the request can be repeated.
func (s *Service) moveEnds(ctx context.Context, was, m *memory.Memory) error {
	if m.HoldsFrom().Equal(was.HoldsFrom()) {
		return nil
	}
	var writes []memory.Write
	ended := memory.Filter{SupersededBy: m.ID, History: true}
	err := each(ctx, s.memories, m.Scope, ended, func(earlier *memory.Memory) error {
		w := memory.Write{Memory: *earlier, Expect: earlier.Revision, Actor: client}
		w.Memory.ValidTo = consolidate.EndOf(earlier, m)
		if !earlier.Repeats() && earlier.ValidTo.Equal(consolidate.EndOf(earlier, was)) &&
			was.SaidAt().After(earlier.ToEditTime) {
			writes = append(writes, w)
		}
		return nil
	})
	if err != nil || len(writes) == 0 {
		return err
	}
	out, err := s.putIndexed(ctx, m.Scope, writes)
	for i := range out {
		if err == nil {
			err = out[i].Err
		}
	}
	return err
}
