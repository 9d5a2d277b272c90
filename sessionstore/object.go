package sessionstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// member is one name and value of a JSON object, object all of them in order.
type (
	member struct {
		name  string
		value []byte
	}
	object []member
)

// readObject takes an object apart in order. Names whose camelCase is in known
// come out in camelCase. A name that occurs twice is refused: readers differ
// on which of the two counts.
func readObject(raw []byte, field string, known map[string]string) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		if err != nil {
			return nil, fmt.Errorf("%w: %s is not valid JSON: %v", memory.ErrInvalid, field, err)
		}
		return nil, fmt.Errorf("%w: %s: want an object, not %.60s", memory.ErrInvalid, field, raw)
	}
	var obj object
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %s is not valid JSON: %v", memory.ErrInvalid, field, err)
		}
		name := tok.(string)
		if camel, ok := known[name]; ok {
			name = camel
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: %s has the field %.60q twice", memory.ErrInvalid, field, name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%w: %s.%s is not valid JSON: %v", memory.ErrInvalid, field, name, err)
		}
		obj = append(obj, member{name, value})
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w: %s is not valid JSON: %v", memory.ErrInvalid, field, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: %s is not valid JSON: something follows the object", memory.ErrInvalid, field)
	}
	return obj, nil
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

func (o object) encode() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func decode(raw []byte, into any, field, want string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %s: want %s, not %.60s", memory.ErrInvalid, field, want, raw)
	}
	return nil
}

// spell turns the snake_case of a value of a known type into camelCase.
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
		obj, err := readObject(raw, field, typedFields)
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
		return obj.encode(), nil
	case '[':
		var list []json.RawMessage
		if err := decode(raw, &list, field, "a list"); err != nil {
			return nil, err
		}
		out := []byte{'['}
		for i, v := range list {
			spelt, err := spell(v, field)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, spelt...)
		}
		return append(out, ']'), nil
	}
	return raw, nil
}

// CheckDepth refuses JSON that nests deeper than most, before anything recurses
// into it. The error is ErrInvalid and begins with what.
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

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// names maps both spellings of each name to the camelCase one.
func names(camel ...string) map[string]string {
	out := map[string]string{}
	for _, n := range camel {
		var b strings.Builder
		for _, r := range n {
			if r >= 'A' && r <= 'Z' {
				b.WriteByte('_')
				r += 'a' - 'A'
			}
			b.WriteRune(r)
		}
		out[b.String()] = n
		out[n] = n
	}
	return out
}
