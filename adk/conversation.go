package adk

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/memoryd/memoryd/client"
)

// conversation is a session.Session. It has the events and the state that were
// read, and what was appended through this object since. It may be used by many
// goroutines at once.
type conversation struct {
	c             *client.Client // where the session is stored
	app, user, id string

	mu      sync.RWMutex
	events  []*session.Event // only grows, so that a reader's slice does not change
	known   map[string]bool  // by event id
	state   map[string]any
	updated time.Time
}

var _ session.Session = (*conversation)(nil)

// newConversation makes a conversation of a stored session.
func newConversation(c *client.Client, s *client.Session) (*conversation, error) {
	out := &conversation{c: c, app: s.App, user: s.User, id: s.ID, state: s.State, updated: s.LastUpdateTime,
		events: make([]*session.Event, 0, len(s.Events)), known: make(map[string]bool, len(s.Events))}
	if out.state == nil {
		out.state = map[string]any{}
	}
	for _, e := range s.Events {
		event, err := fromStore(e)
		if err != nil {
			return nil, fmt.Errorf("session %q of app %q, user %q: %w", s.ID, s.App, s.User, err)
		}
		out.events = append(out.events, event)
		out.known[event.ID] = true
	}
	return out, nil
}

// append adds a stored event and its state delta. The delta may hold temp: keys,
// which exist only here. An event that is known already changes nothing, as in
// the store.
func (s *conversation) append(event *session.Event, delta map[string]any, updated time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[event.ID] {
		return
	}
	s.known[event.ID] = true
	s.events = append(s.events, event)
	maps.Copy(s.state, delta)
	s.updated = updated
}

// ID returns the id of the session.
func (s *conversation) ID() string { return s.id }

// AppName returns the app of the session.
func (s *conversation) AppName() string { return s.app }

// UserID returns the user of the session.
func (s *conversation) UserID() string { return s.user }

// LastUpdateTime returns the time of the last event.
func (s *conversation) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.updated
}

// Events returns the events as they are now.
func (s *conversation) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return events(s.events)
}

// State returns the state, which later appends change.
func (s *conversation) State() session.State { return state{s} }

// events is a snapshot of the events of a conversation.
type events []*session.Event

// All yields the events in order.
func (e events) All() iter.Seq[*session.Event] { return slices.Values(e) }

// Len returns the number of events.
func (e events) Len() int { return len(e) }

// At returns the event at i, or nil outside of the list.
func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// state is the session.State of a conversation. A value that is set is visible in
// this conversation only. ADK puts the values that tools and callbacks set into
// the state delta of an event, which stores them.
type state struct{ of *conversation }

// Get returns a value, or session.ErrStateKeyNotExist.
func (s state) Get(key string) (any, error) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	v, ok := s.of.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return v, nil
}

// Set sets a value in this conversation.
func (s state) Set(key string, value any) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

// All yields a snapshot of the state.
func (s state) All() iter.Seq2[string, any] {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}
