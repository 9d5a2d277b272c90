package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Readers of statements that tell of a change by what they leave or reach: an account that is closed, the place of
// somebody with whom the speaker lived, a birthday with its number.

var (
	accountNouns = frameTables.Words("account-nouns")
	closing      = frameTables.Words("closing")
	lodgings     = frameTables.Words("lodgings")
	fallingOut   = frameTables.Phrases("falling-out")
	birthdayEnds = frameTables.Words("birthday-ends")
	celebrating  = frameTables.Words("celebrating")
)

// lodgingAttribute is of the people in whose place the speaker lives.
const lodgingAttribute = "lodging"

// leaves reads a clause of the speaker's, whichever of the readers knows it.
func (c *claim) leaves(ws english.Words) []Claim {
	ws = ws[openingTime(ws):]
	if w := ws.At(0); w != "i" && w != "we" || ws.Any(uncertain) || ws.Any(negations) || len(ws) < 4 {
		return nil
	}
	if out := c.closedAccount(ws); out != nil {
		return out
	}
	return c.lodges(ws)
}

// Friends are many, so that a quarrel with one of them ends nothing but a best friendship, and that only by the name.

// fellOut reads "Lucía and I fell out", which ends a best friendship with her.
func (c *claim) fellOut(ws english.Words) []Claim {
	if len(ws) < 5 || !ws[0].Upper || !ws[1:].StartWith("and", "i") {
		return nil
	}
	rest := ws[3:]
	if fallingOut.Match(rest, 0) == 0 {
		return nil
	}
	return []Claim{{Attribute: "one best friend", Value: ws[0].Text, Ended: true}}
}

// A thing that is closed must have a name, and be closed altogether: "closed my savings account" leaves the bank, and
// so does "closed the account of the choir".

// closedAccount reads "I've closed my Santander account": whatever the speaker had chosen by that name has ended.
func (c *claim) closedAccount(ws english.Words) []Claim {
	at := slices.IndexFunc(ws, func(w english.Word) bool { return closing.Has(w.Text) })
	if at < 1 || at > 3 || !inAny(ws.At(at+1), english.Articles, possessives) {
		return nil
	}
	for k := at + 3; k < min(len(ws), at+6); k++ {
		if !accountNouns.Has(ws[k].Text) {
			continue
		}
		gone := ws[at+2 : k]
		if last := gone[len(gone)-1]; !c.capital(last) || goesOn(ws[:k+1], ws[k+1:]) {
			return nil // "closed my savings account"
		}
		out := c.choiceGone(gone, nil, ws[k+1:])
		for _, kind := range []string{"bank thing", "kind of bank"} {
			out = append(out, Claim{Attribute: kind, Value: gone.String(), Ended: true})
		}
		return out
	}
	return nil
}

// To live with somebody is no home of its own: who lives "with my parents in Porto" lives in Porto, too, and gives up
// only the first of both when they move out.

// lodges reads "I'm renting a room in my aunt's house" and "I moved out of my aunt's place". A place of one's own
// ends each of them.
func (c *claim) lodges(ws english.Words) []Claim {
	for i := 1; i+1 < len(ws); i++ {
		whose, possessive := strings.CutSuffix(ws[i+1].Text, "'s")
		rel := relation(whose)
		if one := singular(whose); rel == "" && (relation(one) != "" || persons.Has(one)) {
			rel = one // "my parents' house", "my aunt's flat"
		}
		owned := possessive || strings.HasSuffix(whose, "s")
		if ws[i].Text != "my" || rel == "" || !owned || !lodgings.Has(ws.At(i+2)) {
			continue
		}
		out := Claim{Attribute: lodgingAttribute, Value: rel, Several: true}
		switch before := ws[1:i]; {
		case before.Has("moved") && (before.Has("out") || before.Has("from")), before.Has("left") && i < 4:
			out.Ended, out.Several = true, false
		case before.Has("in") || before.Has("at"):
			if !before.Any(dwelling) {
				return nil
			}
		default:
			return nil
		}
		return []Claim{out}
	}
	if out := c.sharesHome(ws); out != nil {
		return out
	}
	for i := 1; i+2 < len(ws); i++ { // "I have my own flat now"
		if ws[i].Text == "my" && ws[i+1].Text == "own" && lodgings.Has(ws[i+2].Text) && i < 4 {
			return []Claim{{Attribute: lodgingAttribute, Ended: true}}
		}
	}
	return nil
}

