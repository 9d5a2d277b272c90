package memory

import (
	"cmp"
	"fmt"
	"slices"
)

// Trust says whose words a memory rests on. An agent acts for the user alone, so that a
// document or a tool that it reads is trusted less than the user and the agent.
type Trust string

// The sources, from the most trusted to the least. The empty Trust is that of memories
// which were stored before there were others; it ranks as TrustUser.
const (
	TrustUser     Trust = "user"     // the user's own words, or a fact that a client states
	TrustAgent    Trust = "agent"    // what the agent said
	TrustTool     Trust = "tool"     // what a tool of the agent answered
	TrustExternal Trust = "external" // a document, an e-mail, a web page: anybody may have written it
)

// trusts are the sources in order.
var trusts = []Trust{TrustUser, TrustAgent, TrustTool, TrustExternal}

// Validate accepts the four sources, and the empty one.
func (t Trust) Validate() error {
	if t != "" && !slices.Contains(trusts, t) {
		return fmt.Errorf("%w: trust %.40q is none of %q, %q, %q and %q", ErrInvalid, t,
			TrustUser, TrustAgent, TrustTool, TrustExternal)
	}
	return nil
}

// Source returns t, and TrustUser for the empty one.
func (t Trust) Source() Trust { return cmp.Or(t, TrustUser) }

// Below reports whether t is trusted less than o.
func (t Trust) Below(o Trust) bool {
	return slices.Index(trusts, t.Source()) > slices.Index(trusts, o.Source())
}

// Least returns the least trusted of some sources. It is the trust of a text that rests
// on all of them.
func (t Trust) Least(others ...Trust) Trust {
	for _, o := range others {
		if o.Below(t) {
			t = o
		}
	}
	return t
}

// State says whether a memory was held back, and what the review of it decided.
type State string

// The states. The empty state is that of a memory that was never held back.
const (
	// Quarantined is a memory whose text tries to instruct the agent. It waits for a
	// review, and is hidden until then.
	Quarantined State = "quarantined"
	// Approved is a memory that was quarantined, and that a review let pass.
	Approved State = "approved"
	// Rejected is a memory that a review keeps hidden.
	Rejected State = "rejected"
)

// Validate accepts the three states, and the empty one.
func (s State) Validate() error {
	if s != "" && !slices.Contains([]State{Quarantined, Approved, Rejected}, s) {
		return fmt.Errorf("%w: state %.40q is none of %q, %q and %q", ErrInvalid, s, Quarantined, Approved, Rejected)
	}
	return nil
}

// Hidden reports whether memories of the state are in no search, and in no list that
// does not ask for them.
func (s State) Hidden() bool { return s == Quarantined || s == Rejected }

// MaxReason bounds Memory.Reason, in bytes.
const MaxReason = 256
