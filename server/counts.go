package server

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// countsBody is how much is stored of a user. Deleted and expired things count nowhere,
// and what is quarantined or rejected in no figure but its own.
type countsBody struct {
	Facts       int `json:"facts"`      // that hold now
	Superseded  int `json:"superseded"` // facts and values that do not hold now: a list has them with history=true
	Turns       int `json:"turns"`
	Values      int `json:"values"` // of profiles
	Quarantined int `json:"quarantined"`
	Sessions    int `json:"sessions"`
}

// counts answers GET {scope}/counts. The store counts the memories; the sessions are listed,
// without their states.
func (s *Server) counts(c echo.Context, scope memory.Scope) error {
	ctx := c.Request().Context()
	share, err := s.answers.Take(ctx, scope, memory.MaxListBytes, roomTime)
	if err != nil {
		return err
	}
	defer share.Release()
	n, err := s.memories.Count(ctx, scope)
	if err != nil {
		return err
	}
	sessions, err := s.countSessions(ctx, scope, sessionstore.List{})
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK,
		countsBody{n.Facts, n.Superseded, n.Turns, n.Values, n.Quarantined, sessions})
}

// countSessions counts the sessions of a list, of which it reads no state.
func (s *Server) countSessions(ctx context.Context, scope memory.Scope, list sessionstore.List) (n int, err error) {
	for list.PageSize, list.NoState = memory.MaxPageSize, true; ; {
		page, err := s.sessions.List(ctx, scope, list)
		if err != nil {
			return 0, err
		}
		n += len(page.Sessions)
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return n, nil
		}
	}
}
