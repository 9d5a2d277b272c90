package server

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxDepth is how deep the JSON of a request may nest: an event's depth, in a
// list, in a request.
const maxDepth = sessionstore.MaxDepth + 8

// body reads a request's JSON into v. It refuses unknown fields, fields given
// twice, invalid UTF-8 and what does not fit, and says where. An empty body is
// as {}.
func body(c echo.Context, v any) error {
	raw, err := io.ReadAll(c.Request().Body)
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return err
		}
		return invalid("body: %v", err)
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		return nil
	}
	if err := sessionstore.CheckDepth("body", raw, maxDepth); err != nil {
		return err
	}
	return strict.Decode("", raw, v)
}

// moment is a time in a request.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(raw []byte) (err error) {
	if string(raw) == "null" {
		return nil
	}
	m.Time, err = sessionstore.ParseTime("time", raw)
	return err
}

// lifetime is a ttl in a request: seconds as a number, or a duration such as
// "3600s" or "48h". Zero, or null, is for ever.
type lifetime struct{ time.Duration }

func (l *lifetime) UnmarshalJSON(raw []byte) error {
	const most = 100 * 365 * 24 * time.Hour
	text := string(raw)
	if text == "null" {
		return nil
	}
	var d time.Duration
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil {
		d = time.Duration(min(seconds, 2*most.Seconds()) * float64(time.Second))
	} else if text, err = strconv.Unquote(text); err == nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 || d > most {
		return invalid("want seconds, or a duration such as \"3600s\", from 0 to 100 years, not %.40s", raw)
	}
	l.Duration = d.Truncate(time.Microsecond)
	if d > 0 { // the shortest life is not for ever
		l.Duration = max(l.Duration, time.Microsecond)
	}
	return nil
}

// answer sends v as JSON.
func answer(c echo.Context, status int, v any) error {
	raw, err := strict.Encode(v)
	if err != nil {
		return err
	}
	return c.Blob(status, "application/json", append(raw, '\n'))
}

// flag reads a boolean of the query string.
func flag(c echo.Context, name string) (bool, error) {
	switch v := c.QueryParam(name); v {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, invalid("%s: want true or false, not %.40q", name, v)
	}
}

// pageSize reads pageSize; 0 is the default.
func pageSize(c echo.Context) (int, error) {
	v := c.QueryParam("pageSize")
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > memory.MaxPageSize {
		return 0, invalid("pageSize: want 1 to %d, not %.40q", memory.MaxPageSize, v)
	}
	return n, nil
}
