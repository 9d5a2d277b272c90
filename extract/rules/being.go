package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// being judges the complement of "am" or "was": age, origin, job, state, taste, or what is going on. Moods are not
// kept unless they hang on a date or on something owned. i is the first word after the verb.
func (c *clause) being(i int, past bool) topics {
	i, _ = c.skipAdverbs(i)
	for degree.Has(c.at(i)) {
		i++
	}
	p := c.from(i)
	p.past = past
	return beingRules.decide(p)
}

// beingRules judge a complement, from its first word.
var beingRules = table{
	// "Going to" with a place behind it is a journey, with a verb a plan.
	{"I am going to Rome", as(details), func(p *position) bool {
		return p.word == "going" && p.next == "to" && p.toPlace()
	}},
	{"I am going to learn Polish", rest(2, (*clause).future), func(p *position) bool {
		return p.word == "going" && p.next == "to"
	}},
	{"I am going skiing on Friday", as(details), func(p *position) bool {
		return p.word == "going" && p.timed && p.rest > 0 && !p.points(1)
	}},

	{"I am able to walk again without a stick", as(details), func(p *position) bool {
		heavy, _ := weight(p.words[min(p.i+2, len(p.words)):])
		return p.word == "able" && p.next == "to" && heavy > 1 && !p.task && !p.points(3)
	}},
	{"I am at work right now", as(none), func(p *position) bool {
		here := p.next == "work" || p.next == "home" || p.next == "school"
		return p.word == "at" && here && (rightNow.Found(p.words) || p.words.Has("currently"))
	}},
	{"I was in tears", as(none), func(p *position) bool {
		return p.word == "in" && (p.next == "tears" || p.next == "stitches" || p.next == "shock" || p.next == "awe")
	}},
	{"I am in the marketing team", as(personal), func(p *position) bool {
		at := p.word == "in" || p.word == "on" || p.word == "with" || p.word == "at"
		return at && !p.past && !p.points(1) && !p.task && p.nearNoun(p.i+1, memberships)
	}},
	{"I am on good terms with my ex", as(personal), func(p *position) bool {
		return p.word == "on" && (p.next == "terms" || p.at(p.i+2) == "terms") && !p.task
	}},
	{"I am part of the choir", as(personal), func(p *position) bool {
		return p.word == "part" && p.next == "of" && p.namesObject()
	}},

	{"Tom and I are together since July", as(personal), func(p *position) bool {
		return p.word == "together" && (p.next == "" || p.next == "since" || p.next == "now" || p.next == "again" ||
			p.next == "for" || p.next == "with") && p.at(p.i-3) == "and" && !p.points(2)
	}},
	{"I am at Acme till six every day", as(details), func(p *position) bool {
		often := p.words.Has("every") || p.words.Has("daily")
		at := p.word == "at" || p.word == "in"
		return at && often && !p.past && p.rest > 1 && !p.points(1) && !transient.Has(p.next)
	}},
	{"I am in love with chess again", as(preference), func(p *position) bool {
		return p.word == "in" && p.next == "love" && p.at(p.i+2) == "with" && p.content(p.i+3) > 0 && !p.points(3)
	}},
	{"I am on my way to Rome", as(none), func(p *position) bool {
		return p.word == "on" && p.next == "my" && p.at(p.i+2) == "way" && !p.past
	}},
	{"I am on 50 mg of sertraline a day", as(personal), func(p *position) bool {
		return p.word == "on" && english.StartsWithDigit(p.next) && doseUnits.Has(p.at(p.i+2)) && p.content(p.i+3) > 0
	}},
	{"I am on an iPhone 15 now", as(personal), (*position).isOnNow},
	{"I am four in the flat now", as(personal), func(p *position) bool {
		return isCount(p.word) && (p.next == "in" || p.next == "at") && p.atHome(p.i+1)
	}},
	{"I am in bed by 11", as(details), func(p *position) bool {
		return p.word == "in" && p.next == "bed" && p.numberWithin(p.i+2, 3)
	}},
	{"I am not seeing anyone", as(personal), func(p *position) bool {
		who := p.next == "anyone" || p.next == "anybody" || p.next == "someone" || p.next == "somebody"
		return (p.word == "seeing" || p.word == "dating") && who && !p.past
	}},
	{"I am taking Spanish lessons", as(details), func(p *position) bool {
		return p.word == "taking" && p.nearNoun(p.i+1, lessons) && !p.past && !p.task
	}},
	{"I am house hunting", as(details), func(p *position) bool {
		return (p.word == "house" || p.word == "flat" || p.word == "apartment") && p.next == "hunting"
	}},
	{"I am insured with Axa", as(personal), func(p *position) bool {
		return p.word == "insured" && (p.next == "with" || p.next == "by") && p.wordAt(p.i+2).Upper
	}},
	{"I am going out with Tom", as(personal), func(p *position) bool {
		who := p.wordAt(p.i + 3)
		named := who.Upper && !english.StopWords.Has(who.Text) || who.Text == "someone" || who.Text == "somebody"
		return p.word == "going" && p.next == "out" && p.at(p.i+2) == "with" && named && !p.past && !p.timed &&
			!p.words.Has("tonight") && !rightNow.Found(p.words)
	}},
	{"I am in a dorm in Leeds", as(personal), func(p *position) bool {
		k := p.i + 2
		for k < p.i+5 && !dwellings.Has(p.at(k)) {
			k++
		}
		return p.word == "in" && english.Articles.Has(p.next) && dwellings.Has(p.at(k)) && p.at(k+1) == "in" &&
			p.wordAt(k+2).Upper && !p.past
	}},
	{"I am back in love with chess", as(preference), func(p *position) bool {
		return p.word == "back" && p.next == "in" && p.at(p.i+2) == "love" && p.content(p.i+4) > 0 && !p.points(4)
	}},
	{"I am waiting for my visa", as(details), func(p *position) bool {
		mine := p.at(p.i+2) == "my" || p.at(p.i+2) == "our"
		return p.word == "waiting" && (p.next == "for" || p.next == "on") && mine && p.content(p.i+3) > 0 && !p.task
	}},
	{"I am back from Rome", as(details), func(p *position) bool {
		return p.word == "back" && p.next == "from" && p.wordAt(p.i+2).Upper && p.content(p.i+2) > 0
	}},
	{"I am back to loving jazz", as(preference), func(p *position) bool {
		verb := strings.TrimSuffix(p.at(p.i+2), "ing")
		liked := english.Likings.Has(verb) || english.Likings.Has(verb+"e")
		return p.word == "back" && p.next == "to" && liked && !p.past && !p.points(3) && p.content(p.i+3) > 0
	}},
	{"I am back into jazz", as(preference), func(p *position) bool {
		return p.word == "back" && (p.next == "into" || p.next == "on") && !p.past && !p.task && !p.points(2) &&
			!transient.Has(p.at(p.i+2)) && p.content(p.i+2) > 0 && !determiners.Has(p.at(p.i+2))
	}},
	{"I am on extension 226", as(personal), func(p *position) bool {
		return p.word == "on" && noted.Has(p.next) && english.StartsWithDigit(p.at(p.i+2))
	}},
	{"I am lucky to have my husband", as(personal), func(p *position) bool {
		return p.next == "to" && p.at(p.i+2) == "have" && p.at(p.i+3) == "my" && nounTopics(p.words[p.i+4:]) != none
	}},
	{"I am busy with the choir", as(details), func(p *position) bool {
		busy := p.word == "busy" || p.word == "swamped"
		return busy && (p.next == "with" || strings.HasSuffix(p.next, "ing")) && p.rest > 0 && !p.task && !p.points(2)
	}},

	// Talk, and the work at hand.
	{"I am sure", as(none), func(p *position) bool {
		return talkComplements.Has(p.word) || english.Pronouns.Has(p.word)
	}},
	{"I am behind with the code", as(none), func(p *position) bool {
		return p.task && !english.Articles.Has(p.word) // "I am a programmer" has task words too
	}},

	// Lasting states. Most of them count only with an object that says something.
	{"I am vegan", as(personal), in(english.States)},
	{"I am in charge of sales", as(personal), func(p *position) bool { // also "in my thirties"
		return p.word == "in" && (p.next == "my" || p.next == "charge") && p.rest > 0
	}},
	{"I am between jobs", as(personal), func(p *position) bool {
		return p.word == "between" && p.near(p.i+1, lifeGoals)
	}},
	{"I am 34 years old", as(personal), func(p *position) bool { // but not "34 km away"
		return isAge(p.word) && (p.next == "" || p.words[p.i].Stop != 0 || ageUnits.Has(p.next))
	}},
	{"I am at 71 kg", as(personal), func(p *position) bool { // also "down to 71 kg"
		for i := p.i + 1; i < min(len(p.words), p.i+4); i++ {
			if english.StartsWithDigit(p.at(i)) && (measures.Has(p.at(i+1)) || endsInMeasure(p.at(i))) {
				return p.word == "at" || p.word == "down" || p.word == "up" || p.word == "about"
			}
		}
		return false
	}},
	{"I am down to one car", as(personal), func(p *position) bool {
		return (p.word == "down" || p.word == "up") && p.next == "to" && isCount(p.at(p.i+2)) && !p.task &&
			p.content(p.i+3) > 0
	}},
	{"I am allergic to nuts", as(personal), func(p *position) bool {
		return (p.word == "allergic" || p.word == "intolerant") && p.namesObject()
	}},
	{"I am from Porto", as(personal), func(p *position) bool {
		return origins.Has(p.word) && p.namesObject()
	}},
	{"I am afraid of dogs", as(personal), func(p *position) bool {
		return fears.Has(p.word) && p.next == "of" && p.namesObject()
	}},
	{"I am a nurse", rest(0, (*clause).noun), func(p *position) bool {
		return english.Articles.Has(p.word) && p.word != "my"
	}},
	// A capital makes a name or a people of a word that no table knows. The past is left out, since "I was Head" is a
	// title as often.
	{"I am Tom", as(personal), func(p *position) bool {
		return p.wordAt(p.i).Upper && !p.past && !english.StopWords.Has(p.word) && !strings.HasSuffix(p.word, "ing") &&
			!english.Moods.Has(p.word)
	}},

	// Tastes and skills.
	{"I am fond of tea", as(preference), func(p *position) bool {
		return tastes.Has(p.word) && p.namesObject() &&
			!english.Pronouns.Has(p.at(p.i+2)) && !english.Pronouns.Has(p.at(p.i+3)) // "fond of all that"
	}},
	{"I am bad at chess", as(details), func(p *position) bool {
		return abilities.Has(p.word) && p.next == "at" && p.namesObject()
	}},
	{"I am on a keto diet", as(personal), func(p *position) bool {
		return p.word == "on" && (p.near(p.i+1, regimens) || p.medicineAt(p.i+1) && !p.task)
	}},

	// Events that befell the speaker, and ongoing actions. A passive that no table has must say more.
	{"I was promoted", as(details), func(p *position) bool {
		return happenings.Has(p.word) && (p.rest > 0 || p.past && p.word != "used")
	}},
	{"I was attacked by stray dogs last week", as(details), func(p *position) bool {
		return p.past && english.Past(p.word) && !english.Moods.Has(p.word) && p.rest > 1 && p.anchored(p.i)
	}},
	{"I am off to the dentist with my son", as(details), func(p *position) bool {
		return p.word == "off" && p.next == "to" && p.rest > 1 && !p.points(2)
	}},
	{"I am moving to Rome", progressRules.decide, func(p *position) bool {
		return strings.HasSuffix(p.word, "ing") && !english.Moods.Has(p.word)
	}},
	{"I am at Lidl buying bread", as(none), func(p *position) bool {
		at := (p.word == "at" || p.word == "in") && !p.past
		return at && (p.words[p.i:].Any(pastimes) || p.words[p.i:].Has("buying")) && !p.words.Any(regular) && !p.timed
	}},
	{"I was in Rome", as(details), func(p *position) bool {
		return english.Prepositions.Has(p.word) && !p.points(1) && !transient.Has(p.next) && p.tellsPlace()
	}},

	{"I am excited to chase my dreams", as(none), func(p *position) bool {
		return english.Moods.Has(p.word) && p.next == "to" && !p.timed
	}},
	// Other adjectives are moods, unless they hang on something.
	{"I am proud of my daughter's degree", as(details), func(p *position) bool {
		return p.rest > 1 && p.anchored(p.i+1)
	}},
}

