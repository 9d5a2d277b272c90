package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Failures are logged once a minute with their number, and their end once. No line has
// a header or the whole of an answer.
func TestWatch(t *testing.T) {
	var lines bytes.Buffer
	w := newWatch("traces", Options{Headers: map[string]string{"a": "hush", "b": ""}, Log: slog.New(slog.NewTextHandler(&lines, nil))})
	now := time.Unix(1e9, 0)
	w.now = func() time.Time { return now }
	failure := errors.New("500:\n hush " + strings.Repeat("x", 10_000))
	for range 3600 { // an hour, with a failure each second
		w.saw(failure)
		now = now.Add(time.Second)
	}
	w.saw(nil)
	w.saw(nil)
	said := lines.String()
	if n := strings.Count(said, "does not take"); n != 60 {
		t.Errorf("%d lines", n)
	}
	if strings.Count(said, "failed=60 ") != 59 || strings.Count(said, "takes traces again") != 1 {
		t.Errorf("the lines are\n%.2000s", said)
	}
	if strings.Contains(said, "hush") || len(said) > 61*600 {
		t.Errorf("%d bytes:\n%.2000s", len(said), said)
	}
}
