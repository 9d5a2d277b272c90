package vertex

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// sessionBody is a session in JSON.
type sessionBody struct {
	Name         string            `json:"name,omitempty"`
	CreateTime   Time              `json:"createTime,omitzero"`
	UpdateTime   Time              `json:"updateTime,omitzero"`
	DisplayName  *string           `json:"displayName,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	SessionState json.RawMessage   `json:"sessionState,omitempty"`
	UserID       string            `json:"userId,omitempty"`
	ExpireTime   Time              `json:"expireTime,omitzero"`
	TTL          *Duration         `json:"ttl,omitempty"`
}

// sessionIn is the body of a create and of an update: REST has the session itself, and the
// protos have it in a field.
type sessionIn struct {
	sessionBody
	Session    *sessionBody `json:"session"`
	SessionID  string       `json:"sessionId"`
	UpdateMask string       `json:"updateMask"`
}

// body returns the session of in.
func (in *sessionIn) body() *sessionBody {
	if in.Session != nil {
		return in.Session
	}
	return &in.sessionBody
}

// end is when the session of a body expires; nil if the body says nothing.
func (b *sessionBody) end(now time.Time) (*time.Time, error) {
	switch {
	case b.TTL != nil && !b.ExpireTime.IsZero():
		return nil, invalid("ttl and expireTime: want one of them")
	case b.TTL != nil && b.TTL.Duration <= 0:
		return nil, invalid("ttl: want more than 0s")
	case b.TTL != nil:
		at := now.Add(b.TTL.Duration)
		return &at, nil
	case !b.ExpireTime.IsZero():
		return &b.ExpireTime.Time, nil
	}
	return nil, nil
}

// hasState reports whether a body has state.
func (b *sessionBody) hasState() bool {
	return len(b.SessionState) > 0 && string(b.SessionState) != "null"
}

// state is the state of a body, empty if it has none.
func (b *sessionBody) state() (sessionstore.State, error) {
	if !b.hasState() {
		return sessionstore.State{}, nil
	}
	return sessionstore.ParseState("sessionState", b.SessionState)
}

// bodyOf is the JSON of a session.
func (r Resource) bodyOf(s *sessionstore.Session) (*sessionBody, error) {
	out := &sessionBody{Name: r.session(s.ID), CreateTime: Time{s.CreateTime}, UpdateTime: Time{s.LastUpdateTime},
		Labels: s.Labels, UserID: userID(s.User), ExpireTime: Time{s.ExpireTime}}
	if s.DisplayName != "" {
		out.DisplayName = &s.DisplayName
	}
	if len(s.State) > 0 {
		raw, err := json.Marshal(map[string]json.RawMessage(s.State))
		if err != nil {
			return nil, err
		}
		out.SessionState = raw
	}
	return out, nil
}

// newID is an id of 19 digits, as Google's are.
func newID() string {
	n, err := rand.Int(rand.Reader, big.NewInt(9e18))
	if err != nil {
		panic(err) // it never fails
	}
	return fmt.Sprint(n.Add(n, big.NewInt(1e18)))[:19]
}

func (s *Service) createSession(ctx context.Context, call *Call) (any, error) {
	if call.Resource.Kind != "sessions" || call.Resource.ID != "" {
		return nil, notHere(call)
	}
	var in sessionIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	body, id := in.body(), in.SessionID
	if asked := call.Query.Get("sessionId"); asked != "" {
		id = asked
	}
	if id != "" && !plainID.MatchString(id) {
		return nil, invalid("sessionId %.80q: want 1 to 63 letters, digits, - and _", id)
	}
	user, err := userOf(body.UserID)
	if err != nil {
		return nil, err
	}
	create := sessionstore.Create{UniqueInApp: true, Details: sessionstore.Details{Labels: body.Labels}}
	if body.DisplayName != nil {
		create.DisplayName = *body.DisplayName
	}
	end, err := body.end(s.opts.Now())
	if err != nil {
		return nil, err
	}
	if end != nil {
		create.ExpireTime = *end
	}
	if create.State, err = body.state(); err != nil {
		return nil, err
	}
	key := sessionstore.Key{Scope: memory.Scope{App: call.Resource.Engine, User: user}, ID: id}
	if id == "" {
		key.ID = newID()
	}
	made, err := s.sessions.Create(ctx, key, create)
	if errors.Is(err, memory.ErrExists) {
		return nil, invalid("session %q already exists", key.ID)
	}
	if err != nil {
		return nil, err
	}
	return s.doneSession(call.Resource, made)
}

// doneSession is the operation of a create.
func (s *Service) doneSession(r Resource, made *sessionstore.Session) (*Operation, error) {
	body, err := r.bodyOf(made)
	if err != nil {
		return nil, err
	}
	op := doneOperation("Session", body, made.CreateTime)
	op.Name = body.Name + "/operations/" + operationID(createdSession, r.Engine, made.ID)
	return op, nil
}

// find returns the key of the session that a call names.
func (s *Service) find(ctx context.Context, r Resource) (sessionstore.Key, error) {
	missing := func() error { return fmt.Errorf("session %.200q: %w", r.session(r.ID), memory.ErrNotFound) }
	if err := memory.ValidateID("session", r.ID); err != nil {
		return sessionstore.Key{}, err
	}
	if sessionstore.Aside(r.ID) {
		return sessionstore.Key{}, missing()
	}
	if p := access.From(ctx); p != nil && p.User != "" { // only its own can be meant
		return sessionstore.Key{Scope: memory.Scope{App: r.Engine, User: p.User}, ID: r.ID}, nil
	}
	// The name says of no user. The look-up is memoryd's own; guards check what follows.
	found, err := s.sessions.Find(access.With(ctx, access.System), r.Engine, r.ID)
	switch {
	case err != nil:
		return sessionstore.Key{}, err
	case len(found) == 0:
		return sessionstore.Key{}, missing()
	case len(found) > 1:
		return sessionstore.Key{}, invalid("session %q is ambiguous: %d users of %q have one of that id", r.ID,
			len(found), r.Engine)
	}
	return found[0], nil
}

func (s *Service) getSession(ctx context.Context, call *Call) (any, error) {
	key, err := s.find(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	got, err := s.sessions.Get(ctx, key, sessionstore.Get{})
	if err != nil {
		return nil, err
	}
	return call.Resource.bodyOf(got)
}

// listIn has the parameters of a list, which gRPC has in the message.
type listIn struct {
	PageSize  int    `json:"pageSize"`
	PageToken string `json:"pageToken"`
	Filter    string `json:"filter"`
	OrderBy   string `json:"orderBy"`
}

// list reads the parameters of a list.
func (call *Call) list() (in listIn, err error) {
	if err := Decode(call.Body, &in); err != nil {
		return in, err
	}
	for name, to := range map[string]*string{
		"pageToken": &in.PageToken, "filter": &in.Filter, "orderBy": &in.OrderBy} {
		if v := call.param(name); v != "" {
			*to = v
		}
	}
	if v := call.param("pageSize"); v != "" {
		if in.PageSize, err = atoi("pageSize", v); err != nil {
			return in, err
		}
	}
	if in.PageSize < 0 {
		return in, invalid("pageSize %d: want 1 or more", in.PageSize)
	}
	in.PageSize = min(in.PageSize, memory.MaxPageSize)
	return in, nil
}

func (s *Service) listSessions(ctx context.Context, call *Call) (any, error) {
	in, err := call.list()
	if err != nil {
		return nil, err
	}
	where, err := aip160.Parse(in.Filter, aip160.Fields(sessionstore.WhereFields()))
	if err != nil {
		return nil, err
	}
	list := sessionstore.List{PageSize: in.PageSize, PageToken: in.PageToken, NoAside: true}
	if list.Order, err = sessionstore.ParseOrder(in.OrderBy); err != nil {
		return nil, err
	}
	user, rest, err := ofUser(where)
	if err != nil {
		return nil, err
	}
	if p := access.From(ctx); user == "" && p != nil && p.User != "" {
		user = p.User // a caller for one user lists that one's
	}
	list.Where = rest
	var page sessionstore.Page
	if user != "" {
		page, err = s.sessions.List(ctx, memory.Scope{App: call.Resource.Engine, User: user}, list)
	} else {
		page, err = s.sessions.ListApp(ctx, call.Resource.Engine, list)
	}
	if err != nil {
		return nil, err
	}
	out := struct {
		Sessions      []*sessionBody `json:"sessions,omitempty"`
		NextPageToken string         `json:"nextPageToken,omitempty"`
	}{NextPageToken: page.NextPageToken}
	for i := range page.Sessions {
		body, err := call.Resource.bodyOf(&page.Sessions[i])
		if err != nil {
			return nil, err
		}
		out.Sessions = append(out.Sessions, body)
	}
	return out, nil
}

// ofUser finds the one user that a filter asks for, "" if it asks for none, and returns what else
// it asks for. Values of userId become native.
func ofUser(where memory.Where) (user string, rest memory.Where, err error) {
	isUser := func(w memory.Where) bool {
		c, ok := w.(memory.Cmp)
		return ok && c.Field == "userId" && c.Op == memory.OpEqual
	}
	native, err := nativeUsers(where)
	switch w := native.(type) {
	case memory.Cmp:
		if isUser(w) {
			user, _ = w.Value.AsText()
			return user, nil, err
		}
	case memory.And:
		for i, part := range w {
			if isUser(part) {
				user, _ = part.(memory.Cmp).Value.AsText()
				rest := append(append(memory.And{}, w[:i]...), w[i+1:]...)
				return user, rest, err
			}
		}
	}
	return "", native, err
}

// nativeUsers writes the ids of users in a filter as memoryd has them.
func nativeUsers(where memory.Where) (memory.Where, error) {
	return rewrite(where, func(c memory.Cmp) (memory.Where, error) {
		text, ok := c.Value.AsText()
		if c.Field != "userId" || !ok || c.Op != memory.OpEqual && c.Op != memory.OpNot {
			return c, nil
		}
		user, err := userOf(text)
		c.Value = memory.Text(user)
		return c, err
	})
}

func (s *Service) updateSession(ctx context.Context, call *Call) (any, error) {
	var in sessionIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	body := in.body()
	mask, err := newMask("session", sessionFields(), call.param("updateMask"), in.UpdateMask)
	if err != nil {
		return nil, err
	}
	key, err := s.find(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	if body.UserID != "" && body.UserID != userID(key.User) {
		return nil, invalid("userId: a session stays that of its user")
	}
	var patch sessionstore.Patch
	if mask.has("sessionState", body.hasState()) {
		state, err := body.state()
		if err != nil {
			return nil, err
		}
		patch.State = &state
	}
	if mask.has("displayName", body.DisplayName != nil) {
		patch.DisplayName = new(string)
		if body.DisplayName != nil {
			patch.DisplayName = body.DisplayName
		}
	}
	if mask.has("labels", body.Labels != nil) {
		patch.Labels = &body.Labels
	}
	end, err := body.end(s.opts.Now())
	if err != nil {
		return nil, err
	}
	if mask.has("ttl", end != nil) || mask.has("expireTime", end != nil) {
		patch.ExpireTime = &time.Time{}
		if end != nil {
			patch.ExpireTime = end
		}
	}
	if err := s.sessions.Update(ctx, key, patch); err != nil {
		return nil, err
	}
	return s.getSession(ctx, call)
}

func (s *Service) deleteSession(ctx context.Context, call *Call) (any, error) {
	key, err := s.find(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	if _, err := s.sessions.Get(ctx, key, sessionstore.Get{NoState: true}); err != nil {
		return nil, err
	}
	if err := s.sessions.Delete(ctx, key); err != nil {
		return nil, err
	}
	op := doneOperation(emptyType, struct{}{}, s.opts.Now())
	op.Name = call.Resource.session(key.ID) + "/operations/" + operationID(deleted, call.Resource.Engine, key.ID)
	return op, nil
}
