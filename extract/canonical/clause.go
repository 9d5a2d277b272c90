package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// clauses are the statements of ws: "I live in Ghent" and "I work in Bruges". There
// are none if a word bounds what they say: "if it works out", "but only in summer".
func clauses(ws english.Words) (out []english.Words) {
	from := 0
	for i := 1; i < len(ws); i++ {
		w := ws[i].Text
		subject := i+1 < len(ws) && clauseSubjects.Has(ws[i+1].Text)
		next := 0 // where the next clause begins
		switch {
		case conditions.Has(w):
			return nil
		case w == "but" && ws[from:i].Has("used") && ws[i:].Any(anymoreWords):
			return append(out, ws[from:i])
		case joining.Has(w) && subject && i+2 < len(ws):
			next = i + 1
		case w == "but":
			return nil
		case (w == "and" || w == "so") && i-from > 2 && mayBeVerb(ws.At(i+1)):
			next = i + 1
		case stopsClause(ws[i-1].Stop) && (clauseSubjects.Has(w) || w == "not") && i+1 < len(ws):
			next = i
		}
		if next > 0 {
			out = append(out, ws[from:i])
			from = next
		}
	}
	return append(out, ws[from:])
}

// withoutNow is ws without "now", which says no more than the present does: but
// "for now" bounds.
func withoutNow(ws english.Words) english.Words {
	return slices.DeleteFunc(slices.Clone(ws), func(w english.Word) bool {
		return w.Text == "now" && !timeLeads.Has(before(ws, w))
	})
}

// before is the word before w in ws.
func before(ws english.Words, w english.Word) string {
	i := slices.IndexFunc(ws, func(o english.Word) bool { return o.Start >= w.Start && o.Text == w.Text })
	return ws.At(i - 1)
}

// stopsClause reports whether a second clause may begin after a mark.
func stopsClause(mark rune) bool { return mark != 0 && strings.ContainsRune(",;:.!()–—-", mark) }

// variant is a statement without some of the modifiers at its end.
type variant struct {
	words english.Words
	// time is a time behind it that is no recent one: "in March"
	time english.Words
}

// withoutModifiers are ws and what is left of it without the modifiers at its end,
// longest first: "I live in Ghent above a bakery" and "I live in Ghent". It ends
// before a modifier that bounds the statement, such as "in summer". The time of an
// event bounds nothing: "I moved to Ghent in summer".
func withoutModifiers(ws english.Words, event bool) []variant {
	if event {
		ws = withoutRecentTime(ws)
	}
	out := []variant{{words: ws}}
	dated := 0
	for i, end := len(ws)-1, len(ws); i >= 2; i-- {
		w := ws[i].Text
		company := ws[i-1].Text == "with" // "with 2 flatmates"
		time := !company && inAny(w, seasons, english.DateWords, english.Periods) ||
			english.DateWords.Has(singular(w)) ||
			english.StartsWithDigit(w) && !company
		if boundingModifiers.Has(w) || time && !event || maritalStatuses.Has(ws[i-1].Text) && bindsStatus.Has(w) {
			break // also of "married to my job"
		}
		if time {
			dated = i
		}
		opens := modifierStarts.Has(w) || english.Prepositions.Has(w) && w != "of" || stopsClause(ws[i-1].Stop)
		if !opens ||
			w == "for" && (i+1 == end || amountStarts.Has(ws[i+1].Text) || english.StartsWithDigit(ws[i+1].Text)) {
			continue
		}
		v := variant{words: ws[:i]}
		if dated > 0 {
			v.time = ws[dated:]
		}
		if event {
			v.words = withoutRecentTime(v.words)
		}
		out = append(out, v)
		end = i
	}
	return out
}

// tellsEvent reports whether a predicate tells of something that happened: "moved
// to Ghent", "was laid off".
func tellsEvent(ws english.Words) bool {
	ws = withoutAdverbs(ws)
	return english.Past(ws.At(0)) || endVerbs.Has(ws.At(0)) || ws.At(0) == "was" || ws.At(0) == "were"
}

