package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Words anywhere in a fact may bound all that it says: to a time long ago, to a reason that passes, or to one of
// several things of a kind. A claim that is bounded so ends nothing.

var (
	passingReasons = tables.Words("passing-reasons")
	ownDwellings   = tables.Words("own-dwellings")
	timeFillers    = tables.Words("time-fillers")
	lastingCauses  = tables.Words("lasting-causes")
	partsOfTime    = tables.Words("parts-of-time")
	youngPeople    = tables.Words("young-people")
)

// bounded are the claims of a fact with the bounds that its words set.
func bounded(claims []Claim, all english.Words) []Claim {
	past, passing, shop := tellsYouth(all), hasPassingReason(all), ofOtherRoom(all)
	also, part := besides(all), countsPart(all)
	claims = landlordsRent(claims, all)
	if endsNothing(all) {
		claims = slices.DeleteFunc(claims, func(c Claim) bool { return c.Ended })
	}
	for i := range claims {
		c := &claims[i]
		switch {
		case past:
			c.Dated = true
		case passing && strings.Contains(c.Attribute, "taste of "):
			c.Narrow = true
		case shop && c.Attribute == "one rent":
			c.Changed, c.Several = false, true
		case part && strings.HasPrefix(c.Attribute, "count "):
			c.Changed, c.Several = false, true
		case also && c.Attribute == "occupation":
			c.Several = true
		}
	}
	return claims
}

// hasPassingReason reports whether a fact gives a reason for which something is disliked for a time, or a reason that
// is another thing. "Since the flu" is a beginning.
func hasPassingReason(all english.Words) bool {
	passes := false
	for i, w := range all {
		k := i - 1
		if all.At(k) == "feel" {
			k--
		}
		sickens := all.At(k) == "me" && (all.At(k-1) == "make" || all.At(k-1) == "makes") // "makes me feel sick"
		passes = passes || passingReasons.Has(w.Text) && !sickens
	}
	return passes && !all.Has("since") || forOwnReason(all)
}

// landlordsRent is claims with the rent of the speaker's landlord as the speaker's: "my landlord put the rent up to
// 900". That of "my mom's landlord" is neither's.
func landlordsRent(claims []Claim, all english.Words) []Claim {
	at := slices.IndexFunc(all, func(w english.Word) bool {
		return w.Text == "landlord" || w.Text == "landlady"
	})
	if at < 1 {
		return claims
	}
	theirs := !inAny(all[at-1].Text, english.Articles, speakersOwn)
	claims = slices.DeleteFunc(claims, func(c Claim) bool {
		return theirs && strings.HasSuffix(c.Attribute, "one rent")
	})
	for i := range claims {
		if claims[i].Attribute == all[at].Text+" one rent" {
			claims[i].Attribute = "one rent"
		}
	}
	return claims
}

// endsNothing reports whether the words of a fact take back or bound what its verb would end.
func endsNothing(ws english.Words) bool { return forPurpose(ws) || takenUpAgain(ws) || tellsYouth(ws) }

// forPurpose reports whether a fact tells of a change for one thing alone: "swapped my lenses for glasses for the
// flight". A swap names by its first "for" what was taken instead, and a cause, such as health, bounds nothing.
func forPurpose(ws english.Words) bool {
	at := slices.IndexFunc(ws, func(w english.Word) bool { return replacing.Has(w.Text) })
	if at < 0 {
		return false
	}
	swap := ws[at].Text != "switched" && ws[at].Text != "replaced" && ws[at].Text != "changed"
	for i := at + 1; i+2 < len(ws); i++ {
		if ws[i].Text != "for" {
			continue
		}
		if swap {
			swap = false
			continue
		}
		if inAny(ws[i+1].Text, english.Articles, english.Deictic) && !ws[i+2:min(len(ws), i+5)].Any(lastingCauses) {
			return true
		}
	}
	return false
}

// takenUpAgain reports whether a fact tells that something was given up and begun again: "quit when Ada was born and
// started again". "Moved back to Oslo" leads elsewhere.
func takenUpAgain(ws english.Words) bool {
	for i := 2; i < len(ws); i++ {
		w, before := ws[i].Text, ws[i-1].Text
		switch {
		case links.Has(before) && (w == "resumed" || w == "restarted"),
			w == "again" && (before == "started" || before == "began" || before == "up"),
			w == "back" && (before == "came" || before == "went") && ws.At(i+1) != "to" && ws.At(i+1) != "home":
			return true
		}
	}
	return false
}

// besides reports whether a fact says that something holds beside what held before: "I work as a translator too".
func besides(ws english.Words) bool {
	for i, w := range ws {
		ends := i+1 == len(ws) || w.Stop != 0 || links.Has(ws[i+1].Text)
		if w.Text == "also" || w.Text == "too" && ends || w.Text == "as" && ws.At(i+1) == "well" {
			return true
		}
	}
	return false
}

