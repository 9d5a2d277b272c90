package memory_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

func TestRetryAfter(t *testing.T) {
	refused := memory.Refuse(3*time.Second, "%d wait", 7)
	for _, c := range []struct {
		err  error
		want time.Duration
	}{
		{refused, 3 * time.Second},
		{fmt.Errorf("call: %w", refused), 3 * time.Second},
		{fmt.Errorf("call: %w", &memory.Later{After: time.Minute, Err: memory.ErrUnavailable}), time.Minute},
		{memory.ErrExhausted, 0},
		{nil, 0},
	} {
		if got := memory.RetryAfter(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
	if !errors.Is(refused, memory.ErrExhausted) || refused.Error() != "resource exhausted: 7 wait" {
		t.Errorf("a refusal: %v", refused)
	}
}

func TestRefusalFlag(t *testing.T) {
	for format, want := range map[string]string{
		"%s -a are in use: -max-watchers sets how many": "a",
		"16 of %d are in use: -max-watchers, no more":   "max-watchers",
		"%s is full - later":                            "",
		"-limit: %s":                                    "limit",
	} {
		if got := memory.Refuse(0, format, "-client").Flag(); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
	got := memory.Refuse(0, "%s is full: %s sets how much", "-client", memory.Flag("-max-things")).Flag()
	if got != "max-things" {
		t.Errorf("as an argument: %q", got)
	}
}