// nearNoun reports whether one of the next words names one of nouns.
func (p *position) nearNoun(i int, nouns english.Set) bool {
	for k := i; k < min(len(p.words), i+5); k++ {
		if w := p.at(k); nouns.Has(w) || nouns.Has(strings.TrimSuffix(w, "s")) {
			return true
		}
		if p.words[k].Stop == ',' {
			return false
		}
	}
	return false
}

// isOnNow reports whether what the speaker is on now has a name or is a pay: "on an iPhone 15 as of today", "on 43k
// now".
func (p *position) isOnNow() bool {
	lately := p.words.Has("now") || p.words.Has("since") || p.words.Has("these") || p.words[p.i:].Has("as")
	if p.word != "on" || p.past || p.task || !lately {
		return false
	}
	at := p.i + 1
	if english.Articles.Has(p.at(at)) {
		at++
	}
	pay := english.StartsWithDigit(p.at(at)) && (strings.HasSuffix(p.at(at), "k") || p.at(at+1) == "k")
	model := english.StartsWithDigit(p.at(at+1)) && !english.StopWords.Has(p.at(at)) && at > p.i+1 // "an iPhone 15"
	return pay || model || p.wordAt(at).Upper && !english.DateWords.Has(p.at(at))
}

// toPlace reports whether "to" at the next word leads to a place, and not to a verb: "to Rome", "to the sea on Friday".
func (p *position) toPlace() bool {
	to := p.wordAt(p.i + 2)
	return to.Upper || english.Articles.Has(to.Text) && p.anchored(p.i) && p.content(p.i+2) > 0
}

