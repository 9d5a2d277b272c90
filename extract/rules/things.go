package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Clauses whose subject is a thing or person of the speaker's life, though no word says so: appointments, budgets,
// how many of something a household has, and what others have.

// household reads "There are four of us", "There is a doctor in my family", "There are three cats here now".
func (c *clause) household() (topics, bool) {
	if c.words.StartWith("it", "is", "just") || c.words.StartWith("it", "is", "only") {
		return personal, isCount(c.at(3)) && english.OwnNouns.Has(c.at(4)) && c.atHome(5)
	}
	if !c.words.StartWith("there", "are") && !c.words.StartWith("there", "is") || c.content(0) == 0 {
		return none, false
	}
	counted := false // "three cats": of persons and pets, "here" is at home
	for i := 2; i < len(c.words); i++ {
		w, before := c.at(i), c.at(i-1)
		counted = counted || isCount(before) && english.OwnNouns.Has(w)
		if w == "us" && before == "of" || w == "family" && (before == "my" || before == "our") {
			return personal, true
		}
	}
	first := c.at(2)
	if english.Adverbs.Has(first) {
		first = c.at(3)
	}
	return personal, isCount(first) && (c.atHome(3) || counted && (c.words.Has("here") || c.words.Has("left")))
}

// atHome reports whether words from i on name the speaker's home: "in our house", "in this family", "at home".
func (c *clause) atHome(i int) bool {
	for j := i; j < len(c.words); j++ {
		w, before := c.at(j), c.at(j-1)
		owned := before == "our" || before == "my" || before == "this" || before == "the"
		if homes.Has(w) && owned && english.Prepositions.Has(c.at(j-2)) || w == "home" && before == "at" {
			return true
		}
	}
	return false
}

// scheduled reads "The wedding is on Friday", "Dentist appointment on 21 May at 8:30".
func (c *clause) scheduled() (topics, bool) {
	if imperative(c.at(0)) || c.words.Has("please") {
		return none, false
	}
	for i := 0; i < min(len(c.words), 5); i++ {
		w, next := c.at(i), c.at(i+1)
		behind := finiteVerb(next) || next == "on" || next == "at" || next == "from" || next == "with"
		if appointments.Has(w) && behind && (i > 0 || c.words[0].Stop == 0) {
			return details, !c.addressed(i) && (c.timed || slices.ContainsFunc(c.words[i:], func(w english.Word) bool {
				return isOrdinal(w.Text) // "march 4th" may be no month
			}))
		}
		article := w == "the" || w == "a" || w == "an"
		if i == 0 && article {
			continue
		}
		if article || c.words[i].Stop != 0 || finiteVerb(w) || speakerWords.Has(w) || english.Pronouns.Has(w) ||
			english.Deictic.Has(w) || english.Prepositions.Has(w) || notSubjects.Has(w) || subordinates.Has(w) {
			return none, false
		}
	}
	return none, false
}

// measure reads "The kitchen budget is 300 euros".
func (c *clause) measure() (topics, bool) {
	return details, c.at(0) == "the" && c.words[:min(len(c.words), 5)].Any(money) && c.recorded(0) && !c.task &&
		!c.words.Has("million") && !c.words.Has("billion")
}

// budgeted reads "The kitchen has a budget of 300 euros".
func (c *clause) budgeted() (topics, bool) {
	for i := 1; i < min(len(c.words), 5); i++ {
		if c.at(i) == "has" && english.Articles.Has(c.at(i+1)) && records.Has(c.at(i+2)) && c.at(i+3) == "of" {
			return details, (c.at(0) == "the" || c.at(0) == "this") && c.numberWithin(i+4, 3) && !c.task
		}
	}
	return none, false
}

// theirs reads "Lotte's birthday is the 4th of May", "Mom's address is …": a trait of a person with a name or of the
// family.
func (c *clause) theirs() (topics, bool) {
	owner, ok := strings.CutSuffix(c.at(0), "'s")
	if !ok || !c.words[0].Upper && !bareOwned.Has(owner) {
		return none, false
	}
	for i := 1; i < min(len(c.words), 5); i++ {
		if w := c.at(i); (w == "is" || w == "are") && i > 1 {
			return personal, traits.Has(c.at(i-1)) && c.content(i+1) > 0 && !english.Deictic.Has(c.at(i+1)) && !c.task
		}
		if c.words[i].Stop != 0 {
			break
		}
	}
	return none, false
}

// named reads "Marek, my boyfriend, snores".
func (c *clause) named() (topics, bool) {
	if !c.words[0].Upper || c.words[0].Stop != ',' && c.words[0].Stop != '(' || c.at(1) != "my" {
		return none, false
	}
	for i := 2; i < min(len(c.words), 5); i++ {
		if persons.Has(c.at(i)) && (c.words[i].Stop == ',' || c.words[i].Stop == ')') {
			return personal, c.content(i+1) > 0 && !c.addressed(i+1)
		}
	}
	return none, false
}

// befell reads "They moved my class to Friday", "She put me on the night shift": what others did with something of the
// speaker's, where it is given a day, a number or a name.
func (c *clause) befell() (topics, bool) {
	first := c.at(0)
	if first != "they" && first != "she" && first != "he" || c.task || c.addressed(0) {
		return none, false
	}
	i, negated := c.skipAdverbs(1)
	if c.at(i) == "have" || c.at(i) == "has" {
		i, negated = c.skipAdverbs(i + 1)
	}
	object := c.at(i + 1)
	mine := object == "my" || object == "our" || object == "me" || object == "us"
	if negated || !mine || !changes.Has(c.at(i)) || emptyPossessions.Has(c.at(i+2)) {
		return none, false
	}
	for j := i + 2; j < len(c.words); j++ {
		to := c.at(j - 1)
		led := to == "to" || to == "on" || to == "from" || to == "at"
		if led && c.content(j) > 0 && !english.Deictic.Has(c.at(j)) {
			return details, true
		}
	}
	return none, false
}
