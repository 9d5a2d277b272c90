package sessionstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// MaxDepth is how deep the JSON of an event may nest.
const MaxDepth = 64

// Event is one step of a session. It is kept whole as the JSON object it came
// as; the fields beside Doc are a reading of it. Make one with [ParseEvent]
// and change one with [Event.Stored], so that both always agree.
type Event struct {
	ID           string
	InvocationID string
	Author       string
	Timestamp    time.Time // UTC, microseconds; zero when the event has none
	Partial      bool
	StateDelta   State // actions.stateDelta
	Content      Content
	// Compaction: the event stands for earlier ones (actions.compaction).
	Compaction bool
	// RewindBefore: the events from this invocation on, up to this event, are
	// taken back (actions.rewindBeforeInvocationId).
	RewindBefore string

	// Doc is the event as a JSON object: names as the HTTP contract spells
	// them, all else byte for byte as it came.
	Doc json.RawMessage
}

// Content is what an event says.
type Content struct {
	Role  string // "user", "model", or what the client put there
	Parts []Part
}

// Part is one part of a Content, as far as memory cares.
type Part struct {
	Text     string
	Thought  bool // the model's own thinking
	Call     bool // a function call, or code the model runs and its output
	Response bool // what a function answered
}

// The known fields, whose snake_case spelling is accepted and turned into the
// camelCase of the contract. What is in none of these lists stays as it came.
var (
	eventFields = names("id", "invocationId", "author", "timestamp", "content", "actions", "partial", "turnComplete",
		"branch", "longRunningToolIds", "errorCode", "errorMessage", "interrupted", "customMetadata", "usageMetadata",
		"groundingMetadata", "citationMetadata", "finishReason", "avgLogprobs", "logprobsResult", "modelVersion",
		"cacheMetadata", "inputTranscription", "outputTranscription", "liveSessionResumptionUpdate", "interactionId",
		"turnCompleteReason", "interactionStatus", "liveSessionId", "goAway", "voiceActivity", "environmentId", "output", "nodeInfo",
		"isolationScope")
	actionFields = names("stateDelta", "artifactDelta", "transferToAgent", "skipSummarization", "escalate", "endOfAgent",
		"agentState", "requestedAuthConfigs", "requestedToolConfirmations", "compaction", "rewindBeforeInvocationId",
		"renderUiWidgets", "transferReason", "route", "setModelResponse")
	partFields = names("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall",
		"functionResponse", "executableCode", "codeExecutionResult", "videoMetadata", "mediaResolution", "toolCall", "toolResponse",
		"partMetadata", "audioTranscription", "mediaProcessing", "speechMetadata")
	// typed are the fields whose values are of genai's and ADK's own types too,
	// and typedFields the names within those.
	typed = set("usageMetadata", "groundingMetadata", "citationMetadata", "logprobsResult", "cacheMetadata", "inputTranscription",
		"outputTranscription", "liveSessionResumptionUpdate", "goAway", "voiceActivity", "nodeInfo", "compaction",
		"inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "videoMetadata",
		"mediaResolution", "toolCall", "toolResponse", "audioTranscription", "mediaProcessing", "speechMetadata")
	typedFields = names("audioOffset", "audioTranscription", "authorAttribution", "boolValue", "cacheName", "cacheTokensDetails",
		"cachedContentTokenCount", "candidatesTokenCount", "candidatesTokensDetails", "chosenCandidates", "chunkId",
		"codeExecutionResult", "compactedContent", "confidenceScores", "contentsCount", "createdAt", "customMetadata", "displayName",
		"distanceMeters", "documentName", "encodedPolyline", "endIndex", "endOffset", "endTimestamp", "executableCode", "expireTime",
		"fileData", "fileId", "fileSearchStore", "fileUri", "firstPage", "flagContentUri", "functionCall", "functionResponse",
		"googleMapsUri", "googleMapsWidgetContextToken", "googleSearchDynamicRetrievalScore", "groundingChunkIndices",
		"groundingChunks", "groundingSupports", "imageSearchQueries", "imageUri", "inlineData", "invocationsUsed", "jsonPath",
		"languageCode", "lastConsumedClientMessageIndex", "lastPage", "logProbability", "logProbabilitySum", "mediaId",
		"mediaProcessing", "mediaResolution", "messageAsOutput", "mimeType", "newHandle", "nullValue", "numTokens", "numberValue",
		"numericValue", "outputFor", "pageNumber", "pageSpan", "partIndex", "partMetadata", "partialArgs", "photoUri",
		"placeAnswerSources", "placeId", "promptTokenCount", "promptTokensDetails", "publicationDate", "ragChunk",
		"relativePublishTimeDescription", "renderedContent", "renderedParts", "retrievalMetadata", "retrievalQueries",
		"retrievedContext", "reviewId", "reviewSnippet", "reviewSnippets", "sdkBlob", "searchEntryPoint", "sourceFlaggingUris",
		"sourceId", "sourceUri", "speakerLabel", "speechMetadata", "startIndex", "startOffset", "startTimestamp",
		"stringListValue", "stringValue", "thoughtSignature", "thoughtsTokenCount", "timeLeft", "tokenCount", "tokenId", "toolCall",
		"toolResponse", "toolType", "toolUsePromptTokenCount", "toolUsePromptTokensDetails", "topCandidates", "totalTokenCount",
		"trafficType", "videoMetadata", "voiceActivityType", "webSearchQueries", "willContinue")
	// freeForm are the fields within those that hold the client's own names.
	freeForm = set("args", "response", "partMetadata", "customMetadata")
)

