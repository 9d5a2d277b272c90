package sessionstore

import (
	"encoding/json"
	"strings"
)

// State is keys to JSON values, byte for byte as they came. A key's prefix
// says whose it is: "app:" the app's, "user:" the user's in that app, "temp:"
// this invocation's only, none the session's. A null is a value like others.
type State map[string]json.RawMessage

// The prefixes of state keys.
const (
	AppPrefix  = "app:"
	UserPrefix = "user:"
	TempPrefix = "temp:"
)

// SplitState is a State taken apart by owner; keys of App and User are without
// their prefix. What was "temp:" is gone.
type SplitState struct {
	App, User, Session State
}

// Split takes s apart by prefix.
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

// Merge is the inverse of Split: one view, keys with their prefix.
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
