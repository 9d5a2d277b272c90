package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
)

// purgeBody is the body of a purge across users: the conditions that its memories meet.
type purgeBody struct {
	App       string      `json:"appName"`
	Kind      memory.Kind `json:"kind"`
	Topics    []string    `json:"topics"` // at least one of these
	SessionID string      `json:"sessionId"`
	Until     moment      `json:"until"`
	Filter    string      `json:"filter"`
	DryRun    bool        `json:"dryRun"`
}

// filter is the conditions as a filter.
func (b *purgeBody) filter() (f memory.Filter, err error) {
	f = memory.Filter{Topics: b.Topics, SessionID: b.SessionID, Until: b.Until.Time}
	if b.Kind != "" {
		f.Kinds = []memory.Kind{b.Kind}
	}
	if err := f.Validate(); err != nil {
		return f, err
	}
	f.Where, err = aip160.Parse(b.Filter, aip160.Memories)
	return f, err
}

// purge answers POST {scope}/memories/purge.
func (s *Server) purge(c echo.Context, scope memory.Scope) error {
	var req struct {
		purgeBody
		User string `json:"userId"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := checkScope(scope, req.App, req.User); err != nil {
		return err
	}
	f, err := req.filter()
	if err != nil {
		return err
	}
	if len(f.Kinds) == 0 && len(f.Topics) == 0 && f.SessionID == "" && f.Until.IsZero() && f.Where == nil {
		return invalid("a purge without a condition would take all memories: want kind, topics, sessionId, until or" +
			" filter; to erase a user, DELETE the scope with confirm")
	}
	n, err := s.ingest.Purge(c.Request().Context(), scope, f, req.DryRun)
	return purged(c, n, err)
}

// purgeApp answers POST /v1/apps/{app}/all/memories/purge.
func (s *Server) purgeApp(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	var req purgeBody
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := checkScope(memory.Scope{App: app}, req.App, ""); err != nil {
		return err
	}
	f, err := req.filter()
	if err == nil && f.Where == nil {
		err = invalid("filter: a purge across all users wants one")
	}
	if err != nil {
		return err
	}
	n, err := s.ingest.PurgeApp(c.Request().Context(), app, f, req.DryRun)
	return purged(c, n, err)
}

// purged answers how many memories a purge has taken.
func purged(c echo.Context, count int, err error) error {
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]int{"count": count})
}

// listAppMemories answers GET /v1/apps/{app}/all/memories.
func (s *Server) listAppMemories(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	return s.sendMemories(c, memory.Scope{App: app}, func(list memory.List) (memory.Page, error) {
		return s.memories.ListApp(c.Request().Context(), app, list)
	})
}

// namedUsers is how many users an answer names that have a memory of one id.
const namedUsers = 5

// getAppMemory answers GET /v1/apps/{app}/all/memories/{id}.
func (s *Server) getAppMemory(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	id, err := pathParam(c, "memory")
	if err != nil {
		return err
	}
	found, err := s.memories.FindApp(c.Request().Context(), app, id)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return fmt.Errorf("memory %q of any user of app %q: %w", id, app, memory.ErrNotFound)
	case len(found) == 1:
		return sendJSON(c, http.StatusOK, found[0])
	}
	var users []string
	for _, m := range found[:min(len(found), namedUsers)] {
		users = append(users, m.User)
	}
	return invalid("%d users have a memory %q, such as %q: ask for that of one user, at"+
		" /v1/apps/APP/users/USER/memories/ID", len(found), id, strings.Join(users, `", "`))
}
