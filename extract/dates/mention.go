package dates

import (
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Possible reports whether a sentence may have a date, by a glance at its words. It spares most sentences [Find], which
// takes longer than all other reading of them.
func Possible(ws english.Words) bool {
	for i := range ws {
		if names(ws, i) || mentions(ws, i) {
			return true
		}
	}
	return false
}

// Named reports whether a sentence seems to name a time other than today. Words that are often no date ("may") do not
// count.
func Named(ws english.Words) bool {
	for i := range ws {
		if names(ws, i) {
			return true
		}
	}
	return false
}

// names reports whether word i is of a date.
func names(ws english.Words, i int) bool {
	w, before, next := ws[i], ws.At(i-1), ws.At(i+1)
	switch {
	case english.DateWords.Has(w.Text) && before != "every" && before != "each",
		w.Text == "this" && calendarSpan.Has(next),
		relatives.Has(w.Text) && english.Periods.Has(next),
		dateUnits.Has(w.Text) && countedAhead(ws[:i]),
		w.Upper && (w.Text == "march" || w.Text == "may" && i > 0): // "May I" begins a question
		return true
	}
	return yearNumber(w.Text)
}

// mentions reports whether word i is today, or is often no date.
func mentions(ws english.Words, i int) bool {
	w := ws[i].Text
	if english.WeakDateWords.Has(w) || w == "this" && english.Periods.Has(ws.At(i+1)) {
		return true
	}
	day, _, ok := strings.Cut(w, "'") // "yesterday's"
	return ok && (english.DateWords.Has(day) || english.WeakDateWords.Has(day))
}

// yearNumbers are years as people write them: 2019, or '19 at the end of a word.
var yearNumbers = regexp.MustCompile(`\b` + years + `\b|['’]\d\d$`)

// yearNumber reports whether w is or has a year. Few words have a digit, which costs less to see.
func yearNumber(w string) bool {
	return len(w) >= len("'19") && strings.ContainsAny(w, "0123456789") && yearNumbers.MatchString(w)
}

// countedAhead reports whether ws ends in "in two" or the like, of four words at most: "in a couple of".
func countedAhead(ws english.Words) bool {
	for i := len(ws) - 1; i >= max(0, len(ws)-4); i-- {
		w := ws[i].Text
		if w == "in" {
			return len(ws) > 1
		}
		if !countWords.Has(w) && w != "of" && !english.StartsWithDigit(w) {
			return false
		}
	}
	return false
}
