package sessionstore

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Micros returns t in UTC, cut to the microsecond: the resolution of every store.
func Micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// FromMicros returns the time that a store keeps as microseconds since 1970.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// minMicros is before the time of any event, in microseconds since 1970. A
// float64, as Redis keeps numbers, has it exactly.
const minMicros = -1 << 53

// FormatTime writes a time as all answers have it: RFC 3339, UTC, six decimals.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// ParseTime reads a JSON value as a time: an RFC 3339 string, or epoch seconds
// as a number. Errors are ErrInvalid and name field.
func ParseTime(field string, raw []byte) (time.Time, error) {
	t, _, err := ParseLocalTime(field, raw)
	return t, err
}

// ParseLocalTime is ParseTime, and also returns the offset that the time is written
// with: "" if it is written in seconds, with Z, or with -00:00.
func ParseLocalTime(field string, raw []byte) (t time.Time, offset memory.UTCOffset, err error) {
	if len(raw) == 0 || raw[0] != '"' {
		t, err = readSeconds(field, raw)
		return t, "", err
	}
	var s string
	if err := decodeString(raw, &s, field); err != nil {
		return t, "", err
	}
	if t, err = time.Parse(time.RFC3339Nano, s); err != nil {
		return t, "", fmt.Errorf("%w: %s: %.60q is not an RFC 3339 time such as 2024-05-08T13:56:00Z",
			memory.ErrInvalid, field, s)
	}
	if t.Location() != time.UTC && !strings.HasSuffix(s, "-00:00") {
		if offset, err = memory.ParseUTCOffset(field, string(memory.OffsetAt(t))); err != nil {
			return t, "", err
		}
	}
	t = Micros(t)
	return t, offset, memory.ValidateTime(field, t)
}

// readSeconds reads a number of seconds since 1970.
func readSeconds(field string, raw []byte) (time.Time, error) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(math.Abs(f) <= 1e15) { // false for NaN too
		return time.Time{}, fmt.Errorf("%w: %s: want an RFC 3339 string or epoch seconds, not %.60s",
			memory.ErrInvalid, field, raw)
	}
	whole := math.Floor(f)
	t := Micros(time.Unix(int64(whole), int64(math.Round((f-whole)*1e6))*1000))
	return t, memory.ValidateTime(field, t)
}
