package dates

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// tense is what a verb tells of the time of its clause.
type tense int

const (
	noTense tense = iota
	past
	ahead // the present counts as ahead
)

// toldInPast reads the tense at byte i of the sentence from the nearest verb before it, or else from the nearest
// behind it. Without any verb that tells a tense, the date is ahead.
func toldInPast(ws english.Words, i int) bool {
	nearest := noTense
	for j := range ws {
		if ws[j].Start >= i && nearest != noTense {
			break
		}
		if t := tenseOf(ws, j); t != noTense {
			nearest = t
		}
	}
	return nearest == past
}

// tenseOf is the tense that word j tells, if it is a verb that tells one.
func tenseOf(ws english.Words, j int) tense {
	w, before := ws[j].Text, ws.At(j-1)
	switch {
	case tellPast.Has(w):
		return past
	case tellAhead.Has(w):
		return ahead
	case strings.HasSuffix(w, "ing"):
		return aheadIf(before == "am" || before == "are" || before == "is")
	case tenseless.Has(before), strings.HasSuffix(before, "ing"):
		return noTense // "to visit", "will be booked", "am excited"
	case english.Past(w):
		return past
	case english.PresentVerbs.Has(w):
		return aheadIf(before == "i" || before == "we")
	}
	return noTense
}

// aheadIf is ahead if an auxiliary or a pronoun before a verb makes it finite.
func aheadIf(b bool) tense {
	if b {
		return ahead
	}
	return noTense
}

// annual reports whether a sentence tells of something that comes every year, so that a day without its year is a day
// of each of them.
func annual(ws english.Words) bool { return ws.Any(annualWords) }
