package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// What a body takes in memory while its request is served. Tests of the package
// measure both.
const (
	// decodeFactor is how many times its size a body takes: itself, of which its events
	// are parts, their texts, and what a store sends of them.
	decodeFactor = 3
	// elementBytes is what each element of the open lists and objects takes beside.
	elementBytes = 100
	// smallBody is the size up to which bodies have room of their own, so that they do
	// not wait behind large ones.
	smallBody = 64 << 10
	// bodyRoomTime is how long a body waits for room. The client is sending it
	// meanwhile, and may see nothing but a broken connection if it is refused.
	bodyRoomTime = 30 * time.Second
)

// bodyRoom is the room that the body of a request has.
type bodyRoom struct {
	server *Server
	share  *inflight.Share
	pool   *inflight.Pool // that share is of
}

// release gives the room back: when the request is served, or before it waits for
// something that does not need its body.
func (b *bodyRoom) release() { b.share.Release() }

// releaseBody gives back the room of a request's body.
func releaseBody(c echo.Context) {
	if b, ok := c.Get(bodyKey).(*bodyRoom); ok {
		b.release()
	}
}

// boundRequest bounds the time of a request and the size of its body. A stream
// has no bound on its time; it bounds each of its writes instead.
//
// A body that is refused is not read on. net/http reads up to 256 KiB of what is
// left, so that the client can use the connection again, and otherwise answers
// first and then closes the connection.
func (s *Server) boundRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		ctx := r.Context()
		c.Set(unboundedKey, ctx)
		c.Set(beganKey, time.Now())
		if !isStream(c) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, requestTime)
			defer cancel()
		}
		if r.ContentLength > s.opts.MaxBody { // the header tells before anything is read
			return &http.MaxBytesError{Limit: s.opts.MaxBody}
		}
		if r.ContentLength != 0 {
			readUntil(c, time.Now().Add(s.opts.BodyTime))
		}
		room := &bodyRoom{server: s}
		defer room.release()
		c.Set(bodyKey, room)
		// net/http looks at the body of its own request to decide how to go on with
		// the connection, so that one keeps it.
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(c.Response(), r.Body, s.opts.MaxBody)
		c.SetRequest(r)
		return next(c)
	}
}

// readUntil sets until when a client may send; zero is no limit. That is for the body
// alone: net/http goes on reading behind it, to see whether the client is still there.
func readUntil(c echo.Context, at time.Time) {
	// A transport within the process has no deadlines.
	_ = http.NewResponseController(c.Response()).SetReadDeadline(at)
}

// decodeBody reads a request's JSON into v. It refuses unknown fields, fields
// given twice, invalid UTF-8 and values of the wrong type, each by name. An
// empty body counts as {}. Parts of v may share the memory of the body.
func decodeBody(c echo.Context, v any) error {
	raw, err := readBody(c)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	// The JSON library recurses, so the depth is checked before it runs.
	if err := sessionstore.CheckDepth("body", raw, maxDepth); err != nil {
		return err
	}
	if err := takeElements(c, raw); err != nil {
		return err
	}
	return strict.Decode("", raw, v)
}

// takeElements takes room for the elements of the lists and objects of a body, of which
// three bytes can make one.
func takeElements(c echo.Context, raw []byte) error {
	room, ok := c.Get(bodyKey).(*bodyRoom)
	if !ok {
		return errNoRoom
	}
	elements := openElements(raw)
	size, n := int64(len(raw)), elementBytes*elements
	if n <= size {
		return nil
	}
	if most := room.server.opts.MaxBodies; size+n > most {
		return fmt.Errorf("%w: the body has %d elements in lists and objects, which take %d bytes of memory:"+
			" -max-bodies sets how many there may be, now %d", errTooLarge, elements, n, most)
	}
	// Those that wait hold what is decoded already, so this does not wait.
	return room.share.Grow(c.Request().Context(), decodeFactor*size+n, 0)
}

// errNoRoom is the error of a request that boundRequest has not seen.
var errNoRoom = errors.New("the request has no room for a body")

// openElements is the largest number of elements that lists and objects in some JSON
// have while they are open. Those that nest deeper than maxDepth count as open to the
// end.
func openElements(raw []byte) int64 {
	var counts [maxDepth + 1]int64 // of each open list or object
	depth, open, most := 0, int64(0), int64(0)
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth <= maxDepth {
				counts[depth] = 0
			}
		case (c == '}' || c == ']') && depth > 0:
			if depth <= maxDepth {
				open -= counts[depth]
			}
			depth--
		case c == ',':
			if depth <= maxDepth {
				counts[depth]++
			}
			open++
			most = max(most, open)
		}
	}
	return most
}

// readBody reads the whole body, once there is room for it. A body that is cut short
// is the client's mistake; one that is too large keeps its type, which becomes a
// 413.
func readBody(c echo.Context) ([]byte, error) {
	room, ok := c.Get(bodyKey).(*bodyRoom)
	if !ok {
		return nil, errNoRoom
	}
	r := c.Request()
	scope, _ := requestScope(c) // the route refuses an invalid one
	size := r.ContentLength
	known := size >= 0
	if !known {
		size = smallBody // of a body in chunks, as far as it is small
	}
	if err := room.take(r.Context(), scope, size); err != nil {
		return nil, err
	}
	raw := make([]byte, 0, size+1) // with room to see the end
	for {
		n, err := r.Body.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		switch {
		case err == io.EOF:
			readUntil(c, time.Time{})
			return raw, fair.Ready(r.Context()) // the request has its turn to compute from here
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("%w: the body did not arrive within %v", errTooSlow, room.server.opts.BodyTime)
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, err
		case err != nil:
			return nil, invalid("body: %v", err)
		}
		if len(raw) == cap(raw) {
			// Four times the room, for which the body waits with what it has.
			size = min(4*int64(len(raw)), room.server.opts.MaxBody)
			if err := room.take(r.Context(), scope, size); err != nil {
				return nil, err
			}
			raw = append(make([]byte, 0, size+1), raw...)
		}
	}
}

// take takes room for a body of so many bytes.
func (b *bodyRoom) take(ctx context.Context, scope memory.Scope, size int64) (err error) {
	pool := b.server.bodies
	if size <= smallBody {
		pool = b.server.smallOnes
	}
	if b.share != nil && b.pool == pool {
		return b.share.Grow(ctx, decodeFactor*size, bodyRoomTime)
	}
	// A body that turns out to be large changes its pool.
	was := b.share
	b.share, err = pool.Take(ctx, scope, decodeFactor*size, bodyRoomTime)
	b.pool = pool
	was.Release()
	return err
}
