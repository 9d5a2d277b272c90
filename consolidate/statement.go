package consolidate

import (
	"cmp"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// Forms has the forms of facts by their text, as reading a form takes a while.
type Forms map[string]*canonical.Form

// Of returns the form of a fact.
func (f Forms) Of(fact string) *canonical.Form {
	if f[fact] == nil {
		form := canonical.Of(fact)
		f[fact] = &form
	}
	return f[fact]
}

// statement is a fact on the timeline.
type statement struct {
	now  memory.Memory
	form *canonical.Form
	to   time.Time // when it ceased to hold; zero if it holds
	by   string    // ID of the memory that superseded it
}

// isRepetition is Repetition of the statement with its new end.
func (s *statement) isRepetition() bool { return s.by != "" && s.to.Equal(s.now.HoldsFrom()) }

// bySaying orders statements by when they were said, and by ID.
func bySaying(a, b *statement) int {
	return cmp.Or(Chronological(&a.now, &b.now), cmp.Compare(a.now.ID, b.now.ID))
}

// Chronological compares memories by when they were said, as far as their clocks
// can be believed; see memory.SaidAt. It orders memories of the same time by what
// their clocks said, and then by event and session, so that the order in which sessions arrive
// does not count. Facts of one event are equal.
func Chronological(a, b *memory.Memory) int {
	return cmp.Or(
		a.SaidAt().Compare(b.SaidAt()),
		a.Timestamp.Compare(b.Timestamp),
		cmp.Compare(firstEvent(a), firstEvent(b)),
		cmp.Compare(a.Source.SessionID, b.Source.SessionID),
	)
}

func firstEvent(m *memory.Memory) string {
	if len(m.Source.EventIDs) == 0 {
		return ""
	}
	return m.Source.EventIDs[0]
}

// Repetition is memory.Repeats.
func Repetition(m *memory.Memory) bool { return m.Repeats() }

// FromClient reports whether the text of a fact is a client's, who gave it or
// edited it.
func FromClient(m *memory.Memory) bool { return len(m.Source.EventIDs) == 0 || m.Edited }

// Chosen reports whether a client gave a fact, edited it or labelled it. Of facts
// that say the same such a one stands, as the others lack what the client did.
func Chosen(m *memory.Memory) bool { return FromClient(m) || m.Labelled }

// sameAuthor reports whether two memories are of one author. A fact that a
// client gave has no author, and is taken for anyone's.
func sameAuthor(a, b *memory.Memory) bool {
	return a.Author == b.Author || a.Author == "" || b.Author == ""
}

// EndOf is when one memory ends an earlier one: when the later one begins to hold,
// and at least a microsecond, the resolution of times, after the earlier one does.
// A memory that ends when it begins to hold would be a repetition. One that is
// dated in the future and taken back before that ends so, and never holds.
func EndOf(earlier, later *memory.Memory) time.Time {
	from, to := earlier.HoldsFrom(), later.HoldsFrom()
	if !to.After(from) {
		return from.Add(time.Microsecond)
	}
	return to
}

// isFuture reports whether a fact begins to hold later than it was said.
func isFuture(m *memory.Memory) bool { return m.HoldsFrom().After(m.SaidAt()) }
