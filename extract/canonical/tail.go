package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// What people add behind a statement has any form: "I weigh 86 kilos this morning, after five months of the plan". The
// readers of statements know some of these forms. So a fact of which they make nothing is read without them.

// withoutTails are the claims and themes of the statement before a mark in a fact of which claims, none of them firm,
// are all that was read. What is behind the mark must not bound the statement or deny it: "I might be in Porto, if it
// works out".
func withoutTails(fact string, claims []Claim, themes []theme) ([]Claim, []theme) {
	if strings.Contains(fact, "?") || firm(claims) {
		return claims, themes
	}
	ws := english.Lex(fact)
	if len(ws) > english.MaxSentenceWords || !beginsStatement(ws) {
		return claims, themes
	}
	for i := min(len(ws)-2, maxTailStart); i >= minStatement; i-- {
		end := min(ws[i].End, ws[i+1].Start)                      // the words of "I'm" share their bytes
		mark := strings.IndexAny(fact[end:ws[i+1].Start], ",;–—") // ")," behind a date
		if mark < 0 || !isTail(ws[i+1:]) {
			continue
		}
		again, told, _ := claimsOf(fact[:end+mark])
		if firm(again) {
			return again, told
		}
	}
	return claims, themes
}

const (
	minStatement = 2  // the least index of the last word of a statement: "I am vegan"
	maxTailStart = 30 // words of a fact behind which no tail is looked for
)

// firm reports whether one of claims may end another.
func firm(claims []Claim) bool {
	for _, c := range claims {
		if !c.Loose {
			return true
		}
	}
	return false
}

// beginsStatement reports whether a fact begins with the subject of a statement of the speaker's or theirs. "When I
// lived in Porto, I had a cat" begins with a time.
func beginsStatement(ws english.Words) bool {
	switch ws.At(0) {
	case "i", "we", "my", "our":
		return true
	}
	return len(ws) > 2 && ws[0].Upper && personVerbs.Has(ws[1].Text)
}

// isTail reports whether the words behind a mark may be left out: they neither bound the statement before it nor make
// it doubtful.
func isTail(ws english.Words) bool {
	if ws[0].Text == "but" || ws[0].Text == "and" || conditions.Has(ws[0].Text) || boundingTails.Match(ws, 0) > 0 {
		return false
	}
	return !ws.Any(tailDoubts) && !(len(ws) < 3 && ws.Has("not"))
}
