package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People who talk with each other tell what they are at: "I just got home", "I'm having lunch". Such a statement is no
// longer true an hour later, and no question asks for it. Company, a name, a number or another day make an event of it.

// maxNow bounds the words of a statement about how somebody is at the moment.
const maxNow = 14

// maxAside bounds the words of a moment that say more than what everybody does: "some lunch at the taco spot".
const maxAside = 3

// ofTheMoment reports whether a statement only tells that the speaker does now, has just done or is about to do what
// everybody does each day, and goes on with nothing that is worth keeping: "I just got home and I'm tired".
func ofTheMoment(ws english.Words) bool {
	if (&clause{words: ws}).lasts() {
		return false
	}
	for i := range ws {
		w := ws[i].Text
		joined := tailJoints.Has(w) || clauseOpeners.Has(w)
		if i < 3 || !joined && ws[i-1].Stop != ',' {
			continue
		}
		rest := ws[i:]
		if joined {
			rest = ws[i+1:]
		}
		rest = rest[min(english.SkipLeads(rest), len(rest)):]
		return passing(ws[:i]) && (len(rest) < 2 || statement(rest) == none || everyDay(rest) || ofTheMoment(rest))
	}
	return passing(ws)
}

// ofNow reports whether a statement tells how the speaker is at the moment, or what the speaker was about to do and did
// not: "I have a headache right now", "I was going to go out but it's late".
func ofNow(ws english.Words) bool {
	planned := ws.StartWith("i", "was", "going", "to") || ws.StartWith("i", "was", "gonna")
	// A longer one tells how bad it is: "I have a fever right now, and really bad pain in both ears".
	ails := len(ws) <= maxNow && rightNow.Found(ws) && ws.Any(ailments)
	if !ails && !(planned && ws.Has("but")) {
		return false
	}
	for i := 1; i < len(ws); i++ {
		w := ws[i].Text
		own := english.OwnNouns.Has(w) && !ailments.Has(w)
		if own || regular.Has(w) || english.StartsWithDigit(w) || ws[i].Upper && !english.StopWords.Has(w) {
			return false
		}
	}
	return true
}

// passing is ofTheMoment of one clause.
func passing(ws english.Words) bool {
	c := &clause{words: ws}
	i := 0
	for english.Adverbs.Has(c.at(i)) || c.at(i) == "today" || c.at(i) == "right" {
		i++
	}
	if c.hasTasks(i) || c.feelsBody(i) {
		return true
	}
	j, negated := c.skipAdverbs(i + 1)
	if english.Past(c.at(i)) || strings.HasSuffix(c.at(i), "ing") { // "Just got home", "Just laying in bed"
		j, negated = i, false
	} else if c.at(i) != "i" && c.at(i) != "we" || negated {
		return false
	}
	near := ws[:min(j, len(ws))].Any(nearly) ||
		ws.Has("earlier") || ws.Has("currently") || c.justNow() || rightNow.Found(ws)
	verb := c.at(j)
	switch {
	case verb == "have" && near:
		if j, _ = c.skipAdverbs(j + 1); c.at(j) == "been" {
			j++ // "I have just been resting"
		}
		return c.daily(j, true)
	case verb == "will":
		j, _ = c.skipAdverbs(j + 1)
		return c.daily(j, true)
	case strings.HasSuffix(verb, "ing"):
		return near && c.daily(j, true)
	case verb == "am" || verb == "are":
		if j, _ = c.skipAdverbs(j + 1); (c.at(j) == "going" || c.at(j) == "about") && c.at(j+1) == "to" {
			j, _ = c.skipAdverbs(j + 2)
		} else if c.at(j) == "thinking" && (c.at(j+1) == "of" || c.at(j+1) == "about") {
			j += 2
		}
		return c.daily(j, true)
	case english.Past(verb):
		return c.daily(j, near)
	}
	return false
}

// hasTasks reads "I have a few things to do": what everybody has each day.
func (c *clause) hasTasks(i int) bool {
	if c.at(i) != "i" && c.at(i) != "we" || c.at(i+1) != "have" && c.at(i+1) != "had" {
		return false
	}
	for k := i + 2; k+1 < min(len(c.words), i+9); k++ {
		if tasks.Has(c.at(k)) && c.at(k+1) == "to" {
			return true
		}
	}
	return false
}

