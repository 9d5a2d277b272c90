package sessionstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// MaxDepth bounds how deep the JSON of an event nests.
const MaxDepth = 64

// Event is one step of a session. Doc is the whole event as the JSON object that
// came; the other fields are read from it. [ParseEvent] makes an event, and methods
// such as [Event.Stored] change one, so that Doc and the fields always agree.
type Event struct {
	ID           string
	InvocationID string
	Author       string
	Timestamp    time.Time // UTC, microseconds; zero when the event has none
	// UTCOffset is the offset that the timestamp came with, or else that of the time zone
	// that the event or its request names. "" if there is none: a time that ends in Z, and
	// one in seconds, has no offset.
	UTCOffset memory.UTCOffset
	// Zone is the time zone of an event without UTCOffset whose timestamp is the store's
	// to set; nil if it is not known. It is not stored: Stored sets UTCOffset by it.
	Zone       *time.Location
	Partial    bool
	StateDelta State // actions.stateDelta
	Content    Content
	// Compaction says that the event summarizes earlier ones (actions.compaction).
	Compaction bool
	// RewindBefore is an invocation (actions.rewindBeforeInvocationId): the event
	// takes back the events from that invocation on.
	RewindBefore string
	// Trust is who the client says the words are of (customMetadata.trust); "" if it says
	// nothing. A name that is none of memory's counts as memory.TrustExternal, as a slip
	// must not make a document the user's word.
	Trust memory.Trust

	// Doc is the event as a JSON object: names as the HTTP contract spells
	// them, all else byte for byte as it came.
	Doc json.RawMessage
}

// Content is the content of an event.
type Content struct {
	Role  string // "user", "model", "system", "tool", or what the client put there
	Parts []Part
}

// Part has what memoryd reads of one part of a Content.
type Part struct {
	Text     string
	Thought  bool // the model's own thinking
	Call     bool // a function call, or code the model runs and its output
	Response bool // the response of a function
}

// ParseEvent reads one event in the form that events are stored in; [AcceptEvent]
// reads what clients send. Errors are ErrInvalid and name the field. The event may be
// part of the memory of raw, which must not change then.
func ParseEvent(raw []byte) (Event, error) {
	return parseDoc(raw, func(obj object) (object, error) { return obj, nil })
}

// parseDoc reads the event that shape makes of the members of raw.
func parseDoc(raw []byte, shape func(object) (object, error)) (Event, error) {
	if !utf8.Valid(raw) {
		return Event{}, fmt.Errorf("%w: event is not valid UTF-8", memory.ErrInvalid)
	}
	if err := CheckDepth("event", raw, MaxDepth); err != nil {
		return Event{}, err
	}
	obj, err := readObject(raw, "event", eventFields)
	if err == nil {
		obj, err = shape(obj)
	}
	if err != nil {
		return Event{}, err
	}
	if !slices.ContainsFunc(obj, func(m member) bool { return eventFields[m.name] != "" }) {
		return Event{}, fmt.Errorf("%w: event has none of an event's fields, such as content, actions or author",
			memory.ErrInvalid)
	}
	e := Event{}
	if err := obj.each(e.readField); err != nil {
		return Event{}, err
	}
	if offset := e.UTCOffset; offset != "" {
		obj = obj.set("utcOffset", quote(string(offset)))
	}
	if e.ID != "" {
		if err := memory.ValidateID("event", e.ID); err != nil {
			return Event{}, err
		}
	}
	if len(e.Author) > memory.MaxID {
		return Event{}, fmt.Errorf("%w: author has %d bytes, more than %d", memory.ErrInvalid, len(e.Author),
			memory.MaxID)
	}
	e.Doc = e.withDefaults(obj).encodeAs(raw)
	return e, nil
}

