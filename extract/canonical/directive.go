package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// directiveRules read what the agent is told for all its answers. They are tried
// in order; standing says that the directive is meant to last ("from now on").
var directiveRules = []struct {
	begins  []string // the words before the rest
	read    func(c *claim, rest english.Words, standing bool) reading
	example string // "fact = attribute: value"
}{
	{[]string{"call", "me"}, (*claim).formOfAddress, "Please call me Ann = form of address: ann"},
	{[]string{"address", "me", "as"}, (*claim).formOfAddress, "Address me as Dr. Smith = form of address: dr smith"},
	{[]string{"refer", "to", "me", "as"}, (*claim).formOfAddress, "Refer to me as Annie = form of address: annie"},
	{[]string{"stick", "to"}, (*claim).formOfAddress, "Stick to William from now on = form of address: william"},
	{[]string{"stick", "with"}, (*claim).formOfAddress, "Stick with William from now on = form of address: william"},
	{[]string{"i", "would", "like", "to", "be", "called"}, (*claim).formOfAddress,
		"I'd like to be called Ann = form of address: ann"},
	{[]string{"i", "want", "to", "be", "called"}, (*claim).formOfAddress,
		"I want to be called Ann = form of address: ann"},
	{[]string{"i", "would", "rather", "be", "called"}, (*claim).formOfAddress,
		"I'd rather be called Ann = form of address: ann"},
	{[]string{"i", "would", "prefer", "to", "be", "called"}, (*claim).formOfAddress,
		"I'd prefer to be called Ann = form of address: ann"},
	{[]string{"i", "would", "rather", "you", "call", "me"}, (*claim).formOfAddress,
		"I'd rather you call me Ann = form of address: ann"},
	{[]string{"i", "would", "rather", "you", "called", "me"}, (*claim).formOfAddress,
		"I'd rather you called me Ann = form of address: ann"},
	{[]string{"i", "would", "rather", "you", "addressed", "me", "as"}, (*claim).formOfAddress,
		"I'd rather you addressed me as Ann = form of address: ann"},
	{[]string{"i", "would", "rather", "you", "used"}, useName,
		"I'd rather you used Ann from now on = form of address: ann"},
	{[]string{"i", "am"}, titledName, "I am Doctor Smith from now on = form of address: doctor smith"},
	{[]string{"use"}, useName, "Use Ann from now on = form of address: ann"},
	{[]string{"use"}, useUnits, "Use metric units = units: metric"},
	{[]string{"back", "to"}, languageAlone, "Back to English please = language of answers: english"},
	{[]string{"go", "back", "to"}, languageAlone, "Go back to English = language of answers: english"},
	{[]string{"let", "us", "switch", "to"}, languageAlone, "Let's switch to Greek = language of answers: greek"},
	{[]string{"switch", "to"}, languageAlone, "Switch to German = language of answers: german"},
	{[]string{"switch", "back", "to"}, languageAlone, "Switch back to German = language of answers: german"},
	{[]string{"answer"}, answerLanguage, "Answer in French = language of answers: french"},
	{[]string{"reply"}, answerLanguage, "Reply to me in English = language of answers: english"},
	{[]string{"respond"}, answerLanguage, "Respond in Dutch = language of answers: dutch"},
	{[]string{"let", "us", "go", "back", "to"}, languageAlone, "Let's go back to Greek = language of answers: greek"},
	{[]string{"speak"}, spokenLanguage, "Speak English with me = language of answers: english"},
	{[]string{"i", "would", "rather", "you", "answered"}, answerLanguage,
		"I'd rather you answered in Greek = language of answers: greek"},
	{[]string{"i", "would", "rather", "you", "spoke"}, spokenLanguage,
		"I'd rather you spoke Greek with me = language of answers: greek"},
	{[]string{"speak"}, answerLanguage, "Speak to me in Polish = language of answers: polish"},
	{[]string{"talk"}, answerLanguage, "Talk to me in Greek = language of answers: greek"},
	{[]string{"write", "to", "me"}, answerLanguage, "Write to me in French = language of answers: french"},
	{[]string{"write"}, writtenLanguage, "Always write in French = language of answers: french"},
}

