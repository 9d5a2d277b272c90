package vertex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
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
	s := speller{fields: map[reflect.Type][]field{}}
	if err := s.spell(raw, reflect.TypeOf(v).Elem(), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(s.out.Bytes(), v); err != nil {
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

// speller writes a body as its type has it. It decodes nothing that the type does not have, and counts
// before it decodes: an empty member of a list takes many times its bytes in memory.
type speller struct {
	out     bytes.Buffer
	members int // of all lists and maps so far
	fields  map[reflect.Type][]field
}

// field is a field of a struct, also one of an embedded struct.
type field struct {
	name string // in JSON
	of   reflect.Type
}

// maxMembers bounds the members of all lists and maps of a body together. Those within a value that is
// kept as it came do not count.
const maxMembers = 2 * maxContents

// count counts a member of the list or the map at a place, which has n with it.
func (s *speller) count(at string, n int) error {
	if n > maxContents {
		return invalid("%s: more than %d values", at, maxContents)
	}
	if s.members++; s.members > maxMembers {
		return invalid("%s: the lists and maps of the body have more than %d values together", at, maxMembers)
	}
	return nil
}

// spell writes a value of valid JSON: the names of fields as the type has them, and numbers and
// booleans as such where they came as texts.
func (s *speller) spell(raw []byte, t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	own := t == rawMessage || t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler)
	if !own && string(raw) != "null" {
		switch t.Kind() {
		case reflect.Struct:
			return s.spellStruct(raw, t, at)
		case reflect.Map:
			return s.spellMap(raw, t, at)
		case reflect.Slice:
			if t.Elem().Kind() != reflect.Uint8 {
				return s.spellList(raw, t, at)
			}
		case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Bool:
			if n := len(raw); n > 2 && raw[0] == '"' {
				switch inner := string(raw[1 : n-1]); {
				case t.Kind() == reflect.Bool && (inner == "true" || inner == "false"),
					t.Kind() != reflect.Bool && memory.IsNumber(inner):
					raw = raw[1 : n-1]
				}
			}
		}
	}
	s.out.Write(raw)
	return nil
}

// spellStruct writes the known fields of an object. Of a name that comes twice the last one counts.
func (s *speller) spellStruct(raw []byte, t reflect.Type, at string) error {
	if raw[0] != '{' {
		return invalid("%s: want an object", orBody(at))
	}
	// The values are found first and written then, as a field may come in both cases, and its last value is
	// the one that counts. A field that the type does not have is passed over without a look into it.
	known := s.fieldsOf(t)
	values := make([][]byte, len(known))
	for name, value := range sessionstore.Members(raw) {
		name = camel(name)
		if i := slices.IndexFunc(known, func(f field) bool { return f.name == name }); i >= 0 {
			values[i] = value
		}
	}
	first := true
	for i, value := range values {
		if value == nil {
			continue
		}
		s.name(known[i].name, &first, '{')
		if err := s.spell(value, known[i].of, join(at, known[i].name)); err != nil {
			return err
		}
	}
	s.end(first, "{}")
	return nil
}

// spellMap writes the members of a map, whose names are the client's and stay as they are. A name that
// comes twice is written twice: the last one counts where the map is decoded.
func (s *speller) spellMap(raw []byte, t reflect.Type, at string) error {
	if raw[0] != '{' {
		return invalid("%s: want an object", orBody(at))
	}
	first, n := true, 0
	for name, value := range sessionstore.Members(raw) {
		n++
		if err := s.count(at, n); err != nil {
			return err
		}
		s.name(name, &first, '{')
		if err := s.spell(value, t.Elem(), join(at, name)); err != nil {
			return err
		}
	}
	s.end(first, "{}")
	return nil
}

// spellList writes the values of a list. The place of a value in errors is its field, with its index.
func (s *speller) spellList(raw []byte, t reflect.Type, at string) error {
	if raw[0] != '[' {
		return invalid("%s: want a list", at)
	}
	first, n := true, 0
	for value := range sessionstore.Elements(raw) {
		n++
		if err := s.count(at, n); err != nil {
			return err
		}
		s.next(&first, '[')
		if err := s.spell(value, t.Elem(), fmt.Sprintf("%s[%d]", at, n-1)); err != nil {
			return err
		}
	}
	s.end(first, "[]")
	return nil
}

// next writes the bracket that opens a list or an object, or the comma before all but its first value.
func (s *speller) next(first *bool, open byte) {
	if !*first {
		open = ','
	}
	*first = false
	s.out.WriteByte(open)
}

// name writes what comes before a member's value.
func (s *speller) name(name string, first *bool, open byte) {
	s.next(first, open)
	s.out.Write(quote(name))
	s.out.WriteByte(':')
}

// end closes a list or an object, which is empty if the first value is still to come.
func (s *speller) end(empty bool, brackets string) {
	if !empty {
		brackets = brackets[1:]
	}
	s.out.WriteString(brackets)
}

// join is a field of a field.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// fieldsOf are the fields of a struct by their names in JSON. To find them takes long: a body has many
// structs of few types.
func (s *speller) fieldsOf(t reflect.Type) []field {
	out, ok := s.fields[t]
	if !ok {
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && !f.Anonymous {
				out = append(out, field{name, f.Type})
			}
		}
		s.fields[t] = out
	}
	return out
}

// readObject reads an object of valid JSON, whose values stay as they came. It has a bounded number of
// members, each of which takes more memory than it may have bytes. at names it in errors.
func readObject(at string, raw []byte) (object, error) {
	out := object{}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, invalid("%s: want an object", at)
	}
	for name, value := range sessionstore.Members(raw) {
		if out[name] = value; len(out) > maxContents {
			return nil, invalid("%s: more than %d fields", at, maxContents)
		}
	}
	return out, nil
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
		return t.set(at, raw)
	}
	n, err := readSeconds(raw)
	if err != nil {
		return invalid("time %.60s: want a text of RFC 3339, or seconds and nanos", raw)
	}
	return t.set(time.Unix(n.seconds, n.nanos), raw)
}

// set sets a time of the years 0001 to 9999: a text of RFC 3339 has no others.
func (t *Time) set(at time.Time, raw []byte) error {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return invalid("time %.60s: out of range: want a year of 0001 to 9999", raw)
	}
	t.Time = at
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
