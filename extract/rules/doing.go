package rules

import (
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/extract/english"
)

// doing judges a verb in the present or past without auxiliary; i is at the verb.
func (c *clause) doing(i int, negated bool) topics {
	p := c.from(i)
	p.negated = negated
	return doingRules.decide(p)
}

// doingRules judge a verb without auxiliary, from the verb.
var doingRules = table{
	{"I love jazz", rest(1, (*clause).liking), in(english.Likings)},
	{"I follow a vegan diet", as(personal), func(p *position) bool {
		return p.word == "follow" && p.near(p.i+1, regimens)
	}},
	{"I do not have kids", (*position).have, is("have")},
	{"I think schools deserve more money", as(details), func(p *position) bool {
		heavy, _ := weight(p.words[p.i:])
		agreed := p.word == "agree" && p.next != "that" // "I agree, Ann"
		judged := p.next == "about" || p.judges()
		return opinions.Has(p.word) && !agreed && heavy > 2 && !p.task && !p.points(1) && !p.points(2) && judged
	}},
	{"I try to eat less sugar", as(details), func(p *position) bool {
		heavy, _ := weight(p.words[p.i:])
		return p.word == "try" && p.next == "to" && heavy > 1 && !p.task && !p.points(2) && !p.points(3)
	}},
	{"I usually get up at six", as(details), func(p *position) bool {
		return p.word == "get" && p.next == "up" && p.at(p.i+2) == "at"
	}},
	{"I get the paper every day", as(details), func(p *position) bool {
		daily := p.words.Has("every") || p.words.Has("daily") || p.words.Has("weekly")
		return p.word == "get" && english.Articles.Has(p.next) && p.rest > 0 && daily && !p.task
	}},
	{"I get by with one car", as(details), func(p *position) bool {
		return p.word == "get" && p.next == "by" && isCount(p.at(p.i+3))
	}},
	{"I get migraines", as(personal), func(p *position) bool {
		return p.word == "get" && p.near(p.i+1, english.OwnNouns)
	}},
	{"I see a therapist every week", as(personal), func(p *position) bool {
		named := p.next == "dr" || p.wordAt(p.i+1).Upper && p.near(p.i+1, healers)
		return p.word == "see" && (named || p.near(p.i+1, healers) && (p.words.Any(regular) || p.timed ||
			p.words.Has("days") || p.words.Has("now"))) && !p.points(1)
	}},
	{"I support Chelsea", as(preference), func(p *position) bool {
		to := p.wordAt(p.i + 1)
		return supporting.Has(p.word) && to.Upper && p.rest > 0 && !p.task && !english.StopWords.Has(p.next) &&
			!english.DateWords.Has(p.next)
	}},
	{"I hold Chilean citizenship", as(personal), func(p *position) bool {
		return p.word == "hold" && p.nearNoun(p.i+1, citizenships)
	}},
	{"I sit on the parish council", as(personal), func(p *position) bool {
		sits := p.word == "sit" || p.word == "serve"
		return sits && p.next == "on" && !p.points(2) && p.nearNoun(p.i+2, memberships)
	}},
	{"I keep my notes in Evernote", as(details), (*position).keepsIn},
	{"I keep bees on the roof", as(personal), func(p *position) bool {
		return (p.word == "keep" || p.word == "kept" || p.word == "raise") && p.nearNoun(p.i+1, livestock)
	}},
	{"I fix boilers for a living", as(personal | details), func(p *position) bool {
		return p.forLiving() && !p.points(1)
	}},
	{"I sit the bar exam in July", as(details), func(p *position) bool {
		sits := p.word == "sit" || p.word == "take"
		return sits && p.nearNoun(p.i+1, exams) && p.timed && !p.task
	}},
	{"I think so", as(none), in(english.TalkVerbs)},

	{"I need a new laptop", as(details), func(p *position) bool {
		return p.word == "need" && p.next == "a" && p.at(p.i+2) == "new" && p.content(p.i+3) == 1 && !p.task && !p.past
	}},
	// Wishes. "Want" and "need" with a noun are about the next answer: "I want a recipe".
	{"I need glasses for everything", as(personal), func(p *position) bool {
		return p.word == "need" && !p.past && p.near(p.i+1, aids) && !p.task && !p.timed &&
			!p.words.Any(appointments)
	}},
	{"I want a sandwich", as(none), func(p *position) bool {
		return (p.word == "want" || p.word == "need") && p.next != "to"
	}},
	{"I want to become a nurse", rest(2, (*clause).wish), is("want")},
	{"I need to see my dentist on Friday", (*position).need, is("need")},
	{"I plan a trip to Rome", as(details), func(p *position) bool {
		return planVerbs.Has(p.word) && p.rest > 0 && !p.task
	}},
	{"I plan a query", as(none), in(planVerbs)},

	// Some habits need no object.
	{"I do not drive", as(personal), func(p *position) bool {
		return soloHabits.Has(p.word) && p.negated && p.rest == 0
	}},
	{"I smoke", as(personal), func(p *position) bool {
		return (p.word == "smoke" || p.word == "vape") && (p.next == "" || p.words[p.i].Stop != 0)
	}},
	{"I bring lunch from home these days", as(details), (*position).lately},

	{"I pay 850 a month in rent", as(details), func(p *position) bool {
		return (p.word == "pay" || p.word == "owe") && p.numberWithin(p.i+1, 2) && p.rest > 1 && !p.task
	}},
	{"I report to Helen", as(personal), (*position).tradesWith},

	{"I go jogging before work", as(details), func(p *position) bool {
		return p.word == "go" && strings.HasSuffix(p.next, "ing")
	}},
	{"I cycle to work now", as(details), func(p *position) bool {
		return commutes.Has(p.word) && p.next == "to" && (p.at(p.i+2) == "work" || p.at(p.i+2) == "school")
	}},
	{"I mentor a shy boy like me", as(details), (*position).strange},
	{"I heat with coal", as(details), (*position).byMeans},
	{"I live in Rome", (*position).habitual, func(p *position) bool {
		return english.PresentVerbs.Has(p.word) && !pastToo.Has(p.word)
	}},
	{"I moved to Rome", rest(0, (*clause).event), otherwise},
}

