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

// conversation is a session.Session: what was read of a session, and what was
// appended through this object since. It may be used by many goroutines at once.
type conversation struct {
	c             *client.Client // that it is from
	app, user, id string

	mu      sync.RWMutex
	events  []*session.Event // only ever grows, so that a reader's slice stays what it was
	known   map[string]bool  // the ids of events
	state   map[string]any
	updated time.Time
}

var _ session.Session = (*conversation)(nil)

// newConversation is s as ADK has it.
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

// append takes in an event that is stored now. The state of its invocation is
// with it here, and nowhere else. Appended again, it changes nothing, as in the
// store.
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

func (s *conversation) ID() string      { return s.id }
func (s *conversation) AppName() string { return s.app }
func (s *conversation) UserID() string  { return s.user }

func (s *conversation) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.updated
}

func (s *conversation) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return events(s.events)
}

func (s *conversation) State() session.State { return state{s} }

// events is session.Events as they were when they were asked for.
type events []*session.Event

func (e events) All() iter.Seq[*session.Event] { return slices.Values(e) }
func (e events) Len() int                      { return len(e) }

// At is nil outside of the list.
func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// state is the session.State of a conversation. What is set is seen by who
// holds the conversation; to be stored it has to be in an event's state delta,
// where ADK puts what a tool or a callback sets.
type state struct{ of *conversation }

func (s state) Get(key string) (any, error) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	v, ok := s.of.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return v, nil
}

func (s state) Set(key string, value any) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

func (s state) All() iter.Seq2[string, any] {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}
