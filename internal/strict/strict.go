// Package strict reads and writes the JSON of requests and answers. Reading
// refuses all that two readers could understand differently, and says in the
// terms of the request which field is wrong and what is wanted there; writing
// gives the same bytes for the same value.
//
// It is over go-json-experiment, the module that Go's encoding/json/v2 is
// developed in: encoding/json accepts a field twice, in any case and with invalid
// UTF-8, and cannot say where in a list a field is wrong. Package storedjson reads
// what stores of memories keep by the same module, and all other JSON is
// encoding/json's.
package strict

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Decode reads JSON into v. It refuses unknown fields, fields given twice,
// invalid UTF-8, and values of the wrong type. in names the value in errors; ""
// stands for the whole body of a request. Errors are ErrInvalid and name the
// field.
func Decode(in string, raw []byte, v any) error {
	return describe(in, json.Unmarshal(raw, v, json.RejectUnknownMembers(true)))
}

// Elements splits a JSON list, whose elements are parts of raw. It reads no
// further than max elements, of which many more could fit into a body than into
// memory: a longer list gives max+1.
func Elements(raw []byte, max int) ([]stdjson.RawMessage, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw)) // which it does not copy
	if _, err := dec.ReadToken(); err != nil {
		return nil, describe("", err)
	}
	var out []stdjson.RawMessage
	for dec.PeekKind() != ']' && len(out) <= max {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, describe("", err)
		}
		out = append(out, stdjson.RawMessage(v[:len(v):len(v)]))
	}
	return out, nil
}

// MapText returns valid JSON with change applied to all of its texts, names of
// fields included. Order, numbers and nesting stay.
func MapText(raw []byte, change func(string) string) ([]byte, error) {
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		t, err := dec.ReadToken()
		if err == io.EOF {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(change(t.String()))
		}
		if err == nil {
			err = enc.WriteToken(t)
		}
		if err != nil {
			return nil, err
		}
	}
}

// times writes every time in the form that all answers share.
var times = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
	return enc.WriteToken(jsontext.String(sessionstore.FormatTime(t)))
}))

// Encode writes v as JSON: an empty list or map as such, never as null, map keys
// in order, and times as [sessionstore.FormatTime] does.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, times, json.Deterministic(true))
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// describe puts a decoding error into the terms of the request.
func describe(in string, err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return invalid("field %q is given twice", field(in, syntax.JSONPointer))
		}
		return invalid("%s is not valid JSON at byte %d: %v", orBody(in), syntax.ByteOffset, syntax.Err)
	case errors.As(err, &semantic):
		at := field(in, semantic.JSONPointer)
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return invalid("unknown field %q", at)
		case errors.Is(err, memory.ErrInvalid): // from an UnmarshalJSON of this module, which says why
			why := strings.TrimPrefix(semantic.Err.Error(), memory.ErrInvalid.Error()+": ")
			return invalid("%s: %s", at, strings.TrimPrefix(why, "time: "))
		case semantic.GoType != nil:
			return invalid("%s: want %s, not %s", orBody(at), wanted(semantic.GoType), kindName(semantic.JSONKind))
		}
	}
	return invalid("%s: %v", orBody(in), err)
}

// field writes the pointer /events/0/id as events[0].id, cut to 200 bytes.
func field(in string, p jsontext.Pointer) string {
	var b strings.Builder
	b.WriteString(in)
	for tok := range p.Tokens() {
		if _, err := strconv.Atoi(tok); err == nil {
			b.WriteString("[" + tok + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(tok)
	}
	out := b.String()
	if len(out) > 200 {
		out = memory.Cut(out, 200) + "…"
	}
	return out
}

func orBody(field string) string {
	if field == "" {
		return "body"
	}
	return field
}

func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number within its range"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "that number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return "that"
}
