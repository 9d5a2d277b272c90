package server

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// sessionBody is a Session in an answer.
type sessionBody struct {
	ID             string                     `json:"id"`
	App            string                     `json:"appName"`
	User           string                     `json:"userId"`
	State          map[string]json.RawMessage `json:"state"`
	Events         *[]json.RawMessage         `json:"events,omitzero"`
	LastUpdateTime time.Time                  `json:"lastUpdateTime"`
}

func sessionOf(s *sessionstore.Session, events bool) sessionBody {
	out := sessionBody{ID: s.ID, App: s.App, User: s.User, State: map[string]json.RawMessage{}, LastUpdateTime: s.LastUpdateTime}
	for k, v := range s.State {
		out.State[k] = json.RawMessage(v)
	}
	if events {
		list := eventsOf(s.Events)
		out.Events = &list
	}
	return out
}

func eventsOf(events []sessionstore.Event) []json.RawMessage {
	out := make([]json.RawMessage, len(events))
	for i, e := range events {
		out[i] = json.RawMessage(e.Doc)
	}
	return out
}

// maxEvents is how many events one request may bring: enough for a long
// session, few enough that others need not wait long for its commit.
const maxEvents = 10_000

// eventList is the events of a request as they came. It stops reading when
// there are too many.
type eventList []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (l *eventList) UnmarshalJSON(raw []byte) (err error) {
	switch raw[0] {
	case 'n':
		return nil
	case '[':
	default:
		return invalid("want a list of events")
	}
	if *l, err = strict.Elements(raw, maxEvents); err == nil && len(*l) > maxEvents {
		err = invalid("more than %d events: send them in several requests", maxEvents)
	}
	return err
}

// parseEvents reads events as they came; what names the list in errors.
func parseEvents(what string, raw eventList) ([]sessionstore.Event, error) {
	out := make([]sessionstore.Event, len(raw))
	for i, r := range raw {
		var err error
		if out[i], err = sessionstore.ParseEvent(r); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", what, i, err)
		}
	}
	return out, nil
}

// parseState reads a state object; none is empty.
func parseState(what string, raw json.RawMessage) (sessionstore.State, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return sessionstore.State{}, nil
	}
	return sessionstore.ParseState(what, raw)
}

// owned refuses a body that names another app or user than the path does.
func owned(scope memory.Scope, app, user string) error {
	if app != "" && app != scope.App {
		return invalid("appName: the body says %.80q, the path %q", app, scope.App)
	}
	if user != "" && user != scope.User {
		return invalid("userId: the body says %.80q, the path %q", user, scope.User)
	}
	return nil
}

// sessionFields are those of a whole Session, in either of ADK's spellings. Its
// times are not the client's to set: they are read so that what a GET answered
// can be sent back.
type sessionFields struct {
	ID             string          `json:"id"`
	App            string          `json:"appName"`
	User           string          `json:"userId"`
	AppSnake       string          `json:"app_name"`
	UserSnake      string          `json:"user_id"`
	State          json.RawMessage `json:"state"`
	Events         eventList       `json:"events"`
	LastUpdateTime json.RawMessage `json:"lastUpdateTime"`
	LastUpdate     json.RawMessage `json:"last_update_time"`
}

func (f *sessionFields) owned(scope memory.Scope) error {
	if err := owned(scope, f.App, f.User); err != nil {
		return err
	}
	return owned(scope, f.AppSnake, f.UserSnake)
}

func (s *Server) createSession(c echo.Context, scope memory.Scope) error {
	var req sessionFields
	if err := body(c, &req); err != nil {
		return err
	}
	if err := req.owned(scope); err != nil {
		return err
	}
	var create sessionstore.Create
	var err error
	if create.State, err = parseState("state", req.State); err != nil {
		return err
	}
	if create.Events, err = parseEvents("events", req.Events); err != nil {
		return err
	}
	session, err := s.sessions.Create(c.Request().Context(), sessionstore.Key{Scope: scope, ID: req.ID}, create)
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, sessionOf(session, true))
}

type sessionsBody struct {
	Sessions      []sessionBody `json:"sessions"`
	NextPageToken string        `json:"nextPageToken,omitzero"`
}

func (s *Server) answerSessions(c echo.Context, page sessionstore.Page) error {
	out := sessionsBody{NextPageToken: page.NextPageToken}
	for i := range page.Sessions {
		out.Sessions = append(out.Sessions, sessionOf(&page.Sessions[i], false))
	}
	return answer(c, http.StatusOK, out)
}

func listOf(c echo.Context) (list sessionstore.List, err error) {
	list.PageToken = c.QueryParam("pageToken")
	list.PageSize, err = pageSize(c)
	return list, err
}

func (s *Server) listSessions(c echo.Context, scope memory.Scope) error {
	list, err := listOf(c)
	if err != nil {
		return err
	}
	page, err := s.sessions.List(c.Request().Context(), scope, list)
	if err != nil {
		return err
	}
	return s.answerSessions(c, page)
}

