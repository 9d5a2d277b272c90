package rules

import "github.com/memoryd/memoryd/extract/english"

// otherSubjects read clauses that have another subject than the speaker and still tell of the speaker. The first that
// knows a clause decides.
var otherSubjects = []struct {
	example string
	read    func(c *clause) (t topics, known bool)
}{
	{"me and my sister live in Rome", (*clause).pair},
	{"there are four of us", (*clause).household},
	{"it has been a year since I moved to Rome", (*clause).sinceEvent},
	{"you can reach me at ann@example.org", (*clause).reached},
	{"born and raised in Porto", (*clause).origin},
	{"friends call me Bob", (*clause).calledOrOwned},
}

// otherSubject judges a clause with another subject than the speaker.
func (c *clause) otherSubject() topics {
	first := c.at(0)
	// "Call me Bob" is an instruction, and the others state nothing.
	if first == "call" && c.at(1) == "me" || first == "if" || english.QuestionWords.Has(first) && first != "when" {
		return none
	}
	for k := range otherSubjects {
		if t, known := otherSubjects[k].read(c); known {
			return t
		}
	}
	return none
}

// pair reads "Me and my sister live in Rome".
func (c *clause) pair() (topics, bool) {
	if !c.words.StartWith("me", "and") {
		return none, false
	}
	for i := 2; i < min(len(c.words), 8); i++ {
		if w := c.at(i); english.Past(w) || english.Auxiliaries.Has(w) || english.PresentVerbs.Has(w) {
			return c.predicate(i), true
		}
	}
	return none, false
}

// household reads "There are four of us", "There is a doctor in my family".
func (c *clause) household() (topics, bool) {
	if !c.words.StartWith("there", "are") && !c.words.StartWith("there", "is") || c.content(0) == 0 {
		return none, false
	}
	for i := 2; i < len(c.words); i++ {
		before := c.at(i - 1)
		if c.at(i) == "us" && before == "of" || c.at(i) == "family" && (before == "my" || before == "our") {
			return personal, true
		}
	}
	return none, false
}

// sinceEvent reads "It has been a year since I moved".
func (c *clause) sinceEvent() (topics, bool) {
	if !c.words.StartWith("it", "has", "been") {
		return none, false
	}
	for i := 3; i+1 < len(c.words); i++ {
		next := c.at(i + 1)
		if c.at(i) == "since" && (next == "i" || next == "we" || next == "my") && c.content(i) > 0 {
			return details, true
		}
	}
	return none, false
}

// reached reads "You can reach me at…".
func (c *clause) reached() (topics, bool) {
	return personal, reachPhrases.Match(c.words, 0) > 0 && c.content(0) > 1
}

// origin reads "Born in Porto", "The name is Bond".
func (c *clause) origin() (topics, bool) {
	return personal, originPhrases.Match(c.words, 0) > 0 && c.content(0) > 1
}

// calledOrOwned reads "Friends call me Bob" and "Rex is our dog".
func (c *clause) calledOrOwned() (topics, bool) {
	for i := 1; i < min(len(c.words), 5); i++ {
		switch c.at(i) {
		case "call", "calls":
			name := c.at(i + 2)
			if callers.Has(c.at(i-1)) && c.at(i+1) == "me" && name != "" && !english.NotNames.Has(name) {
				return personal, true
			}
		case "is", "was", "are", "were":
			owner := c.at(i + 1)
			if (owner == "my" || owner == "our") && !english.Deictic.Has(c.at(i+2)) && !c.addressed(i) {
				return c.identity(i), true
			}
		}
	}
	return none, false
}

// identity reads "It's my birthday on 3 May", "Green is my favorite color"; i is at "is".
func (c *clause) identity(i int) topics {
	noun, first := c.words[i+2:], c.at(0)
	if len(noun) == 0 || emptyPossessions.Has(noun[0].Text) || notIdentified.Has(first) ||
		english.QuestionWords.Has(first) {
		return none
	}
	t := nounTopics(noun)
	switch {
	case english.Deictic.Has(first):
		return c.pointedAt(noun, t)
	case t != none:
		return t // "Green is my favorite color"
	case noun.Content() < 2:
		return none // "Coffee is my thing"
	}
	return details // "Coffee is my morning ritual"
}

// pointedAt judges "It's my birthday", of which the subject only points: the noun must say more than "my dog".
func (c *clause) pointedAt(noun english.Words, t topics) topics {
	switch {
	case t == none:
		return none // "That's my point"
	case t == preference && len(noun) > 1 && english.StopWords.Has(noun[1].Text):
		return none // "It's my favorite and never gets old"
	case noun.Content() < 2 && noun[0].Text != "birthday" && !(c.timed && t&personal != 0):
		return none // "That's my favorite", "This is my dog"
	}
	return t
}