// directive reads how to address the speaker, in which language to answer, and
// in which units.
func (c *claim) directive() reading {
	ws, standing := withoutRequest(c.words)
	for i := 1; i <= min(3, len(ws)-3); i++ { // "Everyone calls me Ann"
		if n := calling.Match(ws, i); n > 0 && i+n < len(ws) && callers.Has(ws[i-1].Text) {
			name := withoutChange(ws[i+n:])
			if len(name) == len(ws)-i-n {
				return reading{} // a name beside others
			}
			return c.formOfAddress(name, false)
		}
	}
	if r := c.ruled(ws, standing); r.ok() {
		return r
	}
	// "Drop the Occitan and reply in Catalan": what is left is told first.
	for i := 2; i+3 < len(ws) && mannerDenies.Has(ws[0].Text); i++ {
		if ws[i].Text == "and" && answering.Has(ws[i+1].Text) {
			return answerLanguage(c, ws[i+2:], standing)
		}
	}
	if r := c.nameWillDo(ws, standing); r.ok() {
		return r
	}
	return answerLength(ws)
}

// ruled reads an instruction by the first rule that knows it.
func (c *claim) ruled(ws english.Words, standing bool) reading {
	for _, rule := range directiveRules {
		if ws.StartWith(rule.begins...) {
			if r := rule.read(c, ws[len(rule.begins):], standing); r.ok() {
				return r
			}
		}
	}
	return reading{}
}

// afterDenial reads what stands behind an instruction that denies: "Don't call me Bob, call me Robert".
func (c *claim) afterDenial(ws english.Words) reading {
	for i := 3; i+2 < len(ws) && (ws[0].Text == "never" || ws[0].Text == "stop" || ws.StartWith("do", "not")); i++ {
		if !stopsClause(ws[i-1].Stop) {
			continue
		}
		for i+1 < len(ws) && (links.Has(ws[i].Text) || ws[i].Text == "just" || ws[i].Text == "instead") {
			i++
		}
		asks, _ := withoutRequest(ws[i:])
		return c.ruled(asks, true)
	}
	return reading{}
}

// answerLength reads "Keep your answers short", "Answer in full detail" and "Be
// brief".
func answerLength(ws english.Words) reading {
	if n := mannerWishes.Match(ws, 0); n > 0 && n < len(ws) { // "I want long answers"
		ws = append(english.Words{{Text: "give"}}, ws[n:]...)
	}
	verb := ws.At(0)
	if answering.Has(verb) && boundsAnswers(ws) {
		return reading{"length of answers", "short"}
	}
	// Of one answer, unless it says "answers".
	single := verb == "give" || verb == "make" || verb == "write" || verb == "use"
	if !answering.Has(verb) || len(ws) > maxClaimWords/2 || ws.Has("not") || single && !ws.Any(allAnswers) ||
		ofOneTask(ws) {
		return reading{}
	}
	for i, w := range ws[1:] {
		value := ""
		switch {
		case shortAnswers.Has(w.Text):
			value = "short"
		case longAnswers.Has(w.Text):
			value = "long"
		}
		each := ws.Has("every") || ws.Has("each") || ws.Has("all") // "keep it to one sentence" is about one answer
		if w.Text == "sentence" && (ws[i].Text == "single" || ws[i].Text == "one") && (verb != "keep" || each) {
			return reading{"length of answers", "short"}
		}
		if atMost(ws, i) {
			return reading{"length of answers", "short"}
		}
		if value != "" && (i == 0 || inAny(ws[i].Text, answerParts, answerNouns, english.Articles, amountsOfDetail)) {
			return reading{"length of answers", value}
		}
	}
	return reading{}
}

// boundsAnswers reports whether ws sets a bound to all answers: "keep your answers to two or three sentences".
func boundsAnswers(ws english.Words) bool {
	for i := 1; i+2 < len(ws); i++ {
		if allAnswers.Has(ws[i].Text) && ws[i+1].Text == "to" && boundsLength(ws[i+2:]) {
			return true
		}
	}
	return false
}

