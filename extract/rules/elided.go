package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// In talk the subject is often left out: "Just adopted a cat", "Been sober for six years". Such a sentence is read with
// the words that are missing.

// elided reads statements without their subject.
func (c *clause) elided() topics {
	i := 0
	for elidedAdverbs.Has(c.at(i)) {
		i++
	}
	if c.task || c.addressed(0) || c.wordAt(i).Stop != 0 || c.content(i+1) == 0 && !c.elidedState(i) {
		return none
	}
	missing, enough := c.missing(i)
	if missing == nil || !enough {
		return none
	}
	full := newClause(join(missing, c.words[i:]))
	full.fired = c.fired
	if missing[0].Text == "my" {
		return full.possession(0)
	}
	return full.predicate(1)
}

// missing are the words that the statement at word i is without, and whether it tells enough to be one.
func (c *clause) missing(i int) (ws english.Words, enough bool) {
	if c.namesSubject(i) || c.praises(i) || c.at(i+1) == "and" { // "Love and acceptance matter"
		return nil, false
	}
	w, next := c.at(i), c.at(i+1)
	heavy, _ := weight(c.words[i:])
	switch {
	case w == "allergic", w == "down" && next == "to", c.elidedState(i), w == "busy" && next == "with",
		w == "not" && (english.Articles.Has(next) && next != "my" || next == "into"):
		return spoken("i", "am"), true
	case w == "have" && next == "not":
		return spoken("i"), heavy > 1
	case w == "been":
		return spoken("i", "have"), heavy > 0 && !beenTimes.Found(c.words[i:])
	case w == "used" && next == "to", (w == "can" || w == "could") && next == "not":
		return spoken("i"), heavy > 0
	case w == "going" && next == "to":
		return spoken("i", "am"), heavy > 1
	case elidedTastes.Has(w):
		return spoken("i"), heavy > 1 || english.Pronouns.Has(next) && heavy > 0
	case beginsEvent(w):
		return spoken("i"), c.tellsEvent(i)
	case c.ownedBare(i):
		return spoken("my"), true
	case c.beginsActivity(i):
		return spoken("i", "am"), (i > 0 || c.anchored(i)) && heavy > 1 || heavy > 2
	}
	return nil, false
}

// leadsIn reports whether the words from i on only lead into a clause with a subject of its own: "Based in Madrid, my
// sister books tours".
func (c *clause) leadsIn(i int) bool {
	for j := i + 1; j+1 < len(c.words); j++ {
		if c.words[j-1].Stop == ',' && (speakerWords.Has(c.at(j)) || english.Pronouns.Has(c.at(j)) ||
			english.Articles.Has(c.at(j)) && finite(c.words[j:])) {
			return true
		}
	}
	return false
}

// ownedBare reports whether the word at i is the speaker's own without "my": "Budget is 1200 euros", "Email is
// ann@example.org". Contact data must be given, since "Email is down" is of a server.
func (c *clause) ownedBare(i int) bool {
	w, next := c.at(i), c.at(i+1)
	given := contacts.Has(w) && next == "is" && (c.numberWithin(i+2, 5) || strings.Contains(c.at(i+2), "@"))
	return given || bareOwned.Has(w) && finiteVerb(next) || c.recorded(i) && w != "the" && !c.words.Any(publicMeasures)
}

// elidedState reports whether the clause has "I am" missing before the word at i: "Vegetarian here since university",
// "Single again", "Based in Porto". A trait alone may be of anything: "German food".
func (c *clause) elidedState(i int) bool {
	next := c.at(i + 1)
	if c.at(i) == "based" && next == "in" {
		return !c.leadsIn(i)
	}
	if !english.States.Has(c.at(i)) || c.words.Has("please") {
		return false
	}
	return next == "here" || next == "again" || next == "since" || next == "for" && isCount(c.at(i+2))
}

