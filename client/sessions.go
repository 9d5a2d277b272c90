package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Session is a conversation and its state.
type Session struct {
	ID             string         `json:"id"`
	App            string         `json:"appName"`
	User           string         `json:"userId"`
	State          map[string]any `json:"state"`  // the merged view; keys have their prefix
	Events         []Event        `json:"events"` // nil in a list
	LastUpdateTime time.Time      `json:"lastUpdateTime"`
}

// NewSession is what a session begins with.
type NewSession struct {
	ID     string         `json:"id,omitempty"` // a UUID if it is empty
	State  map[string]any `json:"state,omitempty"`
	Events []Event        `json:"events,omitempty"`
}

// CreateSession makes a session; memory.ErrExists if its id is in use.
func (u *User) CreateSession(ctx context.Context, s NewSession) (*Session, error) {
	ours := s.ID == ""
	if ours {
		s.ID = uuid.NewString()
	}
	var err error
	if s.Events, err = named(s.Events); err != nil {
		return nil, err
	}
	out := &Session{}
	err = u.do(ctx, call{method: http.MethodPost, path: "/sessions", body: s, answer: out, again: ours})
	if ours && errors.Is(err, memory.ErrExists) { // an earlier try has made it: nobody else knows the id
		return u.Session(ctx, s.ID, Recent{})
	}
	if err != nil {
		return nil, err
	}
	return out.named()
}

// named refuses an answer without an id, as a proxy may give: nothing that
// memoryd answers is without.
func (s *Session) named() (*Session, error) {
	if s.ID == "" {
		return nil, errors.New("memoryd's answer is no session")
	}
	return s, nil
}

// Recent is which events of a session to read.
type Recent struct {
	Events int       // the last so many; 0 is all, negative none
	After  time.Time // of those, the ones not before it; zero is all
}

// Session reads a session; memory.ErrNotFound if there is none.
func (u *User) Session(ctx context.Context, id string, recent Recent) (*Session, error) {
	q := url.Values{}
	if recent.Events != 0 {
		q.Set("numRecentEvents", strconv.Itoa(max(recent.Events, 0)))
	}
	if !recent.After.IsZero() {
		q.Set("after", recent.After.UTC().Format(time.RFC3339Nano))
	}
	out := &Session{}
	if err := u.do(ctx, call{method: http.MethodGet, path: "/sessions/" + url.PathEscape(id), query: q, answer: out, again: true}); err != nil {
		return nil, err
	}
	return out.named()
}

// SessionPage is one page of sessions, without events.
type SessionPage struct {
	Sessions      []Session `json:"sessions"`
	NextPageToken string    `json:"nextPageToken"` // "" on the last page
}

// Sessions reads the sessions of the user, newest created first.
func (u *User) Sessions(ctx context.Context, list sessionstore.List) (SessionPage, error) {
	var out SessionPage
	err := u.do(ctx, call{method: http.MethodGet, path: "/sessions", query: page(list), answer: &out, again: true})
	return out, err
}

// AppSessions reads the sessions of all users of an app.
func (c *Client) AppSessions(ctx context.Context, app string, list sessionstore.List) (SessionPage, error) {
	var out SessionPage
	if err := memory.ValidateID("app", app); err != nil {
		return out, err
	}
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/apps/" + url.PathEscape(app) + "/sessions", query: page(list), answer: &out, again: true})
	return out, err
}

func page(list sessionstore.List) url.Values {
	q := url.Values{}
	if list.PageSize != 0 {
		q.Set("pageSize", strconv.Itoa(list.PageSize))
	}
	if list.PageToken != "" {
		q.Set("pageToken", list.PageToken)
	}
	return q
}

// PatchSession changes state, which is recorded as an event.
func (u *User) PatchSession(ctx context.Context, id string, delta map[string]any) (*Session, error) {
	out := &Session{}
	if err := u.do(ctx, call{method: http.MethodPatch, path: "/sessions/" + url.PathEscape(id),
		body: map[string]any{"stateDelta": delta}, answer: out}); err != nil {
		return nil, err
	}
	return out, nil
}

// DeleteSession removes a session, and not what is remembered of it. A missing
// one is no error.
func (u *User) DeleteSession(ctx context.Context, id string) error {
	return u.do(ctx, call{method: http.MethodDelete, path: "/sessions/" + url.PathEscape(id), again: true})
}

// Appended is what Append did.
type Appended struct {
	Events         []Event   `json:"events"` // as stored
	LastUpdateTime time.Time `json:"lastUpdateTime"`
}

// Append stores events in a session, all or none. Where outputKey is not "" the
// text of a final event goes into state under it, as ADK's output_key does.
func (u *User) Append(ctx context.Context, session, outputKey string, events ...Event) (Appended, error) {
	var out Appended
	q := url.Values{}
	if outputKey != "" {
		q.Set("outputKey", outputKey)
	}
	events, err := named(events)
	if err == nil {
		err = u.do(ctx, call{method: http.MethodPost, path: "/sessions/" + url.PathEscape(session) + "/events", query: q,
			body: map[string]any{"events": events}, answer: &out, again: true})
	}
	return out, err
}

// Render fills the {key} places of a template from a session's state, by the
// rules of sessionstore.Render.
func (u *User) Render(ctx context.Context, session, template string) (string, error) {
	var out struct {
		Text string `json:"text"`
	}
	err := u.do(ctx, call{method: http.MethodPost, path: "/sessions/" + url.PathEscape(session) + "/render",
		body: map[string]any{"template": template}, answer: &out, again: true})
	return out.Text, err
}

// AddSession asks for memories of what was appended to a session since the last
// time (add_session_to_memory). With wait it answers when they are made, or
// after 30 s.
func (u *User) AddSession(ctx context.Context, session string, wait bool) (*Operation, error) {
	return u.operation(ctx, "/sessions/"+url.PathEscape(session)+"/memories", nil, wait)
}
