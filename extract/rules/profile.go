package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People introduce themselves in lists: "- Name: Dana", "Name: Joy, Age: 33". Each field is a fact of its own.

// field is a line of a profile.
type field struct {
	start, end int    // the bytes of the sentence, from its label to the end of its value
	statement  string // "My name is Dana"
	topics     topics
}

// maxLabel is how many words a label has: "date of birth".
const maxLabel = 3

// fields are the fields of a sentence, none if it does not begin with one.
func fields(text string, ws english.Words) []field {
	var out []field
	for i := 0; i < len(ws); {
		n := label(ws, i)
		if n == 0 {
			return nil
		}
		end := i + n // where the next label begins
		for end < len(ws) && (label(ws, end) == 0 || !strings.ContainsRune(",;|/–-", ws[end-1].Stop)) {
			end++
		}
		if end == i+n {
			return nil // a label without a value is the form, and not yet filled
		}
		f := field{start: ws[i].Start, end: ws[end-1].End}
		value := text[ws[i+n].Start:f.end]
		name := strings.ToLower(text[f.start:ws[i+n-1].End])
		if f.topics = personal; labelsOfTaste.Match(ws, i) == n || ws[i].Text == "favorite" {
			f.topics = preference
		}
		verb := " is "
		if strings.HasSuffix(name, "s") && !singularLabels.Has(name) {
			verb = " are "
		}
		f.statement = "My " + name + verb + strings.Join(strings.Fields(value), " ")
		out = append(out, f)
		i = end
	}
	return out
}

// restated reads "Send it to 14 Mill Lane, that's our new address" as the field "Our new address is 14 Mill Lane": the
// value is what the last preposition or verb before it leads to.
func restated(text string, ws english.Words) (f field, ok bool) {
	for j := 3; j+3 < len(ws); j++ {
		of := ws[j+2].Text
		points := ws[j].Text == "that" && ws[j+1].Text == "is" && (of == "my" || of == "our")
		if !points || !joint(ws[j-1]) || ws[j-1].Stop == 0 {
			continue
		}
		last := j + 3 // the last word of the noun: "new home address"
		for last+1 < len(ws) && last < j+6 && ws[last].Stop == 0 && !english.StopWords.Has(ws[last+1].Text) {
			last++
		}
		value := j
		for value > 0 && j-value < maxValue && !leadsToValue.Has(ws[value-1].Text) {
			value--
		}
		before := ws[:j]
		thing := english.OwnNouns.Has(ws[last].Text) && !traits.Has(ws[last].Text) &&
			!(persons.Has(ws[last].Text) && ws[value].Upper) // "I handed it to the vet, that's my dog"
		if !labelNoun(ws[j+3:last+1]) || value == 0 || value == j || english.Deictic.Has(ws[value].Text) || thing ||
			numbered(before) && !numbered(ws[value:j]) || // "put 555-0142 on the flyer, that is my mobile"
			unsaid(before) {
			return f, false
		}
		f = field{start: ws[0].Start, end: ws[len(ws)-1].End, topics: personal}
		f.statement = capitalized(text[ws[j+2].Start:ws[last].End] + " is " + text[ws[value].Start:ws[j-1].End])
		if rest := strings.TrimSpace(text[ws[last].End:f.end]); rest != "" && ws[last].Stop == 0 {
			f.statement += " " + rest // "as of Saturday"
		}
		return f, true
	}
	return f, false
}

// unsaid reports whether words deny what they say, or only suppose it.
func unsaid(ws english.Words) bool {
	return ws.Has("not") || ws.Has("never") || ws.Has("if") || hypothetical.Found(ws)
}

// numbered reports whether one of the words is a number.
func numbered(ws english.Words) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool { return english.StartsWithDigit(w.Text) })
}

// maxValue is how many words a value has that a sentence gives before it says of what.
const maxValue = 8

// maxOwnLabel is how many words a label of the speaker's own has: "my new work e-mail address".
const maxOwnLabel = 7

