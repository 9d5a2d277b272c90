package sessionstore

import (
	"encoding/json"
	"strings"
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
