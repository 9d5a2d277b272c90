package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// EncodeJSON writes v as JSON for a store. Unlike json.Marshal it leaves <, >
// and & as they are, so that metadata comes back as it was written.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// DecodeJSON reads what EncodeJSON wrote.
func DecodeJSON(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("stored memory: %w", err)
	}
	return nil
}

// CanonicalJSON writes a JSON value in one way, however it was written: 1 and
// 1.0 are the same, and so are values that differ only in white space or in the
// order of an object's fields. Bytes that are not JSON come back unchanged.
func CanonicalJSON(raw json.RawMessage) string {
	v, err := readJSON(raw)
	if err != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil { // a value that was read can be written
		panic(err)
	}
	return string(out)
}

// SameJSON reports whether a and b are the same value; see CanonicalJSON.
func SameJSON(a, b json.RawMessage) bool {
	return string(a) == string(b) || CanonicalJSON(a) == CanonicalJSON(b)
}

func readJSON(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return exactNumbers(v), err
}

// exactNumbers turns the numbers in v into float64 where that is exact.
// Integers from 2^53 on stay as they are written, as float64 does not tell them
// apart.
func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && math.Abs(f) < 1<<53 {
			return f + 0 // -0 is 0
		}
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	}
	return v
}
