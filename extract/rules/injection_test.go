package rules

import (
	"testing"

	"github.com/memoryd/memoryd/internal/regextest"
)

// Every attempt to take the agent over has one of the signs that are looked for first.
func TestInjectionSigns(t *testing.T) {
	regextest.Passes(t, injection, injects)
}
