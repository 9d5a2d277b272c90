package vertex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxContents bounds the events of one request, as the HTTP API does, and every other list and map.
const maxContents = 10_000

// maxPartValues bounds the values in the parts of an event without an id, at all depths: its id follows
// from them, for which each is decoded.
const maxPartValues = 100_000

// values is about how many values there are in valid JSON: each but the first one of a list or an object
// has a comma before it.
func values(raw []byte) (n int) {
	for i, quoted := 0, false; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}

// contentEvent is an event of a request that brings its events itself. A stream may tell its id and
// its time; it has neither in a request to generate memories.
type contentEvent struct {
	Content   json.RawMessage `json:"content"`
	EventID   string          `json:"eventId"`
	EventTime *Time           `json:"eventTime"`
}

// contents are the events of a request in JSON.
type contents struct {
	Events []contentEvent `json:"events"`

	// asUser has the words of all events count as the user's.
	asUser bool
}

// role is the role of the content of an event: "user" if it says nothing.
func (e *contentEvent) role() string {
	var in struct {
		Role *string `json:"role"`
	}
	if json.Unmarshal(e.Content, &in) != nil || in.Role == nil || *in.Role == "" {
		return userRole
	}
	return *in.Role
}

const userRole = "user"

// speakForUser has words of which none is the user's count as that: what a request brings is what
// is to be remembered of the user, and the words of agents are remembered by a model at best.
func (c *contents) speakForUser() {
	c.asUser = !slices.ContainsFunc(c.Events, func(e contentEvent) bool { return e.role() == userRole })
}

// native are the events that memoryd stores, at now if they have no time. An event without an id gets
// one of what it says and of how many equal ones come before it: some clients send a whole
// session each time, and all of them may send a request twice.
func (c *contents) native(user string, now time.Time) ([]sessionstore.Event, error) {
	equal := map[string]int{}
	out := make([]sessionstore.Event, 0, len(c.Events))
	for i, e := range c.Events {
		at := fmt.Sprintf("directContentsSource.events[%d]", i)
		event, err := e.native(user, now.Add(time.Duration(i)*time.Microsecond), equal, c.asUser)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		out = append(out, event)
	}
	return out, nil
}

// native is one event. equal counts the events before it by what they say.
func (e *contentEvent) native(user string, now time.Time, equal map[string]int, asUser bool) (
	out sessionstore.Event, err error) {
	content, err := camelObject("content", e.Content)
	if err != nil {
		return out, err
	}
	if len(content) == 0 {
		return out, invalid("content: want an object with role and parts")
	}
	if raw := content["role"]; present(raw) && raw[0] != '"' {
		return out, invalid("content.role: want a text")
	}
	role, id := e.role(), e.EventID
	if id == "" {
		if values(content["parts"]) > maxPartValues {
			return out, invalid("content.parts: more than %d values in them", maxPartValues)
		}
		id = e.derivedID(role, content["parts"], equal)
	} else if err := memory.ValidateID("event", id); err != nil {
		return out, err
	}
	if e.EventTime != nil && !e.EventTime.IsZero() {
		now = e.EventTime.Time
		if err := memory.ValidateTime("eventTime", now); err != nil {
			return out, err
		}
	}
	if asUser {
		role = userRole
	}
	content["role"] = quote(role)
	doc, err := Encode(map[string]any{"id": id, "author": role, "timestamp": sessionstore.FormatTime(now),
		"content": content})
	if err != nil {
		return out, err
	}
	if out, err = sessionstore.AcceptEvent(userID(user), doc); err != nil { // it has no text at all
		out, err = sessionstore.ParseEvent(doc)
	}
	return out, err
}

// derivedID is the id of an event that came without one. It follows from the role, the parts and the
// time, if there is one, and from how many events before it in the request have the same ones. The
// session that stores the event is that of one scope, which therefore need not be in it.
func (e *contentEvent) derivedID(role string, parts json.RawMessage, equal map[string]int) string {
	says := role + "\x00" + memory.CanonicalJSON(parts)
	if e.EventTime != nil {
		says += "\x00" + sessionstore.FormatTime(e.EventTime.Time)
	}
	equal[says]++
	sum := sha256.Sum256([]byte(says + "\x00" + strconv.Itoa(equal[says])))
	return "content-" + hex.EncodeToString(sum[:16])
}
