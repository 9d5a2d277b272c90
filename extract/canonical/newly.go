package canonical

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Some statements tell of a change by a day, a device or an event, and name the attribute in other words than its
// noun: "today is my first day at Bosch", "yesterday was my 40th birthday", "the scale said 81 kilos", "we can only
// spend 9,000 euros on the kitchen". Each reader below asks for the words that make it the speaker's, and reads nothing
// where another owner, a doubt or a denial is told.

var (
	hiredVerbs    = frameTables.Phrases("hired")
	dayWords      = frameTables.Words("day-words")
	workWords     = frameTables.Words("work-words")
	schoolNames   = frameTables.Words("school-names")
	scaleVerbs    = frameTables.Words("scale-verbs")
	weightUnits   = frameTables.Words("weight-units")
	raceLengths   = frameTables.Variants("race-lengths")
	bestPhrases   = frameTables.Phrases("personal-bests")
	otherEvents   = frameTables.Words("other-events")
	familyVerbs   = frameTables.Words("family-verbs")
	siteNouns     = frameTables.Words("site-nouns")
	scaleOthers   = frameTables.Words("scale-others")
	dayBounds     = frameTables.Words("day-bounds")
	visitors      = frameTables.Words("visitors")
	spentInAll    = frameTables.Words("spent-in-all")
	parents       = frameTables.Words("parents")
	countLeads    = frameTables.Words("count-leads")
	lessThanAsked = frameTables.Words("less-than-asked")
)

// newly gives the claims of the readers above.
func (c *claim) newly(all english.Words) (out []Claim) {
	if all.Any(uncertainNouns) || all.Has("?") {
		return nil
	}
	if !all.Any(negations) {
		out = append(out, c.dayAt(all)...)
		out = append(out, c.hiredBy(all)...)
		out = append(out, c.birthdayPassed(all)...)
		out = append(out, c.bestRun(all)...)
		out = append(out, c.calledInFull(all)...)
		out = append(out, countAfter(all)...)
		out = append(out, parentOf(all)...)
		out = append(out, c.householdHas(all)...)
		out = append(out, c.worksOnSite(all)...)
	}
	return slices.Concat(out, onScale(all), spends(all), budgetFor(all))
}

// The readers look at the whole fact, as the words that tell whose it is may stand in any of its clauses. Each is bound
// to the order of a few words, so that a story with the same words is not read: "my first day at Bosch was terrible" is
// of the past, and "today is my daughter's first day" is another's.

// ofOthers reports whether ws names another owner than the speaker: "her", "Anna's", "my sister".
func ofOthers(ws english.Words) bool {
	for i, w := range ws {
		if othersOwn.Has(w.Text) || strings.HasSuffix(w.Text, "'s") || relation(w.Text) != "" && !pets.Has(w.Text) &&
			ws.At(i-1) == "my" {
			return true
		}
	}
	return false
}

// dayAt reads "today is my first day at Bosch" and "yesterday was my last day at the Hilton". Of a name that no table
// has, a word of work must say that it is no school.
func (c *claim) dayAt(all english.Words) []Claim {
	for i := 1; i+3 < len(all) && i < maxSlotWords+1; i++ {
		if all[i].Text != "my" || !isBe(all[i-1].Text) && !pastBe.Has(all[i-1].Text) {
			continue
		}
		which := all[i+1].Text
		if which != "first" && which != "last" && which != "final" || all[i+2].Text != "day" || !onlyDay(all[:i-1]) {
			return nil
		}
		rest := all[i+3:]
		if rest.StartWith("of", "work") {
			rest = rest[2:]
		}
		if w := rest.At(0); w != "at" && w != "with" || len(rest) < 2 {
			return nil
		}
		company, after := c.companyIn(rest[1:])
		known, _, more := strings.Cut(company, " ")
		if more && companies.Has(known) && !companies.Has(company) || which != "first" && !endsAt(after, all) {
			return nil // "Apple Park" is a place, and "before my leave" the last day for a time
		}
		if company == "" || hasAny(company, schoolNames) || all.Any(dayBounds) ||
			!companies.Has(company) && which == "first" && !after.Any(workWords) {
			return nil
		}
		if which == "first" {
			return []Claim{{Attribute: "employer", Value: company, Changed: true}}
		}
		return []Claim{{Attribute: "employer", Value: company, Ended: true}}
	}
	return nil
}

// endsAt reports whether the last day at a firm is that of all work there, as no place of its follows: "in Munich".
func endsAt(after, all english.Words) bool {
	if len(after) == 0 || stopsClause(all[len(all)-len(after)-1].Stop) {
		return true
	}
	return after[0].Text == "after" || after[0].Text == "as" || after[0].Text == "and"
}

