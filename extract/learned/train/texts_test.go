package main

import (
	"strings"
	"testing"
)

// Every pattern can be said, and has nothing of a pattern left.
func TestTexts(t *testing.T) {
	texts, err := readTexts(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range texts.lines {
		for range 5 {
			if said := texts.say(l.pattern); said == "" || strings.ContainsAny(said, "(){}|") {
				t.Errorf("%q says %q", l.pattern, said)
			}
		}
	}
	bears := make([]int, len(texts.labels))
	for _, l := range texts.lines {
		for _, k := range l.labels {
			bears[k]++
		}
	}
	for k, n := range bears {
		if n < 2 {
			t.Errorf("label %s has %d patterns, want at least 2", texts.labels[k], n)
		}
	}
}
