package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// thing reads what is said of a thing of the speaker's that no table has: "My gym
// is PureGym", "My new gym is Basic-Fit", "The rent went up to 900 euros", "The
// wedding has been moved to 9 June". People may have several of it, so that only a
// fact that speaks of a change supersedes another; and only one of the same kind.
func (c *claim) thing(changed bool) []Claim {
	ws := c.words
	if first := ws.At(0); first == "i" || first == "we" {
		return c.setThing(withoutAdverbs(ws[1:]))
	}
	for i := 1; i <= min(3, len(ws)-3); i++ { // "My doctor upped my dose to 20 mg"
		if setting.Match(ws, i) > 0 && (ws[i+1].Text == "my" || ws[i+1].Text == "our") {
			return c.setThing(ws[i:])
		}
	}
	if first := ws.At(0); first != "my" && first != "our" && first != "the" || len(ws) < 4 {
		return c.isMine(ws, changed)
	}
	ws = ws[1:]
	k, n := 0, 0
	for k = 1; k < min(len(ws), maxNounWords); k++ {
		if stopsClause(ws[k-1].Stop) || english.Pronouns.Has(ws[k-1].Text) {
			return nil
		}
		if n = becoming.Match(ws, k); n > 0 {
			changed = true
			break
		}
		if isBe(ws[k].Text) {
			n = 1
			break
		}
	}
	if n == 0 || k+n >= len(ws) {
		return nil
	}
	noun := ws[:k]
	if noun[0].Text == "new" && len(noun) > 1 {
		noun, changed = noun[1:], true
	}
	name := noun.String()
	rest := ws[k+n:]
	if off := calledOff.Match(rest, 0); off == len(rest) && off > 0 {
		if name == "engagement" {
			return c.separation("", nil)
		}
		return []Claim{{Attribute: nameOf(noun) + " time", Ended: true}}
	}
	return c.thingIs(noun, rest, changed)
}

// isMine reads "Conor is my flatmate" as "my flatmate is Conor".
func (c *claim) isMine(ws english.Words, changed bool) []Claim {
	for k := 1; k+2 < len(ws) && k <= maxNameWords; k++ {
		if !c.capital(ws[k-1]) {
			return nil
		}
		if owner := ws[k+1].Text; !isBe(ws[k].Text) || owner != "my" && owner != "our" {
			continue
		}
		noun := ws[k+2:]
		if noun[0].Text == "new" && len(noun) > 1 {
			noun, changed = noun[1:], true
		}
		if len(noun) > 2 || noun.Any(english.Evaluative) || noun[0].Text == "favorite" {
			return nil
		}
		return c.thingIs(noun, ws[:k], changed)
	}
	return nil
}

// newThing reads "my new car, a Kia" anywhere in a statement.
func (c *claim) newThing() []Claim {
	ws := c.words
	for i := 0; i+3 < len(ws); i++ {
		if !ws[i:].StartWith("my", "new") || ws[i+2].Stop != ',' {
			continue
		}
		end := i + 4
		for end < len(ws) && !stopsClause(ws[end-1].Stop) {
			end++
		}
		value := slices.Clone(ws[i+3 : end])
		value[len(value)-1].Stop = 0
		return c.thingIs(ws[i+2:i+3], value, true)
	}
	return nil
}

// setThing reads "raised my budget to 700 euros" and "canceled the trip".
func (c *claim) setThing(ws english.Words) []Claim {
	n := setting.Match(ws, 0)
	off := canceling.Match(ws, 0)
	at := max(n, off)
	if at == 0 || len(ws) < at+2 || ws[at].Text != "my" && ws[at].Text != "our" && ws[at].Text != "the" {
		return nil
	}
	ws = ws[at+1:]
	if off > 0 {
		if what := wholeObject(withoutRecentTime(ws)); what != "" {
			return []Claim{{Attribute: what + " time", Ended: true}}
		}
		return nil
	}
	for k := 1; k+1 < min(len(ws), maxNounWords); k++ {
		if ws[k].Text != "to" {
			continue
		}
		is := slices.Concat(ws[:k], english.Words{{Text: "is"}}, ws[k+1:])
		for _, v := range withoutModifiers(is, true) {
			if len(v.words) < k+2 {
				break
			}
			if r := c.noun("", v.words); r.ok() { // "changed my last name to Lee"
				return []Claim{{Attribute: r.attribute, Value: r.value, Changed: true}}
			}
		}
		return c.thingIs(ws[:k], ws[k+1:], true)
	}
	return nil
}