// ParseEvent reads one event. Errors are ErrInvalid and name the field.
func ParseEvent(raw []byte) (Event, error) {
	if !utf8.Valid(raw) {
		return Event{}, fmt.Errorf("%w: event is not valid UTF-8", memory.ErrInvalid)
	}
	if err := CheckDepth("event", raw, MaxDepth); err != nil {
		return Event{}, err
	}
	obj, err := readObject(raw, "event", eventFields)
	if err != nil {
		return Event{}, err
	}
	if !slices.ContainsFunc(obj, func(m member) bool { return eventFields[m.name] != "" }) {
		return Event{}, fmt.Errorf("%w: event has none of an event's fields, such as content, actions or author", memory.ErrInvalid)
	}
	e := Event{}
	for i := range obj {
		if err := e.readField(&obj[i]); err != nil {
			return Event{}, err
		}
	}
	if e.ID != "" {
		if err := memory.ValidateID("event", e.ID); err != nil {
			return Event{}, err
		}
	}
	if len(e.Author) > memory.MaxID {
		return Event{}, fmt.Errorf("%w: author has %d bytes, more than %d", memory.ErrInvalid, len(e.Author), memory.MaxID)
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
		if e.Author == "user" {
			e.Content.Role = "user"
		}
	}
	if content := obj.get("content"); len(content) > 0 && content[0] == '"' {
		obj.set("content", object{{"parts", append(append([]byte(`[{"text":`), content...), `}]`...)},
			{"role", quote(e.Content.Role)}}.encode())
	}
	e.Doc = obj.encode()
	return e, nil
}

// readField reads one member of the event object and writes its normal form
// back. A null is as if absent, but stays.
func (e *Event) readField(m *member) (err error) {
	if string(m.value) == "null" {
		return nil
	}
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
		if e.Timestamp, err = ParseTime("timestamp", m.value); err == nil {
			m.value = quote(FormatTime(e.Timestamp))
		}
	case "content":
		m.value, err = e.readContent(m.value)
	case "actions":
		m.value, err = e.readActions(m.value)
	default:
		err = m.spell(m.name)
	}
	return err
}

func (e *Event) readContent(raw []byte) ([]byte, error) {
	if raw[0] == '"' {
		var text string
		if err := decodeString(raw, &text, "content"); err != nil {
			return nil, err
		}
		e.Content.Parts = []Part{{Text: text}}
		return raw, nil // ParseEvent writes it out, once the role is known
	}
	obj, err := splitObject(raw, "content", nil)
	if err != nil {
		return nil, err
	}
	for i := range obj {
		m := &obj[i]
		if string(m.value) == "null" {
			continue
		}
		switch m.name {
		case "role":
			err = decodeString(m.value, &e.Content.Role, "content.role")
		case "parts":
			m.value, err = e.readParts(m.value)
		}
		if err != nil {
			return nil, err
		}
	}
	return obj.encode(), nil
}

