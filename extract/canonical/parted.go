package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A death or a move out ends what the speaker said of that person, though no value is told.

var (
	movedOut  = tables.Phrases("moved-out")
	noPatient = tables.Phrases("no-patient")
)

// lifeLong are attributes of the living.
var lifeLong = [...]string{"home", "employer", "occupation", ageAttribute, "whereabouts"}

// parted reads "my dad passed away", "Jonas moved out" and "I stopped seeing Dr. Lang".
func (c *claim) parted(ws english.Words) []Claim {
	ws = withoutRecentTime(withoutAdverbs(ws))
	if ws.Any(uncertain) || ws.Any(negations) || isApart(english.Lex(c.text)) || strings.Contains(c.text, ",") {
		return nil
	}
	if o, n := c.relative(ws); o != "" {
		// Behind a time it may be long past: "the year before, my mom moved in with us".
		begins, whom := english.Lex(c.text).At(0), ws.At(n+3)
		if (begins == "my" || begins == "our") && len(ws) == n+4 && ws[n:].StartWith("moved", "in", "with") &&
			(whom == "us" || whom == "me") {
			return []Claim{{Attribute: o.attribute("home"), Ended: true}}
		}
		// "My wife passed" may be of a test.
		if k := deathVerbs.Match(ws, n); k > 0 && n+k == len(ws) && !(k == 1 && ws[n].Text == "passed") {
			return diedOf(o)
		}
		return nil
	}
	// Of which kind the doctor is was told before, so that every fact gives way that has the name as its value.
	if n := noPatient.Match(ws, 0); n > 0 && ws.At(n) == "dr" && n+1 < len(ws) {
		return []Claim{{Attribute: "value " + ws[n:].String(), Value: held, Ended: true}}
	}
	if len(ws) < 2 || !givenNames.Has(ws[0].Text) || !c.capital(ws[0]) {
		return nil
	}
	// A name alone may be anybody's: only a flatmate and a partner of that name are meant.
	name := ws[0].Text
	if k := movedOut.Match(ws, 1); k > 0 && 1+k == len(ws) {
		return []Claim{
			{Attribute: "one flatmate", Value: name, Ended: true},
			{Attribute: "flatmate thing", Value: name, Ended: true},
		}
	}
	if k := deathVerbs.Match(ws, 1); k > 0 && 1+k == len(ws) {
		return []Claim{{Attribute: partnerAttribute, Value: name, Ended: true}}
	}
	return nil
}

// relative is the one person of a relation that ws begins with, and the number of its words: "my dad". Of a sister
// there may be two.
func (c *claim) relative(ws english.Words) (owner, int) {
	if ws.At(0) != "my" && ws.At(0) != "our" {
		return "", 0
	}
	o, n := relationAt(ws[1:])
	if o == "" || !o.isOne() {
		return "", 0
	}
	return o, n + 1
}

// diedOf ends what holds of o while o lives. A husband or wife of o is widowed.
func diedOf(o owner) (out []Claim) {
	for _, attribute := range lifeLong {
		out = append(out, Claim{Attribute: o.attribute(attribute), Ended: true})
	}
	if partners.Has(string(o)) && o != "boyfriend" && o != "girlfriend" {
		out = append(out, Claim{Attribute: "marital status", Value: "widowed", Changed: true},
			Claim{Attribute: partnerAttribute, Ended: true})
	}
	return out
}
