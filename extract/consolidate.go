package extract

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Comparison is new facts beside what is known already in their scope. Both are
// referred to by place: Known first, then New.
type Comparison struct {
	Known []memory.Memory // facts near the new ones, those that hold no more included
	New   []New           // in the order in which they were said
}

// New is a fact that may become a memory.
type New struct {
	Text      string
	Author    string
	Timestamp time.Time
	Forget    bool // see Fact
}

// Consolidated is what becomes of each new fact.
type Consolidated struct {
	Verdicts []Verdict // one for each of New, in order
	Cost
}

// Action is what a new fact does to what is known.
type Action string

const (
	Create  Action = "CREATE"  // it is new
	Update  Action = "UPDATE"  // it adds to a known one: both become one
	Delete  Action = "DELETE"  // it only takes back what is known
	Nothing Action = "NOTHING" // it is known
)

// Verdict is what becomes of one new fact.
type Verdict struct {
	Action Action
	// Same is the place of what says the same, or what Update adds to; -1 is
	// none.
	Same int
	Text string // of Update: what both say together
	// Against are the places of what cannot hold at the same time, and of what
	// Delete takes back.
	Against []int
	Reason  string
}

// Forgotten gives the gists of what a text asks to be forgotten; see Forgets.
func Forgotten(text string) (out []string) {
	if !mayForget(text) {
		return nil
	}
	for _, s := range sentencesOf(text) {
		if what, ok := Forgets(s); ok {
			out = append(out, what)
		}
	}
	return out
}

// ToForget is the gist of what the text of a Fact with Forget asks to be
// forgotten: the rules give the request itself, a model the statement.
func ToForget(text string) string {
	if what, ok := Forgets(text); ok {
		return what
	}
	return Gist(text)
}
