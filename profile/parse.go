package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memoryd/memoryd/memory"
)

// Limits of a schema. A model is shown the schemas of an app with every batch.
const (
	MaxFields  = 50
	MaxSchema  = 16 << 10 // bytes
	maxEnum    = 100      // values
	maxPattern = 500      // bytes
	maxText    = 1000     // bytes of a title or a description
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// The types of fields.
var types = []string{"string", "number", "integer", "boolean", "array"}

// annotations are keywords that say nothing about which values are valid. They are
// accepted, as programs that write schemas add them, and have no effect.
var annotations = map[string]func(any) bool{
	"$comment": isText, "default": anything, "examples": isList, "deprecated": isBool, "readOnly": isBool,
	"writeOnly": isBool, "nullable": isBool,
}

// keywords are those that say which values of a type are valid.
var keywords = map[string][]string{
	"string":  {"enum", "minLength", "maxLength", "pattern", "format"},
	"number":  {"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {"enum"},
	"array":   {"items", "minItems", "maxItems", "uniqueItems"},
}

func isText(v any) bool { _, ok := v.(string); return ok }
func isBool(v any) bool { _, ok := v.(bool); return ok }
func isList(v any) bool { _, ok := v.([]any); return ok }
func anything(any) bool { return true }

// node is one schema in a document.
type node struct {
	at   string // its place
	keys map[string]any
}

func (n *node) invalid(key, format string, args ...any) error {
	at := n.at
	if key != "" {
		at += "." + key
	}
	return invalid("%s: %s", at, fmt.Sprintf(format, args...))
}

// Parse reads the schema of a profile, which stands at a place of a document that errors
// name. It is a schema of type object whose properties are texts, numbers, integers, yes
// or no, and lists of these. The error is ErrInvalid if it is none, if it has a keyword
// that Parse does not know, or if no value could ever be valid.
func Parse(at string, raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxSchema {
		return nil, invalid("%s has %d bytes, more than %d", at, len(raw), MaxSchema)
	}
	v, err := read(raw)
	if err != nil {
		return nil, invalid("%s is not JSON: %v", at, err)
	}
	keys, ok := v.(map[string]any)
	if !ok {
		return nil, invalid("%s: want a JSON schema, which is an object", at)
	}
	n := &node{at, keys}
	if n.keys["type"] != "object" {
		return nil, n.invalid("type", `want "object": a profile has fields`)
	}
	properties, ok := n.keys["properties"].(map[string]any)
	switch {
	case !ok || len(properties) == 0:
		return nil, n.invalid("properties", "want the fields of the profile, one at least")
	case len(properties) > MaxFields:
		return nil, n.invalid("properties", "%d fields, more than %d", len(properties), MaxFields)
	}
	if err := n.checkObject(properties); err != nil {
		return nil, err
	}
	out := &Schema{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		of := &node{at: at + ".properties." + name}
		if err := memory.ValidateProfileName(at+".properties: a name", name); err != nil {
			return nil, err
		}
		if of.keys, ok = properties[name].(map[string]any); !ok {
			return nil, of.invalid("", "want a JSON schema, which is an object")
		}
		f, err := of.field(name)
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, f)
	}
	return out, nil
}

// checkObject checks the keywords of the schema itself beside its properties.
func (n *node) checkObject(properties map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(n.keys)) {
		v := n.keys[key]
		ok := true
		switch key {
		case "type", "properties":
		case "$schema", "$id":
			ok = isText(v)
		case "title", "description":
			if err := n.checkText(key); err != nil {
				return err
			}
		case "additionalProperties":
			ok = isBool(v)
		case "required":
			list, isList := v.([]any)
			ok = isList
			for i, name := range list {
				text, isText := name.(string)
				if _, known := properties[text]; !isText || !known {
					key := fmt.Sprintf("required[%d]", i)
					return n.invalid(key, "%.60q is none of the properties", fmt.Sprint(name))
				}
			}
		default:
			if check := annotations[key]; check == nil {
				return n.invalid(key, "is not known: a profile has type, properties, title and description")
			} else {
				ok = check(v)
			}
		}
		if !ok {
			return n.invalid(key, "has a value of the wrong type")
		}
	}
	return nil
}

// checkText checks a title or a description.
func (n *node) checkText(key string) error {
	v, there := n.keys[key]
	text, ok := v.(string)
	switch {
	case there && !ok:
		return n.invalid(key, "want a text")
	case len(text) > maxText || !utf8.ValidString(text):
		return n.invalid(key, "want at most %d bytes of UTF-8", maxText)
	}
	return nil
}

