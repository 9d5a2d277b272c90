package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// Kinds of error that only HTTP has. All others are in package memory.
var (
	errClosed    = errors.New("this memoryd is closed")
	errForbidden = errors.New("permission denied")
	errTooLarge  = errors.New("request too large")
	errTooSlow   = errors.New("request too slow")
)

// kinds maps every kind of error to its HTTP status and to the status name of
// the JSON body. No other code chooses the status of an error. The first kind
// that errors.Is finds decides. An error of no kind here is a fault of memoryd
// and gets 500 INTERNAL.
var kinds = []struct {
	err    error
	code   int
	status string
}{
	{errTooLarge, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE"},
	{errTooSlow, http.StatusRequestTimeout, "REQUEST_TIMEOUT"},
	{memory.ErrInvalid, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{access.ErrUnauthenticated, http.StatusUnauthorized, "UNAUTHENTICATED"},
	{errForbidden, http.StatusForbidden, "PERMISSION_DENIED"},
	{access.ErrDenied, http.StatusForbidden, "PERMISSION_DENIED"},
	{memory.ErrNotFound, http.StatusNotFound, "NOT_FOUND"},
	{memory.ErrExists, http.StatusConflict, "ALREADY_EXISTS"},
	{memory.ErrAborted, http.StatusConflict, "ABORTED"},
	{errClosed, http.StatusGone, "GONE"},
	{ingest.ErrLapsed, http.StatusGone, "GONE"},
	{memory.ErrExhausted, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"},
	{memory.ErrUnavailable, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "UNAVAILABLE"},
	// The client has disconnected, so only the log shows this status.
	{context.Canceled, http.StatusServiceUnavailable, "UNAVAILABLE"},
	// The router reports these two.
	{echo.ErrNotFound, http.StatusNotFound, "NOT_FOUND"},
	{echo.ErrMethodNotAllowed, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED"},
}

// errorBody is the JSON body of every error.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int    `json:"code"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// temporary reports whether the same request may succeed a little later.
func (d *errorDetail) temporary() bool {
	return d.Code == http.StatusServiceUnavailable || d.Code == http.StatusTooManyRequests
}

// internalError is the detail of an error of no kind.
func internalError(message string) errorDetail {
	return errorDetail{http.StatusInternalServerError, "INTERNAL", message}
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// describe returns the error that a client gets for err. A client that made a
// mistake gets the whole message. The message of a fault or of an unavailable
// store may contain addresses and paths of this machine, so the client only gets
// the request id, with which an operator finds the message in the log. Of a
// memory.Refusal and a memory.Damage the client gets their own text, without that of
// the calls around it.
func describe(err error, requestID string) errorDetail {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		err = fmt.Errorf("%w: the body has more than %d bytes (-max-body)", errTooLarge, tooLarge.Limit)
	}
	for _, k := range kinds {
		if !errors.Is(err, k.err) {
			continue
		}
		d := errorDetail{k.code, k.status, err.Error()}
		if stores := (notReady)(nil); errors.Is(err, errStatusAlone) {
			d.Message = "not ready"
		} else if errors.As(err, &stores) {
			d.Message = stores.public()
		} else if damage := (*memory.Damage)(nil); errors.As(err, &damage) {
			d.Message = damage.Error()
		} else if refusal := (*memory.Refusal)(nil); errors.As(err, &refusal) {
			d.Message = refusal.Error()
		} else if d.temporary() {
			d.Message = fmt.Sprintf(
				"memoryd cannot do this now: try again later (the log has the reason under request id %s)", requestID)
		}
		return d
	}
	return internalError(fmt.Sprintf("internal error (the log has the reason under request id %s)", requestID))
}

// retrySeconds is how many whole seconds a client should wait before it tries
// again: as err says, and at least one.
func retrySeconds(err error) int {
	return max(1, int(math.Ceil(memory.RetryAfter(err).Seconds())))
}

// maxMessage bounds the message of an error, in bytes. A message may repeat a
// part of the request.
const maxMessage = 1000

// fail is echo's error handler: it sends err as JSON, unless the answer has
// begun already. The middleware logs err, see logRequests.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	d := describe(err, requestID(c))
	if errors.Is(err, echo.ErrNotFound) || errors.Is(err, echo.ErrMethodNotAllowed) {
		d.Message = fmt.Sprintf("there is no route for %s %s", c.Request().Method, c.Request().URL.Path)
	}
	if d.Message = strings.ToValidUTF8(d.Message, "\uFFFD"); len(d.Message) > maxMessage {
		d.Message = memory.Cut(d.Message, maxMessage) + "…"
	}
	if d.temporary() {
		c.Response().Header().Set("Retry-After", strconv.Itoa(retrySeconds(err)))
	}
	if err := sendJSON(c, d.Code, errorBody{d}); err != nil {
		s.opts.Log.Error("the error was not sent", "id", requestID(c), "err", err)
	}
}
