package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
)

// errClosed is the error of every request after Close.
var errClosed = errors.New("this memoryd is closed")

// kinds is the one table that makes errors HTTP.
var kinds = []struct {
	err    error
	code   int
	status string
}{
	{memory.ErrInvalid, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{memory.ErrNotFound, http.StatusNotFound, "NOT_FOUND"},
	{memory.ErrExists, http.StatusConflict, "ALREADY_EXISTS"},
	{memory.ErrAborted, http.StatusConflict, "ABORTED"},
	{errClosed, http.StatusGone, "GONE"},
	{memory.ErrExhausted, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"},
	{memory.ErrUnavailable, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "UNAVAILABLE"},
	{context.Canceled, http.StatusServiceUnavailable, "UNAVAILABLE"}, // nobody is left to read it
}

// statuses names what the router and the middleware answer themselves.
var statuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
	http.StatusMethodNotAllowed: "METHOD_NOT_ALLOWED", http.StatusRequestEntityTooLarge: "PAYLOAD_TOO_LARGE",
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    int    `json:"code"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// detail is what a caller is told of an error. Of a fault of our own, or of a
// store, whose address is nobody's business, it is told nothing but where to
// find more.
func detail(c echo.Context, err error) errorDetail {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errorDetail{http.StatusRequestEntityTooLarge, statuses[http.StatusRequestEntityTooLarge],
			fmt.Sprintf("body has more than %d bytes", tooLarge.Limit)}
	}
	for _, k := range kinds {
		if !errors.Is(err, k.err) {
			continue
		}
		message := err.Error()
		if (k.code == http.StatusServiceUnavailable || k.code == http.StatusTooManyRequests) && !errors.As(err, new(notReady)) {
			message = fmt.Sprintf("this cannot be done just now; try again later (the log has the reason under request id %s)", requestID(c))
		}
		return errorDetail{k.code, k.status, message}
	}
	var he *echo.HTTPError
	if errors.As(err, &he) && he.Code < 500 {
		status, message := statuses[he.Code], fmt.Sprint(he.Message)
		if status == "" {
			status = "INVALID_ARGUMENT"
		}
		if errors.Is(err, echo.ErrNotFound) || errors.Is(err, echo.ErrMethodNotAllowed) {
			message = fmt.Sprintf("nothing answers %s %s", c.Request().Method, c.Request().URL.Path)
		}
		return errorDetail{he.Code, status, message}
	}
	return errorDetail{http.StatusInternalServerError, "INTERNAL",
		fmt.Sprintf("an internal error; the log has it under request id %s", requestID(c))}
}

// maxMessage is how long a message may be, in bytes: it may repeat what was sent.
const maxMessage = 1000

// fail answers an error, once.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	d := detail(c, err)
	if d.Message = strings.ToValidUTF8(d.Message, "\uFFFD"); len(d.Message) > maxMessage {
		d.Message = memory.Cut(d.Message, maxMessage) + "…"
	}
	if d.Code == http.StatusServiceUnavailable || d.Code == http.StatusTooManyRequests {
		c.Response().Header().Set("Retry-After", "1")
	}
	if err := answer(c, d.Code, errorBody{d}); err != nil {
		s.opts.Log.Error("the error was not sent", "id", requestID(c), "err", err)
	}
}