// thingIs is the claim that a thing has a value.
func (c *claim) thingIs(noun, ws english.Words, changed bool) []Claim {
	if manyOf.Has(noun[len(noun)-1].Text) || inAny(noun[0].Text, favoriteQualifiers) ||
		len(noun) == 1 && relation(noun[0].Text) != "" {
		return nil
	}
	for _, v := range withoutModifiers(ws, true) {
		if kind, value := c.kindOf(v.words); value != "" {
			several := kind != "thing" || !singleThings.Has(noun.String())
			return []Claim{{Attribute: nameOf(noun) + " " + kind, Value: value, Several: several, Changed: changed}}
		}
	}
	return nil
}

// nameOf is the one name of a thing: "trip to Madrid" and "Madrid trip" are one.
func nameOf(noun english.Words) string {
	for k := 1; k+1 < len(noun); k++ {
		if nameLinks.Has(noun[k].Text) {
			tail := noun[k+1:]
			if len(tail) > 1 && (english.Articles.Has(tail[0].Text) || tail[0].Text == "my" || tail[0].Text == "our") {
				tail = tail[1:]
			}
			return tail.String() + " " + noun[:k].String()
		}
	}
	return noun.String()
}

// withoutDayArticle is ws without "the" before a day: "on the 9th".
func withoutDayArticle(ws english.Words) english.Words {
	for i := range min(2, len(ws)) {
		if day := ws.At(i + 1); ws[i].Text == "the" && (dayOfMonth(day) != "" || english.DateWords.Has(day)) {
			return slices.Concat(ws[:i], ws[i+1:])
		}
	}
	return ws
}

// ofOneDay is ws with a day of the week in place of all such days: "on Tuesdays", "every Tuesday". A later day of such
// a thing takes its place, whether or not both say that they are of every week.
func ofOneDay(ws english.Words) english.Words {
	i := 0
	if ws[0].Text == "every" || ws[0].Text == "each" || english.Prepositions.Has(ws[0].Text) {
		i = 1
	}
	day, many := strings.CutSuffix(ws.At(i), "s")
	if !english.DateWords.Has(day) || !strings.HasSuffix(day, "day") || !many && i == 0 {
		return ws
	}
	out := slices.Clone(ws)
	if out[i].Text = day; !english.Prepositions.Has(ws[0].Text) {
		out = out[i:]
	}
	return out
}

// namesMonthAlone reports whether ws is a month and nothing else: "march", "late may".
func namesMonthAlone(ws english.Words) bool {
	if w := ws[0].Text; len(ws) > 1 && (w == "early" || w == "mid" || w == "late") {
		ws = ws[1:]
	}
	return monthNumbers.Of(ws[0].Text) != "" && (len(ws) == 1 || isYear(ws[1].Text) && len(ws) == 2)
}

// kindOf is the kind of a value and the value: a time ("on 9 June"), a number with
// its unit ("900 euros"), a thing ("a Skoda", "PureGym").
func (c *claim) kindOf(ws english.Words) (kind, value string) {
	if len(ws) == 0 || len(ws) > maxValueWords {
		return "", ""
	}
	ws = ofOneDay(withoutDayArticle(ws))
	first := ws[0].Text
	if first == "on" || first == "at" || first == "for" || first == "in" {
		if len(ws) > 1 && (english.DateWords.Has(ws[1].Text) || english.StartsWithDigit(ws[1].Text) ||
			first == "in" && english.WeakDateWords.Has(ws[1].Text)) {
			return "time", ws[1:].String()
		}
		return "", ""
	}
	switch {
	case english.DateWords.Has(first) || namesMonthAlone(ws) || dayOfMonth(first) != "" && first != dayOfMonth(first):
		return "time", ws.String()
	case english.StartsWithDigit(first):
		if strings.Contains(first, ":") || len(ws) > 1 && english.DateWords.Has(ws[1].Text) {
			return "time", ws.String()
		}
		unit := english.Words(ws[1:])
		if n := len(unit); n > 2 && english.Periods.Has(unit[n-1].Text) {
			unit = unit[:n-2] // "euros a month"
		}
		return strings.TrimSpace("number " + unit.String()), first
	case english.Articles.Has(first) && len(ws) > 1 || c.capital(ws[0]):
		return "thing", c.plainValue(ws, maxValueWords)
	}
	return "", ""
}
