package rules

import "github.com/memoryd/memoryd/extract/english"

// duty judges "have to …": kept where it is a date in somebody's life.
func (c *clause) duty(i int) topics {
	if c.task || english.TalkVerbs.Has(c.at(i)) || c.content(i) < 2 || !c.anchored(i) {
		return none // "We gotta push ourselves"
	}
	return details
}

// future judges plans; i is at the verb after "will" or "going to".
func (c *clause) future(i int) topics {
	i, _ = c.skipAdverbs(i)
	return futureRules.decide(c.from(i))
}

var futureRules = table{
	{
		example: "I will do it",
		when: func(p *position) bool {
			return p.task || english.TalkVerbs.Has(p.word) || p.word == "do" || p.rest == 0 || english.Deictic.Has(p.next)
		},
		topics: none,
	},
	{
		example: "I will have to see my dentist on Friday",
		when:    func(p *position) bool { return p.word == "have" && p.next == "to" },
		read:    func(p *position) topics { return p.duty(p.i + 2) },
	},
	{
		example: "I will be away on Friday",
		when: func(p *position) bool {
			return p.word == "be" && p.timed && (p.rest > 1 || english.Prepositions.Has(p.next))
		},
		topics: details,
	},
	{example: "I will be vegan", when: is("be"), topics: none},
	{
		example: "I will watch the kettle",
		when: func(p *position) bool {
			return !goals.Has(p.word) && (p.rest < 2 || !p.anchored(p.i+1))
		},
		topics: none,
	},
	{example: "I will move to Rome", when: otherwise, topics: details},
}

// would judges "would like to", "would rather", "would prefer".
func (c *clause) would(i int) topics {
	i, _ = c.skipAdverbs(i)
	return wouldRules.decide(c.from(i))
}

var wouldRules = table{
	{
		example: "I would rather have tea",
		when: func(p *position) bool {
			return (p.word == "rather" || p.word == "prefer") && p.rest > 0 && !english.Deictic.Has(p.next) && !p.task
		},
		topics: preference,
	},
	{
		example: "I would love to become a nurse",
		when:    func(p *position) bool { return wishVerbs.Has(p.word) && p.next == "to" },
		read:    func(p *position) topics { return p.wish(p.i + 2) },
	},
}

// wish judges what somebody wants to do: lasting aims, not the task at hand; i is at the verb.
func (c *clause) wish(i int) topics { return wishRules.decide(c.from(i)) }

var wishRules = table{
	{
		example: "I want to fix the script",
		when: func(p *position) bool {
			return p.task || english.TalkVerbs.Has(p.word) || p.rest == 0 || english.Deictic.Has(p.next)
		},
		topics: none,
	},
	{
		example: "I want to build a shed",
		when:    func(p *position) bool { return weakGoals.Has(p.word) && p.rest < 2 && !p.timed },
		topics:  none,
	},
	{
		example: "I want to become a nurse",
		when:    func(p *position) bool { return goals.Has(p.word) || english.PresentVerbs.Has(p.word) },
		topics:  details,
	},
}

// ability judges "can speak Polish", "can't eat gluten".
func (c *clause) ability(i int) topics {
	i, negated := c.skipAdverbs(i)
	p := c.from(i)
	p.negated = negated
	return abilityRules.decide(p)
}

var abilityRules = table{
	{
		example: "I can not stand cilantro",
		when:    func(p *position) bool { return p.negated && toleranceVerbs.Has(p.word) },
		read:    func(p *position) topics { return p.liking(p.i + 1) },
	},
	{
		example: "I can not eat gluten",
		when: func(p *position) bool {
			return p.negated && (p.word == "eat" || p.word == "drink" || p.word == "have") && p.rest > 0 &&
				!english.Deictic.Has(p.next) && !notOwned.Has(p.next) && !notOwned.Has(p.at(p.i+2))
		},
		topics: personal | preference,
	},
	{
		example: "I can speak Polish",
		when: func(p *position) bool {
			return skills.Has(p.word) && (p.rest > 0 || p.negated) && !p.task && !english.Deictic.Has(p.next)
		},
		topics: personal,
	},
}
