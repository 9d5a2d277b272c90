package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// An activity is a verb with what belongs to it: "work nights", "run", "play tennis". Who gives one up ends each
// statement of it that only goes on to say when, where, how much or with whom: "I no longer run" ends "I run ten miles
// every Sunday". A denial that says more leaves a statement that says less: "I no longer run on Sundays" does not end
// "I run every morning". So a statement has an attribute for each of its beginnings that may be an activity by itself,
// and a denial has one for all its words.

// activityAttribute begins the attribute of an activity: "activity run", "activity work nights".
const activityAttribute = "activity "

var (
	activityVerbs   = tables.Words("activity-verbs")
	activityLinks   = tables.Words("activity-links")
	activityObjects = tables.Words("activity-objects")
	activityTimes   = tables.Words("activity-times")
	activityDegrees = tables.Words("activity-degrees")
	amountLeads     = tables.Words("amount-leads")
	activityThings  = tables.Variants("activity-things")
	choiceVerbs     = tables.Words("choice-verbs")
	employed        = tables.Words("employed-verbs")
	pleasures       = tables.Words("pleasures")
	endTails        = tables.Phrases("end-tails")
	feasts          = tables.Words("feasts")
	recurring       = tables.Words("recurring")
	measureUnits    = tables.Words("measure-units")
)

// withActivities adds to the claims of a statement ws those about activities: that somebody is at one, as loose claims,
// or has ended one. Of an end it gives how many words bound it: 1 in "no longer run on Sundays". said are its words as
// they were written.
func (c *claim) withActivities(claims []Claim, ws, said english.Words) (_ []Claim, bounds int) {
	ws = cutAtComment(ws)
	o, predicate := c.subjectOf(withoutNow(ws))
	if len(predicate) == 0 || !o.isOne() {
		return claims, 0
	}
	if given, event := givenUp(predicate, o != ""); given != nil {
		given = cutAtReason(given)
		var when english.Words
		if event {
			given, when = timeOfEnd(given)
		}
		if !isActivity(given) {
			return claims, 0
		}
		if bounds = len(activityEnds(given)) - 1; bounds > 0 {
			// It may go on at other times and places.
			claims = slices.DeleteFunc(claims, func(c Claim) bool {
				return c.Ended && strings.Contains(" "+c.Attribute, " habit ")
			})
		}
		ended := Claim{Attribute: o.attribute(activityAttribute + given.String()), Value: held, Ended: true}
		return append(claims, (&variant{time: when}).dates([]Claim{ended})...), bounds
	}
	if c.doubts(cutAtDegree(said)) {
		return claims, 0
	}
	predicate = inPlainForm(withoutAdverbs(cutAtDegree(predicate)), o != "")
	if !isActivity(predicate) {
		return claims, 0
	}
	for _, what := range activityParts(predicate) {
		claims = append(claims, Claim{
			Attribute: o.attribute(activityAttribute + what.String()), Value: held, Several: true, Loose: true,
		})
	}
	return claims, 0
}

// cutAtDegree is ws up to a word that tells how much of an activity somebody does, or beside what: "smoke, mostly at
// work", "hum while I cook".
func cutAtDegree(ws english.Words) english.Words {
	for i := 1; i < len(ws); i++ {
		if activityDegrees.Has(ws[i].Text) {
			return ws[:i]
		}
	}
	return ws
}

// activityStem is the stem of the verb of the activity that claims are about; "" if they are about none.
func activityStem(claims []Claim) string {
	for _, c := range claims {
		if _, what, found := strings.Cut(" "+c.Attribute, " "+activityAttribute); found {
			verb, _, _ := strings.Cut(what, " ")
			return themeStem(verb)
		}
	}
	return ""
}

// activityParts are the activities that end with ws: each of its beginnings, and the shortest one with each thing that
// is said of it: "work", "work nights", "work at hospital" and all of "work nights at hospital".
func activityParts(ws english.Words) (out []english.Words) {
	ends := activityEnds(ws)
	for i, n := range ends {
		out = append(out, ws[:n])
		if i > 1 {
			out = append(out, slices.Concat(ws[:ends[0]], ws[ends[i-1]:n]))
		}
	}
	if ends[0] > 1 && saysSameAlone(ws) {
		out = append(out, ws[:1])
	}
	return out
}

// saysSameAlone reports whether a verb means the same without its object: who smokes a pipe smokes, and who runs a
// bakery does not run.
func saysSameAlone(ws english.Words) bool {
	what, _ := objectOf(ws[1:])
	return slices.Contains(activityThings.For(ws[0].Text), lastWord(what))
}

