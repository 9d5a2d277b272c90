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

// havingRules judge "have …", from the word behind it: a participle, or the object.
var havingRules = table{
	// The perfect of "be": a journey, or a complement as in "I was vegan".
	{"I have been to Rome", (*position).visit, func(p *position) bool {
		to, _ := p.skipAdverbs(p.i + 1)
		return p.word == "been" && p.at(to) == "to"
	}},
	{"I have been vegan since May", (*position).beenState, is("been")},

	{"I have to see my dentist on Friday", rest(1, (*clause).duty), is("to")},

	// "Have got" is "have", except before a state or what happened to the speaker.
	{"I have got two dogs", (*position).gotObject, func(p *position) bool {
		return p.word == "got" && p.next != "to" && !happenings.Has(p.next) && !english.States.Has(p.next)
	}},
	{"I have got married", rest(1, (*clause).got), is("got")},

	{"I have come to love jazz", rest(3, (*clause).liking), func(p *position) bool {
		turned := p.word == "come" || p.word == "grown" || p.word == "learned"
		return turned && p.next == "to" && english.Likings.Has(p.at(p.i+2))
	}},
	// The perfect of other verbs is read as their past.
	{"I have always loved jazz", rest(1, (*clause).liking), func(p *position) bool {
		return english.Likings.Has(strings.TrimSuffix(p.word, "d")) ||
			english.Likings.Has(strings.TrimSuffix(p.word, "ed"))
	}},
	{"I have moved to Rome", rest(0, (*clause).event), func(p *position) bool {
		return english.Past(p.word) || english.Participles.Has(p.word)
	}},

	{"I have two kids", (*position).haveObject, otherwise},
}

// visit judges "have been to Rome", from "been".
func (p *position) visit() topics {
	to, _ := p.skipAdverbs(p.i + 1)
	if p.content(to+1) == 0 || english.Deictic.Has(p.at(to+1)) {
		return none // "I have been to that"
	}
	return details
}

// beenState judges "have been vegan", from "been".
func (p *position) beenState() topics { return p.being(p.i+1, true) }

// gotObject judges "have got two dogs", from "got".
func (p *position) gotObject() topics { return p.owned(p.i+1, false) }

// haveObject judges "have two kids", from the object.
func (p *position) haveObject() topics { return p.owned(p.i, p.past) }

// got judges what follows "got": "got to go", "got married", "got a new job".
func (c *clause) got(i int) topics {
	switch v := c.at(i); {
	case v == "to":
		return c.duty(i + 1)
	case mishaps.Has(v):
		return none // "I got stuck in a meeting"
	case (v == "a" || v == "another") && pets.Has(c.at(i+1)) || pets.Has(c.at(i+2)) && c.at(i+1) != "of":
		return personal | details // "I got a kitten"
	case v == "a" && c.at(i+1) == "new" && c.content(i+2) > 0 && !c.task && !english.StopWords.Has(c.at(i+2)):
		return details // "I got a new laptop"
	case (happenings.Has(v) || english.States.Has(v)) && !c.task:
		return details
	}
	return c.event(i - 1)
}

// owned judges the object of "have"; i is its first word.
func (c *clause) owned(i int, past bool) topics {
	one := c.at(i) == "one" && c.words[i].Stop == 0 && !english.StopWords.Has(c.at(i+1)) // "one child"
	if english.Deictic.Has(c.at(i)) && !one || c.content(i) == 0 || c.task || talkComplements.Has(c.at(i)) {
		return none
	}
	t := none
	// The object is among the next words; those further on tell about it.
	for j := i; j < min(len(c.words), i+5); j++ {
		w := c.at(j)
		if notOwned.Has(w) || past && fleeting.Has(w) && !c.timed {
			return none // "I have a question", "I had a great time"
		}
		if english.OwnNouns.Has(w) || ownTraits.Has(w) {
			t |= personal
		}
		next := c.at(j + 1)
		if dayLong.Has(w) && (next == "" || next == "today" || next == "so" || next == "tonight" || next == "ahead" ||
			c.words[j].Stop != 0) && j > i {
			return none // "I have a busy day today", "I've had a relaxing evening so far"
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
