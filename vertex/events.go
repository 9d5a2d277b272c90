package vertex

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// object is a JSON object whose values are kept as they came.
type object map[string]json.RawMessage

// envelope is an event as clients send and get it. An agent's framework puts its own event whole
// into RawEvent, beside which the other fields repeat some of it.
type envelope struct {
	Name          string          `json:"name,omitempty"`
	Author        string          `json:"author,omitempty"`
	InvocationID  string          `json:"invocationId,omitempty"`
	Timestamp     *Time           `json:"timestamp,omitempty"`
	Content       json.RawMessage `json:"content,omitempty"`
	Actions       json.RawMessage `json:"actions,omitempty"`
	ErrorCode     string          `json:"errorCode,omitempty"`
	ErrorMessage  string          `json:"errorMessage,omitempty"`
	EventMetadata json.RawMessage `json:"eventMetadata,omitempty"`
	RawEvent      json.RawMessage `json:"rawEvent,omitempty"`
}

// kept is the field of a stored event that says how it came, so that it goes out as it came.
const keptField = "vertexEnvelope"

type kept struct {
	// Raw says that the event came with a RawEvent.
	Raw bool `json:"raw,omitempty"`
	// Was has the values of the fields of the RawEvent that the envelope has replaced, and Added
	// the fields that the RawEvent did not have.
	Was   object   `json:"was,omitempty"`
	Added []string `json:"added,omitempty"`
	// NoTime says that the envelope had the zero time.
	NoTime bool `json:"noTime,omitempty"`
	// EventMetadata is that of the envelope.
	EventMetadata json.RawMessage `json:"eventMetadata,omitempty"`
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func quote(text string) json.RawMessage {
	raw, err := Encode(text)
	if err != nil {
		panic(err) // every text has a form in JSON
	}
	return raw
}

// native returns the event that memoryd stores of an envelope, of a session of a user.
func (e *envelope) native(user string) (sessionstore.Event, error) {
	switch {
	case e.Author == "":
		return sessionstore.Event{}, invalid("author: want who has said it")
	case e.InvocationID == "":
		return sessionstore.Event{}, invalid("invocationId: want the id of the invocation")
	case e.Timestamp == nil:
		return sessionstore.Event{}, invalid("timestamp: want the time of the event")
	}
	// Go's clients send the zero time for an event without a time: then the store has it be now.
	if at := e.Timestamp.Time; !at.IsZero() {
		if err := memory.ValidateTime("timestamp", at); err != nil {
			return sessionstore.Event{}, err
		}
	}
	how, doc, err := kept{}, object{}, error(nil)
	if present(e.RawEvent) {
		doc, how, err = e.whole()
	} else {
		doc, err = e.composed()
	}
	if err != nil {
		return sessionstore.Event{}, err
	}
	how.NoTime = e.Timestamp.IsZero()
	if doc[keptField], err = Encode(how); err != nil {
		return sessionstore.Event{}, err
	}
	raw, err := Encode(doc)
	if err != nil {
		return sessionstore.Event{}, err
	}
	event, err := sessionstore.AcceptEvent(user, raw)
	if err != nil { // it has a role of its own, or no text at all
		event, err = sessionstore.ParseEvent(raw)
	}
	return event, err
}

// whole is the event of a RawEvent, with what readers take from the envelope.
func (e *envelope) whole() (object, kept, error) {
	var doc object
	how := kept{Raw: true, Was: object{}}
	metadata, err := camelObject("eventMetadata", e.EventMetadata)
	if err != nil {
		return nil, how, err
	}
	if len(metadata) > 0 {
		if how.EventMetadata, err = Encode(metadata); err != nil {
			return nil, how, err
		}
	}
	if doc, err = readObject("rawEvent", e.RawEvent); err != nil {
		return nil, how, err
	}
	for name := range doc { // the store writes known names in camel case
		if name == keptField || name == "invocation_id" {
			delete(doc, name)
		}
	}
	set := map[string]json.RawMessage{"author": quote(e.Author), "invocationId": quote(e.InvocationID)}
	if !e.Timestamp.IsZero() {
		at, err := Encode(e.Timestamp)
		if err != nil {
			return nil, how, err
		}
		set["timestamp"] = at
	} else if was, ok := doc["timestamp"]; ok {
		how.Was["timestamp"] = was
		delete(doc, "timestamp")
	}
	if err := e.lacking(doc, set); err != nil {
		return nil, how, err
	}
	for name, value := range set {
		switch was, ok := doc[name]; {
		case !ok:
			how.Added = append(how.Added, name)
		case !bytes.Equal(was, value):
			how.Was[name] = was
		}
		doc[name] = value
	}
	var id string
	if raw, ok := doc["id"]; !ok {
		how.Added = append(how.Added, "id") // the store gives it one
	} else if json.Unmarshal(raw, &id) != nil || memory.ValidateID("event", id) != nil {
		how.Was["id"] = raw
		delete(doc, "id")
	}
	slices.Sort(how.Added)
	return doc, how, nil
}

// lacking adds to set the fields of the envelope that a RawEvent does not have: a client may send one that
// is no event of ADK's, and what was said would be lost.
func (e *envelope) lacking(doc object, set map[string]json.RawMessage) error {
	here := map[string]bool{}
	for name, value := range doc {
		here[camel(name)] = here[camel(name)] || present(value)
	}
	actions, err := e.nativeActions()
	if err != nil {
		return err
	}
	from := object{"content": e.Content}
	if len(actions) > 0 {
		if from["actions"], err = Encode(actions); err != nil {
			return err
		}
	}
	if e.ErrorCode != "" {
		from["errorCode"] = quote(e.ErrorCode)
	}
	if e.ErrorMessage != "" {
		from["errorMessage"] = quote(e.ErrorMessage)
	}
	for name, value := range from {
		if present(value) && !here[name] {
			set[name] = value
		}
	}
	return nil
}

// nativeActions are the actions of the envelope as ADK's event has them.
func (e *envelope) nativeActions() (object, error) {
	actions, err := camelObject("actions", e.Actions)
	if v, ok := actions["transferAgent"]; ok {
		actions["transferToAgent"] = v
		delete(actions, "transferAgent")
	}
	return actions, err
}

// Fields of ADK's event beside those that have the same name in the envelope.
var (
	metadataFields = []string{"partial", "turnComplete", "interrupted", "longRunningToolIds", "branch",
		"groundingMetadata", "inputTranscription", "outputTranscription"}
	actionFields = []string{"skipSummarization", "stateDelta", "artifactDelta", "escalate", "requestedAuthConfigs"}
)

// In the custom metadata of an envelope these keys are fields of ADK's event.
const (
	compactionKey = "_compaction"
	usageKey      = "_usage_metadata"
)

// composed is the event of an envelope without a RawEvent.
func (e *envelope) composed() (object, error) {
	doc := object{"author": quote(e.Author), "invocationId": quote(e.InvocationID)}
	if !e.Timestamp.IsZero() {
		at, err := Encode(e.Timestamp)
		if err != nil {
			return nil, err
		}
		doc["timestamp"] = at
	}
	if present(e.Content) {
		doc["content"] = e.Content
	}
	if e.ErrorCode != "" {
		doc["errorCode"] = quote(e.ErrorCode)
	}
	if e.ErrorMessage != "" {
		doc["errorMessage"] = quote(e.ErrorMessage)
	}
	actions, err := e.nativeActions()
	if err != nil {
		return nil, err
	}
	metadata, err := camelObject("eventMetadata", e.EventMetadata)
	if err != nil {
		return nil, err
	}
	custom, err := camelObject("eventMetadata.customMetadata", metadata["customMetadata"])
	if err != nil {
		return nil, err
	}
	if present(metadata["customMetadata"]) { // its keys are the client's
		if custom, err = readObject("eventMetadata.customMetadata", metadata["customMetadata"]); err != nil {
			return nil, err
		}
	}
	if v, ok := custom[compactionKey]; ok {
		actions["compaction"] = v
	}
	if v, ok := custom[usageKey]; ok {
		doc["usageMetadata"] = v
	}
	delete(custom, compactionKey)
	delete(custom, usageKey)
	if len(custom) > 0 {
		if doc["customMetadata"], err = Encode(custom); err != nil {
			return nil, err
		}
	}
	for name, value := range metadata {
		if name != "customMetadata" && present(value) {
			doc[name] = value
		}
	}
	if len(actions) > 0 {
		doc["actions"], err = Encode(actions)
	}
	return doc, err
}

// camelObject reads an object and writes its own names in camel case, not those within.
func camelObject(at string, raw json.RawMessage) (object, error) {
	if !present(raw) {
		return object{}, nil
	}
	in, err := readObject(at, raw)
	if err != nil {
		return nil, err
	}
	out := object{}
	for name, value := range in {
		if present(value) {
			out[camel(name)] = value
		}
	}
	return out, nil
}

// envelopeOf returns an event as clients get it.
func (r Resource) envelopeOf(event *sessionstore.Event) (*envelope, error) {
	doc := object{}
	if err := json.Unmarshal(event.Doc, &doc); err != nil {
		return nil, err
	}
	out := &envelope{Name: r.session(r.ID) + "/events/" + event.ID, Author: event.Author,
		InvocationID: event.InvocationID, Timestamp: &Time{event.Timestamp}, Content: doc["content"]}
	for name, to := range map[string]*string{"errorCode": &out.ErrorCode, "errorMessage": &out.ErrorMessage} {
		_ = json.Unmarshal(doc[name], to) // one that is no text is in rawEvent alone
	}
	how := kept{Raw: true}
	if raw, ok := doc[keptField]; ok {
		how = kept{}
		if json.Unmarshal(raw, &how) != nil {
			how = kept{Raw: true} // a field of that name which is not ours
		}
	}
	delete(doc, keptField)
	if how.NoTime {
		out.Timestamp = &Time{}
		delete(doc, "timestamp")
	}
	var err error
	if out.Actions, err = actionsOf(doc["actions"]); err != nil {
		return nil, err
	}
	if out.EventMetadata = how.EventMetadata; !present(out.EventMetadata) {
		if out.EventMetadata, err = metadataOf(doc); err != nil {
			return nil, err
		}
	}
	if !how.Raw {
		return out, nil
	}
	for name, was := range how.Was {
		doc[name] = was
	}
	for _, name := range how.Added {
		delete(doc, name)
	}
	out.RawEvent, err = Encode(doc)
	return out, err
}

// actionsOf are the actions of an envelope.
func actionsOf(raw json.RawMessage) (json.RawMessage, error) {
	in, out := object{}, object{}
	if json.Unmarshal(raw, &in) != nil {
		return nil, nil
	}
	for _, name := range actionFields {
		if v := in[name]; present(v) {
			out[name] = v
		}
	}
	if v := in["transferToAgent"]; present(v) {
		out["transferAgent"] = v
	}
	if len(out) == 0 {
		return nil, nil
	}
	return Encode(out)
}

// metadataOf is the metadata of an envelope.
func metadataOf(doc object) (json.RawMessage, error) {
	out, custom := object{}, object{}
	for _, name := range metadataFields {
		if v := doc[name]; present(v) {
			out[name] = v
		}
	}
	_ = json.Unmarshal(doc["customMetadata"], &custom) // of another shape it is in rawEvent alone
	if v := doc["usageMetadata"]; present(v) {
		custom[usageKey] = v
	}
	actions := object{}
	if json.Unmarshal(doc["actions"], &actions) == nil && present(actions["compaction"]) {
		custom[compactionKey] = actions["compaction"]
	}
	if len(custom) > 0 {
		var err error
		if out["customMetadata"], err = Encode(custom); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return Encode(out)
}

func (s *Service) appendEvent(ctx context.Context, call *Call) (any, error) {
	var in struct {
		envelope
		Event *envelope `json:"event"`
	}
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	of := &in.envelope
	if in.Event != nil {
		of = in.Event
	}
	key, err := s.find(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	event, err := of.native(userID(key.User))
	if err != nil {
		return nil, err
	}
	_, err = s.ingest.Append(ctx, key, []sessionstore.Event{event})
	return struct{}{}, err
}
