package server

import (
	"context"
	"net/http"
	"time"

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

// counts answers GET {scope}/counts. It reads through all memories and sessions of the
// user, a page at a time: no store has the figures ready.
func (s *Server) counts(c echo.Context, scope memory.Scope) error {
	ctx := c.Request().Context()
	share, err := s.answers.Take(ctx, scope, memory.MaxListBytes, roomTime)
	if err != nil {
		return err
	}
	defer share.Release()
	var out countsBody
	current, now := memory.Filter{}, time.Now()
	err = s.eachMemory(ctx, scope, memory.Filter{History: true}, func(m *memory.Memory) {
		switch {
		case m.Kind == memory.KindTurn:
			out.Turns++
		case !current.Match(m, now):
			out.Superseded++
		case m.Kind == memory.KindProfile:
			out.Values++
		default:
			out.Facts++
		}
	})
	if err != nil {
		return err
	}
	hidden := memory.Filter{History: true, State: memory.Quarantined}
	if err := s.eachMemory(ctx, scope, hidden, func(*memory.Memory) { out.Quarantined++ }); err != nil {
		return err
	}
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

// eachMemory calls see with the memories of a scope that pass a filter.
func (s *Server) eachMemory(ctx context.Context, scope memory.Scope, f memory.Filter, see func(*memory.Memory)) error {
	list := memory.List{Filter: f, PageSize: memory.MaxPageSize}
	for {
		page, err := s.memories.List(ctx, scope, list)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			see(&page.Memories[i])
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return nil
		}
	}
}