// hasAny reports whether a word of text is in s.
func hasAny(text string, s english.Set) bool {
	for w := range strings.FieldsSeq(text) {
		if s.Has(w) {
			return true
		}
	}
	return false
}

// onlyDay reports whether ws names a day that has come, and nothing else: "today", "yesterday (2026-05-12)", "last
// Friday".
func onlyDay(ws english.Words) bool {
	known := false
	for _, w := range ws {
		switch {
		case w.Text == "tomorrow":
			return false
		case dayWords.Has(w.Text), english.DateWords.Has(w.Text) && monthNumbers.Of(w.Text) == "":
			known = true
		case isDate(w.Text) && !isYear(w.Text), w.Text == "last", w.Text == "this", w.Text == "on", w.Text == "week",
			w.Text == "of":
		default:
			return false
		}
	}
	return known
}

// companyIn is the company that ws begins with, and what follows it.
func (c *claim) companyIn(ws english.Words) (company string, after english.Words) {
	if len(ws) > 1 && ws[0].Text == "the" {
		ws = ws[1:]
	}
	for n := min(len(ws), maxNameWords); n > 0; n-- {
		if goesOn(ws[:n], ws[n:]) && !(len(ws) > n && dayWords.Has(ws[n].Text)) {
			continue
		}
		if name := c.company(ws[:n]); name != "" {
			return name, ws[n:]
		}
	}
	return "", nil
}

// hiredBy reads "Bosch hired me last week".
func (c *claim) hiredBy(all english.Words) []Claim {
	for i := 1; i < min(len(all), maxSlotWords); i++ {
		n := hiredVerbs.Match(all, i)
		if n == 0 || !onlyTime(all[i+n:]) && !(all[i+n].Text == "as" && tradeAt(all) > 0) || all[i+n:].Any(sideJobs) {
			continue
		}
		if company := c.company(all[:i]); company != "" && !givenNames.Has(all[0].Text) {
			return []Claim{{Attribute: "employer", Value: company, Changed: true}}
		}
	}
	return nil
}

// birthdayPassed reads "yesterday was my 40th birthday", and "my 40th birthday was on Sunday".
func (c *claim) birthdayPassed(all english.Words) []Claim {
	for i := 0; i+2 < len(all) && i < maxSlotWords+1; i++ {
		if all[i].Text != "my" || all[i+2].Text != "birthday" || all[i+1].Text == years(all[i+1:i+2]) {
			continue
		}
		age, told := years(all[i+1:i+2]), false
		if i > 1 {
			told = (isBe(all[i-1].Text) || pastBe.Has(all[i-1].Text)) && onlyDay(all[:i-1])
		} else if rest := all[i+3:]; i == 0 && pastBe.Has(rest.At(0)) {
			end := 1
			for end < len(rest) && (end == 1 || !stopsClause(rest[end-1].Stop)) {
				end++
			}
			told = len(rest) > 1 && onlyDay(rest[1:end])
		}
		if age != "" && told {
			return (&variant{time: timeWords(all)}).dates([]Claim{{Attribute: ageAttribute, Value: age}})
		}
	}
	return nil
}

// A scale at a shop, at the vet or in the kitchen weighs other things, and a short number of kilos is that of a
// suitcase, so that any other word between the scale and the weight leaves no claim.

// onScale reads "the scale said 81 kilos this morning". Of a scale that is somebody else's, or that weighs something
// else, the words tell.
func onScale(all english.Words) []Claim {
	for i := range all {
		if noun := all[i].Text; noun != "scale" && noun != "scales" || i > 3 {
			continue
		}
		before := all[:i]
		if i == 0 { // "Scales say 84 this morning"
			before = english.Words{{Text: "the"}}
		}
		if first := before[0].Text; first != "the" && first != "my" && first != "our" || len(before) == 2 &&
			before[1].Text != "bathroom" ||
			len(before) > 2 || !scaleVerbs.Has(all.At(i+1)) || all.Any(scaleOthers) || ofOthers(all) {
			return nil
		}
		rest := all[i+2:]
		for len(rest) > 1 && toValue.Has(rest[0].Text) {
			rest = rest[1:]
		}
		if len(rest) == 0 || all[:i+2].Any(negations) {
			return nil
		}
		if n := numberOf(rest); n != "" && onlyTimeOrRemark(rest[1:]) { // "says 86 this morning"
			return []Claim{{Attribute: scaledWeight, Value: n, Several: true, Changed: true}}
		}
		if len(rest) < 2 || !weightUnits.Has(rest[1].Text) {
			return nil
		}
		if r := measured("weight", rest[:2]); r.ok() && onlyTimeOrRemark(rest[2:]) {
			return []Claim{
				{Attribute: r.attribute, Value: r.value, Several: true, Changed: true},
				{Attribute: scaledWeight, Value: r.value, Several: true, Changed: true},
			}
		}
		return nil
	}
	return nil
}

