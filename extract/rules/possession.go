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
		measured := records.Has(w) && c.measured(j+1) // "My best over 1500 free stands at 22:58"
		// "My next trip", "my first language"
		named := ownLife.Has(c.at(j+1)) && c.words[j].Stop == 0
		if emptyPossessions.Has(w) && j < i+4 && c.at(i) == "my" && c.at(j-1) != "personal" && !measured && !named {
			return none // "My question is…"
		}
		if c.at(j-1) == "friend" && (c.words[j-1].Stop != 0 || !c.words[j].Upper && !thirdVerb(w)) {
			return none // "My friend, I must say…"
		}
		if j > i+1 && w == "when" && c.words[j-1].Stop == 0 {
			return none // "my go-to dish when I am tired"
		}
		if english.PresentVerbs.Has(w) && c.words[i+1:j].Content() == 0 {
			continue // "My new bike is a Koga": a noun with the letters of a verb
		}
		if j > i+1 && finiteVerb(w) {
			if c.words[j-1].Stop == ',' && c.words[j].Stop == ',' {
				return none // "My family, exercise, and music": a list
			}
			return c.possessed(i, j)
		}
		if strings.HasSuffix(w, "'s") && c.complements(j+1) { // "My husband's allergic to nuts"
			return c.possessed(i, j)
		}
	}
	if j := c.thirdPerson(i); j > 0 {
		return c.possessed(i, j)
	}
	return none
}

// thirdPerson is the index of a verb that no table has behind a person, pet or group of the speaker's, "my daughter
// reacts to walnuts", or before a time behind a thing, "my train leaves at six"; 0 if there is none. The tables of
// verbs are of what people say of themselves, and others do more. A noun in "-s" is no verb where another noun of the
// speaker's comes before it: "my cat photos".
func (c *clause) thirdPerson(i int) int {
	for j := i + 2; j < min(len(c.words), i+5); j++ {
		w, before := c.at(j), c.words[j-1]
		if before.Stop != 0 || !thirdVerb(w) {
			continue
		}
		named := before.Upper && j > i+2 && persons.Has(c.at(j-2)) // "my boyfriend Marek snores"
		next, human := c.at(j+1), persons.Has(before.Text) && !pets.Has(before.Text)
		switch {
		// A thing does nothing by habit that its name does not say, so that a time must be told.
		case !persons.Has(before.Text) && !named && !memberships.Has(before.Text):
			noun := !isPlural(before.Text) && !english.StopWords.Has(before.Text)
			if noun && !english.TaskWords.Has(w) && c.atTime(j+1) {
				return j // "my course starts on Monday"
			}
		case human && next != "" && !english.StopWords.Has(next) && !finiteVerb(next) && c.words[j].Stop == 0:
			return j // "my sister tests software"
		case !english.TaskWords.Has(w) && (english.Prepositions.Has(next) || english.Articles.Has(next) ||
			english.Adverbs.Has(next) || objects.Has(next) || isPlural(next) || next == ""):
			return j
		}
	}
	return 0
}

// atTime reports whether the words at i say when something is, day after day or once: "on Mondays", "at six", "every
// week", "on the 9th of May".
func (c *clause) atTime(i int) bool {
	switch c.at(i) {
	case "every", "each":
		return true
	// "From" and "in" are left out, as they go with nouns too: "my photos from Monday".
	case "on", "at", "until", "around":
	default:
		return false
	}
	if c.at(i+1) == "the" {
		i++
	}
	w := c.at(i + 1)
	return english.StartsWithDigit(w) || english.DateWords.Has(strings.TrimSuffix(w, "s")) || w == "noon" ||
		w == "may" || w == "march" || w == "half" || w == "quarter" || w == "midnight" ||
		english.Periods.Has(strings.TrimSuffix(w, "s"))
}

// thirdVerb reports whether w has the form of a verb in the third person.
func thirdVerb(w string) bool {
	return finiteVerb(w) || strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.Contains(w, "'") &&
		len(w) > 3 && !english.StopWords.Has(w) && !english.OwnNouns.Has(w)
}

// complements reports whether the word at i is a complement of "is" and hardly the noun behind "husband's".
func (c *clause) complements(i int) bool {
	w := c.at(i)
	return english.States.Has(w) || english.Articles.Has(w) || english.Prepositions.Has(w) || tastes.Has(w) ||
		happenings.Has(w) || degree.Has(w) || w == "not" || strings.HasSuffix(w, "ing") && !english.Moods.Has(w)
}

// finiteVerb reports whether w may be the verb behind "my sister".
func finiteVerb(w string) bool {
	stem := strings.TrimSuffix(w, "s")
	return english.Auxiliaries.Has(w) || english.Past(w) || effects.Has(w) || valueVerbs.Has(w) ||
		english.PresentVerbs.Has(stem) || english.Likings.Has(stem) ||
		english.PresentVerbs.Has(strings.TrimSuffix(w, "es")) // "goes"
}

// possessed judges what is said of a possession; i is at "my", j at the verb.
func (c *clause) possessed(i, j int) topics {
	verb, noun := c.at(j), c.words[i+1:j]
	if len(noun) == 0 || strings.HasSuffix(verb, "'s") {
		noun = c.words[i+1 : j+1]
	}
	t, past := nounTopics(noun), english.Past(verb)
	died := t == personal && past && !english.Auxiliaries.Has(verb) || // "My dog died" is complete
		t == personal && !finiteVerb(verb) && !strings.HasSuffix(verb, "'s") // and "My boyfriend snores"
	switch {
	case noun.Has("favorite") && c.content(j+1) > 0 && !c.addressed(j): // "My favorite is…"
		return t
	case noun.Content() == 0, c.addressed(j), talkComplements.Has(verb):
		return none
	case c.content(j+1) == 0 && !c.timed && !died && !(c.at(j+1) == "with" && strings.HasPrefix(verb, "live")):
		return none
	case noun[len(noun)-1].Text == "friend" && past && !c.timed:
		return none // "My friend dared me"
	case c.task && (t == none || past):
		return none // "My script failed"
	case t == none, past && verb != "was" && verb != "were", c.timed:
		return t | details
	}
	return t
}
