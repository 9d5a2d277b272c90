package memory

import (
	"fmt"
	"time"
)

// UTCOffset is how far a local clock is ahead of UTC, as RFC 3339 writes it:
// "-08:00", "+05:30". "" is an offset that is not known. Stores keep times in UTC;
// the offset beside a time tells the day on which its speaker was.
type UTCOffset string

// maxOffset is less than a day, and more than any clock on Earth is ahead.
const maxOffset = 24 * 60 // minutes

// ParseUTCOffset reads an offset: a sign, two digits of hours up to 23, a colon, two
// digits of minutes. ErrInvalid, naming field, for anything else, and for "-00:00",
// which RFC 3339 has for an offset that is not known.
func ParseUTCOffset(field, s string) (UTCOffset, error) {
	t, err := time.Parse("-07:00", s)
	if err != nil || s == "-00:00" {
		return "", fmt.Errorf("%w: %s: %.60q is not an offset such as -08:00", ErrInvalid, field, s)
	}
	_, seconds := t.Zone()
	if minutes := seconds / 60; minutes <= -maxOffset || minutes >= maxOffset {
		return "", fmt.Errorf("%w: %s: %.60q is a day or more", ErrInvalid, field, s)
	}
	return OffsetAt(t), nil
}

// OffsetAt returns the offset of the location of t at t, cut to the minute. A location
// that is named UTC has "+00:00".
func OffsetAt(t time.Time) UTCOffset {
	_, seconds := t.Zone()
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return UTCOffset(fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60))
}

// OffsetOf is OffsetAt for a time that [UTCOffset.In] returned: "" if its location is
// [time.UTC].
func OffsetOf(t time.Time) UTCOffset {
	if t.Location() == time.UTC {
		return ""
	}
	return OffsetAt(t)
}

// In returns t in the location of the offset. It is in UTC if the offset is not known.
// An offset that ParseUTCOffset does not accept counts as not known.
func (o UTCOffset) In(t time.Time) time.Time {
	if o == "" {
		return t.UTC()
	}
	at, err := time.Parse("-07:00", string(o))
	if err != nil {
		return t.UTC()
	}
	_, seconds := at.Zone()
	return t.In(time.FixedZone("", seconds))
}

// Validate accepts the offset that ParseUTCOffset returns for it, and "".
func (o UTCOffset) Validate() error {
	if o == "" {
		return nil
	}
	same, err := ParseUTCOffset("utcOffset", string(o))
	if err == nil && same != o {
		err = fmt.Errorf("%w: utcOffset: %q is written %q", ErrInvalid, o, same)
	}
	return err
}

// ParseTimeZone returns the time zone of a name of the IANA data base, such as
// Europe/Lisbon. ErrInvalid, naming field, for a name that it does not have. The zone
// of the machine is not a name: what "Local" means depends on where memoryd runs.
func ParseTimeZone(field, name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || zone == time.Local {
		return nil, fmt.Errorf("%w: %s: there is no time zone %.60q: want a name such as Europe/Lisbon",
			ErrInvalid, field, name)
	}
	return zone, nil
}

// Local returns t, a time of m, on the clock of the speaker, or in UTC if the offset
// of that clock is not known.
func (m *Memory) Local(t time.Time) time.Time { return m.UTCOffset.In(t) }