// tellsPlace reports whether what follows the preposition is more than a passing state: a name, the past, or some
// words and something to hold on to.
func (p *position) tellsPlace() bool {
	if p.past || p.wordAt(p.i+1).Upper {
		return p.rest > 0
	}
	return p.rest > 1 && p.anchored(p.i)
}

// noun judges "am a nurse", "was the captain of the team"; i is at the article.
func (c *clause) noun(i int) topics {
	j := i + 1
	for degree.Has(c.at(j)) || english.Evaluative.Has(c.at(j)) {
		j++
	}
	if t, ok := c.fan(j); ok {
		return t
	}
	head, content := c.at(j), c.content(j)
	if emptyHeads.Has(head) || english.Deictic.Has(head) || english.StopWords.Has(head) || content == 0 ||
		c.at(i) == "the" && content < 2 {
		return none
	}
	return personal
}

// fan reads "a fan of jazz" and "a dog lover", of which the noun begins at j. It reports whether it is one of these.
func (c *clause) fan(j int) (topics, bool) {
	for k := j; k < j+3; k++ {
		if w := c.at(k); w != "fan" && w != "lover" {
			continue
		}
		of := c.content(k+1) > 0 && !english.Deictic.Has(c.at(k+2))
		if of || k > j {
			return preference, true
		}
		return none, true // "a fan of that"
	}
	return none, false
}