// field reads the schema of a field.
func (n *node) field(name string) (*Field, error) {
	n, err := n.withoutNull()
	if err != nil {
		return nil, err
	}
	f := &Field{Name: name, Title: inWords(name)}
	if err := n.checkText("title"); err != nil {
		return nil, err
	}
	if err := n.checkText("description"); err != nil {
		return nil, err
	}
	if title, _ := n.keys["title"].(string); strings.TrimSpace(title) != "" {
		f.Title = strings.Join(strings.Fields(title), " ")
	}
	f.Description, _ = n.keys["description"].(string)
	shown, err := n.value(true)
	if err != nil {
		return nil, err
	}
	f.typ = shown["type"].(string)
	f.format, _ = shown["format"].(string)
	if items, ok := shown["items"].(map[string]any); ok {
		f.item = items["type"].(string)
		f.format, _ = items["format"].(string)
	}
	f.Shown = encode(shown)
	var s jsonschema.Schema
	if err := json.Unmarshal(f.Shown, &s); err != nil {
		return nil, n.invalid("", "%v", err)
	}
	if f.checked, err = s.Resolve(nil); err != nil {
		return nil, n.invalid("", "%v", err)
	}
	return f, n.checkEnum(f)
}

// withoutNull returns the schema of the values that a field may have, of a schema that
// allows null too: a field without a value has no memory, so null says nothing. Programs
// write it as a list of types, or as a choice of two schemas.
func (n *node) withoutNull() (*node, error) {
	isNull := func(v any) bool { return v == "null" }
	out := &node{n.at, maps.Clone(n.keys)}
	if list, ok := out.keys["type"].([]any); ok {
		if list = slices.DeleteFunc(slices.Clone(list), isNull); len(list) == 1 {
			out.keys["type"] = list[0]
		}
	}
	choice, ok := out.keys["anyOf"].([]any)
	if !ok {
		return out, nil
	}
	choice = slices.DeleteFunc(slices.Clone(choice), func(v any) bool {
		of, _ := v.(map[string]any)
		return len(of) == 1 && isNull(of["type"])
	})
	if len(choice) != 1 {
		return nil, n.invalid("anyOf", "want one schema, and null beside it")
	}
	inner, ok := choice[0].(map[string]any)
	if !ok {
		return nil, n.invalid("anyOf[0]", "want a JSON schema, which is an object")
	}
	delete(out.keys, "anyOf")
	for key, v := range inner {
		if _, twice := out.keys[key]; !twice {
			out.keys[key] = v
		} else if key != "title" && key != "description" {
			return nil, n.invalid(key, "is beside anyOf and in it")
		}
	}
	return out, nil
}

// value checks the keywords of a schema of values, and returns those that say which are
// valid. lists says that it may be one of a list.
func (n *node) value(lists bool) (map[string]any, error) {
	typ, _ := n.keys["type"].(string)
	want := types
	if !lists {
		want = types[:len(types)-1]
	}
	if !slices.Contains(want, typ) {
		return nil, n.invalid("type", "want one of %s", strings.Join(want, ", "))
	}
	out := map[string]any{"type": typ}
	for _, key := range slices.Sorted(maps.Keys(n.keys)) {
		v := n.keys[key]
		switch {
		case key == "type" || key == "title" || key == "description":
		case annotations[key] != nil:
			if !annotations[key](v) {
				return nil, n.invalid(key, "has a value of the wrong type")
			}
		case slices.Contains(keywords[typ], key):
			out[key] = v
			if err := n.checkKeyword(key, v); err != nil {
				return nil, err
			}
		default:
			return nil, n.invalid(key, "is not known of type %q: want some of %s", typ,
				strings.Join(keywords[typ], ", "))
		}
	}
	if typ == "array" {
		items, ok := n.keys["items"].(map[string]any)
		if !ok {
			return nil, n.invalid("items", "want the schema of the entries")
		}
		of := &node{n.at + ".items", items}
		inner, err := of.value(false)
		if err != nil {
			return nil, err
		}
		out["items"] = inner
	}
	return out, n.checkBounds(typ)
}

