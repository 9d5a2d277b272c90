package sessionstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// SessionRecord is a session to export or restore, without its events.
type SessionRecord struct {
	Key
	State          State // its own, without the user's and the app's
	LastUpdateTime time.Time
	Events         int64 // how many it has
	// The positions of ingestion, and the state of the work between them.
	Requested, Done int64
	Failed          bool
	LastError       string
	Plan            json.RawMessage
	PlanTo          int64
	Ref             string // for Progress.Events of the store that exported it
}

// SharedState is the state that all sessions of a user see, without prefix, or
// that of all users of an app if User is empty.
type SharedState struct {
	memory.Scope
	State State
}

// Archive moves sessions from one store to another. Operations are not moved: the
// positions of a session say which memories were requested.
type Archive interface {
	// Export yields all shared state and then all sessions, of each app in the
	// order of their making, until a yield fails. It fails if a deleted or one-shot
	// session has work left: an export does not have such sessions.
	Export(ctx context.Context, session func(SessionRecord) error, shared func(SharedState) error) error

	// Restore sets the state and the positions of a session whose events have been
	// appended in their order. It changes nothing if the session has more events
	// than r, as it has gone on since. Positions only move forward. ErrNotFound if
	// the session is missing.
	Restore(ctx context.Context, r SessionRecord) error

	// RestoreShared sets the keys of shared state that are not set yet.
	RestoreShared(ctx context.Context, s SharedState) error
}

// UnfinishedDeleted is the error of an Export while n deleted sessions have work
// left.
func UnfinishedDeleted(n int) error {
	return fmt.Errorf("%w: %d deleted sessions wait for their memories: start memoryd until those are made, "+
		"then export", memory.ErrUnavailable, n)
}
