package tools

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// count is a whole number of results. A model may write 5 as 5.0.
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

// schemas are those of types that say more than Go's own.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[count]():           {Type: "integer", Minimum: jsonschema.Ptr(1.0), Maximum: jsonschema.Ptr(float64(retrieve.MaxTopK))},
	reflect.TypeFor[memory.Metadata](): {Type: "object"},
	reflect.TypeFor[memory.Kind]():     {Type: "string", Enum: []any{memory.KindFact, memory.KindTurn}},
}

// schemaOf is the schema of a Go type's JSON, in which nothing is null: what is
// not there is left out.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(err) // a type of this package has no schema
	}
	withoutNull(s)
	return s
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