// boundsLength reports whether ws begins with a bound of all answers: "2 or 3 sentences" of "keep your answers to…".
func boundsLength(ws english.Words) bool {
	for i := range ws[:min(len(ws), 4)] {
		if i > 0 && answerUnits.Has(singular(ws[i].Text)) {
			return true
		}
		if !isNumber(ws[i].Text) && !amountLinks.Has(ws[i].Text) {
			return false
		}
	}
	return false
}

// atMost reports whether the word behind ws[i] is one of the words of a bound: "three sentences at most".
func atMost(ws english.Words, i int) bool {
	if i == 0 || !isNumber(ws[i].Text) || !answerUnits.Has(singular(ws.At(i+1))) {
		return false
	}
	if before := ws[i-1].Text; bound.Has(before) || before == "under" || before == "below" || before == "within" {
		return true // "keep answers under 100 words"
	}
	return slices.ContainsFunc(ws[i+1:], func(w english.Word) bool { return bound.Has(w.Text) })
}

// withoutRequest is ws without politeness ("could you please") and without what
// makes a directive last, at both ends. It reports whether the directive lasts.
func withoutRequest(ws english.Words) (rest english.Words, standing bool) {
	for {
		n := english.Lasting.Match(ws, 0)
		lasts := n > 0
		if n == 0 {
			n = english.Polite.Match(ws, 0)
		}
		if n == 0 && (ws.At(0) == "always" || ws.StartWith("do", "call")) {
			n = 1
		}
		standing = standing || lasts || n > 0 && (ws[0].Text == "always" || ws[0].Text == "please")
		if n > 0 && isDate(ws.At(n)) {
			n++ // "from today (2026-05-13)"
		}
		if n == 0 || n >= len(ws) {
			break
		}
		ws = ws[n:]
	}
	for len(ws) > 1 && answerEnds.Has(ws[len(ws)-1].Text) && ws[len(ws)-1].Text != "again" {
		ws = ws[:len(ws)-1]
	}
	if n := len(ws) - 2; n > 2 && ws[n+1].Text == "me" && (ws[n].Text == "for" || ws[n].Text == "to") ||
		n > 1 && ws[n:].StartWith("with", "me") && (ws[0].Text == "use" || ws[0].Text == "go") {
		ws = ws[:n] // "write recipes in grams for me"
	}
	for i := 1; i < len(ws); i++ {
		if n := english.Lasting.Match(ws, i); n > 0 && i+n == len(ws) {
			return ws[:i], true
		}
	}
	return ws, standing
}

// withoutChange is ws without "now" or "these days" at its end.
func withoutChange(ws english.Words) english.Words {
	for i := 1; i < len(ws); i++ {
		if n := changeMarks.Match(ws, i); n > 0 && i+n == len(ws) {
			return ws[:i]
		}
	}
	if last := len(ws) - 1; last > 0 && changeWords.Has(ws[last].Text) {
		return ws[:last]
	}
	return ws
}

// formOfAddress reads "Ann". A word without a capital is a name only if the
// directive lasts and the word has no other meaning ("Call me maybe").
func (c *claim) formOfAddress(ws english.Words, standing bool) reading {
	if n := len(ws) - 2; n > 0 && ws[n:].StartWith("in", "full") {
		ws = ws[:n]
	}
	for i := 1; i+1 < len(ws); i++ {
		if w := ws[i].Text; w == "rather" || w == "instead" || w == "not" || english.Lasting.Match(ws, i) > 0 {
			ws = ws[:i] // "Jin rather than Benny", "Jin from now on, not Benny"
		}
	}
	if len(ws) == 0 || len(ws) > 3 || english.NotNames.Has(ws[0].Text) {
		return reading{}
	}
	if name := c.properName(ws); name != "" {
		return reading{addressAttribute, name}
	}
	w := ws[0].Text
	hasMeaning := inAny(w, english.Evaluative, english.Moods, english.StopWords, english.DateWords, remarks)
	if !standing || len(ws) > 1 || hasMeaning || strings.Contains(w, "-") {
		return reading{}
	}
	return reading{addressAttribute, w}
}

const addressAttribute = "form of address"

