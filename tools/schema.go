package tools

import (
	_ "embed"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// count is a number of results. Models write 5 also as 5.0.
type count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int32(f)) {
		return invalid("want a whole number, not %.40s", raw)
	}
	*c = count(f)
	return nil
}

// schemas holds the schemas of types that Go's own types say too little of.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[count]():           {Type: "integer", Minimum: new(1.0), Maximum: new(float64(retrieve.MaxTopK))},
	reflect.TypeFor[memory.Metadata](): {Type: "object"},
	reflect.TypeFor[memory.Kind]():     {Type: "string", Enum: []any{memory.KindFact, memory.KindTurn}},
	reflect.TypeFor[speaker]():         {Type: "string", Enum: []any{speakerUser, speakerAssistant}},
}

// schemaOf returns the schema of a Go type's JSON. Nothing in it is null: an
// optional value is left out instead.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(err) // a type of this package has no schema
	}
	withoutNull(s)
	describe(s, reflect.TypeFor[T]())
	return s
}

// descriptionsText has all that models are told of tools and their fields, one a
// line: "tool: description", "tool.instruction: instruction", and, for the fields
// of this package's types, "type.field: description".
//
//go:embed descriptions.txt
var descriptionsText string

// descriptions has the lines of descriptionsText by what is before the colon.
var descriptions = func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(descriptionsText) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		out[name] = text
	}
	return out
}()

// describe sets the descriptions of the properties in the schema of t.
func describe(s *jsonschema.Schema, t reflect.Type) {
	if t.Kind() == reflect.Slice {
		s, t = s.Items, t.Elem()
	}
	if t.Kind() != reflect.Struct || s == nil {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		p.Description = descriptions[t.Name()+"."+name]
		if f.Type.Kind() == reflect.Pointer {
			describe(p, f.Type.Elem())
		} else {
			describe(p, f.Type)
		}
	}
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	withoutNull(s.Items)
	for _, p := range s.Properties {
		withoutNull(p)
	}
}
