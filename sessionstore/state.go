package sessionstore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// State maps keys to JSON values, byte for byte as they came. A key's prefix says
// what owns it: "app:" the app, "user:" the user in that app, "temp:" this
// invocation only, no prefix the session. A null is a value like others.
type State map[string]json.RawMessage

// The prefixes of state keys.
const (
	AppPrefix  = "app:"
	UserPrefix = "user:"
	TempPrefix = "temp:"
)

// SplitState is a State split by owner. Keys of App and User are without their
// prefix, and "temp:" keys are left out.
type SplitState struct {
	App, User, Session State
}

// Split splits s by prefix.
func (s State) Split() SplitState {
	out := SplitState{App: State{}, User: State{}, Session: State{}}
	for k, v := range s {
		if name, ok := strings.CutPrefix(k, AppPrefix); ok {
			out.App[name] = v
		} else if name, ok := strings.CutPrefix(k, UserPrefix); ok {
			out.User[name] = v
		} else if !strings.HasPrefix(k, TempPrefix) {
			out.Session[k] = v
		}
	}
	return out
}

// Merge is the inverse of Split: one view of all owners, keys with their prefix.
func (p SplitState) Merge() State {
	out := make(State, len(p.App)+len(p.User)+len(p.Session))
	for k, v := range p.Session {
		out[k] = v
	}
	for k, v := range p.User {
		out[UserPrefix+k] = v
	}
	for k, v := range p.App {
		out[AppPrefix+k] = v
	}
	return out
}

// DefaultMaxState is the default of a store's limit on state, in bytes.
const DefaultMaxState = 16 << 20

// StateKeyBytes is what a key of state counts beside its name and its value: about
// what an entry takes in memory.
const StateKeyBytes = 64

// StateBytes is the size of a state of one owner, with keys as a store keeps them.
func StateBytes(s State) (n int64) {
	for k, v := range s {
		n += int64(len(k)+len(v)) + StateKeyBytes
	}
	return n
}

// CheckState returns ErrInvalid if a change makes the state of an owner ("session",
// "user" or "app") larger, and larger than max. before and after are its sizes as
// StateBytes counts them.
func CheckState(owner string, before, after, max int64) error {
	if after <= max || after <= before {
		return nil
	}
	return fmt.Errorf("%w: state: that of the %s would have %d bytes, more than %d (-max-state): "+
		"each key counts its name, its value and %d bytes", memory.ErrInvalid, owner, after, max, StateKeyBytes)
}

// CheckDelta returns ErrInvalid if one change sets more state of one owner than that
// may have; "temp:" is an owner too, although its state is not stored.
func CheckDelta(delta State, max int64) error {
	if StateBytes(delta) <= max {
		return nil
	}
	parts, temporary := delta.Split(), State{}
	for k, v := range delta {
		if name, ok := strings.CutPrefix(k, TempPrefix); ok {
			temporary[name] = v
		}
	}
	return cmp.Or(
		CheckState("session", 0, StateBytes(parts.Session), max),
		CheckState("user", 0, StateBytes(parts.User), max),
		CheckState("app", 0, StateBytes(parts.App), max),
		CheckState("invocation (temp:)", 0, StateBytes(temporary), max))
}
