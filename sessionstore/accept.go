package sessionstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// speakers maps the words that clients have for a role to those of Content.Role.
// The model's are "model", the user's "user"; nothing of the others is remembered.
// An event of role "fact" is a fact that a client has given.
var speakers = map[string]string{
	"user": "user", "human": "user",
	"model": "model", "assistant": "model", "ai": "model", "agent": "model", "bot": "model", "chatbot": "model",
	"system": "system", "developer": "system", "tool": "tool", "function": "tool", "fact": "fact",
}

// speaker returns the role that a word means, whatever its case, and "" for an
// unknown one.
func speaker(word string) string { return speakers[strings.ToLower(strings.TrimSpace(word))] }

// AcceptEvent reads an event as clients send it, and returns it as [ParseEvent] would
// with its text in content.parts. Text may come in one of these fields:
//
//   - content: a string, a list of parts, or an object with a role and parts; one
//     with text or content in place of parts is read too
//   - parts, text or message, if there is no content: the values that content may have
//
// A list of parts may have strings among its objects.
//
// The first of these that is there decides whose the event is: the role of the
// content, the role of the event, the type of an event without author
// ("human", "ai"), the author. As an author, "user", "human" and the id of the user
// are the user's; any other is an agent. An event with none of them is the
// user's.
//
// Errors are ErrInvalid and name the field. Besides those of ParseEvent these are: a
// role that means nobody, two fields with text, content without parts and text, and
// an event that has an unknown field but none that says anything. All fields stay in
// Doc.
func AcceptEvent(user string, raw []byte) (Event, error) {
	e, err := parseDoc(raw, func(obj object) (object, error) { return accept(user, obj) })
	if err == nil {
		// A list of parts nests deeper within content than it came, and a Doc that is too
		// deep could not be read again.
		err = CheckDepth("event", e.Doc, MaxDepth)
	}
	if err != nil {
		return Event{}, err
	}
	return e, nil
}

// accept gives the members of an event that a client sent the form that they are
// stored in.
func accept(user string, obj object) (object, error) {
	if err := checkOffset(obj); err != nil {
		return nil, err
	}
	from, err := textField(obj)
	if err != nil {
		return nil, err
	}
	var content object
	if from != "" {
		if content, err = contentOf(from, obj.get(from)); err != nil {
			return nil, err
		}
	} else if err := checkSaysSomething(obj); err != nil {
		return nil, err
	}
	role, err := givenRole(user, obj, content)
	if err != nil {
		return nil, err
	}
	if author, _ := obj.text("author", "author"); role != "" && author == "" {
		obj = obj.set("author", quote(role))
	}
	if from == "" {
		return obj, nil
	}
	if given, _ := content.text("role", "role"); role != "" && given == "" {
		content = content.set("role", quote(role))
	}
	if from == "content" {
		if raw := obj.get("content"); raw[0] == '"' && content.get("role") == nil {
			return obj, nil // withDefaults knows the role
		} else if raw[0] == '{' {
			return obj.set("content", content.encodeAs(raw)), nil
		}
	}
	return obj.set("content", content.encode()), nil
}

// text returns the string of a member, and "" if it is missing or null. ErrInvalid,
// naming field, if it is no string.
func (o object) text(name, field string) (s string, err error) {
	if raw := o.get(name); len(raw) > 0 && string(raw) != "null" {
		err = decodeString(raw, &s, field)
	}
	return s, err
}

// checkOffset refuses a utcOffset that is none, or another one than the timestamp has.
func checkOffset(obj object) error {
	text, err := obj.text("utcOffset", "utcOffset")
	if err != nil || text == "" {
		return err
	}
	offset, err := memory.ParseUTCOffset("utcOffset", text)
	if err != nil {
		return err
	}
	// readField reports a timestamp that cannot be read.
	if _, own, _ := ParseLocalTime("timestamp", obj.get("timestamp")); own != "" && own != offset {
		return fmt.Errorf("%w: utcOffset is %q, and timestamp has %q: want one of them", memory.ErrInvalid, offset, own)
	}
	return nil
}

// textField returns the field that has the text of an event, and "" if none has.
func textField(obj object) (string, error) {
	if raw := obj.get("content"); len(raw) > 0 && string(raw) != "null" && string(raw) != `""` {
		return "content", nil
	}
	from := ""
	for _, name := range []string{"parts", "text", "message"} {
		if raw := obj.get(name); len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if from != "" {
			return "", fmt.Errorf("%w: event has both %s and %s: send the text as content", memory.ErrInvalid, from,
				name)
		}
		from = name
	}
	if from == "" && string(obj.get("content")) == `""` {
		from = "content"
	}
	return from, nil
}