// withDefaults sets an author or a role that is missing from the other one, in e
// and in its object.
func (e *Event) withDefaults(obj object) object {
	if role := speaker(e.Content.Role); role != "" {
		e.Content.Role = role
	}
	if e.Author == "" {
		e.Author = "user"
		if e.Content.Role == "model" {
			e.Author = "model"
		}
		obj = obj.set("author", quote(e.Author))
	}
	if e.Content.Role == "" {
		e.Content.Role = "model"
		if role := speaker(e.Author); role == "user" || role == "system" {
			e.Content.Role = role
		}
	}
	if content := obj.get("content"); len(content) > 0 && content[0] == '"' {
		obj.set("content", object{{"parts", append(append([]byte(`[{"text":`), content...), `}]`...)},
			{"role", quote(e.Content.Role)}}.encode())
	}
	return obj
}

// readField reads one member of the event object and sets its value to the normal
// form.
func (e *Event) readField(m *member) (err error) {
	switch m.name {
	case "id":
		err = decodeString(m.value, &e.ID, "id")
	case "invocationId":
		err = decodeString(m.value, &e.InvocationID, "invocationId")
	case "author":
		err = decodeString(m.value, &e.Author, "author")
	case "partial":
		err = decode(m.value, &e.Partial, "partial", "true or false")
	case "timestamp":
		var offset memory.UTCOffset
		if e.Timestamp, offset, err = ParseLocalTime("timestamp", m.value); err == nil {
			m.value = quote(FormatTime(e.Timestamp))
		}
		e.UTCOffset = cmp.Or(offset, e.UTCOffset)
	case "utcOffset":
		// An event of an earlier build may have anything there.
		var text string
		if m.value[0] == '"' && decodeString(m.value, &text, "utcOffset") == nil && e.UTCOffset == "" {
			e.UTCOffset, _ = memory.ParseUTCOffset("utcOffset", text)
		}
	case "content":
		m.value, err = e.readContent(m.value)
	case "actions":
		m.value, err = e.readActions(m.value)
	case "customMetadata":
		e.readTrust(m.value)
		err = m.spell(m.name)
	default:
		err = m.spell(m.name)
	}
	return err
}

// readTrust reads the trust in the metadata of an event. All else there is the client's,
// and so is a trust that is no text.
func (e *Event) readTrust(raw []byte) {
	var metadata struct {
		Trust string `json:"trust"`
	}
	if !bytes.Contains(raw, []byte(`"trust"`)) || json.Unmarshal(raw, &metadata) != nil || metadata.Trust == "" {
		return
	}
	e.Trust = memory.Trust(metadata.Trust)
	if e.Trust.Validate() != nil {
		e.Trust = memory.TrustExternal
	}
}

func (e *Event) readContent(raw []byte) ([]byte, error) {
	if raw[0] == '"' {
		var text string
		if err := decodeString(raw, &text, "content"); err != nil {
			return nil, err
		}
		e.Content.Parts = []Part{{Text: text}}
		return raw, nil // withDefaults makes an object of it, once the role is known
	}
	obj, err := splitObject(raw, "content", nil)
	if err != nil {
		return nil, err
	}
	err = obj.each(func(m *member) (err error) {
		switch m.name {
		case "role":
			err = decodeString(m.value, &e.Content.Role, "content.role")
		case "parts":
			m.value, err = e.readParts(m.value)
		}
		return err
	})
	return obj.encodeAs(raw), err
}

func (e *Event) readParts(raw []byte) ([]byte, error) {
	parts, err := splitList(raw, "content.parts")
	if err != nil {
		return nil, err
	}
	for i, part := range parts {
		p, doc, err := readPart(part, fmt.Sprintf("content.parts[%d]", i))
		if err != nil {
			return nil, err
		}
		e.Content.Parts = append(e.Content.Parts, p)
		parts[i] = doc
	}
	return encodeList(parts, raw), nil
}

