// Package check checks two stores as a whole: that each is sound in itself, and that
// sessions and memories agree. It reads them page by page, beside those who use them,
// and changes nothing.
package check

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Sessions is what a check needs of a session store.
type Sessions interface {
	sessionstore.Audited
	// ExportConfigs is that of sessionstore.Archive.
	ExportConfigs(ctx context.Context, config func(sessionstore.ConfigRecord) error) error
	// Get is that of sessionstore.Store.
	Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error)
	// Events is that of sessionstore.Progress.
	Events(ctx context.Context, work sessionstore.Work, after int64, limit int) ([]sessionstore.NumberedEvent, error)
}

// Memories is what a check needs of a memory store.
type Memories interface {
	memory.Store
	memory.Audited
	// Model is that of memory.Movable.
	Model() memory.Model
}

// Options are the choices of Run. Nil is all defaults.
type Options struct {
	// Pause is how long Run waits before it looks again at what seems to be missing, as
	// others may be writing it. Defaults to 2 s.
	Pause time.Duration
}

// Finding is a fault, with what it means and what to do about it.
type Finding struct {
	Store string `json:"store"` // sessions or memories
	memory.Finding
}

// Report is what Run has found.
type Report struct {
	Sessions int   `json:"sessions"`
	Events   int64 `json:"events"`
	Memories int   `json:"memories"` // live ones
	Deleted  int   `json:"deleted"`  // memories
	Turns    int   `json:"turns"`    // among the live memories
	// SessionGone counts the turns whose session is not there: it was deleted or has
	// expired, which leaves its memories, or it was lost.
	SessionGone int `json:"turnsWithoutSession"`
	// TurnGone counts the events that are done and have no turn, and are older than the last
	// removal of memories: it was purged, has expired, or was lost before.
	TurnGone int `json:"eventsWithoutTurn"`
	Pending  int `json:"pending"` // sessions with events that memories are not made of yet
	// Faults counts the findings, of which Findings has the first.
	Faults   int       `json:"faults"`
	Findings []Finding `json:"findings"`
	// Rules says of each rule that is broken what that means and what to do.
	Rules map[string]Advice `json:"rules,omitempty"`
}

// checker is a Run.
type checker struct {
	sessions Sessions
	memories Memories
	opts     Options
	report   *Report
	suspects []suspect
	batch    []memory.Memory           // facts whose sources are not checked yet
	there    map[sessionstore.Key]bool // sessions that are there or not, as far as they are known
	// pending has the hashes of the sessions of which memories are to come: what those
	// rest on may be to come too.
	pending map[uint64]bool
	seed    maphash.Seed
}

// maxFindings bounds the findings of a report. All are counted.
const maxFindings = 1000

// Run checks both stores. The report has the findings. The error says that a store
// cannot be read.
func Run(ctx context.Context, sessions Sessions, memories Memories, opts *Options) (*Report, error) {
	c := &checker{sessions: sessions, memories: memories, there: map[sessionstore.Key]bool{},
		pending: map[uint64]bool{}, seed: maphash.MakeSeed(),
		report: &Report{Findings: []Finding{}, Rules: map[string]Advice{}}}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Pause == 0 {
		c.opts.Pause = 2 * time.Second
	}
	if err := sessions.Audit(ctx, func(r sessionstore.SessionRecord) error { return c.session(ctx, r) },
		func(f memory.Finding) { c.report.Add("sessions", f) }); err != nil {
		return nil, err
	}
	if err := c.configs(ctx); err != nil {
		return nil, err
	}
	if err := memories.Audit(ctx, func(r memory.Record) error { return c.memory(ctx, r) },
		func(f memory.Finding) { c.report.Add("memories", f) }); err != nil {
		return nil, err
	}
	if err := c.facts(ctx); err != nil {
		return nil, err
	}
	return c.report, c.lookAgain(ctx)
}

// configs checks that the configuration of each app can be used: no memories are made of
// an app whose configuration cannot.
func (c *checker) configs(ctx context.Context) error {
	unreadable := func(app string, err error) {
		c.report.Add("sessions", memory.Finding{Rule: memory.RuleUnreadable, Scope: memory.Scope{App: app},
			Of: "configuration", Text: err.Error()})
	}
	err := c.sessions.ExportConfigs(ctx, func(r sessionstore.ConfigRecord) error {
		err := r.Validate()
		if err == nil {
			err = appconfig.Check(r.Doc)
		}
		if err != nil {
			unreadable(r.App, fmt.Errorf("the configuration of app %q cannot be used, put it again: %w", r.App, err))
		}
		return nil
	})
	if err != nil && !away(ctx, err) {
		unreadable("", err)
		return nil
	}
	return err
}

