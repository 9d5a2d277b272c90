package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// session writes a session up to its events, or without them.
func (a *answer) session(s *sessionstore.Session) {
	a.text(`{"id":`)
	a.value(s.ID)
	a.text(`,"appName":`)
	a.value(s.App)
	a.text(`,"userId":`)
	a.value(s.User)
	if s.DisplayName != "" {
		a.text(`,"displayName":`)
		a.value(s.DisplayName)
	}
	if len(s.Labels) > 0 {
		a.text(`,"labels":`)
		a.value(s.Labels)
	}
	if s.State != nil {
		a.text(`,"state":`)
		a.state(s.State)
	}
}

// sessionEnd writes the rest of a session.
func (a *answer) sessionEnd(s *sessionstore.Session) {
	a.text(`,"createTime":`)
	a.value(s.CreateTime)
	if !s.ExpireTime.IsZero() {
		a.text(`,"expireTime":`)
		a.value(s.ExpireTime)
	}
	a.text(`,"lastUpdateTime":`)
	a.value(s.LastUpdateTime)
	a.token(s.NextPageToken)
	a.text("}")
}

// checkScope refuses a body that names another app or user than the path does.
// The path decides the scope; a body may only repeat it.
func checkScope(scope memory.Scope, app, user string) error {
	if app != "" && app != scope.App {
		return invalid("appName: the body has %.80q, the path %q", app, scope.App)
	}
	if user != "" && scope.OfApp() {
		return invalid("userId: the body has %.80q, and the path is that of knowledge for all users", user)
	}
	if user != "" && user != scope.User {
		return invalid("userId: the body has %.80q, the path %q", user, scope.User)
	}
	return nil
}

// sessionFields are the fields of a whole Session in a request, in the spelling
// of this API or of ADK Python. The times of making and of the last change are ignored,
// since the server sets them. They are allowed so that a client can send back what a
// GET answered.
type sessionFields struct {
	detailFields
	ID             string    `json:"id"`
	App            string    `json:"appName"`
	User           string    `json:"userId"`
	AppSnake       string    `json:"app_name"`
	UserSnake      string    `json:"user_id"`
	State          rawValue  `json:"state"`
	Events         eventList `json:"events"`
	TimeZone       timeZone  `json:"timeZone"` // of events without an offset
	CreateTime     rawValue  `json:"createTime"`
	LastUpdateTime rawValue  `json:"lastUpdateTime"`
	LastUpdate     rawValue  `json:"last_update_time"`
}

func (f *sessionFields) checkScope(scope memory.Scope) error {
	if err := checkScope(scope, f.App, f.User); err != nil {
		return err
	}
	return checkScope(scope, f.AppSnake, f.UserSnake)
}

// parseState reads a state object. An absent one is empty. field names it in
// errors.
func parseState(field string, raw rawValue) (sessionstore.State, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return sessionstore.State{}, nil
	}
	return sessionstore.ParseState(field, raw)
}

