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

// NewSessionService returns a service that stores ADK's sessions in memoryd. It may
// be used by many goroutines at once, and by many processes on one memoryd.
// memoryd serialises the appends to a session and refuses none as stale.
//
// Values of state are JSON values: a number comes back as a float64.
func NewSessionService(c *client.Client) session.Service { return &sessions{c} }

// user validates the three ids of a session. It returns a client for the session's
// user, and the id without surrounding space, as it is stored.
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

// Create creates a session; memory.ErrExists if its id is in use.
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

// Get reads a session; memory.ErrNotFound if there is none of that id.
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

// List reads the sessions of a user without their events. If UserID is empty it
// reads those of all users of the app.
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

func (s *sessions) page(
	ctx context.Context,
	req *session.ListRequest,
	list sessionstore.List,
) (client.SessionPage, error) {
	if req.UserID == "" {
		return s.c.AppSessions(ctx, req.AppName, list)
	}
	return s.c.User(req.AppName, req.UserID).Sessions(ctx, list)
}

// Delete deletes a session. A missing session is not an error.
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

// AppendEvent stores an event, unless it is partial. A session object from this
// service then shows the event and its temp: state; an object from another
// service is only read for its ids. The event gets the id and the time with which
// it is stored, to the microsecond, and is otherwise unchanged.
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
	if c, ok := in.(*conversation); ok {
		c.append(stored, event.Actions.StateDelta, done.LastUpdateTime)
	}
	event.ID, event.Timestamp = stored.ID, stored.Timestamp
	return nil
}