// onlyTimeOrRemark reports whether nothing but a time follows a statement up to its mark: "this morning (2026-05-13)".
func onlyTimeOrRemark(ws english.Words) bool {
	for i, w := range ws {
		if i > 0 && stopsClause(ws[i-1].Stop) {
			return true
		}
		if !inAny(w.Text, english.Periods, dayWords, changeWords, english.DateWords, timeFillers, dayParts) &&
			!isDate(w.Text) &&
			w.Text != "this" && w.Text != "on" && w.Text != "after" && w.Text != "before" && w.Text != "breakfast" {
			return false
		}
	}
	return true
}

// countAfter reads "our baby arrived, which makes three children": how many there are since.
func countAfter(all english.Words) []Claim {
	if ofOthers(all) || !all.Any(arrivals) && !all.Any(departures) && gained(all) == nil {
		return nil
	}
	for i := 2; i+2 < len(all); i++ {
		w, from := all[i].Text, all[i-1].Text
		adds := w == "makes" || w == "leaves" || w == "brings"
		tells := from == "which" || from == "that"
		isNow := w == "is" && from == "it" && all[i-2].Text == "so" // "so it's four kids"
		if !isNow && (!adds || !tells || !stopsClause(all[i-2].Stop) && !links.Has(all[i-2].Text)) {
			continue
		}
		k := i + 1
		if all[k].Text == "it" {
			k++
		}
		for k+1 < len(all) && countLeads.Has(all[k].Text) {
			k++
		}
		if k+1 >= len(all) || !isNumber(all[k].Text) || !onlyOf(all[k+2:], keptBy) || all[:i].Any(visitors) {
			return nil
		}
		noun := singular(all[k+1].Text)
		if !countable.Has(noun) {
			return nil
		}
		return []Claim{{Attribute: "count " + countName(noun), Value: all[k].Text, Changed: true}}
	}
	return nil
}

// parentOf reads "which makes me a mother of four": how many children the speaker has since. "As a dad with four kids"
// tells so by the way.
func parentOf(all english.Words) []Claim {
	for i := 2; i+1 < len(all); i++ {
		n := all[i+1]
		if all[0].Text == "as" && i < 4 && all[i].Text == "with" && isNumber(n.Text) &&
			all.At(i+2) == "kids" && parents.Has(all[i-1].Text) && (all.At(i+3) == "i" || all.At(i+3) == "we") {
			return []Claim{{Attribute: "count kid", Value: n.Text, Several: true, Loose: true}}
		}
		if i < 3 {
			continue
		}
		if all[i].Text != "of" || !isNumber(n.Text) || !parents.Has(singular(all[i-1].Text)) {
			continue
		}
		from := i - 2
		if english.Articles.Has(all[from].Text) {
			from--
		}
		told := from > 0 && (all[from].Text == "me" || all[from].Text == "us") &&
			(all[from-1].Text == "makes" || all[from-1].Text == "made")
		if rest := all[i+2:]; told && (n.Stop != 0 || onlyOf(rest, countsNow)) {
			return []Claim{{Attribute: "count kid", Value: n.Text, Changed: true}}
		}
	}
	return nil
}

// householdHas reads "our household owns two cars", "our family is down to a pair of cars" and "the herd is up to
// eleven goats". People say "the herd" of their own, and name the owner of another one. A number that a household is
// up or down to tells of a change.
func (c *claim) householdHas(all english.Words) []Claim {
	first, many := all.At(0), all.At(1) == "herd" || all.At(1) == "flock"
	own := first == "my" || first == "our" || many && first == "the"
	if !own || !many && !household(all.At(1)) || len(all) < 5 {
		return nil
	}
	i, changed := 3, false
	for isBe(all[2].Text) && upOrDown.Has(all.At(i)) {
		i, changed = i+1, true
	}
	if !changed && !familyVerbs.Has(all[2].Text) {
		return nil
	}
	n := all.At(i)
	switch {
	case n == "one":
		n = "1"
	case all[min(i, len(all)):].StartWith("a", "pair", "of"), all[min(i, len(all)):].StartWith("a", "couple", "of"):
		n, i = "2", i+2
	}
	noun := singular(all.At(i + 1))
	if rest := all[min(i+2, len(all)):]; !isNumber(n) || !countable.Has(noun) || !many && !onlyOf(rest, keptBy) {
		return nil
	}
	return []Claim{{Attribute: "count " + countName(noun), Value: n, Several: true, Loose: !changed, Changed: changed}}
}

func household(w string) bool { return w == "household" || w == "family" }

