package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// The tables read some words in one way alone: "seeing Tom" is love. The rest of the fact may tell another one:
// "I'm seeing Tom tomorrow", a diet for a month, a thing that is sold for somebody else, a work that bores.

// vetoed are the claims of tables without those that the rest of the fact makes unlikely.
func vetoed(claims []Claim, all english.Words) []Claim {
	meets := all.Has("seeing") && all.Any(later) // "I'm seeing Tom tomorrow"
	waits := meetsNow(all)
	another, trial, item := forAnother(all), forMonth(all), boredOfItem(all)
	passing, leaves := passes(all), leavesPlace(all) || letGoTo(all)
	return slices.DeleteFunc(claims, func(c Claim) bool {
		a := " " + c.Attribute
		switch {
		case strings.HasSuffix(a, " marital status"), strings.HasSuffix(a, " partner name"):
			return (meets || waits) && !c.Loose
		case (strings.HasSuffix(a, " employer") || strings.HasSuffix(a, " paid post")) && c.Ended && leaves:
			return true
		case strings.HasSuffix(a, " phone"), strings.HasSuffix(a, " email"):
			return besides(all) // "you can also reach me on"
		case strings.HasSuffix(a, " diet"):
			return trial
		case c.Ended && (another || passing): // "my phone is dead right now"
			return strings.Contains(a, " has ") || strings.Contains(a, " thing") || strings.Contains(a, " of ")
		}
		return item
	})
}

// letGoTo reports whether somebody was let go somewhere, or in some order, or by others than those who employ: "they
// let me go to the fair", "the police let me go".
func letGoTo(ws english.Words) bool {
	if ws.Has("let") && ws.Any(captors) {
		return true
	}
	for i := 2; i+1 < len(ws); i++ {
		next := ws[i+1].Text
		if ws[i].Text == "go" && ws[i].Stop == 0 && ws[i-2].Text == "let" && (next == "to" || nth(next) != "") {
			return true
		}
	}
	return false
}

// meetsNow reports whether people who are together do something at this moment: "Tom and I are together now, waiting
// for the bus".
func meetsNow(ws english.Words) bool {
	for i := 0; i+1 < len(ws); i++ {
		k := i
		if ws.At(i+1) == "now" {
			k++
		}
		if ws[i].Text == "together" && ws[k].Stop == ',' && endsInIng(ws.At(k+1)) {
			return true
		}
	}
	return false
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
	captors    = themeTables.Words("captors")
	relatives  = themeTables.Words("relatives")
	boredWords = themeTables.Words("bored-words")
	items      = themeTables.Words("items")
)
