package rules

import "github.com/memoryd/memoryd/extract/english"

// doing judges a verb in the present or past without auxiliary; i is at the verb.
func (c *clause) doing(i int, negated bool) topics {
	p := c.from(i)
	p.negated = negated
	return doingRules.decide(p)
}

var doingRules = table{
	{
		example: "I love jazz",
		when:    func(p *position) bool { return english.Likings.Has(p.word) },
		read:    func(p *position) topics { return p.liking(p.i + 1) },
	},
	{
		example: "I do not have kids",
		when:    is("have"),
		read:    func(p *position) topics { return p.having(p.i+1, false) },
	},
	{
		example: "I think so",
		when:    func(p *position) bool { return english.TalkVerbs.Has(p.word) },
		topics:  none,
	},
	{
		example: "I want a sandwich",
		when:    func(p *position) bool { return (p.word == "want" || p.word == "need") && p.next != "to" },
		topics:  none,
	},
	{
		example: "I want to become a nurse",
		when:    is("want"),
		read:    func(p *position) topics { return p.wish(p.i + 2) },
	},
	{
		example: "I need to see my dentist on Friday",
		when:    is("need"),
		read: func(p *position) topics {
			if t := p.wish(p.i + 2); t != none {
				return t
			}
			return p.duty(p.i + 2)
		},
	},
	{
		example: "I plan a trip to Rome",
		when:    func(p *position) bool { return planVerbs.Has(p.word) && p.rest > 0 && !p.task },
		topics:  details,
	},
	{
		example: "I plan a query",
		when:    func(p *position) bool { return planVerbs.Has(p.word) },
		topics:  none,
	},
	{
		example: "I do not drive",
		when:    func(p *position) bool { return soloHabits.Has(p.word) && p.negated && p.rest == 0 },
		topics:  personal,
	},
	{
		example: "I smoke",
		when:    func(p *position) bool { return p.word == "smoke" && p.next == "" },
		topics:  personal,
	},
	{
		example: "I live in Rome",
		when:    func(p *position) bool { return english.PresentVerbs.Has(p.word) && !pastToo.Has(p.word) },
		read:    func(p *position) topics { return p.habit(p.i) },
	},
	{
		example: "I moved to Rome",
		when:    otherwise,
		read:    func(p *position) topics { return p.event(p.i) },
	},
}

// habit judges the present: what somebody does for a living, or again and again; i is at the verb.
func (c *clause) habit(i int) topics { return habitRules.decide(c.from(i)) }

var habitRules = table{
	{
		example: "I turn 40",
		when:    func(p *position) bool { return p.word == "turn" && english.IsAge(p.next) },
		topics:  personal | details,
	},
	{
		example: "I run",
		when: func(p *position) bool {
			return (p.rest == 0 || english.Deictic.Has(p.next)) && !regular.Has(p.next)
		},
		topics: none,
	},
	{
		example: "I live with their parents",
		when: func(p *position) bool {
			return english.Prepositions.Has(p.next) && english.Deictic.Has(p.at(p.i+2))
		},
		topics: none,
	},
	{
		example: "I use Docker",
		when:    func(p *position) bool { return p.task && taskHabits.Has(p.word) },
		topics:  none,
	},
	{
		example: "I work at Acme",
		when:    func(p *position) bool { return lifeVerbs.Has(p.word) },
		topics:  personal,
	},
	{
		example: "I eat no meat",
		when:    func(p *position) bool { return dietVerbs.Has(p.word) },
		topics:  preference,
	},
	{example: "I play chess", when: otherwise, topics: details},
}

// event judges something done; i is at the past form.
func (c *clause) event(i int) topics { return eventRules.decide(c.from(i)) }

var eventRules = table{
	{
		example: "I thought so",
		when:    func(p *position) bool { return talkPast.Has(p.word) || p.word == "made" && p.next == "sure" },
		topics:  none,
	},
	{
		example: "I wrote the script",
		when:    func(p *position) bool { return p.task && !(p.timed && p.mine(p.i)) },
		topics:  none,
	},
	{
		example: "I graduated",
		when:    func(p *position) bool { return decisivePast.Has(p.word) },
		topics:  details,
	},
	{
		example: "I turned 40",
		when:    func(p *position) bool { return p.word == "turned" && english.IsAge(p.next) },
		topics:  personal | details,
	},
	{
		example: "I loved that",
		when: func(p *position) bool {
			return likingsPast.Has(p.word) && (english.Deictic.Has(p.next) || p.rest == 0)
		},
		topics: none,
	},
	{
		example: "I loved the museum",
		when:    func(p *position) bool { return likingsPast.Has(p.word) },
		topics:  details,
	},
	{
		example: "I bought that",
		when:    func(p *position) bool { return p.rest == 0 || english.Deictic.Has(p.next) && !p.timed },
		topics:  none,
	},
	{
		example: "I made a cake",
		when: func(p *position) bool {
			return weakPast.Has(p.word) && p.rest < 3 && (!p.timed || english.Deictic.Has(p.next)) &&
				(p.rest < 2 || !p.anchored(p.i+1))
		},
		topics: none,
	},
	{
		example: "I lived in Rome",
		when:    func(p *position) bool { return lifePast.Has(p.word) },
		topics:  personal | details,
	},
	{
		example: "I adopted a cat",
		when:    func(p *position) bool { return english.Past(p.word) || english.Participles.Has(p.word) },
		topics:  details,
	},
}
