package sessionstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Work is a session with events to be made into memories: those numbered
// Done+1 to Requested. It is claimed: until the lease on its scope ends nobody
// else works in that scope.
type Work struct {
	Key       Key    // of the session that the events are of
	Ref       string // names this life of the session, which may be hidden, deleted or replaced meanwhile
	Done      int64
	Requested int64
	Attempts  int     // begun since the last success, this one included
	Request   Request // the oldest that waits for it; zero after Rebind or Restore, if none does
	Rewinds   bool    // the session has an event that takes others back
	// Plan is the stored list of changes for the events Done+1 to PlanTo, if
	// an earlier attempt got that far.
	Plan   json.RawMessage
	PlanTo int64
}

// NumberedEvent is an event and its sequence number in its session, from 1 in order
// of arrival.
type NumberedEvent struct {
	Seq int64
	Event
}

// Change is a part of Finish's result: what the event Seq changed.
type Change struct {
	Seq int64
	Doc json.RawMessage
}

// Progress is how ingestion knows what to do, and how far it is. A session has
// two marks, requested and done; the work list is the sessions where requested
// is ahead. All of it survives a crash.
type Progress interface {
	// Bind ties the done marks to the memory store they speak of, by its ID. The
	// first call does; every call gives the ID that they are tied to.
	Bind(ctx context.Context, memories string) (bound string, err error)

	// Rebind ties the done marks to another memory store, which has none of what
	// they speak of, and moves them back to where nothing was done: all events
	// that memories were asked for, of all sessions that are kept, are work
	// again. It gives the number of those sessions. Where it fails in between it
	// can be called again.
	Rebind(ctx context.Context, memories string) (sessions int, err error)

	// Claim takes up to limit pieces of work that are due, at most one in a scope,
	// and leases their scopes to owner for ttl. Apps take turns: of those with
	// the fewest scopes leased it takes the one that waits longest, so that an
	// app with much to do does not hold up the others. It counts an attempt on each, and on its operations if they had none
	// or it is tried again.
	Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]Work, error)

	// Renew extends owner's lease on a scope; ErrAborted if it is owner's no
	// more.
	Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error

	// Events reads up to limit of the session's events numbered above after,
	// in order of number, even of a deleted session.
	Events(ctx context.Context, work Work, after int64, limit int) ([]NumberedEvent, error)

	// Save stores the plan for the events up to and including to. ErrAborted if
	// the work was claimed again since: its lease had run out.
	Save(ctx context.Context, work Work, to int64, plan json.RawMessage) error

	// Finish moves done from work.Done to to, records the changes for the
	// operations that asked, drops the plan and ends the lease. ErrAborted if
	// done is not work.Done or the work was claimed again since.
	Finish(ctx context.Context, work Work, to int64, changes []Change) error

	// Fail records why an attempt failed and ends the lease. The work is due
	// again at retry; never, if retry is zero, unless asked for anew. ErrAborted
	// if the work was claimed again since: its lease had run out.
	Fail(ctx context.Context, work Work, cause string, retry time.Time) error
}

// Operations reads what was asked for.
type Operations interface {
	// Operation reads one; ErrNotFound if it is unknown or OperationTTL is over.
	Operation(ctx context.Context, scope memory.Scope, id string) (*Operation, error)

	// Operations reads a page of a scope's operations, newest first, without
	// their changes.
	Operations(ctx context.Context, scope memory.Scope, list List) ([]Operation, string, error)

	// Retry makes the work of an operation due at once that has failed, or waits
	// to be tried again; for any other it does nothing.
	Retry(ctx context.Context, scope memory.Scope, id string) (*Operation, error)
}
