package canonical

import (
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// Words that are folded stay in the order of their bytes, as readers cut names and numbers out of the text by them.
func TestFoldedWordsAreInOrder(t *testing.T) {
	for text, want := range map[string]string{
		"Ann Lee is my boss, and now I report to her at 5":   "my boss is ann lee and i report to her at 5 now",
		"I learned to fry okra and now I adore it":           "i learned to fry okra and i adore okra now",
		"My landlord put the rent up and it's 900 now":       "my landlord put the rent up and my rent is 900 now",
		"A fox took two of our hens, so we're down to six":   "a fox took 2 of our hens so we are down to 6 hens",
		"Our family had to move to Rome on the second try":   "we moved to rome",
		"My twins had their fifth birthday, so now we party": "my twins had their 5th birthday so we party now",
	} {
		ws := resolved(folded(english.Lex(text)))
		if got := ws.String(); got != want {
			t.Errorf("%q is folded to %q, want %q", text, got, want)
		}
		for i := range ws {
			if ws[i].Start > ws[i].End || i > 0 && ws[i].Start < ws[i-1].Start {
				t.Errorf("%q: %q stands at %d to %d, behind %+v", text, ws[i].Text, ws[i].Start, ws[i].End, ws[max(0, i-1)])
			}
		}
	}
}