// recorded reports whether the clause gives, from the word at i on, the number of a measure that people have one of:
// "10k personal best stands at 48:20", "the kitchen budget is 300 euros".
func (c *clause) recorded(i int) bool {
	for k := i; k < min(len(c.words), i+4); k++ {
		w := c.at(k)
		if records.Has(w) {
			return (k > i || w != "best" && w != "record" && w != "limit") && c.measured(k+1)
		}
		if c.words[k].Stop != 0 || k > i && english.Articles.Has(w) || speakerWords.Has(w) || english.Pronouns.Has(w) ||
			english.Prepositions.Has(w) || english.AgentVerbs.Has(w) || english.QuestionWords.Has(w) || finiteVerb(w) ||
			strings.HasSuffix(w, "'s") {
			return false
		}
	}
	return false
}

// measured reports whether the clause goes on at i, within a few words, with a verb and a number: "for the trip is 300
// euros", "stands at 48:20".
func (c *clause) measured(i int) bool {
	for j := i; j < min(len(c.words), i+maxOther); j++ {
		if c.words[j].Stop != 0 && !strings.ContainsRune("'’$€£", c.words[j].Stop) {
			return false
		}
		if w := c.at(j); finiteVerb(w) && !english.Past(w) || valueVerbs.Has(w) {
			return c.numberWithin(j+1, 5)
		}
	}
	return false
}

// numberWithin reports whether one of the n words from i on is a number that counts or measures: no "1st".
func (c *clause) numberWithin(i, n int) bool {
	for j := i; j < min(len(c.words), i+n); j++ {
		if w := c.at(j); english.StartsWithDigit(w) && !isOrdinal(w) {
			return true
		}
	}
	return false
}

// beginsEvent reports whether w may be the past form of a sentence that has no subject: "Adopted a cat".
func beginsEvent(w string) bool {
	return events.Has(w) || english.Past(w) && !english.Moods.Has(w) && !english.Evaluative.Has(w) &&
		!tenselessPast.Has(w) && !english.Participles.Has(w) && !strings.Contains(w, "-") // "much-needed"
}

// finiteWithin reports whether one of the n words from i on is a finite verb: "Painting helps me".
func (c *clause) finiteWithin(i, n int) bool {
	for j := i; j < min(len(c.words), i+n); j++ {
		w, next := c.at(j), c.at(j+1)
		// "The advanced exam" has a participle that is no verb: a noun is behind it.
		within := english.Past(w) && c.words[j].Stop == 0 && next != "" && !english.StopWords.Has(next) &&
			!english.StartsWithDigit(next) && (english.Articles.Has(c.at(j-1)) || english.Articles.Has(c.at(j-2)))
		if finiteVerb(w) && !english.PresentVerbs.Has(w) && !within {
			return true
		}
		stop, clause := c.words[j].Stop, speakerWords.Has(c.at(j+1)) || tailJoints.Has(c.at(j+1))
		if stop != 0 && (stop != ',' || clause) {
			return false // "Researching agencies — it's a dream", "Majoring in biology, so I'll ask"
		}
	}
	return false
}

// beginsActivity reports whether the word at i may begin a sentence of what the speaker is doing: "Working on a novel".
func (c *clause) beginsActivity(i int) bool {
	w := c.at(i)
	return strings.HasSuffix(w, "ing") && !english.Moods.Has(w) && !notGerunds.Has(w) && !english.Evaluative.Has(w) &&
		!c.words[i:].Any(addressee) && !c.finiteWithin(i+1, 14) && !c.gerundRules(i) && !c.judgedBehind(i)
}

// tellsEvent reports whether a sentence with the event at i and no subject is of the speaker. "Spread the butter on the
// bread" is a step of a recipe, and "Grilled with lemon – that's a meal" is praise.
func (c *clause) tellsEvent(i int) bool {
	heavy, _ := weight(c.words[i:])
	return i > 0 || c.anchored(i) || heavy > 2 && !bareSteps.Has(c.at(i)) && !c.judgedBehind(i)
}

