package sessionstore

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// OperationTTL is how long a finished operation can be read.
const OperationTTL = 7 * 24 * time.Hour

// OperationState is where an operation stands.
type OperationState string

// The states of an operation.
const (
	Pending   OperationState = "PENDING"   // nothing begun, or waiting for a trigger
	Running   OperationState = "RUNNING"   // begun, or waiting to be tried again
	Succeeded OperationState = "SUCCEEDED" // all its events are in memory
	Failed    OperationState = "FAILED"    // given up; Retry resumes it
)

// Operation is a request for memories and how far it is.
type Operation struct {
	Request
	Key         Key // of the session that the events are of
	State       OperationState
	CreateTime  time.Time
	EndTime     time.Time // when it succeeded; zero before, and of one that failed
	Attempts    int       // 1 once begun, and 1 more each time that some of it is tried again
	LastError   string    // of the last attempt that failed
	EventsTotal int
	EventsDone  int
	// DueTime is when the memories are made if no other event comes, while the operation
	// waits for Trigger. It is zero before and after.
	DueTime time.Time
	Trigger Trigger
	// Findable is set by package ingest in its answer to a request: a search that
	// begins after the answer finds the turns of the request. Stores leave it unset.
	Findable bool
	// Quarantined is set by package ingest in its answer to a request: some of the words
	// try to instruct the agent, and are hidden until a review. Stores leave it unset.
	Quarantined bool
}

// Done reports whether the operation has ended: only a Retry can resume it.
func (o *Operation) Done() bool { return o.State == Succeeded || o.State == Failed }

// ChangePosition is a place among the changes of an operation, as a store counts
// them. Zero is the place before the first.
type ChangePosition struct{ Seq, Number int64 }

// StoredOperation is an operation as a store keeps it, beside the progress of
// the session that has its events.
type StoredOperation struct {
	ID          string
	Scope       memory.Scope
	Session     string // the id of the session that has the events
	Request     []byte // from Request.Doc; empty if it was stored before requests were
	CreateTime  time.Time
	Attempts    int
	First, Last int64     // its events are numbered First+1 to Last
	EndTime     time.Time // when it succeeded; zero before
	// The session's done position, and whether and why its work was given up.
	SessionDone int64
	Failed      bool
	LastError   string
	// Due is when the operation's events are requested, while they wait for Trigger.
	Due     time.Time
	Trigger Trigger
}

// Operation works out where the operation stands.
func (s StoredOperation) Operation() (Operation, error) {
	request, session, err := ReadRequest(s.ID, s.Session, s.Request)
	if err != nil {
		return Operation{}, err
	}
	o := Operation{Request: request, Key: Key{Scope: s.Scope, ID: session}, CreateTime: s.CreateTime,
		Attempts:  s.Attempts,
		LastError: s.LastError, EventsTotal: int(s.Last - s.First), EventsDone: int(max(0, min(s.SessionDone,
			s.Last)-s.First))}
	switch {
	case !s.EndTime.IsZero():
		o.State, o.EventsDone, o.LastError, o.EndTime = Succeeded, o.EventsTotal, "", s.EndTime
	case !s.Due.IsZero():
		o.State, o.LastError, o.DueTime, o.Trigger = Pending, "", s.Due, s.Trigger
	case s.Failed:
		o.State = Failed
	case o.Attempts > 0 || o.EventsDone > 0:
		o.State = Running
	default:
		o.State = Pending
	}
	return o, nil
}

// OperationID makes an id that carries its scope. unique tells it from others of
// the scope; it must not have a NUL.
func OperationID(scope memory.Scope, unique string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(scope.App + "\x00" + scope.User + "\x00" + unique))
}

// OperationName is the unique part that OperationID put into an id; "" if the id is not
// one of OperationID's.
func OperationName(id string) string {
	if _, err := OperationScope(id); err != nil {
		return ""
	}
	raw, _ := base64.RawURLEncoding.DecodeString(id)
	return string(raw[strings.LastIndexByte(string(raw), 0)+1:])
}

// OperationScope reads the scope that OperationID put into an id. ErrNotFound if
// the id is not one of OperationID's.
func OperationScope(id string) (memory.Scope, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != 3 {
		return memory.Scope{}, fmt.Errorf("operation %.80q: %w", id, memory.ErrNotFound)
	}
	scope := memory.Scope{App: parts[0], User: parts[1]}
	if scope.Validate() != nil || parts[2] == "" || OperationID(scope, parts[2]) != id {
		return memory.Scope{}, fmt.Errorf("operation %.80q: %w", id, memory.ErrNotFound)
	}
	return scope, nil
}

// OperationList is what Operations.AppOperations reads. Of its List, PageSize and PageToken
// count. A page of one state ends after MaxLooked operations that were looked at: those that
// have failed may lie behind a million that have not, and a page has a bound.
type OperationList struct {
	List
	State OperationState // of those to read; "" for any
	User  string         // whose they are; "" for all users
}

// Pager reads l for the operations of an app. ErrInvalid as of List.Pager, and if the state
// is none. The pages of byPlace have places, and the others have numbers.
func (l OperationList) Pager(app string, byPlace bool) (Pager, error) {
	switch l.State {
	case "", Pending, Running, Succeeded, Failed:
	default:
		return Pager{}, fmt.Errorf("%w: state %.40q is none of %s, %s, %s, %s", memory.ErrInvalid, l.State,
			Pending, Running, Succeeded, Failed)
	}
	if l.User != "" {
		if err := memory.ValidateID("userId", l.User); err != nil {
			return Pager{}, err
		}
	}
	l.Order.Updated = byPlace
	return l.List.Pager("app operations", app, l.User, string(l.State))
}

// Cut makes a page of found, which are in the order of the list: of those in its state, as
// many as the page has. more says that others follow found, and token is that of the page
// after one of found.
func (l OperationList) Cut(p Pager, found []Operation, more bool, token func(i int) string) (
	page []Operation, next string) {
	// A token names the last operation of the page, and not the one that found it full: what
	// is between them has another state, and is looked at once more.
	last := -1
	for i, o := range found {
		if l.State != "" && o.State != l.State {
			continue
		}
		if len(page) == p.Size {
			return page, token(last)
		}
		page, last = append(page, o), i
	}
	if more {
		next = token(len(found) - 1) // it has looked at that many
	}
	return page, next
}
