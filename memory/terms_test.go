package memory_test

import (
	"maps"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// Stored words are read as they were written, also one at a time.
func TestDecodeTerms(t *testing.T) {
	odd := memory.Terms{"tea": 2, `x"tea`: 3, `,"tea`: 40, `{"tea`: 5, `tea":1,"`: 61, "é": 7, "<b>&": 8, `\`: 9,
		`\"`: 10, "": 11, "\u2028": 12}
	all := []memory.Terms{odd, {}, nil, {"a,b}": 1, "c:d": 2}}
	for word, n := range odd {
		all = append(all, memory.Terms{word: n})
	}
	for _, want := range all {
		text, err := memory.EncodeJSON(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := memory.DecodeTerms(string(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{", `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":x}`, `{"a":1 `, `{a:1}`, `[1]`} {
		if got, err := memory.DecodeTerms(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
