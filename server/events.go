package server

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxEvents bounds the events of one request. A long session fits, and the
// single commit that stores them does not hold up other writers for long.
const maxEvents = 10_000

// eventList holds the events of a request, each as the client wrote it.
type eventList []json.RawMessage

// rawValue is a value of a body as the client wrote it. It is a part of the body,
// which json.RawMessage would copy.
type rawValue []byte

// UnmarshalJSON implements json.Unmarshaler.
func (v *rawValue) UnmarshalJSON(raw []byte) error {
	*v = raw
	return nil
}

// UnmarshalJSON implements json.Unmarshaler. It stops as soon as there are more
// than maxEvents. null is an empty list.
func (l *eventList) UnmarshalJSON(raw []byte) (err error) {
	switch raw[0] {
	case 'n':
		return nil
	case '[':
	default:
		return invalid("want a list of events")
	}
	if *l, err = strict.Elements(raw, maxEvents); err == nil && len(*l) > maxEvents {
		err = invalid("more than %d events: send them in several requests", maxEvents)
	}
	return err
}

// parseEvents reads a list of events of a user. field names the list in errors.
func parseEvents(user, field string, raw eventList) ([]sessionstore.Event, error) {
	out := make([]sessionstore.Event, len(raw))
	for i, r := range raw {
		var err error
		if out[i], err = sessionstore.AcceptEvent(user, r); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
	}
	return out, nil
}

// appendEvents answers POST {scope}/sessions/{id}/events. With outputKey the
// text of each event also goes into the state under that key, as ADK's
// output_key does it. The turns of the events are findable if the triggers of the app
// have appends ask for memories. A false promises nothing, so it also holds for events
// that memories were made of before.
func (s *Server) appendEvents(c echo.Context, key sessionstore.Key) error {
	var raw rawValue
	if err := decodeBody(c, &raw); err != nil {
		return err
	}
	events, zone, err := oneOrManyEvents(key.User, raw)
	if err != nil {
		return err
	}
	events = s.ingest.InZone(c.Request().Context(), key.App, events, zone.Location)
	// QueryParam cannot tell an empty outputKey, which is refused, from none.
	if keys := c.QueryParams()["outputKey"]; keys != nil {
		// Before their text goes into state, where secrets may stay.
		if events, err = s.ingest.Redactor().Events(c.Request().Context(), key.App, events); err != nil {
			return err
		}
		for i := range events {
			if events[i], err = events[i].WithOutput(keys[0]); err != nil {
				return err
			}
		}
	}
	done, err := s.ingest.Append(c.Request().Context(), key, events)
	if err != nil {
		return err
	}
	if done.Operation != nil {
		note(c, func(e *access.Entry) { e.Operation = done.Operation.ID })
	}
	out := newAnswer(c, http.StatusOK)
	out.text(`{"events":[`)
	out.events(done.Events, 0)
	out.text(`],"lastUpdateTime":`)
	out.value(done.LastUpdateTime)
	out.text(`,"findable":`)
	out.value(done.Operation != nil && done.Operation.Findable)
	out.text(`}`)
	return out.finish()
}

// oneOrManyEvents reads a body that is one event, or a list of events in the
// field "events", and the time zone beside either. An event may have fields of any
// name, so only the presence of "events" tells the two apart.
func oneOrManyEvents(user string, raw rawValue) (events []sessionstore.Event, zone timeZone, err error) {
	if len(raw) == 0 {
		return nil, zone, invalid("body is empty: want an event, or {\"events\": [...]}")
	}
	var fields map[string]rawValue
	if err := strict.Decode("", raw, &fields); err != nil {
		return nil, zone, err
	}
	if name, ok := fields["timeZone"]; ok {
		if err := strict.Decode("timeZone", name, &zone); err != nil {
			return nil, zone, err
		}
	}
	list, many := fields["events"]
	if !many {
		event, err := sessionstore.AcceptEvent(user, raw)
		return []sessionstore.Event{event}, zone, err
	}
	for name := range fields {
		if name != "events" && name != "timeZone" {
			return nil, zone, invalid("unknown field %.80q beside events", name)
		}
	}
	if string(list) == "null" {
		return nil, zone, invalid("events: want a list, not null")
	}
	var some eventList
	if err := strict.Decode("events", list, &some); err != nil {
		return nil, zone, err
	}
	events, err = parseEvents(user, "events", some)
	return events, zone, err
}
