// Package canonical reduces a fact to what the rules compare: its canonical
// text, the attribute that it gives a value to, and the statement that it ends.
// Two facts with one canonical text are duplicates; two values of one attribute
// contradict each other; "I no longer eat meat" ends "I eat meat".
//
// A fact is read in steps, each in a file of its own: a statement about "the user"
// becomes the first person (user.go), spelling is folded (normalize.go), words that
// change nothing are dropped (reduce.go), and tables of patterns, tried in order,
// read the rest (ended.go, attribute.go and the files of its values). The rules
// know English. Of any other language they fold only case, spacing and punctuation.
//
// To change a rule, find its row by the example beside it, or its words in
// tables.txt, and add facts to the files in testdata. A test says whether the keys
// of facts have changed, so that Version must change too.
package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Version names the rules that the stored keys of facts come from (see
// [Form.Keys]). A store remembers it. Any change to the keys of any fact needs
// another Version: keys of two versions do not match, so older facts would miss
// duplicates and contradictions in silence.
const Version = "canonical-1"

// Form is what the rules compare of a fact.
type Form struct {
	// Text is the canonical text; see [Text].
	Text string
	// Attribute is what the fact gives a value to, and Value that value: "home"
	// and "porto" of "I live in Porto". An attribute has one value at a time.
	// Both are empty if the fact gives none.
	Attribute, Value string
	// Ends is the canonical text of the statement that the fact ends; empty if it
	// ends none.
	Ends string
}

// Of reads a fact. A statement about "the user" has the form of the same
// statement by the user: "User lives in Porto" reads as "I live in Porto".
//
// Attributes. Values are equal if their texts are: case, plurals and words such
// as "now" are folded, but Of does not know that one value is part of another.
// The attribute begins with its owner unless that is the speaker: "sister home".
// "We" counts as the speaker for the home and the marital status only. Countries
// are an attribute of their own ("home country"), since people live in Porto and
// in Portugal at once; regions and continents are none. Names of people count by
// the first name, since "Ann" and "Ann Lee" are one person.
//
// Of reads no attribute from a fact that says more than the value ("I live in
// Porto with Ann", "in summer"), since the rest would be lost with it. Nor does
// it from questions, wishes, plans, the past, negations, lists, temporary
// states, and things of which a person may have several.
//
// Ends. Of forms the ended statement only where its positive form is certain,
// and reads none if more is said ("I stopped smoking for a month", "I don't eat
// much meat any more"). It does not read what somebody "used to" do, which may
// be a story of old times.
func Of(fact string) Form {
	fact = firstPerson(fact)
	text, ends := read(fact)
	f := Form{Text: text}
	if !strings.Contains(fact, "?") {
		f.Ends = ends
	}
	r := attributeOf(fact)
	f.Attribute, f.Value = r.attribute, r.value
	return f
}

// Excludes reports whether two facts of one author cannot both hold at a time:
// they give one attribute two values, or one of them ends the other.
func (f *Form) Excludes(o *Form) bool {
	return f.Attribute != "" && f.Attribute == o.Attribute && f.Value != o.Value ||
		f.Ends != "" && f.Ends == o.Text || o.Ends != "" && o.Ends == f.Text
}

// Text is the canonical text of a fact: facts that say the same in nearly the
// same words have one. Beyond [Normalize] it folds, in English, contractions,
// lead-ins ("Note that"), politeness, intensifiers, articles where they say
// nothing, number words, British and American spelling, and the ways to say that
// something ended ("I stopped smoking", "I don't smoke any more").
//
// Text promises that facts of different meaning keep different texts, as far as
// Normalize keeps them apart, and that facts equal under Normalize have one
// text. It does not find every paraphrase: order, negation, tense, number, names
// and words of time all count, and a word that might mean something stays. Words
// that depend on when they are said ("today") are compared as words. A text that
// does not look English is only normalized.
func Text(fact string) string {
	text, _ := read(fact)
	return text
}

// read gives the canonical text of a fact, and that of the statement it ends.
func read(fact string) (text, ends string) {
	normalized := Normalize(fact)
	ws := english.Lex(normalized)
	if len(ws) > english.MaxSentenceWords || !english.Probable(ws) {
		return normalized, ""
	}
	ws = reduce(ws)
	if !ws.Any(endWords) {
		return ws.String(), ""
	}
	undated := withoutRecentTime(ws)
	ended, ok := endedStatement(undated)
	if !ok {
		return ws.String(), ""
	}
	ends = Text(ended.String())
	if len(undated) < len(ws) {
		return ws.String(), ends // "I stopped smoking yesterday" also tells the day
	}
	return "no longer " + ends, ends
}
