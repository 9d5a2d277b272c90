package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// predicate judges what "I" or "we" is said to be, have, do, like or want; i is the first word after the subject.
func (c *clause) predicate(i int) topics {
	i, negated := c.skipAdverbs(i)
	if c.addressed(i) && !(english.Likings.Has(c.at(i)) && c.content(i) > 3) {
		return none // "I hope you…"
	}
	if t, ok := c.thought(i); ok {
		return t
	}
	switch verb := c.at(i); verb {
	case "am", "are", "was", "were": // "I am a nurse"
		return c.being(i+1, verb == "was" || verb == "were")
	case "have", "had": // "I have two kids"
		return c.having(i+1, verb == "had")
	case "got": // "I got married"
		return c.got(i + 1)
	case "do", "does": // "I do yoga", "I do not smoke"
		return c.doesDo(i, negated)
	case "did": // "I did not like the museum"
		return c.didDo(i)
	case "used": // "I used to smoke"
		return c.usedTo(i)
	case "will", "shall": // "I will move to Rome"
		return c.future(i + 1)
	case "would": // "I would rather have tea"
		return c.would(i + 1)
	case "can": // "I can speak Polish"
		return c.ability(i + 1)
	case "must": // "I must see my dentist on Friday"
		return c.must(i + 1)
	}
	return c.doing(i, negated) // "I live in Rome", "I moved to Rome"
}

// thought judges "think I am allergic", "found out I am pregnant" by the thought: only a trait that lasts is worth it.
// i is at "think". It reports whether there is a thought of the speaker.
func (c *clause) thought(i int) (topics, bool) {
	j := i + 1
	learned := learnings.Match(c.words, i)
	if learned > 0 {
		j = i + learned
	}
	if c.at(j) == "that" {
		j++
	}
	if w := c.at(j); !opinions.Has(c.at(i)) && learned == 0 || w != "i" && w != "my" {
		return none, false
	}
	inner := newClause(c.words[j:])
	if c.at(j) == "my" {
		return inner.possession(0) & personal, true
	}
	return inner.predicate(1) & personal, true
}

// doesDo tells the auxiliary of "I do not smoke" from the verb of "I do yoga"; i is at "do".
func (c *clause) doesDo(i int, negated bool) topics {
	j, not := c.skipAdverbs(i + 1)
	w := c.at(j)
	auxiliary := english.Likings.Has(w) || english.PresentVerbs.Has(w) || english.TalkVerbs.Has(w) || w == "have"
	if c.at(i) == "do" && !not && !auxiliary {
		return c.habit(i)
	}
	return c.doing(j, not || negated)
}

// didDo judges "I did not like the museum", "I did a course in Rome"; i is at "did".
func (c *clause) didDo(i int) topics {
	j, not := c.skipAdverbs(i + 1)
	if not && (c.timed || c.content(j) > 1) && !english.TalkVerbs.Has(c.at(j)) && !c.task {
		return details
	}
	return c.event(i)
}

// usedTo judges "I used to live in Rome"; i is at "used".
func (c *clause) usedTo(i int) topics {
	if c.at(i+2) == "when" { // "I used to when I was ten" leaves out the verb
		return none
	}
	if c.at(i+1) != "to" || c.content(i+2) == 0 || c.task {
		return c.event(i)
	}
	switch c.at(i + 2) {
	case "be", "live", "work":
		return personal
	}
	return details
}

// liking judges the object of a taste; i is its first word.
func (c *clause) liking(i int) topics { return likingRules.decide(c.from(i)) }

// likingRules judge the object of a verb of taste, from its first word.
var likingRules = table{
	{"I like to think", as(none), func(p *position) bool {
		return p.word == "to" && (english.TalkVerbs.Has(p.next) || p.rest == 0 || p.points(2))
	}},
	{"I like to swim", as(preference), is("to")},

	// Objects that only the conversation shows.
	{"I like holding them", as(none), func(p *position) bool {
		return strings.HasSuffix(p.word, "ing") && english.Pronouns.Has(p.next)
	}},
	{"I like that", as(none), in(english.Deictic)},
	{"I like the idea", as(none), func(p *position) bool {
		return p.word == "the" && (p.points(1) || vague.Has(p.next))
	}},
	{"I like the details and how you drew them", as(none), func(p *position) bool {
		return (p.word == "the" || p.word == "all") && p.words.Any(addressee) && p.words.Has("how")
	}},
	{"I like the new photo", as(none), func(p *position) bool {
		return p.word == "the" && vague.Has(p.at(p.i+2)) && p.content(p.i) == 1
	}},
	{"I like a lot", as(none), func(p *position) bool { return p.content(p.i) == 0 }},

	{"I like jazz", as(preference), otherwise},
}
