package memory

import (
	"context"
	"fmt"
	"time"
)

// Record is all that a store keeps of one memory, for moving it to another
// store.
type Record struct {
	Memory  Memory    `json:"memory"` // as it is now; of a deleted memory: as it last was
	Deleted bool      `json:"deleted,omitempty"`
	Terms   Terms     `json:"terms,omitempty"`
	Vector  []float32 `json:"vector,omitempty"`
	History []Step    `json:"history"` // oldest first, the current revision included
	// Removed is how many revisions are not in History, as they have expired.
	Removed int64 `json:"removed,omitzero"`
}

// Step is one revision of a Record.
type Step struct {
	Revision  int64     `json:"revision"`
	Action    Action    `json:"action"`
	Time      time.Time `json:"time"`
	Actor     string    `json:"actor"`
	Operation string    `json:"operation,omitempty"`
	Labels    Labels    `json:"labels,omitempty"`
	// ExpireTime is when the revision expires; zero is never.
	ExpireTime time.Time `json:"expireTime,omitzero"`
	Memory     Memory    `json:"memory"`
}

// Keep leaves the revisions in the history of r that a read at now shows, and counts the
// others as removed. It reports whether any are left.
func (r *Record) Keep(now time.Time) bool {
	r.History = Kept(r.History, now)
	r.Removed = r.Memory.Revision - int64(len(r.History))
	return len(r.History) > 0
}

// Validate reports the first rule that r breaks, for a store of vectors of
// dimension numbers.
func (r *Record) Validate(dimension int) error {
	if err := r.Memory.Validate(); err != nil {
		return err
	}
	if err := ValidateVector(r.Vector, dimension); err != nil {
		return fmt.Errorf("memory %q: %w", r.Memory.ID, err)
	}
	for word, n := range r.Terms {
		if word == "" || n < 1 {
			return fmt.Errorf("%w: memory %q has the word %.60q %d times", ErrInvalid, r.Memory.ID, word, n)
		}
	}
	if err := r.validateTimes(); err != nil {
		return fmt.Errorf("memory %q: %w", r.Memory.ID, err)
	}
	if err := r.validateHistory(); err != nil {
		return fmt.Errorf("memory %q: %w", r.Memory.ID, err)
	}
	return nil
}

// validateTimes checks the times that a store sets.
func (r *Record) validateTimes() error {
	if err := ValidateTime("createTime", r.Memory.CreateTime); err != nil {
		return err
	}
	return ValidateTime("updateTime", r.Memory.UpdateTime)
}

// validateHistory checks that the revisions are those of one memory, in order, as many
// as were not removed, and that the last one is the memory as it is.
func (r *Record) validateHistory() error {
	before := int64(0)
	for i := range r.History {
		st := &r.History[i]
		switch {
		case st.Revision <= before:
			return fmt.Errorf("%w: revision %d follows revision %d in its history", ErrInvalid, st.Revision, before)
		case r.Removed == 0 && st.Revision != before+1:
			return fmt.Errorf("%w: its history has no revision %d", ErrInvalid, before+1)
		}
		if before = st.Revision; before > r.Memory.Revision {
			break
		}
		if err := st.validate(&r.Memory); err != nil {
			return fmt.Errorf("revision %d: %w", st.Revision, err)
		}
	}
	n := len(r.History)
	if n == 0 || before != r.Memory.Revision {
		return fmt.Errorf("%w: it is at revision %d, but its history at %d", ErrInvalid, r.Memory.Revision, before)
	}
	if r.Removed < 0 || r.Removed+int64(n) != r.Memory.Revision {
		return fmt.Errorf("%w: it is at revision %d, and its history has %d, of which %d were removed",
			ErrInvalid, r.Memory.Revision, n, r.Removed)
	}
	if (r.History[n-1].Action == Deleted) != r.Deleted {
		return fmt.Errorf("%w: deleted is %t, and its last revision is %s",
			ErrInvalid, r.Deleted, r.History[n-1].Action)
	}
	return nil
}

// validate checks one revision of the memory m.
func (st *Step) validate(m *Memory) error {
	switch st.Action {
	case Created, Updated, Deleted:
	default:
		return fmt.Errorf("%w: there is no action %.60q", ErrInvalid, st.Action)
	}
	if err := ValidateTime("time", st.Time); err != nil {
		return err
	}
	if err := st.Memory.Validate(); err != nil {
		return err
	}
	if err := st.Labels.Validate("labels"); err != nil {
		return err
	}
	if err := validateExpiry(st.ExpireTime); err != nil {
		return err
	}
	if st.Memory.ID != m.ID || st.Memory.Scope != m.Scope {
		return fmt.Errorf("%w: it is of another memory", ErrInvalid)
	}
	return nil
}

// Archive moves memories from one store to another with all of their history.
// Both stores must be of one model.
type Archive interface {
	// Export calls yield with the records of all scopes, in any order, until
	// yield fails. Memories written while it runs may be left out, and so are revisions that
	// have expired; see Kept.
	Export(ctx context.Context, yield func(Record) error) error

	// Import stores records as they are, revisions and times included, and
	// returns how many it stored. A memory that is there already at the same
	// revision or a later one is left alone, so importing again does nothing.
	Import(ctx context.Context, records []Record) (stored int, err error)
}
