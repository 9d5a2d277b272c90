package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// possession reads "My name is Ann", "My wife works at…"; i is at "my".
func (c *clause) possession(i int) topics {
	// The verb comes within ten words, and what the possession is within four: "my old school friend Ann lives…".
	for j := i + 1; j < min(len(c.words), i+10); j++ {
		w := c.at(j)
		if emptyPossessions.Has(w) && j < i+4 && c.at(i) == "my" {
			return none // "My question is…"
		}
		if j > i+1 && finiteVerb(w) {
			return c.possessed(i, j)
		}
	}
	return none
}

// finiteVerb reports whether w may be the verb behind "my sister".
func finiteVerb(w string) bool {
	stem := strings.TrimSuffix(w, "s")
	return english.Auxiliaries.Has(w) || english.Past(w) ||
		english.PresentVerbs.Has(stem) || english.Likings.Has(stem) ||
		english.PresentVerbs.Has(strings.TrimSuffix(w, "es")) // "goes"
}

// possessed judges what is said of a possession; i is at "my", j at the verb.
func (c *clause) possessed(i, j int) topics {
	verb, noun := c.at(j), c.words[i+1:j]
	t, past := nounTopics(noun), english.Past(verb)
	died := t == personal && past && !english.Auxiliaries.Has(verb) // "My dog died" is complete
	switch {
	case noun.Content() == 0, c.addressed(j), talkComplements.Has(verb):
		return none
	case c.content(j+1) == 0 && !c.timed && !died:
		return none
	case c.task && (t == none || past):
		return none // "My script failed"
	case t == none, past && verb != "was" && verb != "were", c.timed:
		return t | details
	}
	return t
}

// elided reads statements without their subject: "Just adopted a cat", "Moving to Rome in March", "Allergic to nuts".
func (c *clause) elided() topics {
	i := 0
	for elidedAdverbs.Has(c.at(i)) {
		i++
	}
	if c.task || c.addressed(0) || c.wordAt(i).Stop != 0 {
		return none
	}
	switch p := c.from(i); {
	case p.rest == 0:
		return none
	case p.word == "allergic", events.Has(p.word) && (i > 0 || c.anchored(i)):
		return c.predicate(i)
	case underway.Has(p.word) && p.rest > 1 && c.timed:
		return details
	}
	return none
}
