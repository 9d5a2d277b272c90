package memory

import (
	"context"
	"time"
)

// Counts are how many live memories a scope has. Each memory is in one of them at most:
// hidden ones count as Quarantined or not at all; see State.
type Counts struct {
	Facts       int // that are current
	Superseded  int // facts and values of profiles that are not: a list has them with History
	Turns       int // those of which a fact was forgotten too
	Values      int // of profiles, current ones
	Quarantined int // of any kind
}

// Add counts n memories of one kind and state. current says that they pass the zero Filter,
// but for their state.
func (c *Counts) Add(n int, kind Kind, state State, current bool) {
	switch {
	case state == Quarantined:
		c.Quarantined += n
	case state.Hidden():
	case kind == KindTurn:
		c.Turns += n
	case !current:
		c.Superseded += n
	case kind == KindProfile:
		c.Values += n
	default:
		c.Facts += n
	}
}

// Count counts one live memory, as of now.
func (c *Counts) Count(m *Memory, now time.Time) {
	current := Filter{Hidden: true}
	c.Add(1, m.Kind, m.State, current.Match(m, now))
}

// Counter counts memories without reading them, so that it takes milliseconds where a list
// of them takes many pages.
type Counter interface {
	// Count counts the live memories of a scope. A memory that the store cannot read
	// counts as far as the store knows its fields.
	Count(ctx context.Context, scope Scope) (Counts, error)
}
