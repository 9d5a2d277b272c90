package memory

import (
	"fmt"
	"slices"
	"time"
)

// Filter narrows a List or Search within a scope. The zero value passes every
// memory that is live and current. Each field that is set must hold.
type Filter struct {
	Kinds     []Kind
	Topics    []string  // at least one of these
	Since     time.Time // Timestamp not before
	Until     time.Time // Timestamp not after
	SessionID string
	Metadata  Metadata // each name with exactly this value
	// AsOf asks for the memories that were current at that time: known by then, see
	// Memory.KnownFrom, and not yet superseded then. Zero is now: turns count as said, whatever
	// their times, and so do facts that are not dated in the future; see
	// Memory.DatedFor.
	AsOf time.Time
	// History includes memories that are no longer current, facts dated in the
	// future, which are not current yet, and turns of which a fact was forgotten.
	// They are hidden otherwise.
	History bool
	// SupersededBy is the id of the memory that superseded these.
	SupersededBy string
	// State asks a list for memories of this state alone. The zero value leaves out those
	// that are hidden: quarantined or rejected ones. A search finds none of these,
	// whatever the State.
	State State
	// Hidden includes memories of every state where State is zero, in lists.
	Hidden bool
	// Person narrows a list of all users of an app to those whose memories are one person's. Searches
	// have no use for it.
	Person Person
	// Where is an expression that must hold as well; nil for none.
	Where Where
}

// Match reports whether m passes f at now. It is the definition that backends
// translate into their own filters.
func (f *Filter) Match(m *Memory, now time.Time) bool {
	return m.Live(now) && f.match(m, now)
}

// match checks all of f, of a memory that need not be live.
func (f *Filter) match(m *Memory, now time.Time) bool {
	return f.matchState(m) && f.matchTime(m, now) && f.matchLabels(m) && f.matchMetadata(m) &&
		f.Person.Is(m.User) &&
		(f.Where == nil || Holds(f.Where, m.Compare))
}

// matchState checks that m is of the state that f asks for.
func (f *Filter) matchState(m *Memory) bool {
	if f.State == "" {
		return f.Hidden || !m.State.Hidden()
	}
	return f.State == m.State
}

// CurrentAt is the time that f asks about: AsOf, or now where that is zero.
func (f *Filter) CurrentAt(now time.Time) time.Time {
	if f.AsOf.IsZero() {
		return now
	}
	return f.AsOf
}

// matchTime checks when m was said, and whether it was current at the time that
// f asks about.
func (f *Filter) matchTime(m *Memory, now time.Time) bool {
	at := f.CurrentAt(now)
	switch {
	case !f.AsOf.IsZero() && m.KnownFrom().After(at):
		return false
	case !f.History && (m.Ended(at) || len(m.Forgotten) > 0):
		return false
	case !f.History && at.Before(m.DatedFor()):
		return false
	case !f.Since.IsZero() && m.Timestamp.Before(f.Since):
		return false
	}
	return f.Until.IsZero() || !m.Timestamp.After(f.Until)
}

// matchLabels checks the fields of m that are names out of a list.
func (f *Filter) matchLabels(m *Memory) bool {
	switch {
	case f.SupersededBy != "" && f.SupersededBy != m.SupersededBy:
		return false
	case f.SessionID != "" && f.SessionID != m.Source.SessionID:
		return false
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, m.Kind):
		return false
	}
	wanted := func(topic string) bool { return slices.Contains(f.Topics, topic) }
	return len(f.Topics) == 0 || slices.ContainsFunc(m.Topics, wanted)
}

func (f *Filter) matchMetadata(m *Memory) bool {
	for k, v := range f.Metadata {
		if got, ok := m.Metadata[k]; !ok || !SameJSON(got, v) {
			return false
		}
	}
	return true
}

// Validate refuses values that no memory can have, naming the field. Servers call
// it on requests. A store does not: to a store such a value matches nothing.
func (f *Filter) Validate() error {
	for _, k := range f.Kinds {
		if err := k.Validate(); err != nil {
			return err
		}
	}
	for i, t := range f.Topics {
		if err := validateName(fmt.Sprintf("topics[%d]", i), t); err != nil {
			return err
		}
	}
	if err := f.State.Validate(); err != nil {
		return err
	}
	if f.SessionID != "" {
		if err := ValidateID("session", f.SessionID); err != nil {
			return err
		}
	}
	if err := f.Metadata.Validate(); err != nil {
		return err
	}
	return ValidateWhere(f.Where)
}
