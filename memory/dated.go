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

// dated returns the ValidFrom that a client has set on a fact; zero if none has.
func (m *Memory) dated() time.Time {
	if m.FromEditTime.IsZero() {
		return time.Time{}
	}
	return m.ValidFrom
}

// KnownFrom returns the first time that a query AsOf finds m at: its Timestamp, or the
// earlier ValidFrom that a client has set.
func (m *Memory) KnownFrom() time.Time {
	if from := m.dated(); !from.IsZero() && from.Before(m.Timestamp) {
		return from
	}
	return m.Timestamp
}

// HoldsFrom returns when a fact begins to hold, and what it excludes ceases to:
// when it was said; at its Timestamp if that is a date in the future; of a fact
// that a client gave, at a ValidFrom in the future; and at a ValidFrom that a client
// has set since, past or future.
func (m *Memory) HoldsFrom() time.Time {
	if from := m.dated(); !from.IsZero() {
		return from
	}
	for _, later := range []time.Time{m.GivenFor(), m.DatedFor()} {
		if !later.IsZero() {
			return later
		}
	}
	return m.SaidAt()
}

// GivenFor returns the ValidFrom of a fact that a client gave for a time in the
// future, or has set to one. It returns the zero time for all other memories: the
// ValidFrom of a fact that was extracted is a day that its text speaks of.
func (m *Memory) GivenFor() time.Time {
	extracted := len(m.Source.EventIDs) > 0 && m.FromEditTime.IsZero()
	if m.Kind != KindFact || extracted || !m.ValidFrom.After(m.SaidAt()) {
		return time.Time{}
	}
	return m.ValidFrom
}

// DatedFor returns the Timestamp of a fact that was dated in the future when it was
// received, more than MaxSkew ahead. The fact is not current before that. It
// returns the zero time for all other memories, and for one whose ValidFrom a client
// has set.
func (m *Memory) DatedFor() time.Time {
	if !m.dated().IsZero() {
		return time.Time{}
	}
	if m.Kind == KindTurn || m.ReceiveTime.IsZero() || !m.Timestamp.After(m.ReceiveTime.Add(MaxSkew)) {
		return time.Time{}
	}
	return m.Timestamp
}