// feelsBody reads "my hands are cold" and "my head feels weird": how a part of the body is for a while.
func (c *clause) feelsBody(i int) bool {
	if c.at(i) != "my" || !bodyParts.Has(c.at(i+1)) {
		return false
	}
	j, _ := c.skipAdverbs(i + 2)
	verb := c.at(j)
	if verb != "is" && verb != "are" && verb != "was" && verb != "were" && verb != "feels" && verb != "feel" {
		return false
	}
	// A part of the body that is said to be so always, or since some time, is another matter; see lasts.
	for j++; degree.Has(c.at(j)) || english.Adverbs.Has(c.at(j)) || c.at(j) == "super" || c.at(j) == "especially"; {
		j++
	}
	w := c.at(j)
	return ailments.Has(w) || english.Moods.Has(w) || english.States.Has(w) || english.Evaluative.Has(w)
}

// lasts reports whether words of a statement make more of it than a moment: a habit, a name, a number, another day or
// somebody of the speaker's.
func (c *clause) lasts() bool {
	for k := 1; k < len(c.words); k++ {
		w := c.words[k]
		switch {
		case strings.ContainsRune("\"“", w.Stop) && w.Stop != 0:
			return true // a title
		case english.Periods.Has(w.Text) && (c.at(k-1) == "next" || c.at(k-1) == "last"),
			w.Text == "weekend", w.Text == "month", regular.Has(w.Text), english.OwnNouns.Has(w.Text),
			english.StartsWithDigit(w.Text), w.Upper && !english.StopWords.Has(w.Text), w.Text == "first":
			return true
		case english.DateWords.Has(w.Text):
			if w.Text != "ago" || !c.words[max(0, k-3):k].Any(english.Adverbs) {
				return !c.justNow()
			}
		case w.Text == "usually", w.Text == "often", w.Text == "always", w.Text == "again", w.Text == "never",
			w.Text == "anymore":
			return true
		}
	}
	return false
}

// justNow reports whether the clause tells of what is hardly past: "a while ago", "not too long ago", "an hour ago".
func (c *clause) justNow() bool {
	for k := range c.words {
		if c.at(k) == "ago" {
			before := c.at(k - 1)
			return before == "long" || before == "while" || before == "hour" || before == "hours" || before == "minutes"
		}
	}
	return false
}

// daily reports whether the words from the verb at j on are what everybody does each day. A meal that is long past must
// be all that is told, unless near is set.
func (c *clause) daily(j int, near bool) bool {
	goes := (c.at(j) == "go" || c.at(j) == "going") && english.PresentVerbs.Has(c.at(j+1))
	if goes || c.at(j+1) == "get" || c.at(j+1) == "grab" { // "go get some lunch"
		j++
	}
	verb, rest := c.at(j), c.words[min(j+1, len(c.words)):]
	if n := beside(rest); n > maxAside || !near && n > 1 {
		return false
	}
	head := rest[:min(len(rest), maxObject)]
	makes := verb == "get" || verb == "got" || verb == "make" || verb == "made"
	switch {
	case dining.Has(verb) && (near || verb != "got" && verb != "get"):
		return head.Any(meals) || near && rest.At(0) == "some" && !makes
	case moving.Has(verb) && near, verb == "went":
		return goesAbout(verb, rest)
	case chores.Has(verb):
		return head.Any(choreObjects)
	case verb == "took", verb == "had", near && (verb == "take" || verb == "taking"):
		return head[:min(len(head), 4)].Any(pauses)
	case verb == "woke":
		return true
	}
	return resting.Has(verb) && near
}

// goesAbout reports whether the words behind a verb of moving lead nowhere in particular: "got home", "went for a
// walk", "stepped out to go to the store".
func goesAbout(verb string, rest english.Words) bool {
	if strings.HasPrefix(verb, "step") {
		return rest.At(0) == "out"
	}
	walks := verb == "went" && rest.At(0) == "for" && rest[:min(len(rest), maxObject)].Any(pauses)
	return walks || rest[:min(len(rest), 4)].Any(errands)
}

// beside counts the words that tell of more than meals and errands.
func beside(ws english.Words) (n int) {
	for i := range ws {
		w := ws[i].Text
		usual := meals.Has(w) || errands.Has(w) || dailyWords.Has(w) || w == "while"
		empty := english.StopWords.Has(w) || english.Evaluative.Has(w) || english.Adverbs.Has(w)
		if !usual && !empty && !english.Prepositions.Has(w) {
			n++
		}
	}
	return n
}
