package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// MaxGiven is how many facts one request may give, as in Memory Bank.
const MaxGiven = 5

// GivenFact is a fact that a client states, to be compared with what is known.
type GivenFact struct {
	Fact   string   `json:"fact"`
	Topics []string `json:"topics,omitempty"`
}

// givenRole is the role of an event that is a fact itself. No turn has it.
const givenRole = "fact"

// IngestFacts asks for memories of facts as they are: nothing is extracted, but
// they are compared with what is known. They are events of a one-shot session.
func (s *Service) IngestFacts(ctx context.Context, scope memory.Scope, facts []GivenFact, opts RequestOptions) (*sessionstore.Operation, error) {
	if len(facts) == 0 || len(facts) > MaxGiven {
		return nil, fmt.Errorf("%w: facts: want 1 to %d of them, not %d", memory.ErrInvalid, MaxGiven, len(facts))
	}
	key := sessionstore.Key{Scope: scope, ID: uuid.NewString()}
	var events []sessionstore.Event
	for i, f := range facts {
		m := memory.Memory{ID: key.ID, Scope: scope, Kind: memory.KindFact, Fact: f.Fact, Topics: f.Topics, Timestamp: sessionstore.Micros(s.opts.Now())}
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("facts[%d]: %w", i, err)
		}
		doc, err := json.Marshal(map[string]any{"id": fmt.Sprintf("fact-%d", i+1), "author": "client", "timestamp": sessionstore.FormatTime(m.Timestamp),
			"content": map[string]any{"role": givenRole, "parts": []any{map[string]any{"text": f.Fact}}}, "customMetadata": map[string]any{"topics": f.Topics}})
		if err != nil {
			return nil, err
		}
		e, err := sessionstore.ParseEvent(doc)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	r := opts.request(scope)
	r.Facts = true
	return s.ingestOneShot(ctx, key, events, r)
}

// ingestOneShot asks for memories of events in a one-shot session.
func (s *Service) ingestOneShot(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, r *sessionstore.Request) (*sessionstore.Operation, error) {
	done, err := s.sessions.Append(ctx, key, events, sessionstore.Append{OneShot: true, Request: r})
	if err != nil {
		return nil, err
	}
	s.wake()
	return done.Operation, nil
}

// AddRange asks for memories of the events of a session from one time on up to,
// not including, another; a zero time is no bound. What waits in the session
// goes on waiting. Events that memories were made of before change nothing.
// There may be at most limit of them.
func (s *Service) AddRange(ctx context.Context, key sessionstore.Key, from, to time.Time, limit int, opts RequestOptions) (*sessionstore.Operation, error) {
	session, err := s.sessions.Get(ctx, key, sessionstore.Get{NumRecent: -1})
	if err != nil {
		return nil, err
	}
	all := make([]sessionstore.NumberedEvent, len(session.Events))
	for i, e := range session.Events {
		all[i] = sessionstore.NumberedEvent{Seq: int64(i + 1), Event: e}
	}
	back := takenBack(all)
	var events []sessionstore.Event
	for _, e := range all {
		in := !e.Timestamp.Before(from) && (to.IsZero() || e.Timestamp.Before(to))
		if in && back[e.ID].IsZero() && e.RewindBefore == "" {
			events = append(events, e.Event)
		}
	}
	if len(events) > limit {
		return nil, fmt.Errorf("%w: the session has %d events in that time, more than %d: ask for less of it", memory.ErrInvalid, len(events), limit)
	}
	return s.ingestOneShot(ctx, key, events, opts.request(key.Scope))
}

// readGivenFact reads an event that is a fact.
func readGivenFact(session string, e sessionstore.Event) (f extract.Fact, ok bool) {
	if e.Content.Role != givenRole {
		return f, false
	}
	var doc struct {
		CustomMetadata struct{ Topics []string }
	}
	_ = json.Unmarshal(e.Doc, &doc) // of another shape: no topics
	f = extract.Fact{SessionID: session, Text: e.Text(), Topics: doc.CustomMetadata.Topics, Timestamp: e.Timestamp, EventIDs: []string{e.ID}, Quote: e.Text()}
	m := memory.Memory{ID: e.ID, Scope: memory.Scope{App: "app", User: "user"}, Kind: memory.KindFact, Fact: f.Text, Topics: f.Topics, Timestamp: f.Timestamp}
	return f, m.Validate() == nil
}