// lately reports whether the words say that something is done these days, and what: "these days I bring lunch from
// home".
func (p *position) lately() bool {
	w := p.word
	days := p.words.Has("nowadays") || p.words.Has("these") && p.words.Has("days") ||
		p.words.Has("instead") && p.words.Has("now") && !p.timed
	return days && !p.past && !p.task && !english.Past(w) && !english.TalkVerbs.Has(w) && !english.StopWords.Has(w) &&
		!opinions.Has(w) && p.rest > 0 && !p.points(1)
}

// judges reports whether an opinion is a judgement and no guess at what is so or will be: "I think tea is overrated",
// but not "I think the tram will come".
func (p *position) judges() bool {
	ws := p.words[min(p.i+1, len(p.words)):]
	if english.Auxiliaries.Has(ws.At(0)) {
		return false // "I think can come"
	}
	for k := range ws {
		w, to := ws[k].Text, k+1
		for english.Adverbs.Has(ws.At(to)) && ws.At(to) != "not" || degree.Has(ws.At(to)) {
			to++
		}
		next := ws.At(to)
		past := (w == "was" || w == "were") && !english.Past(next)
		be := (w == "is" || w == "are" || past) && !strings.HasSuffix(next, "ing") && !english.Prepositions.Has(next)
		if guesses.Has(w) || (w == "but" || w == "so") && k > 1 {
			return false
		}
		if be || english.Evaluative.Has(w) || verdicts.Has(w) || speakerWords.Has(w) ||
			k > 0 && ws[k-1].Text == "the" && strings.HasSuffix(w, "est") {
			return true
		}
	}
	return p.negated // "I don't believe in fate"
}

// tradesWith reports whether a verb that no table has ties the speaker to a name: "I report to Helen", "I test firmware
// at Siemens". Adverbs and the verbs of talk do not.
func (p *position) tradesWith() bool {
	w := p.word
	known := english.StopWords.Has(w) || english.TalkVerbs.Has(w) || english.PresentVerbs.Has(w) || finiteVerb(w) ||
		opinions.Has(w) || talkPast.Has(w)
	if p.taskAhead() || known || len(w) < 3 || strings.HasSuffix(w, "ly") || strings.HasSuffix(w, "ing") ||
		p.words[p.i].Upper || !unicode.IsLetter(rune(w[0])) {
		return false
	}
	for j := p.i + 1; j < min(len(p.words)-1, p.i+5); j++ {
		at, k := p.at(j), j+1
		if p.at(k) == "the" && k+1 < len(p.words) {
			k++ // "to the Economist"
		}
		name := p.words[k].Upper && !english.StopWords.Has(p.at(k)) && !english.DateWords.Has(p.at(k))
		if (at == "at" || at == "for" || at == "with" || at == "to" && j == p.i+1) && name {
			return true // but not "I convert Celsius to Fahrenheit"
		}
		if p.words[j].Stop != 0 || english.Pronouns.Has(at) || objects.Has(at) {
			return false
		}
	}
	return false
}

