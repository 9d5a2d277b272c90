package qdrantstore

import (
	"maps"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// odd are words that JSON writes in other ways.
var odd = memory.Terms{"tea": 2, `x"tea`: 3, `,"tea`: 40, `{"tea`: 5, `tea":1,"`: 61, "é": 7, "<b>&": 8, `\`: 9,
	`\"`: 10, "": 11, "\u2028": 12}

// Stored words are read as they were written, also one at a time.
func TestReadTerms(t *testing.T) {
	all := []memory.Terms{odd, {}, nil, {"a,b}": 1, "c:d": 2}}
	for word, n := range odd {
		all = append(all, memory.Terms{word: n})
	}
	for _, want := range all {
		text, err := memory.EncodeJSON(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readTerms(string(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{", `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":x}`, `{"a":1 `, `{a:1}`, `[1]`} {
		if got, err := readTerms(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Each word is found with its own count, however odd it is, and never with that
// of a word that it is the end of.
func TestFrequencies(t *testing.T) {
	text, err := memory.EncodeJSON(odd)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range odd {
		name, err := memory.EncodeJSON(word)
		if err != nil {
			t.Fatal(err)
		}
		sr := &search{quoted: []string{string(name) + ":", `"absent":`}}
		if got := sr.frequencies(string(text)); got[0] != want || got[1] != 0 {
			t.Errorf("%q: %v, want %d and 0, in %s", word, got, want, text)
		}
	}
}