// readPart reads one part, and returns its normal form.
func readPart(raw []byte, field string) (p Part, doc []byte, err error) {
	obj, err := splitObject(raw, field, partFields)
	if err != nil {
		return p, nil, err
	}
	err = obj.each(func(m *member) (err error) {
		switch m.name {
		case "text":
			err = decodeString(m.value, &p.Text, field+".text")
		case "thought":
			err = decode(m.value, &p.Thought, field+".thought", "true or false")
		case "functionCall", "toolCall", "executableCode", "codeExecutionResult":
			p.Call = true
		case "functionResponse", "toolResponse":
			p.Response = true
		case "type": // of a part that other APIs' clients send
			p.Thought = p.Thought || string(m.value) == `"reasoning"` || string(m.value) == `"thinking"`
		case "inlineData", "fileData":
			_, err = splitObject(m.value, field+"."+m.name, nil)
		}
		if err != nil {
			return err
		}
		return m.spell(field + "." + m.name)
	})
	return p, obj.encodeAs(raw), err
}

func (e *Event) readActions(raw []byte) ([]byte, error) {
	obj, err := splitObject(raw, "actions", actionFields)
	if err != nil {
		return nil, err
	}
	err = obj.each(func(m *member) (err error) {
		switch m.name {
		case "stateDelta":
			e.StateDelta, err = ParseState("actions.stateDelta", m.value)
		case "compaction":
			e.Compaction = true
			err = m.spell("actions.compaction")
		case "rewindBeforeInvocationId":
			err = decodeString(m.value, &e.RewindBefore, "actions.rewindBeforeInvocationId")
		}
		return err
	})
	return obj.encodeAs(raw), err
}

