package qdrantstore

import (
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// Each word is found with its own count, however odd it is, and never with that
// of a word that it is the end of.
func TestFrequencies(t *testing.T) {
	odd := memory.Terms{"tea": 2, `x"tea`: 3, `,"tea`: 40, `{"tea`: 5, `tea":1,"`: 61, "é": 7, "<b>&": 8, `\`: 9,
		`\"`: 10, "": 11, "\u2028": 12}
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
