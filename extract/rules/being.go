package rules

import (
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

var beingRules = table{
	{
		example: "I am going to Rome",
		when:    func(p *position) bool { return p.word == "going" && p.next == "to" && p.toPlace() },
		topics:  details,
	},
	{
		example: "I am going to learn Polish",
		when:    func(p *position) bool { return p.word == "going" && p.next == "to" },
		read:    func(p *position) topics { return p.future(p.i + 2) },
	},
	{
		example: "I am going skiing on Friday",
		when: func(p *position) bool {
			return p.word == "going" && p.timed && p.rest > 0 && !english.Deictic.Has(p.next)
		},
		topics: details,
	},
	{
		example: "I am sure",
		when:    func(p *position) bool { return talkComplements.Has(p.word) || english.Pronouns.Has(p.word) },
		topics:  none,
	},
	{
		example: "I am behind with the code",
		when:    func(p *position) bool { return p.task && !english.Articles.Has(p.word) },
		topics:  none,
	},
	{
		example: "I am vegan",
		when:    func(p *position) bool { return english.States.Has(p.word) },
		topics:  personal,
	},
	{
		example: "I am in charge of sales",
		when: func(p *position) bool { // also "in my thirties"
			return p.word == "in" && (p.next == "my" || p.next == "charge") && p.rest > 0
		},
		topics: personal,
	},
	{
		example: "I am 34 years old",
		when: func(p *position) bool {
			return english.IsAge(p.word) && (p.next == "" || p.words[p.i].Stop != 0 || ageUnits.Has(p.next))
		},
		topics: personal,
	},
	{
		example: "I am allergic to nuts",
		when: func(p *position) bool {
			return (p.word == "allergic" || p.word == "intolerant") && p.namesObject()
		},
		topics: personal | preference,
	},
	{
		example: "I am from Porto",
		when:    func(p *position) bool { return origins.Has(p.word) && p.namesObject() },
		topics:  personal,
	},
	{
		example: "I am afraid of dogs",
		when:    func(p *position) bool { return fears.Has(p.word) && p.next == "of" && p.namesObject() },
		topics:  personal,
	},
	{
		example: "I am a nurse",
		when:    func(p *position) bool { return english.Articles.Has(p.word) && p.word != "my" },
		read:    func(p *position) topics { return p.noun(p.i) },
	},
	{
		example: "I am Tom", // also "I am Estonian"
		when: func(p *position) bool {
			return p.wordAt(p.i).Upper && !p.past && !english.StopWords.Has(p.word) &&
				!strings.HasSuffix(p.word, "ing") && !english.Moods.Has(p.word)
		},
		topics: personal,
	},
	{
		example: "I am fond of tea",
		when: func(p *position) bool {
			return tastes.Has(p.word) && p.namesObject() &&
				!english.Pronouns.Has(p.at(p.i+2)) && !english.Pronouns.Has(p.at(p.i+3)) // "fond of all that"
		},
		topics: preference,
	},
	{
		example: "I am bad at chess",
		when:    func(p *position) bool { return abilities.Has(p.word) && p.next == "at" && p.namesObject() },
		topics:  details,
	},
	{
		example: "I am on a keto diet",
		when:    func(p *position) bool { return p.word == "on" && p.near(p.i+1, regimens) },
		topics:  personal,
	},
	{
		example: "I was promoted",
		when: func(p *position) bool {
			return happenings.Has(p.word) && (p.rest > 0 || p.past && p.word != "used")
		},
		topics: details,
	},
	{
		example: "I was attacked by stray dogs last week",
		when: func(p *position) bool {
			return p.past && english.Past(p.word) && !english.Moods.Has(p.word) && p.rest > 1 && p.anchored(p.i)
		},
		topics: details,
	},
	{
		example: "I am moving to Rome",
		when:    func(p *position) bool { return strings.HasSuffix(p.word, "ing") && !english.Moods.Has(p.word) },
		read:    func(p *position) topics { return progressRules.decide(p) },
	},
	{
		example: "I was in Rome",
		when: func(p *position) bool {
			return english.Prepositions.Has(p.word) && !english.Deictic.Has(p.next) && !transient.Has(p.next) &&
				p.tellsPlace()
		},
		topics: details,
	},
	{
		example: "I am proud of my daughter's degree",
		when:    func(p *position) bool { return p.rest > 1 && p.anchored(p.i+1) },
		topics:  details,
	},
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

// namesObject reports whether an object follows that says something by itself: "of dogs", but not "of that".
func (p *position) namesObject() bool { return p.rest > 0 && !english.Deictic.Has(p.object(p.i+1)) }

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
	{
		example: "I am thinking about moving to Rome",
		when: func(p *position) bool {
			return p.word == "thinking" && (p.next == "of" || p.next == "about") && underway.Has(p.at(p.i+2)) &&
				p.content(p.i+3) > 0 && !english.Deictic.Has(p.at(p.i+4))
		},
		topics: details,
	},
	{
		example: "I am looking for a job", // which changes a life, and is not the next answer
		when: func(p *position) bool {
			return p.word == "looking" && p.next == "for" && p.near(p.i+2, lifeGoals)
		},
		topics: details,
	},
	{
		example: "I am debugging the gate",
		when:    func(p *position) bool { return talkParticiples.Has(p.word) || p.rest == 0 },
		topics:  none,
	},
	{
		example: "I am holding that book",
		when: func(p *position) bool {
			return english.Deictic.Has(p.next) && (p.rest < 2 || english.Pronouns.Has(p.next))
		},
		topics: none,
	},
	{
		example: "I am seeing the dentist on Friday",
		when:    func(p *position) bool { return appointedParticiples.Has(p.word) && p.timed },
		topics:  details,
	},
	{
		example: "I am reading a book",
		when: func(p *position) bool {
			return weakParticiples.Has(p.word) &&
				(p.rest < 2 || !p.timed && (p.word == "trying" || !p.mine(p.i+1)))
		},
		topics: none,
	},
	{
		example: "I am working at Acme",
		when:    func(p *position) bool { return p.word == "working" || p.word == "living" || p.word == "studying" },
		topics:  personal | details,
	},
	{example: "I am renovating our kitchen", when: otherwise, topics: details},
}
