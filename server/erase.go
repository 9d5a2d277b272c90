package server

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// confirmed refuses a call that erases all of something unless it names that once more.
func confirmed(c echo.Context, what, name string) error {
	if c.QueryParam("confirm") != name {
		return invalid("confirm: to erase this %s and all that belongs to it, for good, repeat its id in the query: %s",
			what, "?confirm="+url.QueryEscape(name))
	}
	return nil
}

// isDryRun reads whether an erasing is a dry run, in the query of a DELETE and in the body of
// a POST, and begins its entry in the audit log: a dry run must not read there as an erasing.
func (s *Server) isDryRun(c echo.Context) (bool, error) {
	var body struct {
		DryRun bool `json:"dryRun"`
	}
	var err error
	if c.Request().Method == http.MethodDelete {
		// A dry run that is asked for in the body must not become an erasing.
		if body.DryRun, err = boolParam(c, "dryRun"); err == nil {
			err = decodeBody(c, &struct{}{})
		}
	} else {
		err = decodeBody(c, &body)
	}
	what := ""
	if body.DryRun && err == nil {
		what = dryRun
	}
	if err := s.beginEntry(c, access.Admin, what); err != nil {
		return false, err
	}
	return body.DryRun, err
}

// eraseUser answers DELETE {scope}: it forgets the user.
func (s *Server) eraseUser(c echo.Context, scope memory.Scope) error {
	dry, err := s.isDryRun(c)
	if err == nil && !dry {
		err = confirmed(c, "user", scope.User)
	}
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	out, err := s.ingest.EraseUser(ctx, scope, dry)
	if err == nil && !dry {
		err = s.eraseTraces(ctx, scope)
	}
	if err != nil {
		return err
	}
	if !dry {
		s.anonymize(c, scope, "")
	}
	return sendJSON(c, http.StatusOK, out)
}

// eraseTraces erases what there is of a user beside sessions and memories: keys that are
// bound to the user, and the ids in the audit log.
func (s *Server) eraseTraces(ctx context.Context, scope memory.Scope) error {
	if s.opts.Keys != nil {
		if err := s.opts.Keys.EraseKeys(ctx, scope.App, scope.User); err != nil {
			return err
		}
		s.ring.Renew()
	}
	return s.rewriteAudit(ctx, scope.App, func(e *access.Entry) bool {
		return e.Anonymize(s.memories.ID(), scope, "")
	})
}

// rewriteAudit changes the stored entries of an app's audit log, those that wait to be
// stored included.
func (s *Server) rewriteAudit(ctx context.Context, app string, change func(*access.Entry) bool) error {
	if s.audit == nil {
		return nil
	}
	s.audit.flush(ctx)
	return s.opts.Audit.To.RewriteAudit(ctx, app, change)
}

// anonymize has the entry of the request itself name what it erased by pseudonyms, as
// the other entries do.
func (s *Server) anonymize(c echo.Context, scope memory.Scope, session string) {
	note(c, func(e *access.Entry) { e.Anonymize(s.memories.ID(), scope, session) })
}

// eraseSession answers POST {scope}/sessions/{id}/erase.
func (s *Server) eraseSession(c echo.Context, key sessionstore.Key) error {
	dry, err := s.isDryRun(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	out, err := s.ingest.EraseSession(ctx, key, dry)
	if err == nil && !dry {
		err = s.rewriteAudit(ctx, key.App, func(e *access.Entry) bool {
			return e.Anonymize(s.memories.ID(), key.Scope, key.ID)
		})
	}
	if err != nil {
		return err
	}
	if !dry {
		s.anonymize(c, key.Scope, key.ID)
	}
	return sendJSON(c, http.StatusOK, out)
}

// eraseMemory answers POST {scope}/memories/{id}/erase. The audit log keeps its
// id, which tells nothing.
func (s *Server) eraseMemory(c echo.Context, scope memory.Scope, id string) error {
	dry, err := s.isDryRun(c)
	if err != nil {
		return err
	}
	out, err := s.ingest.EraseMemory(c.Request().Context(), scope, id, dry)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, out)
}

// eraseApp answers DELETE /v1/apps/{app}. The keys for the app as a whole stay, so that
// the call can be repeated with one of them, and so does the audit log, without ids of
// users.
func (s *Server) eraseApp(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	dry, err := s.isDryRun(c)
	if err != nil {
		return err
	}
	var out ingest.Erased
	if dry {
		out, err = s.ingest.CountApp(c.Request().Context(), app)
	} else if err = confirmed(c, "app", app); err == nil {
		out, err = s.EraseApp(c.Request().Context(), app)
	}
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, out)
}

// EraseApp erases an app: all of its users, the keys that are for one of them, their names in the
// audit log, and at the end its configuration. A call that fails can be repeated: the configuration
// says until then that the app is there.
func (s *Server) EraseApp(ctx context.Context, app string) (ingest.Erased, error) {
	return s.ingest.EraseApp(ctx, app, func(ctx context.Context) error {
		if err := s.eraseBoundKeys(ctx, app); err != nil {
			return err
		}
		return s.rewriteAudit(ctx, app, func(e *access.Entry) bool {
			known := e.User == "" || strings.HasPrefix(e.User, access.PseudonymPrefix)
			return !known && e.Anonymize(s.memories.ID(), memory.Scope{App: app, User: e.User}, "")
		})
	})
}

// eraseBoundKeys erases the keys of an app that are bound to users.
func (s *Server) eraseBoundKeys(ctx context.Context, app string) error {
	if s.opts.Keys == nil {
		return nil
	}
	users := map[string]bool{}
	for list := (access.ListKeys{PageSize: memory.MaxPageSize}); ; {
		page, err := s.opts.Keys.ListKeys(ctx, app, list)
		if err != nil {
			return err
		}
		for _, k := range page.Keys {
			if k.User != "" {
				users[k.User] = true
			}
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	for user := range users {
		if err := s.opts.Keys.EraseKeys(ctx, app, user); err != nil {
			return err
		}
	}
	s.ring.Renew()
	return nil
}

// listApps answers GET /v1/apps.
func (s *Server) listApps(c echo.Context) error {
	return s.sendNames(c, "apps", func(ctx context.Context, after string, limit int) ([]string, error) {
		return s.ingest.Apps(ctx, after, limit)
	})
}

// listUsers answers GET /v1/apps/{app}/users.
func (s *Server) listUsers(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	return s.sendNames(c, "users", func(ctx context.Context, after string, limit int) ([]string, error) {
		return s.ingest.Users(ctx, app, after, limit)
	})
}

// nameBody is an element of a list of apps or users.
type nameBody struct {
	ID string `json:"id"`
}

// sendNames answers with a page of names. A page token is the last name of the page
// before.
func (s *Server) sendNames(c echo.Context, what string,
	read func(ctx context.Context, after string, limit int) ([]string, error)) error {
	size, err := pageSizeParam(c)
	if err != nil {
		return err
	}
	if size == 0 {
		size = memory.DefaultPageSize
	}
	after, err := base64.RawURLEncoding.DecodeString(c.QueryParam("pageToken"))
	if err != nil {
		return invalid("pageToken is not one that came with a page of %s", what)
	}
	names, err := read(c.Request().Context(), string(after), size+1)
	if err != nil {
		return err
	}
	list, token := []nameBody{}, ""
	for i, name := range names {
		if i == size {
			token = base64.RawURLEncoding.EncodeToString([]byte(names[size-1]))
			break
		}
		list = append(list, nameBody{name})
	}
	out := map[string]any{what: list}
	if token != "" {
		out["nextPageToken"] = token
	}
	return sendJSON(c, http.StatusOK, out)
}
