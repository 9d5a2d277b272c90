package extract

import (
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
)

// statement reads ws as something said of the speaker or theirs, and by what
// topics; 0 if it is not. It looks for the subject, then judges the predicate.
func statement(ws english.Words) topics {
	c := clause{words: ws, timed: dates.Named(ws)}
	for i := range ws {
		if english.TaskWords.Has(ws[i].Text) {
			c.task = true
		}
	}
	if hypothetical.Found(ws) || len(ws) < 2 && !c.timed {
		return 0
	}
	if t := c.special(); t != 0 {
		return t
	}
	i, ok := c.subject()
	if !ok {
		return c.elided()
	}
	switch w := ws[i].Text; {
	case w == "my" || w == "our":
		return c.possession(i)
	default:
		return c.predicate(i + 1)
	}
}

// clause is a sentence under judgement.
type clause struct {
	words english.Words
	timed bool // it may name a date
	task  bool // it has words of the work an agent is asked to do
}

func (c *clause) at(i int) string {
	if i < 0 || i >= len(c.words) {
		return ""
	}
	return c.words[i].Text
}

// content counts from word i to the end of the sentence.
func (c *clause) content(i int) int { return c.words[min(i, len(c.words)):].Content() }

// mine reports whether the speaker's own come up at or after i. "Our" is often
// everybody's ("our future"), so it must be of persons or pets.
func (c *clause) mine(i int) bool {
	for ; i < len(c.words); i++ {
		if w := c.words[i].Text; w == "my" || w == "our" && (english.OwnNouns.Has(c.at(i+1)) || c.at(i+1) == "own") {
			return true
		}
	}
	return false
}

// addressed reports whether the part of the sentence from i on speaks to the
// listener; such sentences are talk, not statements on the speaker.
func (c *clause) addressed(i int) bool {
	for ; i < len(c.words); i++ {
		switch w := c.words[i]; w.Text {
		case "you", "your", "yours", "yourself":
			return true
		case "and", "but", "so":
			return false
		default:
			if w.Stop == ',' || w.Stop == ';' {
				return false
			}
		}
	}
	return false
}

// anchored reports whether a sentence of little weight has something to hold
// on to: a date, or the speaker's own.
func (c *clause) anchored(i int) bool { return c.timed || c.mine(i) }

// subject finds the first-person subject: at the front, after an adverbial
// ("Last week my wife…", "When I was five…"), or second in a pair ("Ann and I").
func (c *clause) subject() (int, bool) {
	for i, w := range c.words[:min(len(c.words), 14)] {
		switch w.Text {
		case "i", "we":
			if i == 0 || c.opened(i) || i <= 6 && c.at(i-1) == "and" && !finite(c.words[:i]) {
				return i, true
			}
			return 0, false
		case "my", "our":
			if i == 0 || i == 1 && quantifiers.Has(c.at(0)) || i == 2 && quantifiers.Has(c.at(0)) && c.at(1) == "of" {
				return i, true
			}
			// In "On my way" the word is no subject; go on and look for one.
			if i > 0 && (!c.opened(i) || english.Prepositions.Has(c.at(i-1))) {
				if c.opened(i) {
					continue
				}
				return 0, false
			}
			return i, true
		case "you", "he", "she", "it", "they":
			if !clauseOpeners.Has(c.at(0)) {
				return 0, false
			}
		}
	}
	return 0, false
}

// opened reports whether the words before i are an adverbial.
func (c *clause) opened(i int) bool {
	someDay := periodLeads.Has(c.at(0)) && (english.Periods.Has(strings.TrimSuffix(c.at(1), "s")) || strings.TrimSuffix(c.at(1), "s") == "day")
	switch c.at(0) {
	case "this", "last", "next", "every", "each":
		if !spans.Has(c.at(1)) && !english.Periods.Has(c.at(1)) && !english.DateWords.Has(c.at(1)) {
			return false // "This is where I…"
		}
	}
	if openers.Has(c.at(0)) || someDay || c.at(0) == "the" && c.at(1) == "other" && c.at(2) == "day" || c.at(0) == "growing" && c.at(1) == "up" || c.at(1) == "ago" || c.at(2) == "ago" || c.at(3) == "ago" {
		return i < 4 || english.Prepositions.Has(c.at(0)) || clauseOpeners.Has(c.at(0)) || c.words[i-1].Stop != 0 || c.timed
	}
	return false
}

func finite(ws english.Words) bool {
	for _, w := range ws {
		if english.Auxiliaries.Has(w.Text) || english.Past(w.Text) {
			return true
		}
	}
	return false
}