// ownLabel reads "My job: tester at Acme" and "Number plate of my car: 1-ABC-234" at the front of a sentence or behind
// a mark, as a field. Other labels than those of a person's traits and things lead into anything: "My question: …".
func ownLabel(text string, ws english.Words) (f field, ok bool) {
	for i := range ws {
		own := ws[i].Text == "my" || ws[i].Text == "our"
		if !own && (i > 0 && !joint(ws[i-1]) || imperative(ws[0].Text)) ||
			i > 0 && (english.Prepositions.Has(ws[i-1].Text) || ws[i-1].Stop == ':' || ws[:i].Has("not")) {
			continue // "Gift ideas for my wife: perfume" and "ValueError: my phone: invalid" label something else
		}
		last := i
		for last < len(ws)-1 && last-i < maxOwnLabel && ws[last].Stop == 0 {
			last++
		}
		value := last + 1
		if value == len(ws) || ws[last].Stop != ':' {
			continue
		}
		noun := labelled(ws[i:value])
		if !labelNoun(noun) || noun.Any(firstPerson) || !lasting(ws, i, value) || !valued(ws, last) {
			continue
		}
		f.start, f.end, f.topics = ws[i].Start, ws[len(ws)-1].End, personal
		if noun.Has("favorite") {
			f.topics = preference
		}
		name, verb := uncapitalized(text[f.start:ws[last].End]), " is "
		if head := noun[len(noun)-1].Text; strings.HasSuffix(head, "s") && !singularLabels.Has(head) {
			verb = " are "
		}
		if noun[0].Start == f.start && !english.Articles.Has(noun[0].Text) {
			name = "the " + name
		}
		f.statement = capitalized(name + verb + text[ws[value].Start:f.end])
		return f, true
	}
	return f, false
}

// lasting reports whether the label ws[i:value] may lead into a trait or a thing that lasts. A task may name things of
// the speaker's, but hardly gives traits: "Improve my title: …".
func lasting(ws english.Words, i, value int) bool {
	if !ws[:value].Any(pasteVerbs) && !imperative(ws[0].Text) {
		return true
	}
	before := ws[:i]
	return english.OwnNouns.Has(ws[value-1].Text) && !before.Any(demonstrative) && !before.Any(textLabels) &&
		!slices.ContainsFunc(before, func(w english.Word) bool { return w.Stop == ':' })
}

// valued reports whether a value stands behind a label that ends at ws[last], and not another statement: none is in "My
// wife: hates it", "My budget: I don't know yet" and "My bank: please close it".
func valued(ws english.Words, last int) bool {
	told := ws[last+1:]
	if persons.Has(ws[last].Text) && !told[0].Upper || english.QuestionWords.Has(told[0].Text) {
		return false
	}
	return !told[:min(2, len(told))].Any(firstPerson) && !told.Any(addressee) && !told.Has("please")
}

// labelled is the noun of a label of the speaker's own: "job" of "my job", "number plate" of "number plate of my car".
// There is none in another label.
func labelled(label english.Words) english.Words {
	if first := label[0].Text; first == "my" || first == "our" {
		return label[1:]
	}
	for k := 1; k+2 < len(label); k++ {
		of, own := label[k].Text, label[k+1].Text
		if (of == "of" || of == "for") && (own == "my" || own == "our") {
			return label[:k]
		}
	}
	return nil
}

// labelNoun reports whether the last word of ws is a trait or a thing that people note by its label. The head of the
// noun is its last word: "work e-mail address", "favorite color".
func labelNoun(ws english.Words) bool {
	if len(ws) == 0 {
		return false
	}
	last := len(ws) - 1
	w := ws[last].Text
	return english.OwnNouns.Has(w) || ownTraits.Has(w) || bareOwned.Has(w) || records.Has(w) || appointments.Has(w) ||
		traits.Has(w) || noted.Has(w) || labels.Match(ws, last) == 1 || ws.Has("favorite")
}

// label is how many words the label of a field at ws[i] has; 0 if there is none.
func label(ws english.Words, i int) int {
	for n := 1; n <= maxLabel && i+n <= len(ws); n++ {
		switch last := ws[i+n-1]; {
		case last.Stop == ':':
			if labels.Match(ws, i) == n || labelsOfTaste.Match(ws, i) == n || ws[i].Text == "favorite" && n > 1 {
				return n
			}
			return 0
		case last.Stop != 0:
			return 0
		}
	}
	return 0
}

// introduces reports whether fields may follow a sentence: one that speaks of the speaker and hands over no work.
func introduces(ws english.Words) bool {
	return ws.Any(firstPerson) && !imperative(ws[0].Text)
}