// worksOnSite reads the firm of "I'm a shift manager in the Amazon warehouse" and "I drive a forklift in the Ikea
// store".
func (c *claim) worksOnSite(all english.Words) []Claim {
	works := isBe(all.At(1)) && (all.At(2) == "a" || all.At(2) == "an") || all.At(1) == "work" || all.At(1) == "drive"
	if all.At(0) != "i" || !works {
		return nil
	}
	for i := 2; i+3 < len(all); i++ {
		if w := all[i].Text; w != "in" && w != "at" || all[i+1].Text != "the" || !siteNouns.Has(all[i+3].Text) {
			continue
		}
		trade := all[1].Text != "am" || tradeOf(all[2:i], all[i:], false) != ""
		if company := c.company(all[i+2 : i+3]); company != "" && trade {
			return []Claim{{Attribute: "employer", Value: company, Several: true, Loose: true}}
		}
	}
	return nil
}

// A budget is held against another one only of the same thing, which both name: what is spent on a bathroom says
// nothing of the kitchen.

// scaledWeight is the attribute of a weight.
const scaledWeight = "one weight"

// scaled reports whether a weight that a scale says may be that of who weighed o before. Anything may stand on a scale.
func (c *Claim) scaled(o *Claim) bool {
	before, err := strconv.ParseFloat(o.Value, 64)
	now, other := strconv.ParseFloat(c.Value, 64)
	return err == nil && other == nil && max(before, now) < maxWeightChange*min(before, now)
}

// maxWeightChange bounds how many times another weight of somebody is as large as the one before.
const maxWeightChange = 1.2

// spends reads "we can only spend 9,000 euros on the kitchen after all": what is left of a budget.
func spends(all english.Words) []Claim {
	less := all.Any(lessThanAsked) || all.Has("after") && all.Has("all") || all.Has("now")
	if w := all.At(0); w != "i" && w != "we" || !less || all.At(1) != "can" || ofOthers(all) {
		return nil
	}
	for i := 2; i+4 < len(all); i++ {
		if all[i].Text != "spend" {
			continue
		}
		rest := all[i+1:]
		for len(rest) > 1 && (lessThanAsked.Has(rest[0].Text) || currencies.Has(rest[0].Text)) {
			rest = rest[1:]
		}
		amount := numberOf(rest)
		for k := 1; k+2 < len(rest) && k < 4; k++ {
			if amount != "" && rest[k].Text == "on" && (english.Articles.Has(rest[k+1].Text) ||
				possessives.Has(rest[k+1].Text)) && (k+3 >= len(rest) || onlyOf(rest[k+3:], spentInAll)) {
				return budget(rest[k+2:], amount, true)
			}
		}
		return nil
	}
	return nil
}

// budgetFor reads "our kitchen budget is 12,000 euros" and "for the new kitchen our budget is 12,000 euros".
func budgetFor(all english.Words) []Claim {
	at := -1
	for i := 1; i+2 < len(all); i++ {
		if all[i].Text == "budget" {
			at = i
			break
		}
	}
	if at < 0 || all.Any(negations) || ofOthers(all) {
		return nil
	}
	own := func(w string) bool { return w == "my" || w == "our" }
	rest := all[at+1:]
	var what english.Words
	switch before := all[at-1].Text; {
	case own(before) && all[0].Text == "for" && at > 3 && (english.Articles.Has(all[1].Text) || own(all[1].Text)):
		what = all[2 : at-1]
	case own(before) && rest.At(0) == "for" && len(rest) > 4 &&
		(english.Articles.Has(rest[1].Text) || own(rest[1].Text)):
		k := 2
		for k < len(rest) && !isBe(rest[k].Text) {
			k++
		}
		what, rest = rest[2:k], rest[k:]
	case at > 1 && own(all[at-2].Text):
		what = all[at-1 : at]
	}
	if len(what) == 0 || len(rest) < 2 || !isBe(rest[0].Text) {
		return nil
	}
	rest = rest[1:]
	for len(rest) > 1 && toValue.Has(rest[0].Text) {
		rest = rest[1:]
	}
	if amount := numberOf(withoutCurrency(rest)); amount != "" && !rest.Has("for") && !rest.Has("per") {
		return budget(what, amount, tellsChange(all))
	}
	return nil
}

// budget is the claim of what somebody may spend on a thing.
func budget(what english.Words, amount string, changed bool) []Claim {
	for len(what) > 1 && (what[0].Text == "new" || what[0].Text == "whole") {
		what = what[1:]
	}
	if noun := baseForm(what[0].Text); !english.StopWords.Has(noun) && (len(what) == 1 || ends(what[1]) ||
		what[0].Stop != 0) {
		return []Claim{{Attribute: "one budget of " + noun, Value: amount, Several: !changed, Changed: changed}}
	}
	return nil
}

// shareWord reports whether two values have a word in common.
func shareWord(a, b string) bool {
	return slices.ContainsFunc(strings.Fields(a), func(w string) bool { return slices.Contains(strings.Fields(b), w) })
}
