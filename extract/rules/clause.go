package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
)

// clause is a sentence under judgement, without the words before and after the statement.
type clause struct {
	words english.Words
	timed bool        // it may name a date
	task  bool        // it has words of the work an agent is asked to do
	fired func(*rule) // called with each rule that decides; nil except in tests
}

// namesTask reports whether words tell of a task of an agent's. One in a name does not: "VS Code".
func namesTask(ws english.Words) bool {
	for i := range ws {
		// "I use VS Code", but "I use Docker"
		if english.TaskWords.Has(ws[i].Text) && !(ws[i].Upper && i > 1 && ws[i-1].Upper && ws[i-1].Stop == 0) {
			return true
		}
	}
	return false
}

// newClause looks over ws once for dates and task words.
func newClause(ws english.Words) *clause {
	return &clause{words: ws, timed: dates.Named(ws), task: namesTask(ws)}
}

// statement reads ws as a statement about the speaker or theirs, and gives its topics.
func statement(ws english.Words) topics { return newClause(ws).judge() }

// judge looks for the subject, then judges the predicate.
func (c *clause) judge() topics {
	if hypothetical.Found(c.words) || len(c.words) < 2 && !c.timed {
		return none
	}
	if t := c.otherSubject(); t != none {
		return t
	}
	i, ok := c.subject()
	switch {
	case !ok:
		return c.elided()
	case c.at(i) == "my" || c.at(i) == "our":
		return c.possession(i)
	}
	return c.predicate(i + 1)
}

// at is the word at i, "" outside of the clause.
func (c *clause) at(i int) string { return c.words.At(i) }

// wordAt is the word at i, or the last one where the clause is shorter.
func (c *clause) wordAt(i int) english.Word { return c.words[min(i, len(c.words)-1)] }

// content counts the content words from word i to the end of the clause.
func (c *clause) content(i int) int { return c.words[min(i, len(c.words)):].Content() }

// mine reports whether the speaker's own come up at or after i. "Our" is often everybody's ("our future"), so it must
// be of persons or pets.
func (c *clause) mine(i int) bool {
	for ; i < len(c.words); i++ {
		if w := c.at(i); w == "my" || w == "our" && (english.OwnNouns.Has(c.at(i+1)) || c.at(i+1) == "own") {
			return true
		}
	}
	return false
}

// anchored reports whether a statement of little weight has something to hold on to: a date, or the speaker's own.
func (c *clause) anchored(i int) bool { return c.timed || c.mine(i) }

// addressed reports whether the part of the clause from i on speaks to the listener; such sentences are talk, not
// statements about the speaker.
func (c *clause) addressed(i int) bool {
	for ; i < len(c.words); i++ {
		switch w := c.words[i]; {
		case addressee.Has(w.Text):
			return true
		case w.Text == "and" || w.Text == "but" || w.Text == "so" || w.Stop == ',' || w.Stop == ';':
			return false
		}
	}
	return false
}

// skipAdverbs is the index of the first word at or after i that is no adverb, and whether one of the adverbs negates.
func (c *clause) skipAdverbs(i int) (int, bool) {
	negated := false
	for ; ; i++ {
		switch w := c.at(i); {
		case w == "no" && c.at(i+1) == "longer":
			negated = true
			i++
		case !english.Adverbs.Has(w):
			return i, negated
		}
		negated = negated || c.at(i) == "not" || c.at(i) == "never"
	}
}

// object is the word at i, or the one after it if that is a preposition.
func (c *clause) object(i int) string {
	if english.Prepositions.Has(c.at(i)) {
		i++
	}
	return c.at(i)
}

// near reports whether one of the four words from i on is in s.
func (c *clause) near(i int, s english.Set) bool {
	return i < len(c.words) && c.words[i:min(len(c.words), i+4)].Any(s)
}

// nounTopics are the topics of a noun phrase: its persons, pets and traits are personal, a favorite is a preference.
func nounTopics(noun english.Words) topics {
	t := none
	for _, w := range noun[:min(len(noun), 6)] { // further words belong to another phrase
		if ownTraits.Has(w.Text) || english.OwnNouns.Has(w.Text) ||
			english.OwnNouns.Has(strings.TrimSuffix(w.Text, "'s")) {
			t |= personal
		}
		if w.Text == "favorite" {
			t |= preference
		}
	}
	return t
}

// isCount reports whether w may be how many of something there are: a number in figures, or a small one in words.
func isCount(w string) bool { return english.StartsWithDigit(w) || smallNumbers.Has(w) }

// isOrdinal reports whether w is a place in a row, in figures: "1st".
func isOrdinal(w string) bool {
	return english.StartsWithDigit(w) && (strings.HasSuffix(w, "st") || strings.HasSuffix(w, "nd") ||
		strings.HasSuffix(w, "rd") || strings.HasSuffix(w, "th"))
}

// isAge reports whether w may be somebody's age: a number below 100, in figures, or in words from sixteen on.
func isAge(w string) bool {
	return ageNumbers.Has(w) || w != "" && len(w) < 3 && strings.Trim(w, "0123456789") == ""
}
