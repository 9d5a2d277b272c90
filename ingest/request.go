package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// RequestOptions are the choices of one request. If several requests wait for a
// session, the options of each hold for the events that it was the first to ask for. Requests that
// wait for a trigger are one request, with the options of the first of them.
type RequestOptions struct {
	// DisableConsolidation leaves known memories alone: new facts are added
	// beside them, unless they say the same.
	DisableConsolidation bool
	// AllowedTopics are the topics that facts are kept of; empty is all that the app
	// keeps. See Service.CheckRequest.
	AllowedTopics []string
	// TTL is how long facts live from when they are made or changed; 0 is what the
	// app's configuration says.
	TTL time.Duration
	// RevisionTTL is how long revisions live from when they are made; 0 is what the app's
	// configuration says.
	RevisionTTL time.Duration
	// Metadata is that of the facts that are made. MetadataMerge says what becomes of the
	// metadata of facts that are updated or said again. Labels are those of all revisions.
	Metadata      memory.Metadata
	MetadataMerge sessionstore.MetadataMerge
	Labels        memory.Labels
	// Trigger becomes the trigger of the session, until a request brings another. Nil
	// leaves the session its own, or that of the app's configuration. For Ingest alone.
	Trigger *sessionstore.Trigger
	// Flush makes the memories at once of all that waits in the session. For Ingest alone.
	Flush bool
	// Zone is the time zone of the events or facts of the request that come without an
	// offset of their own. Nil is that of the app's configuration, or Options.Zone.
	Zone *time.Location
}

// InZone returns events of an app as said in a time zone. If that is nil, it is the one of
// the app's configuration, or Options.Zone. An event with an offset of its own stays as
// it is.
func (s *Service) InZone(ctx context.Context, app string, events []sessionstore.Event,
	zone *time.Location) []sessionstore.Event {
	zone = s.zone(ctx, app, zone)
	out := make([]sessionstore.Event, len(events))
	for i, e := range events {
		out[i] = e.In(zone)
	}
	return out
}

// zone is the time zone of a request that names one, or nil. Nil if none is known.
func (s *Service) zone(ctx context.Context, app string, named *time.Location) *time.Location {
	if named != nil {
		return named
	}
	return cmp.Or(s.configs.Known(ctx, app).Zone(), s.opts.Zone)
}

// request makes a new request in a scope, within the trace of ctx. Its id tells when it was made, see
// [Service.Confirm], and which requests have the same options, see alike.
func (o RequestOptions) request(ctx context.Context, scope memory.Scope) *sessionstore.Request {
	name := uuid.Must(uuid.NewV7()).String()
	r := &sessionstore.Request{
		DisableConsolidation: o.DisableConsolidation,
		AllowedTopics:        o.AllowedTopics, TTL: o.TTL, RevisionTTL: o.RevisionTTL, Metadata: o.Metadata,
		MetadataMerge: o.MetadataMerge, Labels: o.Labels,
	}
	if doc, err := r.Doc(); err == nil && string(doc) != "{}" { // metadata that is not JSON is refused later
		sum := sha256.Sum256(doc)
		name += optionsMark + hex.EncodeToString(sum[:8])
	}
	r.ID, r.Traceparent = sessionstore.OperationID(scope, name), tracing.Parent(ctx)
	return r
}

// optionsMark stands in the name of an operation before the digest of its options, if it has any.
const optionsMark = "."

// optionsOf is the digest of the options of an operation; "" if it has none.
func optionsOf(id string) string {
	_, digest, _ := strings.Cut(sessionstore.OperationName(id), optionsMark)
	return digest
}

// alike is the number of the last of the events that wait in a session for requests with the options of
// the oldest one: those are of one batch.
func alike(w sessionstore.Work) int64 {
	for i := 1; i < len(w.Asked); i++ {
		if optionsOf(w.Asked[i].Operation) != optionsOf(w.Request.ID) && w.Asked[i-1].Last > w.Done {
			return min(w.Asked[i-1].Last, w.Requested)
		}
	}
	return w.Requested
}

// SessionOf returns the ID of the session that an operation is about; "" if it
// is about none.
func SessionOf(op *sessionstore.Operation) string {
	if op.Facts || op.Forget || op.Rollback != "" {
		return ""
	}
	return op.Key.ID
}

// byTrigger has a request take effect when the trigger says so: that of opts, else the
// session's own, else the one of the app's configuration.
func byTrigger(config *appconfig.Config, opts RequestOptions, how *sessionstore.Append) {
	how.Trigger, how.OwnTrigger, how.Flush = opts.Trigger, opts.Trigger != nil, opts.Flush
	if opts.Trigger == nil && !opts.Flush {
		rule := config.Triggers.Of()
		how.Trigger = &rule
	}
}

