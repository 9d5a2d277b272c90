package server

import (
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// trace begins the span of each request that a route of /v1 or /mcp serves. Probes, and
// paths that no route has, would fill a trace with what nobody looks for there. The
// span has the pattern of the route and the app, and nothing else that a client sent.
func (s *Server) trace(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		route := c.Path()
		_, known := s.needs[c.Request().Method+" "+route]
		if !known || !strings.HasPrefix(route, "/v1/") && !strings.HasPrefix(route, "/mcp/") {
			return next(c)
		}
		r := c.Request()
		ctx, span := s.tracer.Serve(r.Context(), r.Header, r.Method, route)
		defer span.End(nil)
		if app, err := pathParam(c, "app"); err == nil {
			span.String("memoryd.app", app)
		}
		c.SetRequest(r.WithContext(ctx))
		err := next(c)
		span.Answered(c.Response().Status)
		return err
	}
}

// Gatherer returns the metrics that /metrics shows.
func (s *Server) Gatherer() prometheus.Gatherer { return s.metrics.registry }