// countsPart reports whether a number of things that somebody has is that of a place or a time: "only one kid at home",
// "this weekend we have only two kids".
func countsPart(ws english.Words) bool {
	for i, w := range ws {
		next := ws.At(i + 1)
		if w.Text == "at" && (next == "home" || next == "school") || w.Text == "in" && next == "school" ||
			w.Text == "this" && ws.At(i-1) != "since" && inAny(next, english.Periods, english.DateWords, bounds) {
			return ws.Has("have")
		}
	}
	return false
}

// tellsYouth reports whether a fact tells of a time years ago: "years ago", "as a teenager", "twice in my life".
func tellsYouth(ws english.Words) bool {
	for i, w := range ws {
		switch w.Text {
		case "years", "decades":
			if ws.At(i+1) == "ago" {
				return true
			}
		case "as", "in":
			if ws.At(i+1) == "a" && youngPeople.Has(ws.At(i+2)) || ws[i:].StartWith("in", "my", "life") {
				return true
			}
		}
	}
	return false
}

// ofThingMoved reports whether a home is rather where a thing was moved to, or a second one: "we moved the company to
// Dublin", "have a second flat in Rome".
func ofThingMoved(ws english.Words) bool {
	if ws.Has("second") || ws.Has("another") || ws.Has("holiday") {
		return true
	}
	if verb := ws[0].Text; !strings.HasPrefix(verb, "mov") && !strings.HasPrefix(verb, "relocat") {
		return false
	}
	for i := 1; i < len(ws) && ws[i].Text != "to" && ws[i].Text != "into" && ws[i].Text != "in"; i++ {
		w := ws[i].Text
		if english.Articles.Has(w) || possessives.Has(w) || relation(singular(w)) != "" || kin.Has(w) {
			return true // "moved grandma to Zurich"
		}
	}
	return false
}

// onlyTime reports whether nothing but a time follows a statement up to its mark: "now", "these days", "since May".
func onlyTime(ws english.Words) bool {
	for i, w := range ws {
		if i > 0 && stopsClause(ws[i-1].Stop) {
			break
		}
		if w.Text == "instead" && ws.At(i+1) == "of" {
			return !goesOnFor(ws[i+2:]) // "instead of Firefox for banking"
		}
		if !inAny(w.Text, changeWords, timeFillers, english.Adverbs, english.Articles) &&
			!inAny(w.Text, english.DateWords, english.Periods, dayParts) && !english.StartsWithDigit(w.Text) {
			return false
		}
	}
	return true
}

// ofOtherRoom reports whether a fact names what a rent is for, and that is no dwelling: "rent for my shop".
func ofOtherRoom(ws english.Words) bool {
	for i := 1; i+2 < len(ws); i++ {
		if w := ws[i].Text; (w == "for" || w == "of") && ws[i-1].Text == "rent" &&
			(possessives.Has(ws[i+1].Text) || english.Articles.Has(ws[i+1].Text)) && !dwellings.Has(ws[i+2].Text) {
			return true
		}
	}
	return false
}

// usual reports whether ws begins with how often somebody takes a way to work, which does not bound it: "every
// morning".
func (f *frame) usual(ws english.Words) bool {
	return strings.HasPrefix(f.attribute, "commute") && eachTime(ws)
}

// forNow reports whether the word at i bounds a state: "this week", "in winter", "for now". A house that is rented "to
// tourists" is no home.
func (f *frame) forNow(rest english.Words, i int) bool {
	next := rest.At(i + 1)
	switch w := rest[i].Text; w {
	case "this":
		return english.Periods.Has(next)
	case "today":
		return true
	case "in":
		return seasons.Has(next)
	case "for":
		return next == "now"
	case "to":
		return i == 0 && f.attribute == "home"
	default:
		return bounds.Has(w)
	}
}

// eachTime reports whether ws begins with how often something is done: "every morning", "most days".
func eachTime(ws english.Words) bool {
	first, next := ws.At(0), singular(ws.At(1))
	return (first == "every" || first == "each" || first == "most") && inAny(next, english.Periods, dayParts)
}

// forOthers reports whether ws, behind "for", names somebody else or a month: "my daughter", "January".
func forOthers(ws english.Words) bool {
	switch ws.At(0) {
	case "my", "our", "his", "her", "their", "a", "the":
		return relation(singular(ws.At(1))) != "" || kin.Has(singular(ws.At(1)))
	}
	return english.DateWords.Has(ws.At(0))
}

// plainLoss reports whether a fact tells of weight lost or put on, and of nothing more in rest: "lost 5 kilos, then
// gained them back", "since 2020" and "every Christmas" leave the weight of now open.
func plainLoss(fact, rest english.Words) bool {
	alone := len(rest) == 0 || rest[0].Text == "lately" || rest[0].Text == "recently"
	return alone && fact.At(0) == "i" && len(fact) <= maxLoss && !fact.Has("since")
}

const maxLoss = 7 // words: "I have put on 4 kilos lately"
