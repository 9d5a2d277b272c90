package extract

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Comparison holds new facts and the known facts of their scope that are near
// them. Verdicts refer to both by index: Known first, then New.
type Comparison struct {
	Known []memory.Memory // includes facts that are no longer valid
	New   []NewFact       // in the order in which they were said
	// Policy says how the app wants facts; nil is the zero Policy.
	Policy *Policy
}

// NewFact is a fact that may become a memory.
type NewFact struct {
	Text      string
	Author    string
	Timestamp time.Time // in the location of the speaker
	Forget    bool      // see Fact
}

// Consolidated is the result of a comparison.
type Consolidated struct {
	Verdicts []Verdict // one for each of New, in order
	Cost
}

// Action names what a new fact changes.
type Action string

// The actions of a verdict.
const (
	Create  Action = "CREATE"  // the fact is new
	Update  Action = "UPDATE"  // the fact adds to a known one; both become one memory
	Delete  Action = "DELETE"  // the fact is a request to forget known ones
	Nothing Action = "NOTHING" // the fact is known already
)

// Verdict says what becomes of one new fact.
type Verdict struct {
	Action Action
	// Same is the index of the fact that Nothing repeats or that Update extends;
	// -1 for other actions.
	Same int
	Text string // of Update: one statement that says what both say
	// Against holds the indexes of the facts that cannot be valid together with
	// this one, and of those that Delete asks to forget.
	Against []int
	Reason  string
}

// CreateAll is the verdict without a comparison: every fact is new, and a
// request to forget deletes nothing but what the rules find.
func CreateAll(c Comparison) []Verdict {
	out := make([]Verdict, len(c.New))
	for i := range out {
		out[i] = Verdict{Action: Create, Same: -1}
		if c.New[i].Forget {
			out[i].Action = Delete
		}
	}
	return out
}
