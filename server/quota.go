package server

import (
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
)

// holdToQuotas counts the request for its key, its app and its user, and refuses one that
// is beyond a quota. Open routes, such as /readyz, count for nobody.
func (s *Server) holdToQuotas(next echo.HandlerFunc) echo.HandlerFunc {
	if s.opts.Quotas == nil {
		return next
	}
	return func(c echo.Context) error {
		by := callerOf(c)
		if by == nil {
			return next(c)
		}
		scope, ok := requestScope(c)
		if !ok || memory.ValidateID("app", scope.App) != nil ||
			scope.User != "" && memory.ValidateID("user", scope.User) != nil {
			scope = memory.Scope{} // the route refuses it, and it counts for the key alone
		}
		end, err := s.opts.Quotas.Begin(c.Request().Context(), quota.Request{By: by, Scope: scope, Stream: isStream(c)})
		if err != nil {
			return err
		}
		defer end()
		return next(c)
	}
}