// Ingest stores events in a session, which it creates if it is missing, and
// requests memories of them, which are made when the trigger says so. It leaves the
// session's state alone. When it returns the events are durable. Their turns can be found by words if the
// operation is Findable: they always can where sessions and memories are in one
// place (see [Together]), and otherwise unless the memory store is too slow to
// wait for.
func (s *Service) Ingest(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts RequestOptions,
) (*sessionstore.Operation, error) {
	config, err := s.configs.Of(ctx, key.App)
	if err != nil {
		return nil, err
	}
	how := sessionstore.Append{Create: true, KeepState: true, Request: opts.request(ctx, key.Scope)}
	byTrigger(config, opts, &how)
	return s.request(ctx, key, s.InZone(ctx, key.App, events, opts.Zone), how)
}

// Append stores events in a session that is there, with their state. If the triggers of
// the app's configuration say so, it also requests memories of them, which are made when
// the trigger of the session says so. Otherwise, or if the scope has no room for more
// memories, they wait for the next request; then the answer has no operation.
func (s *Service) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event) (
	sessionstore.Appended, error) {
	config, err := s.configs.Of(ctx, key.App) // the last one that is known might have no trigger
	if err != nil {
		return sessionstore.Appended{}, err
	}
	if len(events) > 0 && config.Triggers.Appends {
		var opts RequestOptions
		how := sessionstore.Append{Request: opts.request(ctx, key.Scope)}
		byTrigger(config, opts, &how)
		done, err := s.appendAndRequest(ctx, key, events, how)
		if !errors.Is(err, memory.ErrExhausted) {
			return done, err
		}
	}
	return s.sessions.Append(ctx, key, events, sessionstore.Append{})
}

// AddSession requests memories of all the events of a session of which none were
// requested yet. They are made at once, whatever the trigger of the session.
func (s *Service) AddSession(
	ctx context.Context, key sessionstore.Key, opts RequestOptions,
) (*sessionstore.Operation, error) {
	return s.request(ctx, key, nil, sessionstore.Append{Request: opts.request(ctx, key.Scope)})
}

// Range is a part of a session: its events from one time up to, not including,
// another. A zero time is no bound.
type Range struct{ From, To time.Time }

func (r Range) has(e *sessionstore.Event) bool {
	return !e.Timestamp.Before(r.From) && (r.To.IsZero() || e.Timestamp.Before(r.To))
}

// AddRange requests memories of the events of a session in a range; see RangeEvents and
// AddEvents.
func (s *Service) AddRange(
	ctx context.Context, key sessionstore.Key, r Range, maxEvents int, maxBytes int64, opts RequestOptions,
) (*sessionstore.Operation, error) {
	events, err := s.RangeEvents(ctx, key, r, maxEvents, maxBytes)
	if err != nil {
		return nil, err
	}
	return s.AddEvents(ctx, key, events, opts)
}

