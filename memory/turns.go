package memory

import (
	"cmp"
	"strings"
)

// EventID is the id of the event that a turn is, or "" for a source without
// events.
func (s *Source) EventID() string {
	if len(s.EventIDs) == 0 {
		return ""
	}
	return s.EventIDs[0]
}

// CompareTurns is the order of turns in a session: by time, then by event id.
// The ids of the memories break ties that are left, so that the order is total.
func CompareTurns(a, b *Memory) int {
	return cmp.Or(
		a.Timestamp.Compare(b.Timestamp),
		strings.Compare(a.Source.EventID(), b.Source.EventID()),
		strings.Compare(a.ID, b.ID),
	)
}

// Span is a stretch of consecutive turns of one session: the positions from
// From up to, not including, To.
type Span struct{ From, To int }

// Spans gives the runs around hits in a session of n turns: each hit with
// context turns on either side, one run where two of these overlap or touch.
// The hits are positions in ascending order, and so are the runs.
func Spans(hits []int, context, n int) (out []Span) {
	context = max(0, context)
	for _, at := range hits {
		s := Span{max(0, at-context), min(n, at+context+1)}
		if last := len(out) - 1; last >= 0 && s.From <= out[last].To {
			out[last].To = s.To
			continue
		}
		out = append(out, s)
	}
	return out
}

// Citations are the events that facts cite, by session.
type Citations map[string]map[string]bool

// Cite adds what m cites if m is a statement.
func (c Citations) Cite(m *Memory) {
	session := m.Source.SessionID
	if !m.Kind.Statement() || session == "" {
		return
	}
	for _, event := range m.Source.EventIDs {
		if c[session] == nil {
			c[session] = map[string]bool{}
		}
		c[session][event] = true
	}
}

// Cites reports whether m is a turn that is cited.
func (c Citations) Cites(m *Memory) bool {
	return m.Kind == KindTurn && len(m.Source.EventIDs) > 0 && c[m.Source.SessionID][m.Source.EventID()]
}
