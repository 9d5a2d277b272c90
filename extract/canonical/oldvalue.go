package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A change may name the value that it leaves: "from 3 May to 21 May", "the 17th instead of the 14th", "no longer Friday
// but Sunday". A fact that has this value, and is about the same thing, holds no longer, in whatever words it is told:
// "They moved my exam from Room 12 to the gym" ends "My exam is in Room 12". No table needs to know the thing.
//
// The thing is a noun that both share beside the value, and both must be of the same person. A bound of the change that
// the older fact has not leaves that fact as it is: "I use Chrome instead of Firefox for banking".

var (
	resetting = themeTables.Words("resetting")
	reassigns = themeTables.Words("reassigns")
)

// maxOldValue bounds the words of a value that a change names.
const maxOldValue = 4

// findOld finds the values that a clause says have ended, in ws, the words behind its subject.
func (t *theme) findOld(subject, ws english.Words, verb int) {
	past := english.Past(ws[verb].Text)
	for i := range ws {
		switch w := ws[i].Text; {
		case w == "from":
			t.findFrom(subject, ws, i)
		case (w == "instead" && ws.At(i+1) == "of" || w == "rather" && ws.At(i+1) == "than") && i > verb:
			// "I take the van instead of the Volvo" may be so once, and a day or a number is changed for good.
			lasts := ws.Has("now") || ws.Has("nowadays") || changeMarks.Found(ws) ||
				goings.Has(ws[verb].Text) && isBe(ws[0].Text) // "we're going to Greece instead of Spain"
			if (!past || resets(ws[verb].Text)) && i+2 < len(ws) && (lasts || dayOrNumber(ws[i+2:])) {
				t.addOld(ws[i+2:], objectAt(ws[verb+1:i]))
				t.sameVerb = t.sameVerb || lasts
			}
		case w == "no" && ws.At(i+1) == "longer":
			for k := i + 3; k < min(len(ws), i+3+maxOldValue); k++ {
				if ws[k].Text == "but" {
					t.addOld(ws[i+2:k], ws[k+1:])
				}
			}
		}
	}
}

// findFrom finds the value behind "from", which stands at i, if a verb before it tells that it was changed: "moved",
// "had to raise", "finished upgrading", but not "will move".
func (t *theme) findFrom(subject, ws english.Words, i int) {
	at := i - 1
	for at >= 0 && !resets(ws[at].Text) {
		at--
	}
	if at < 0 || t.negated {
		return
	}
	done := english.Past(ws[at].Text) || bothTenses(ws[at].Text)
	for _, w := range ws[:at] {
		done = done || w.Text == "have" || w.Text == "has" || w.Text == "had" || english.Past(w.Text)
	}
	for k := i + 2; k < min(len(ws), i+2+maxOldValue) && done; k++ {
		if ws[k].Text == "to" || ws[k].Text == "into" {
			t.addOld(ws[i+1:k], ws[k+1:])
			next, reassigned := ws.At(at+1), reassigns.Has(ws[at].Text)
			t.ofSpeaker = reassigned && (next == "me" || next == "us")
			t.turned = reassigned && next == "from" && len(subject) == 0 // "I switched from law to geology"
			return
		}
	}
}

// resets reports whether w is a form of a verb of giving a thing another value.
func resets(w string) bool {
	if resetting.Has(w) || resetting.Has(english.Infinitive(w)) {
		return true
	}
	for _, end := range []string{"d", "ed", "ing"} {
		stem, found := strings.CutSuffix(w, end)
		if found && (resetting.Has(stem) || resetting.Has(stem+"e")) {
			return true
		}
	}
	return false
}

// objectAt is the thing that ws begins with, without what follows it: "Greece" of "to Greece in June".
func objectAt(ws english.Words) english.Words {
	for len(ws) > 1 && (english.Prepositions.Has(ws[0].Text) || english.Articles.Has(ws[0].Text)) {
		ws = ws[1:]
	}
	for i := range ws {
		if english.Prepositions.Has(ws[i].Text) {
			return ws[:i]
		}
	}
	return ws
}

