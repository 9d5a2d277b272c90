package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// habitual reads what somebody does with a thing, by any verb in the present: "I subscribe
// to the Economist".
func (c *claim) habitual(v *verbPhrase, ws english.Words) []Claim {
	verb := ws.At(0)
	present := v.subject && !v.be && !v.past && !v.perfect && !endsInIng(verb) && !english.Past(verb)
	if out := c.amount(v, ws); out != nil && (present || v.be) {
		return out
	}
	going := endsInIng(verb) && (v.be || v.ended) && !v.past
	if !present && !going || len(ws) < 2 || !c.tellsHabit(v, ws[0]) {
		return nil
	}
	// A preposition belongs to the verb: "subscribe to the Economist".
	rest := ws[1:]
	if english.Prepositions.Has(rest[0].Text) && len(rest) > 1 {
		rest = rest[1:]
	}
	for n := min(len(rest), maxSlotWords); n > 0; n-- {
		names := c.thingNames(rest[:n], rest[n:])
		bounded := c.boundsHabit(v, ws, rest[n:])
		if len(names) == 0 || bounded {
			continue
		}
		var out []Claim
		for _, name := range names {
			habit := Claim{Attribute: v.owner.attribute("habit of " + name), Value: held, Ended: v.ended}
			habit.Loose = !v.ended && !v.negated
			habit.Narrow = !v.ended && !v.negated && narrows(rest[n:])
			if habit.Loose {
				habit.verb = plainVerb(v, verb)
			}
			out = append(out, habit)
		}
		if v.negated {
			return asEnded(out)
		}
		return out
	}
	return nil
}

// plainVerb is one form of the verb of a habit for all owners: "study" of "studies".
func plainVerb(v *verbPhrase, verb string) string {
	if stem, ok := strings.CutSuffix(verb, "ies"); ok && v.owner != "" {
		return stem + "y"
	}
	if v.owner != "" {
		return strings.TrimSuffix(verb, "s")
	}
	return verb
}

// withDenied adds the ends of what a correction denies of a habit: "my daughter studies at Uppsala, not Lund" ends that
// she studies at Lund University, and leaves that she often visits Lund.
func withDenied(claims []Claim) []Claim {
	for _, denied := range claims {
		value, ok := strings.CutPrefix(denied.Attribute, valueAttribute)
		if !ok || !denied.Ended {
			continue
		}
		for _, told := range claims {
			if o, _, ok := strings.Cut(told.Attribute, "habit of "); ok && told.verb != "" {
				told.Attribute, told.Ended, told.Loose, told.Narrow = o+"habit of "+value, true, false, false
				claims = append(claims, told)
			}
		}
	}
	return claims
}

// withSmoking adds that somebody smokes no longer to the end of their cigarettes: "I quit cigarettes". A pipe stays.
func withSmoking(claims []Claim, all english.Words) []Claim {
	if all.Has("again") {
		return claims // "quit cigarettes as a teenager and started again"
	}
	for _, told := range claims {
		o, what, ok := strings.Cut(told.Attribute, "habit of ")
		if ok && told.Ended && smokes.Has(what) {
			claims = append(claims, Claim{Attribute: o + "habit smoke", Value: held, Ended: true})
			for _, what := range []string{"pack", "cigarette", "tobacco", "cig"} {
				of := o + activityAttribute + "smoke " + what
				claims = append(claims, Claim{Attribute: of, Value: held, Ended: true})
			}
		}
	}
	return claims
}

// boundsHabit reports whether the end of a habit is only one for a time: "I'm not drinking wine tonight".
func (c *claim) boundsHabit(v *verbPhrase, ws, rest english.Words) bool {
	return (v.ended || v.negated) &&
		(ws.Any(passing) || c.isBounded(v, &frame{tokens: []token{{slot: "thing"}}}, rest))
}