// taskAhead reports whether the clause has words of a task, up to the next one: "I bank with ING and their app logs me
// out" is about the bank.
func (p *position) taskAhead() bool {
	for i, w := range p.words {
		if i > p.i && (w.Text == "and" || w.Text == "but" || p.words[i-1].Stop != 0) {
			return p.words[:i].Any(english.TaskWords)
		}
	}
	return p.task
}

// keepsIn reports whether a verb says in what the speaker keeps a thing: "I keep my notes in Evernote".
func (p *position) keepsIn() bool {
	own := p.next == "my" || p.next == "our" || p.next == "all"
	if !own || p.word != "keep" && p.word != "store" && p.word != "track" {
		return false
	}
	for j := p.i + 2; j+1 < min(len(p.words), p.i+7) && p.words[j-1].Stop == 0; j++ {
		if in := p.at(j); in != "in" && in != "at" && in != "with" && (in != "on" || !p.words[j+1].Upper) {
			continue
		}
		return english.Articles.Has(p.at(j+1)) && p.at(j) != "on" || p.words[j+1].Upper
	}
	return false
}

// have judges "do not have kids", from "have".
func (p *position) have() topics { return p.having(p.i+1, false) }

// need judges "need to see my dentist", from "need": a wish, or else a duty.
func (p *position) need() topics {
	if t := p.wish(p.i + 2); t != none {
		return t
	}
	return p.duty(p.i + 2)
}

// habit judges the present: what somebody does for a living, or again and again; i is at the verb.
func (c *clause) habit(i int) topics { return c.from(i).habitual() }

// habitual is habit from a position.
func (p *position) habitual() topics { return habitRules.decide(p) }

// habitRules judge a verb in the present, from the verb.
var habitRules = table{
	{"I turn 40", as(personal | details), func(p *position) bool {
		return p.word == "turn" && isAge(p.next)
	}},

	{"I work days", as(personal), func(p *position) bool {
		after := p.at(p.i + 2)
		return p.word == "work" && workTimes.Has(p.next) && after != "on" && after != "a" && after != "per" && !p.task
	}},

	// A verb without an object that says something, unless "daily" or the like makes it a habit.
	{"I run", as(none), func(p *position) bool {
		much := p.next == "way" || p.next == "so" || p.next == "too" // "way too much coffee"
		counts := p.next == "one" && p.rest > 1                      // "one cup of coffee a day"
		return (p.rest == 0 || p.points(1) && !much && !counts) && !regular.Has(p.next)
	}},
	{"I live with their parents", as(none), func(p *position) bool {
		return english.Prepositions.Has(p.next) && p.points(2)
	}},
	{"I write all my code in Emacs", as(details), func(p *position) bool {
		last := len(p.words) - 1
		in := p.at(last-1) == "in" || p.at(last-1) == "with" || p.at(last-1) == "on"
		return p.task && p.mine(p.i+1) && in && p.words[last].Upper
	}},
	{"I use Docker", as(none), func(p *position) bool { return p.task && taskHabits.Has(p.word) }},

	{"I work at Acme", as(personal), in(lifeVerbs)},
	{"I eat no meat", as(personal | preference), func(p *position) bool {
		return dietVerbs.Has(p.word) && (p.negated || p.next == "no" || p.next == "only")
	}},
	{"I drink tea", as(preference), in(dietVerbs)},
	{"I play chess", as(details), otherwise},
}

// event judges something done; i is at the past form.
func (c *clause) event(i int) topics { return eventRules.decide(c.from(i)) }

