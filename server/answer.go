package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Bounds of answers that are written as they are read.
const (
	// roomTime is how long a request waits for room in a pool of bytes in flight.
	roomTime = 10 * time.Second
	// A client gets a part of an answer within writeTime, and one of many bytes at
	// writeRate bytes a second at least. A slower one holds what it does not read.
	writeTime = 30 * time.Second
	writeRate = 64 << 10
)

// The values that the middleware keeps with a request.
const (
	brokenKey    = "broken"    // true: the answer ends in the middle
	unboundedKey = "unbounded" // the context of the request, without its bound in time
	bodyKey      = "body"      // its *bodyRoom
	beganKey     = "began"     // the time when the request began
)

// endBroken breaks the connection of an answer that could not be written to its end:
// a client must not take it for the whole. The client sees a connection that closes
// within a chunk.
func endBroken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if c.Get(brokenKey) == true {
			panic(http.ErrAbortHandler)
		}
		return err
	}
}

// withRoom calls read with room for so many bytes at least, and with more if read
// fails with NoRoom. The caller releases the share when the answer is written. The
// bytes of an answer count from before they are read, so that many large answers
// come one after another.
func (s *Server) withRoom(ctx context.Context, scope memory.Scope, least int64, patience time.Duration,
	read func(room int64) error) (*inflight.Share, error) {
	for tries := 0; ; tries++ {
		share, err := s.answers.Take(ctx, scope, least, patience)
		if err != nil {
			return nil, err
		}
		err = read(least)
		if err == nil {
			return share, nil
		}
		share.Release()
		full := (*sessionstore.NoRoom)(nil)
		if !errors.As(err, &full) || tries == maxRoomTries {
			return nil, err
		}
		least = full.Bytes + spareRoom
	}
}

// spareRoom is for what grows between two reads, and maxRoomTries bounds how often it
// may have grown by more.
const (
	spareRoom    = 64 << 10
	maxRoomTries = 5
)

// pageWithin calls read for a page of an answer, with how long it may wait for room.
// The first page is read within the time of the request. Later, and on a stream, the
// client's reading sets the pace, and each page has that time. To send a part ended the
// turn of the request, so a later page waits for its turn again; see turnWriter.
func pageWithin(c echo.Context, later bool, read func(ctx context.Context, patience time.Duration) error) error {
	whole, ok := c.Get(unboundedKey).(context.Context)
	if !ok || !later && !isStream(c) {
		return read(c.Request().Context(), roomTime)
	}
	ctx, cancel := context.WithTimeout(fair.Carry(whole, c.Request().Context()), requestTime)
	defer cancel()
	if err := fair.Continue(ctx); err != nil {
		return err
	}
	return read(ctx, requestTime)
}

// answer is JSON that is written in parts. An error before the first byte is
// answered with its own status; a later one breaks the answer off.
type answer struct {
	c       echo.Context
	status  int
	kind    string // its Content-Type
	control *http.ResponseController
	out     *bufio.Writer
	err     error // the first
}

func newAnswer(c echo.Context, status int) *answer {
	a := &answer{c: c, status: status, kind: "application/json", control: http.NewResponseController(c.Response())}
	a.buffer()
	return a
}

// buffers are those of answers that have ended.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 32<<10) }}

// buffer takes the buffer that all methods but send and within need. The end of the
// answer gives it back.
func (a *answer) buffer() {
	a.out = buffers.Get().(*bufio.Writer)
	a.out.Reset(writerFunc(a.send))
}

// writerFunc is an io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// send writes to the client, the header first.
func (a *answer) send(p []byte) (int, error) {
	if !a.c.Response().Committed {
		a.c.Response().Header().Set(echo.HeaderContentType, a.kind)
		a.c.Response().WriteHeader(a.status)
	}
	n, err := a.c.Response().Write(p)
	if err != nil {
		err = fmt.Errorf("write to the client: %w: %v", context.Canceled, err)
	}
	return n, err
}

// within gives the client time to read the next bytes, and at least so many.
func (a *answer) within(bytes int64) { writeWithin(a.control, bytes) }

// writeWithin gives the client time to read the next bytes, and at least so many.
func writeWithin(control *http.ResponseController, bytes int64) {
	limit := writeTime + time.Duration(bytes/writeRate)*time.Second
	// A transport within the process has no deadlines.
	_ = control.SetWriteDeadline(time.Now().Add(limit))
}

// text writes JSON as it is.
func (a *answer) text(parts ...string) {
	for _, p := range parts {
		_, _ = a.out.WriteString(p) // finish returns the error
	}
}

// raw writes JSON as it is stored.
func (a *answer) raw(p []byte) { _, _ = a.out.Write(p) }

// value writes a value as JSON.
func (a *answer) value(v any) {
	raw, err := strict.Encode(v)
	if err != nil {
		a.fail(err)
		return
	}
	a.raw(raw)
}

// state writes a state, keys in order.
func (a *answer) state(state sessionstore.State) {
	a.text("{")
	for i, k := range slices.Sorted(maps.Keys(state)) {
		if i > 0 {
			a.text(",")
		}
		a.value(k)
		a.text(":")
		a.raw(state[k])
	}
	a.text("}")
}

// events writes events behind others, of which there were so many.
func (a *answer) events(events []sessionstore.Event, before int) {
	for i, e := range events {
		if before+i > 0 {
			a.text(",")
		}
		a.raw(e.Doc)
	}
}

// writeList writes a list, one value after another.
func writeList[T any](a *answer, list []T) {
	a.text("[")
	for i := range list {
		if i > 0 {
			a.text(",")
		}
		a.value(&list[i])
	}
	a.text("]")
}

// token writes the token of the next page, if there is one.
func (a *answer) token(token string) {
	if token != "" {
		a.text(`,"nextPageToken":`)
		a.value(token)
	}
}

// fail ends the answer with an error.
func (a *answer) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// flush hands what was written to the connection, and reports whether all is well:
// then the parts that were written are not held any longer.
func (a *answer) flush() bool {
	if err := a.out.Flush(); err != nil {
		a.fail(err)
	}
	return a.err == nil
}

// finish ends the answer. The handler returns its error.
func (a *answer) finish() error {
	a.text("\n")
	return a.end()
}

// end sends what is left of the answer.
func (a *answer) end() error {
	if a.err == nil {
		a.flush()
	}
	if a.err != nil && a.c.Response().Committed {
		a.c.Set(brokenKey, true)
	}
	a.out.Reset(nil)
	buffers.Put(a.out)
	a.out = nil
	return a.err
}
