package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
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

// isStream reports whether a request is answered with a stream. Only operations are.
// On another route the header alone must not lift the bounds of a request.
func isStream(c echo.Context) bool { return c.Param("operation") != "" && wantsStream(c.Request()) }

// streamOperation sends an operation as server-sent events: its present state
// and later ones, until it is done or the server stops. A comment keeps a silent
// connection open. A client that reads slowly misses states in between.
//
// After the first event an error can no longer change the status: the client
// sees the stream end before the operation is done, and the log has the error.
func (s *Server) streamOperation(c echo.Context, scope memory.Scope, id string) error {
	watcher, err := s.ingest.Watch(scope, id)
	if err != nil {
		return err
	}
	defer watcher.Close()
	ctx, cancel := s.untilStop(c.Request().Context())
	defer cancel()
	stream := &eventStream{response: c.Response(), control: http.NewResponseController(c.Response())}
	for {
		silent, cancel := context.WithTimeout(ctx, keepAlive)
		update, err := watcher.Next(silent)
		late := silent.Err() != nil
		cancel()
		switch {
		case err == nil:
			err = stream.send(update)
		case err == io.EOF:
			return nil
		case late && ctx.Err() == nil && stream.response.Committed:
			err = stream.write([]byte(": keep-alive\n\n"))
		}
		if err != nil {
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

// send sends a state of an operation. All streams of the operation send the same
// bytes.
func (e *eventStream) send(update *ingest.Update) error {
	raw, err := update.Encoded(func(op *sessionstore.Operation) ([]byte, error) {
		out, err := operationOf(op)
		if err != nil {
			return nil, err
		}
		return strict.Encode(out)
	})
	if err != nil {
		return err
	}
	return e.write([]byte("data: "), raw, []byte("\n\n"))
}

// write writes the parts of an event and flushes them. A write that fails means
// that the client has disconnected, so its error counts as canceled.
func (e *eventStream) write(parts ...[]byte) error {
	if !e.response.Committed {
		e.response.Header().Set("Content-Type", "text/event-stream")
		e.response.WriteHeader(http.StatusOK)
	}
	// The stream as a whole has no deadline, so each write gets one.
	err := e.control.SetWriteDeadline(time.Now().Add(requestTime))
	if errors.Is(err, http.ErrNotSupported) {
		err = nil
	}
	for i := 0; i < len(parts) && err == nil; i++ {
		_, err = e.response.Write(parts[i])
	}
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("write to the client: %w: %v", context.Canceled, err)
	}
	return nil
}