// activityEnds are the lengths of the beginnings of ws that may be an activity by themselves, ws among them.
func activityEnds(ws english.Words) (out []int) {
	for n := 1; n < min(len(ws), maxActivity); n++ {
		if goesOnAt(ws, n) {
			out = append(out, n)
		}
	}
	return append(out, len(ws))
}

// maxActivity bounds the words that are looked at, so that a long statement has few attributes.
const maxActivity = 12

// isActivity reports whether ws begins with a verb of an activity, which may need an object: "walk", but not "go".
func isActivity(ws english.Words) bool {
	return len(ws) > 0 && (activityVerbs.Has(ws[0].Text) ||
		habitVerbs.Has(ws[0].Text) && len(ws) > 1 && !goesOnAt(ws, 1))
}

// goesOnAt reports whether ws[:n] may be an activity by itself, and ws[n:] tells when, where or how much of it: "run"
// of "run at dawn". A verb without an object may be of another kind with one, such as "work on" and "play with".
func goesOnAt(ws english.Words, n int) bool {
	w, next := ws[n].Text, ws.At(n+1)
	if n == 1 && !activityVerbs.Has(ws[0].Text) {
		return false
	}
	before := ws[n-1].Text
	switch {
	case inAny(before, english.Prepositions, activityLinks) && n > 1, before == "every", before == "each":
		return false
	case n == 1 && ofAnotherKind(ws):
		return false
	case ws[n-1].Stop != 0, activityTimes.Has(w), activityLinks.Has(w) && next != "":
		return true
	case w == "for":
		return next != "" && (n > 1 || employed.Has(ws[0].Text) || forAmount(ws[n+1:])) // "run for mayor"
	case w == "half" && english.Articles.Has(next): // "half a pack a day"
		return true
	case measureUnits.Has(singular(w)), english.Articles.Has(w) && measureUnits.Has(next):
		return true
	case english.StartsWithDigit(w):
		return measureUnits.Has(singular(next)) || strings.IndexFunc(w, isLetter) > 0 // "ten miles", "5k"
	case amountLeads.Has(w) && english.StartsWithDigit(next):
		return true
	case w == "on":
		return timeWord(next) || n > 1
	case w == "to" || w == "before" || w == "after":
		if english.Articles.Has(next) || possessives.Has(next) {
			next = ws.At(n + 2)
		}
		return activityObjects.Has(next) || w != "to" && recurring.Has(next)
	}
	return timeWord(w)
}

// ofAnotherKind reports whether what follows a verb makes it another activity than the verb alone: "work with clay",
// "work in my garden", "drink from the tap", which is no alcohol.
func ofAnotherKind(ws english.Words) bool {
	w := ws.At(1)
	switch ws[0].Text {
	case "work":
		return activityLinks.Has(w) && (w == "with" || possessives.Has(ws.At(2)))
	case "drink":
		return w == "from" || w == "out"
	}
	return false
}

