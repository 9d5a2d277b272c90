package sessionstore

import (
	"context"

	"github.com/memoryd/memoryd/memory"
)

// The rules of a store of sessions, beside memory.RuleFile and
// memory.RuleUnreadable.
const (
	RulePositions  = "positions"  // 0 <= done <= requested <= the number of events
	RuleEvents     = "events"     // events are numbered from 1 without gaps, and found by id and time
	RuleWork       = "work-list"  // the work list has the sessions whose requested position is ahead
	RulePlan       = "plan"       // a stored plan is for events that wait
	RuleOperations = "operations" // an operation is about events of its session, and ends when they are done
	RuleLeases     = "leases"     // a lease ends soon
	RuleOrphans    = "orphans"    // what belongs to a session has one
	RuleApp        = "app-list"   // the list of an app has its sessions
	RuleOutbox     = "outbox"     // changes to the state of apps are delivered
	RuleLost       = "lost"       // no acknowledged data is gone
)

// Audited is a store of sessions that can be checked while others use it.
type Audited interface {
	// Audit yields all sessions, deleted and one-shot ones that have work left
	// included, in any order, until session fails, and calls found with each fault in
	// how they are stored. The error is that of a store that cannot be read at all, or
	// of session.
	Audit(ctx context.Context, session func(SessionRecord) error, found func(memory.Finding)) error
}
