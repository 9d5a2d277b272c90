package server

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxDepth bounds how deep the JSON of a request nests. An event may have the
// depth that the session store allows; the rest is for the list and the objects
// around it.
const maxDepth = sessionstore.MaxDepth + 8

// moment is a time in a request: RFC 3339 or epoch seconds.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler. null leaves the zero time.
func (m *moment) UnmarshalJSON(raw []byte) (err error) {
	if string(raw) == "null" {
		return nil
	}
	m.Time, err = sessionstore.ParseTime("time", raw)
	return err
}

// localMoment is a moment, with the offset that it is written with.
type localMoment struct {
	time.Time
	offset memory.UTCOffset
}

// UnmarshalJSON implements json.Unmarshaler. null leaves the zero time.
func (m *localMoment) UnmarshalJSON(raw []byte) (err error) {
	if string(raw) == "null" {
		return nil
	}
	m.Time, m.offset, err = sessionstore.ParseLocalTime("time", raw)
	return err
}

// timeZone is the name of a time zone in a request; nil if it has none.
type timeZone struct{ *time.Location }

// UnmarshalJSON implements json.Unmarshaler. null leaves nil.
func (z *timeZone) UnmarshalJSON(raw []byte) error {
	var name *string
	if err := json.Unmarshal(raw, &name); err != nil {
		return invalid("want the name of a time zone such as \"Europe/Lisbon\", not %.60s", raw)
	}
	if name == nil {
		return nil
	}
	var err error
	z.Location, err = memory.ParseTimeZone("time zone", *name)
	return err
}

// lifetime is a ttl in a request: seconds as a number, or a duration such as
// "3600s" or "48h". Zero and null mean that the memory does not expire.
type lifetime struct{ time.Duration }

// maxLifetime is 100 years. Expiry times beyond it would leave the range of
// times that the stores accept.
const maxLifetime = 100 * 365 * 24 * time.Hour

// UnmarshalJSON implements json.Unmarshaler.
func (l *lifetime) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if text == "null" {
		return nil
	}
	var d time.Duration
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil {
		// The minimum keeps the product within an int64. It is still too long.
		d = time.Duration(min(seconds, 2*maxLifetime.Seconds()) * float64(time.Second))
	} else if text, err = strconv.Unquote(text); err == nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 || d > maxLifetime {
		return invalid("want seconds, or a duration such as \"3600s\", from 0 to 100 years, not %.40s", raw)
	}
	// Stores keep microseconds. A shorter lifetime is rounded up, because zero
	// would make the memory live forever.
	l.Duration = d.Truncate(time.Microsecond)
	if d > 0 {
		l.Duration = max(l.Duration, time.Microsecond)
	}
	return nil
}

// sendJSON answers with v as JSON.
func sendJSON(c echo.Context, status int, v any) error {
	raw, err := strict.Encode(v)
	if err != nil {
		return err
	}
	return c.Blob(status, "application/json", append(raw, '\n'))
}

// boolParam reads a boolean query parameter. It is false if absent.
func boolParam(c echo.Context, name string) (bool, error) {
	switch v := c.QueryParam(name); v {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, invalid("%s: want true or false, not %.40q", name, v)
	}
}

// pageSizeParam reads pageSize. An absent one is 0, which stores take as their
// default.
func pageSizeParam(c echo.Context) (int, error) {
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

// timeParam reads a time in the query: RFC 3339, or seconds since 1970. It is zero if
// absent.
func timeParam(c echo.Context, name string) (time.Time, error) {
	v := c.QueryParam(name)
	if v == "" {
		return time.Time{}, nil
	}
	if _, err := strconv.ParseFloat(v, 64); err != nil {
		// A time with an offset has a plus sign, which clients often leave unescaped. It
		// arrives as a blank.
		v = strconv.Quote(strings.Replace(v, " ", "+", 1))
	}
	return sessionstore.ParseTime(name, []byte(v))
}
