package memory

import (
	"errors"
	"testing"
	"time"
)

func TestParseUTCOffset(t *testing.T) {
	for text, want := range map[string]UTCOffset{
		"-08:00": "-08:00", "+05:30": "+05:30", "+00:00": "+00:00", "+14:00": "+14:00", "-23:59": "-23:59",
		"+23:60": "", "+24:00": "", "-24:00": "", "-00:00": "", "": "", "Z": "", "-8:00": "", "+0530": "", "+05:30 ": "",
		"+05:30:00": "", "utc": "",
	} {
		got, err := ParseUTCOffset("utcOffset", text)
		if got != want || (want == "") != errors.Is(err, ErrInvalid) {
			t.Errorf("%q gives %q, %v, want %q", text, got, err, want)
		}
		if err := UTCOffset(text).Validate(); (err == nil) != (want != "" || text == "") {
			t.Errorf("%q is valid: %v", text, err)
		}
	}
}

// The offset of a time leads back to the clock that it was read from.
func TestOffsetIn(t *testing.T) {
	at := time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	for offset, want := range map[UTCOffset]string{
		"": "2026-03-02T07:30:00Z", "+00:00": "2026-03-02T07:30:00Z", "-08:00": "2026-03-01T23:30:00-08:00",
		"+05:45": "2026-03-02T13:15:00+05:45", "nonsense": "2026-03-02T07:30:00Z",
	} {
		m := Memory{UTCOffset: offset}
		got := m.Local(at)
		if s := got.Format(time.RFC3339); s != want {
			t.Errorf("in %q it is %s, want %s", offset, s, want)
		}
		if back := OffsetOf(got); offset != "nonsense" && back != offset {
			t.Errorf("%q comes back as %q", offset, back)
		}
	}
	zone, err := ParseTimeZone("timeZone", "Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	if got := OffsetAt(at.In(zone)); got != "+05:30" {
		t.Errorf("the offset of Kolkata is %s", got)
	}
	if got := OffsetAt(at.In(time.FixedZone("", -44*60-30))); got != "-00:44" {
		t.Errorf("an offset with seconds is %s", got)
	}
}

func TestParseTimeZone(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Lisbon", "America/Los_Angeles"} {
		if zone, err := ParseTimeZone("timeZone", name); err != nil || zone.String() != name {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
	for _, name := range []string{"", "Local", "Mars/Olympus", "../etc/passwd", "+02:00", "Europe/Lisbon\x00"} {
		if zone, err := ParseTimeZone("timeZone", name); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v, %v", name, zone, err)
		}
	}
}