// sharesHome reads "I'm living with my parents" and "I live with two flatmates". With whom the speaker lives is told by
// the noun behind "with" and its owner or number.
func (c *claim) sharesHome(ws english.Words) []Claim {
	for i := 1; i+2 < len(ws) && ws.Any(dwelling); i++ {
		if ws[i].Text != "with" {
			continue
		}
		whose, who := ws[i+1].Text, ws[i+2].Text
		rel := relation(who)
		if one := singular(who); rel == "" && relation(one) != "" {
			rel = one
		}
		known := isNumber(whose) || inAny(whose, possessives, english.Articles)
		if flatmates.Has(singular(who)) && known {
			return []Claim{{Attribute: lodgingAttribute, Value: "flatmate", Several: true}}
		}
		if whose == "my" && rel != "" {
			return c.livesWith(rel, ws[i+3:])
		}
	}
	return nil
}

// livesWith is the claim that the speaker lives in the place of a relation, or with a partner, who takes the place of
// parents and flatmates.
func (c *claim) livesWith(rel string, rest english.Words) []Claim {
	out := []Claim{{Attribute: lodgingAttribute, Value: rel, Several: true}}
	// "With my wife and my parents now" names those who are still there.
	more := slices.ContainsFunc(rest, func(w english.Word) bool { return !changeWords.Has(w.Text) }) ||
		strings.Contains(c.text, " and ") || strings.Contains(c.text, ",")
	if !partners.Has(rel) || !c.changed || more {
		return out
	}
	return append(out, leftFlat()...)
}

// leftFlat are the ends of living with parents and flatmates. Whoever else lived there, such as a cat, may have moved
// along.
func leftFlat() []Claim {
	out := []Claim{{Attribute: "one flatmate", Ended: true}}
	for _, left := range [...]string{"parents", "mom", "dad", "flatmate", "friend", "sister", "brother"} {
		out = append(out, Claim{Attribute: lodgingAttribute, Value: left, Ended: true})
	}
	return out
}

// withAlone adds, for a speaker who lives alone now, that parents and flatmates do not share the place.
func withAlone(claims []Claim, all english.Words) []Claim {
	// "On my own now" says the same, and what follows may bound it.
	ends := changeWords.Has(all[len(all)-1].Text) || all.Has("own") || all.Has("myself")
	for _, cl := range claims {
		if ends && cl.Attribute == "living" && cl.Value == "alone" && cl.Changed && !cl.Ended {
			return append(claims, leftFlat()...) // not "alone now in the week"
		}
	}
	return claims
}

// flatmates are those with whom a flat is shared.
var flatmates = frameTables.Words("flatmates")

// dwelling are the verbs of living somewhere.
var dwelling = frameTables.Words("dwelling-verbs")

// A birthday tells the age of somebody else more often than the verb "to turn" does. The number must stand behind its
// owner, so that "the 90th anniversary of grandpa's firm" is none.

// celebrated reads "we celebrated grandpa's 90th yesterday": somebody's age from then on.
func (c *claim) celebrated(all english.Words) []Claim {
	if !all.Any(celebrating) || all.Any(negations) || all.Any(uncertain) {
		return nil
	}
	for i := 0; i+1 < len(all); i++ {
		whose, possessive := strings.CutSuffix(all[i].Text, "'s")
		if i > 0 && isBe(whose) { // "grandpa's" is read as "grandpa is"
			whose, possessive = all[i-1].Text, true
		}
		n := strings.TrimRight(all[i+1].Text, "stndrh")
		next := all.At(i + 2)
		birthday := next == "birthday" || next == "" || all[i+1].Stop != 0 || pastBe.Has(next) ||
			inAny(next, english.WeakDateWords, english.DateWords, birthdayEnds)
		if !possessive || n == all[i+1].Text || !isNumber(n) || !birthday {
			continue
		}
		o := relation(whose)
		if o == "" && kin.Has(whose) {
			o = relationOf(whose)
		}
		if o == "" && c.capital(all[i]) && !english.StopWords.Has(whose) {
			o = whose
		}
		if o == "" {
			return nil
		}
		return []Claim{{Attribute: owner(o).attribute(ageAttribute), Value: n, Several: true, Changed: true}}
	}
	return nil
}
