// Package profile has the schemas of structured profiles: which fields a profile of a user
// has, and which values each may hold. A [Schema] is read from JSON Schema, of which
// [Parse] takes the part that a model can fill and a person can read.
package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/memory"
)

// Schema says which fields a profile has.
type Schema struct {
	fields []*Field // by name
}

// Field is a field of a profile.
type Field struct {
	Name  string
	Title string // what the schema calls it, or Name in words
	// Description is that of the schema; "" if it has none.
	Description string
	// Shown is the part of the schema that says which values the field may have, for a
	// model to read: JSON without titles and annotations.
	Shown json.RawMessage

	typ     string // of JSON Schema: one of types
	format  string // of the texts in it
	item    string // the type of the entries of a list
	checked *jsonschema.Resolved
}

// Fields are the fields, by name.
func (s *Schema) Fields() []*Field { return s.fields }

// Field returns the field of a name; nil if there is none.
func (s *Schema) Field(name string) *Field {
	for _, f := range s.fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Check returns a value as it is stored. The error is ErrInvalid, and names the place, if
// the field cannot have the value.
func (f *Field) Check(at string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > memory.MaxProfileValue {
		return nil, invalid("%s has %d bytes, more than %d", at, len(raw), memory.MaxProfileValue)
	}
	v, err := read(raw)
	if err != nil {
		return nil, invalid("%s is not JSON: %v", at, err)
	}
	if err := f.checkValue(v); err != nil {
		return nil, invalid("%s: field %q cannot have it: %v", at, f.Name, err)
	}
	return compact(raw), nil
}

// checkValue reports why the field cannot have a value.
func (f *Field) checkValue(v any) error {
	if err := checkType(f.typ, v); err != nil {
		return err
	}
	texts := []any{v}
	if list, ok := v.([]any); ok {
		for i, one := range list {
			if err := checkType(f.item, one); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
		}
		texts = list
	}
	for _, text := range texts {
		if text, ok := text.(string); ok && !inFormat(f.format, text) {
			return fmt.Errorf("%.60q is no %s", text, f.format)
		}
	}
	return f.checked.Validate(v)
}

// Read returns the value that a model writes as a text: JSON, or a text that stands for
// itself. It reports false if the field cannot have it.
func (f *Field) Read(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if f.typ != "string" {
		if text == "" || text == "null" {
			return nil, false
		}
		raw, err := f.Check("value", json.RawMessage(text))
		if err != nil && f.typ == "array" && f.item == "string" && text[0] != '[' { // a list of one, without brackets
			raw, err = f.Check("value", encode([]string{text}))
		}
		return raw, err == nil
	}
	if strings.HasPrefix(text, `"`) { // a text that the model wrote as JSON
		if raw, err := f.Check("value", json.RawMessage(text)); err == nil {
			return raw, true
		}
	}
	if text == "" {
		return nil, false
	}
	raw, err := f.Check("value", encode(text))
	return raw, err == nil
}

// Words says that the field has a value, so that a search finds it by its meaning.
func (f *Field) Words(value json.RawMessage) string {
	return sentence(f.Title, f.Description, value)
}

// Words says that a field has a value whose schema is not known.
func Words(field string, value json.RawMessage) string { return sentence(inWords(field), "", value) }

// maxAbout is how many bytes a description has at most that the words of a value repeat. A
// longer one is an explanation, and would outweigh the value in a search.
const maxAbout = 100

func sentence(title, description string, value json.RawMessage) string {
	about := strings.TrimSuffix(strings.TrimSpace(description), ".")
	if about != "" && len(about) <= maxAbout && !strings.EqualFold(about, title) && !strings.Contains(about, "\n") {
		title += " (" + about + ")"
	}
	return title + ": " + plain(value)
}

// plain writes a value as a person would.
func plain(raw json.RawMessage) string {
	var v any
	if v, _ = read(raw); v == nil {
		return string(raw)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for i, one := range list {
		switch one := one.(type) {
		case string:
			words[i] = one
		case bool:
			words[i] = map[bool]string{true: "yes", false: "no"}[one]
		default:
			words[i] = strings.TrimSpace(string(encode(one)))
		}
	}
	return strings.Join(words, ", ")
}

// inWords writes the name of a field in words: "favourite_color" and "favouriteColor" are
// "Favourite color".
func inWords(name string) string {
	var out []rune
	was := ' '
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || unicode.IsSpace(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(was):
			out = append(out, ' ')
			r = unicode.ToLower(r)
		}
		if r != ' ' || len(out) > 0 && out[len(out)-1] != ' ' {
			out = append(out, r)
		}
		was = r
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		return name
	}
	first := []rune(text)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// Names are the names of the fields, for a message.
func (s *Schema) Names() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = strconv.Quote(f.Name)
	}
	const most = 20
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}
