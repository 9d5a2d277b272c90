package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normalize is the key under which two facts are exact duplicates: it folds
// what a speaker varies without meaning anything by it. That is letter case
// (Unicode folding, so "STRASSE" is "straße"), compatibility forms (NFKC: full
// width, ligatures), curly quotes, runs of space, and punctuation at the end.
// Words and their order count, as do marks inside the fact. The empty string
// comes out where a fact has nothing but space and punctuation.
func Normalize(fact string) string {
	s := norm.NFKC.String(strings.ToValidUTF8(fact, "\uFFFD"))
	// Folding makes capitals of small Cherokee letters, and may undo the
	// composition; a Caser has state, so each call has its own.
	s = norm.NFKC.String(strings.ToLower(cases.Fold().String(s)))
	s = straightQuotes.Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
}

var straightQuotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`)
