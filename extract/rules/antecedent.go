package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A pronoun stands for a noun before it. No table has all nouns: a word that the tables know for nothing else is one.

// before reports whether one of the words before i is what kind looks for.
func (r references) before(i int, kind func(int) bool) bool {
	for k := range i {
		if k == i-2 && english.Prepositions.Has(r.At(i-1)) {
			continue // "reminders of it"
		}
		if kind(k) && !r.vocative(k) {
			return true
		}
	}
	return false
}

// endsPhrase reports whether no noun follows the word at i: "I did that", "that was hard".
func (r references) endsPhrase(i int) bool {
	next := r.At(i + 1)
	if next == "" || r.Words[i].Stop != 0 {
		return true
	}
	after := r.At(i + 2)
	painted := english.Past(next) && r.Words[i+1].Stop == 0 && after != "" && !english.StopWords.Has(after)
	if contentNoun(next) || english.Evaluative.Has(next) || painted { // "this painted bowl"
		return false
	}
	return english.StopWords.Has(next) || english.Prepositions.Has(next) || english.Adverbs.Has(next) ||
		english.Auxiliaries.Has(next) || finiteVerb(next)
}

// subjectOf reports whether the word at k is in the subject of the verb whose object is at i, so that the object is
// somebody else: "my boyfriend does not like him".
func (r references) subjectOf(k, i int) bool {
	if k > r.start(i)+2 || i-k > 6 {
		return false
	}
	for j := k; j < i; j++ {
		w := r.At(j)
		if r.Words[j].Stop != 0 || english.Prepositions.Has(w) && w != "like" || tailJoints.Has(w) ||
			subordinates.Has(w) || speakerWords.Has(w) && j > k || w == "that" || w == "to" {
			return false
		}
	}
	return true
}

// vocative reports whether the word at i is the name of the listener: "Thanks, Tom!", "Yeah, Ann."
func (r references) vocative(i int) bool {
	w := r.Words[i]
	if !w.Upper {
		return false
	}
	opens := i == 0 || r.Words[i-1].Stop != 0
	closes := i+1 == len(r.Words) || w.Stop != 0
	greeted := i > 0 && (greetings.Has(r.At(i-1)) || r.At(i-1) == "thanks" || yes.Has(r.At(i-1)))
	return closes && (opens || greeted)
}

// noun reports whether the word at i is likely a noun. The tables know verbs and function words; the rest are nouns
// and adjectives.
func (r references) noun(i int) bool {
	w, before, next := r.At(i), r.At(i-1), r.At(i+1)
	led := english.Articles.Has(before) || before == "our" || before == "this" || english.Prepositions.Has(before)
	switch {
	case w == "", english.StartsWithDigit(w), smallNumbers.Has(w), ageNumbers.Has(w), notSubjects.Has(w),
		interjections.Has(w), r.verbForm(i):
		return false
	case english.StopWords.Has(w), english.Moods.Has(w):
		return led && contentNoun(w)
	case (degree.Has(before) || beForms.Has(before)) && !r.Words[i].Upper && !strings.HasSuffix(w, "s") &&
		next != "i" && next != "we":
		return false // "I am eager to try it"
	case english.Adverbs.Has(w), strings.HasSuffix(w, "ly"), english.TalkVerbs.Has(w), english.Likings.Has(w),
		english.PresentVerbs.Has(w):
		return led && before != "to"
	case strings.HasSuffix(w, "ing"):
		determined := english.Pronouns.Has(next) || english.Deictic.Has(next)
		object := determined || next != "" && !english.StopWords.Has(next) && !english.Adverbs.Has(next)
		held := object && r.Words[i].Stop == 0 // "holding it", "teaching people"
		return !held && !english.Auxiliaries.Has(before) && before != "been" &&
			(led || i > r.start(i) || english.Auxiliaries.Has(next))
	case english.Past(w):
		return led && next != "" && english.StopWords.Has(next)
	}
	return true
}