// dayOrNumber reports whether ws begins with a day or a number, perhaps behind an article or a preposition.
func dayOrNumber(ws english.Words) bool {
	for _, w := range ws[:min(len(ws), 3)] {
		if english.StartsWithDigit(w.Text) || english.DateWords.Has(w.Text) {
			return true
		}
	}
	return false
}

// addOld adds the value that ws begins with; now are the words that take its place. A value of somebody else's, or one
// that a pronoun stands for, is none.
func (t *theme) addOld(ws, now english.Words) {
	var value []string
	for i, w := range ws {
		if i == maxOldValue || len(value) > 0 && (english.Prepositions.Has(w.Text) || links.Has(w.Text) ||
			changeWords.Has(w.Text)) {
			break
		}
		if english.Pronouns.Has(w.Text) || strings.HasSuffix(w.Text, "'s") || endsInIng(w.Text) {
			return
		}
		if !inAny(w.Text, english.Articles, possessives, english.Prepositions) {
			value = append(value, plainWord(w.Text))
		}
		if stopsClause(w.Stop) {
			break
		}
	}
	if len(value) == 0 {
		return
	}
	t.old = append(t.old, value)
	for i, w := range now {
		if i == maxOldValue || i > 0 && stopsClause(now[i-1].Stop) {
			break
		}
		t.now = append(t.now, plainWord(w.Text))
	}
}

// plainWord is one form of a word or number of a value: "14" of "14th", "hazelnut" of "hazelnuts".
func plainWord(w string) string {
	if english.StartsWithDigit(w) {
		return strings.TrimRight(strings.ReplaceAll(w, ",", ""), "stndrh")
	}
	if n := ordinals.Of(w); n != "" {
		return n
	}
	return singular(w)
}

// replacesIn reports whether t, said later, names a value of o that has ended.
func (t *theme) replacesIn(o *theme) bool {
	if o.negated || len(o.ends) > 0 || o.taste < 0 || len(t.old) > 0 && !within(weekdays(t.raw), o.raw) {
		return false // "pottery on Mondays instead of yoga" leaves the yoga on Fridays
	}
	var said []string
	for _, w := range o.raw {
		said = append(said, plainWord(w))
	}
	return slices.ContainsFunc(t.old, func(value []string) bool {
		return within(value, said) && t.sharesThing(o, value)
	})
}

// weekdays are the days of every week among words, in the singular: "monday" of "on Mondays".
func weekdays(words []string) (out []string) {
	for _, w := range words {
		if day := singular(w); day != w && english.DateWords.Has(day) {
			out = append(out, day)
		}
	}
	return out
}

// sharesThing reports whether t and o are about one thing beside a value: a noun of both, the speaker where somebody
// gives them another task ("they switched me from year 4 to year 6"), and no noun that bounds t alone.
func (t *theme) sharesThing(o *theme, value []string) bool {
	shared := t.ofSpeaker && o.mine || t.sameVerb && t.verb == o.verb || t.turned && isBe(o.verb) &&
		slices.ContainsFunc(o.nouns, func(m themeNoun) bool { return !m.subject && within(value, m.mods) })
	for i := range t.nouns {
		n := &t.nouns[i]
		if slices.ContainsFunc(value, func(w string) bool { return themeStem(w) == n.stem }) ||
			slices.Contains(t.now, n.stem) {
			continue
		}
		if slices.ContainsFunc(t.now, func(w string) bool { return themeStem(w) == n.stem }) {
			continue
		}
		if !slices.Contains(o.words, n.stem) {
			// "Cut the guest list from 120 to 60" is about the 120 guests.
			counts := english.StartsWithDigit(value[0]) && len(n.mods) > 0 && within(n.mods, o.words)
			shared = shared || counts
			person := officials.Has(n.stem) || persons.Has(n.stem) || occupations.Of(n.stem) != ""
			if n.behind || n.subject && !t.ofSpeaker && !person {
				return false // "for banking", and another thing than that of o
			}
			continue
		}
		if !within(n.mods, o.words) || !within(n.apart, o.raw) {
			return false
		}
		// The kind of a food or a drink is in no word: "oat drink" is none of the drink that milk is.
		shared = shared || slices.ContainsFunc(t.raw, func(w string) bool {
			return themeStem(w) == n.stem || n.stem == "trip" && goings.Has(w)
		})
	}
	return shared
}
