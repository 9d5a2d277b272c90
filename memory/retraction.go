package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits on Memory.Retracted.
const (
	MaxRetracted     = 50   // facts of one turn
	MaxRetractedFact = 2000 // bytes of each
)

// Retraction is a fact that a turn told and that the rollback of an operation took back. It
// has the words of the fact, and not its id: they are words of the turn, and go with it.
type Retraction struct {
	Fact string    `json:"fact"`
	Time time.Time `json:"time"` // of the rollback
}

func (r Retraction) same(o Retraction) bool { return r.Fact == o.Fact && r.Time.Equal(o.Time) }

// Retract notes that a fact of m was taken back. It changes nothing if m says so already,
// or has no room for more.
func (m *Memory) Retract(fact string, at time.Time) {
	fact = Cut(fact, MaxRetractedFact)
	if m.retracted(fact) < 0 && len(m.Retracted) < MaxRetracted {
		m.Retracted = append(m.Retracted, Retraction{fact, at})
		slices.SortFunc(m.Retracted, func(a, b Retraction) int { return strings.Compare(a.Fact, b.Fact) })
	}
}

// Restore takes back that a fact of m was taken back.
func (m *Memory) Restore(fact string) {
	if i := m.retracted(Cut(fact, MaxRetractedFact)); i >= 0 {
		m.Retracted = slices.Delete(slices.Clone(m.Retracted), i, i+1)
	}
	if len(m.Retracted) == 0 {
		m.Retracted = nil
	}
}

// retracted returns the place of a fact in m.Retracted; -1 for none.
func (m *Memory) retracted(fact string) int {
	return slices.IndexFunc(m.Retracted, func(r Retraction) bool { return r.Fact == fact })
}

func (m *Memory) validateRetracted() error {
	if len(m.Retracted) > MaxRetracted {
		return fmt.Errorf("%w: retracted: %d of them, more than %d", ErrInvalid, len(m.Retracted), MaxRetracted)
	}
	for i, r := range m.Retracted {
		if r.Fact == "" || len(r.Fact) > MaxRetractedFact || !utf8.ValidString(r.Fact) {
			return fmt.Errorf("%w: retracted[%d].fact is not UTF-8 of 1 to %d bytes", ErrInvalid, i, MaxRetractedFact)
		}
		if err := ValidateTime(fmt.Sprintf("retracted[%d].time", i), r.Time); err != nil {
			return err
		}
	}
	return nil
}
