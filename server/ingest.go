package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// ingestBody is the body of an ingest request. It has one of three forms:
// {sessionId, events}, a whole Session, or {facts} without a session. The state
// of a whole Session is ignored, because ingestion never changes state.
type ingestBody struct {
	SessionID    string             `json:"sessionId"`
	SessionSnake string             `json:"session_id"`
	Facts        []ingest.GivenFact `json:"facts"`
	requestOptions
	Trigger    *appconfig.Trigger `json:"trigger"`
	ForceFlush bool               `json:"forceFlush"`
	sessionFields
}

// requestOptions are the fields of a request for memories that say how they are made.
type requestOptions struct {
	DisableConsolidation bool                       `json:"disableConsolidation"`
	AllowedTopics        []string                   `json:"allowedTopics"`
	TTL                  lifetime                   `json:"ttl"`
	RevisionTTL          lifetime                   `json:"revisionTtl"`
	Metadata             memory.Metadata            `json:"metadata"`
	MetadataMerge        sessionstore.MetadataMerge `json:"metadataMergeStrategy"`
	Labels               memory.Labels              `json:"labels"`
}

// options are the options for package ingest.
func (o *requestOptions) options() ingest.RequestOptions {
	return ingest.RequestOptions{DisableConsolidation: o.DisableConsolidation, AllowedTopics: o.AllowedTopics,
		TTL: o.TTL.Duration, RevisionTTL: o.RevisionTTL.Duration, Metadata: o.Metadata,
		MetadataMerge: o.MetadataMerge, Labels: o.Labels}
}

func (b *ingestBody) options() ingest.RequestOptions {
	opts := b.requestOptions.options()
	opts.Zone = b.TimeZone.Location
	if b.ID != "" && b.SessionID == "" && b.SessionSnake == "" { // they are those of a whole session
		opts.Labels = nil
	}
	if opts.Flush = b.ForceFlush; b.Trigger != nil {
		t := b.Trigger.Of()
		opts.Trigger = &t
	}
	return opts
}

// checkTrigger refuses a trigger that contradicts itself, or that is beside facts.
func (b *ingestBody) checkTrigger() error {
	switch {
	case b.Trigger != nil && b.Facts != nil:
		return invalid("trigger: memories of facts are made at once: want one or the other")
	case b.Trigger != nil:
		return b.Trigger.Validate("trigger")
	}
	return nil
}

// session returns the session id. The three fields that may hold it must agree.
func (b *ingestBody) session() (string, error) {
	id := ""
	for _, field := range []string{b.SessionID, b.SessionSnake, b.ID} {
		field = strings.TrimSpace(field)
		if id != "" && field != "" && field != id {
			return "", invalid("sessionId is %.80q and also %.80q: want one of them", id, field)
		}
		id = cmp.Or(id, field)
	}
	if id == "" {
		return "", invalid("sessionId is missing")
	}
	return id, nil
}

// sessionEvents returns the session and the events of a body without facts.
func (b *ingestBody) sessionEvents(scope memory.Scope) (key sessionstore.Key, events []sessionstore.Event, err error) {
	key.Scope = scope
	if err := b.checkScope(scope); err != nil {
		return key, nil, err
	}
	if key.ID, err = b.session(); err == nil {
		events, err = parseEvents(scope.User, "events", b.Events)
	}
	return key, events, err
}

// checkFacts refuses a body that has a session or events beside its facts.
func (b *ingestBody) checkFacts(scope memory.Scope) error {
	if b.SessionID != "" || b.SessionSnake != "" || b.ID != "" || len(b.Events) > 0 {
		return invalid("facts: want either facts or a session and its events")
	}
	return b.checkScope(scope)
}

// ingestEvents answers POST {scope}/memories/ingest.
func (s *Server) ingestEvents(c echo.Context, scope memory.Scope) error {
	until, err := waitParam(c)
	if err != nil {
		return err
	}
	var req ingestBody
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	ctx, cancel := storing(c, until)
	defer cancel()
	op, err := s.startIngest(ctx, scope, &req)
	if err != nil {
		return err
	}
	return s.sendRequested(c, op, until)
}

// startIngest stores what req brings and returns the operation that makes
// memories of it.
func (s *Server) startIngest(ctx context.Context, scope memory.Scope, req *ingestBody) (
	*sessionstore.Operation, error) {
	if err := req.checkTrigger(); err != nil {
		return nil, err
	}
	if err := s.ingest.CheckRequest(ctx, scope, req.options()); err != nil {
		return nil, err
	}
	if req.Facts != nil {
		if err := req.checkFacts(scope); err != nil {
			return nil, err
		}
		return s.ingest.IngestFacts(ctx, scope, req.Facts, req.options())
	}
	key, events, err := req.sessionEvents(scope)
	if err != nil {
		return nil, err
	}
	return s.ingest.Ingest(ctx, key, events, req.options())
}

