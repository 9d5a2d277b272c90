package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// having judges what is had or has been done; i is after "have".
func (c *clause) having(i int, past bool) topics {
	i, _ = c.skipAdverbs(i)
	p := c.from(i)
	p.past = past
	return havingRules.decide(p)
}

var havingRules = table{
	{
		example: "I have been to Rome",
		when: func(p *position) bool {
			to, _ := p.skipAdverbs(p.i + 1)
			return p.word == "been" && p.at(to) == "to"
		},
		read: (*position).visit,
	},
	{
		example: "I have been vegan since May",
		when:    is("been"),
		read:    func(p *position) topics { return p.being(p.i+1, true) },
	},
	{
		example: "I have to see my dentist on Friday",
		when:    is("to"),
		read:    func(p *position) topics { return p.duty(p.i + 1) },
	},
	{
		example: "I have got two dogs",
		when: func(p *position) bool {
			became := happenings.Has(p.next) || english.States.Has(p.next)
			return p.word == "got" && p.next != "to" && !became
		},
		read: func(p *position) topics { return p.owned(p.i+1, false) },
	},
	{
		example: "I have got married",
		when:    is("got"),
		read:    func(p *position) topics { return p.got(p.i + 1) },
	},
	{
		example: "I have always loved jazz",
		when: func(p *position) bool {
			return english.Likings.Has(strings.TrimSuffix(p.word, "d")) || english.Likings.Has(strings.TrimSuffix(p.word, "ed"))
		},
		read: func(p *position) topics { return p.liking(p.i + 1) },
	},
	{
		example: "I have moved to Rome",
		when:    func(p *position) bool { return english.Past(p.word) || english.Participles.Has(p.word) },
		read:    func(p *position) topics { return p.event(p.i) },
	},
	{
		example: "I have two kids",
		when:    otherwise,
		read:    func(p *position) topics { return p.owned(p.i, p.past) },
	},
}

// visit judges "have been to Rome", from "been".
func (p *position) visit() topics {
	to, _ := p.skipAdverbs(p.i + 1)
	if p.content(to+1) == 0 || english.Deictic.Has(p.at(to+1)) {
		return none // "I have been to that"
	}
	return details
}

// got judges what follows "got": "got to go", "got married", "got a new job".
func (c *clause) got(i int) topics {
	switch v := c.at(i); {
	case v == "to":
		return c.duty(i + 1)
	case (happenings.Has(v) || english.States.Has(v)) && !c.task:
		return details
	}
	return c.event(i - 1)
}

// owned judges the object of "have"; i is its first word.
func (c *clause) owned(i int, past bool) topics {
	if english.Deictic.Has(c.at(i)) || c.content(i) == 0 || c.task || talkComplements.Has(c.at(i)) {
		return none
	}
	t := none
	for j := i; j < min(len(c.words), i+5); j++ {
		w := c.at(j)
		if notOwned.Has(w) || past && fleeting.Has(w) && !c.timed {
			return none // "I have a question", "I had a great time"
		}
		if english.OwnNouns.Has(w) {
			t |= personal
		}
		if c.words[j].Stop == ',' {
			break
		}
	}
	if t == none || past {
		t |= details
	}
	return t
}
