package canonical

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A diet, a food that is left out and the way somebody takes a drink are attributes of their own, since who is
// vegan may leave out gluten as well. A word of one occasion, such as "today", leaves all of them as they are,
// and so does what somebody else eats or drinks.

// People tell in many ways that they leave a thing out of their food: "I'm gluten-free", "I avoid gluten".
// All of them are one attribute, which ends as soon as somebody eats the thing again. How they take a drink is one
// more: "I take my coffee with two sugars" ends with sugar in it no longer, or with black coffee.

var (
	dietDegrees   = tables.Words("diet-degrees")
	consuming     = tables.Words("consuming")
	dryStates     = tables.Words("dry-states")
	backOn        = tables.Phrases("back-on")
	outgrowing    = tables.Phrases("outgrowing")
	usualWords    = tables.Words("usual-words")
	takingVerbs   = tables.Words("taking-verbs")
	stirredIn     = tables.Words("stirred-in")
	plainServings = tables.Words("plain-servings")
	stirring      = tables.Words("stirring")
)

const freeAttribute = "free of "

// food reads what o, of whom ws tells, leaves out of their food or takes into it again, and how they take a drink.
func (c *claim) food(o owner, ws english.Words) []Claim {
	if ws.Any(uncertain) && !ws.Has("ever") || ws.Any(orderBounds) && !ws.Has("but") {
		return nil
	}
	return slices.Concat(c.outgrown(o, ws), c.abstains(o, ws), c.served(o, ws))
}

// abstains reads "am gluten free", "avoid dairy", "do not drink", and the end of it: "eat gluten again".
func (c *claim) abstains(o owner, ws english.Words) []Claim {
	rest, over := withoutAnymore(ws)
	rest, negated := plainPredicate(rest)
	if len(rest) == 0 {
		return nil
	}
	if n := backOn.Match(rest, 0); n > 0 && n < len(rest) && !negated && inflections[rest[n].Text] == nil {
		return freeOf(o, wholeObject(withoutChange(rest[n:])), true)
	}
	if out := abstinent(o, rest, negated || over); out != nil {
		return out
	}
	// "Started drinking again" has the verb behind.
	if beginning.Match(rest, 0) == 1 && len(rest) > 2 {
		rest = rest[1:]
	}
	first := rest[0].Text
	verb := cmp.Or(infinitiveOfThird(first), first)
	again := rest.At(len(rest)-1) == "again" || c.changed && !negated && ws.At(0) == "can"
	switch {
	case verb == "avoid":
		return freeOf(o, wholeObject(withoutChange(rest[1:])), negated || over)
	case verb == "drink" && len(rest) == 1, verb == "drinking" && again && len(rest) == 2:
		return freeOf(o, "alcohol", !negated)
	case !consuming.Has(verb) || len(rest) < 2:
		return nil
	case negated && !over && english.Articles.Has(rest.At(1)):
		return nil // "I don't have a job"
	case negated && !over:
		return freeOf(o, wholeObject(withoutChange(rest[1:])), false)
	case again && !negated:
		return eatenAgain(o, rest)
	}
	return nil
}

// freeOf is the claim that somebody leaves a thing out of their food, or does so no longer.
func freeOf(o owner, what string, ended bool) []Claim {
	if what == "" {
		return nil
	}
	return []Claim{{Attribute: o.attribute(freeAttribute + what), Value: held, Ended: ended}}
}

// plainPredicate is ws without denials, auxiliaries and adverbs before its verb, and reports whether it is denied.
func plainPredicate(ws english.Words) (rest english.Words, negated bool) {
	for len(ws) > 1 {
		w := ws[0].Text
		// "Have" may be the verb itself: "have gluten again".
		has := w == "have" && !ws[1:].Any(consuming) && !english.Past(ws[1].Text)
		helps := inAny(w, english.Auxiliaries, frontAdverbs) && !isBe(w) && !has
		if !helps && !negations.Has(w) {
			break
		}
		negated = negated || negations.Has(w)
		ws = ws[1:]
	}
	if isBe(ws.At(0)) && ws.At(1) == "not" {
		return slices.Concat(ws[:1], ws[2:]), true
	}
	return ws, negated
}

// abstinent reads "am teetotal", "am gluten free" and "eat gluten free".
func abstinent(o owner, ws english.Words, ended bool) []Claim {
	first := ws[0].Text
	if !isBe(first) && first != "eat" && first != "eats" {
		return nil
	}
	state := withoutChange(ws)
	switch {
	case isBe(first) && len(state) == 2 && dryStates.Has(state[1].Text):
		out := freeOf(o, "alcohol", ended)
		if !ended { // who is teetotal drinks no wine
			out = append(out, asEnded([]Claim{
				habit(o, "drink alcohol"), habit(o, "of alcohol"), habit(o, "drink"),
			})...)
		}
		return out
	case len(state) == 3 && state[2].Text == "free":
		return freeOf(o, state[1].Text, ended)
	}
	return nil
}

