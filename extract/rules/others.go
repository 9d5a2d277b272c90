package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

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
	{"the kids love the beach", (*clause).ofTheHouse},
	{"the choir has switched from waltzes to tangos", (*clause).ofTheGroup},
	{"Ingrid sings in the choir", (*clause).ofOneNamed},
	{"the code to my locker is 2940", (*clause).ofMine},
	{"a card arrived from Ada, who moved to Rome", (*clause).heardFrom},
	{"Tom proposed to me", (*clause).concerning},
	{"the wedding is on Friday", (*clause).scheduled},
	{"this is me in Rome", (*clause).pictured},
	{"the kitchen budget is 300 euros", (*clause).measure},
	{"the kitchen has a budget of 300 euros", (*clause).budgeted},
	{"Lotte's birthday is the 4th of May", (*clause).theirs},
	{"Marek, my boyfriend, snores", (*clause).named},
	{"Marek is allergic to nuts", (*clause).suffers},
	{"they moved my class to Friday", (*clause).befell},
	{"the thesis is submitted", (*clause).carriedOut},
	{"the plumber comes on Wednesday", (*clause).comes},
	{"parcels go to 14 Mill Lane", (*clause).delivered},
	{"it is Fedora on my laptop now", (*clause).switched},
	{"the scale says 84 kg", (*clause).onScales},
	{"the shop's called Loose Ends now", (*clause).isNow},
	{"the choir meets on Mondays now", (*clause).changedThing},
	{"Nantes is home now", (*clause).settled},
	{"Bruno died on Friday", (*clause).died},
	{"Leo had his fourth birthday yesterday", (*clause).cameOfAge},
	{"baby number three was born last night", (*clause).born},
	{"today is my first day at Acme", (*clause).firstDay},
}

