package movein

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The forms of times with an offset, and without one. Fractions of a second follow the
// seconds in any form.
var (
	offsetForms = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
		"2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 MST"}
	localForms = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04",
		time.DateOnly}
)

// readTime reads a time as programs write it: ISO 8601 with or without an offset, or seconds
// since 1970 as a number or its text. A time without an offset is one in zone. null, "" and
// nothing are no time. The location of the time tells its offset, as memory.OffsetOf has it.
func readTime(field string, raw json.RawMessage, zone *time.Location) (time.Time, error) {
	switch text := strings.TrimSpace(string(raw)); {
	case text == "" || text == "null" || text == `""`:
		return time.Time{}, nil
	case text[0] != '"':
		return sessionstore.ParseTime(field, raw)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, fmt.Errorf("%w: %s: %.60s is no time", memory.ErrInvalid, field, raw)
	}
	return readTimeText(field, text, zone)
}

// readTimeText is readTime of a text.
func readTimeText(field, text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	// SQLite gives a number as its text, and some programs write one so.
	if _, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 4 { // four digits are a year
		return sessionstore.ParseTime(field, []byte(text))
	}
	for _, form := range offsetForms {
		if t, err := time.Parse(form, text); err == nil {
			if _, offset := t.Zone(); offset == 0 {
				t = t.UTC() // the clock of a server, which says nothing of the speaker's
			}
			return t, memory.ValidateTime(field, t)
		}
	}
	for _, form := range localForms {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t, memory.ValidateTime(field, t)
		}
	}
	return time.Time{}, fmt.Errorf("%w: %s: %.60q is no time such as 2024-05-08T13:56:00Z", memory.ErrInvalid, field,
		text)
}
