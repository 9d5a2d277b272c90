package server

import (
	"github.com/labstack/echo/v4"
)

// redactedError is an error whose text has its secrets replaced.
type redactedError struct {
	error
	text string
}

// Error implements error.
func (e redactedError) Error() string { return e.text }

// Unwrap returns the error as it was, for its kind.
func (e redactedError) Unwrap() error { return e.error }

// redactErrors replaces the secrets in the errors of requests about an app that asks for
// it: a message may repeat a part of the body, and goes into the log and the answer.
func (s *Server) redactErrors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if err == nil {
			return nil
		}
		scope, _ := requestScope(c)
		if scope.App == "" {
			return err
		}
		before := err.Error()
		if text := s.ingest.Redactor().Message(c.Request().Context(), scope.App, before); text != before {
			return redactedError{err, text}
		}
		return err
	}
}
