package server

import (
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
	out := countsBody{n.Facts, n.Superseded, n.Turns, n.Values, n.Quarantined, 0}
	for list := (sessionstore.List{PageSize: memory.MaxPageSize, NoState: true}); ; {
		page, err := s.sessions.List(ctx, scope, list)
		if err != nil {
			return err
		}
		out.Sessions += len(page.Sessions)
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return sendJSON(c, http.StatusOK, out)
		}
	}
}
