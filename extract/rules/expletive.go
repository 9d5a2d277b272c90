package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// "It" and "there" often stand for nothing: "it rains", "there is". Such words lean on nothing.

// emptyIt reports whether "it" at i stands for nothing, or for words behind it: "it rains", "it is hard to", "make it
// to the final".
func (r references) emptyIt(i int) bool {
	before := r.At(i - 1)
	if before == "believe" && r.At(i+1) == "or" {
		return true // "believe it or not"
	}
	if r.feltOf(i) {
		return true
	}
	if before == "make" || before == "made" || before == "making" {
		return r.madeIt(i)
	}
	j := r.skipAdverbs(i + 1)
	for english.Modals.Has(r.At(j)) || r.At(j) == "will" || r.At(j) == "has" || r.At(j) == "had" {
		j = r.skipAdverbs(j + 1)
	}
	if r.At(j+1) == "been" { // "it's been 10 years"
		j++
	}
	verb, next := r.At(j), r.At(r.skipAdverbs(j+1))
	switch verb {
	case "comes", "came":
		return before == "when"
	case "is", "was", "be", "been", "gets", "got", "feels", "felt", "means", "meant":
		named := r.skipAdverbs(j+1) < len(r.Words) && r.Words[r.skipAdverbs(j+1)].Upper // "it is Seattle"
		own := (next == "my" || next == "our") && english.OwnNouns.Has(r.At(j+2))       // "it is my birthday"
		return weather.Has(next) || english.StartsWithDigit(next) || r.countsAtHome(r.skipAdverbs(j+1)) || named ||
			own || next == "time" || r.completed(j+1) || r.cleft(j+1)
	case "when", "if", "that": // "I love it when", but "I hope it when"
		return r.tastesBefore(i)
	}
	return weather.Has(verb) || emptyIt.Has(verb) && r.completesWithin(j+1, 8) ||
		english.Evaluative.Has(verb) && r.tastesBefore(i) && r.completed(i+1)
}

// countsAtHome reports whether a number at i counts what a home has: "it is just one car at home", "it is four goats
// now".
func (r references) countsAtHome(i int) bool {
	home := r.At(i+2) == "at" && r.At(i+3) == "home"
	return smallNumbers.Has(r.At(i)) && (home || r.At(i+2) == "now" && isPlural(r.At(i+1)))
}

// feltOf reports whether "it" at i is all that the sentence says before: "I'm single and happy with it".
func (r references) feltOf(i int) bool {
	before, mood := r.At(i-1), r.At(i-2)
	return (before == "with" || before == "about" || before == "of") &&
		(english.Moods.Has(mood) || english.Evaluative.Has(mood)) && tailJoints.Has(r.At(i-3))
}

// madeIt reports whether "it" at i is part of "made it", as in "made it home", "made it in time".
func (r references) madeIt(i int) bool {
	next := r.At(i + 1)
	timely := (next == "in" || next == "on") && r.At(i+2) == "time"
	return next == "to" || madeIt.Has(next) || timely || r.completed(i+1)
}

// cleft reports whether the noun at i is the object of the clause behind it: "it is payroll I am taking".
func (r references) cleft(i int) bool {
	for j := i; j < min(len(r.Words)-1, i+3); j++ {
		if r.Words[j].Stop != 0 || !r.noun(j) {
			return false
		}
		if next := r.At(j + 1); next == "i" || next == "we" {
			return true
		}
	}
	return false
}

// tastesBefore reports whether the word before i is a verb that may have an "it" for what follows: "I find it hard to".
func (r references) tastesBefore(i int) bool {
	before := r.At(i - 1)
	return english.Likings.Has(before) || before == "find" || before == "found" || before == "appreciate"
}

// skipAdverbs is the index of the first word from i on that is no adverb. "Not" is none here.
func (r references) skipAdverbs(i int) int {
	for w := r.At(i); w != "not" && english.Adverbs.Has(w) || degree.Has(w) || w == "getting"; w = r.At(i) {
		i++
	}
	return i
}

// completed reports whether a judgement begins at i, and behind it what it is of: "great to meet people", "such a
// shame that", "hard for me when", "10 years since". With another noun in the judgement it is of something said
// before: "it is a way to relax".
func (r references) completed(i int) bool {
	for j := i; j < len(r.Words); j++ {
		switch w := r.At(j); {
		case j > i && (w == "to" || w == "that" || w == "since" || subordinates.Has(w) && w != "it"):
			return j+1 < len(r.Words)
		case j > i && strings.HasSuffix(w, "ing") && !english.Evaluative.Has(w) && !english.Moods.Has(w):
			return true
		case w == "for" || w == "of": // "for me", "of him"
			j++
		case english.Evaluative.Has(w), english.Moods.Has(w), english.Articles.Has(w), english.Adverbs.Has(w),
			degree.Has(w), w == "an", w == "such", w == "no", w == "always", generic.Has(w), judged.Has(w),
			strings.HasSuffix(w, "ing"), english.StartsWithDigit(w), smallNumbers.Has(w),
			english.Periods.Has(strings.TrimSuffix(w, "s")):
		default:
			return false
		}
		if r.Words[min(j, len(r.Words)-1)].Stop != 0 {
			return false
		}
	}
	return false
}

// completesWithin reports whether one of the n words from i on begins the words that an empty "it" stands for: "it
// takes me an hour", "it seems that".
func (r references) completesWithin(i, n int) bool {
	for j := i; j < min(len(r.Words), i+n); j++ {
		switch w := r.At(j); w {
		case "to", "that", "like", "me", "us", "hour", "hours", "minutes", "years", "months", "weeks", "days":
			return true
		}
		if r.Words[j].Stop != 0 {
			return false
		}
	}
	return false
}

// emptyThere reports whether "there" at i names no place: "there is", "I am there for him", "out there".
func (r references) emptyThere(i int) bool {
	next, before := r.At(i+1), r.At(i-1)
	verb := english.Auxiliaries.Has(next) || next == "seems" || next == "used" || next == "comes"
	for english.Adverbs.Has(before) {
		i--
		before = r.At(i - 1)
	}
	be := english.Auxiliaries.Has(before) || before == "be" || before == "been" || before == "being"
	hang := before == "in" && r.At(i-2) == "hang"
	return verb || next == "for" && be || before == "out" || before == "hi" || before == "hey" || hang
}

// introduces reports whether "this" or "that" at i presents what follows: "This is my wife".
func (r references) introduces(i int) bool {
	next := r.At(i + 1)
	is := next == "is" || next == "was" || next == "are" || next == "were"
	return i == r.from && is && english.Words(r.Words[i+1:min(len(r.Words), i+5)]).Any(firstPerson)
}
