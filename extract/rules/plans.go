package rules

import "github.com/memoryd/memoryd/extract/english"

// duty judges "have to …": kept where it is a date in somebody's life.
func (c *clause) duty(i int) topics {
	pending := i < len(c.words) && c.words[i:].Any(projects) // "I still have to pass the driving exam"
	if (c.at(i) == "do" || c.at(i) == "file") && c.at(i+1) == "my" && c.at(i+2) == "taxes" {
		return details
	}
	// To see somebody on a day is an appointment.
	talk := english.TalkVerbs.Has(c.at(i)) && !(c.at(i) == "see" && c.timed)
	if c.task || talk || c.content(i) < 2 || !c.anchored(i) && !pending {
		return none // "We gotta push ourselves"
	}
	return details
}

// must judges "must see my dentist on Friday" like "have to …", and "must not eat gluten" like "can not …". What "must
// have happened" is a guess, and so is what "must be" without a date. i is the first word behind "must".
func (c *clause) must(i int) topics {
	j, negated := c.skipAdverbs(i)
	switch w := c.at(j); {
	case negated:
		return c.ability(i)
	case w == "have" && c.at(j+1) != "to", w == "be" && !c.timed:
		return none
	case w == "have":
		j += 2
	}
	return c.duty(j)
}

// future judges plans; i is at the verb after "will" or "going to".
func (c *clause) future(i int) topics {
	i, _ = c.skipAdverbs(i)
	return futureRules.decide(c.from(i))
}

// futureRules judge "will move", from the verb behind "will".
var futureRules = table{
	{"I will do it", as(none), func(p *position) bool {
		return p.task || english.TalkVerbs.Has(p.word) || p.word == "do" || p.rest == 0 || p.points(1)
	}},
	{"I will always love jazz", rest(1, (*clause).liking), func(p *position) bool {
		return english.Likings.Has(p.word) && p.at(p.i-1) == "always"
	}},
	{"I will have to see my dentist on Friday", rest(2, (*clause).duty), func(p *position) bool {
		return p.word == "have" && p.next == "to"
	}},

	// "Will be" is a plan only with a date: "I will be happy" is a mood.
	{"I will be away on Friday", as(details), func(p *position) bool {
		return p.word == "be" && p.timed && (p.rest > 1 || english.Prepositions.Has(p.next))
	}},
	{"I will be vegan", as(none), is("be")},

	{"I will have the soup", as(none), func(p *position) bool {
		return (p.word == "have" || p.word == "take" || p.word == "get") && p.rest < 2 && !p.timed
	}},
	{"I will repaint the hallway", as(details), func(p *position) bool {
		the := p.next == "the" || p.next == "my" || p.next == "our"
		return improving.Has(p.word) && the && p.rest > 0 && !p.task
	}},
	{"I will watch the kettle", as(none), func(p *position) bool {
		return !goals.Has(p.word) && (p.rest < 2 || !p.anchored(p.i+1))
	}},
	{"I will move to Rome", as(details), otherwise},
}

// would judges "would like to", "would rather", "would prefer".
func (c *clause) would(i int) topics {
	i, _ = c.skipAdverbs(i)
	return wouldRules.decide(c.from(i))
}

// wouldRules judge "would rather", from the word behind "would".
var wouldRules = table{
	{"I would rather have tea", as(preference), func(p *position) bool {
		return (p.word == "rather" || p.word == "prefer") && p.rest > 0 && !p.points(1) && !p.task
	}},
	{"I would love to become a nurse", rest(2, (*clause).wish), func(p *position) bool {
		return wishVerbs.Has(p.word) && p.next == "to"
	}},
}

// wish judges what somebody wants to do: lasting aims, not the task at hand; i is at the verb.
func (c *clause) wish(i int) topics { return wishRules.decide(c.from(i)) }

// wishRules judge "want to become", from the verb behind "to".
var wishRules = table{
	{"I want to fix the script", as(none), func(p *position) bool {
		return p.task || english.TalkVerbs.Has(p.word) || p.rest == 0 || p.points(1)
	}},
	{"I want to build a shed", as(none), func(p *position) bool {
		animal := english.Articles.Has(p.next) && english.OwnNouns.Has(p.at(p.i+2)) // "to get a dog"
		return weakGoals.Has(p.word) && p.rest < 2 && !p.timed && !animal
	}},
	{"I want to become a nurse", as(details), func(p *position) bool {
		return goals.Has(p.word) || english.PresentVerbs.Has(p.word)
	}},
}

// ability judges "can speak Polish", "can't eat gluten".
func (c *clause) ability(i int) topics {
	i, negated := c.skipAdverbs(i)
	p := c.from(i)
	p.negated = negated
	return abilityRules.decide(p)
}

// abilityRules judge "can speak", from the verb behind "can".
var abilityRules = table{
	{"I can not stand cilantro", rest(1, (*clause).liking), func(p *position) bool {
		return p.negated && toleranceVerbs.Has(p.word)
	}},
	{"I can not eat gluten", as(personal), func(p *position) bool { // but not "have any ideas"
		taken := p.word == "eat" || p.word == "drink" || p.word == "have" || p.word == "take"
		return p.negated && taken && p.rest > 0 &&
			!p.points(1) && !notOwned.Has(p.next) && !notOwned.Has(p.at(p.i+2))
	}},
	{"I can spend up to 300 euros on the trip", as(details), func(p *position) bool {
		pays := p.word == "spend" || p.word == "afford" || p.word == "pay" || p.word == "go" && p.next == "up"
		return pays && p.numberWithin(p.i+1, 4) && p.rest > 1 && !p.task
	}},
	{"I can eat gluten again", as(personal), func(p *position) bool {
		taken := p.word == "eat" || p.word == "drink" || p.word == "have" || p.word == "take"
		return taken && p.words.Has("again") && !p.points(1)
	}},
	{"I can speak Polish", as(personal), func(p *position) bool { // and "I can not swim"
		return skills.Has(p.word) && (p.rest > 0 || p.negated) && !p.task && !p.points(1)
	}},
}
