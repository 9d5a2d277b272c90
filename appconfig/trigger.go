package appconfig

import (
	"strconv"
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

// Trigger says when the memories of events are made that were asked for: when the first
// of its conditions holds. Without any that is at once.
type Trigger struct {
	Events   int  `json:"events,omitzero"`   // so many events wait
	Idle     Wait `json:"idle,omitzero"`     // no event has come for so long
	Interval Wait `json:"interval,omitzero"` // the first event that waits came so long ago
	// Overlap is how many of the events before a batch the extractor is shown with it. 0
	// leaves the number to the extractor.
	Overlap int `json:"overlap,omitzero"`
}

// Triggers are the Trigger of an app's sessions that have none of their own.
type Triggers struct {
	Trigger
	// Appends has events that are appended to a session ask for memories too.
	Appends bool `json:"appends,omitzero"`
}

// Wait is a time to wait, in JSON as a Duration.
type Wait struct{ time.Duration }

// MinWait is the shortest Wait: processes look for work about once a second.
const MinWait = time.Second

// MarshalJSON implements json.Marshaler: seconds, as a text.
func (w Wait) MarshalJSON() ([]byte, error) { return Duration(w).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler. null leaves zero.
func (w *Wait) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	d, err := parseDuration(string(raw))
	if err != nil {
		return invalid("want seconds, or a duration such as \"60s\", not %.40s", raw)
	}
	w.Duration = d.Truncate(time.Microsecond)
	return nil
}

// Of is t as a session store has it.
func (t Trigger) Of() sessionstore.Trigger {
	return sessionstore.Trigger{Count: t.Events, Idle: t.Idle.Duration, Every: t.Interval.Duration, Overlap: t.Overlap}
}

// TriggerOf is a trigger of a session store as a client sees it.
func TriggerOf(t sessionstore.Trigger) Trigger {
	return Trigger{Events: t.Count, Idle: Wait{t.Idle}, Interval: Wait{t.Every}, Overlap: t.Overlap}
}

// Validate reports the first rule that t breaks. field names it in errors.
func (t Trigger) Validate(field string) error {
	switch {
	case t.Events < 0 || t.Events > sessionstore.MaxTriggerCount:
		return invalid("%s.events: want 1 to %d, or 0 for any number, not %d", field, sessionstore.MaxTriggerCount,
			t.Events)
	case !t.Idle.within(sessionstore.MaxTriggerWait):
		return invalid("%s.idle: want %s, not %v", field, span(sessionstore.MaxTriggerWait), t.Idle.Duration)
	case !t.Interval.within(sessionstore.MaxTriggerEvery):
		return invalid("%s.interval: want %s, not %v", field, span(sessionstore.MaxTriggerEvery), t.Interval.Duration)
	case t.Idle.Duration > 0 && t.Interval.Duration > 0:
		return invalid("%s: has both idle and interval: want one of them", field)
	case t.Overlap < 0 || t.Overlap > sessionstore.MaxOverlap:
		return invalid("%s.overlap: want 0 to %d, not %d", field, sessionstore.MaxOverlap, t.Overlap)
	case t.Events > 0 && t.Overlap >= t.Events:
		return invalid("%s.overlap: want fewer than events, %d, not %d", field, t.Events, t.Overlap)
	}
	return nil
}

func (w Wait) within(most time.Duration) bool {
	return w.Duration == 0 || w.Duration >= MinWait && w.Duration <= most
}

// span tells the waits up to one that is a number of hours.
func span(most time.Duration) string {
	return "1s to " + strconv.Itoa(int(most.Hours())) + "h, or 0 for none"
}
