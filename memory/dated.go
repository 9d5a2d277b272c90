package memory

import "time"

// MaxSkew is how far ahead of the true time a clock may be for its times to count
// as mistakes: somewhat more than a local time that is sent as UTC. A later time
// is a date in the future.
const MaxSkew = 24 * time.Hour

// SaidAt returns the time by which m is ordered among what was said: its Timestamp,
// but no later than it was received, since nothing is received before it is said.
// So what is said next is later, however wrong the clock of m was.
func (m *Memory) SaidAt() time.Time {
	received := m.ReceiveTime
	if m.Kind == KindTurn {
		received = m.CreateTime // a turn is stored when its event arrives
	}
	if received.IsZero() || !received.Before(m.Timestamp) {
		return m.Timestamp
	}
	return received
}

// HoldsFrom returns when a fact begins to hold, and what it excludes ceases to:
// when it was said; at its Timestamp if that is a date in the future; or, of a fact
// that a client gave, at a ValidFrom in the future.
func (m *Memory) HoldsFrom() time.Time {
	for _, later := range []time.Time{m.GivenFor(), m.DatedFor()} {
		if !later.IsZero() {
			return later
		}
	}
	return m.SaidAt()
}

// GivenFor returns the ValidFrom of a fact that a client gave for a time in the
// future. It returns the zero time for all other memories: the ValidFrom of a fact
// that was extracted is a day that its text speaks of.
func (m *Memory) GivenFor() time.Time {
	if m.Kind != KindFact || len(m.Source.EventIDs) > 0 || !m.ValidFrom.After(m.SaidAt()) {
		return time.Time{}
	}
	return m.ValidFrom
}

// DatedFor returns the Timestamp of a fact that was dated in the future when it was
// received, more than MaxSkew ahead. The fact is not current before that. It
// returns the zero time for all other memories.
func (m *Memory) DatedFor() time.Time {
	if m.Kind == KindTurn || m.ReceiveTime.IsZero() || !m.Timestamp.After(m.ReceiveTime.Add(MaxSkew)) {
		return time.Time{}
	}
	return m.Timestamp
}