// forAmount reports whether what follows "for" behind an activity tells how long or why it is done, and not at what it
// aims: "an hour", "fun", but not "mayor".
func forAmount(ws english.Words) bool {
	w := ws.At(0)
	return pleasures.Has(w) || english.StartsWithDigit(w) || len(ws) > 1 && namesSpan(ws)
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' }

// timeWord reports whether w is a time at which something is done again and again: "nights", "sundays".
func timeWord(w string) bool {
	return inAny(singular(w), english.DateWords, english.Periods) || english.DateWords.Has(w) || activityTimes.Has(w)
}

// givenUp reads what a predicate says that its subject does no longer, in the plain form: "run" of "no longer run" and
// "stopped running", "work nights" of "do not work nights anymore"; nil if it says no such thing. It reports whether
// the predicate tells of the end as an event, which has a time.
func givenUp(ws english.Words, third bool) (given english.Words, event bool) {
	ws = withoutHave(withoutAdverbs(ws))
	rest, anymore := withoutAnymore(ws)
	switch {
	case anymore:
		before, _ := affirmed(rest)
		return inPlainForm(before, third), false
	case ws.StartWith("no", "longer") && len(ws) > 2:
		return inPlainForm(ws[2:], third), false
	}
	n := 0
	switch w := ws.At(0); {
	case w == "stopped", w == "quit":
		n = 1
	case (w == "gave" || w == "given") && ws.At(1) == "up", w == "packed" && (ws.At(1) == "in" || ws.At(1) == "up"):
		n = 2
	}
	if n == 0 {
		return nil, false
	}
	verb := english.Infinitive(ws.At(n))
	if w := ws.At(n); possessives.Has(w) || w == "the" { // "gave up the running"
		if n++; !activityVerbs.Has(english.Infinitive(ws.At(n))) {
			return nil, false
		}
		verb = english.Infinitive(ws.At(n))
	}
	if verb == "" {
		return nil, false
	}
	return replaceFirst(withoutWholly(withoutRecentTime(ws))[n:], english.Word{Text: verb, Stop: ws[n].Stop}), true
}

// timeOfEnd takes from an activity that was given up the time at which it was: "in June". "On Sundays" is a part of the
// activity.
func timeOfEnd(ws english.Words) (activity, when english.Words) {
	for i := 1; i < len(ws); i++ {
		next := ws.At(i + 1)
		if wholly := endTails.Match(ws, i); wholly > 0 && i+wholly == len(ws) || eventBehind(ws[i:]) {
			return ws[:i], nil
		}
		counts := english.StartsWithDigit(ws[i].Text) && i+2 < len(ws) && ws[len(ws)-1].Text == "ago"
		day := onDay(ws[i+1:]) || // "on 1 March"
			ws[i].Text == "on" && (ws[i+1:].StartWith("new", "year's") || ws[i+1:].StartWith("my", "birthday"))
		if counts || day || ws[i].Text == "last" || inAny(ws[i].Text, timeLeads, english.Prepositions) &&
			(inAny(next, english.DateWords, seasons) || monthNumbers.Of(next) != "" || isYear(next)) {
			return ws[:i], ws[i:]
		}
	}
	return ws, nil
}

// eventBehind reports whether ws tells of what happened once, as time of an end: "after my surgery", "when I turned
// 30", "two weeks before the wedding", "at Easter", "at 40". "After the gym" and "when I drink" bound the activity.
func eventBehind(ws english.Words) bool {
	if english.StartsWithDigit(ws.At(0)) && inAny(singular(ws.At(1)), english.DateWords, english.Periods) {
		ws = ws[2:]
	}
	w, next := ws.At(0), ws.At(1)
	last := ws.At(len(ws) - 1)
	// "At home" and "over the week" bound an activity. A feast and an age come once.
	switch w {
	case "at", "over", "around", "since":
		return feasts.Has(next) || w == "at" && len(ws) == 2 && english.StartsWithDigit(next)
	case "after", "before", "when", "once":
	default:
		return false
	}
	for i := 2; i < len(ws); i++ {
		if english.Past(ws[i].Text) {
			return true
		}
	}
	return w != "when" && (possessives.Has(next) || english.Articles.Has(next)) && !activityObjects.Has(last) &&
		!timeWord(last) && !recurring.Has(last)
}

// onDay reports whether ws begins with a day of a month: "1 March", "the first of March".
func onDay(ws english.Words) bool {
	if ws.At(0) == "the" {
		ws = ws[1:]
	}
	if !english.StartsWithDigit(ws.At(0)) && ordinals.Of(ws.At(0)) == "" {
		return false
	}
	month := ws.At(1)
	if month == "of" {
		month = ws.At(2)
	}
	return monthNumbers.Of(month) != ""
}

// inPlainForm is a predicate in the present with its verb as "I" has it.
func inPlainForm(ws english.Words, third bool) english.Words {
	if isBe(ws.At(0)) && endsInIng(ws.At(1)) {
		if verb := english.Infinitive(ws[1].Text); verb != "" {
			return replaceFirst(ws[1:], english.Word{Text: verb, Stop: ws[1].Stop})
		}
	}
	if !third || len(ws) == 0 {
		return ws
	}
	for _, verb := range []string{strings.TrimSuffix(ws[0].Text, "s"), strings.TrimSuffix(ws[0].Text, "es")} {
		if english.ThirdPerson(verb) == ws[0].Text {
			return replaceFirst(ws, english.Word{Text: verb, Stop: ws[0].Stop})
		}
	}
	return ws
}

// cutAtReason is ws up to a mark or to a reason, neither of which bounds a denial: "because of my knee".
func cutAtReason(ws english.Words) english.Words {
	for i := 1; i < len(ws); i++ {
		if stopsClause(ws[i-1].Stop) || reasons.Has(ws[i].Text) {
			return ws[:i]
		}
	}
	return ws
}

// hasBound reports whether a theme is about the thing that bounds an activity: "no longer volunteer at the shelter".
func (t *theme) hasBound() bool {
	return t.target >= 0 && (t.nouns[t.target].behind || len(t.nouns[t.target].behindIt) > 0)
}