// Add adds a finding to the report, unless it has as many as it may.
func (r *Report) Add(store string, f memory.Finding) {
	r.Faults++
	r.Rules[f.Rule] = advice[f.Rule]
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, Finding{store, f})
	}
}

// hash stands for a key: a store may have millions.
func (c *checker) hash(key sessionstore.Key) uint64 { return maphash.Comparable(c.seed, key) }

// eventsTogether is how many events of a session are read in one call.
const eventsTogether = 200

// session checks that the events of a session that are done have their turns.
func (c *checker) session(ctx context.Context, r sessionstore.SessionRecord) error {
	c.report.Sessions++
	c.report.Events += r.Events
	if r.Requested > r.Done {
		c.report.Pending++
		c.pending[c.hash(r.Key)] = true
	}
	work := sessionstore.Work{Key: r.Key, Ref: r.Ref}
	span := span{r.CreateTime, r.LastUpdateTime}
	removed, err := c.memories.Removed(ctx)
	if err != nil {
		return err
	}
	for after := int64(0); after < min(r.Done, r.Events); {
		events, err := c.sessions.Events(ctx, work, after, int(min(eventsTogether, r.Done-after)))
		if away(ctx, err) {
			return err
		}
		if err != nil {
			c.report.Add(
				"sessions",
				memory.Finding{Rule: memory.RuleUnreadable, Scope: r.Scope, Of: r.ID, Text: err.Error()},
			)
			return nil
		}
		if len(events) == 0 {
			return nil // it was deleted meanwhile, or the audit has told what is missing
		}
		var ids []string
		of := map[string]sessionstore.NumberedEvent{}
		for _, e := range events {
			after = max(after, e.Seq)
			if id, ok := ingest.TurnID(r.Key, e.Event); ok {
				ids = append(ids, id)
				of[id] = e
			}
		}
		missing, err := c.missing(ctx, r.Scope, ids)
		if err != nil {
			return err
		}
		for _, id := range missing {
			if span.mayBeRemoved(removed, of[id].Event) {
				c.report.TurnGone++
				continue
			}
			text := fmt.Sprintf("event %q of session %q is done, and its turn is not there", of[id].ID, r.ID)
			c.suspects = append(c.suspects, suspect{work: work, seq: of[id].Seq, span: span, id: id,
				finding: memory.Finding{Rule: memory.RuleTurn, Scope: r.Scope, Of: id, Text: text}})
			if len(c.suspects) >= maxFindings {
				if err := c.lookAgain(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// span is when a session was made and last updated.
type span struct{ made, updated time.Time }

// mayBeRemoved reports whether an event of a session may have come before the last removal of memories,
// which may have taken its turn. An event has the time that its client says: it came no later than the
// session's last update, and if both are still to come they tell nothing but that the session was there.
func (s span) mayBeRemoved(removed time.Time, e sessionstore.Event) bool {
	came := e.Timestamp
	if s.updated.Before(came) {
		came = s.updated
	}
	return s.made.Before(removed) && (came.Before(removed) || came.After(time.Now()))
}

// missing returns which memories are not there, deleted ones among those that are.
func (c *checker) missing(ctx context.Context, scope memory.Scope, ids []string) (out []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	there, err := c.live(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if there[id] {
			continue
		}
		there[id] = true // it is asked for once
		// The first revision is enough to tell.
		if _, err := c.memories.Revisions(ctx, scope, id, 2); errors.Is(err, memory.ErrNotFound) {
			out = append(out, id)
		} else if away(ctx, err) {
			return nil, err
		}
	}
	return out, nil
}

// live returns which memories are there and live. One that cannot be read is there:
// the audit tells it.
func (c *checker) live(ctx context.Context, scope memory.Scope, ids []string) (map[string]bool, error) {
	live, err := c.memories.Get(ctx, scope, ids)
	if away(ctx, err) {
		return nil, err
	}
	there := map[string]bool{}
	if err != nil && len(ids) == 1 {
		there[ids[0]] = true
		return there, nil
	}
	if err != nil {
		for _, id := range ids { // one of them fails the others
			one, err := c.live(ctx, scope, []string{id})
			if err != nil {
				return nil, err
			}
			maps.Copy(there, one)
		}
		return there, nil
	}
	for i := range live {
		there[live[i].ID] = true
	}
	return there, nil
}

// away reports whether an error is that of a store that cannot be reached, and not of
// something in it that cannot be read.
func away(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil ||
		errors.Is(err, memory.ErrUnavailable) && !errors.As(err, new(*memory.Damage)))
}
