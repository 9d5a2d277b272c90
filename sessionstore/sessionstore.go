// Package sessionstore has the nouns of sessions, [Session], [Event] and [State],
// and the promises of the [Store] that keeps them. [Progress] and [Operation] are
// about the progress of turning sessions into memories.
//
// The semantics are those of ADK's SessionService. Package sessiontest has a test
// case for each promise, and every implementation passes them. The rules that
// stores share are functions here: [Prepare], [List.Pager], [StoredOperation].
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

// Validate returns ErrInvalid for the first of the three ids that is invalid.
func (k Key) Validate() error {
	if err := k.Scope.Validate(); err != nil {
		return err
	}
	return memory.ValidateID("session", k.ID)
}

// Session is a conversation and its state.
type Session struct {
	Key
	Details
	CreateTime     time.Time // of sessions of early versions: the time of their first event
	State          State     // the merged view: the session's, the user's and the app's
	Events         []Event   // in order of timestamp, then of arrival
	LastUpdateTime time.Time // of the last event that was stored, or of an Update without events
	NextPageToken  string    // of Get: "" if no events follow
}

// Create has the details, the state and the events of a new session.
type Create struct {
	Details
	State  State
	Events []Event // stored as by Append
	// NoState leaves the State of the answer nil: that is the merged view, which may
	// be much larger than what was given.
	NoState bool
	// UniqueInApp refuses an id that a session of another user of the app has. Of creates
	// with it that run at the same time, one succeeds. A Create without it, and an Append
	// that makes a session, look at the sessions of their own user alone.
	UniqueInApp bool
}

// Get selects the events of a session to read: of the last NumRecent by
// timestamp, those that are not before After. It asks for one page of them.
type Get struct {
	NumRecent int // negative: all
	After     time.Time

	// PageSize is how many events the page has at most; 0 is MaxPageEvents.
	PageSize int
	// PageToken is "" for the first page, else the NextPageToken of the page
	// before, and then NumRecent and After are those of the first page.
	PageToken string
	// NoState leaves State nil.
	NoState bool
	// Room is how many bytes of state and events the caller has room for; 0 is
	// any number. If the state and one event have more, Get fails with NoRoom.
	Room int64
}

// AfterMicros is After in microseconds since 1970, rounded up, as no event has a
// time between two microseconds. It is before any event if After is zero.
func (g Get) AfterMicros() int64 {
	if g.After.IsZero() {
		return minMicros
	}
	return g.After.Add(time.Microsecond - 1).UnixMicro()
}

// Page is one page of sessions, without events, newest created first. Sessions may
// share the values of their states.
type Page struct {
	Sessions      []Session
	NextPageToken string // "" on the last page
}

// Store keeps sessions. All methods may be called concurrently. A write is durable
// when its method returns. While the store cannot be reached, every method fails
// with ErrUnavailable. To every method a session that has expired is like one that was
// deleted; see [Expirer].
type Store interface {
	// Create makes a session. It trims space around key.ID, and replaces a blank
	// id by a UUID. ErrExists if the id is in use; see Create.UniqueInApp. ErrInvalid if the details break a rule,
	// or if the session would have expired already; see [Details.Prepare]. If the user has
	// as many sessions as the store allows, the error is ErrExhausted; see
	// [TooManySessions] and [Aside]. The same holds for an Append that would make one.
	Create(ctx context.Context, key Key, create Create) (*Session, error)

	// Get reads a session with a page of its events; ErrNotFound if the scope has
	// none of that id. Reading the last n events costs O(n), however long the session
	// is. A page ends after PageSize events, or before an event with which it would
	// have more than PageBytes; it has one event at least, if one is left.
	//
	// All pages show the events that the session had when the first was read. After
	// a deletion, the next page is either whole or ErrNotFound.
	Get(ctx context.Context, key Key, get Get) (*Session, error)

	// List reads the sessions of a user. A page ends after PageSize sessions, or
	// before a session with which it would have more than List.Room or MaxListBytes;
	// it has one session at least, if one is left.
	List(ctx context.Context, scope memory.Scope, list List) (Page, error)

	// ListApp reads the sessions of all users of an app.
	ListApp(ctx context.Context, app string, list List) (Page, error)

	// Find returns the keys of the sessions of an id, of all users of an app: none, one, or
	// up to MaxFound, by user. ListApp and Find alone read across users.
	Find(ctx context.Context, app, id string) ([]Key, error)

	// State reads the state of a user and that of the app, keys with their prefix: what
	// each session of the user shows beside its own. It is empty if there is none; a user
	// who is unknown has the state of the app. room is how many bytes the caller has room
	// for, 0 is any number; if there are more, State fails with NoRoom.
	State(ctx context.Context, scope memory.Scope, room int64) (State, error)

	// Append stores events in order. Events, state and the request change together
	// or not at all. Concurrent appends to one session happen one after another:
	// none fails because of another.
	//
	// ErrInvalid, and nothing is stored, if the state of the session, of the user or
	// of the app would grow beyond the store's limit; see [CheckState]. State that is
	// beyond it already can be read, and can shrink.
	//
	// An event without an id or timestamp gets them. An event whose id the session
	// has is not stored again, nor is its state applied. A partial event is not
	// stored, and "temp:" state is dropped. LastUpdateTime becomes the timestamp of
	// the last event stored. The cost does not depend on the length of the session.
	//
	// ErrNotFound if the session is missing and append.Create is not set.
	// ErrInvalid if append contradicts itself: see [Append.Validate].
	Append(ctx context.Context, key Key, events []Event, append Append) (Appended, error)

	// Update changes the details of a session, and stores the events of the patch as
	// Append does, in one step: all of it or nothing. Without an event that is stored,
	// LastUpdateTime becomes the present. ErrNotFound if the session is missing, and
	// ErrInvalid if the patch breaks a rule; see [Patch.Prepare].
	Update(ctx context.Context, key Key, patch Patch) error

	// Delete removes a session, and leaves the user's and the app's state. A missing
	// session is no error. The session is hidden at once, and its id is free again;
	// its events stay until the requested memories are made. Those that wait for a trigger
	// are requested.
	Delete(ctx context.Context, key Key) error
}