// addSession answers POST {scope}/sessions/{id}/memories: it requests memories
// of the stored events that have none yet. startTime (inclusive) and endTime
// (exclusive) choose a part of the session.
func (s *Server) addSession(c echo.Context, key sessionstore.Key) error {
	until, err := waitParam(c)
	if err != nil {
		return err
	}
	var req struct {
		StartTime moment `json:"startTime"`
		EndTime   moment `json:"endTime"`
		requestOptions
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	ctx, cancel := storing(c, until)
	defer cancel()
	from, to := req.StartTime.Time, req.EndTime.Time
	opts := req.options()
	if err := s.ingest.CheckRequest(ctx, key.Scope, opts); err != nil {
		return err
	}
	var op *sessionstore.Operation
	switch {
	case from.IsZero() && to.IsZero():
		op, err = s.ingest.AddSession(ctx, key, opts)
	case !to.IsZero() && !from.Before(to):
		return invalid("endTime: want a time after startTime")
	default:
		releaseBody(c)
		op, err = s.addRange(ctx, key, ingest.Range{From: from, To: to}, opts)
	}
	if err != nil {
		return err
	}
	return s.sendRequested(c, op, until)
}

// addRange requests memories of a part of a session. Its events are copied as if a
// request had brought them, and so have the bounds of one.
func (s *Server) addRange(ctx context.Context, key sessionstore.Key, r ingest.Range, opts ingest.RequestOptions) (
	*sessionstore.Operation, error) {
	share, err := s.bodies.Take(ctx, key.Scope, decodeFactor*s.opts.MaxBody, roomTime)
	if err != nil {
		return nil, err
	}
	defer share.Release()
	return s.ingest.AddRange(ctx, key, r, maxEvents, s.opts.MaxBody, opts)
}

// previewBody is the JSON of a dry run.
type previewBody struct {
	Facts     []previewFact      `json:"facts"`    // extracted from the events
	Memories  []ingest.Changed   `json:"memories"` // as an ingestion would change them
	Usage     extract.Usage      `json:"usage"`
	Dropped   int                `json:"factsDropped"`
	Values    []previewValue     `json:"values,omitempty"` // for fields of profiles
	ValuesOut int                `json:"valuesDropped,omitzero"`
	Exchanges []extract.Exchange `json:"exchanges"`      // prompts and answers of the model
	Error     string             `json:"error,omitzero"` // why the model's answer cannot be used
}

type previewValue struct {
	SchemaID  string          `json:"schemaId"`
	Field     string          `json:"field"`
	Value     json.RawMessage `json:"value"`
	EventIDs  []string        `json:"eventIds"`
	Quote     string          `json:"quote"`
	Timestamp time.Time       `json:"timestamp"`
}

type previewFact struct {
	Fact      string           `json:"fact"`
	Topics    []string         `json:"topics"`
	EventIDs  []string         `json:"eventIds"`
	Quote     string           `json:"quote"`
	Timestamp time.Time        `json:"timestamp"`
	UTCOffset memory.UTCOffset `json:"utcOffset,omitempty"`
	ValidFrom time.Time        `json:"validFrom,omitzero"`
	Forget    bool             `json:"forget,omitzero"`
}

// dryRun answers POST {scope}/memories/dryRun: what an ingestion of the events
// would extract and change. It stores nothing.
func (s *Server) dryRun(c echo.Context, scope memory.Scope) error {
	var req ingestBody
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.Facts != nil {
		return invalid("facts: a dry run takes events only")
	}
	key, events, err := req.sessionEvents(scope)
	if err == nil {
		err = req.checkTrigger() // a dry run makes memories at once all the same
	}
	if err != nil {
		return err
	}
	if err := s.ingest.CheckRequest(c.Request().Context(), scope, req.options()); err != nil {
		return err
	}
	p, err := s.ingest.DryRun(c.Request().Context(), key, events, req.options())
	if err != nil {
		return err
	}
	out := previewBody{
		Memories: p.Changes, Usage: p.Cost.Usage, Dropped: p.Cost.FactsDropped, Exchanges: p.Exchanges,
		ValuesOut: p.Cost.ValuesDropped,
	}
	for _, v := range p.Values {
		value := previewValue{v.Schema, v.Field, v.Value, v.EventIDs, v.Quote, v.Timestamp.UTC()}
		out.Values = append(out.Values, value)
	}
	for _, f := range p.Facts {
		fact := previewFact{f.Text, f.Topics, f.EventIDs, f.Quote, f.Timestamp.UTC(),
			memory.OffsetOf(f.Timestamp), f.ValidFrom.UTC(), f.Forget}
		out.Facts = append(out.Facts, fact)
	}
	if p.Err != nil {
		out.Error = p.Err.Error()
	}
	return s.sendWithRoom(c, scope, out)
}

// sendWithRoom answers with JSON once there is room for it. It is for an answer that
// cost too much to be made again, so that it is held while the request waits, and so is
// the room of the request's body.
func (s *Server) sendWithRoom(c echo.Context, scope memory.Scope, v any) error {
	raw, err := strict.Encode(v)
	if err != nil {
		return err
	}
	bytes := int64(len(raw))
	if bytes > smallAnswer {
		share, err := s.answers.Take(c.Request().Context(), scope, bytes, roomTime)
		if err != nil {
			return err
		}
		defer share.Release()
	}
	out := newAnswer(c, http.StatusOK)
	out.within(bytes)
	out.raw(raw)
	return out.finish()
}
