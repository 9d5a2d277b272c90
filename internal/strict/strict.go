// Package strict reads JSON as requests bring it: what is wrong with it is told
// in the terms of whoever wrote it, by the field and what is wanted there.
package strict

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/memoryd/memoryd/memory"
)

// Decode reads JSON into v. It refuses unknown fields, fields given twice,
// invalid UTF-8 and what does not fit. in names what is read in the errors, ""
// the whole body of a request; they are ErrInvalid, and name the field.
func Decode(in string, raw []byte, v any) error {
	return describe(in, json.Unmarshal(raw, v, json.RejectUnknownMembers(true)))
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// describe tells a decoding error in the terms of the request.
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
		case errors.Is(err, memory.ErrInvalid): // a type of ours, which says why
			why := strings.TrimPrefix(semantic.Err.Error(), memory.ErrInvalid.Error()+": ")
			return invalid("%s: %s", at, strings.TrimPrefix(why, "time: "))
		case semantic.GoType != nil:
			return invalid("%s: want %s, not %s", orBody(at), wanted(semantic.GoType), kindName(semantic.JSONKind))
		}
	}
	return invalid("%s: %v", orBody(in), err)
}

// field turns /events/0/id into events[0].id.
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
		out = strings.ToValidUTF8(out[:200], "") + "…"
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
