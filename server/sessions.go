package server

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// sessionBody is the JSON of a session in an answer.
type sessionBody struct {
	ID    string `json:"id"`
	App   string `json:"appName"`
	User  string `json:"userId"`
	State rawMap `json:"state"` // merged: keys have the prefix of their scope
	// Events is nil in lists of sessions, whose entries have no events. A session
	// without events has an empty list.
	Events         *[]json.RawMessage `json:"events,omitzero"`
	LastUpdateTime time.Time          `json:"lastUpdateTime"`
}

type rawMap = map[string]json.RawMessage

func sessionOf(s *sessionstore.Session, events bool) sessionBody {
	out := sessionBody{ID: s.ID, App: s.App, User: s.User, State: rawMap{}, LastUpdateTime: s.LastUpdateTime}
	for k, v := range s.State {
		out.State[k] = json.RawMessage(v)
	}
	if events {
		list := eventsOf(s.Events)
		out.Events = &list
	}
	return out
}

// checkScope refuses a body that names another app or user than the path does.
// The path decides the scope; a body may only repeat it.
func checkScope(scope memory.Scope, app, user string) error {
	if app != "" && app != scope.App {
		return invalid("appName: the body has %.80q, the path %q", app, scope.App)
	}
	if user != "" && user != scope.User {
		return invalid("userId: the body has %.80q, the path %q", user, scope.User)
	}
	return nil
}

// sessionFields are the fields of a whole Session in a request, in the spelling
// of this API or of ADK Python. The two times are ignored, since the server sets
// them. They are allowed so that a client can send back what a GET answered.
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

func (f *sessionFields) checkScope(scope memory.Scope) error {
	if err := checkScope(scope, f.App, f.User); err != nil {
		return err
	}
	return checkScope(scope, f.AppSnake, f.UserSnake)
}

// parseState reads a state object. An absent one is empty. field names it in
// errors.
func parseState(field string, raw json.RawMessage) (sessionstore.State, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return sessionstore.State{}, nil
	}
	return sessionstore.ParseState(field, raw)
}

// createSession answers POST {scope}/sessions. The store makes an id if the body
// has none.
func (s *Server) createSession(c echo.Context, scope memory.Scope) error {
	var req sessionFields
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := req.checkScope(scope); err != nil {
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
	key := sessionstore.Key{Scope: scope, ID: req.ID}
	session, err := s.sessions.Create(c.Request().Context(), key, create)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusCreated, sessionOf(session, true))
}

// sessionsBody is the JSON of a page of sessions.
type sessionsBody struct {
	Sessions      []sessionBody `json:"sessions"`
	NextPageToken string        `json:"nextPageToken,omitzero"`
}

func sendSessions(c echo.Context, page sessionstore.Page) error {
	out := sessionsBody{NextPageToken: page.NextPageToken}
	for i := range page.Sessions {
		out.Sessions = append(out.Sessions, sessionOf(&page.Sessions[i], false))
	}
	return sendJSON(c, http.StatusOK, out)
}

// pageParams reads pageSize and pageToken.
func pageParams(c echo.Context) (list sessionstore.List, err error) {
	list.PageToken = c.QueryParam("pageToken")
	list.PageSize, err = pageSizeParam(c)
	return list, err
}

// listSessions answers GET {scope}/sessions.
func (s *Server) listSessions(c echo.Context, scope memory.Scope) error {
	list, err := pageParams(c)
	if err != nil {
		return err
	}
	page, err := s.sessions.List(c.Request().Context(), scope, list)
	if err != nil {
		return err
	}
	return sendSessions(c, page)
}

// listAppSessions answers GET /v1/apps/{app}/sessions. It is the only route that
// reads across users.
func (s *Server) listAppSessions(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	list, err := pageParams(c)
	if err != nil {
		return err
	}
	page, err := s.sessions.ListApp(c.Request().Context(), app, list)
	if err != nil {
		return err
	}
	return sendSessions(c, page)
}

// getSession answers GET {scope}/sessions/{id}. numRecentEvents=0 leaves out all
// events, so a request without it asks for -1, which means all of them.
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
			// A time with an offset has a plus sign, which clients often leave
			// unescaped. It arrives as a blank.
			v = strconv.Quote(strings.Replace(v, " ", "+", 1))
		}
		if get.After, err = sessionstore.ParseTime("after", []byte(v)); err != nil {
			return err
		}
	}
	session, err := s.sessions.Get(c.Request().Context(), key, get)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, sessionOf(session, true))
}

// patchSession answers PATCH {scope}/sessions/{id}. It records the change of
// state as an event, as ADK's servers do.
func (s *Server) patchSession(c echo.Context, key sessionstore.Key) error {
	var req struct {
		StateDelta json.RawMessage `json:"stateDelta"`
	}
	if err := decodeBody(c, &req); err != nil {
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
	return sendJSON(c, http.StatusOK, sessionOf(session, true))
}

// deleteSession answers DELETE {scope}/sessions/{id}: 204, also if there is no
// such session.
func (s *Server) deleteSession(c echo.Context, key sessionstore.Key) error {
	if err := s.sessions.Delete(c.Request().Context(), key); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// render answers POST {scope}/sessions/{id}/render: it fills a template in with
// the session's state.
func (s *Server) render(c echo.Context, key sessionstore.Key) error {
	// The pointer tells a missing template from an empty one.
	var req struct {
		Template *string `json:"template"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.Template == nil {
		return invalid("template is missing")
	}
	session, err := s.sessions.Get(c.Request().Context(), key, sessionstore.Get{NumRecent: 0})
	if err != nil {
		return err
	}
	text, err := sessionstore.Render(*req.Template, session.State, nil)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, struct {
		Text string `json:"text"`
	}{text})
}
