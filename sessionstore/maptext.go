package sessionstore

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// structural are the fields of an event, its content, its parts and its actions that name
// things or say what they are: ids, names, times, types. MapText leaves them alone.
var structural = map[string]bool{
	"id": true, "invocationId": true, "author": true, "timestamp": true, "utcOffset": true, "branch": true,
	"longRunningToolIds": true, "role": true, "type": true, "finishReason": true, "modelVersion": true,
	"interactionId": true,
	"errorCode":     true, "mimeType": true, "thoughtSignature": true, "transferToAgent": true,
	"rewindBeforeInvocationId": true,
	"artifactDelta":            true, "toolCallId": true,
}

// mapping is one call of MapText.
type mapping struct {
	replace func(name, text string) string
	state   bool
	changed map[string]string // texts of the content, and what became of them
}

// MapText returns e with replace called on its texts: the values of all strings and
// numbers in it but ids and other structural fields, and the names of fields that a
// client chose. name is that of the field a value is in; "" for prose. Text within
// inlineData is decoded. A number that replace changes becomes a string.
//
// State that the event changes is mapped if state says so. Without it, a value is that
// repeats a text of the event, as ADK's output_key has it.
func (e Event) MapText(replace func(name, text string) string, state bool) (Event, error) {
	m := mapping{replace, state, map[string]string{}}
	doc := m.event(e.Doc)
	if string(doc) == string(e.Doc) {
		return e, nil
	}
	out, err := ParseEvent(doc)
	if err != nil {
		return e, err
	}
	out.Zone = e.Zone
	return out, nil
}

// MapState returns a state with replace called on the texts in its values.
func MapState(s State, replace func(name, text string) string) State {
	m := mapping{replace: replace, changed: map[string]string{}}
	out := make(State, len(s))
	for key, value := range s {
		out[key] = m.free(key, value)
	}
	return out
}

// members maps the values of an object, each as by says, and returns the object.
func members(raw []byte, by func(*member)) []byte {
	obj, err := splitObject(raw, "event", nil)
	if err != nil { // not an object
		return raw
	}
	for i := range obj {
		by(&obj[i])
	}
	return obj.encodeAs(raw)
}

func elements(raw []byte, by func([]byte) []byte) []byte {
	list, err := splitList(raw, "event")
	if err != nil {
		return raw
	}
	for i := range list {
		list[i] = by(list[i])
	}
	return encodeList(list, raw)
}

// event maps an event. Its content comes first: the state may repeat it.
func (m *mapping) event(raw []byte) []byte {
	raw = members(raw, func(f *member) {
		if f.name == "content" {
			f.value = members(f.value, func(c *member) {
				if c.name == "parts" {
					c.value = m.parts(c.value)
				} else if !structural[c.name] {
					c.value = m.free(c.name, c.value)
				}
			})
		}
	})
	return members(raw, func(f *member) {
		switch {
		case f.name == "content" || structural[f.name]:
		case f.name == "actions":
			f.value = members(f.value, func(a *member) {
				switch {
				case a.name == "stateDelta":
					a.value = m.delta(a.value)
				case !structural[a.name]:
					a.value = m.free(a.name, a.value)
				}
			})
		default:
			f.value = m.free(f.name, f.value)
		}
	})
}

// parts maps the parts of a content.
func (m *mapping) parts(raw []byte) []byte {
	var whole, mapped []string
	out := elements(raw, func(part []byte) []byte {
		return members(part, func(f *member) {
			switch f.name {
			case "text":
				before, after := m.text("", &f.value)
				whole, mapped = append(whole, before), append(mapped, after)
			case "functionCall", "functionResponse", "toolCall", "toolResponse":
				f.value = members(f.value, func(c *member) {
					if c.name != "id" && c.name != "name" {
						c.value = m.free(c.name, c.value)
					}
				})
			case "inlineData":
				f.value = m.inline(f.value)
			default:
				if !structural[f.name] {
					f.value = m.free(f.name, f.value)
				}
			}
		})
	})
	for _, sep := range []string{"", "\n"} {
		m.note(strings.Join(whole, sep), strings.Join(mapped, sep))
	}
	return out
}

// text maps a value that is a string, and returns what it was and is. It leaves any other.
func (m *mapping) text(name string, value *[]byte) (before, after string) {
	if decodeString(*value, &before, name) != nil || before == "" {
		return "", ""
	}
	after = m.replace(name, before)
	if after != before {
		*value = quote(after)
		m.note(before, after)
	}
	return before, after
}

func (m *mapping) note(before, after string) {
	if before != after {
		m.changed[before] = after
	}
}

// inline maps the text in inlineData: what its type says is text, or JSON.
func (m *mapping) inline(raw []byte) []byte {
	var blob struct{ MimeType, Data string }
	kind := func() string { return strings.ToLower(blob.MimeType) }
	if json.Unmarshal(raw, &blob) != nil || !strings.HasPrefix(kind(), "text/") && !strings.Contains(kind(),
		"json") &&
		!strings.Contains(kind(), "xml") && !strings.Contains(kind(), "yaml") {
		return raw
	}
	codec := base64.StdEncoding
	data, err := codec.DecodeString(blob.Data)
	if err != nil {
		codec = base64.URLEncoding
		if data, err = codec.DecodeString(blob.Data); err != nil {
			return raw
		}
	}
	after := m.replace("", string(data))
	if after == string(data) {
		return raw
	}
	return members(raw, func(f *member) {
		if f.name == "data" {
			f.value = quote(codec.EncodeToString([]byte(after)))
		}
	})
}

// delta maps the changes of state.
func (m *mapping) delta(raw []byte) []byte {
	return members(raw, func(f *member) {
		if m.state {
			f.value = m.free(f.name, f.value)
			return
		}
		var text string
		if len(m.changed) > 0 && f.value[0] == '"' && decodeString(f.value, &text, f.name) == nil {
			if after, ok := m.changed[text]; ok {
				f.value = quote(after)
			}
		}
	})
}

// free maps a value of any shape, in a field of some name.
func (m *mapping) free(name string, raw []byte) []byte {
	switch raw[0] {
	case '"':
		value := raw
		m.text(name, &value)
		return value
	case '{':
		taken := map[string]bool{}
		return members(raw, func(f *member) {
			f.value = m.free(f.name, f.value)
			if len(f.name) < minSecretName {
				return
			}
			name := m.replace("", f.name)
			if name == f.name {
				return
			}
			for f.name = name; taken[f.name]; { // an object has no name twice
				f.name += "'"
			}
			taken[f.name] = true
		})
	case '[':
		return elements(raw, func(v []byte) []byte { return m.free(name, v) })
	case 't', 'f', 'n':
		return raw
	}
	if after := m.replace(name, string(raw)); after != string(raw) {
		return quote(after)
	}
	return raw
}

// minSecretName is how long the name of a field must be to be looked at for a secret, in
// bytes: the shortest that is known by its form alone, a number of a card.
const minSecretName = 9
