package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number reads a JSON number, also one that a service writes as a string. Null
// is 0.
type number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		return fmt.Errorf("want a number, not %.60s", raw)
	}
	*n = number(f)
	return nil
}

// usage has the tokens of a call. A form that cannot be read counts as none: an
// answer is worth more than its price tag.
type usage struct {
	PromptTokens     number `json:"prompt_tokens"`
	CompletionTokens number `json:"completion_tokens"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *usage) UnmarshalJSON(raw []byte) error {
	type fields usage
	var f fields
	if json.Unmarshal(raw, &f) == nil {
		*u = usage(f)
	}
	return nil
}

// text reads a string, or the texts of a list of parts. Of any other value it is
// the JSON: a service may give the object that was asked for without quoting it.
// Null is "".
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	var s string
	var parts []struct {
		Text *string `json:"text"`
	}
	switch {
	case json.Unmarshal(raw, &s) == nil:
		*t = text(s)
	case json.Unmarshal(raw, &parts) == nil:
		for _, p := range parts {
			if p.Text != nil {
				*t += text(*p.Text)
			}
		}
	default:
		*t = text(raw)
	}
	return nil
}

// vector reads a list of numbers, or base64 of little-endian 32-bit floats: some
// services answer so whatever encoding_format asks for. Its numbers have 64 bits,
// so that one too large for 32 is found out later.
type vector []float64

// UnmarshalJSON implements json.Unmarshaler.
func (v *vector) UnmarshalJSON(raw []byte) error {
	var packed []byte
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		var err error
		if packed, err = base64.StdEncoding.DecodeString(s); err != nil || len(packed)%4 != 0 {
			return errors.New("the vector is a string, but not base64 of 32-bit floats")
		}
		for ; len(packed) > 0; packed = packed[4:] {
			*v = append(*v, float64(math.Float32frombits(binary.LittleEndian.Uint32(packed))))
		}
		return nil
	}
	if json.Unmarshal(raw, (*[]float64)(v)) == nil {
		return nil
	}
	var numbers []number
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return err
	}
	*v = make(vector, len(numbers))
	for i, n := range numbers {
		(*v)[i] = float64(n)
	}
	return nil
}

// unreadable describes an answer that is not what the API answers, without the
// types of this package.
func unreadable(err error) error {
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return fmt.Errorf("the answer has a JSON %s in the place %q", kind.Value, kind.Field)
	}
	return fmt.Errorf("the answer cannot be read as JSON: %w", err)
}
