package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
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
	stream := newEventStream(c)
	for {
		silent, cancel := context.WithTimeout(ctx, keepAlive)
		update, err := watcher.Next(silent)
		late := silent.Err() != nil
		cancel()
		if denied := s.stillMay(c); denied != nil {
			return denied
		}
		switch {
		case err == nil:
			err = stream.send(update, func() { s.operation(c, stream.answer, update.Operation, nil) })
		case err == io.EOF:
			return nil
		case late && ctx.Err() == nil && c.Response().Committed:
			err = stream.comment("keep-alive")
		}
		if err != nil {
			return err
		}
	}
}

// eventStream writes server-sent events. The header goes out with the first of
// them, so that an earlier error is answered with its own status.
//
// It has a buffer for the last event alone, which is written in parts: there may be
// hundreds of streams, and most of the time they wait.
type eventStream struct{ *answer }

func newEventStream(c echo.Context) eventStream {
	return eventStream{&answer{c: c, status: http.StatusOK, kind: "text/event-stream",
		control: http.NewResponseController(c.Response())}}
}

// send sends a state of an operation. All streams of the operation send the same
// bytes. whole writes the state that is done, with the changes.
func (e eventStream) send(update *ingest.Update, whole func()) error {
	if update.Done() {
		e.buffer()
		e.text("data: ")
		whole()
		e.within(0)
		e.text("\n\n")
		if err := e.end(); err != nil {
			return err
		}
		return e.shown()
	}
	event, err := update.Encoded(func(op *sessionstore.Operation) ([]byte, error) {
		raw, err := strict.Encode(operationOf(op))
		return slices.Concat([]byte("data: "), raw, []byte("\n\n")), err
	})
	if err != nil {
		return err
	}
	return e.push(event)
}

// comment sends a comment, which clients skip.
func (e eventStream) comment(text string) error { return e.push([]byte(": " + text + "\n\n")) }

// push sends an event, and has the client see it.
func (e eventStream) push(event []byte) error {
	// The stream as a whole has no deadline, so each event gets one.
	e.within(0)
	if _, err := e.answer.send(event); err != nil {
		return err
	}
	return e.shown()
}

// shown has the client see what was sent.
func (e eventStream) shown() error {
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("write to the client: %w: %v", context.Canceled, err)
	}
	return nil
}