// IsLanguage reports whether w, in lower case, is the English name of a language: "welsh".
func IsLanguage(w string) bool { return languages.Has(w) }

// IsGivenName reports whether w, in lower case, is a given name: "anna".
func IsGivenName(w string) bool { return givenNames.Has(w) }

// writtenLanguage reads "in French" after "write", which is about one text unless
// the directive lasts.
func writtenLanguage(c *claim, ws english.Words, standing bool) reading {
	if !standing {
		return reading{}
	}
	return answerLanguage(c, ws, standing)
}

// answerLanguage reads "in French" and "to me in Brazilian Portuguese only".
func answerLanguage(_ *claim, ws english.Words, _ bool) reading {
	for ws.At(0) != "in" {
		if !answerAdverbs.Has(ws.At(0)) {
			return reading{}
		}
		ws = ws[1:]
	}
	ws = ws[1:]
	for i := 1; i+3 < len(ws); i++ {
		if ws[i].Text == "and" && ws[i+1].Text == "not" && ws[i+2].Text == "in" {
			ws = ws[:i] // "in English and not in German"
		}
	}
	for last := ws.At(len(ws) - 1); len(ws) > 1 && answerEnds.Has(last); last = ws.At(len(ws) - 1) {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 2 && languageVariants.Has(ws[0].Text) {
		ws = ws[1:]
	}
	if len(ws) != 1 || !languages.Has(ws[0].Text) {
		return reading{}
	}
	return reading{languageAttribute, ws[0].Text}
}

const languageAttribute = "language of answers"

// spokenLanguage reads "German with me" and "German to me from now on".
func spokenLanguage(c *claim, ws english.Words, _ bool) reading {
	ws = withoutChange(ws)
	if len(ws) < 3 || !languages.Has(ws[0].Text) || ws[1].Text != "with" && ws[1].Text != "to" || ws[2].Text != "me" {
		return reading{}
	}
	return languageAlone(c, slices.Concat(ws[:1], ws[3:]), true)
}

// languageAlone reads "English" and "answering in English".
func languageAlone(c *claim, ws english.Words, standing bool) reading {
	if ws.At(0) == "answering" || ws.At(0) == "speaking" || ws.At(0) == "writing" {
		return answerLanguage(c, ws[1:], standing)
	}
	return answerLanguage(c, append(english.Words{{Text: "in"}}, ws...), standing)
}

// titledName reads "Doctor Okafor" behind "from now on I am": a title tells how somebody wants to be addressed.
func titledName(c *claim, ws english.Words, standing bool) reading {
	if !standing && !c.changed || len(ws) < 2 || !titles.Has(ws[0].Text) {
		return reading{}
	}
	return c.formOfAddress(withoutChange(ws), standing)
}

// nameWillDo reads "Ragna" of "just Ragna will do from here on".
func (c *claim) nameWillDo(ws english.Words, standing bool) reading {
	n := len(ws) - 2
	if !standing || n < 1 || !ws[n:].StartWith("will", "do") || inAny(ws[0].Text, cities, countries) {
		return reading{}
	}
	return c.formOfAddress(ws[:n], false)
}

// A name in an order about one text, such as "use Elizabeth in the form", is no form of address.

// useName reads "Ann" after "use", which is a name only if it is a common one and the directive lasts.
func useName(c *claim, ws english.Words, standing bool) reading {
	if !standing || len(ws) != 1 || !givenNames.Has(ws[0].Text) {
		return reading{}
	}
	return c.formOfAddress(ws, standing)
}

// useUnits reads "metric units" after "use".
func useUnits(_ *claim, ws english.Words, _ bool) reading { return units(ws) }

// units reads "metric", "metric units", "the metric system" and "Celsius".
func units(ws english.Words) reading {
	ws = withoutArticle(ws)
	system := ws.At(0)
	switch {
	case (system == "metric" || system == "imperial") && (len(ws) == 1 || len(ws) == 2 && unitNouns.Has(ws[1].Text)):
		return reading{"units", system}
	case (system == "celsius" || system == "fahrenheit") && len(ws) == 1:
		return reading{"temperature unit", system}
	}
	return reading{}
}
