package sessionstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// SessionRecord is what there is of a session beside its events.
type SessionRecord struct {
	Key
	State          State // its own: not the user's and the app's
	LastUpdateTime time.Time
	Events         int64 // how many it has
	// The marks of ingestion, and how far the work between them has come.
	Requested, Done int64
	Failed          bool
	LastError       string
	Plan            json.RawMessage
	PlanTo          int64
	Ref             string // names it for Progress.Events; of no use elsewhere
}

// SharedState is the state that all sessions of a user see, without prefix, or of
// all users of an app where User is empty.
type SharedState struct {
	memory.Scope
	State State
}

// Archive is how sessions move from one store to another. Operations do not:
// what was asked for is in the marks.
type Archive interface {
	// Export gives all sessions, of each app those made first first, and all
	// shared state, until a yield fails. It fails if a deleted session's
	// memories are still to be made, as nothing would name it elsewhere.
	Export(ctx context.Context, session func(SessionRecord) error, shared func(SharedState) error) error

	// Restore gives a session, whose events have been appended in their order,
	// the rest of what it was, unless it has more events than that: then it has
	// gone on since. Its marks only move forward. ErrNotFound if it is missing.
	Restore(ctx context.Context, a SessionRecord) error

	// RestoreShared sets those keys of shared state that are not there yet.
	RestoreShared(ctx context.Context, s SharedState) error
}

// UnfinishedDeleted is the error of an Export that would leave work of deleted
// sessions behind.
func UnfinishedDeleted(n int) error {
	return fmt.Errorf("%w: %d deleted sessions wait for their memories: start memoryd until those are made, then export", memory.ErrUnavailable, n)
}
