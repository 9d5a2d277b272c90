package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
)

// Event is one step of a session. Its fields are those that memory uses; Doc has
// all fields.
type Event struct {
	ID           string `json:"id,omitempty"`
	InvocationID string `json:"invocationId,omitempty"`
	Author       string `json:"author,omitempty"` // "user", or an agent's name
	// Timestamp is sent with the offset of its location, which memoryd keeps: UTC leaves
	// it open. memoryd answers times in UTC, with the offset in UTCOffset.
	Timestamp time.Time        `json:"timestamp,omitzero"`
	UTCOffset memory.UTCOffset `json:"utcOffset,omitempty"`
	Content   *Content         `json:"content,omitempty"`
	Actions   *Actions         `json:"actions,omitempty"`
	Partial   bool             `json:"partial,omitempty"`
	Metadata  map[string]any   `json:"customMetadata,omitempty"`

	// Doc is the whole event as a JSON object. memoryd's answers set it. If Doc is
	// set it is sent in place of the other fields; an ID is added if it has none.
	Doc json.RawMessage `json:"-"`
}

// Content is the text of an event, in parts.
type Content struct {
	Role  string `json:"role,omitempty"` // "user" or "model"
	Parts []Part `json:"parts"`
}

// Part is one part of a Content. memoryd also stores parts of other kinds; see
// Event.Doc.
type Part struct {
	Text    string `json:"text,omitempty"`
	Thought bool   `json:"thought,omitempty"`
}

// Actions are the effects of an event besides its text.
type Actions struct {
	StateDelta map[string]any `json:"stateDelta,omitempty"`
}

// Text makes an event with a text. Its role is "user" if author is "user", and
// "model" for any other author.
func Text(author, text string) Event {
	role := "model"
	if author == "user" {
		role = "user"
	}
	return Event{Author: author, Content: &Content{Role: role, Parts: []Part{{Text: text}}}}
}

// Text returns the text parts of e without the model's thoughts, joined by
// newlines.
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

// fields is Event without its methods, for encoding/json.
type fields Event

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) {
	if len(e.Doc) > 0 {
		return e.Doc, nil
	}
	return encode(fields(e))
}

// UnmarshalJSON implements json.Unmarshaler. If a field has another type than
// here, the event is in Doc alone.
func (e *Event) UnmarshalJSON(raw []byte) error {
	*e = Event{}
	var of fields
	if err := json.Unmarshal(raw, &of); err == nil {
		*e = Event(of)
	}
	e.Doc = append(json.RawMessage(nil), raw...)
	return nil
}

// withIDs returns events with an id each, so that a retry does not store them
// twice. It does not change the caller's events.
func withIDs(events []Event) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		if out[i] = e; len(e.Doc) == 0 {
			if e.ID == "" {
				out[i].ID = uuid.NewString()
			}
			continue
		}
		if e.ID != "" {
			continue // a caller that sets both has the id in Doc
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(e.Doc, &doc); err != nil || doc == nil {
			return nil, fmt.Errorf("%w: events[%d].Doc: want a JSON object, not %.60s", memory.ErrInvalid, i, e.Doc)
		}
		var id string
		if raw, ok := doc["id"]; ok {
			if err := json.Unmarshal(raw, &id); err != nil {
				continue // memoryd refuses it, with a reason
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
