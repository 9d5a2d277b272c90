package sessionstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// SessionRecord is a session to export or restore, without its events.
type SessionRecord struct {
	Key
	Details                  // ExpireTime is zero unless a client has chosen it
	CreateTime     time.Time // zero in archives of early versions: that of the restored session stays
	State          State     // its own, without the user's and the app's
	LastUpdateTime time.Time
	Events         int64 // how many it has
	// The positions of ingestion, and the state of the work between them.
	Requested, Done int64
	Failed          bool
	LastError       string
	Plan            json.RawMessage
	PlanTo          int64
	Waiting         Waiting // for its trigger
	Ref             string  // for Progress.Events of the store that exported it
	// Merge has Restore bring r into a session that may have gone on, or that r has a part
	// of: other programs drop old messages of a session, and have no positions.
	Merge bool
}

// Validate reports the first rule that r breaks, whatever the store has of the
// session.
func (r *SessionRecord) Validate() error {
	if err := r.Key.Validate(); err != nil {
		return err
	}
	if err := r.Details.Validate(); err != nil {
		return err
	}
	if !r.CreateTime.IsZero() {
		if err := memory.ValidateTime("createTime", r.CreateTime); err != nil {
			return err
		}
	}
	for key, value := range r.State {
		for _, prefix := range []string{TempPrefix, UserPrefix, AppPrefix} {
			if strings.HasPrefix(key, prefix) {
				return fmt.Errorf("%w: state: %.60q is no key of a session's own state", memory.ErrInvalid, key)
			}
		}
		if err := validateState(key, value); err != nil {
			return err
		}
	}
	if err := memory.ValidateTime("lastUpdateTime", r.LastUpdateTime); err != nil {
		return err
	}
	switch {
	case r.Done < 0 || r.Requested < r.Done || r.Events < r.Requested:
		return fmt.Errorf("%w: want 0 <= done <= requested <= events, not done %d, requested %d, events %d",
			memory.ErrInvalid, r.Done, r.Requested, r.Events)
	case len(r.Plan) > 0 && !json.Valid(r.Plan):
		return fmt.Errorf("%w: plan is not JSON", memory.ErrInvalid)
	case len(r.Plan) > 0 && r.PlanTo != 0 && (r.PlanTo <= r.Done || r.PlanTo > r.Requested):
		return fmt.Errorf("%w: planTo %d is not after done %d and up to requested %d",
			memory.ErrInvalid, r.PlanTo, r.Done, r.Requested)
	}
	return r.Waiting.Validate(r.Requested, r.Events)
}

// RestoreWaiting is how a session waits for its trigger after r was restored into it, whose
// requested position is given. It goes on as it does if it has a trigger already.
func (r *SessionRecord) RestoreWaiting(now Waiting, requested int64) Waiting {
	switch {
	case now != Waiting{}:
		return now
	case r.Waiting.To <= requested:
		return r.Waiting.Over()
	}
	return r.Waiting
}

func validateState(key string, value json.RawMessage) error {
	if !utf8.ValidString(key) || !json.Valid(value) || !utf8.Valid(value) {
		return fmt.Errorf("%w: state: the value of %.60q is not JSON in UTF-8", memory.ErrInvalid, key)
	}
	return nil
}

// ValidateEvents refuses a record that has more events than the session, which are
// stored.
func (r *SessionRecord) ValidateEvents(stored int64) error {
	if r.Events > stored {
		return fmt.Errorf("%w: the session has %d events, not %d", memory.ErrInvalid, stored, r.Events)
	}
	return nil
}

// SharedState is the state that all sessions of a user see, without prefix, or
// that of all users of an app if User is empty.
type SharedState struct {
	memory.Scope
	State State
}

// Validate reports the first rule that s breaks.
func (s *SharedState) Validate() error {
	scope := s.Scope
	if scope.User == "" {
		scope.User = "-" // state of an app has no user
	}
	if err := scope.Validate(); err != nil {
		return err
	}
	for key, value := range s.State {
		if err := validateState(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Archive moves sessions from one store to another. Operations are not moved: the
// positions of a session say which memories were requested.
type Archive interface {
	// Export yields all shared state and then all sessions, of each app in the
	// order of their making, until a yield fails. It fails if a deleted, expired or
	// one-shot session has work left: an export does not have such sessions.
	Export(ctx context.Context, session func(SessionRecord) error, shared func(SharedState) error) error

	// Restore sets the details, the state and the positions of a session whose events have been
	// appended in their order. It changes nothing if the session has more events
	// than r, as it has gone on since. Positions only move forward. ErrNotFound if
	// the session is missing. Events that waited for a trigger wait until the same time,
	// unless the session has a trigger. ErrInvalid, and nothing changed, if r breaks a rule of
	// Validate or the session has fewer events than r.
	//
	// With r.Merge, the session may have more events than r. Restore then sets only the keys
	// of state that are not set, and the display name if there is none. LastUpdateTime never
	// goes back, and CreateTime never forward. If r has a requested position and the session
	// has events beyond its own one, all of them are requested, also those that wait for a
	// trigger.
	Restore(ctx context.Context, r SessionRecord) error

	// RestoreShared sets the keys of shared state that are not set yet. ErrInvalid,
	// and nothing changed, if s breaks a rule of Validate.
	RestoreShared(ctx context.Context, s SharedState) error

	// ExportConfigs yields the configuration of each app that has one, in the order of
	// their names, until a yield fails.
	ExportConfigs(ctx context.Context, config func(ConfigRecord) error) error

	// RestoreConfig gives an app that has no configuration the document and the revision
	// of r. The configuration of an app that has one stays. ErrInvalid, and nothing
	// changed, if r breaks a rule of Validate.
	RestoreConfig(ctx context.Context, r ConfigRecord) error
}

// UnfinishedDeleted is the error of an Export while n deleted sessions have work
// left.
func UnfinishedDeleted(n int) error {
	return fmt.Errorf("%w: %d deleted sessions wait for their memories: start memoryd until those are made, "+
		"then export", memory.ErrUnavailable, n)
}
