package memory

import (
	"context"
	"fmt"
)

// Terms are the analyzed words of a memory and how often each occurs.
type Terms map[string]int

// Length is the number of words, repetitions counted.
func (t Terms) Length() int {
	n := 0
	for _, f := range t {
		n += f
	}
	return n
}

// Query asks a store for candidates. A store finds and measures. Ranking the
// two lists against each other is the work of package retrieve, so that every
// backend ranks alike.
type Query struct {
	Filter
	// Terms are the distinct analyzed words of the question. The lexical list
	// holds the Limit best memories by LexicalScore among those that have one.
	Terms []string
	// Vector is the question's embedding of unit length, or nil for none. It has
	// the store's dimension. The dense list holds the Limit best memories by
	// cosine, above 0.
	Vector []float32
	Limit  int
	// Cited adds the turns that facts of the lists cite, as if they were hits
	// themselves.
	Cited bool
	// Context is how many turns before and after each turn found are added.
	Context int
	// Sessions asks for Stats.Sessions and Stats.SessionCount.
	Sessions bool
	// Succession asks for Found.Succession.
	Succession bool
	// CountHidden asks for Stats.Hidden.
	CountHidden bool
	// Bytes asks for Stats.Bytes and Stats.Hidden.
	Bytes bool
}

// PreparedSearch is Store.Search in one scope, after Store.PrepareSearch.
type PreparedSearch func(ctx context.Context, q Query) (Found, error)

// ValidateVector refuses a vector that a store of vectors of dimension numbers
// cannot compare. No vector is fine.
func ValidateVector(v []float32, dimension int) error {
	if v != nil && len(v) != dimension {
		return fmt.Errorf("%w: vector has %d numbers, not %d", ErrInvalid, len(v), dimension)
	}
	return nil
}

// Candidate is one memory and what it has in common with the query.
type Candidate struct {
	Memory *Memory // the store's own: a caller does not change it, and hands on a Clone
	Freqs  []int   // how often each of Query.Terms occurs in it
	Length int     // Terms.Length
	Cosine float64 // with Query.Vector, -1 to 1; 0 where either has none
	Match  bool    // it passes the filter, which context need not
}

// Stats are of all live memories of the scope that are not hidden, whatever the filter.
type Stats struct {
	Docs int   // how many
	DF   []int // how many have each of Query.Terms
	// Sessions are those with a turn that has any of Query.Terms, each once and in no
	// order. Nil unless Query.Sessions asks for them. A large scope has tens of thousands
	// of them, of which a caller needs a few, so that they are in no map.
	Sessions []SessionStats
	// SessionCount is how many sessions have turns, if Query.Sessions asks for
	// it.
	SessionCount int
	// Hidden is how many live memories are hidden beside those, see State.Hidden, if
	// Query.CountHidden or Query.Bytes asks for it.
	Hidden int
	// Bytes is the sum of Memory.Bytes, of hidden memories too, if Query.Bytes asks for it:
	// they take room as others do.
	Bytes int64
}

// SessionStats are of the live turns of one session.
type SessionStats struct {
	ID    string
	Turns int   // how many
	DF    []int // how many have each of Query.Terms
}

// Found is the answer to a Query: the union of the lexical and the dense list,
// with the cited turns and the context that were asked for, as runs. A run is
// either one fact or consecutive turns of one session in order of (Timestamp,
// event id). Runs are disjoint: a turn's context that includes another run's
// turn puts both into one run. All memories in a run are live, and none is hidden. The order of
// runs means nothing. Without Filter.History no run has a turn of which a fact was
// forgotten, and its neighbours are neighbours of each other.
type Found struct {
	Stats Stats
	Runs  [][]Candidate
	// Succession tells what of the question's matter no longer holds, and what took
	// its place. It has, in no order, those live memories that are in no run and are
	//   - keys: of the facts that have ended, whatever else the filter asks for except
	//     AsOf, the Limit best by words and the Limit best by meaning;
	//   - facts that depart from a turn in Runs that they cite; see Memory.Departs;
	//   - successors: what superseded these, what superseded that, and so on, up to
	//     MaxSuccession steps on, each only if the memory before it has ended;
	//   - where Filter.Kinds leaves facts out, the turns that those of all these facts
	//     cite which have not ended.
	// A store may leave out facts that depart beyond the first thousand.
	Succession []Candidate
}
