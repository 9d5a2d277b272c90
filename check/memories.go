package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// suspect is a turn that seems to be missing.
type suspect struct {
	work    sessionstore.Work // of the session that it is of
	seq     int64             // of its event
	span    span              // of the session
	id      string
	finding memory.Finding
}

// lookAgain reports the suspects that are still missing after a pause, and whose
// event is still there.
func (c *checker) lookAgain(ctx context.Context) error {
	if len(c.suspects) == 0 {
		return nil
	}
	select {
	case <-time.After(c.opts.Pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, s := range c.suspects {
		missing, err := c.missing(ctx, s.work.Key.Scope, []string{s.id})
		if err != nil {
			return err
		}
		removed, err := c.memories.Removed(ctx)
		if err != nil {
			return err
		}
		events, err := c.sessions.Events(ctx, s.work, s.seq-1, 1)
		if away(ctx, err) {
			return err
		}
		switch {
		case len(missing) == 0 || len(events) == 0:
		case s.span.mayBeRemoved(removed, events[0].Event): // meanwhile
			c.report.TurnGone++
		default:
			c.report.Add("memories", s.finding)
		}
	}
	c.suspects = nil
	return nil
}

// factsTogether is how many facts are checked together: those of one session read
// its turns once.
const factsTogether = 500

// memory checks one memory.
func (c *checker) memory(ctx context.Context, r memory.Record) error {
	m := &r.Memory
	add := func(rule, format string, args ...any) {
		c.report.Add(
			"memories",
			memory.Finding{Rule: rule, Scope: m.Scope, Of: m.ID, Text: fmt.Sprintf(format, args...)},
		)
	}
	if err := r.Validate(c.memories.Model().Dimension); err != nil {
		add(memory.RuleRecord, "%v", err)
	}
	if r.Deleted {
		c.report.Deleted++
		return nil
	}
	c.report.Memories++
	if m.SupersededBy != "" {
		missing, err := c.missing(ctx, m.Scope, []string{m.SupersededBy})
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			add(memory.RuleSuperseded, "memory %q, which has superseded it, is not there", m.SupersededBy)
		}
	}
	if m.Kind == memory.KindTurn {
		c.report.Turns++
		there, err := c.sessionThere(ctx, sessionstore.Key{Scope: m.Scope, ID: m.Source.SessionID})
		if err == nil && !there {
			c.report.SessionGone++
		}
		return err
	}
	if m.Source.SessionID == "" || len(m.Source.EventIDs) == 0 {
		return nil // a client has given it
	}
	if c.batch = append(c.batch, *m); len(c.batch) < factsTogether {
		return nil
	}
	return c.facts(ctx)
}

// maxThere bounds the sessions that a check remembers.
const maxThere = 10_000

// sessionThere reports whether a session is there.
func (c *checker) sessionThere(ctx context.Context, key sessionstore.Key) (bool, error) {
	if there, known := c.there[key]; known {
		return there, nil
	}
	_, err := c.sessions.Get(ctx, key, sessionstore.Get{NumRecent: 0, NoState: true})
	switch {
	case errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrInvalid):
	case away(ctx, err):
		return false, err
	}
	if len(c.there) >= maxThere {
		clear(c.there)
	}
	c.there[key] = err == nil
	return err == nil, nil
}

// facts checks that the turns which facts rest on are there.
func (c *checker) facts(ctx context.Context) error {
	wanted := map[sessionstore.Key]map[string][]*memory.Memory{} // by session and event
	for i := range c.batch {
		m := &c.batch[i]
		key := sessionstore.Key{Scope: m.Scope, ID: m.Source.SessionID}
		if wanted[key] == nil {
			wanted[key] = map[string][]*memory.Memory{}
		}
		for _, event := range m.Source.EventIDs {
			wanted[key][event] = append(wanted[key][event], m)
		}
	}
	for key, events := range wanted {
		if err := c.withoutTurns(ctx, key, events); err != nil {
			return err
		}
		if len(events) == 0 || c.pending[c.hash(key)] {
			continue
		}
		missing, err := c.lost(ctx, key, events)
		if err != nil {
			return err
		}
		for event, facts := range missing {
			for _, m := range facts {
				c.report.Add("memories", memory.Finding{Rule: memory.RuleSource, Scope: m.Scope, Of: m.ID,
					Text: fmt.Sprintf(
						"the turn of event %q of session %q, which it rests on, is not there",
						event,
						key.ID,
					)})
			}
		}
	}
	c.batch = c.batch[:0]
	return nil
}

// withoutTurns leaves those events that have no live turn.
func (c *checker) withoutTurns(ctx context.Context, key sessionstore.Key, events map[string][]*memory.Memory) error {
	list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{SessionID: key.ID,
		Kinds: []memory.Kind{memory.KindTurn}, History: true}}
	for {
		page, err := c.memories.List(ctx, key.Scope, list)
		if away(ctx, err) {
			return err
		}
		if err != nil { // one of them cannot be read, which the audit tells
			clear(events)
			return nil
		}
		for i := range page.Memories {
			for _, event := range page.Memories[i].Source.EventIDs {
				delete(events, event)
			}
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" || len(events) == 0 {
			return nil
		}
	}
}

// lost returns those events whose session has them, and whose turns are neither there
// nor deleted. Without the event it cannot be told. When memories were last removed is read after
// what is missing: a removal stores its time first, so that one which takes a turn meanwhile is known.
func (c *checker) lost(ctx context.Context, key sessionstore.Key, events map[string][]*memory.Memory) (
	map[string][]*memory.Memory, error) {
	out := map[string][]*memory.Memory{}
	get := sessionstore.Get{NumRecent: -1, NoState: true, PageSize: sessionstore.MaxPageEvents}
	missed := map[string]sessionstore.Event{}
	for {
		session, err := c.sessions.Get(ctx, key, get)
		if away(ctx, err) {
			return nil, err
		}
		if err != nil { // it is gone, or the audit of sessions tells it
			return out, nil
		}
		for _, e := range session.Events {
			facts := events[e.ID]
			id, ok := ingest.TurnID(key, e)
			if len(facts) == 0 || !ok {
				continue
			}
			missing, err := c.missing(ctx, key.Scope, []string{id})
			if err != nil {
				return nil, err
			}
			if len(missing) > 0 {
				missed[e.ID] = e
			}
		}
		if get.PageToken = session.NextPageToken; get.PageToken != "" {
			continue
		}
		removed, err := c.memories.Removed(ctx)
		if err != nil {
			return nil, err
		}
		of := span{session.CreateTime, session.LastUpdateTime}
		for id, e := range missed {
			if !of.mayBeRemoved(removed, e) {
				out[id] = events[id]
			}
		}
		return out, nil
	}
}
