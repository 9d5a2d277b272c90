package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// The tables read some words in one way alone: "split up" parts a couple, "seeing Tom" is love. Weights judge such
// claims again, by all that the sentence says: "We split up at the museum", "I'm seeing Tom tomorrow".

// Only claims that have been found to go wrong are judged: a parting, a date with somebody, a diet for a month, a
// thing that is sold for somebody else, and a work that bores. The tables stay the judges of all others, since they
// read words that weights have never seen.

// vetoBar is the score of a relation below which the claim of a table about it is dropped.
const vetoBar = -2.0

// vetoed are the claims of tables without those that the rest of the fact makes unlikely. Scores are the best ones of
// the slots; nil if weights have not judged the fact.
func vetoed(claims []Claim, all english.Words, scores map[string]float64) []Claim {
	couple := scores == nil || slices.ContainsFunc([]string{"single", "dating"}, func(slot string) bool {
		score, known := scores[slot]
		return known && score > vetoBar
	})
	parts := func(c Claim) bool {
		return strings.HasSuffix(c.Attribute, "marital status") &&
			(c.Value == "single" && all.Any(parting) || c.Value == "dating" && all.Has("seeing"))
	}
	couple = couple && !(all.Has("seeing") && all.Any(later)) // "I'm seeing Tom tomorrow"
	couple = couple || !slices.ContainsFunc(claims, parts)
	another, trial, item := forAnother(all), forMonth(all), boredOfItem(all)
	return slices.DeleteFunc(claims, func(c Claim) bool {
		a := " " + c.Attribute
		switch {
		case strings.HasSuffix(a, " marital status"), strings.HasSuffix(a, " partner name"):
			return !couple && !c.Loose
		case strings.HasSuffix(a, " diet"):
			return trial
		case c.Ended && another:
			return strings.Contains(a, " has ") || strings.Contains(a, " thing") || strings.Contains(a, " of ")
		}
		return item && !strings.HasPrefix(c.Attribute, heldAttribute)
	})
}

// forAnother reports whether something is done for somebody else: "sold a car for my uncle".
func forAnother(ws english.Words) bool {
	for i := range ws {
		if ws[i].Text == "for" && (forOthers(ws[i+1:]) || relation(ws.At(i+2)) != "" || kin.Has(ws.At(i+2)) ||
			relatives.Has(ws.At(i+2))) {
			return !english.DateWords.Has(ws.At(i + 1))
		}
	}
	return false
}

// forMonth reports whether something is done for a month or so: "went vegan for January".
func forMonth(ws english.Words) bool {
	for i := range ws {
		next := ws.At(i + 1)
		if ws[i].Text == "for" && (monthNumbers.Of(next) != "" || next == "lent" ||
			(next == "a" || english.StartsWithDigit(next)) && english.Periods.Has(singular(ws.At(i+2)))) {
			return true
		}
	}
	return false
}

// boredOfItem reports whether the speaker is tired of one work or event: "got bored of the book".
func boredOfItem(ws english.Words) bool {
	for i := range ws {
		if boredWords.Has(ws[i].Text) && (ws.At(i+1) == "of" || ws.At(i+1) == "with") &&
			inAny(ws.At(i+2), english.Articles, english.Deictic) && items.Has(singular(ws.At(i+3))) {
			return true
		}
	}
	return false
}

var (
	parting    = learnedTables.Words("parting")
	relatives  = learnedTables.Words("relatives")
	boredWords = learnedTables.Words("bored-words")
	items      = learnedTables.Words("items")
)