// listAppSessions is the one read across users.
func (s *Server) listAppSessions(c echo.Context) error {
	app, err := param(c, "app")
	if err != nil {
		return err
	}
	list, err := listOf(c)
	if err != nil {
		return err
	}
	page, err := s.sessions.ListApp(c.Request().Context(), app, list)
	if err != nil {
		return err
	}
	return s.answerSessions(c, page)
}

func (s *Server) getSession(c echo.Context, key sessionstore.Key) error {
	get := sessionstore.Get{NumRecent: -1}
	var err error
	if v := c.QueryParam("numRecentEvents"); v != "" {
		if get.NumRecent, err = strconv.Atoi(v); err != nil || get.NumRecent < 0 {
			return invalid("numRecentEvents: want a whole number from 0 to %d, not %.40q", math.MaxInt, v)
		}
	}
	if v := c.QueryParam("after"); v != "" {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			v = strconv.Quote(strings.Replace(v, " ", "+", 1)) // a plus sign that nobody escaped reads as a blank
		}
		if get.After, err = sessionstore.ParseTime("after", []byte(v)); err != nil {
			return err
		}
	}
	session, err := s.sessions.Get(c.Request().Context(), key, get)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, sessionOf(session, true))
}

// patchSession records a change of state as an event, as ADK's servers do.
func (s *Server) patchSession(c echo.Context, key sessionstore.Key) error {
	var req struct {
		StateDelta json.RawMessage `json:"stateDelta"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	if len(req.StateDelta) == 0 || string(req.StateDelta) == "null" {
		return invalid("stateDelta is missing")
	}
	delta, err := parseState("stateDelta", req.StateDelta)
	if err != nil {
		return err
	}
	event, err := sessionstore.NewStateEvent("p-"+uuid.NewString(), delta)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if _, err := s.sessions.Append(ctx, key, []sessionstore.Event{event}, sessionstore.Append{}); err != nil {
		return err
	}
	session, err := s.sessions.Get(ctx, key, sessionstore.Get{NumRecent: -1})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, sessionOf(session, true))
}

func (s *Server) deleteSession(c echo.Context, key sessionstore.Key) error {
	if err := s.sessions.Delete(c.Request().Context(), key); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// appendEvents takes one event, or a list of them under "events".
func (s *Server) appendEvents(c echo.Context, key sessionstore.Key) error {
	var raw json.RawMessage
	if err := body(c, &raw); err != nil {
		return err
	}
	events, err := eventOrEvents(raw)
	if err != nil {
		return err
	}
	if keys := c.QueryParams()["outputKey"]; keys != nil {
		for i := range events {
			if events[i], err = events[i].WithOutput(keys[0]); err != nil {
				return err
			}
		}
	}
	done, err := s.sessions.Append(c.Request().Context(), key, events, sessionstore.Append{})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Events         []json.RawMessage `json:"events"`
		LastUpdateTime time.Time         `json:"lastUpdateTime"`
	}{eventsOf(done.Events), done.LastUpdateTime})
}

func eventOrEvents(raw json.RawMessage) ([]sessionstore.Event, error) {
	if len(raw) == 0 {
		return nil, invalid("body is empty: want an event, or {\"events\": [...]}")
	}
	var fields map[string]json.RawMessage
	if err := strict.Decode("", raw, &fields); err != nil {
		return nil, err
	}
	list, many := fields["events"]
	if !many {
		event, err := sessionstore.ParseEvent(raw)
		return []sessionstore.Event{event}, err
	}
	for name := range fields {
		if name != "events" {
			return nil, invalid("unknown field %.80q beside events", name)
		}
	}
	if string(list) == "null" {
		return nil, invalid("events: want a list, not null")
	}
	var events eventList
	if err := strict.Decode("events", list, &events); err != nil {
		return nil, err
	}
	return parseEvents("events", events)
}

func (s *Server) addSession(c echo.Context, key sessionstore.Key) error {
	wait, err := flag(c, "wait")
	if err != nil {
		return err
	}
	var req struct {
		StartTime            moment `json:"startTime"`
		EndTime              moment `json:"endTime"`
		DisableConsolidation bool   `json:"disableConsolidation"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	from, to, opts := req.StartTime.Time, req.EndTime.Time, ingest.RequestOptions{DisableConsolidation: req.DisableConsolidation}
	var op *sessionstore.Operation
	switch {
	case from.IsZero() && to.IsZero():
		op, err = s.ingest.AddSession(c.Request().Context(), key, opts)
	case !to.IsZero() && !from.Before(to):
		return invalid("endTime: want a time after startTime")
	default:
		op, err = s.ingest.AddRange(c.Request().Context(), key, from, to, maxEvents, opts)
	}
	if err != nil {
		return err
	}
	return s.answerOperation(c, op, wait)
}
