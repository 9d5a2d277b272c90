package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns a schema of the document, with its references to others; nil if there
// is none of that name.
func (d *Document) Schema(name string) map[string]any {
	if d.schemas[name] == nil {
		return nil
	}
	return d.at(d.schemas, name)
}

// BodySchema is the schema of the JSON of a request; nil if there is none.
func (o *Operation) BodySchema() map[string]any {
	schema, _ := o.doc.at(o.node, "requestBody", "content", "application/json")["schema"].(node)
	return schema
}

// Names are the properties that a schema lists, its own and those of the schemas that
// it is put together from. closed is set if there may be no others.
func (d *Document) Names(schema map[string]any) (names map[string]bool, closed bool) {
	names = map[string]bool{}
	d.eachPart(schema, func(part node) {
		properties, _ := part["properties"].(node)
		for name := range properties {
			names[name] = true
		}
	})
	schema = d.at(schema)
	return names, schema["additionalProperties"] == false || schema["unevaluatedProperties"] == false
}

// Required are the properties that a schema requires, or one that it is put together
// from.
func (d *Document) Required(schema map[string]any) map[string]bool {
	names := map[string]bool{}
	d.eachPart(schema, func(part node) {
		required, _ := part["required"].([]any)
		for _, name := range required {
			names[name.(string)] = true
		}
	})
	return names
}

// eachPart calls see with a schema, and with those that it is put together from.
func (d *Document) eachPart(schema node, see func(node)) {
	schema = d.at(schema)
	see(schema)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[keyword].([]any)
		for _, p := range parts {
			d.eachPart(p.(node), see)
		}
	}
}

// BodyFields are all fields of an operation's request, at any depth.
func (d *Document) BodyFields(o *Operation) map[string]bool {
	names := map[string]bool{}
	d.collect(o.BodySchema(), names, map[string]bool{})
	return names
}

// AnswerFields are all fields of the JSON that an operation answers with success, at any
// depth.
func (d *Document) AnswerFields(o *Operation) map[string]bool {
	names := map[string]bool{}
	for _, status := range o.Statuses() {
		schema, _ := d.at(o.node, "responses", strconv.Itoa(status), "content", "application/json")["schema"].(node)
		if status < 300 {
			d.collect(schema, names, map[string]bool{})
		}
	}
	return names
}

// collect adds the properties within a schema. seen are the references that it has
// followed.
func (d *Document) collect(schema any, names, seen map[string]bool) {
	switch s := schema.(type) {
	case node:
		if ref, ok := s["$ref"].(string); ok {
			if seen[ref] {
				return
			}
			seen[ref] = true
			s = d.at(s)
		}
		properties, _ := s["properties"].(node)
		for name := range properties {
			names[name] = true
			d.collect(properties[name], names, seen)
		}
		for _, keyword := range []string{"items", "allOf", "anyOf", "oneOf"} {
			d.collect(s[keyword], names, seen)
		}
	case []any:
		for _, part := range s {
			d.collect(part, names, seen)
		}
	}
}

// decode reads JSON whose numbers may be beyond those of float64.
func decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return floats(v), err
}

// floats makes float64 of the numbers in a value, the nearest that is finite.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return max(-math.MaxFloat64, min(f, math.MaxFloat64))
	case map[string]any:
		for name := range v {
			v[name] = floats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	}
	return v
}

// withoutNull leaves out the members of objects that are null.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			if x != nil {
				out[name] = withoutNull(x)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, withoutNull(x))
		}
		return out
	}
	return v
}

// validate checks a JSON value against a schema.
func (d *Document) validate(schema node, value any) error {
	r, err := d.resolve(schema)
	if err != nil {
		return err
	}
	return r.Validate(value)
}

// resolve returns a schema with those that it refers to as its definitions: each
// definition takes time.
func (d *Document) resolve(schema node) (*jsonschema.Resolved, error) {
	key, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.resolved[string(key)]; r != nil {
		return r, nil
	}
	definitions := node{}
	d.reach(schema, definitions)
	all, err := json.Marshal(node{"$defs": definitions, "allOf": []any{schema}})
	if err != nil {
		return nil, err
	}
	all = bytes.ReplaceAll(all, []byte(`"`+schemaPrefix), []byte(`"#/$defs/`))
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(all, s); err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	d.resolved[string(key)] = r
	return r, nil
}

// schemaPrefix begins a reference to a schema.
const schemaPrefix = "#/components/schemas/"

// reach adds the schemas that a part of the document refers to, by name.
func (d *Document) reach(part any, into node) {
	switch part := part.(type) {
	case node:
		ref, _ := part["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, schemaPrefix); ok && into[name] == nil {
			into[name] = d.schemas[name]
			d.reach(d.schemas[name], into)
		}
		for _, inner := range part {
			d.reach(inner, into)
		}
	case []any:
		for _, inner := range part {
			d.reach(inner, into)
		}
	}
}
