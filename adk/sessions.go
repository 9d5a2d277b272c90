package adk

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// sessions is a session.Service.
type sessions struct{ c *client.Client }

// NewSessionService keeps ADK's sessions in memoryd. It may be used by many
// goroutines at once, and by many processes on one memoryd: appends to a session
// come one after another, and none is refused because the session it was made
// with is no longer the latest.
//
// Values of state are what JSON has: a number comes back as a float64.
func NewSessionService(c *client.Client) session.Service { return &sessions{c} }

// user gives the calls on a session's owner, once all three ids are valid, and
// the session's as it is stored: space around it does not count.
func (s *sessions) user(app, user, id string) (*client.User, string, error) {
	key := sessionstore.Key{Scope: memory.Scope{App: app, User: user}, ID: strings.TrimSpace(id)}
	if err := key.Validate(); err != nil {
		return nil, "", err
	}
	return s.c.User(app, user), key.ID, nil
}

func missing(call string) error {
	return fmt.Errorf("%w: %s: the request is nil", memory.ErrInvalid, call)
}

// Create makes a session; memory.ErrExists if its id is in use.
func (s *sessions) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req == nil {
		return nil, missing("create session")
	}
	id := req.SessionID
	if strings.TrimSpace(id) == "" {
		id = platform.NewUUID(ctx)
	}
	user, id, err := s.user(req.AppName, req.UserID, id)
	if err != nil {
		return nil, err
	}
	made, err := user.CreateSession(ctx, client.NewSession{ID: id, State: withoutTemp(req.State)})
	if err != nil {
		return nil, err
	}
	out, err := newConversation(s.c, made)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: out}, nil
}

// Get reads a session; memory.ErrNotFound if there is none.
func (s *sessions) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req == nil {
		return nil, missing("get session")
	}
	user, id, err := s.user(req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	got, err := user.Session(ctx, id, client.Recent{Events: max(req.NumRecentEvents, 0), After: req.After})
	if err != nil {
		return nil, err
	}
	out, err := newConversation(s.c, got)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: out}, nil
}

// List reads the sessions of a user, or of all users of the app where UserID is
// empty, without their events.
func (s *sessions) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req == nil {
		return nil, missing("list sessions")
	}
	out := &session.ListResponse{Sessions: []session.Session{}}
	list := sessionstore.List{PageSize: memory.MaxPageSize}
	for {
		page, err := s.page(ctx, req, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Sessions {
			listed, err := newConversation(s.c, &page.Sessions[i])
			if err != nil {
				return nil, err
			}
			out.Sessions = append(out.Sessions, listed)
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return out, nil
		}
	}
}

func (s *sessions) page(ctx context.Context, req *session.ListRequest, list sessionstore.List) (client.SessionPage, error) {
	if req.UserID == "" {
		return s.c.AppSessions(ctx, req.AppName, list)
	}
	return s.c.User(req.AppName, req.UserID).Sessions(ctx, list)
}

// Delete removes a session; a missing one is no error.
func (s *sessions) Delete(ctx context.Context, req *session.DeleteRequest) error {
	if req == nil {
		return missing("delete session")
	}
	user, id, err := s.user(req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return err
	}
	return user.DeleteSession(ctx, id)
}

// AppendEvent stores an event that is not partial, and then has the session that
// is given show it, its temp: state too, if it is one of ours; one of another
// service is taken by its ids. The event gets the id and the time it is stored
// with, to the microsecond, and is otherwise left alone.
func (s *sessions) AppendEvent(ctx context.Context, in session.Session, event *session.Event) error {
	switch {
	case in == nil:
		return fmt.Errorf("%w: append event: the session is nil", memory.ErrInvalid)
	case event == nil:
		return fmt.Errorf("%w: append event: the event is nil", memory.ErrInvalid)
	case event.Partial:
		return nil
	}
	user, id, err := s.user(in.AppName(), in.UserID(), in.ID())
	if err != nil {
		return err
	}
	stored, sent, err := toStore(ctx, event)
	if err != nil {
		return err
	}
	done, err := user.Append(ctx, id, "", sent)
	if err != nil {
		return err
	}
	if ours, ok := in.(*conversation); ok {
		ours.append(stored, event.Actions.StateDelta, done.LastUpdateTime)
	}
	event.ID, event.Timestamp = stored.ID, stored.Timestamp
	return nil
}