// createSession answers POST {scope}/sessions. The store makes an id if the body
// has none.
func (s *Server) createSession(c echo.Context, scope memory.Scope) error {
	var req struct {
		sessionFields
		TTL rawValue `json:"ttl"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := req.checkScope(scope); err != nil {
		return err
	}
	create := sessionstore.Create{NoState: true} // the answer reads it once there is room
	details, err := req.patch(req.TTL)
	if err != nil {
		return err
	}
	create.Details = details.Details()
	if create.State, err = parseState("state", req.State); err != nil {
		return err
	}
	if create.Events, err = parseEvents(scope.User, "events", req.Events); err != nil {
		return err
	}
	create.Events = s.ingest.InZone(c.Request().Context(), scope.App, create.Events, req.TimeZone.Location)
	key := sessionstore.Key{Scope: scope, ID: req.ID}
	session, err := s.sessions.Create(c.Request().Context(), key, create)
	if err != nil {
		return err
	}
	note(c, func(e *access.Entry) { e.Session = session.ID })
	releaseBody(c) // what it brought is stored
	return s.sendSession(c, http.StatusCreated, session.Key, sessionstore.Get{NumRecent: -1}, false)
}

// sendSessions reads a page of sessions and writes it.
func (s *Server) sendSessions(c echo.Context, scope memory.Scope,
	read func(context.Context, sessionstore.List) (sessionstore.Page, error)) error {
	list, err := pageParams(c)
	if err != nil {
		return err
	}
	if list.NoState, err = noState(c); err != nil {
		return err
	}
	if list.Where, err = aip160.Parse(c.QueryParam("filter"), sessionstore.WhereFields()); err != nil {
		return err
	}
	if list.Order, err = sessionstore.ParseOrder(c.QueryParam("orderBy")); err != nil {
		return err
	}
	ctx := c.Request().Context()
	var page sessionstore.Page
	share, err := s.withRoom(ctx, scope, sessionstore.MaxListBytes, roomTime, func(room int64) error {
		list.Room = room
		page, err = read(ctx, list)
		return err
	})
	if err != nil {
		return err
	}
	defer share.Release()
	bytes := int64(0)
	for i := range page.Sessions {
		bytes += sessionstore.SessionBytes(&page.Sessions[i], sessionstore.StateBytes(page.Sessions[i].State))
	}
	share.Shrink(bytes)
	out := newAnswer(c, http.StatusOK)
	out.within(bytes)
	out.text(`{"sessions":[`)
	for i := range page.Sessions {
		if i > 0 {
			out.text(",")
		}
		out.session(&page.Sessions[i])
		out.sessionEnd(&page.Sessions[i])
	}
	out.text("]")
	out.token(page.NextPageToken)
	out.text("}")
	return out.finish()
}

// noState reads the parameter state: false leaves states out.
func noState(c echo.Context) (bool, error) {
	if c.QueryParam("state") == "" {
		return false, nil
	}
	state, err := boolParam(c, "state")
	return !state, err
}

// pageParams reads pageSize and pageToken.
func pageParams(c echo.Context) (list sessionstore.List, err error) {
	list.PageToken = c.QueryParam("pageToken")
	list.PageSize, err = pageSizeParam(c)
	return list, err
}

// listSessions answers GET {scope}/sessions.
func (s *Server) listSessions(c echo.Context, scope memory.Scope) error {
	return s.sendSessions(c, scope, func(ctx context.Context, list sessionstore.List) (sessionstore.Page, error) {
		return s.sessions.List(ctx, scope, list)
	})
}

// listAppSessions answers GET /v1/apps/{app}/sessions.
func (s *Server) listAppSessions(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	scope := memory.Scope{App: app}
	return s.sendSessions(c, scope, func(ctx context.Context, list sessionstore.List) (sessionstore.Page, error) {
		return s.sessions.ListApp(ctx, app, list)
	})
}

// findSession answers GET /v1/apps/{app}/sessions/{id} as getSession does. Where several
// users have a session of that id it is 400, and names them.
func (s *Server) findSession(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	id, err := pathParam(c, "session")
	if err != nil {
		return err
	}
	keys, err := s.sessions.Find(c.Request().Context(), app, id)
	switch {
	case err != nil:
		return err
	case len(keys) == 0:
		return fmt.Errorf("session %q of app %q: %w", id, app, memory.ErrNotFound)
	case len(keys) == 1:
		return s.getSession(c, keys[0])
	}
	var users []string
	for _, key := range keys[:min(len(keys), mostNamed)] {
		users = append(users, strconv.Quote(key.User))
	}
	return invalid("session %q is ambiguous: %d users of app %q or more have one of that id, such as %s: read it in"+
		" the scope of one", id, len(keys), app, strings.Join(users, ", "))
}

// mostNamed is how many users a message names.
const mostNamed = 5

// getSession answers GET {scope}/sessions/{id}: with all events that the parameters
// choose, or with a page of them if they say pageSize or pageToken.
func (s *Server) getSession(c echo.Context, key sessionstore.Key) error {
	get, paged, err := getParams(c)
	if err != nil {
		return err
	}
	return s.sendSession(c, http.StatusOK, key, get, paged)
}

// getParams reads which events of a session to show. numRecentEvents=0 leaves out all
// events, so a request without it asks for -1, which means all of them.
func getParams(c echo.Context) (get sessionstore.Get, paged bool, err error) {
	get.NumRecent = -1
	if v := c.QueryParam("numRecentEvents"); v != "" {
		if get.NumRecent, err = strconv.Atoi(v); err != nil || get.NumRecent < 0 {
			return get, false, invalid("numRecentEvents: want a whole number from 0 to %d, not %.40q", math.MaxInt, v)
		}
	}
	if get.After, err = timeParam(c, "after"); err != nil {
		return get, false, err
	}
	if get.NoState, err = noState(c); err != nil {
		return get, false, err
	}
	get.PageToken = c.QueryParam("pageToken")
	get.PageSize, err = pageSizeParam(c)
	paged = get.PageSize > 0 || get.PageToken != ""
	if paged && get.PageSize == 0 {
		get.PageSize = memory.DefaultPageSize
	}
	return get, paged, err
}

// readRoom is how much room a page of a session takes before its size is known: its
// events, and a state of usual size.
const readRoom = sessionstore.PageBytes + 64<<10

// sendSession writes a session, and reads its events in pages while it writes. It
// holds one page at a time. If a later page cannot be read, as the session was
// deleted meanwhile, the answer breaks off. A session that was created has all its time
// to wait for room, as a refusal would say that nothing was done.
func (s *Server) sendSession(c echo.Context, status int, key sessionstore.Key, get sessionstore.Get, paged bool) error {
	out := newAnswer(c, status)
	for n, more := 0, true; more; {
		page, share, err := s.sessionPage(c, key, get, n > 0 || status == http.StatusCreated)
		if err != nil {
			out.fail(err)
			return out.finish()
		}
		bytes := sessionstore.StateBytes(page.State)
		for _, e := range page.Events {
			bytes += int64(len(e.Doc))
		}
		share.Shrink(bytes)
		out.within(bytes)
		if n == 0 {
			out.session(page)
			out.text(`,"events":[`)
		}
		out.events(page.Events, n)
		n += len(page.Events)
		if more = page.NextPageToken != "" && !paged; !more {
			out.text("]")
			out.sessionEnd(page)
		}
		get.PageToken, get.NoState = page.NextPageToken, true
		more = out.flush() && more
		share.Release()
	}
	return out.finish()
}

// sessionPage reads a page of a session, and takes the room that it needs.
func (s *Server) sessionPage(c echo.Context, key sessionstore.Key, get sessionstore.Get, later bool) (
	page *sessionstore.Session, share *inflight.Share, err error) {
	err = pageWithin(c, later, func(ctx context.Context, patience time.Duration) error {
		share, err = s.withRoom(ctx, key.Scope, readRoom, patience, func(room int64) (err error) {
			get.Room = room
			page, err = s.sessions.Get(ctx, key, get)
			return err
		})
		return err
	})
	return page, share, err
}

// getState answers GET {scope}/state: the state of the user and of the app, which each
// session of the user shows beside its own.
func (s *Server) getState(c echo.Context, scope memory.Scope) error {
	ctx := c.Request().Context()
	var state sessionstore.State
	share, err := s.withRoom(ctx, scope, stateRoom, roomTime, func(room int64) (err error) {
		state, err = s.sessions.State(ctx, scope, room)
		return err
	})
	if err != nil {
		return err
	}
	defer share.Release()
	bytes := sessionstore.StateBytes(state)
	share.Shrink(bytes)
	out := newAnswer(c, http.StatusOK)
	out.within(bytes)
	out.text(`{"appName":`)
	out.value(scope.App)
	out.text(`,"userId":`)
	out.value(scope.User)
	out.text(`,"state":`)
	out.state(state)
	out.text("}")
	return out.finish()
}

// stateRoom is how much room a state takes before its size is known: most have a few
// hundred bytes, and one that has more is read again with the room that it needs.
const stateRoom = 64 << 10

// sendPatched writes a session without its events, of which there may be any number.
func (s *Server) sendPatched(c echo.Context, key sessionstore.Key) error {
	session, share, err := s.sessionPage(c, key, sessionstore.Get{}, false)
	if err != nil {
		return err
	}
	defer share.Release()
	out := newAnswer(c, http.StatusOK)
	out.within(sessionstore.StateBytes(session.State))
	out.session(session)
	out.sessionEnd(session)
	return out.finish()
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
	session, share, err := s.sessionPage(c, key, sessionstore.Get{NumRecent: 0}, false)
	if err != nil {
		return err
	}
	defer share.Release()
	text, err := sessionstore.Render(*req.Template, session.State, nil)
	if err != nil {
		return err
	}
	// Before the text is made into JSON, where a control character takes six bytes.
	ctx, bytes := c.Request().Context(), int64(len(text))
	if err := share.Grow(ctx, renderFactor*bytes, roomTime); err != nil {
		return err
	}
	out := newAnswer(c, http.StatusOK)
	out.within(bytes)
	out.value(struct {
		Text string `json:"text"`
	}{text})
	return out.finish()
}

// renderFactor is how many times its size a rendered text takes at most: itself, and
// as JSON, where a control character has six bytes.
const renderFactor = 7