// eatenAgain reads the thing of "eat gluten again", and the diets that it ends.
func eatenAgain(o owner, ws english.Words) []Claim {
	thing := ws[1:]
	if last := len(thing) - 1; last > 0 && thing[last].Text == "again" {
		thing = thing[:last]
	}
	what := wholeObject(withoutChange(thing))
	out := freeOf(o, what, true)
	// Who eats chicken again eats meat again.
	if kind := foodKinds.Of(what); kind != "" {
		out = append(out, freeOf(o, kind, true)...)
	}
	if what == "carb" {
		out = append(out, Claim{Attribute: o.attribute("diet"), Value: "keto", Ended: true})
	}
	return out
}

// outgrown reads "have outgrown the peanut allergy": an allergy that somebody has no longer.
func (c *claim) outgrown(o owner, ws english.Words) []Claim {
	n := outgrowing.Match(ws, 0)
	if n == 0 || n >= len(ws) {
		return nil
	}
	rest := ws[n:]
	for len(rest) > 1 && inAny(rest[0].Text, possessives, english.Articles) {
		rest = rest[1:]
	}
	what := ""
	switch last := len(rest) - 1; {
	case rest.StartWith("allergy", "to"):
		what = wholeObject(rest[2:])
	case last > 0 && (rest[last].Text == "allergy" || rest[last].Text == "intolerance"):
		what = wholeObject(rest[:last])
	}
	if what == "" {
		return nil
	}
	return []Claim{{Attribute: o.attribute("has allergy to " + what), Value: held, Ended: true}}
}

// served reads "take my coffee with two sugars" and "take my coffee black": what somebody has in a drink. Sugar and
// milk may be in it both, so each is an attribute, and only "black" and its like end them all.
func (c *claim) served(o owner, ws english.Words) (out []Claim) {
	if out = c.unstirred(o, ws); out != nil {
		return out
	}
	if !takingVerbs.Has(ws.At(0)) || !possessives.Has(ws.At(1)) || len(ws) < 4 {
		return nil
	}
	drink, rest := singular(ws[2].Text), withoutChange(ws[3:])
	in := func(thing string) string { return o.attribute("in " + drink + " " + thing) }
	// A drink that is told as a new one and is plain has nothing in it.
	switch {
	case len(rest) == 1 && plainServings.Has(rest[0].Text):
		for _, thing := range []string{"sugar", "milk", "cream", "honey", "syrup", "sweetener"} {
			out = append(out, Claim{Attribute: in(thing), Ended: c.changed})
		}
		return slices.DeleteFunc(out, func(c Claim) bool { return !c.Ended })
	case rest.At(0) == "with" && len(rest) > 1 && len(rest) < maxBound:
		thing := singular(rest[len(rest)-1].Text)
		if stirredIn.Has(thing) {
			// The amount is a value, so that one sugar takes the place of two.
			amount := strings.TrimSpace(withoutArticle(rest[1 : len(rest)-1]).String())
			out = append(out, Claim{
				Attribute: in(thing), Value: thing + " " + amount, Several: true, Changed: c.changed,
			})
		}
	}
	return out
}

// unstirred reads "stopped putting sugar in my coffee".
func (c *claim) unstirred(o owner, ws english.Words) []Claim {
	if ws.At(0) == "have" || ws.At(0) == "has" {
		ws = ws[1:]
	}
	n := enders.Match(ws, 0)
	if n == 0 || len(ws) != n+5 || !stirring.Has(ws.At(n)) || ws.At(n+2) != "in" ||
		!possessives.Has(ws.At(n+3)) {
		return nil
	}
	thing := "in " + singular(ws[n+4].Text) + " " + singular(ws[n+1].Text)
	return []Claim{{Attribute: o.attribute(thing), Ended: true}}
}

// usual reads "my go-to breakfast is porridge": a choice that only a change replaces.
func (c *claim) usual(ws english.Words) []Claim {
	if ws.At(0) != "my" {
		return nil
	}
	i := 1
	for i < len(ws) && (usualWords.Has(ws[i].Text) || ws[i].Text == "go" && ws.At(i+1) == "to") {
		if i++; ws[i-1].Text == "go" {
			i++
		}
	}
	if i == 1 || i+2 >= len(ws) || !isBe(ws[i+1].Text) {
		return nil
	}
	noun, value := singular(ws[i].Text), wholeObject(withoutChange(ws[i+2:]))
	if value == "" || ws.Any(uncertain) || ws.Any(negations) {
		return nil
	}
	// A meal has its attribute already, which "I have porridge for breakfast" gives as well.
	attribute := "usual " + noun
	if mealNames.Has(noun) {
		attribute = "meal " + noun
	}
	return []Claim{
		{Attribute: attribute, Value: value, Several: true, Changed: c.changed},
		{Attribute: "habit of " + value, Value: held, Several: true, Loose: true},
	}
}
