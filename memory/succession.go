package memory

import (
	"slices"
	"time"
)

// MaxSuccession bounds the successors of a fact that a search follows.
const MaxSuccession = 64

// Ended reports whether m has ended by a time.
func (m *Memory) Ended(at time.Time) bool { return !m.ValidTo.IsZero() && !at.Before(m.ValidTo) }

// Departs reports whether a fact may say something else than the turns that it
// cites: it has ended by a time, or its text is a client's.
func (m *Memory) Departs(at time.Time) bool { return m.Kind == KindFact && (m.Ended(at) || m.Edited) }

// SuccessorAt returns the id of the memory that has taken the place of m by a time,
// or "" if none has.
func (m *Memory) SuccessorAt(at time.Time) string {
	if !m.Ended(at) {
		return ""
	}
	return m.SupersededBy
}

// Repeats reports whether a memory only repeats another one, which held when it was
// said. Such a memory ends when it begins to hold.
func (m *Memory) Repeats() bool { return m.SupersededBy != "" && m.ValidTo.Equal(m.HoldsFrom()) }

// IsKey reports whether a fact is a candidate for a key of Found.Succession in a
// query of the filter f, at now.
func (f *Filter) IsKey(m *Memory, now time.Time) bool {
	return m.Kind == KindFact && m.Ended(f.CurrentAt(now)) && (f.AsOf.IsZero() || !m.KnownFrom().After(f.AsOf))
}

// LeavesOutFacts reports whether no fact can pass f, because of Kinds or of a comparison
// of the kind that must hold.
func (f *Filter) LeavesOutFacts() bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, KindFact) {
		return true
	}
	must, _ := Conjuncts(f.Where)
	return slices.ContainsFunc(must, func(c Cmp) bool { return c.Field == FieldKind && !c.OfText(string(KindFact)) })
}

// Told is a set of turns, by session and event.
type Told map[string]map[string]bool

// Add adds a turn. Other memories change nothing.
func (t Told) Add(m *Memory) {
	if m.Kind != KindTurn || len(m.Source.EventIDs) == 0 {
		return
	}
	session := m.Source.SessionID
	if t[session] == nil {
		t[session] = map[string]bool{}
	}
	t[session][m.Source.EventID()] = true
}

// CitedBy reports whether a fact cites one of the turns.
func (t Told) CitedBy(m *Memory) bool {
	events := t[m.Source.SessionID]
	return events != nil && slices.ContainsFunc(m.Source.EventIDs, func(id string) bool { return events[id] })
}
