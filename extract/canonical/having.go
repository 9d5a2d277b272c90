package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// has is the claim that o has a thing of a kind: "has dog".
func has(o owner, what string) Claim {
	return Claim{Attribute: o.attribute("has " + what), Value: held}
}

// having reads "have 3 cats" and "have a dog called Rex".
func (c *claim) having(o owner, ws english.Words, changed bool) []Claim {
	if ws = withoutAdverbs(ws); ws.At(0) == "only" || ws.At(0) == "still" {
		ws = ws[1:]
	}
	if verb := ws.At(0); verb != "have" && verb != "own" && verb != "has" && verb != "owns" || len(ws) < 3 {
		return nil
	}
	if ws = ws[1:]; ws.At(len(ws)-1) == "left" {
		ws = ws[:len(ws)-1]
	}
	if w := ws.At(0); len(ws) > 2 && (w == "just" || w == "only") {
		ws, changed = ws[1:], true // "have just 1 car" tells of more before
	}
	if n := ws.At(0); n == "one" {
		return counted(o, "1", ws[1:], changed)
	} else if isNumber(n) {
		return counted(o, n, ws[1:], changed)
	}
	if w := ws[0].Text; w != "a" && w != "an" {
		return nil
	}
	what := object(ws)
	switch {
	case what == "" || manyOf.Has(what):
		return nil
	case partners.Has(relation(what)) && o == "":
		return []Claim{{Attribute: "marital status", Value: "dating"}}
	}
	out := []Claim{has(o, what)}
	for i := 1; i+1 < len(ws); i++ {
		if !called.Has(ws[i].Text) || !pets.Has(lastWord(what)) {
			continue
		}
		if name := c.firstName(ws[i+1 : i+2]); name != "" {
			name := Claim{Attribute: o.attribute(lastWord(what) + " name"), Value: name, Several: true}
			out = append(out, name)
		}
	}
	if words := strings.Fields(what); len(words) == 2 && (describing.Has(words[0]) || c.upper(ws, words[0])) {
		out = append(out, has(o, words[1])) // "a Honda motorbike" is a motorbike
	}
	return out
}

// upper reports whether a word of ws is written with a capital.
func (c *claim) upper(ws english.Words, text string) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool { return w.Text == text && c.capital(w) })
}

// citizenship reads "hold Chilean citizenship", "am a Chilean citizen" and "gave up my Chilean passport". People may
// have two.
func (c *claim) citizenship(o owner, ws english.Words) []Claim {
	ws = withoutAdverbs(ws)
	ended := quitting.Match(ws, 0) > 0 || ws.At(0) == "renounced" || ws.At(0) == "lost"
	if !ended && !isBe(ws.At(0)) && !citizenVerbs.Has(ws.At(0)) {
		return nil
	}
	for i := 1; i+1 < min(len(ws), maxRoutine); i++ {
		if citizenships.Has(ws[i+1].Text) && c.capital(ws[i]) && !english.Pronouns.Has(ws[i].Text) {
			of := o.attribute("citizen " + ws[i].Text)
			return []Claim{{Attribute: of, Value: held, Ended: ended, Several: !ended}}
		}
	}
	return nil
}

// counted reads "3 cats" and "2 older brothers": how many of a kind o has. Of kinds of
// which people do not always tell the whole number only a fact that tells of a change
// replaces another number.
func counted(o owner, n string, ws english.Words, changed bool) []Claim {
	if len(ws) > 0 && counts.Of(ws[0].Text) == "" && (len(ws) == 1 || ws[0].Stop != 0 || len(ws) > 1 &&
		inAny(ws[1].Text, english.Prepositions, modifierStarts)) && (n == "1") == (singular(ws[0].Text) == ws[0].Text) {
		kind := singular(ws[0].Text)
		return []Claim{{Attribute: o.attribute("count " + kind), Value: n, Several: true, Changed: changed}}
	}
	for i, w := range ws {
		if i > 1 || w.Stop != 0 && i+1 < len(ws) {
			break
		}
		kind := counts.Of(w.Text)
		if kind == "" {
			continue
		}
		if rest := ws[i+1:]; len(rest) > 0 && !english.Prepositions.Has(rest[0].Text) &&
			!modifierStarts.Has(rest[0].Text) && !called.Has(rest[0].Text) {
			return nil
		}
		if i == 1 {
			kind = ws[0].Text + " " + kind
		}
		some := i+1 < len(ws) && called.Has(ws[i+1].Text) // "two brothers named John and Paul" may be two of four
		return []Claim{{Attribute: o.attribute("count " + kind), Value: n, Several: some}}
	}
	return nil
}

