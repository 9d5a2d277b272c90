package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
)

// Event is one step of a session. Its fields are those that memory is about;
// Doc has all of them.
type Event struct {
	ID           string         `json:"id,omitempty"`
	InvocationID string         `json:"invocationId,omitempty"`
	Author       string         `json:"author,omitempty"` // "user", or an agent's name
	Timestamp    time.Time      `json:"timestamp,omitzero"`
	Content      *Content       `json:"content,omitempty"`
	Actions      *Actions       `json:"actions,omitempty"`
	Partial      bool           `json:"partial,omitempty"`
	Metadata     map[string]any `json:"customMetadata,omitempty"`

	// Doc is the event as a JSON object, whatever fields it has: of an event that
	// memoryd has answered, the whole of it. Where Doc is set it is what is sent,
	// and the other fields are not; only an ID is added to one that has none.
	Doc json.RawMessage `json:"-"`
}

// Content is what an event says.
type Content struct {
	Role  string `json:"role,omitempty"` // "user" or "model"
	Parts []Part `json:"parts"`
}

// Part is one part of a Content; memoryd keeps more kinds than text, see
// Event.Doc.
type Part struct {
	Text    string `json:"text,omitempty"`
	Thought bool   `json:"thought,omitempty"`
}

// Actions are what an event does beside saying something.
type Actions struct {
	StateDelta map[string]any `json:"stateDelta,omitempty"`
}

// Text is an event in which somebody says something: the user, if author is
// "user", else the agent of that name.
func Text(author, text string) Event {
	role := "model"
	if author == "user" {
		role = "user"
	}
	return Event{Author: author, Content: &Content{Role: role, Parts: []Part{{Text: text}}}}
}

// Text is what e says in words, without the model's thoughts.
func (e *Event) Text() string {
	if e.Content == nil {
		return ""
	}
	var texts []string
	for _, p := range e.Content.Parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// fields is Event without its methods.
type fields Event

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) {
	if len(e.Doc) > 0 {
		return e.Doc, nil
	}
	return encode(fields(e))
}

// UnmarshalJSON implements json.Unmarshaler. A field that does not have the type
// that it has here stays in Doc alone.
func (e *Event) UnmarshalJSON(raw []byte) error {
	*e = Event{}
	var of fields
	if err := json.Unmarshal(raw, &of); err == nil {
		*e = Event(of)
	}
	e.Doc = append(json.RawMessage(nil), raw...)
	return nil
}

// named gives an id to the events that have none, so that they can be sent
// again without being stored twice. The events of the caller stay as they are.
func named(events []Event) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		if out[i] = e; len(e.Doc) == 0 {
			if e.ID == "" {
				out[i].ID = uuid.NewString()
			}
			continue
		}
		if e.ID != "" {
			continue // Doc has it, as whoever set both says
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(e.Doc, &doc); err != nil || doc == nil {
			return nil, fmt.Errorf("%w: events[%d].Doc: want a JSON object, not %.60s", memory.ErrInvalid, i, e.Doc)
		}
		var id string
		if raw, ok := doc["id"]; ok {
			if err := json.Unmarshal(raw, &id); err != nil {
				continue // memoryd says what is wrong with it
			}
		}
		if id != "" {
			continue
		}
		raw, err := json.Marshal(uuid.NewString())
		if err != nil {
			return nil, err
		}
		doc["id"] = raw
		if out[i].Doc, err = encode(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}
