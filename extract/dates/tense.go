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

// direction reads from the words whether the date at byte i of the sentence is told in the past, by the nearest verb
// before it, or else by the nearest behind it. Without any verb that tells a tense the date is ahead, and not sure.
//
// A sure direction is that of the date, and not only of the verb: "I'm tired from the race on Sunday" tells of now,
// and "I got tickets on Friday" may tell of a Friday to come. "Since" leads to the past in any tense. Words before
// byte from belong to another date.
func direction(ws english.Words, from, i int) (inPast, sure bool) {
	verb, nearest := -1, noTense
	date := len(ws)
	for j := range ws {
		if ws[j].Start >= i {
			date = min(date, j)
			if nearest != noTense {
				break
			}
		}
		if t := tenseOf(ws, j); t != noTense {
			verb, nearest = j, t
		}
	}
	lead := verb + 1 // the words that lead from the verb to the date
	for lead < date && ws[lead].Start < from {
		lead++
	}
	between := ws[min(lead, date):date]
	if between.Has("since") {
		return true, true
	}
	sure = nearest != noTense
	if n := len(between); n > 0 && english.Articles.Has(between[n-1].Text) {
		between = between[:n-1]
	}
	if n := len(between); n > 0 && between[:n-1].Any(detours) {
		sure = false
	}
	if nearest == past && !tellPast.Has(ws[verb].Text) && ws.Any(arrangements) {
		sure = false
	}
	if verb >= date && nearest == past && (rearranged.Has(ws[verb].Text) || rearranged.Has(ws.At(verb+1))) &&
		!ws[:date].Has("i") && !ws[:date].Has("we") {
		sure = false // "the concert on Friday sold out" may be of a Friday to come
	}
	return nearest == past, sure
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
		return aheadIf(before == "am" || before == "are" || before == "is" || j == 0)
	case tenseless.Has(before), strings.HasSuffix(before, "ing"):
		return noTense // "to visit", "will be booked", "am excited"
	case english.Past(w):
		return past
	case english.PresentVerbs.Has(w):
		return aheadIf(before == "i" || before == "we" || before == "they")
	case strings.HasSuffix(w, "s"):
		return aheadIf(english.PresentVerbs.Has(strings.TrimSuffix(w, "s"))) // "my flight leaves"
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
