package ingest

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

func TestLead(t *testing.T) {
	words := strings.Repeat("goats ", 59) + "eat" // 357 characters
	for text, want := range map[string]string{
		"":                        "",
		words:                     words,
		words + " hay":            words,         // 361
		words + " of":             words + " of", // 360
		words + "\nof hay":        words + "\nof",
		strings.Repeat("山羊", 200): strings.Repeat("山羊", 180),
		// A space near the start ends nothing.
		"嗨 " + strings.Repeat("山羊", 200): "嗨 " + strings.Repeat("山羊", 179),
	} {
		if got := lead(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The built-in embedder sees the first words of a turn. A model sees all of it, and either all of a fact.
func TestEmbedded(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("goats eat hay ", 100))
	turn, fact := memory.Memory{Kind: memory.KindTurn, Fact: long}, memory.Memory{Kind: memory.KindFact, Fact: long}
	if len(embedded(&turn, false)) > maxLead || embedded(&turn, true) != long || embedded(&fact, false) != long {
		t.Errorf("%d, %d and %d bytes", len(embedded(&turn, false)), len(embedded(&turn, true)), len(embedded(&fact, false)))
	}
}