// checkKeyword checks the value of a keyword.
func (n *node) checkKeyword(key string, v any) error {
	switch key {
	case "minLength", "maxLength", "minItems", "maxItems":
		if f, ok := v.(float64); !ok || f < 0 || f != math.Trunc(f) || f > 1e9 {
			return n.invalid(key, "want a whole number from 0 on")
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if _, ok := v.(float64); !ok {
			return n.invalid(key, "want a number")
		}
	case "multipleOf":
		if f, ok := v.(float64); !ok || f <= 0 {
			return n.invalid(key, "want a number above 0")
		}
	case "uniqueItems":
		if !isBool(v) {
			return n.invalid(key, "want true or false")
		}
	case "pattern":
		text, ok := v.(string)
		if !ok || len(text) > maxPattern {
			return n.invalid(key, "want a regular expression of at most %d bytes", maxPattern)
		}
		if _, err := regexp.Compile(text); err != nil {
			return n.invalid(key, "want a regular expression of RE2: %v", err)
		}
	case "format":
		if text, ok := v.(string); !ok || formats[text] == nil {
			return n.invalid(key, "want one of %s", strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
		}
	case "enum":
		list, ok := v.([]any)
		if !ok || len(list) == 0 || len(list) > maxEnum {
			return n.invalid(key, "want a list of 1 to %d values", maxEnum)
		}
	}
	return nil
}

// checkBounds refuses bounds that no value is within.
func (n *node) checkBounds(typ string) error {
	number := func(key string) (float64, bool) { f, ok := n.keys[key].(float64); return f, ok }
	for _, pair := range [][2]string{{"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minimum", "maximum"}} {
		least, ok1 := number(pair[0])
		most, ok2 := number(pair[1])
		if ok1 && ok2 && least > most {
			return n.invalid(pair[0], "%v is more than %s %v", least, pair[1], most)
		}
	}
	least, most, low, high := math.Inf(-1), math.Inf(1), "minimum", "maximum"
	if v, ok := number("minimum"); ok {
		least = v
	}
	if v, ok := number("maximum"); ok {
		most = v
	}
	above, below := math.Inf(-1), math.Inf(1)
	if v, ok := number("exclusiveMinimum"); ok {
		above, low = v, "exclusiveMinimum"
	}
	if v, ok := number("exclusiveMaximum"); ok {
		below, high = v, "exclusiveMaximum"
	}
	if above >= below || above >= most || least >= below {
		return n.invalid(low, "there is no number between it and %s", high)
	}
	if typ == "integer" {
		least, most = math.Ceil(max(least, math.Floor(above)+1)), math.Floor(min(most, math.Ceil(below)-1))
		if least > most {
			return n.invalid(low, "there is no integer between it and %s", high)
		}
	}
	return nil
}

// checkEnum refuses values of enums that are not valid themselves, or come twice.
func (n *node) checkEnum(f *Field) error {
	at, keys := n.at, n.keys
	list, ok := keys["enum"].([]any)
	one := func(v any) error { return f.checkValue(v) }
	if items, isItems := keys["items"].(map[string]any); isItems {
		if list, ok = items["enum"].([]any); ok {
			at += ".items"
			bare := *f
			bare.typ, bare.item = f.item, ""
			var s jsonschema.Schema
			if err := json.Unmarshal(encode(withoutText(items)), &s); err != nil {
				return invalid("%s: %v", at, err)
			}
			var err error
			if bare.checked, err = s.Resolve(nil); err != nil {
				return invalid("%s: %v", at, err)
			}
			one = bare.checkValue
		}
	}
	seen := map[string]int{}
	for i, v := range list {
		if err := one(v); err != nil {
			return invalid("%s.enum[%d]: %v", at, i, err)
		}
		text := string(encode(v))
		if j, twice := seen[text]; twice {
			return invalid("%s.enum[%d]: it is enum[%d] too", at, i, j)
		}
		seen[text] = i
	}
	return nil
}

// withoutText leaves out of a schema the keywords that name no values.
func withoutText(keys map[string]any) map[string]any {
	out := maps.Clone(keys)
	maps.DeleteFunc(out, func(key string, _ any) bool {
		return key == "title" || key == "description" || annotations[key] != nil
	})
	return out
}

// checkType reports why a value is not of a type.
func checkType(typ string, v any) error {
	ok := false
	switch typ {
	case "string":
		ok = isText(v)
	case "number":
		_, ok = v.(float64)
	case "integer":
		f, isNumber := v.(float64)
		ok = isNumber && f == math.Trunc(f)
	case "boolean":
		ok = isBool(v)
	case "array":
		ok = isList(v)
	}
	if !ok {
		return fmt.Errorf("want a value of type %s", typ)
	}
	return nil
}

// formats check texts of the formats that are known.
var formats = map[string]func(string) bool{
	"date":      func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
	"date-time": func(s string) bool { _, err := time.Parse(time.RFC3339, s); return err == nil },
	"time":      isTime,
	"email":     func(s string) bool { a, err := mail.ParseAddress(s); return err == nil && a.Address == s },
	"uri":       func(s string) bool { u, err := url.Parse(s); return err == nil && u.IsAbs() },
	"uuid":      regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`).MatchString,
}

// isTime reports whether a text is a time of day, with or without an offset.
func isTime(s string) bool {
	for _, layout := range []string{"15:04", "15:04:05", "15:04:05Z07:00"} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}

// inFormat reports whether a text has a format; "" is any.
func inFormat(format, text string) bool { return format == "" || formats[format](text) }

// read reads one value of JSON. Numbers are float64.
func read(raw []byte) (v any, err error) {
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("it is not UTF-8")
	}
	if err = json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return v, nil
}

// encode writes a value that was read.
func encode(v any) json.RawMessage {
	raw, err := memory.EncodeJSON(v)
	if err != nil { // a value that was read can be written
		panic(err)
	}
	return raw
}

// compact is raw without white space around and within it.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
