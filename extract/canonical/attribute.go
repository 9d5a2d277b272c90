package canonical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// maxClaimWords bounds the facts that are read for an attribute: a longer one
// says more than a value.
const maxClaimWords = 20

// reading is an attribute and its value. A reading without a value counts as none.
type reading struct{ attribute, value string }

func (r reading) ok() bool { return r.value != "" }

// claim is a fact that is read for an attribute: its text, in which names have
// their capitals, and its reduced words.
type claim struct {
	text     string
	friend   string // the name of somebody that the fact says to be a friend or the like; see withoutAcquaintance
	words    english.Words
	changed  bool // the fact speaks of a change
	begun    bool // the words before its first subject do: "these days"
	dwelling bool // the fact speaks of a dwelling; of frames alone
	reach    reach
	fact     english.Words // all words of the fact; of frames alone
}

// owner is whose attribute a fact speaks of: "" is the speaker, and any other
// value a relation, such as "sister" or "older sister".
type owner string

// attribute is the full name of an attribute: "home", "sister home".
func (o owner) attribute(name string) string {
	if o == "" {
		return name
	}
	return string(o) + " " + name
}

// isOne reports whether o is the speaker, or a relation that a person has only one
// of at a time, such as "wife".
func (o owner) isOne() bool { return o == "" || uniqueRelations.Has(string(o)) }

// of makes r an attribute of o. Without a value it gives the zero reading.
func (r reading) of(o owner) reading {
	if !r.ok() {
		return reading{}
	}
	return reading{o.attribute(r.attribute), r.value}
}

// statement reads "I …", "We …", "My sister …" and "My sister's birthday …".
func (c *claim) statement() reading {
	ws := afterFrontTime(c.words)
	switch ws.At(0) {
	case "i":
		return c.predicate("", ws[1:])
	case "we":
		if r := c.predicate("", ws[1:]); sharedAttributes.Has(r.attribute) {
			return r
		}
	case "my", "our":
		switch {
		case len(ws) > 4 && ws[1:].StartWith("home", "is", "in"):
			return c.home(ws[4:], false)
		case len(ws) > 3 && ws[1:].StartWith("home", "is"):
			return c.home(ws[3:], true)
		}
		return c.possession(ws[1:])
	}
	if ws.StartWith("home", "is") && len(ws) > 2 {
		return c.home(ws[2:], true)
	}
	if homeFor(ws) {
		if givenNames.Has(ws.At(4)) {
			return reading{} // "home for me is Anna"
		}
		return c.home(ws[4:], false)
	}
	if n := len(ws); n > 3 && c.capital(ws[0]) && ws[n-3:].StartWith("is", "my", "home") {
		return c.home(ws[:n-3], false)
	}
	if name := c.named(ws); name != "" {
		return c.predicate(owner(name), ws[1:])
	}
	if o := c.namedOwner(ws); o != "" {
		return c.noun(o, ws[1:])
	}
	return reading{}
}

// namedOwner is whose attribute ws begins with, if it names them: "Maya's favorite color is red". "Mother's" is a
// relation of the speaker's.
func (c *claim) namedOwner(ws english.Words) owner {
	noun, ok := strings.CutSuffix(ws.At(0), "'s")
	if !ok || len(ws) < 4 || !ws[0].Upper {
		return ""
	}
	if rel := relation(noun); rel != "" {
		return owner(rel)
	}
	w := ws[0]
	w.Text, w.End = noun, w.Start+len(noun)
	if inAny(noun, english.StopWords, english.States, english.DateWords, english.Deictic, cities, countries) {
		return ""
	}
	return owner(c.properName(english.Words{w}))
}

// possession reads what follows "my": a relation and its predicate ("sister lives
// in Porto"), a relation's attribute ("sister's birthday is…"), or an attribute of
// the speaker ("birthday is…").
func (c *claim) possession(ws english.Words) reading {
	adjective := ""
	if w := ws.At(0); len(ws) > 3 && (w == "new" || w == "current") {
		ws = ws[1:]
	}
	if len(ws) > 2 && relationAdjectives.Has(ws[0].Text) {
		adjective, ws = ws[0].Text+" ", ws[1:]
	}
	if len(ws) < 3 {
		return reading{}
	}
	noun, possessive := strings.CutSuffix(ws[0].Text, "'s")
	rel := relation(noun)
	o := owner(adjective + rel)
	switch {
	case rel == "" && (possessive || adjective != ""), possessive && adjective != "":
		return reading{}
	case rel == "":
		return c.noun("", ws)
	case possessive:
		return c.noun(o, ws[1:])
	}
	if r := c.nameOf(o, ws[1:]); r.ok() {
		return r
	}
	return c.predicate(o, ws[1:])
}

// nameOf reads "is called Ann" of a relation, and "is Ann" if a person has one of
// that relation.
func (c *claim) nameOf(o owner, ws english.Words) reading {
	if ws[0].Text != "is" || manyRelations.Has(string(o)) {
		return reading{}
	}
	ws = ws[1:]
	if w := ws[0].Text; w == "called" || w == "named" {
		ws = ws[1:]
	} else if !o.isOne() {
		return reading{}
	}
	return reading{"name", c.firstName(ws)}.of(o)
}

// relation is the one word for a relation; "" if w is none that is known.
func relation(w string) string {
	if r := relationNames.Of(w); r != "" {
		return r
	}
	if uniqueRelations.Has(w) || otherRelations.Has(w) {
		return w
	}
	return ""
}

// capital reports whether w is written with a capital, or is a name in a text
// without any.
func (c *claim) capital(w english.Word) bool {
	if w.Upper {
		return true
	}
	r, _ := utf8.DecodeRuneInString(c.text[w.Start:w.End])
	return unicode.IsUpper(r)
}

// inAny reports whether one of the sets has w.
func inAny(w string, sets ...english.Set) bool {
	for _, s := range sets {
		if s.Has(w) {
			return true
		}
	}
	return false
}

// homeFor reports whether ws tells what is home for somebody, which may be a feeling beside where they live.
func homeFor(ws english.Words) bool {
	return ws.StartWith("home", "for", "me", "is") || ws.StartWith("home", "for", "us", "is")
}