// contentOf reads the value of a field with text, and returns it with parts.
func contentOf(field string, raw []byte) (object, error) {
	switch raw[0] {
	case '"':
		return object{{"parts", slices.Concat([]byte(`[{"text":`), raw, []byte(`}]`))}}, nil
	case '[':
		parts, err := partsOf(field, raw)
		return object{{"parts", parts}}, err
	case '{':
		if field == "parts" {
			break
		}
		obj, err := splitObject(raw, field, nil)
		if err != nil {
			return nil, err
		}
		for i := range obj {
			if m := &obj[i]; m.name == "parts" && m.value[0] == '[' {
				m.value, err = partsOf(field+".parts", m.value)
				return obj, err
			} else if m.name == "parts" && string(m.value) != "null" {
				return obj, nil // refused by readParts
			}
		}
		for _, name := range []string{"text", "content"} {
			if text := obj.get(name); len(text) > 0 && (text[0] == '"' || text[0] == '[') {
				inner, err := contentOf(field+"."+name, text)
				return obj.set("parts", inner.get("parts")), err
			}
		}
		for _, m := range obj {
			if m.name != "role" && string(m.value) != "null" {
				return nil, fmt.Errorf("%w: %s has %.60q, and neither parts nor text", memory.ErrInvalid, field, m.name)
			}
		}
		return obj, nil
	}
	return nil, fmt.Errorf("%w: %s: want a string, a list of parts, or an object with a role and parts, not %.60s",
		memory.ErrInvalid, field, raw)
}

// partsOf makes parts of the strings in a list.
func partsOf(field string, raw []byte) ([]byte, error) {
	parts, err := splitList(raw, field)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if p[0] == '"' {
			parts[i] = slices.Concat([]byte(`{"text":`), p, []byte(`}`))
		} else if p[0] != '{' {
			return nil, fmt.Errorf("%w: %s[%d]: want a string or an object with text, not %.60s", memory.ErrInvalid,
				field, i, p)
		}
	}
	return encodeList(parts, raw), nil
}

// givenRole returns the role that an event has beside its author's, and "" if it has
// none.
func givenRole(user string, obj, content object) (string, error) {
	for _, at := range []struct {
		in    object
		field string
	}{{content, "content.role"}, {obj, "role"}} {
		word, err := at.in.text("role", at.field)
		if err != nil {
			return "", err
		}
		if word == "" {
			continue
		}
		if role := speaker(word); role != "" {
			return role, nil
		}
		return "", fmt.Errorf("%w: %s is %.60q: want user or model, or system or tool for what is not remembered",
			memory.ErrInvalid, at.field, word)
	}
	author, err := obj.text("author", "author")
	switch {
	case err != nil:
		return "", err
	case author == "":
		var kind string
		if raw := obj.get("type"); len(raw) > 0 && raw[0] == '"' {
			kind, err = obj.text("type", "type")
		}
		kind = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(kind), "chunk"), "message")
		return speaker(kind), err
	case speaker(author) == "" && user != "" && strings.EqualFold(strings.TrimSpace(author), user):
		return "user", nil
	}
	return "", nil
}

// heads are the fields of an event that say nothing by themselves.
var heads = set("id", "invocationId", "author", "timestamp", "utcOffset", "partial", "branch")

// wordless are the fields of a message of a chat that may stand there in place of
// its text.
var wordless = set("tool_calls", "toolCalls", "function_call", "functionCall", "additional_kwargs", "refusal", "audio")

// checkSaysSomething refuses an event without text whose only fields beside its
// heads are unknown: its words may be in one of these. An event of heads alone
// is none that lost its words.
func checkSaysSomething(obj object) error {
	unknown := ""
	for _, m := range obj {
		switch {
		case heads[m.name] || string(m.value) == "null":
		case eventFields[m.name] != "" || wordless[m.name]:
			return nil
		case unknown == "":
			unknown = m.name
		}
	}
	if unknown == "" {
		return nil
	}
	return fmt.Errorf("%w: event has no content, and %.60q is no field that is read: want content, parts, text or "+
		"message, or what an event without text has, such as actions", memory.ErrInvalid, unknown)
}
