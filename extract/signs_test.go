package extract

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/regextest"
)

// Every attempt to take the agent over has one of the signs that are looked for first.
func TestInjectionSigns(t *testing.T) {
	regextest.Passes(t, injection, injects)
}

// Every phrase that wants something forgotten is looked into, however it is
// written.
func TestMayForget(t *testing.T) {
	for ph := range forgetting.All() {
		for _, s := range []string{strings.Join(ph, " "), strings.ToUpper(strings.Join(ph, " ")), strings.Join(ph, "-"), strings.Replace(strings.Join(ph, " "), "t", "\uff54", 1)} {
			if text := "Please " + s + " I live in Porto."; !mayForget(text) {
				t.Errorf("%q is not looked into", text)
			}
		}
	}
	if text := "I live in Porto, and that is all."; mayForget(text) {
		t.Errorf("%q is looked into", text)
	}
}
