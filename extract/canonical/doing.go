package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People tell the way in which they do something by a phrase behind its verb: "I code in Java", "our dog sleeps in the
// kitchen", "I see the dentist in Camden". Who says the same later with another phrase of the same link, and that it is
// so now, does it no longer in the first way: "I code in Go now".
//
// The rest of both statements must be equal: the subject, the verb, its object, and each other phrase. An object is no
// such phrase, as somebody who plays the cello may play the piano now as well. Nor is the club, the choir or the band
// in which they do it, for of these people have several.

// doingAttribute begins the attribute of a way to do something.
const doingAttribute = stateAttribute + "doing "

var (
	wayLinks   = frameTables.Words("way-links")
	fixedLinks = frameTables.Words("fixed-links")
	noWays     = frameTables.Words("no-ways")
	waysApart  = frameTables.Words("ways-apart")
	mixing     = frameTables.Words("mixing")
	nowLeads   = frameTables.Words("now-leads")
)

// phrase is a link and the words behind it; the object of a verb has no link.
type phrase struct {
	link  string
	words english.Words
}

// maxWays bounds the words of a statement whose ways are read.
const maxWays = 14

// ways reads in which ways somebody, or a thing of the speaker's, does something.
func (c *claim) ways(ws english.Words) (out []Claim) {
	ws = ws[openingTime(ws):]
	if len(ws) > maxWays || nowAndThen(c.fact) || ws.Any(uncertain) || ws.Any(negations) || ws.Any(waysApart) ||
		ws.Any(dependent) {
		return nil
	}
	who, predicate := c.doer(ws)
	for len(predicate) > 0 && (english.Adverbs.Has(predicate[0].Text) || changeWords.Has(predicate[0].Text)) {
		predicate = predicate[1:]
	}
	if len(predicate) < 3 {
		return nil
	}
	verb := predicate[0].Text
	if who != "" && who != "i" {
		verb = singular(verb)
	}
	if inAny(verb, noWays, english.Auxiliaries, english.Modals) || endsInIng(verb) ||
		english.Past(verb) && !bothTenses(verb) {
		return nil
	}
	phrases, ok := c.phrasesOf(predicate[1:])
	if !ok || len(phrases) > 4 {
		return nil
	}
	changed := changeMarks.Found(ws) || ws.Has("now") || ws.Has("nowadays")
	for i, p := range phrases {
		if !wayLinks.Has(p.link) || !c.isWay(verb, p) {
			continue
		}
		attribute := doingAttribute + who + " " + verb
		for k, other := range phrases {
			if k != i {
				attribute += " " + strings.TrimSpace(other.link+" "+c.wayOf(other.words))
			}
		}
		out = append(out, Claim{
			Attribute: attribute + " " + p.link, Value: c.wayOf(p.words), Several: true, Loose: true, Changed: changed,
		})
	}
	return out
}

// A pet is the same one without its owner's words: "our dog", "my old dog". Of other things each word may tell it
// apart.

// doer tells who or what does something, in one form for all ways to name it, and the words from the verb on.
func (c *claim) doer(ws english.Words) (who string, predicate english.Words) {
	switch ws.At(0) {
	case "i", "we":
		return "i", ws[1:]
	case "my", "our":
	default:
		return "", nil
	}
	if o, predicate, ok := c.frameSubject(ws, true); ok && len(predicate) > 0 {
		return string(o), predicate
	}
	for k := 2; k < min(len(ws)-1, maxStateNoun); k++ {
		w := ws[k].Text
		if !strings.HasSuffix(w, "s") || !thirdPerson(w) && !english.PresentVerbs.Has(w) &&
			!english.PresentVerbs.Has(singular(w)) {
			continue
		}
		if pets.Has(ws[k-1].Text) {
			return ws[k-1].Text, ws[k:]
		}
		name, _ := stateNoun(ws[1:k])
		return name, ws[k:]
	}
	return "", nil
}

// What follows another link or a pronoun bounds the statement or goes on about something else, so that no way of it is
// compared.

// phrasesOf takes apart what stands behind a verb: its object, and phrases with a link. It is not ok if a word tells of
// a time that ends or of another statement.
func (c *claim) phrasesOf(ws english.Words) (out []phrase, ok bool) {
	p := phrase{}
	for i, w := range ws {
		switch {
		case i > 0 && stopsClause(ws[i-1].Stop):
			return nil, false
		case changeMarks.Match(ws, i) > 0 && i+changeMarks.Match(ws, i) == len(ws):
			return flushed(out, p), true
		case changeWords.Has(w.Text), english.Adverbs.Has(w.Text):
			if nowLeads.Has(ws.At(i-1)) || ws.At(i+1) == "of" || ws.At(i+1) == "that" {
				return nil, false // "for now", "instead of", "now that"
			}
		case wayLinks.Has(w.Text), fixedLinks.Has(w.Text):
			out = flushed(out, p)
			p = phrase{link: w.Text}
		case english.Prepositions.Has(w.Text) && w.Text != "of", links.Has(w.Text), english.Deictic.Has(w.Text),
			w.Text != "my" && english.Pronouns.Has(w.Text):
			return nil, false
		default:
			p.words = append(p.words, w)
		}
	}
	return flushed(out, p), true
}

// flushed is the list with p, if that has any words.
func flushed(out []phrase, p phrase) []phrase {
	if len(p.words) > 0 {
		return append(out, p)
	}
	return out
}

// isWay reports whether a phrase is one of which the same thing is done in one at a time. Days have readers of their
// own, people and groups are several.
func (c *claim) isWay(verb string, p phrase) bool {
	first, last := p.words[0], p.words[len(p.words)-1].Text
	one := singular(last)
	mixed := p.link == "with" && mixing.Has(verb) // "take my coffee with sugar"
	group := mixed || p.link == "in" && (first.Text == "a" || first.Text == "an") || groupNouns.Has(one)
	person := relation(one) != "" || persons.Has(one) || p.link == "with" && c.capital(p.words[len(p.words)-1])
	timed := isDate(last) || english.StartsWithDigit(last) || slices.ContainsFunc(p.words, func(w english.Word) bool {
		return english.DateWords.Has(singular(w.Text))
	})
	return !group && !person && !timed && !(verb == "go" && p.link == "at") && len(p.words) <= maxSlotWords
}

// Words before a noun seldom tell a way apart, but those of a name do: "in the old kitchen", "in the Oslo office".

// wayOf is the thing that words name: its noun, or all words of a name.
func (c *claim) wayOf(ws english.Words) string {
	var name []string
	for _, w := range ws {
		if c.capital(w) && w.Text != "i" {
			name = append(name, baseForm(w.Text))
		}
	}
	if len(name) > 0 {
		return strings.Join(name, " ")
	}
	last := len(ws) - 1
	if at := slices.IndexFunc(ws, func(w english.Word) bool { return w.Text == "of" }); at > 0 {
		last = at - 1 // "the back of the house"
	}
	return baseForm(ws[last].Text)
}