// eventRules judge a verb in the past, from the verb.
var eventRules = table{
	// Talk, and the work at hand. A task word does no harm where a date and something owned make it a life's event.
	{"I talked about my illness at school", as(details), func(p *position) bool {
		return (p.word == "talked" || p.word == "spoke") && p.mine(p.i+1) && p.rest > 1
	}},
	{"I broke up", as(details), func(p *position) bool { return decisivePhrases.Match(p.words, p.i) > 0 }},
	{"I wanted to climb a mountain in Poland", as(details), func(p *position) bool {
		return p.word == "wanted" && p.next == "to" && p.rest > 2 && !p.task && !p.points(2)
	}},
	{"I did my degree in Delft", as(personal | details), func(p *position) bool {
		return p.word == "did" && p.next == "my" && p.nearNoun(p.i+2, schooling)
	}},
	{"I thought so", as(none), func(p *position) bool {
		return talkPast.Has(p.word) || p.word == "made" && p.next == "sure"
	}},
	{"I wrote the script", as(none), func(p *position) bool {
		return p.task && !(p.timed && p.mine(p.i))
	}},

	{"I graduated", as(details), in(decisivePast)},
	{"I turned 40", as(personal | details), func(p *position) bool {
		return p.word == "turned" && isAge(p.next)
	}},

	// A taste in the past is an event: it may have been the taste of one evening.
	{"I loved that", as(none), func(p *position) bool {
		return likingsPast.Has(p.word) && (p.points(1) || p.rest == 0)
	}},
	{"I loved the museum", as(details), in(likingsPast)},

	{"I went part time", as(details), func(p *position) bool {
		return p.word == "went" && (p.next == "part" || p.next == "full") && p.at(p.i+2) == "time"
	}},
	{"I bought a few years ago", as(none), (*position).lacksObject},
	{"I bought that", as(none), func(p *position) bool {
		this := demonstrative.Has(p.next) && p.rest > 1 // "I made this bowl in class"
		return p.rest == 0 || p.points(1) && !p.timed && !this
	}},
	{"I got myself a bike", as(details), func(p *position) bool {
		return (p.next == "myself" || p.next == "ourselves") && english.Articles.Has(p.at(p.i+2)) && p.rest > 0
	}},
	{"I got my visa", as(details), func(p *position) bool {
		my := p.next == "my" || p.next == "our"
		return (p.word == "got" || p.word == "received") && my && p.nearNoun(p.i+2, papers) && !p.task
	}},
	{"I got over the flu", as(details), func(p *position) bool {
		return p.word == "got" && p.next == "over" && p.near(p.i+2, illnesses)
	}},
	{"I found a new job", as(details), (*position).settles},
	{"I made a cake", as(none), func(p *position) bool {
		return weakPast.Has(p.word) && p.rest < 3 && (!p.timed || p.points(1)) && (p.rest < 2 || !p.anchored(p.i+1))
	}},

	{"I lived in Rome", as(personal | details), in(lifePast)},
	{"I adopted a cat", as(details), func(p *position) bool {
		return english.Past(p.word) || english.Participles.Has(p.word)
	}},
}

// strange reports whether a verb that no table has tells of something definite that the speaker does: "I color-code my
// notes to keep track". Its object shows that it is a verb.
func (p *position) strange() bool {
	w, next := p.word, p.next
	if p.task || p.past || p.points(1) || len(w) < 3 || p.words[p.i].Stop != 0 || !p.unknown() {
		return false
	}
	many := isPlural(next) && !english.StopWords.Has(next) && !p.wordAt(p.i+1).Upper // "notes"
	if p.usual() || len(w) < 4 {
		return p.usual()
	}
	heavy, _ := weight(p.words[p.i+1:])
	whom := p.at(p.i + 3) // "mail for the post office", but not "lemon for fruit"
	noun := p.wordAt(p.i + 1)
	mass := noun.Stop == 0 && !noun.Upper && english.Prepositions.Has(p.at(p.i+2)) && !english.StopWords.Has(next) &&
		!strings.HasSuffix(next, "ly") && !strings.HasSuffix(next, "ing") && next != "people" &&
		(english.Articles.Has(whom) || p.wordAt(p.i+3).Upper)
	return (many || mass || next == "my" || next == "our" || english.Articles.Has(next)) && heavy > 1
}

