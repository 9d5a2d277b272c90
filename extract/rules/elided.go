package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// In talk the subject is often left out: "Just adopted a cat", "Been sober for six years". Such a sentence is read with
// the words that are missing.

// elided reads statements without their subject.
func (c *clause) elided() topics {
	i := 0
	for elidedAdverbs.Has(c.at(i)) {
		i++
	}
	if c.task || c.addressed(0) || c.wordAt(i).Stop != 0 || c.content(i+1) == 0 {
		return none
	}
	missing, enough := c.missing(i)
	if missing == nil || !enough {
		return none
	}
	full := newClause(join(missing, c.words[i:]))
	full.fired = c.fired
	if missing[0].Text == "my" {
		return full.possession(0)
	}
	return full.predicate(1)
}

// missing are the words that the statement at word i is without, and whether it tells enough to be one.
func (c *clause) missing(i int) (ws english.Words, enough bool) {
	w, next := c.at(i), c.at(i+1)
	heavy, _ := weight(c.words[i:])
	switch {
	case w == "allergic", w == "down" && next == "to",
		w == "not" && (next == "a" || next == "an" || next == "into" || next == "the"):
		return spoken("i", "am"), true
	case w == "been":
		return spoken("i", "have"), heavy > 0
	case w == "used" && next == "to", (w == "can" || w == "could") && next == "not":
		return spoken("i"), heavy > 0
	case w == "going" && next == "to":
		return spoken("i", "am"), heavy > 1
	case elidedTastes.Has(w):
		return spoken("i"), heavy > 1 || english.Pronouns.Has(next) && heavy > 0
	case beginsEvent(w):
		return spoken("i"), i > 0 || c.anchored(i) || heavy > 2
	case bareOwned.Has(w) && finiteVerb(next):
		return spoken("my"), true
	case strings.HasSuffix(w, "ing") && !english.Moods.Has(w) && !c.finiteWithin(i+1, 14):
		return spoken("i", "am"), (i > 0 || c.anchored(i)) && heavy > 1 || heavy > 2
	}
	return nil, false
}

// beginsEvent reports whether w may be the past form of a sentence that has no subject: "Adopted a cat".
func beginsEvent(w string) bool {
	return events.Has(w) || english.Past(w) && !english.Moods.Has(w) && !english.Evaluative.Has(w) &&
		!tenselessPast.Has(w) && !strings.Contains(w, "-") // "much-needed"
}

// finiteWithin reports whether one of the n words from i on is a finite verb: "Painting helps me".
func (c *clause) finiteWithin(i, n int) bool {
	for j := i; j < min(len(c.words), i+n); j++ {
		if w := c.at(j); finiteVerb(w) && !english.PresentVerbs.Has(w) {
			return true
		}
		if stop := c.words[j].Stop; stop != 0 && stop != ',' {
			return false // "Researching agencies — it's a dream"
		}
	}
	return false
}
