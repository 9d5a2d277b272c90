package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// maxSubject bounds the words in which the subject must come. Behind a longer adverbial the sentence mostly tells of
// something else.
const maxSubject = 14

// subject finds the first-person subject: at the front, after an adverbial ("Last week my wife…", "When I was
// five…"), or second in a pair ("Ann and I").
func (c *clause) subject() (int, bool) {
	for i, w := range c.words[:min(len(c.words), maxSubject)] {
		switch w.Text {
		case "i", "we":
			return i, i == 0 || c.opened(i) || i <= 6 && c.at(i-1) == "and" && !finite(c.words[:i])
		case "my", "our":
			if c.quantified(i) {
				return i, true
			}
			if !c.opened(i) {
				return 0, false
			}
			if !english.Prepositions.Has(c.at(i - 1)) {
				return i, true
			}
			// In "On my way I…" the word is no subject; go on and look for one.
		case "you", "he", "she", "it", "they":
			if !clauseOpeners.Has(c.at(0)) {
				return 0, false
			}
		}
	}
	return 0, false
}

// quantified reports whether the clause begins with the word at i or a quantifier of it: "my", "both my", "two of my".
func (c *clause) quantified(i int) bool {
	return i == 0 || quantifiers.Has(c.at(0)) && (i == 1 || i == 2 && c.at(1) == "of")
}

// opened reports whether the words before i are an adverbial.
//
// An adverbial of more than three words must be marked as one: by the word it opens with, by a mark behind it, or by a
// date in the sentence. Otherwise "Here the man that I met" would be one.
func (c *clause) opened(i int) bool {
	first, second := c.at(0), c.at(1)
	switch first {
	case "this", "last", "next", "every", "each":
		if !spans.Has(second) && !english.Periods.Has(second) && !english.DateWords.Has(second) {
			return false // "This is where I…"
		}
	}
	if !openers.Has(first) && openingPhrases.Match(c.words, 0) == 0 && !c.opensWithPeriod() && !c.countsBack() {
		return false
	}
	return i < 4 || english.Prepositions.Has(first) || clauseOpeners.Has(first) || c.words[i-1].Stop != 0 || c.timed
}

// opensWithPeriod reports whether the clause begins like "The week after" or "Some days".
func (c *clause) opensWithPeriod() bool {
	period := strings.TrimSuffix(c.at(1), "s")
	return periodLeads.Has(c.at(0)) && (english.Periods.Has(period) || period == "day")
}

// countsBack reports whether the clause begins like "Two years ago".
func (c *clause) countsBack() bool {
	return c.at(1) == "ago" || c.at(2) == "ago" || c.at(3) == "ago"
}

// finite reports whether ws has a finite verb.
func finite(ws english.Words) bool {
	for _, w := range ws {
		if english.Auxiliaries.Has(w.Text) || english.Past(w.Text) {
			return true
		}
	}
	return false
}
