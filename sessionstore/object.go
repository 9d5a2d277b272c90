package sessionstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/memoryd/memoryd/memory"
)

// An object is the members of a JSON object in order.
type (
	member struct {
		name  string
		value []byte
	}
	object []member
)

// maxElements bounds the members of an object, and the values of a list, that are
// split: an empty one of them takes much more memory than it has bytes.
const maxElements = 1 << 17

// readObject splits a JSON object into its members. Names in known become the
// camelCase spelling that it maps them to. A name that occurs twice is refused:
// readers of JSON differ on which of the two counts. Errors are ErrInvalid and name
// field.
func readObject(raw []byte, field string, known map[string]string) (object, error) {
	if !json.Valid(raw) {
		err := json.Unmarshal(raw, new(json.RawMessage))
		at := int64(len(raw))
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, fmt.Errorf("%w: %s is not valid JSON at byte %d: %v", memory.ErrInvalid, field, at, err)
	}
	return splitObject(raw, field, known)
}

// splitObject is readObject for JSON that is known to be valid, such as a part of
// valid JSON. Events are read whenever they are stored and whenever they are
// returned, so splitObject does not decode values: that would take longer.
func splitObject(raw []byte, field string, known map[string]string) (object, error) {
	rest := bytes.TrimLeft(raw, blanks)
	if rest[0] != '{' {
		return nil, fmt.Errorf("%w: %s: want an object, not %.60s", memory.ErrInvalid, field, raw)
	}
	obj := make(object, 0, 8)
	for name, value := range Members(rest) {
		if camel, ok := known[name]; ok {
			name = camel
		}
		if obj = append(obj, member{name, value}); len(obj) > maxElements {
			return nil, fmt.Errorf("%w: %s has more than %d fields", memory.ErrInvalid, field, maxElements)
		}
	}
	if name, ok := obj.twice(); ok {
		return nil, fmt.Errorf("%w: %s has the field %.60q twice", memory.ErrInvalid, field, name)
	}
	return obj, nil
}

// splitList splits a list of valid JSON into its values.
func splitList(raw []byte, field string) ([][]byte, error) {
	rest := bytes.TrimLeft(raw, blanks)
	if rest[0] != '[' {
		return nil, fmt.Errorf("%w: %s: want a list, not %.60s", memory.ErrInvalid, field, raw)
	}
	var list [][]byte
	for v := range Elements(rest) {
		if list = append(list, v); len(list) > maxElements {
			return nil, fmt.Errorf("%w: %s has more than %d values", memory.ErrInvalid, field, maxElements)
		}
	}
	return list, nil
}

// Members yields the names and the values of raw, an object of valid JSON, as they are written: a name
// may come twice. A value is a part of raw. Nothing is decoded but the names, so that a caller can stop
// before an object takes much more memory than it has bytes.
func Members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		rest := bytes.TrimLeft(bytes.TrimLeft(raw, blanks)[1:], blanks)
		for rest[0] != '}' {
			var name string
			var value []byte
			name, rest = cutName(rest)
			value, rest = cutValue(rest)
			if !yield(name, value) {
				return
			}
		}
	}
}

// Elements yields the values of raw, a list of valid JSON, as Members does.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := bytes.TrimLeft(bytes.TrimLeft(raw, blanks)[1:], blanks)
		for rest[0] != ']' {
			var value []byte
			value, rest = cutValue(rest)
			if !yield(value) {
				return
			}
		}
	}
}

// blanks are the characters that JSON allows between tokens.
const blanks = " \t\r\n"

// cutName cuts the name of a member and its colon off the rest of an object.
func cutName(raw []byte) (name string, rest []byte) {
	quoted, rest := cutValue(raw)
	if err := decodeString(quoted, &name, "name"); err != nil {
		panic(err) // it is valid
	}
	return name, rest
}

// cutValue cuts the first value, and the colon or comma behind it, off the rest of
// an object or a list.
func cutValue(raw []byte) (value, rest []byte) {
	end := valueEnd(raw)
	rest = bytes.TrimLeft(raw[end:], blanks)
	if rest[0] == ',' || rest[0] == ':' {
		rest = bytes.TrimLeft(rest[1:], blanks)
	}
	return raw[:end:end], rest
}

// valueEnd returns where the first value in the rest of an object or a list ends.
func valueEnd(raw []byte) int {
	for i, depth := 0, 0; ; i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of the object or the list itself
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
}

