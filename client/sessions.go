package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Session is a conversation and its state.
type Session struct {
	ID             string            `json:"id"`
	App            string            `json:"appName"`
	User           string            `json:"userId"`
	DisplayName    string            `json:"displayName"`
	Labels         map[string]string `json:"labels"`
	State          map[string]any    `json:"state"`  // of session, user and app, with prefixes
	Events         []Event           `json:"events"` // nil in a list, and after a change
	CreateTime     time.Time         `json:"createTime"`
	ExpireTime     time.Time         `json:"expireTime"` // from then on it reads as deleted; zero is never
	LastUpdateTime time.Time         `json:"lastUpdateTime"`
}

// NewSession is the initial content of a session.
type NewSession struct {
	ID     string         `json:"id,omitempty"` // "" for a new UUID
	State  map[string]any `json:"state,omitempty"`
	Events []Event        `json:"events,omitempty"`

	DisplayName string            `json:"displayName,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	// ExpireTime is when the session expires, or TTL how long from now; one of them may be
	// set. Without either it is never, or as memoryd is configured.
	ExpireTime time.Time     `json:"expireTime,omitzero"`
	TTL        time.Duration `json:"-"`
}

// CreateSession creates a session; memory.ErrExists if its id is in use.
func (u *User) CreateSession(ctx context.Context, s NewSession) (*Session, error) {
	generated := s.ID == ""
	if generated {
		s.ID = uuid.NewString()
	}
	var err error
	if s.Events, err = withIDs(s.Events); err != nil {
		return nil, err
	}
	out := &Session{}
	body := struct {
		NewSession
		TTL string `json:"ttl,omitempty"`
		zoned
	}{NewSession: s, zoned: zoned{u.zone}}
	if s.TTL != 0 {
		body.TTL = s.TTL.String()
	}
	err = u.do(ctx, call{method: http.MethodPost, path: "/sessions", body: body, answer: out, idempotent: generated})
	if generated && errors.Is(err, memory.ErrExists) { // an earlier try created it: the id is a new UUID
		return u.Session(ctx, s.ID, Recent{})
	}
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// checked refuses an answer without an id. memoryd always sends one; a proxy may
// answer something else.
func (s *Session) checked() (*Session, error) {
	if s.ID == "" {
		return nil, errors.New("the answer is not a session of memoryd")
	}
	return s, nil
}

// Recent selects the events of a session to read.
type Recent struct {
	Events int       // how many of the last ones; 0 means all, negative none
	After  time.Time // leaves out events before it; zero means all
}

// query is r as parameters of a request.
func (r Recent) query() url.Values {
	q := url.Values{}
	if r.Events != 0 {
		q.Set("numRecentEvents", strconv.Itoa(max(r.Events, 0)))
	}
	if !r.After.IsZero() {
		q.Set("after", r.After.UTC().Format(time.RFC3339Nano))
	}
	return q
}

// Session reads a session; memory.ErrNotFound if there is none of that id.
func (u *User) Session(ctx context.Context, id string, recent Recent) (*Session, error) {
	out := &Session{}
	err := u.do(ctx, call{method: http.MethodGet, path: "/sessions/" + url.PathEscape(id), query: recent.query(),
		answer: out, idempotent: true})
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// SessionPage is one page of sessions, without events.
type SessionPage struct {
	Sessions      []Session `json:"sessions"`
	NextPageToken string    `json:"nextPageToken"` // "" on the last page
}

// Sessions reads a page of the user's sessions, newest created first unless the list has
// another order. A page of sessions with much state ends early, and so may one of a list
// with a filter: go on while there is a token.
func (u *User) Sessions(ctx context.Context, list sessionstore.List) (SessionPage, error) {
	var out SessionPage
	err := u.do(ctx, call{method: http.MethodGet, path: "/sessions", query: page(list), answer: &out, idempotent: true})
	return out, err
}

// EachSession yields the user's sessions, in the order of the list, from as many pages as
// they take. An error ends it.
func (u *User) EachSession(ctx context.Context, list sessionstore.List) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		for {
			page, err := u.Sessions(ctx, list)
			if err != nil {
				yield(Session{}, err)
				return
			}
			for _, s := range page.Sessions {
				if !yield(s, nil) {
					return
				}
			}
			if list.PageToken = page.NextPageToken; list.PageToken == "" {
				return
			}
		}
	}
}

// AppSessions reads a page of the sessions of all users of an app.
func (c *Client) AppSessions(ctx context.Context, app string, list sessionstore.List) (SessionPage, error) {
	var out SessionPage
	if err := memory.ValidateID("app", app); err != nil {
		return out, err
	}
	err := c.do(
		ctx,
		call{
			method:     http.MethodGet,
			path:       "/v1/apps/" + url.PathEscape(app) + "/sessions",
			query:      page(list),
			answer:     &out,
			idempotent: true,
		},
	)
	return out, err
}

// ParseSessionFilter reads a filter of sessions, for the Where of a list.
func ParseSessionFilter(filter string) (memory.Where, error) {
	return aip160.Parse(filter, sessionstore.WhereFields())
}

// FindSession reads a session of an app by its id, whose ever it is; memory.ErrInvalid if
// several users have one of that id. It is for admins.
func (c *Client) FindSession(ctx context.Context, app, id string, recent Recent) (*Session, error) {
	if err := memory.ValidateID("app", app); err != nil {
		return nil, err
	}
	out := &Session{}
	err := c.do(ctx, call{method: http.MethodGet, idempotent: true, query: recent.query(), answer: out,
		path: "/v1/apps/" + url.PathEscape(app) + "/sessions/" + url.PathEscape(id)})
	if err != nil {
		return nil, err
	}
	return out.checked()
}

func page(list sessionstore.List) url.Values {
	q := url.Values{}
	if list.Where != nil {
		q.Set("filter", list.Where.String())
	}
	if order := list.Order.String(); order != "" {
		q.Set("orderBy", order)
	}
	if list.PageSize != 0 {
		q.Set("pageSize", strconv.Itoa(list.PageSize))
	}
	if list.PageToken != "" {
		q.Set("pageToken", list.PageToken)
	}
	if list.NoState {
		q.Set("state", "false")
	}
	return q
}

// PatchSession changes state. memoryd records the change as an event. The session that
// it returns has no events.
func (u *User) PatchSession(ctx context.Context, id string, delta map[string]any) (*Session, error) {
	out := &Session{}
	if err := u.do(ctx, call{method: http.MethodPatch, path: "/sessions/" + url.PathEscape(id),
		body: map[string]any{"stateDelta": delta}, answer: out}); err != nil {
		return nil, err
	}
	return out, nil
}

// SessionChange is a change of a session: fields that are nil stay as they are.
type SessionChange struct {
	// State replaces the session's own keys, unless it is nil. It sets keys of the user and of
	// the app, and removes none of theirs. No event records it.
	State       map[string]any
	StateDelta  map[string]any     // recorded as an event, after State
	DisplayName *string            // "" clears it
	Labels      *map[string]string // all labels; empty clears them
	// ExpireTime is when the session expires, or TTL how long from now; one of them may be
	// set. Zero clears what was set before.
	ExpireTime *time.Time
	TTL        *time.Duration
}

// UpdateSession changes a session in one step, and returns it without events. memoryd
// records a change of state as an event.
func (u *User) UpdateSession(ctx context.Context, id string, c SessionChange) (*Session, error) {
	body := map[string]any{}
	if c.State != nil {
		body["state"] = c.State
	}
	if c.StateDelta != nil {
		body["stateDelta"] = c.StateDelta
	}
	if c.DisplayName != nil {
		body["displayName"] = *c.DisplayName
	}
	if c.Labels != nil {
		body["labels"] = *c.Labels
	}
	if c.ExpireTime != nil {
		body["expireTime"] = nil
		if !c.ExpireTime.IsZero() {
			body["expireTime"] = c.ExpireTime
		}
	}
	if c.TTL != nil {
		body["ttl"] = c.TTL.String()
	}
	out := &Session{}
	if err := u.do(ctx, call{method: http.MethodPatch, path: "/sessions/" + url.PathEscape(id), body: body,
		answer: out}); err != nil {
		return nil, err
	}
	return out, nil
}

// DeleteSession deletes a session. Its memories stay. A missing session is not an
// error.
func (u *User) DeleteSession(ctx context.Context, id string) error {
	return u.do(ctx, call{method: http.MethodDelete, path: "/sessions/" + url.PathEscape(id), idempotent: true})
}

// Appended is the result of Append.
type Appended struct {
	Events         []Event   `json:"events"` // as stored
	LastUpdateTime time.Time `json:"lastUpdateTime"`
	// Findable says that a search which begins after this answer finds the turns of
	// the events. It is false: AddSession or Ingest requests memories of events.
	Findable bool `json:"findable"`
}

// Append stores events in a session, all or none. If outputKey is not "", the text
// of a final response is stored in the state under that key, as with ADK's
// output_key.
func (u *User) Append(ctx context.Context, session, outputKey string, events ...Event) (Appended, error) {
	var out Appended
	q := url.Values{}
	if outputKey != "" {
		q.Set("outputKey", outputKey)
	}
	events, err := withIDs(events)
	if err == nil {
		body := struct {
			Events []Event `json:"events"`
			zoned
		}{events, zoned{u.zone}}
		err = u.do(
			ctx,
			call{method: http.MethodPost, path: "/sessions/" + url.PathEscape(session) + "/events", query: q,
				body: body, answer: &out, idempotent: true},
		)
	}
	return out, err
}

// Render replaces each {key} in a template with the value in the session's state,
// by the rules of sessionstore.Render.
func (u *User) Render(ctx context.Context, session, template string) (string, error) {
	var out struct {
		Text string `json:"text"`
	}
	err := u.do(ctx, call{method: http.MethodPost, path: "/sessions/" + url.PathEscape(session) + "/render",
		body: map[string]any{"template": template}, answer: &out, idempotent: true})
	return out.Text, err
}

// State reads the state of the user and that of the app, keys with their prefix: what
// each session of the user shows beside its own. It needs no session.
func (u *User) State(ctx context.Context) (map[string]any, error) {
	var out struct {
		State map[string]any `json:"state"`
	}
	err := u.do(ctx, call{method: http.MethodGet, path: "/state", answer: &out, idempotent: true})
	return out.State, err
}

// AddSession makes memories of the events appended to a session since the last
// call (ADK's add_session_to_memory). With wait it returns once they are made, or
// after 30 s with the operation as it is then.
func (u *User) AddSession(ctx context.Context, session string, wait bool) (*Operation, error) {
	return u.operation(ctx, "/sessions/"+url.PathEscape(session)+"/memories", u.making, wait)
}