// special reads what has another subject than the speaker and still is theirs:
// "It's my birthday", "Rex is our dog", "People call me Bob".
func (c *clause) special() topics {
	ws := c.words
	switch {
	case c.at(0) == "call" && c.at(1) == "me", c.at(0) == "if", english.QuestionWords.Has(c.at(0)) && c.at(0) != "when":
		return 0 // the first is an instruction
	case c.at(0) == "me" && c.at(1) == "and":
		for i := 2; i < min(len(ws), 8); i++ {
			if english.Past(c.at(i)) || english.Auxiliaries.Has(c.at(i)) || english.PresentVerbs.Has(c.at(i)) {
				return c.predicate(i)
			}
		}
	case c.at(0) == "there" && (c.at(1) == "are" || c.at(1) == "is") && ws.Content() > 0:
		for i := 2; i < len(ws); i++ {
			if c.at(i) == "us" && c.at(i-1) == "of" || c.at(i) == "family" && (c.at(i-1) == "my" || c.at(i-1) == "our") {
				return personal
			}
		}
	case c.at(0) == "it" && c.at(1) == "has" && c.at(2) == "been":
		for i := 3; i+1 < len(ws); i++ {
			if c.at(i) == "since" && (c.at(i+1) == "i" || c.at(i+1) == "we" || c.at(i+1) == "my") && c.content(i) > 0 {
				return details
			}
		}
	case reachPhrases.Match(ws, 0) > 0 && ws.Content() > 1:
		return personal
	case originPhrases.Match(ws, 0) > 0 && ws.Content() > 1:
		return personal
	}
	for i := 1; i < min(len(ws), 5); i++ {
		switch c.at(i) {
		case "call", "calls":
			if c.at(i+1) == "me" && callers.Has(c.at(i-1)) && !english.NotNames.Has(c.at(i+2)) && i+2 < len(ws) {
				return personal
			}
		case "is", "was", "are", "were":
			if (c.at(i+1) == "my" || c.at(i+1) == "our") && !english.Deictic.Has(c.at(i+2)) && !c.addressed(i) {
				return c.identity(i)
			}
		}
	}
	return 0
}

// identity reads "It's my birthday on 3 May", "Green is my favorite color".
func (c *clause) identity(i int) topics {
	noun := c.words[i+2:]
	if len(noun) == 0 || emptyPossessions.Has(noun[0].Text) || c.at(0) == "i" || c.at(0) == "we" || english.QuestionWords.Has(c.at(0)) {
		return 0
	}
	t := c.nounTopics(noun)
	pronoun := english.Deictic.Has(c.at(0)) || c.at(0) == "he" || c.at(0) == "she" || c.at(0) == "here"
	switch {
	case c.at(0) == "you" || c.at(0) == "what":
		return 0
	case t == preference && len(noun) > 1 && english.StopWords.Has(noun[1].Text) && pronoun:
		return 0 // "It's my favorite and never gets old"
	case t == 0 && (pronoun || noun.Content() < 2):
		return 0 // "That's my point"
	case pronoun && noun.Content() < 2 && noun[0].Text != "birthday" && !(c.timed && t&personal != 0):
		return 0 // "That's my favorite", "This is my dog"
	case t == 0:
		return details
	}
	return t
}

func (c *clause) nounTopics(noun english.Words) topics {
	var t topics
	for _, w := range noun[:min(len(noun), 6)] {
		if english.OwnNouns.Has(w.Text) || english.OwnNouns.Has(strings.TrimSuffix(w.Text, "'s")) {
			t |= personal
		}
		if w.Text == "favorite" {
			t |= preference
		}
	}
	return t
}

// possession reads "My name is Ann", "My wife works at…"; i is at "my".
func (c *clause) possession(i int) topics {
	for j := i + 1; j < min(len(c.words), i+10); j++ {
		w := c.at(j)
		if emptyPossessions.Has(w) && j < i+4 && c.words[i].Text == "my" {
			return 0
		}
		verb := english.Auxiliaries.Has(w) || english.Past(w) || english.PresentVerbs.Has(strings.TrimSuffix(w, "s")) || english.Likings.Has(strings.TrimSuffix(w, "s")) || english.PresentVerbs.Has(strings.TrimSuffix(w, "es"))
		if !verb || j == i+1 {
			continue
		}
		noun := c.words[i+1 : j]
		t := c.nounTopics(noun)
		whole := c.content(j+1) > 0 || c.timed || t == personal && english.Past(w) && !english.Auxiliaries.Has(w) // "My dog died"
		if noun.Content() == 0 || !whole || c.addressed(j) || talkComplements.Has(w) {
			return 0
		}
		if c.task && (t == 0 || english.Past(w)) {
			return 0
		}
		if t == 0 || english.Past(w) && w != "was" && w != "were" || c.timed {
			t |= details
		}
		return t
	}
	return 0
}

// elided reads statements without their subject: "Just adopted a cat",
// "Moving to Rome in March", "Allergic to nuts".
func (c *clause) elided() topics {
	i := 0
	for elidedAdverbs.Has(c.at(i)) {
		i++
	}
	w := c.at(i)
	switch {
	case c.task || c.addressed(0) || c.words[min(i, len(c.words)-1)].Stop != 0:
		return 0
	case events.Has(w) && c.content(i+1) > 0 && (i > 0 || c.timed || c.mine(i)), w == "allergic" && c.content(i+1) > 0:
		return c.predicate(i)
	case underway.Has(w) && c.content(i+1) > 1 && c.timed:
		return details
	}
	return 0
}

// announcesPaste reports whether a sentence hands over text to work on, which
// then follows: "Translate this to German:", "Here is my draft:".
func announcesPaste(text string, ws english.Words) bool {
	colon := strings.HasSuffix(strings.TrimRight(text, " *_"), ":")
	if !colon && !below.MatchString(text) {
		return false
	}
	for i := range ws[:min(len(ws), 12)] {
		if pasteVerbs.Has(ws[i].Text) || colon && english.TaskWords.Has(ws[i].Text) {
			return true
		}
	}
	return false
}

var below = regexp.MustCompile(`(?i)\b(?:the following|below|this (?:text|e-?mail|paragraph|message|letter|sentence|passage|article|story|poem|essay|code|snippet))\b|:\s`)