// progressRules judge "am moving to Rome", from the participle.
var progressRules = table{
	{"I am taking sertraline", as(personal), func(p *position) bool {
		return p.word == "taking" && p.medicineAt(p.i+1) && !p.task
	}},
	{"I am thinking about moving to Rome", as(details), func(p *position) bool {
		return p.word == "thinking" && (p.next == "of" || p.next == "about") && strings.HasSuffix(p.at(p.i+2), "ing") &&
			p.content(p.i+3) > 0 && !p.points(4)
	}},
	// A job changes a life; a recipe is only the next answer.
	{"I am looking for a job", as(details), func(p *position) bool {
		return p.word == "looking" && p.next == "for" && p.near(p.i+2, lifeGoals)
	}},

	{"I am loving jazz again", as(preference), func(p *position) bool {
		taste := p.word == "loving" || p.word == "enjoying" || p.word == "liking" || p.word == "hating"
		doing := strings.HasSuffix(p.next, "ing") && p.rest > 1
		return taste && p.rest > 0 && !p.points(1) && (doing || p.words.Has("again") || p.words.Has("lately") ||
			p.words.Has("nowadays") || p.words.Has("these") && p.words.Has("days"))
	}},
	{"I am looking forward to summer", as(none), func(p *position) bool {
		named := slices.ContainsFunc(p.words[p.i:], func(w english.Word) bool { return w.Upper })
		return p.word == "looking" && p.next == "forward" && !p.timed && !named
	}},
	{"I am cooking rice", as(none), func(p *position) bool {
		return pastimes.Has(p.word) && !p.timed && !p.words.Has("again") && !p.words.Any(regular) && !p.mine(p.i+1)
	}},
	{"I am working on since May", as(none), func(p *position) bool { // of which the object is left out
		return p.next == "on" && (p.at(p.i+2) == "for" || p.at(p.i+2) == "since")
	}},
	{"I am trying out yoga", as(details), func(p *position) bool {
		return p.word == "trying" && p.next == "out" && p.content(p.i+2) > 0 && !p.points(2) && !p.task
	}},
	{"I am getting divorced", as(personal), func(p *position) bool {
		return p.word == "getting" && (english.States.Has(p.next) || p.next == "divorced" || p.next == "separated")
	}},
	{"I am debugging the gate", as(none), func(p *position) bool {
		return talkParticiples.Has(p.word) || p.rest == 0
	}},
	{"I am holding that book", as(none), func(p *position) bool {
		return p.points(1) && (p.rest < 2 || english.Pronouns.Has(p.next))
	}},

	{"I am seeing the dentist on Friday", as(details), func(p *position) bool {
		return appointedParticiples.Has(p.word) && p.timed
	}},
	{"I am writing a novel", as(details), func(p *position) bool {
		return (p.word == "writing" || p.word == "reading") && !p.points(1) &&
			(p.word == "writing" && p.nearNoun(p.i+1, works) || p.word == "reading" && p.wordAt(p.i+1).Upper)
	}},
	{"I am reading a novel by a poet from Porto", as(details), func(p *position) bool {
		heavy, _ := weight(p.words[p.i+1:])
		return weakParticiples.Has(p.word) && p.word != "trying" && heavy > 2 && !p.task
	}},
	// "Trying" is the work at hand even where it is about something owned.
	{"I am reading a book", as(none), func(p *position) bool {
		return weakParticiples.Has(p.word) && (p.rest < 2 || !p.timed && (p.word == "trying" || !p.mine(p.i+1)))
	}},
	{"I am working at Acme", as(personal | details), func(p *position) bool {
		return p.word == "working" || p.word == "living" || p.word == "studying"
	}},
	{"I am renovating our kitchen", as(details), otherwise},
}

// endsInMeasure reports whether a number has its unit behind it: "71kg".
func endsInMeasure(w string) bool { return measures.Has(strings.TrimLeft(w, "0123456789.,")) }