// byMeans reports whether a verb that no table has says by which means or where something is done: "I heat with coal",
// "I learn German on Duolingo". Behind an object the means must be a name.
func (p *position) byMeans() bool {
	if p.task || p.past || p.negated || len(p.word) < 4 || p.words[p.i].Stop != 0 || !p.unknown() {
		return false
	}
	for j := p.i + 1; j+1 < min(len(p.words), p.i+4); j++ {
		at, what := p.at(j), p.words[j+1]
		if at == "with" || at == "on" || at == "in" || at == "by" {
			if (at == "with" || at == "on") && english.Articles.Has(what.Text) && j+2 < len(p.words) {
				what = p.words[j+2] // "I heat with a pellet stove"
			}
			thing := !english.StopWords.Has(what.Text) && !english.Pronouns.Has(what.Text) &&
				!strings.HasSuffix(what.Text, "ing") && !english.StartsWithDigit(what.Text) &&
				!english.Evaluative.Has(what.Text) && !english.Moods.Has(what.Text)
			named := what.Upper && !english.DateWords.Has(what.Text) && j > p.i+1
			return thing && (j == p.i+1 && at != "in" || named) // "We wonen in Utrecht" is no English
		}
		if p.words[j].Stop != 0 || english.StopWords.Has(at) && !english.Articles.Has(at) {
			return false
		}
	}
	return false
}

// usual reports whether the words behind a verb say that it is done again and again, or for a living: "every day".
func (p *position) usual() bool {
	for j := p.i + 1; j < len(p.words) && p.words[j-1].Stop == 0 && p.at(j) != "and" && p.at(j) != "but"; j++ {
		if regular.Has(p.at(j)) {
			return true
		}
	}
	return p.forLiving()
}

// forLiving reports whether the words behind a verb end in "for a living".
func (p *position) forLiving() bool {
	for j := p.i + 1; j < len(p.words); j++ {
		if p.words[j:].StartWith("for", "a", "living") {
			return true
		}
	}
	return false
}

// unknown reports whether no table has the word, and its form is that of a verb in the present.
func (p *position) unknown() bool {
	w := p.word
	for _, known := range []english.Set{
		english.StopWords, english.TalkVerbs, english.PresentVerbs, english.Moods, english.Evaluative,
		english.Participles, opinions, talkPast,
	} {
		if known.Has(w) {
			return false
		}
	}
	ending := strings.HasSuffix(w, "ly") || strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "s")
	return !finiteVerb(w) && !ending && !p.words[p.i].Upper && unicode.IsLetter(rune(w[0]))
}

// lacksObject reports whether a verb that must have an object has only a time behind it: "I got a few years ago" leaves
// out what.
func (p *position) lacksObject() bool {
	if !withObject.Has(p.word) {
		return false
	}
	for j := p.i + 1; j < min(len(p.words), p.i+maxObject); j++ {
		w := p.at(j)
		switch {
		case w == "ago":
			return true
		case english.StartsWithDigit(w), smallNumbers.Has(w), english.Articles.Has(w), w == "few", w == "like",
			w == "couple", w == "of", english.Periods.Has(strings.TrimSuffix(w, "s")), english.Adverbs.Has(w):
		default:
			return false
		}
	}
	return false
}

// settles reports whether somebody comes by something of a life: "found a new job", "took a job at a mill", "got a
// place to live". The last noun of the object tells it, so that a job posting and a house plant are neither.
func (p *position) settles() bool {
	i := p.i + 1
	switch {
	case p.word != "found" && p.word != "got" && p.word != "took" && p.word != "left":
		return false
	case p.next == "work" && p.word == "found":
	case p.next == "a" || p.next == "an" || p.next == "another" || p.next == "my" || p.next == "our":
		i++
	default:
		return false
	}
	for ; i < len(p.words) && i < p.i+maxObject; i++ {
		after := p.at(i + 1)
		last := p.words[i].Stop != 0 || after == "" || english.Prepositions.Has(after) && after != "around" ||
			english.StopWords.Has(after) || english.Adverbs.Has(after)
		switch {
		case !last:
		case p.at(i) == "place": // to live, and not one to eat
			return after == "of" && p.mine(i) || after == "to" && homeVerbs.Has(p.at(i+2)) ||
				after == "in" && p.wordAt(i+2).Upper
		default:
			return lifeGoals.Has(p.at(i)) || findings.Has(p.at(i))
		}
	}
	return false
}

// maxObject bounds the words of an object, with its article and adjectives: "a lovely new two bedroom flat".
const maxObject = 7