// subjectOf is whose statement ws is, and its predicate. The predicate is nil if
// the subject is none that the rules know: the speaker, a relation of the
// speaker's, or a person with a name.
func (c *claim) subjectOf(ws english.Words) (o owner, predicate english.Words) {
	ws = afterFrontTime(ws)
	switch ws.At(0) {
	case "i", "we":
		return "", ws[1:]
	case "my", "our":
		o, n := relationAt(ws[1:])
		if o == "" {
			return "", nil
		}
		return o, ws[1+n:]
	}
	if name := c.named(ws); name != "" {
		return owner(name), ws[1:]
	}
	return "", nil
}

// relationAt reads "sister" and "older sister", and gives the number of its words;
// "" if ws begins with no relation.
func relationAt(ws english.Words) (owner, int) {
	adjective, n := "", 0
	if len(ws) > 2 && relationAdjectives.Has(ws[0].Text) {
		adjective, n = ws[0].Text+" ", 1
	}
	rel := relation(ws.At(n))
	if rel == "" {
		return "", 0
	}
	return owner(adjective + rel), n + 1
}

// named is the person whose name begins ws, if a verb of a person follows: "Tom
// works at Acme".
func (c *claim) named(ws english.Words) string {
	if len(ws) < 3 || ws[0].Stop != 0 || !ws[0].Upper || !personVerbs.Has(ws[1].Text) ||
		inAny(ws[0].Text, english.StopWords, english.States, english.Deictic, cities, countries) {
		return ""
	}
	return c.properName(ws[:1])
}

// withoutAdverbs is ws without the auxiliaries of the perfect and adverbs at its
// front: "have just finally sold my car".
func withoutAdverbs(ws english.Words) english.Words {
	for len(ws) > 1 && (frontAdverbs.Has(ws[0].Text) || ws[0].Text == "have" && endVerbs.Has(ws.At(1)) ||
		ws[0].Text == "has" && endVerbs.Has(ws.At(1))) {
		ws = ws[1:]
	}
	return ws
}

// object is the thing that ws begins with, without determiners and amounts and in
// the singular: "two cups of strong coffee" is "strong coffee". It is "" if ws
// begins with more than maxObjectWords of it, or something else.
func object(ws english.Words) string { what, _ := objectOf(ws); return what }

// wholeObject is the object that ws is, without more behind it.
func wholeObject(ws english.Words) string {
	what, rest := objectOf(ws)
	if len(rest) > 0 {
		return ""
	}
	return what
}

func objectOf(ws english.Words) (what string, rest english.Words) {
	for len(ws) > 1 && (quantities.Has(ws[0].Text) || english.Articles.Has(ws[0].Text) ||
		english.StartsWithDigit(ws[0].Text) || ws[0].Text == "our") {
		ws = ws[1:]
	}
	if len(ws) > 2 && ws[1].Text == "of" && servings.Has(ws[0].Text) {
		ws = ws[2:]
	}
	var out []string
	for i, w := range ws {
		if i > 0 && (english.Prepositions.Has(w.Text) && w.Text != "of" || modifierStarts.Has(w.Text) ||
			boundingModifiers.Has(w.Text) || w.Text == "called" || w.Text == "named" || stopsClause(ws[i-1].Stop)) {
			rest = ws[i:]
			break
		}
		if inAny(w.Text, english.Pronouns, negations, possessives) || w.Text == "and" || w.Text == "or" {
			return "", nil
		}
		out = append(out, singular(w.Text))
	}
	if len(out) == 0 || len(out) > maxObjectWords ||
		inAny(out[0], english.Prepositions, english.Deictic, frontAdverbs, particles) {
		return "", nil
	}
	return strings.Join(out, " "), rest
}

// maxObjectWords bounds an object. A longer one says more than a thing.
const maxObjectWords = 3

// tellsChange reports whether one of the marks of change is among the words of the fact
// as it is written, before reduce drops them.
func tellsChange(ws english.Words) bool {
	return changeMarks.Found(ws) ||
		slices.ContainsFunc(ws, func(w english.Word) bool { return changeWords.Has(w.Text) })
}
