package sessionstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Work is a claimed session with events to make memories of: those numbered Done+1
// to Requested. Until the lease on its scope ends, no other worker gets work in
// that scope.
type Work struct {
	Key       Key    // of the session that the events are of
	Ref       string // identifies this life of the session: a deleted one may have a successor of its id
	Done      int64
	Requested int64
	Attempts  int     // begun since the last success, this one included
	Request   Request // the oldest that waits for it; zero after Rebind or Restore, if none does
	// Asked tells which operation asked for which events first: those numbered up to Last
	// of the first entry, then those up to Last of the next one. It is empty if one
	// operation alone waits, and has MaxAsked entries at most.
	Asked   []Asked
	Rewinds bool // the session has an event that takes others back
	// Plan is the stored list of changes for the events Done+1 to PlanTo, if an
	// earlier attempt has saved one.
	Plan   json.RawMessage
	PlanTo int64
	// Overlap is that of the session's trigger, 0 without one.
	Overlap int
}

// MaxAsked bounds Work.Asked.
const MaxAsked = 1000

// Asked is an operation that waits for the memories of events.
type Asked struct {
	Operation string
	Last      int64 // the number of the last event that it asked for
}

// OperationOf returns the operation that was the first to ask for the event of a number;
// "" if none waits for it.
func (w *Work) OperationOf(seq int64) string {
	for _, a := range w.Asked {
		if seq <= a.Last {
			return a.Operation
		}
	}
	if len(w.Asked) > 0 {
		return w.Asked[len(w.Asked)-1].Operation
	}
	return w.Request.ID
}

// NumberedEvent is an event and its number in its session, from 1 in order of
// arrival.
type NumberedEvent struct {
	Seq int64
	Event
}

// Change is a change to memories that comes from the event Seq.
type Change struct {
	Seq int64
	Doc json.RawMessage
}

// Progress is the work list of ingestion. A session has two positions, requested
// and done, each the number of an event: sessions whose requested position is
// ahead are work. Events that wait for a trigger are not requested until a Claim finds
// them due. All of it survives a crash.
type Progress interface {
	// Bind records the memory store, by its ID, that the done positions refer to.
	// Only the first call records one; every call returns the recorded ID.
	Bind(ctx context.Context, memories string) (bound string, err error)

	// Rebind records another memory store, which has none of the memories, and
	// moves the done positions back to the start: all requested events of all
	// sessions, deleted ones with work left included, are work again. It returns
	// the number of those sessions. If it fails it can be called again.
	Rebind(ctx context.Context, memories string) (sessions int, err error)

	// Claim takes up to limit pieces of work that are due, at most one in a scope,
	// and leases their scopes to owner for ttl. Apps take turns: of the apps with
	// the fewest leased scopes, Claim takes the scope that has waited longest, so
	// that an app with much work does not delay the others. It counts an attempt
	// on each piece of work. Events whose trigger is due are requested first, and wait
	// since they are due. On the operations of the work it counts one if they
	// have none yet, or if this attempt follows a failed one.
	Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]Work, error)

	// Renew extends owner's lease on a scope; ErrAborted if owner no longer has it.
	Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error

	// Events reads up to limit of the session's events numbered above after, in
	// order of number. It ends before an event with which they would have more than
	// WalkBytes, and reads one at least, if one is left. The session may be deleted.
	Events(ctx context.Context, work Work, after int64, limit int) ([]NumberedEvent, error)

	// Save stores the plan for the events up to and including to. ErrAborted if
	// the work was claimed again since, after its lease ended.
	Save(ctx context.Context, work Work, to int64, plan json.RawMessage) error

	// Finish moves the done position from work.Done to to, records the changes for
	// the operations that requested them, drops the plan and ends the lease.
	// ErrAborted if the done position is not work.Done, or if the work was claimed
	// again since.
	Finish(ctx context.Context, work Work, to int64, changes []Change) error

	// Fail records why an attempt failed and ends the lease. The work is due again
	// at retry. If retry is zero the work is given up until the next request or
	// Retry. ErrAborted if the work was claimed again since.
	Fail(ctx context.Context, work Work, cause string, retry time.Time) error
}

// Operations reads the operations of requests.
type Operations interface {
	// Status reads one; ErrNotFound if it is unknown, or if it ended longer than
	// OperationTTL ago.
	Status(ctx context.Context, scope memory.Scope, id string) (*Operation, error)

	// Changes reads a page of the changes of an operation, byte for byte as Finish
	// was given them, in order of their events and then as they were given. after is
	// zero for the first page, else the next that came with the page before; next is
	// zero if no changes follow. A page ends after MaxPageChanges, or before a change
	// with which it would have more than PageBytes; it has one at least, if one is
	// left. The cost of a page does not grow with the number of changes. The error is
	// that of Status.
	Changes(ctx context.Context, scope memory.Scope, id string, after ChangePosition) (
		page []json.RawMessage, next ChangePosition, err error)

	// Operations reads a page of a scope's operations, newest first.
	Operations(ctx context.Context, scope memory.Scope, list List) ([]Operation, string, error)

	// AppOperations reads a page of the operations of all users of an app, newest first.
	// The cost of a page does not grow with their number.
	AppOperations(ctx context.Context, app string, list OperationList) ([]Operation, string, error)

	// Retry makes the work of an operation that has failed, or that waits to be
	// tried again or for a trigger, due at once. For any other operation it does nothing.
	Retry(ctx context.Context, scope memory.Scope, id string) (*Operation, error)

	// Subscribe has changed called whenever a call of this store may have changed
	// how operations of the scope stand, until cancel. A read sees the change by
	// then. session is the id in the operations' Key; "" means any. changed must
	// not block, and not call the store. all reports that nothing else changes
	// them: the data belongs to this process. Otherwise other processes may, and
	// changed is not called for that.
	Subscribe(scope memory.Scope, changed func(session string)) (all bool, cancel func())

	// Backlog tells how much work waits. Its cost does not grow with sessions and
	// operations, at most with the scopes that have work, so that it can be read
	// every few seconds.
	Backlog(ctx context.Context) (Backlog, error)
}

// Backlog is how much work waits or is being done.
type Backlog struct {
	Scopes int // with work
	// Oldest is since when the session waits that has waited longest: since its
	// request, or since its last batch was finished. It is zero if there is no
	// work. Work that failed and waits to be tried again counts; work that was given
	// up does not, nor do events that wait for a trigger.
	Oldest time.Time
	// Triggers is how many sessions have events that wait for a trigger.
	Triggers int
}
