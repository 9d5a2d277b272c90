package canonical

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normalize folds what a speaker of any language varies without meaning anything
// by it: letter case (Unicode folding, so "STRASSE" is "straße"), compatibility
// forms (NFKC: full width, ligatures), curly quotes, runs of space, and
// punctuation at the end. Words and their order count, as do marks inside the
// fact. A fact of space and punctuation alone becomes the empty string.
func Normalize(fact string) string {
	s := norm.NFKC.String(strings.ToValidUTF8(fact, "\uFFFD"))
	// Folding turns small Cherokee letters into capitals, and may undo the
	// composition. A Caser has state, so each call has its own.
	s = norm.NFKC.String(strings.ToLower(cases.Fold().String(s)))
	s = straightQuotes.Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
}

var straightQuotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`)