// otherSubject judges a clause with another subject than the speaker.
func (c *clause) otherSubject() topics {
	first := c.at(0)
	// "Call me Bob" is an instruction, and the others state nothing.
	if first == "call" && c.at(1) == "me" || first == "if" {
		return none
	}
	if english.QuestionWords.Has(first) && first != "when" {
		return c.wanted()
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
	i := 0
	if c.words.StartWith("these", "days") || c.words.StartWith("from", "now", "on") || c.at(0) == "now" {
		for i++; c.at(i) == "days" || c.at(i) == "now" || c.at(i) == "on"; i++ {
		}
	}
	return personal, reachPhrases.Match(c.words, i) > 0 && c.content(i) > 1
}

// origin reads "Born in Porto", "The name is Bond".
func (c *clause) origin() (topics, bool) {
	return personal, originPhrases.Match(c.words, 0) > 0 && c.content(0) > 1
}

// calledOrOwned reads "Friends call me Bob" and "Rex is our dog".
func (c *clause) calledOrOwned() (topics, bool) {
	for i := 1; i < min(len(c.words), 5); i++ {
		if own := c.at(i); strings.HasSuffix(c.at(i-1), "'s") && own == "my" && !english.Deictic.Has(c.at(i+1)) {
			return c.identity(i - 1), true // "Anna's my wife"
		}
		switch c.at(i) {
		case "call", "calls":
			name := c.at(i + 2)
			// Those who call the speaker so are a group that is the speaker's.
			caller := callers.Has(c.at(i-1)) || i > 1 && c.at(i-2) == "my" && isPlural(c.at(i-1)) || // "my students"
				callers.Has(c.at(0)) && c.at(i-2) == "at" // "everyone at work"
			if caller && c.at(i+1) == "me" && name != "" && !english.NotNames.Has(name) {
				return personal, true
			}
		case "is", "was", "are", "were":
			if c.oneOfMine(i) {
				return preference, true
			}
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
	if c.words[0].Upper && i == 1 && noun.StartWith("best", "friend") && !english.StopWords.Has(first) {
		return personal // "Tomasz is my best friend"
	}
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
	case noun.Content() < 2 && (noun.Content() == 0 || i < 2 || english.Words(c.words[:i]).Content() < 2):
		return none // "Coffee is my thing", but not "Four coffees before noon is my routine"
	}
	return details // "Coffee is my morning ritual"
}

// pointedAt judges "It's my birthday", of which the subject only points: the noun must say more than "my dog".
func (c *clause) pointedAt(noun english.Words, t topics) topics {
	switch {
	case t == none && noun.Content() > 1 && noun[0].Stop == 0 && !english.StopWords.Has(noun.At(1)):
		return details // "This is my book collection"
	case t == none:
		return none // "That's my point"
	case t == preference && len(noun) > 1 && english.StopWords.Has(noun[1].Text):
		return none // "It's my favorite and never gets old"
	case noun.Content() < 2 && noun[0].Text != "birthday" && !(c.timed && t&personal != 0):
		return none // "That's my favorite", "This is my dog"
	}
	return t
}

// oneOfMine reads "Ratatouille is one of my favorites"; i is at "is".
func (c *clause) oneOfMine(i int) bool {
	ws := c.words[i+1:]
	return (ws.StartWith("one", "of", "my", "favorite") || ws.StartWith("among", "my", "favorite")) &&
		!english.Deictic.Has(c.at(0))
}

// ofTheHouse reads "The kids love the beach": with "the", people mean their own children, pets and partners.
func (c *clause) ofTheHouse() (topics, bool) {
	if c.at(0) != "the" || !household.Has(c.at(1)) || !finiteVerb(c.at(2)) {
		return none, false
	}
	t := c.possessed(0, 2)
	if n, _ := weight(c.words); n < 2 {
		t = none
	}
	return t, t != none
}

// ofOneNamed reads "Ingrid sings in the choir" and "Nina's rent went up to 980" like "My sister sings in the choir".
// The name must be a known one, as any first word has a capital.
func (c *clause) ofOneNamed() (topics, bool) {
	name, owns := strings.CutSuffix(c.at(0), "'s")
	if !c.words[0].Upper || c.words[0].Stop != 0 || !canonical.IsGivenName(name) || c.task {
		return none, false
	}
	verb := 1
	for owns && verb < min(len(c.words), 4) && !finiteVerb(c.at(verb)) {
		verb++
	}
	object := c.at(verb + 1)
	if !finiteVerb(c.at(verb)) || !owns && english.Past(c.at(verb)) || objects.Has(object) ||
		english.Pronouns.Has(object) {
		return none, false
	}
	t := c.possessed(-1, verb)
	if n, _ := weight(c.words); n < 3 {
		t = none
	}
	return t, t != none
}

// ofTheGroup reads "The choir has switched from waltzes to tangos" and "The choir rehearses on Mondays": with "the",
// people mean the group that they are in, where it is told what it does, once more or again and again.
func (c *clause) ofTheGroup() (topics, bool) {
	if c.at(0) != "the" || !groups.Has(c.at(1)) || c.words[1].Stop != 0 || c.task || c.addressed(0) {
		return none, false
	}
	i, _ := c.skipAdverbs(2)
	if c.at(i) == "has" || c.at(i) == "have" {
		i++
	}
	switch w := c.at(i); {
	case changes.Has(w):
		// "The team has changed" says nothing: what it was and what it is must be said.
		from := c.words[i:].Has("from") && c.words[i:].Has("to")
		return details, from && c.content(i+1) > 1
	case thirdVerb(w) && !english.Auxiliaries.Has(w):
		return details, c.atTime(i + 1)
	}
	return none, false
}

// pictured reads "This is me in Rome", which is said of a picture.
func (c *clause) pictured() (topics, bool) {
	heavy, _ := weight(c.words)
	known := c.words.StartWith("this", "is", "me") && english.Prepositions.Has(c.at(3)) && heavy > 0
	return details, known
}

// wanted reads "What I really want is to open a bakery".
func (c *clause) wanted() topics {
	i, _ := c.skipAdverbs(2)
	heavy, _ := weight(c.words)
	if c.words.StartWith("what", "i") && (c.at(i) == "want" || english.Likings.Has(c.at(i))) && heavy > 1 && !c.task &&
		(c.at(i+1) == "is" || c.at(i+2) == "is" || c.at(i+3) == "is") {
		return details
	}
	return none
}

// concerning reads "Tom proposed to me", "Coffee gives me migraines": somebody or something else does something to the
// speaker or theirs.
func (c *clause) concerning() (topics, bool) {
	verb := c.verbOfOther()
	if verb == 0 || c.lacksSubject() || reactions.Has(c.at(0)) || c.task || c.addressed(0) ||
		c.addressed(verb) || otherTalk.Has(c.at(verb)) || english.Modals.Has(c.at(verb)) ||
		hypothetical.Found(c.words) {
		return none, false
	}
	if n, _ := weight(c.words); n < 2 {
		return none, false
	}
	// "The" and a noun are often what somebody shows, and what is said of it behind a mark is a judgement.
	mine, shown := false, c.at(0) == "the" || determiners.Has(c.at(0))
	for i := range c.words {
		if i > verb && !mine && shown && c.words[i-1].Stop != 0 && (english.Pronouns.Has(c.at(i)) || c.at(i) == known) {
			return none, false // "The colors are great - it reminds me of home"
		}
		switch c.at(i) {
		case "me", "us", "mine":
			mine = true
		case "my", "our":
			mine = mine || !emptyPossessions.Has(c.at(i+1))
		case "i", "we": // "the company I work for", "painting is something I enjoy"
			mine = mine || i < verb || strings.HasSuffix(c.at(0), "ing") ||
				shown && inCharge.Has(c.at(1)) // "the landlord put the rent up, I pay 840 now"
		}
	}
	if !mine || shown && c.onlyMoves(verb) {
		return none, false
	}
	return nounTopics(c.words[:verb]) | details, true
}

// onlyMoves reports whether a clause about something shown or spoken of only says how it moves the speaker:
// "The visual effects were stunning and left me in awe", "The series had me hooked".
func (c *clause) onlyMoves(verb int) bool {
	moves := c.words[verb:].Any(english.Evaluative) || c.words[verb:].Any(english.Moods) ||
		c.words[verb:].Any(absorbing)
	if !moves || c.timed || c.words.Has("to") && c.words[verb:].Has("important") {
		return false
	}
	for i := range c.words {
		w := c.at(i)
		named := i > 0 && c.words[i].Upper && !english.StopWords.Has(w)
		if named || speakerWords.Has(w) || english.OwnNouns.Has(w) || english.StartsWithDigit(w) {
			return false
		}
	}
	return true
}

// lacksSubject reports whether the clause begins with a verb that somebody or something else is the subject of:
// "Reminds me of home", "Really made us laugh".
func (c *clause) lacksSubject() bool {
	i, _ := c.skipAdverbs(0)
	next := c.at(i + 1)
	verb := strings.HasSuffix(c.at(i), "s") && !strings.HasSuffix(c.at(i), "ss") || english.Past(c.at(i))
	return verb && (next == "me" || next == "us") && c.words[i].Stop == 0
}

// restartsAt reports whether the word at i is a pronoun behind a mark, of which the verb behind it is: "it" in "Three
// times a week; it keeps us fit".
func (c *clause) restartsAt(i int) bool {
	stop := c.words[i-1].Stop
	return (english.Pronouns.Has(c.at(i)) || c.at(i) == known) && stop != 0 && stop != '\''
}

// maxOther bounds the words of a subject other than the speaker.
const maxOther = 10

// verbOfOther is the index of the verb whose subject is a noun, a name or an activity; 0 if there is none.
func (c *clause) verbOfOther() int {
	first := c.at(0)
	if english.Deictic.Has(first) && !determiners.Has(first) || english.Pronouns.Has(first) ||
		english.QuestionWords.Has(first) || english.AgentVerbs.Has(first) || english.TalkVerbs.Has(first) ||
		english.Prepositions.Has(first) || notSubjects.Has(first) || clauseOpeners.Has(first) || english.Past(first) {
		return 0
	}
	longest := maxOther
	if strings.HasSuffix(first, "ing") {
		longest = maxSubject // "Running a camp for kids in my town was great"
	}
	for i := 1; i < min(len(c.words), longest); i++ {
		before, w := c.at(i-1), c.at(i)
		if i > 1 && c.restartsAt(i-1) {
			return 0
		}
		switch {
		case english.Articles.Has(before), english.Prepositions.Has(before) && !effects.Has(w),
			before == "to", before == "and":
			continue
		case (before == "i" || before == "we") && i > 1:
			continue // "the company I work for"
		case strings.HasSuffix(before, "'s") && i == 1 && c.complements(i), // "Painting's a way to…"
			english.PresentVerbs.Has(w) && (c.at(i+1) == "me" || c.at(i+1) == "us"):
			return i
		case finiteVerb(w) && !english.PresentVerbs.Has(w),
			english.PresentVerbs.Has(w) && strings.HasSuffix(before, "s"):
			return i
		}
	}
	return 0
}

// suffers reads "Marek is allergic to nuts" and "Marek is seven years old".
func (c *clause) suffers() (topics, bool) {
	first := c.words[0]
	if !first.Upper || english.StopWords.Has(first.Text) || english.NotNames.Has(first.Text) || c.at(1) != "is" {
		return none, false
	}
	i := 2
	for english.Adverbs.Has(c.at(i)) {
		i++
	}
	allergic := c.at(i) == "allergic" && c.at(i+1) == "to" && !english.Deictic.Has(c.at(i+2))
	aged := (isAge(c.at(i)) || smallNumbers.Has(c.at(i))) && ageUnits.Has(c.at(i+1))
	return personal, (allergic || aged) && !c.task
}
