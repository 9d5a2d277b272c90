package extract

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// The ids of stored turns are made of their texts, so the text of a turn must stay
// what the plain definition gives.
func TestWithoutBlocks(t *testing.T) {
	block := regexp.MustCompile(`(?s)<PAST_CONVERSATIONS>.*?(</PAST_CONVERSATIONS>|$)`)
	long := strings.Repeat("é", memory.MaxFact/2-1)
	parts := []string{"", " ", "a", "é\n", blockBegins, blockEnds, "\u2003 b", long, long + "x", strings.Repeat(" ", memory.MaxFact)}
	var try func(text string, n int)
	try = func(text string, n int) {
		want := memory.Cut(strings.TrimSpace(block.ReplaceAllString(text, "\n")), memory.MaxFact)
		if got := withoutBlocks(text); got != want {
			t.Errorf("%s: %d bytes, want %d", fmt.Sprintf("%.60q of %d bytes", text, len(text)), len(got), len(want))
		}
		for _, p := range parts {
			if n > 0 {
				try(text+p, n-1)
			}
		}
	}
	try("", 3)
	for _, text := range []string{
		"a" + blockBegins + "b" + blockEnds + "c" + blockBegins + "d" + blockBegins + "e" + blockEnds + " f" + blockEnds,
		blockBegins + blockEnds + " \n " + blockBegins + "x" + blockEnds + "  end  ",
		"x" + blockBegins + "never ends " + long,
		long + blockBegins + blockEnds + "   " + blockBegins + blockEnds + " tail ",
	} {
		try(text, 0)
	}
}
