package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Values of the claims that weights read, and which of them take the place of others.

// Each kind of slot has values of its own form:
//
//   - "name" is the names: words with a capital that do not begin the sentence, and towns, people and companies that
//     the tables know in a text without capitals. A name behind "from" or "left" is the old value, and is left out.
//   - "number" is all numbers, and "one" is the only number: of "two dogs and one cat" neither counts.
//   - "digits" is all digits in a row, as phone numbers are written with spaces in one place or another.
//   - "mail" is the address as it is written, in small letters.
//   - "words" is every word that has a meaning, for what people name in words of their own: a diet, a title.
//   - "drink" is the drinks that are given up; without one, all are.
//   - "=" and a value is that value.
//
// A value takes the place of another one if it has a word that the other lacks. So a thing said again in fewer words
// changes nothing, and one said again in more words may end the first: names are not listed anywhere.

// heldValue reads the value of a kind in a statement: a set of words, or of numbers. It is not ok if there is none.
func (c *claim) heldValue(kind string, ws english.Words) (value string, ok bool) {
	if value, fixed := strings.CutPrefix(kind, "="); fixed {
		return value, true
	}
	var out []string
	for i := range ws {
		if w := c.valueAt(kind, ws, i); w != "" && (kind == "digits" || !slices.Contains(out, w)) {
			out = append(out, w)
		}
	}
	switch {
	case kind == "one" && len(out) > 1:
		return "", false // of two numbers it is not clear which one counts
	case kind == "digits":
		value = digitsOf(strings.Join(out, ""))
		return value, value != ""
	}
	slices.Sort(out)
	return strings.Join(out, " "), len(out) > 0
}

// valueAt is the word at i as a part of a value, or empty.
func (c *claim) valueAt(kind string, ws english.Words, i int) string {
	w := &ws[i]
	switch kind {
	case "digits":
		if english.StartsWithDigit(w.Text) {
			return w.Text
		}
	case "number", "one":
		return heldNumber(ws[i:])
	case "drink":
		if drinks.Has(w.Text) {
			return w.Text
		}
	case "mail":
		if at := c.text[w.Start:w.End]; strings.Contains(at, "@") {
			return strings.ToLower(at)
		}
	}
	left := i > 0 && leavings.Has(ws[i-1].Text) // "moved from Rome"
	if left || w.Text == "i" || inAny(w.Text, english.StopWords, english.DateWords, english.Prepositions,
		english.Auxiliaries, ladder) {
		return ""
	}
	known := inAny(w.Text, cities, countries, givenNames, companies)
	switch {
	case kind == "name" && (known || w.Upper && i > 0):
		return w.Text
	case kind == "words":
		return singular(w.Text)
	}
	return ""
}

// heldNumber is the number that ws begins with: "a single", "one car", "30th".
func heldNumber(ws english.Words) string {
	w, next := ws[0].Text, ws.At(1)
	if n := numberOf(ws); n != "" && english.StartsWithDigit(w) || w == "single" {
		return n
	}
	if n := strings.TrimRight(w, "stndrh"); n != w && isNumber(n) {
		return n
	}
	if w == "one" && next != "" && (next == "left" || !english.StopWords.Has(next)) {
		return "1"
	}
	return ""
}

// addHeld adds a claim for each thing of its slot that said names: "10k" and "marathon" of personal bests. A change
// without such a word is about any of them, and one with it also about what named none. The new value is stated, too.
func addHeld(out []Claim, cl Claim, slot string, said english.Words) []Claim {
	add := func(cl Claim, topics ...string) {
		name := cl.Attribute
		for _, topic := range topics {
			cl.Attribute = strings.TrimRight(name+" "+topic, " ")
			same := func(x Claim) bool {
				return x.Attribute == cl.Attribute && (x.Changed || x.Ended || !cl.Changed && !cl.Ended)
			}
			if !slices.ContainsFunc(out, same) {
				out = append(out, cl)
			}
		}
	}
	state := cl
	state.Changed, state.Loose = false, true
	kinds, several := heldTopics[slot]
	if slot == "occupation" && !cl.Ended && said.Any(workedAt) {
		add(state, "at") // which losing a job ends
	}
	if slot == "work" {
		add(cl, "")
		cl.Attribute = strings.Replace(cl.Attribute, "employer", "occupation", 1)
		add(cl, "at")
		return out
	}
	if !several && slot != "dose" {
		add(cl, "")
		return out
	}
	var topics []string
	for i := range said {
		kind := kinds.Of(singular(said[i].Text))
		if slot == "dose" {
			kind = medicineAt(said, i)
		}
		if kind != "" && !slices.Contains(topics, kind) {
			topics = append(topics, kind)
		}
	}
	open := slot == "dose" || slot == "pb" || slot == "budget"
	switch {
	case len(topics) > 0:
	case slot == "kids":
		topics = []string{"kid"}
	case slot == "name":
		topics = []string{""}
	}
	switch {
	case !open:
		add(cl, topics...)
	case cl.Changed && len(topics) > 0:
		add(cl, append(topics, "none")...)
		add(state, "any")
	case cl.Changed:
		add(cl, "any")
		add(state, "none")
	case len(topics) > 0:
		add(cl, append(topics, "any")...)
	default:
		add(cl, "any", "none")
	}
	return out
}

// medicineAt is the medicine that ws names at i: "50 mg of ritalin", "raised my ritalin to 50 mg".
func medicineAt(ws english.Words, i int) string {
	w, next := ws[i].Text, ws.At(i+1)
	if i == 0 || inAny(w, english.StopWords, doses) || english.StartsWithDigit(w) {
		return ""
	}
	before := ws[i-1].Text
	mine := (before == "my" || before == "the") && (next == "to" || next == "dose" || next == "from")
	if before == "of" || mine {
		return w
	}
	return ""
}

// begins reports whether a relation may begin after another one: who speaks of a partner may well be married.
func begins(now, before string) bool {
	return now == "single" || now == "married" || before == "single" || now == "engaged" && before == "dating"
}

// isCountry reports whether a value is a country: who lives in Rome lives in Italy.
func isCountry(value string) bool { return inAny(value, countries, longCountries) }

// overlap reports whether two sets of words have one in common.
func overlap(a, b string) bool {
	words := strings.Fields(b)
	return slices.ContainsFunc(strings.Fields(a), func(w string) bool { return slices.Contains(words, w) })
}

// supersedesHeld reports whether c takes the place of o, both read by weights. A mild one takes only the place of one
// that is as sure.
func (c *Claim) supersedesHeld(o *Claim) bool {
	switch {
	case o.Ended || c.Attribute != o.Attribute:
		return false
	case strings.Contains(o.Value, "|"):
		return c.supersedesThing(o)
	case c.Ended:
		return c.Value == "" || overlap(c.Value, o.Value)
	case c.Mild && o.Loose, isCountry(c.Value) != isCountry(o.Value):
		return false
	case !c.Changed, strings.HasSuffix(c.Attribute, heldAttribute+"relation") && !begins(c.Value, o.Value):
		return false
	}
	was := strings.Fields(o.Value)
	return slices.ContainsFunc(strings.Fields(c.Value), func(v string) bool { return !slices.Contains(was, v) })
}