// ReadEvent reads the Doc of an event that a store has kept.
func ReadEvent(doc []byte) (Event, error) {
	e, err := ParseEvent(doc)
	if err != nil {
		return e, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
}

// DamagedEvent stands for the event of an id, number and time that a store can no
// longer read. It has no content, and an error in the fields that ADK has for one.
func DamagedEvent(id string, seq int64, at time.Time) Event {
	doc := func(id string) []byte {
		return fmt.Appendf(nil, `{"id": %s, "author": "memoryd", "timestamp": %s, "errorCode": "DATA_LOSS", `+
			`"errorMessage": "this event is damaged and cannot be read: memoryd check lists all that is damaged"}`,
			quote(id), quote(at.UTC().Format(time.RFC3339Nano)))
	}
	e, err := ParseEvent(doc(id))
	if err != nil || id == "" { // the id is damaged too, or not known
		e, _ = ParseEvent(doc(fmt.Sprint("damaged-", seq)))
	}
	return e
}

// Damaged reports whether e stands for an event that a store can no longer read: see
// DamagedEvent.
func (e Event) Damaged() bool {
	if e.Author != "memoryd" {
		return false
	}
	var doc struct {
		ErrorCode string `json:"errorCode"`
	}
	return json.Unmarshal(e.Doc, &doc) == nil && doc.ErrorCode == "DATA_LOSS"
}

// In returns e as said in a time zone: with its UTCOffset, unless e has one. A nil zone
// is not known. If e has no timestamp, Stored sets both.
func (e Event) In(zone *time.Location) Event {
	switch {
	case zone == nil || e.UTCOffset != "":
	case e.Timestamp.IsZero():
		e.Zone = zone
	default:
		e.UTCOffset = memory.OffsetAt(e.Timestamp.In(zone))
		e.Doc = e.object().set("utcOffset", quote(string(e.UTCOffset))).encode()
	}
	return e
}

// object returns the members of Doc.
func (e *Event) object() object {
	obj, err := readObject(e.Doc, "event", nil)
	if err != nil {
		panic("sessionstore: Event not made by ParseEvent: " + err.Error())
	}
	return obj
}

// Stored returns e as a store keeps it. An event without an id gets one of newID,
// and one without a timestamp gets now. "temp:" state is left out.
func (e Event) Stored(newID func() string, now time.Time) Event {
	temp := slices.ContainsFunc(slices.Collect(maps.Keys(e.StateDelta)),
		func(k string) bool { return strings.HasPrefix(k, TempPrefix) })
	if e.ID != "" && !e.Timestamp.IsZero() && !temp {
		return e
	}
	obj := e.object()
	if e.ID == "" {
		e.ID = newID()
		obj = obj.set("id", quote(e.ID))
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = Micros(now)
		obj = obj.set("timestamp", quote(FormatTime(e.Timestamp)))
		if e.Zone != nil && e.UTCOffset == "" {
			e.UTCOffset = memory.OffsetAt(e.Timestamp.In(e.Zone))
			obj = obj.set("utcOffset", quote(string(e.UTCOffset)))
		}
		e.Zone = nil
	}
	if temp {
		obj, e.StateDelta = withoutTemp(obj)
	}
	e.Doc = obj.encode()
	return e
}

func withoutTemp(event object) (object, State) {
	actions, _ := readObject(event.get("actions"), "actions", nil)
	delta, _ := readObject(actions.get("stateDelta"), "actions.stateDelta", nil)
	kept, state := object{}, State{}
	for _, m := range delta {
		if !strings.HasPrefix(m.name, TempPrefix) {
			kept = append(kept, m)
			state[m.name] = m.value
		}
	}
	return event.set("actions", actions.set("stateDelta", kept.encode()).encode()), state
}

// WithStateDelta returns e with one more key in actions.stateDelta. ErrInvalid if
// the key or the value is invalid.
func (e Event) WithStateDelta(key string, value json.RawMessage) (Event, error) {
	if !json.Valid(value) {
		return Event{}, fmt.Errorf("%w: stateDelta: the value of %.40q is not valid JSON", memory.ErrInvalid, key)
	}
	event, err := readObject(e.Doc, "event", nil)
	if err != nil {
		return e, err
	}
	part := func(in object, name string) object {
		obj, err := readObject(in.get(name), name, nil)
		if err != nil {
			return object{}
		}
		return obj
	}
	actions := part(event, "actions")
	delta := part(actions, "stateDelta").set(key, value)
	return ParseEvent(event.set("actions", actions.set("stateDelta", delta.encode()).encode()).encode())
}

// NewStateEvent makes an event that only changes state, as ADK's own servers record
// such a change.
func NewStateEvent(invocationID string, delta State) (Event, error) {
	state := object{}
	for _, k := range slices.Sorted(maps.Keys(delta)) {
		if !json.Valid(delta[k]) {
			return Event{}, fmt.Errorf("%w: stateDelta: the value of %.40q is not valid JSON", memory.ErrInvalid, k)
		}
		state = append(state, member{k, delta[k]})
	}
	actions := object{{"stateDelta", state.encode()}}
	return ParseEvent(object{{"invocationId", quote(invocationID)}, {"author", quote("user")},
		{"actions", actions.encode()}}.encode())
}

// MarshalJSON returns Doc.
func (e Event) MarshalJSON() ([]byte, error) { return e.Doc, nil }

// Text returns the text parts of the event, joined by newlines. Thoughts and
// function calls and their responses are left out.
func (e Event) Text() string { return strings.Join(e.texts(), "\n") }

func (e *Event) texts() []string {
	var out []string
	for _, p := range e.Content.Parts {
		if p.Text != "" && !p.Thought && !p.Call && !p.Response {
			out = append(out, p.Text)
		}
	}
	return out
}

// ParseState reads a JSON object of state. Keys are 1 to [memory.MaxID] bytes
// after their prefix. Errors are ErrInvalid and name field.
func ParseState(field string, raw []byte) (State, error) {
	obj, err := readObject(raw, field, nil)
	if err != nil {
		return nil, err
	}
	out := State{}
	for _, m := range obj {
		if err := validateKey(field, m.name); err != nil {
			return nil, err
		}
		out[m.name] = slices.Clone(m.value) // raw is the caller's
	}
	return out, nil
}

// validateKey returns ErrInvalid, naming field, for a key that state cannot have.
func validateKey(field, key string) error {
	name := key
	for _, p := range []string{AppPrefix, UserPrefix, TempPrefix} {
		if rest, ok := strings.CutPrefix(key, p); ok {
			name = rest
			break
		}
	}
	if name == "" || len(name) > memory.MaxID || strings.ContainsRune(key, 0) || !utf8.ValidString(key) {
		return fmt.Errorf("%w: %s: key %.40q must have 1 to %d bytes of UTF-8 and no NUL", memory.ErrInvalid, field,
			key, memory.MaxID)
	}
	return nil
}