// amount reads how much somebody does of something: "walk 8000 steps a day". Only a fact that
// tells of a change takes the place of another amount.
func (c *claim) amount(v *verbPhrase, ws english.Words) []Claim {
	for i := 1; i < min(len(ws)-1, 5); i++ {
		n := numberOf(ws[i:])
		unit := singular(ws[i+1].Text)
		// "20 mg of fluoxetine" is no amount of all that one takes.
		of := ws.At(i+2) == "of"
		if n == "" || of || !english.StartsWithDigit(ws[i].Text) || english.StartsWithDigit(unit) ||
			v.negated || v.ended ||
			inAny(unit, english.StopWords, english.DateWords, english.Prepositions) ||
			ws[:i].Any(english.Prepositions) { // "walk to town 3 times"
			continue
		}
		verb := ws[0].Text
		if v.owner != "" {
			verb = singular(verb)
		}
		return []Claim{{
			Attribute: v.owner.attribute("amount " + verb + " " + unit), Value: n,
			Several: true, Changed: tellsChange(ws), Loose: true,
		}}
	}
	return nil
}

// rate reads how many of a thing somebody has in a time: "drink 3 coffees a day", "cut back to one coffee a day".
func (c *claim) rate(o owner, ws english.Words) []Claim {
	for i := 1; i+3 < len(ws) && i < maxRoutine; i++ {
		n := ws[i].Text
		if n == "one" {
			n = "1"
		}
		per := ws[i+2].Text
		if !isNumber(n) || per != "a" && per != "per" && per != "each" && per != "every" ||
			!english.Periods.Has(ws[i+3].Text) && ws[i+3].Text != "day" ||
			inAny(ws[i+1].Text, english.StopWords, english.Periods) {
			continue
		}
		changed := i > 1 && ws[i-1].Text == "to" && rateWays.Has(ws[i-2].Text)
		if ws[:i].Any(negations) || ws[:i].Any(uncertain) || english.Past(ws[0].Text) && !changed {
			return nil
		}
		noun := singular(ws[i+1].Text)
		out := []Claim{{
			Attribute: o.attribute("rate " + noun + " " + ws[i+3].Text), Value: n,
			Several: true, Changed: changed || c.changed,
		}}
		if noun != "time" && noun != "pill" && noun != "tablet" { // who quits cigarettes ends the rate as well
			out = append(out, Claim{Attribute: o.attribute("habit of " + noun), Value: held, Loose: true})
		}
		return out
	}
	return nil
}

// tellsHabit reports whether w may be the verb of a habit. A word that is no verb may stand
// in its place: a name, an adjective, an adverb.
func (c *claim) tellsHabit(v *verbPhrase, w english.Word) bool {
	verb, base := w.Text, w.Text
	if v.owner != "" {
		base = strings.TrimSuffix(verb, "s")
	}
	// "I Ann love", "the dog's", "I truly love".
	if c.capital(w) && !english.PresentVerbs.Has(verb) || strings.HasSuffix(verb, "'s") ||
		strings.HasSuffix(verb, "ly") {
		return false
	}
	// Verbs of thinking, wanting and talking tell nothing that ends with a thing.
	return !inAny(verb, noHabits, uncertain, english.Auxiliaries, english.StopWords, english.Adverbs,
		english.TalkVerbs) &&
		!noHabits.Has(base) && !noHabits.Has(english.Infinitive(verb))
}

// narrows reports whether words behind a habit bound it: "in summer".
func narrows(rest english.Words) bool {
	for i, w := range rest {
		if i > 0 && stopsClause(rest[i-1].Stop) {
			return false
		}
		if inAny(w.Text, bounds, boundingModifiers, seasons) || english.DateWords.Has(singular(w.Text)) {
			return true
		}
	}
	return false
}

// withFramed adds the claims of frames to those of the other rules, where these read
// nothing of the attribute.
func withFramed(found, framed []Claim) []Claim {
	own := len(found)
	for _, f := range framed {
		// A statement may end several values of one attribute: "I live alone now".
		same := func(c Claim) bool {
			several := c.Ended && f.Value != ""
			return c.Attribute == f.Attribute && (c.Value == f.Value || c.Ended == f.Ended && !several)
		}
		k := slices.IndexFunc(found, same)
		switch {
		case k < 0:
			found = append(found, f)
		case k >= own && found[k].Value == f.Value && !f.Ended:
			// Of two frames one may tell of a change: "I'm with Tom now".
			found[k].Changed = found[k].Changed || f.Changed
		}
	}
	// Who left one firm, or a place without a name, may have a post at another one.
	firm := slices.ContainsFunc(found, func(c Claim) bool {
		return c.Value != "" && strings.HasSuffix(c.Attribute, "employer")
	})
	return slices.DeleteFunc(found, func(c Claim) bool {
		return firm && c.Ended && strings.HasSuffix(c.Attribute, postAttribute)
	})
}
