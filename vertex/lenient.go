package vertex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxDepth bounds how deep the JSON of a body nests. Events have a bound of their own within.
const maxDepth = sessionstore.MaxDepth + 8

// Decode reads a body into v, a pointer to a struct. Known fields may be in camel case or in snake
// case, at every depth; unknown ones are ignored. A json.RawMessage is kept as it came.
func Decode(raw []byte, v any) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	if !utf8.Valid(raw) {
		return invalid("the body is not valid UTF-8")
	}
	if err := sessionstore.CheckDepth("body", raw, maxDepth); err != nil {
		return err
	}
	if !json.Valid(raw) {
		return invalid("the body is not valid JSON: %v", json.Unmarshal(raw, new(any)))
	}
	if raw[0] != '{' {
		return invalid("the body: want an object")
	}
	raw, err := spell(raw, reflect.TypeOf(v).Elem(), "")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		if of := (*json.UnmarshalTypeError)(nil); errors.As(err, &of) {
			return invalid("%s: want another value than %s", orBody(of.Field), of.Value)
		}
		if errors.Is(err, memory.ErrInvalid) {
			return err
		}
		return invalid("the body: %v", err)
	}
	return nil
}

func orBody(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}

var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	rawMessage  = reflect.TypeFor[json.RawMessage]()
)

// spell writes the names of the fields of a value as its type has them, and numbers and
// booleans as such where they came as texts.
func spell(raw []byte, t reflect.Type, at string) ([]byte, error) {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	own := t == rawMessage || t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler)
	if own || string(raw) == "null" {
		return raw, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return spellStruct(raw, t, at)
	case reflect.Map:
		return spellMap(raw, t, at)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return raw, nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, invalid("%s: want a list", at)
		}
		for i := range list {
			var err error
			if list[i], err = spell(list[i], t.Elem(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
		return Encode(list)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Bool:
		if n := len(raw); n > 2 && raw[0] == '"' {
			switch inner := string(raw[1 : n-1]); {
			case t.Kind() == reflect.Bool && (inner == "true" || inner == "false"),
				t.Kind() != reflect.Bool && memory.IsNumber(inner):
				return []byte(inner), nil
			}
		}
	}
	return raw, nil
}

func spellStruct(raw []byte, t reflect.Type, at string) ([]byte, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, invalid("%s: want an object", orBody(at))
	}
	out := map[string]json.RawMessage{}
	for name, value := range in {
		f, ok := fieldOf(t, camel(name))
		if !ok {
			continue
		}
		value, err := spell(value, f.Type, join(at, camel(name)))
		if err != nil {
			return nil, err
		}
		out[camel(name)] = value
	}
	return Encode(out)
}

func spellMap(raw []byte, t reflect.Type, at string) ([]byte, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, invalid("%s: want an object", orBody(at))
	}
	for name, value := range in {
		value, err := spell(value, t.Elem(), join(at, name))
		if err != nil {
			return nil, err
		}
		in[name] = value
	}
	return Encode(in)
}

// join is a field of a field.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// fieldOf finds a field of a struct by its name in JSON, embedded ones too.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && !f.Anonymous {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// camel turns snake case into camel case.
func camel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '_' && i > 0 && i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' {
			i++
			b.WriteByte(name[i] - 'a' + 'A')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Time is a time as clients send it: a text of RFC 3339, or an object of seconds and nanos.
type Time struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if string(raw) == "null" {
			return nil
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return invalid("time %.60q: want one of RFC 3339, such as 2026-03-02T15:04:05Z", text)
		}
		t.Time = at.UTC()
		return nil
	}
	n, err := readSeconds(raw)
	if err != nil {
		return invalid("time %.60s: want a text of RFC 3339, or seconds and nanos", raw)
	}
	t.Time = time.Unix(n.seconds, n.nanos).UTC()
	return nil
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return Encode(sessionstore.FormatTime(t.Time))
}

// Duration is a duration as clients send it, such as "120s".
type Duration struct{ time.Duration }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if string(raw) == "null" {
			return nil
		}
		number, ok := strings.CutSuffix(text, "s")
		got, err := time.ParseDuration(text)
		if !ok || err != nil || strings.ContainsAny(number, "hmnuµ") {
			return invalid(`duration %.60q: want seconds, such as "120s"`, text)
		}
		d.Duration = got
		return nil
	}
	n, err := readSeconds(raw)
	if err != nil || n.seconds > 1<<33 || n.seconds < -1<<33 {
		return invalid(`duration %.60s: want seconds, such as "120s"`, raw)
	}
	d.Duration = time.Duration(n.seconds)*time.Second + time.Duration(n.nanos)
	return nil
}

type seconds struct{ seconds, nanos int64 }

// readSeconds reads an object of seconds and nanos. Seconds may be a text.
func readSeconds(raw []byte) (out seconds, err error) {
	var in struct {
		Seconds json.RawMessage `json:"seconds"`
		Nanos   int64           `json:"nanos"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return out, err
	}
	if len(in.Seconds) > 0 {
		out.seconds, err = strconv.ParseInt(strings.Trim(string(in.Seconds), `"`), 10, 64)
	}
	out.nanos = in.Nanos
	if err == nil && (out.nanos < -1e9 || out.nanos > 1e9) {
		err = memory.ErrInvalid
	}
	return out, err
}
