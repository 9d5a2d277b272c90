package retrieve

import (
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// A rollback of an operation deletes the facts that it made, and a search finds no deleted
// fact. So a turn has the words of those of its facts that were taken back, and is outdated
// for them as for facts that were superseded.

// changed reports whether a memory says, by itself, that something else may hold.
func changed(c *ranked) bool { return c.Memory.Edited || len(c.Memory.Retracted) > 0 }

// retractions adds to what no longer holds of a turn the facts that were taken back.
func (s *succession) retractions(turn *memory.Memory, ends []end, facts []*memory.Candidate) (
	[]end, []*memory.Candidate) {
	for _, r := range turn.Retracted {
		c := s.retracted(turn, r)
		if by, holds := s.insteadOf(c); !holds {
			ends = append(ends, end{validity: validity{turn.HoldsFrom(), r.Time}, by: by})
			facts = append(facts, c)
		}
	}
	return ends, facts
}

// retracted returns a fact of a turn that was taken back, as a store would find it. It has
// the meaning of the turn: its vector is gone, and its words are those of the turn.
func (s *succession) retracted(turn *memory.Memory, r memory.Retraction) *memory.Candidate {
	m := memory.Memory{Scope: turn.Scope, Kind: memory.KindFact, Fact: r.Fact, Author: turn.Author,
		Timestamp: turn.Timestamp, ReceiveTime: turn.ReceiveTime, Source: turn.Source, ValidTo: r.Time}
	c := &memory.Candidate{Memory: &m, Freqs: make([]int, len(s.terms))}
	if t := s.turnAt(cite{turn.Source.SessionID, turn.Source.EventID()}); t != nil {
		c.Cosine = t.Cosine
	}
	for _, word := range analyzer.Words(memory.Cut(r.Fact, maxRead)) {
		c.Length++
		for i, term := range s.terms {
			if term == word {
				c.Freqs[i]++
			}
		}
	}
	return c
}

// insteadOf returns the fact among those found that holds in the place of one that was
// taken back; nil if there is none. holds is true if one of them says the same.
func (s *succession) insteadOf(c *memory.Candidate) (by *memory.Candidate, holds bool) {
	was := canonical.Of(memory.Cut(c.Memory.Fact, maxRead))
	for _, o := range s.byID {
		m := o.Memory
		if m.Kind != memory.KindFact || m.Ended(s.question.at) || m.HoldsFrom().After(s.question.at) {
			continue
		}
		is := canonical.Of(memory.Cut(m.Fact, maxRead))
		switch {
		case is.Repeats(&was):
			return nil, true
		case is.Excludes(&was) && (by == nil || by.Memory.SaidAt().Before(m.SaidAt())):
			by = o
		}
	}
	return by, false
}
