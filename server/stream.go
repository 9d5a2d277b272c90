package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// keepAlive is how long a stream may be silent. Proxies commonly close a
// connection after 60 s of silence.
const keepAlive = 15 * time.Second

// wantsStream reports whether a request asks for server-sent events.
func wantsStream(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// streamOperation sends an operation as server-sent events: its present state
// and each later one, until it is done or the server stops. A comment keeps a
// silent connection open.
//
// After the first event an error can no longer change the status: the client
// sees the stream end before the operation is done, and the log has the error.
func (s *Server) streamOperation(c echo.Context, scope memory.Scope, id string) error {
	ctx, cancel := s.untilStop(c.Request().Context())
	defer cancel()
	stream := &eventStream{response: c.Response(), control: http.NewResponseController(c.Response())}
	for {
		silent, cancel := context.WithTimeout(ctx, keepAlive)
		err := s.ingest.Watch(silent, scope, id, stream.operation)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err := stream.send(": keep-alive\n\n"); err != nil {
			return err
		}
	}
}

// eventStream writes server-sent events. The header goes out with the first of
// them, so that an earlier error is answered with its own status.
type eventStream struct {
	response *echo.Response
	control  *http.ResponseController
}

// operation sends a state of an operation.
func (e *eventStream) operation(op *sessionstore.Operation) error {
	out, err := operationOf(op)
	if err != nil {
		return err
	}
	raw, err := strict.Encode(out)
	if err != nil {
		return err
	}
	return e.send("data: " + string(raw) + "\n\n")
}

// send writes text and flushes it. A write that fails means that the client has
// disconnected, so its error counts as canceled.
func (e *eventStream) send(text string) error {
	if !e.response.Committed {
		e.response.Header().Set("Content-Type", "text/event-stream")
		e.response.Header().Set("Cache-Control", "no-store")
		e.response.WriteHeader(http.StatusOK)
	}
	// The stream as a whole has no deadline, so each write gets one.
	err := e.control.SetWriteDeadline(time.Now().Add(requestTime))
	if err == nil || errors.Is(err, http.ErrNotSupported) {
		_, err = fmt.Fprint(e.response, text)
	}
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("write to the client: %w: %v", context.Canceled, err)
	}
	return nil
}
