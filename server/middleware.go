package server

import (
	"context"
	"errors"
	"log/slog"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/tracing"
)

// refuseAfterClose serves requests until Close.
func (s *Server) refuseAfterClose(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		s.requests.RLock()
		defer s.requests.RUnlock()
		if s.closed {
			return errClosed
		}
		return next(c)
	}
}

// logRequests counts each request, and writes one line for it. The line is an error if memoryd is
// at fault: the status is 500 or more, or an error came after the status was sent,
// from a stream or from scopeBank.hidden.
func (s *Server) logRequests() echo.MiddlewareFunc {
	return middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
		HandleError: true, // so that the status is the one that was sent
		LogMethod:   true, LogURIPath: true, LogStatus: true, LogLatency: true, LogRequestID: true,
		LogResponseSize: true, LogError: true,
		BeforeNextFunc: func(echo.Context) { s.metrics.running.Inc() },
		LogValuesFunc: func(c echo.Context, v middleware.RequestLoggerValues) error {
			s.metrics.running.Dec()
			s.metrics.answered(c, v.Status, v.Latency, v.Error)
			level := slog.LevelInfo
			args := []any{
				"method", v.Method, "path", v.URIPath, "status", v.Status,
				"ms", float64(v.Latency.Microseconds()) / 1000,
				"in", c.Request().ContentLength, "out", v.ResponseSize, "id", v.RequestID,
			}
			if from := s.clientOf(c.Request()); from.IsValid() {
				args = append(args, "from", from.String())
			}
			if p := callerOf(c); p != nil && p != access.Owner {
				args = append(args, "by", p.ID)
			}
			args = append(args, tracing.Log(c.Request().Context())...)
			if v.Error != nil {
				args = append(args, "err", v.Error.Error())
			}
			failed := v.Status >= 500 || v.Status < 400 && v.Error != nil
			if failed && !errors.Is(v.Error, context.Canceled) { // the client has disconnected
				level = slog.LevelError
			}
			s.opts.Log.Log(c.Request().Context(), level, "request", args...)
			return nil
		},
	})
}

// logPanic logs the stack of a handler that panicked. The line of the request
// does not have it.
func (s *Server) logPanic(c echo.Context, err error, stack []byte) error {
	s.opts.Log.Error("panic", "id", requestID(c), "err", err, "stack", string(stack))
	return err
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// maxRequestID bounds the id that a client gives its request, in bytes.
const maxRequestID = 128

// plainRequestID reports whether a client's own request id can go into the log
// and into the answer: it is short, printable ASCII.
func plainRequestID(id string) bool {
	for _, r := range id {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return len(id) <= maxRequestID
}
