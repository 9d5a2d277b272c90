package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// person is the schema of most tests.
const person = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Person", "type": "object",
	"additionalProperties": false, "required": ["age"],
	"properties": {
		"age": {"type": "integer", "minimum": 0, "maximum": 150, "title": "Age"},
		"born": {"type": "string", "format": "date", "description": "The date of birth."},
		"height": {"type": ["number", "null"], "exclusiveMinimum": 0, "default": null},
		"vegetarian": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "title": "Vegetarian"},
		"favouriteColor": {"type": "string", "enum": ["red", "light blue"]},
		"nick": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 8},
		"hobbies": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 3, "uniqueItems": true},
		"sizes": {"type": "array", "items": {"type": "integer", "enum": [1, 2, 3]}}
	}}`

func parse(t *testing.T, raw string) *Schema {
	t.Helper()
	s, err := Parse("schema", json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A value that a field can have is stored as it was written, without white space; each
// other value is ErrInvalid that names the place.
func TestCheck(t *testing.T) {
	s := parse(t, person)
	for _, c := range []struct {
		field string
		valid []string
		wrong []string
	}{
		{"age", []string{`0`, `150`, `30.0`}, []string{`-1`, `151`, `1.5`, `"30"`, `null`, `[30]`, `{}`, ``, `3 0`}},
		{"born", []string{`"1990-02-28"`}, []string{`"1990-02-30"`, `"in May"`, `""`, `1990`}},
		{"height", []string{`1.8`, `2`}, []string{`0`, `"1.8"`, `null`}},
		{"vegetarian", []string{`true`, `false`}, []string{`"true"`, `1`, `null`}},
		{"favouriteColor", []string{`"red"`, `"light blue"`}, []string{`"blue"`, `"Red"`, `true`}},
		{"nick", []string{`"ann"`}, []string{`"a"`, `"annannann"`, `"Ann"`}},
		{"hobbies", []string{`[]`, `["chess", "tea"]`}, []string{`"chess"`, `["a", "a"]`, `[1]`, `["a", null]`,
			`["a", "b", "c", "d"]`, `["` + strings.Repeat("x", 21) + `"]`, `[["a"]]`}},
		{"sizes", []string{`[1, 3]`, `[2.0]`}, []string{`[4]`, `["1"]`, `1`}},
	} {
		f := s.Field(c.field)
		for _, raw := range c.valid {
			got, err := f.Check("value", json.RawMessage(" "+raw+"\n"))
			if err != nil || string(got) != strings.ReplaceAll(strings.ReplaceAll(raw, `, `, `,`), "\n", "") {
				t.Errorf("%s = %s: %s, %v", c.field, raw, got, err)
			}
		}
		for _, raw := range c.wrong {
			if got, err := f.Check("value", json.RawMessage(raw)); !errors.Is(err, memory.ErrInvalid) ||
				!strings.HasPrefix(err.Error(), "invalid argument: value") {
				t.Errorf("%s = %s is valid: %s, %v", c.field, raw, got, err)
			}
		}
	}
	if s.Field("missing") != nil {
		t.Error("there is a field that the schema has not")
	}
}

// A model writes a value as a text.
func TestRead(t *testing.T) {
	s := parse(t, person)
	for _, c := range []struct{ field, text, want string }{
		{"age", " 30 ", "30"}, {"age", "thirty", ""}, {"age", "", ""}, {"age", "200", ""}, {"age", "null", ""},
		{"vegetarian", "true", "true"}, {"vegetarian", "yes", ""},
		{"nick", "ann", `"ann"`}, {"nick", `"ann"`, `"ann"`}, {"nick", "", ""}, {"nick", "Ann", ""},
		{"hobbies", `["chess"]`, `["chess"]`}, {"hobbies", "chess", `["chess"]`}, {"hobbies", "[1]", ""},
		{"favouriteColor", "light blue", `"light blue"`}, {"favouriteColor", "green", ""},
		{"sizes", "1", ""}, {"sizes", "[1]", "[1]"},
	} {
		got, ok := s.Field(c.field).Read(c.text)
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s from %q: %s, %v; want %q", c.field, c.text, got, ok, c.want)
		}
	}
}

// The words of a value name the field as the schema does, or its name in words.
func TestWords(t *testing.T) {
	s := parse(t, person)
	for _, c := range []struct{ field, value, want string }{
		{"age", "30", "Age: 30"}, {"born", `"1990-02-28"`, "Born (The date of birth): 1990-02-28"},
		{"height", "1.82", "Height: 1.82"}, {"vegetarian", "true", "Vegetarian: yes"}, {"vegetarian", "false", "Vegetarian: no"},
		{"favouriteColor", `"light blue"`, "Favourite color: light blue"},
		{"hobbies", `["chess","tea"]`, "Hobbies: chess, tea"}, {"hobbies", `[]`, "Hobbies: none"},
	} {
		if got := s.Field(c.field).Words(json.RawMessage(c.value)); got != c.want {
			t.Errorf("%s = %s is %q, want %q", c.field, c.value, got, c.want)
		}
	}
	for name, want := range map[string]string{"shoe_size": "Shoe size", "URL": "URL", "home-town": "Home town", "__": "__"} {
		if got := Words(name, json.RawMessage("1")); got != want+": 1" {
			t.Errorf("%q in words is %q, want %q", name, got, want)
		}
	}
}

// A schema that is none, that has more than is known, or that no value satisfies, is
// ErrInvalid that names the place.
func TestParse(t *testing.T) {
	field := func(f string) string { return `{"type":"object","properties":{"age":` + f + `}}` }
	var many []string
	for i := range MaxFields + 1 {
		many = append(many, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
	}
	for raw, place := range map[string]string{
		``: "schema is not JSON", `[]`: "schema: want", `true`: "schema: want", `{`: "schema is not JSON", `{}`: "schema.type",
		"{\"type\":\"\xff\"}": "schema is not JSON",
		`{"type":"string"}`:   "schema.type", `{"type":["object"]}`: "schema.type", `{"type":"object"}`: "schema.properties",
		`{"type":"object","properties":{}}`:                                                "schema.properties",
		`{"type":"object","properties":[]}`:                                                "schema.properties",
		`{"type":"object","properties":{"":{"type":"string"}}}`:                            "schema.properties: a name",
		`{"type":"object","properties":{"a/b":{"type":"string"}}}`:                         "schema.properties: a name",
		`{"type":"object","properties":{"a":1}}`:                                           "schema.properties.a:",
		`{"type":"object","properties":{` + strings.Join(many, ",") + `}}`:                 "schema.properties: 51 fields",
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`:          "schema.required[0]",
		`{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`:            "schema.required",
		`{"type":"object","properties":{"a":{"type":"string"}},"title":1}`:                 "schema.title",
		`{"type":"object","properties":{"a":{"type":"string"}},"$ref":"#"}`:                "schema.$ref",
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{}}`: "schema.additionalProperties",
		`{"type":"object","title":"` + strings.Repeat("x", MaxSchema) + `"}`:               "schema has",
		field(`{}`):                                              "schema.properties.age.type",
		field(`{"type":"red"}`):                                  "schema.properties.age.type",
		field(`{"type":"null"}`):                                 "schema.properties.age.type",
		field(`{"type":"object"}`):                               "schema.properties.age.type",
		field(`{"type":["string","number"]}`):                    "schema.properties.age.type",
		field(`{"anyOf":[{"type":"string"},{"type":"number"}]}`): "schema.properties.age.anyOf",
		field(`{"anyOf":[{"type":"null"}]}`):                     "schema.properties.age.anyOf",
		field(`{"anyOf":[1]}`):                                   "schema.properties.age.anyOf[0]",
		field(`{"type":"string","anyOf":[{"type":"string"}]}`):   "schema.properties.age.type",
		field(`{"type":"string","minimum":1}`):                   "schema.properties.age.minimum",
		field(`{"type":"string","const":"x"}`):                   "schema.properties.age.const",
		field(`{"type":"string","title":1}`):                     "schema.properties.age.title",
		field(`{"type":"string","description":"` + strings.Repeat("x", maxText+1) + `"}`): "schema.properties.age.description",
		field(`{"type":"string","minLength":-1}`):                                         "schema.properties.age.minLength",
		field(`{"type":"string","minLength":1.5}`):                                        "schema.properties.age.minLength",
		field(`{"type":"string","minLength":5,"maxLength":4}`):                            "schema.properties.age.minLength",
		field(`{"type":"string","pattern":"("}`):                                          "schema.properties.age.pattern",
		field(`{"type":"string","pattern":"(?=a)"}`):                                      "schema.properties.age.pattern",
		field(`{"type":"string","pattern":"` + strings.Repeat("x", maxPattern+1) + `"}`):  "schema.properties.age.pattern",
		field(`{"type":"string","format":"phone"}`):                                       "schema.properties.age.format",
		field(`{"type":"string","enum":[]}`):                                              "schema.properties.age.enum",
		field(`{"type":"string","enum":["a",1]}`):                                         "schema.properties.age.enum[1]",
		field(`{"type":"string","enum":["a","a"]}`):                                       "schema.properties.age.enum[1]",
		field(`{"type":"string","enum":["a"],"minLength":2}`):                             "schema.properties.age.enum[0]",
		field(`{"type":"string","enum":["May"],"format":"date"}`):                         "schema.properties.age.enum[0]",
		field(`{"type":"integer","enum":[1.5]}`):                                          "schema.properties.age.enum[0]",
		field(`{"type":"number","minimum":2,"maximum":1}`):                                "schema.properties.age.minimum",
		field(`{"type":"number","minimum":"2"}`):                                          "schema.properties.age.minimum",
		field(`{"type":"number","exclusiveMinimum":1,"maximum":1}`):                       "schema.properties.age.exclusiveMinimum",
		field(`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`):             "schema.properties.age.exclusiveMinimum",
		field(`{"type":"integer","minimum":1.2,"maximum":1.8}`):                           "schema.properties.age.minimum",
		field(`{"type":"number","multipleOf":0}`):                                         "schema.properties.age.multipleOf",
		field(`{"type":"array"}`):                                                         "schema.properties.age.items",
		field(`{"type":"array","items":{"type":"array"}}`):                                "schema.properties.age.items.type",
		field(`{"type":"array","items":{"type":"string","format":"phone"}}`):              "schema.properties.age.items.format",
		field(`{"type":"array","items":{"type":"string","enum":[1]}}`):                    "schema.properties.age.items.enum[0]",
		field(`{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":1}`):     "schema.properties.age.minItems",
		field(`{"type":"array","items":{"type":"string"},"uniqueItems":1}`):               "schema.properties.age.uniqueItems",
		field(`{"type":"array","items":{"type":"string"},"contains":{}}`):                 "schema.properties.age.contains",
	} {
		s, err := Parse("schema", json.RawMessage(raw))
		if !errors.Is(err, memory.ErrInvalid) || !strings.HasPrefix(err.Error(), "invalid argument: "+place) ||
			strings.Count(err.Error(), "invalid argument") > 1 {
			t.Errorf("%.120s: %v, %v; want an error at %s", raw, s, err, place)
		}
	}
}

// Any bytes are a schema or an error, and a value that passes can be stored.
func FuzzParse(f *testing.F) {
	f.Add(person, `"red"`)
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number","multipleOf":0.1}}}}`, `[0.3]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Parse("schema", json.RawMessage(schema))
		if err != nil {
			return
		}
		for _, field := range s.Fields() {
			for _, text := range []string{value, `"` + value + `"`, `[` + value + `]`} {
				raw, ok := field.Read(text)
				if !ok {
					continue
				}
				m := memory.Memory{ID: "m", Scope: memory.Scope{App: "a", User: "u"}, Kind: memory.KindProfile,
					Timestamp: memory.MinTime, Fact: field.Words(raw),
					Profile: &memory.Profile{SchemaID: "s", Field: field.Name, Value: raw}}
				if err := m.Validate(); err != nil {
					t.Errorf("%s of %q: %v", field.Name, text, err)
				}
			}
		}
	})
}
