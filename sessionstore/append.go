package sessionstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Append has the options of a Store's Append: they take effect in the step that
// stores the events.
type Append struct {
	// Create makes the session if it is missing.
	Create bool
	// KeepState leaves state as it is, whatever the events' stateDelta.
	KeepState bool
	// Request asks for memories: it raises the session's requested position to
	// its last event, and records an operation. Nil does neither. If there is an
	// operation of its ID, Append fails with ErrExists and changes nothing.
	Request *Request
	// Trigger says when the Request takes effect, unless the session has a trigger of its
	// own. Nil is at once: then the events that wait for a trigger are requested too, and
	// the session keeps its trigger. Until the trigger fires, the requested position
	// stays. The requests up to the one with which it fires are one operation: that of
	// the first, with its options.
	Trigger *Trigger
	// OwnTrigger makes Trigger the session's own, until an append brings another.
	OwnTrigger bool
	// Flush has the Request take effect at once, whatever the trigger.
	Flush bool
	// OneShot stores the events in a hidden session of their own, which ends
	// once the requested memories are made. Sessions of the same key are neither
	// needed nor changed, and state is left as it is. It needs a Request.
	OneShot bool
}

// Validate returns ErrInvalid if the options contradict each other.
func (a Append) Validate() error {
	switch {
	case a.Request != nil && a.Request.ID == "":
		return fmt.Errorf("%w: a request for memories needs the id of its operation", memory.ErrInvalid)
	case a.OneShot && a.Request == nil:
		return fmt.Errorf("%w: a one-shot session needs a request for memories", memory.ErrInvalid)
	case a.Trigger != nil && (a.Request == nil || a.OneShot):
		return fmt.Errorf("%w: a trigger needs a request for memories of a session that lasts", memory.ErrInvalid)
	case a.OwnTrigger && a.Trigger == nil:
		return fmt.Errorf("%w: the session's own trigger is missing", memory.ErrInvalid)
	case a.Trigger != nil:
		return a.Trigger.Validate()
	}
	return nil
}

// ChangesState reports whether the events' stateDelta is applied.
func (a Append) ChangesState() bool { return !a.KeepState && !a.OneShot }

// Appended is the result of an Append.
type Appended struct {
	// Events as stored: for an id that was there before, the event stored
	// then; for a partial event, the event as it came.
	Events         []Event
	LastUpdateTime time.Time
	Operation      *Operation // with Append.Request
	// Requested has the events that the operation is about, for Progress.Events: its
	// Key, Ref, Done and Requested are set, with Append.Request.
	Requested Work
}

// Prepare returns the events of one call as a store keeps them. Events without
// an id or a timestamp get them; those without a timestamp keep their order. A
// partial event is as it came: it is not stored.
func Prepare(events []Event, now time.Time) []Event {
	out := make([]Event, len(events))
	for i, e := range events {
		if !e.Partial {
			at := now.Add(time.Duration(i) * time.Microsecond)
			e = e.Stored(func() string { return newEventID(at) }, at)
		}
		out[i] = e
	}
	return out
}

// Created returns the events of a new session as Get has them, of the events that
// Prepare has returned for its Create: without partial and repeated ones, in order
// of timestamp, then of arrival.
func Created(prepared []Event) []Event {
	var out []Event
	seen := map[string]bool{}
	for _, e := range prepared {
		if !e.Partial && !seen[e.ID] {
			seen[e.ID] = true
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Event) int { return a.Timestamp.Compare(b.Timestamp) })
	return out
}

// TooManySessions refuses one more session of a user who has as many as there may be.
// A deleted session does not count, nor does a one-shot session.
func TooManySessions(most int) error {
	return memory.Refuse(time.Minute, "this user has its %d sessions: delete some: -user-sessions sets how many there"+
		" may be", most)
}
