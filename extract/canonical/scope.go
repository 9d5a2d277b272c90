package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A phrase may bound a statement to a part of somebody's life: "for the firm", "at night", "here", "in spirit". What is
// so there says nothing about the rest, so such a statement takes the place only of one with the same bound.

var (
	scopeNouns   = tables.Words("scope-nouns")
	scopePhrases = tables.Phrases("scope-phrases")
	hedges       = tables.Phrases("hedges")
	dayParts     = tables.Words("day-parts")
	unscoped     = tables.Words("unscoped")
)

// scopeOf is the part of life that a fact speaks of: "firm" of "for the firm", "at night". It is "" for a fact without
// such a bound.
func scopeOf(all english.Words) string {
	for i := range all {
		if n := scopePhrases.Match(all, i); n > 0 && !english.Prepositions.Has(all.At(i-1)) &&
			(i+n == len(all) || all[i+n-1].Stop != 0 || i == 0 || ends(all[i+n])) {
			return all[i : i+n].String()
		}
		w := all[i].Text
		if w != "for" && w != "on" && w != "at" || i+2 >= len(all) {
			continue
		}
		// "On a boat" tells where, and "on the boat" what for.
		if at := all[i+1].Text; at != "the" && !possessives.Has(at) && !(w == "for" && english.Articles.Has(at)) {
			continue
		}
		for k := i + 2; k < min(len(all), i+2+maxObjectWords); k++ {
			if noun := all[k].Text; scopeNouns.Has(noun) && !goesOn(all[k:k+1], all[k+1:]) {
				return noun
			}
		}
	}
	return ""
}

// reach is how far all that a fact says goes.
type reach struct {
	scope    string // the part of life that it is about; "" for all of it
	fleeting bool   // it holds for a time that ends, in spirit, or of one of several: "the older one"
}

// reachOf reads the words of a fact, with those before its subject.
func reachOf(said english.Words) reach {
	return reach{scopeOf(said), holdsThisTime(said) || hedges.Found(said) || tellsWhich(said)}
}

// bound are claims with the bounds of r. Where somebody works and what as belongs to no other part of life.
func (r reach) bound(claims []Claim) []Claim {
	for i := range claims {
		c := &claims[i]
		c.Narrow = c.Narrow || r.fleeting
		// "Wiremu home" has its owner in front.
		if first, _, _ := strings.Cut(c.Attribute, " "); !unscoped.Has(first) && !unscoped.Has(lastWord(c.Attribute)) {
			c.scope = r.scope
		}
	}
	return claims
}

// within reports whether what is bounded as c is may take the place of what is bounded as o is. A statement without a
// bound leaves one with a bound, unless it tells of a change or of an end.
func (c *Claim) within(o *Claim) bool {
	if strings.HasPrefix(c.Attribute, choiceAttribute) {
		return c.Ended && c.inCircumstances(o) // what is told of a choice later leaves the change as it was
	}
	return c.scope == o.scope || c.scope == "" && (c.Ended || c.Changed)
}

// holdsThisTime reports whether a fact tells of how things are in a time that ends: "this week I get up at 9". What
// happened in it lasts: "this week I moved to Rome".
func holdsThisTime(all english.Words) bool {
	for i := 0; i+1 < len(all); i++ {
		next := all[i+1].Text
		since := inAny(all.At(i-1), timeLeads, beginnings) || all.At(i-1) == "of" || all.At(i-1) == "since"
		if all[i].Text != "this" || since || next == "year" || dayParts.Has(next) ||
			!inAny(next, english.Periods, english.DateWords, seasons, bounds) {
			continue
		}
		for k, w := range all {
			if k > i && (dependent.Has(w.Text) || reasons.Has(w.Text)) {
				break // "this week I fast because it was time"
			}
			if english.Past(w.Text) || pastBe.Has(w.Text) || endVerbs.Has(w.Text) || enders.Match(all, k) > 0 {
				return false
			}
		}
		return true
	}
	return false
}

// Bounds reports whether words before a statement, without a verb, bound it to a part of life: "for work,".
func Bounds(ws english.Words) bool {
	return len(ws) > 0 && len(ws) <= maxOpening && english.Prepositions.Has(ws[0].Text) && scopeOf(ws) != "" &&
		!slices.ContainsFunc(ws, func(w english.Word) bool { return w.Text == "i" || english.Auxiliaries.Has(w.Text) })
}

// SameOrNarrower reports whether o says the same as c, perhaps with bounds.
func (c *Claim) SameOrNarrower(o Claim) bool {
	o.Narrow, o.scope = c.Narrow, c.scope
	return *c == o
}

// Pairs reports whether c may tell of a couple, which the next words take back: "I'm with Tom now, he mends my bike".
func (c *Claim) Pairs() bool { return c.Attribute == "marital status" && c.Changed && c.Several }

// tellsWhich reports whether a fact names one of several people or things apart: "my son turned five, the older one".
func tellsWhich(ws english.Words) bool {
	for i := 2; i < len(ws); i++ {
		owned := ws[i-2].Text == "the" || ws[i-2].Text == "my"
		if ws[i].Text == "one" && owned && relationAdjectives.Has(ws[i-1].Text) {
			return true
		}
	}
	return false
}
