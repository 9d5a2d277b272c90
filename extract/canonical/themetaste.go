package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// The tables of tastes have the forms of the speaker: "love", "am fond of". The tastes of others are told in the third
// person. So the verb is put into the form that the speaker would use, and the same tables read both.

// tasteAsSpeaker is ws, what somebody else likes or dislikes, as they would say it: "love running" for "loves running".
// Somebody who "has" come to it has turned.
func tasteAsSpeaker(ws english.Words) (said english.Words, turned bool) {
	if len(ws) < 2 {
		return ws, false
	}
	said = slices.Clone(ws)
	switch w := said[0].Text; {
	case w == "is":
		said[0].Text = "am"
	case w == "has":
		said[0].Text, turned = "have", true
	case w == "does":
		said[0].Text = "do"
	default:
		said[0].Text = strings.TrimSuffix(w, "s")
	}
	if tasteOf(said) == 0 {
		return ws, false
	}
	return said, turned
}

// tasteOf tells whether ws begins with a verb of taste.
func tasteOf(ws english.Words) int {
	for i := 0; i < min(len(ws), 4); i++ {
		n, m := themeLikes.Match(ws, i), themeHates.Match(ws, i)
		switch {
		case m > n:
			return -1
		case n > 0:
			return 1
		}
	}
	return 0
}
