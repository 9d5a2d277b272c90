package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// What people leave out of their food is told in many ways: "I'm gluten-free", "I avoid gluten", "I can't have gluten".
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
	negated := false
	for len(rest) > 1 && (negations.Has(rest[0].Text) || inAny(rest[0].Text, english.Auxiliaries, frontAdverbs) &&
		!isBe(rest[0].Text) && !(rest[0].Text == "have" && !rest[1:].Any(consuming) && !english.Past(rest[1].Text))) {
		negated = negated || negations.Has(rest[0].Text)
		rest = rest[1:]
	}
	if isBe(rest.At(0)) && rest.At(1) == "not" {
		negated, rest = true, slices.Concat(rest[:1], rest[2:])
	}
	free := func(what string, ended bool) []Claim {
		if what == "" {
			return nil
		}
		return []Claim{{Attribute: o.attribute(freeAttribute + what), Value: held, Ended: ended}}
	}
	if beginning.Match(rest, 0) == 1 && len(rest) > 2 {
		rest = rest[1:]
	}
	again := rest.At(len(rest)-1) == "again" || c.changed && !negated && ws.At(0) == "can"
	first := rest.At(0)
	switch n := backOn.Match(rest, 0); {
	case n > 0 && n < len(rest) && !negated:
		return free(wholeObject(withoutChange(rest[n:])), true)
	case isBe(first) || first == "eat" || first == "eats":
		if dryStates.Has(rest.At(1)) && len(withoutChange(rest)) == 2 && isBe(first) {
			dry := asEnded([]Claim{habit(o, "drink alcohol"), habit(o, "of alcohol"), habit(o, "drink")})
			return append(free("alcohol", negated), slices.DeleteFunc(dry, func(Claim) bool { return negated })...)
		}
		if k := slices.IndexFunc(rest, func(w english.Word) bool { return w.Text == "free" }); k == 2 &&
			len(withoutChange(rest)) <= 3 {
			return free(rest[1].Text, negated || over)
		}
	}
	verb := infinitiveOfThird(first)
	if verb == "" {
		verb = first
	}
	switch {
	case verb == "avoid":
		return free(wholeObject(withoutChange(rest[1:])), negated || over)
	case verb == "drink" && len(rest) == 1, verb == "drinking" && again && len(rest) == 2:
		return free("alcohol", !negated)
	case !consuming.Has(verb) || len(rest) < 2:
		return nil
	case negated && !over:
		return free(wholeObject(withoutChange(rest[1:])), false)
	case again && !negated:
		what := wholeObject(withoutChange(rest[1:max(2, len(rest)-1)]))
		if rest.At(len(rest)-1) != "again" {
			what = wholeObject(withoutChange(rest[1:]))
		}
		out := free(what, true)
		if kind := foodKinds.Of(what); kind != "" {
			out = append(out, free(kind, true)...)
		}
		if what == "carb" {
			out = append(out, Claim{Attribute: o.attribute("diet"), Value: "keto", Ended: true})
		}
		return out
	}
	return nil
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

// served reads "take my coffee with two sugars" and "take my coffee black": what somebody has in a drink. Sugar and milk
// may be in it both, so each is an attribute, and only "black" and its like end them all.
func (c *claim) served(o owner, ws english.Words) (out []Claim) {
	if out = c.unstirred(o, ws); out != nil {
		return out
	}
	if !takingVerbs.Has(ws.At(0)) || !possessives.Has(ws.At(1)) || len(ws) < 4 {
		return nil
	}
	drink, rest := singular(ws[2].Text), withoutChange(ws[3:])
	in := func(thing string) string { return o.attribute("in " + drink + " " + thing) }
	switch {
	case len(rest) == 1 && plainServings.Has(rest[0].Text):
		for _, thing := range []string{"sugar", "milk", "cream", "honey", "syrup", "sweetener"} {
			out = append(out, Claim{Attribute: in(thing), Ended: c.changed})
		}
		return slices.DeleteFunc(out, func(c Claim) bool { return !c.Ended })
	case rest.At(0) == "with" && len(rest) > 1 && len(rest) < maxBound:
		thing := singular(rest[len(rest)-1].Text)
		if stirredIn.Has(thing) {
			amount := strings.TrimSpace(withoutArticle(rest[1 : len(rest)-1]).String())
			out = append(out, Claim{Attribute: in(thing), Value: thing + " " + amount, Several: true, Changed: c.changed})
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
	if n == 0 || !stirring.Has(ws.At(n)) || ws.At(n+2) != "in" || !possessives.Has(ws.At(n+3)) || len(ws) != n+5 {
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
	attribute := "usual " + noun
	if mealNames.Has(noun) {
		attribute = "meal " + noun
	}
	return []Claim{
		{Attribute: attribute, Value: value, Several: true, Changed: c.changed},
		{Attribute: "habit of " + value, Value: held, Several: true, Loose: true},
	}
}