func (e *Event) readParts(raw []byte) ([]byte, error) {
	parts, err := splitList(raw, "content.parts")
	if err != nil {
		return nil, err
	}
	out := []byte{'['}
	for i, raw := range parts {
		field := fmt.Sprintf("content.parts[%d]", i)
		obj, err := splitObject(raw, field, partFields)
		if err != nil {
			return nil, err
		}
		var p Part
		for j := range obj {
			m := &obj[j]
			if string(m.value) == "null" {
				continue
			}
			switch m.name {
			case "text":
				err = decodeString(m.value, &p.Text, field+".text")
			case "thought":
				err = decode(m.value, &p.Thought, field+".thought", "true or false")
			case "functionCall", "toolCall", "executableCode", "codeExecutionResult":
				p.Call = true
			case "functionResponse", "toolResponse":
				p.Response = true
			case "inlineData", "fileData":
				_, err = splitObject(m.value, field+"."+m.name, nil)
			}
			if err == nil {
				err = m.spell(field + "." + m.name)
			}
			if err != nil {
				return nil, err
			}
		}
		e.Content.Parts = append(e.Content.Parts, p)
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, obj.encode()...)
	}
	return append(out, ']'), nil
}

func (e *Event) readActions(raw []byte) ([]byte, error) {
	obj, err := splitObject(raw, "actions", actionFields)
	if err != nil {
		return nil, err
	}
	for i := range obj {
		m := &obj[i]
		if string(m.value) == "null" {
			continue
		}
		switch m.name {
		case "stateDelta":
			if e.StateDelta, err = ParseState("actions.stateDelta", m.value); err != nil {
				return nil, err
			}
		case "compaction":
			e.Compaction = true
			if err := m.spell("actions.compaction"); err != nil {
				return nil, err
			}
		case "rewindBeforeInvocationId":
			if err := decodeString(m.value, &e.RewindBefore, "actions.rewindBeforeInvocationId"); err != nil {
				return nil, err
			}
		}
	}
	return obj.encode(), nil
}

// ReadEvent reads the Doc of an event that a store has kept.
func ReadEvent(doc []byte) (Event, error) {
	e, err := ParseEvent(doc)
	if err != nil {
		return e, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
}

// Stored is e as a store keeps it: with an id (newID's where it has none), a
// timestamp (now where it has none), and without "temp:" state.
func (e Event) Stored(newID func() string, now time.Time) Event {
	temp := slices.ContainsFunc(slices.Collect(maps.Keys(e.StateDelta)), func(k string) bool { return strings.HasPrefix(k, TempPrefix) })
	if e.ID != "" && !e.Timestamp.IsZero() && !temp {
		return e
	}
	obj, err := readObject(e.Doc, "event", nil)
	if err != nil {
		panic("sessionstore: Event not made by ParseEvent: " + err.Error())
	}
	if e.ID == "" {
		e.ID = newID()
		obj = obj.set("id", quote(e.ID))
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = Micros(now)
		obj = obj.set("timestamp", quote(FormatTime(e.Timestamp)))
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

// WithStateDelta is e with one more key in actions.stateDelta.
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

// NewStateEvent is an event that does nothing but change state, as ADK's own
// servers record such a change.
func NewStateEvent(invocationID string, delta State) (Event, error) {
	state := object{}
	for _, k := range slices.Sorted(maps.Keys(delta)) {
		if !json.Valid(delta[k]) {
			return Event{}, fmt.Errorf("%w: stateDelta: the value of %.40q is not valid JSON", memory.ErrInvalid, k)
		}
		state = append(state, member{k, delta[k]})
	}
	actions := object{{"stateDelta", state.encode()}}
	return ParseEvent(object{{"invocationId", quote(invocationID)}, {"author", quote("user")}, {"actions", actions.encode()}}.encode())
}

// MarshalJSON is Doc.
func (e Event) MarshalJSON() ([]byte, error) { return e.Doc, nil }

// Text is what the event says in words: its text parts, thoughts and tool
// traffic left out, joined by newlines.
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

// validateKey is the rule for keys of state.
func validateKey(field, key string) error {
	name := key
	for _, p := range []string{AppPrefix, UserPrefix, TempPrefix} {
		if rest, ok := strings.CutPrefix(key, p); ok {
			name = rest
			break
		}
	}
	if name == "" || len(name) > memory.MaxID || strings.ContainsRune(key, 0) || !utf8.ValidString(key) {
		return fmt.Errorf("%w: %s: key %.40q must have 1 to %d bytes of UTF-8 and no NUL", memory.ErrInvalid, field, key, memory.MaxID)
	}
	return nil
}