// RangeEvents reads the events of a session in a range that no rewind takes back. If there are
// more than maxEvents, or they have more than maxBytes, it fails with ErrInvalid: AddEvents copies
// them in one step.
func (s *Service) RangeEvents(
	ctx context.Context, key sessionstore.Key, r Range, maxEvents int, maxBytes int64,
) ([]sessionstore.Event, error) {
	var back rewinds
	var seq int64
	all := sessionstore.Get{NumRecent: -1, NoState: true}
	err := sessionstore.EachPage(ctx, s.sessions, key, all, func(page *sessionstore.Session) error {
		for i := range page.Events {
			seq++
			back.see(sessionstore.NumberedEvent{Seq: seq, Event: page.Events[i]})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	spans := back.spans()
	var events []sessionstore.Event
	bytes := int64(0)
	seq = 0
	err = sessionstore.EachPage(ctx, s.sessions, key, all, func(page *sessionstore.Session) error {
		for _, e := range page.Events {
			seq++
			if !r.has(&e) || e.RewindBefore != "" || spans.has(sessionstore.NumberedEvent{Seq: seq, Event: e}) {
				continue
			}
			events = append(events, e)
			if bytes += int64(len(e.Doc)); len(events) > maxEvents || bytes > maxBytes {
				return fmt.Errorf("%w: the session has more than %d events or %d bytes in that time: request fewer",
					memory.ErrInvalid, maxEvents, maxBytes)
			}
		}
		return nil
	})
	return events, err
}

// AddEvents requests memories of events of a session, which may be one of another scope than
// that of key. Events that wait in a session go on waiting, and events that memories of the scope
// were made of before change nothing.
func (s *Service) AddEvents(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	opts RequestOptions) (*sessionstore.Operation, error) {
	return s.request(ctx, key, events, sessionstore.Append{OneShot: true, Request: opts.request(ctx, key.Scope)})
}

// MaxGiven is how many facts one request may give, as in Memory Bank.
const MaxGiven = 5

// GivenFact is a fact that a client states, to be compared with known ones.
type GivenFact struct {
	Fact   string   `json:"fact"`
	Topics []string `json:"topics,omitempty"`
	// Trust is the source of the fact; "" is memory.TrustUser, whom the client speaks for.
	Trust memory.Trust `json:"trust,omitempty"`
}

// givenRole is the role of an event that is a given fact. No turn has it.
const givenRole = "fact"

// IngestFacts requests memories of facts as they are: nothing is extracted, but
// they are compared with known ones. They are events of a one-shot session. The
// operation is Findable once the memories are made.
func (s *Service) IngestFacts(
	ctx context.Context, scope memory.Scope, facts []GivenFact, opts RequestOptions,
) (*sessionstore.Operation, error) {
	if len(facts) == 0 || len(facts) > MaxGiven {
		return nil, fmt.Errorf("%w: facts: want 1 to %d of them, not %d", memory.ErrInvalid, MaxGiven, len(facts))
	}
	// The name is for people who read a source. Only earlier versions looked at it.
	key := sessionstore.Key{Scope: scope, ID: "facts-" + uuid.NewString()}
	var events []sessionstore.Event
	for i, f := range facts {
		// A time each, as they were said one after another.
		at := sessionstore.Micros(s.opts.Now().Add(time.Duration(i) * time.Microsecond))
		e, err := f.event(fmt.Sprintf("fact-%d", i+1), at)
		if err != nil {
			return nil, fmt.Errorf("facts[%d]: %w", i, err)
		}
		events = append(events, e)
	}
	if err := s.roomForMore(ctx, scope); err != nil {
		return nil, err
	}
	r := opts.request(ctx, scope)
	r.Facts = true
	how := sessionstore.Append{OneShot: true, Request: r}
	done, err := s.sessions.Append(ctx, key, s.InZone(ctx, scope.App, events, opts.Zone), how)
	if err != nil {
		return nil, err
	}
	s.wake()
	for i := range facts {
		m := memory.Memory{Fact: facts[i].Fact, Trust: facts[i].Trust.Source()}
		quarantine(&m)
		done.Operation.Quarantined = done.Operation.Quarantined || m.State != ""
	}
	return done.Operation, nil
}

// event makes an event of a given fact. It fails with ErrInvalid if no memory can
// have the fact or its topics.
func (f GivenFact) event(id string, at time.Time) (e sessionstore.Event, err error) {
	if err := f.validate(at); err != nil {
		return e, err
	}
	metadata := map[string]any{"topics": f.Topics}
	if f.Trust != "" {
		metadata["trust"] = f.Trust
	}
	doc, err := json.Marshal(map[string]any{
		"id": id, "author": "client", "timestamp": sessionstore.FormatTime(at),
		"content":        map[string]any{"role": givenRole, "parts": []any{map[string]any{"text": f.Fact}}},
		"customMetadata": metadata,
	})
	if err != nil {
		return e, err
	}
	return sessionstore.ParseEvent(doc)
}

// validate reports the first rule of a memory that a given fact breaks. The ID
// and the scope are any valid ones, as they are not of the fact.
func (f GivenFact) validate(at time.Time) error {
	m := memory.Memory{
		ID: "fact", Scope: memory.Scope{App: "app", User: "user"}, Kind: memory.KindFact,
		Fact: f.Fact, Topics: f.Topics, Timestamp: at, Trust: f.Trust,
	}
	return m.Validate()
}

// readGivenFact reads an event that is a given fact, and reports false for any
// other.
func readGivenFact(session string, e sessionstore.Event) (f extract.Fact, ok bool) {
	if e.Content.Role != givenRole {
		return f, false
	}
	var doc struct {
		CustomMetadata struct{ Topics []string }
	}
	_ = json.Unmarshal(e.Doc, &doc) // metadata of another shape has no topics
	given := GivenFact{Fact: e.Text(), Topics: doc.CustomMetadata.Topics}
	return extract.Fact{
		SessionID: session, Text: given.Fact, Topics: given.Topics, Timestamp: e.UTCOffset.In(e.Timestamp),
		EventIDs: []string{e.ID}, Quote: given.Fact, Trust: e.Trust,
	}, given.validate(e.Timestamp) == nil
}