// judgedBehind reports whether the words from i on are only judged behind a mark, so that they are the subject and not
// something that the speaker does: "Seeing them smile – it's a win!", "Studying and working too – impressive!". In
// "Researching schools – it's been a dream to teach" the judgement is of something else.
func (c *clause) judgedBehind(i int) bool {
	r := references{c.words, 0}
	for j := i + 2; j < len(c.words); j++ {
		if !strings.ContainsRune("–—-,.", c.words[j-1].Stop) || c.words[j-1].Stop == 0 {
			continue
		}
		w, be := c.at(j), c.at(j+1)
		if praise.Has(w) {
			return true
		}
		// "It" behind an event is often its object: "Joined a gym, it's in a cellar".
		points := w == "that" || w == known || (w == "it" || w == "this") && strings.HasSuffix(c.at(i), "ing")
		if points && (be == "is" || be == "was") && !(w == "it" && r.emptyIt(j)) {
			return !c.words[i:j].Any(firstPerson)
		}
	}
	return false
}

// praises reports whether a taste at i, which has no subject, is of what somebody shows: "Love the tattoo!".
func (c *clause) praises(i int) bool {
	switch c.at(i + 1) {
	case "the", "this", "that", "your":
		return elidedTastes.Has(c.at(i)) && !c.wordAt(i+2).Upper
	}
	return false
}

// gerundRules reports whether the activity at i is the subject of a verb, or says when another clause holds: "Finding
// shoes for wide, flat feet can be hard", "Preparing for a match, I focus on my breath".
func (c *clause) gerundRules(i int) bool {
	for j := i + 1; j < len(c.words); j++ {
		w := c.at(j)
		switch {
		case speakerWords.Has(w) && w != "my" && w != "our":
			return c.words[j-1].Stop == ','
		case tailJoints.Has(w) && w != "and", subordinates.Has(w), w == "that", addressee.Has(w),
			c.words[j-1].Stop != 0 && c.words[j-1].Stop != ',':
			return false
		case english.Auxiliaries.Has(w):
			return true
		}
	}
	return false
}

// namesSubject reports whether the words at i are the subject of a verb behind them, so that none is missing:
// "Knowing a language opens doors", "Mixed emotions are rough". An object that begins with "the" or "my" keeps a past
// form a verb: "Adopted a cat". A clause within the sentence has a verb of its own: "Working on a project that is fun".
func (c *clause) namesSubject(i int) bool {
	gerund := strings.HasSuffix(c.at(i), "ing")
	if !gerund && !english.Past(c.at(i)) {
		return false
	}
	within := false
	for j := i + 1; j < len(c.words); j++ {
		w, before := c.at(j), c.wordAt(j-1)
		switch {
		case before.Stop != 0 && strings.ContainsRune(".!?;:–—-", before.Stop),
			!gerund && (english.Articles.Has(w) || english.Prepositions.Has(w) && w != "by" || subordinates.Has(w)):
			return false
		case subordinates.Has(w), w == "that" && (finiteVerb(c.at(j+1)) || subordinates.Has(c.at(j+1))):
			within = true
		case english.Articles.Has(before.Text) || !c.ruling(j):
		case within:
			within = false
		default:
			return true
		}
	}
	return false
}

// ruling reports whether the word at j is surely a finite verb: "is", "sounds", "fills" before "me".
func (c *clause) ruling(j int) bool {
	w, next := c.at(j), c.at(j+1)
	if english.Auxiliaries.Has(w) {
		return true
	}
	if !strings.HasSuffix(w, "s") || len(w) < 4 {
		return strings.HasSuffix(c.at(j-1), "s") && appears.Has(w+"s") // "tomatoes sound like"
	}
	return effects.Has(w) || appears.Has(w) || c.words[j].Stop == 0 &&
		(objects.Has(next) || english.Articles.Has(next) && !spans.Has(c.at(j+2)))
}
