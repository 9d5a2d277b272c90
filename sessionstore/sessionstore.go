// Package sessionstore holds the nouns of sessions and the promises of the
// store that keeps them: [Session], [Event], [State], [Store], and the
// progress of turning sessions into memories: [Progress], [Operation].
//
// The semantics are those of ADK's SessionService. Package sessiontest spells
// them out as cases that every implementation passes.
package sessionstore

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Key names a session.
type Key struct {
	memory.Scope
	ID string
}

// Validate reports the first of the three ids that is not a valid id.
func (k Key) Validate() error {
	if err := k.Scope.Validate(); err != nil {
		return err
	}
	return memory.ValidateID("session", k.ID)
}

// Session is a conversation and its state.
type Session struct {
	Key
	State          State   // the merged view: the session's, the user's and the app's
	Events         []Event // in order of timestamp, then of arrival
	LastUpdateTime time.Time
}

// Create says what a new session starts with.
type Create struct {
	State  State
	Events []Event // stored as Append does
}

// Get says which of a session's events to read: the last NumRecent of them,
// and of those the ones not before After.
type Get struct {
	NumRecent int // negative: all
	After     time.Time
}

// AfterMicros is After in microseconds since 1970, rounded up, as no event has a
// time between two microseconds. It is before any event if After is zero.
func (g Get) AfterMicros() int64 {
	if g.After.IsZero() {
		return minMicros
	}
	return g.After.Add(time.Microsecond - 1).UnixMicro()
}

// Page is one page of sessions, without events, newest created first.
type Page struct {
	Sessions      []Session
	NextPageToken string // "" on the last page
}

// Store keeps sessions. All methods may be called concurrently. What a method
// has answered is durable. A store that is away fails with ErrUnavailable.
type Store interface {
	// Create makes a session. Space around key.ID is trimmed; a blank one is
	// replaced by a UUID. ErrExists if the id is in use.
	Create(ctx context.Context, key Key, create Create) (*Session, error)

	// Get reads a session; ErrNotFound if there is none of that id in that
	// scope. Reading the last n events costs O(n) in a session of any length.
	Get(ctx context.Context, key Key, get Get) (*Session, error)

	// List reads the sessions of a user.
	List(ctx context.Context, scope memory.Scope, list List) (Page, error)

	// ListApp reads the sessions of all users of an app: the one read across
	// users.
	ListApp(ctx context.Context, app string, list List) (Page, error)

	// Append stores events in order. Events, state and what Append asks for
	// change together or not at all, and appends to one session come one after
	// another: none is refused for being second. An event without an id or
	// timestamp gets them; one whose id the session has is not stored again,
	// nor its state applied; a partial one is not stored. "temp:" state is
	// dropped. LastUpdateTime becomes the timestamp of the last event stored.
	// The cost does not depend on the length of the session. ErrNotFound if
	// the session is missing (and append.Create is not set).
	Append(ctx context.Context, key Key, events []Event, append Append) (Appended, error)

	// Delete removes a session, not the user's and the app's state. A missing
	// one is no error. It is hidden at once, and its id is free again; its
	// events stay until the memories asked for are made.
	Delete(ctx context.Context, key Key) error
}
