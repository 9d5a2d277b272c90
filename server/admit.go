package server

import (
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// DefaultRequests is the default of Options.Requests. One app alone can have half of
// them in progress, and one user alone a quarter.
const DefaultRequests = 2048

// DefaultQueueTime is the default of Options.QueueTime. Clients that give up after
// longer than this are rare, and work for one that has given up is lost.
const DefaultQueueTime = 5 * time.Second

// admit takes a place for the request, and has it take turns with those of other apps
// and users: at any time as many requests compute as there are processors. A request
// takes its turn once its body is there, and has none while it waits, such as for
// the disk; see fair.Turn. A stream computes nothing: ingestion bounds the number of
// watchers. Neither do routes without an app, such as /readyz, so that they answer
// under any load.
func (s *Server) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		scope, ok := requestScope(c)
		if !ok || isStream(c) {
			return next(c)
		}
		free, err := s.places.Take(scope)
		if err != nil {
			return err
		}
		defer free()
		ctx, turn := s.gate.Begin(r.Context(), scope)
		defer turn.End()
		r = r.WithContext(ctx)
		c.SetRequest(r)
		c.Response().Writer = &turnWriter{c.Response().Writer, r}
		if r.ContentLength == 0 || r.Method != http.MethodPost && r.Method != http.MethodPatch {
			if err := fair.Ready(ctx); err != nil {
				return err
			}
		}
		return next(c)
	}
}

// requestScope is the scope that the path of a request names; one of an app as a whole
// has no user. It may be invalid: the route refuses that.
func requestScope(c echo.Context) (scope memory.Scope, ok bool) {
	if id := c.Param("operation"); id != "" {
		id, err := url.PathUnescape(id)
		if err == nil {
			scope, err = sessionstore.OperationScope(id)
		}
		return scope, err == nil
	}
	app, err := url.PathUnescape(c.Param("app"))
	user, err2 := url.PathUnescape(c.Param("user"))
	return memory.Scope{App: app, User: user}, app != "" && err == nil && err2 == nil
}

// turnWriter writes the answer to a request, which ends the request's turn: the client may be
// slow to read it. What computes a further part of it begins with fair.Continue.
type turnWriter struct {
	http.ResponseWriter
	request *http.Request
}

// Write implements http.ResponseWriter.
func (a *turnWriter) Write(p []byte) (int, error) {
	fair.Leave(a.request.Context())
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *turnWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Turns returns the figures of the requests that compute, or wait to.
func (s *Server) Turns() fair.Stats { return s.gate.Stats() }

// turns reads one figure of what takes turns to compute, by what it is: never by whose.
func (s *Server) turns(read func(fair.Stats) float64) func() map[string]float64 {
	return func() map[string]float64 {
		return map[string]float64{"requests": read(s.gate.Stats()), "batches": read(s.ingest.Turns())}
	}
}
