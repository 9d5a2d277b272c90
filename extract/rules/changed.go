package rules

import "github.com/memoryd/memoryd/extract/english"

// maxThing bounds the words of a thing before its verb: "the trip to Sicily".
const maxThing = 6

// changedThing reads "The office has moved to 31 Station Square", "The choir meets on Mondays now", "Lunch with Ana is
// on Monday instead", "The trip to Sicily fell through": something that the listener knows of is at another time or
// place, or is off. Without a word of a change it may be anybody's.
func (c *clause) changedThing() (topics, bool) {
	k := c.thing()
	if k == 0 || c.task || c.addressed(k) || c.words.Any(english.Modals) || c.words.Has("not") {
		return none, false
	}
	i, _ := c.skipAdverbs(k)
	for english.Auxiliaries.Has(c.at(i)) || c.at(i) == "got" || c.at(i) == "been" {
		i, _ = c.skipAdverbs(i + 1)
	}
	if (c.at(i) == "fell" || c.at(i) == "fallen") && c.at(i+1) == "through" {
		return details, c.at(i+2) == "" || c.words[i+1].Stop != 0
	}
	if (over.Has(c.at(i)) || c.at(i) == "off") && i > k && c.at(i) != "done" && plannedThing(c.words[:k]) {
		return details, c.at(i+1) == "" || c.words[i].Stop != 0
	}
	// "Has moved to Friday", "was pushed to 9": without a day, a time or a place it may be a file or a function.
	_, led := c.leads(i + 1)
	if changes.Has(c.at(i)) || i < len(c.words) && c.at(i) == "switched" {
		return details, led && c.at(i-1) != "is"
	}
	// "Is on Monday now", "meets at 7 these days"
	at, on := c.leads(i)
	if !on && meetings.Has(c.at(i)) {
		at, on = c.leads(i + 1)
	}
	return details, on && c.saysChanged(at)
}

// saysChanged reports whether the clause from i on says that a time or a place is another one, and for whom it is not.
func (c *clause) saysChanged(i int) bool {
	for ; i < len(c.words); i++ {
		next := c.at(i + 1)
		if changed.Has(c.at(i)) {
			return next == "" || next == "of" || next == "days" || c.words[i].Stop != 0
		}
	}
	return false
}

// leads reports whether the clause goes on at i with a day, a time or an address behind a preposition, and gives where
// that begins: "to Friday", "from 5 Harbour Road to 31 Station Square".
func (c *clause) leads(i int) (int, bool) {
	w := c.at(i)
	if w != "to" && w != "on" && w != "at" && w != "from" && w != "forward" && w != "back" {
		return 0, false
	}
	for j := i + 1; j < min(len(c.words), i+4); j++ {
		if english.StartsWithDigit(c.at(j)) || english.DateWords.Has(c.at(j)) || c.words[j].Upper {
			return j, true
		}
	}
	return 0, false
}

// thing is the number of the words that the clause begins with if they name a thing that the listener knows: "the
// office", "our trip to Sicily", "lunch with Ana"; 0 if they do not.
func (c *clause) thing() int {
	first := c.at(0)
	if first != "the" && !(meals.Has(first) && c.at(1) == "with") {
		return 0
	}
	linked := false // behind "to" or "with", where a name may come
	for i := 1; i < min(len(c.words), maxThing); i++ {
		w := c.at(i)
		switch {
		case i > 1 && (finiteVerb(w) || meetings.Has(w) || english.Past(w) || w == "is" || w == "has"):
			return i
		case !linked && (w == "to" || w == "with" || w == "for" || w == "of" || w == "at"):
			linked = true
		case !linked && c.words[i].Upper && !plannedThing(c.words[:min(len(c.words), i+2)]),
			c.words[i].Stop != 0 && c.words[i].Stop != '\'', english.Pronouns.Has(w), english.Prepositions.Has(w),
			english.Adverbs.Has(w) && i > 1 && !finiteVerb(c.at(i+1)):
			return 0
		}
	}
	return 0
}

// plannedThing reports whether ws names something that people plan.
func plannedThing(ws english.Words) bool {
	return ws.Any(projects) || ws.Any(appointments) || ws.Any(meals)
}