// twice returns a name that o has more than once.
func (o object) twice() (string, bool) {
	if len(o) < 16 { // nearly all are so short, and comparing is faster than a map
		for i := range o {
			for j := range i {
				if o[i].name == o[j].name {
					return o[i].name, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(o))
	for _, m := range o {
		if seen[m.name] {
			return m.name, true
		}
		seen[m.name] = true
	}
	return "", false
}

// each calls read for the members, until one fails. It passes over nulls: a null
// counts as absent, but stays.
func (o object) each(read func(*member) error) error {
	for i := range o {
		if string(o[i].value) == "null" {
			continue
		}
		if err := read(&o[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o object) get(name string) []byte {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o object) set(name string, value []byte) object {
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

// encodeAs is encode for an object that was split from raw. If nothing has changed
// it returns raw: a copy of an event takes as much memory as the event.
func (o object) encodeAs(raw []byte) []byte {
	rest, ok := bytes.CutPrefix(raw, []byte{'{'})
	for i := 0; ok && i < len(o); i++ {
		if i > 0 {
			rest, ok = bytes.CutPrefix(rest, []byte{','})
		}
		n := len(o[i].name)
		if !ok || len(rest) < n+3 || rest[0] != '"' || string(rest[1:1+n]) != o[i].name || !plain(o[i].name) ||
			rest[1+n] != '"' || rest[2+n] != ':' {
			return o.encode()
		}
		rest, ok = bytes.CutPrefix(rest[n+3:], o[i].value)
	}
	if !ok || string(rest) != "}" {
		return o.encode()
	}
	return raw[:len(raw):len(raw)]
}

func (o object) encode() []byte {
	size := 2
	for _, m := range o {
		size += len(m.name) + len(m.value) + len(`"":,`)
	}
	var b bytes.Buffer
	b.Grow(size)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if plain(m.name) {
			b.WriteByte('"')
			b.WriteString(m.name)
			b.WriteByte('"')
		} else {
			b.Write(quote(m.name))
		}
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote writes a string as JSON.
func quote(s string) []byte {
	if plain(s) {
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// plain reports whether s needs no escapes in JSON. Most text needs none.
func plain[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// decodeString reads a string, and spares decoding one that is plain.
func decodeString(raw []byte, into *string, field string) error {
	if end := len(raw) - 1; end > 0 && raw[0] == '"' && raw[end] == '"' && plain(raw[1:end]) {
		*into = string(raw[1:end])
		return nil
	}
	return decode(raw, into, field, "a string")
}

func decode(raw []byte, into any, field, want string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %s: want %s, not %.60s", memory.ErrInvalid, field, want, raw)
	}
	return nil
}

// spell turns the names in a value of a known type from snake_case into camelCase.
func (m *member) spell(field string) (err error) {
	if typed[m.name] {
		m.value, err = spell(m.value, field)
	}
	return err
}

func spell(raw []byte, field string) ([]byte, error) {
	if bytes.IndexByte(raw, '_') < 0 {
		return raw, nil
	}
	switch raw[0] {
	case '{':
		obj, err := splitObject(raw, field, typedFields)
		if err != nil {
			return nil, err
		}
		for i := range obj {
			if m := &obj[i]; !freeForm[m.name] {
				if m.value, err = spell(m.value, field+"."+m.name); err != nil {
					return nil, err
				}
			}
		}
		return obj.encodeAs(raw), nil
	case '[':
		list, err := splitList(raw, field)
		if err != nil {
			return nil, err
		}
		for i, v := range list {
			if list[i], err = spell(v, field); err != nil {
				return nil, err
			}
		}
		return encodeList(list, raw), nil
	}
	return raw, nil
}

// encodeList writes a list of values. If they are those of raw, it returns raw.
func encodeList(list [][]byte, raw []byte) []byte {
	size := 2
	for _, v := range list {
		size += len(v) + 1
	}
	same := len(list) > 0 && len(raw) == size-1 && raw[0] == '['
	for i, at := 0, 1; same && i < len(list); i++ {
		same = bytes.HasPrefix(raw[at:], list[i])
		at += len(list[i]) + 1 // and a comma, or the end: of this length there is nothing else
	}
	if same {
		return raw[:len(raw):len(raw)]
	}
	out := append(make([]byte, 0, size), '[')
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// CheckDepth returns ErrInvalid for JSON that nests deeper than most, so that no
// recursion into it goes too deep. The error begins with what, the name of the JSON.
func CheckDepth(what string, raw []byte, most int) error {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return fmt.Errorf("%w: %s nests deeper than %d", memory.ErrInvalid, what, most)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