// announced reads "I have a new phone number: 555 123" as "new phone number is 555
// 123".
func (c *claim) announced() (english.Words, bool) {
	ws := c.words
	if first := ws.At(0); first != "i" && first != "we" {
		return nil, false
	}
	ws = withoutAdverbs(ws[1:])
	if verb := ws.At(0); verb != "have" && verb != "got" || ws.At(1) != "a" && ws.At(1) != "new" {
		return nil, false
	}
	ws = ws[1:]
	if ws[0].Text == "a" {
		ws = ws[1:]
	}
	for k := 1; k+1 < len(ws) && k <= maxNounWords; k++ {
		if mark := ws[k].Stop; mark == ':' || mark == ',' || mark == '-' {
			noun := slices.Clone(ws[:k+1])
			noun[k].Stop = 0
			return slices.Concat(noun, english.Words{{Text: "is"}}, ws[k+1:]), ws[0].Text == "new"
		}
	}
	return nil, false
}

// ages reads "my son is 3" and "my son turned 4", of relations that somebody may
// have several of.
func (c *claim) ages(o owner, ws english.Words) []Claim {
	ws = withoutRecentTime(withoutAdverbs(ws))
	verb := ws.At(0)
	if first := c.words.At(0); twins.Has(c.words.At(1)) && (first == "the" || first == "my" || first == "our") {
		o, ws = owner(c.words.At(1)), withoutRecentTime(withoutAdverbs(c.words[2:]))
		if verb = ws.At(0); verb == "are" {
			verb = "is"
		}
	}
	if o == "" {
		return c.ageByName()
	}
	if age := monthsOld(ws[min(len(ws), 1):]); age != "" && verb == "is" && o != "" {
		return []Claim{{Attribute: o.attribute(ageAttribute), Value: age, Several: true, Changed: c.changed}}
	}
	if o.isOne() || len(ws) < 2 || verb != "is" && verb != "turned" || !isNumber(ws[1].Text) ||
		len(ws) > 2 && !ageTails.Has(ws[2:].String()) {
		return nil
	}
	return []Claim{{
		Attribute: o.attribute(ageAttribute), Value: ws[1].Text, Several: true, Changed: verb == "turned" || c.changed,
	}}
}

// ageByName reads "Ada is 7 now". Any first word has a capital, so that the claim is loose, and only a fact that names
// the person meets it: "My daughter Ada is 6".
func (c *claim) ageByName() []Claim {
	ws := withoutNow(c.words)
	// A home has one baby at a time, which another number of months says to be older.
	if len(ws) > 4 && possessives.Has(ws[0].Text) && ws[1].Text == "baby" && isBe(ws[2].Text) {
		if age := monthsOld(ws[3:]); age != "" {
			return []Claim{{Attribute: "baby " + ageAttribute, Value: age, Several: true, Changed: true}}
		}
	}
	if len(ws) > 3 && ws[0].Upper && isBe(ws[1].Text) && !english.Pronouns.Has(ws[0].Text) {
		if age := monthsOld(ws[2:]); age != "" { // "Waffles is 8 months old"
			of := owner(ws[0].Text).attribute(ageAttribute)
			return []Claim{{Attribute: of, Value: age, Several: true, Changed: c.changed, Loose: true}}
		}
	}
	if len(ws) != 3 || !c.changed || !ws[0].Upper || ws[0].Stop != 0 || !isBe(ws[1].Text) || !isNumber(ws[2].Text) ||
		len(ws[2].Text) > 2 || english.Pronouns.Has(ws[0].Text) {
		return nil
	}
	of := owner(ws[0].Text).attribute(ageAttribute)
	return []Claim{{Attribute: of, Value: ws[2].Text, Several: true, Changed: true, Loose: true}}
}

const ageAttribute = "age"

// lost reads "I sold my car", "I got rid of my old bike" and "My dog died".
func (c *claim) lost(ws english.Words) []Claim {
	switch ws.At(0) {
	case "i", "we":
		ws = withoutAdverbs(ws[1:])
		n := partingVerbs.Match(ws, 0)
		if n == 0 || len(ws) < n+2 || ws[n].Text != "my" && ws[n].Text != "our" && ws[n].Text != "the" {
			return nil
		}
		return ended("", wholeObject(ws[n+1:]))
	case "my", "our":
		for k := 2; k < min(len(ws), 5); k++ {
			rest := withoutAdverbs(ws[k:])
			away := strings.Contains(c.text, "away from ") // "the dog ran away from the vet"
			if n := deathVerbs.Match(rest, 0); n > 0 && n == len(rest) && pets.Has(ws[1].Text) && !away {
				return ended("", ws[1].Text)
			}
		}
	}
	return nil
}

// ended are the ends of all that is said of a thing that o had.
func ended(o owner, what string) []Claim {
	if what == "" {
		return nil
	}
	words := strings.Fields(what)
	if len(words) > 1 && (words[0] == "old" || words[0] == "new") {
		what = strings.Join(words[1:], " ")
	}
	out := []Claim{{Attribute: o.attribute("has " + what), Value: held, Ended: true}}
	for _, kind := range []string{"thing", "name"} {
		out = append(out, Claim{Attribute: o.attribute(what + " " + kind), Ended: true})
	}
	return out
}