// verbForm reports whether the word at i is the plain form of a verb that no table need have: "to add it", "I will
// definitely add".
func (r references) verbForm(i int) bool {
	k := i - 1
	for english.Adverbs.Has(r.At(k)) {
		k--
	}
	before, next := r.At(k), r.At(i+1)
	if r.Words[i].Upper || r.Words[i].Stop != 0 {
		return false // "I went to Rome, that is"
	}
	if before == "to" {
		return objects.Has(next) || english.Pronouns.Has(next) || english.Articles.Has(next) || next == "our"
	}
	return english.Modals.Has(before) || before == "will" || before == "do" || before == "did" || before == "i" ||
		before == "we" || before == "you" || before == "they"
}

// contentNoun reports whether a word that says little is a noun all the same: "a time", "my dream".
func contentNoun(w string) bool {
	return english.Periods.Has(strings.TrimSuffix(w, "s")) || w == "day" || w == "days" || plainNouns.Has(w)
}

// start is where the sentence of the word at i begins.
func (r references) start(i int) int {
	if i >= r.from {
		return r.from
	}
	return 0
}

// thing reports whether "it" may stand for the word at i.
func (r references) thing(i int) bool {
	return r.noun(i) && !persons.Has(r.At(i))
}

// person reports whether "he" or "she" may stand for the word at i.
func (r references) person(i int) bool {
	w := strings.TrimSuffix(r.At(i), "'s")
	single := strings.TrimSuffix(w, "s")
	first := i == r.start(i) // where any word has a capital
	verb := english.Past(w) || strings.HasSuffix(w, "ing") || english.Adverbs.Has(w) || finiteVerb(w)
	named := r.Words[i].Upper && !english.StopWords.Has(w) && !english.DateWords.Has(w) && !notSubjects.Has(w) &&
		!(first && (verb || english.Adverbs.Has(r.At(i+1)) && r.At(i+1) == "out")) // "Turns out she is ill"
	return named || persons.Has(w) || persons.Has(single) || people.Has(w) || english.OwnNouns.Has(w) ||
		strings.HasSuffix(w, "-old")
}

// single reports whether the word at i may be a person or animal that no table has: "a retired greyhound".
func (r references) single(i int) bool {
	for k := i - 1; k >= max(0, i-2); k-- {
		switch r.At(k) {
		case "a", "an", "my", "our":
			return r.noun(i)
		}
	}
	return false
}

// plural reports whether "they" may stand for the word at i.
func (r references) plural(i int) bool {
	w := strings.TrimSuffix(r.At(i), "'s")
	many := strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") || r.At(i-1) == "and" // "dance and fashion"
	return r.person(i) || several.Has(w) || places.Has(w) || r.noun(i) && many
}

// place reports whether "there" may stand for the word at i.
func (r references) place(i int) bool {
	w, before := r.At(i), r.At(i-1)
	named := r.Words[i].Upper && !english.StopWords.Has(w) && i > r.start(i) && !english.DateWords.Has(w)
	if english.Articles.Has(before) {
		before = r.At(i - 2)
	}
	at := before == "in" || before == "at" || before == "to" || before == "near" || before == "visit"
	if w == "home" && before == "at" {
		return false // "I feel at home there"
	}
	return places.Has(strings.TrimSuffix(w, "s")) || places.Has(w) || named || at && r.noun(i) && !weekdays.Has(w)
}

// verbWithin reports whether one of the n words from i on may be a finite verb.
func (r references) verbWithin(i, n int) bool {
	for j := i; j < min(len(r.Words), i+n); j++ {
		if finiteVerb(r.At(j)) || english.PresentVerbs.Has(r.At(j)) {
			return true
		}
		if r.Words[j].Stop != 0 {
			return false
		}
	}
	return false
}

// saidBefore reports whether the noun w, in the singular or plural, comes before i.
func (r references) saidBefore(i int, w string) bool {
	stem := strings.TrimSuffix(w, "s")
	for k := range i {
		if strings.TrimSuffix(r.At(k), "s") == stem && r.noun(k) {
			return true
		}
	}
	return false
}
