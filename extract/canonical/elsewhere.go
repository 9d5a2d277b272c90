package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// What stands around a change may make it one of a part, of another thing or of a time that passes: "gray at the
// temples", "day shifts for Tom", "started third grade piano". Such a change ends nothing.

var (
	onlyFor       = frameTables.Words("only-for")
	notYetJobs    = frameTables.Words("not-yet-jobs")
	pastimeGroups = frameTables.Words("pastime-groups")
)

// holdsElsewhere reports whether the words around a frame, which matched ws[from:to], bound it so.
func (c *claim) holdsElsewhere(f *frame, ws english.Words, from, to int) bool {
	rest := ws[to:]
	if stopsClause(ws[to-1].Stop) {
		rest = nil
	}
	switch first, _, _ := strings.Cut(f.attribute, " "); first {
	case "employer":
		// "Let me go to the funeral", "have a job interview at Acme".
		return f.ended && ws[from].Text == "let" && rest.At(0) == "to" ||
			!f.event && ws[from:to].Any(notYetJobs)
	case "one", "occupation":
		// "My club promoted me to treasurer", "promoted to head chef for the festival".
		forOnce := rest.At(0) == "for" && english.Articles.Has(rest.At(1))
		title := f.attribute == "one job title" || first == "occupation"
		return f.event && title && (forOnce || c.fact.Any(pastimeGroups))
	case "home", "dwelling":
		return c.otherHome(f, ws, from, rest)
	case "hair", "shifts":
		return ws[to-1].Text == "these" && rest.At(0) != "days" || forOccasion(rest)
	case "birth":
		return forOccasion(rest) && !c.capital(rest[1])
	case "grade":
		return len(rest) > 0 && goesOn(ws[:to], rest) && !changeWords.Has(rest[0].Text) // "third grade piano"
	case "employment":
		// "A job I'd love to have", "a job but they turned me down".
		return f.event && (c.fact.Has("but") || c.fact.Has("would") || pointsBack(rest.At(0)))
	case "count":
		return f.event && f.value != "" && !onlyTime(rest) && !onlyOf(rest, keptBy) // "down to one bike for the race"
	}
	return false
}

// otherHome reports whether the words behind a home or a dwelling tell that it is none of the speaker's: "rent a room
// in Leeds for my son".
func (c *claim) otherHome(f *frame, ws english.Words, from int, rest english.Words) bool {
	if f.attribute == "home" {
		next := rest.At(1)
		return rest.At(0) == "for" && (possessives.Has(next) || english.Articles.Has(next) || next == "work")
	}
	return f.event && c.ofAnotherHouse() || notHome(ws, from, rest)
}

// pointsBack reports whether a word behind a thing begins words that are of it: "a job I would love".
func pointsBack(w string) bool { return w == "that" || english.Pronouns.Has(w) }

// ofAnotherHouse reports whether a thing of the speaker's has moved, and not its owner: "my office moved into a flat",
// "ugh, my office moved".
func (c *claim) ofAnotherHouse() bool {
	for i := range min(len(c.fact), 6) {
		w, thing := c.fact[i].Text, c.fact.At(i+1)
		if (w == "my" || w == "our") && relation(thing) == "" && !household(thing) &&
			(i == 0 || stopsClause(c.fact[i-1].Stop)) {
			return true
		}
	}
	return false
}

// notHome reports whether the words around a dwelling, which begins at from, make it none of the speaker's: "the office
// moved into a flat", "a house with twelve flats", "in the summer".
func notHome(ws english.Words, from int, rest english.Words) bool {
	if b := ws.At(from - 1); from > 0 && !inAny(b, ladder, frontAdverbs, english.Adverbs, english.Auxiliaries) &&
		!inAny(b, links, changeWords, english.DateWords) && !stopsClause(ws[from-1].Stop) {
		return true
	}
	for i, w := range rest {
		next := rest.At(i + 1)
		if dwellings.Has(singular(w.Text)) || w.Text == "in" && next == "the" && seasons.Has(rest.At(i+2)) {
			return true
		}
	}
	return false
}

// goesOnFor reports whether a thing that ws begins with goes on with what it is for: "Firefox for banking".
func goesOnFor(ws english.Words) bool {
	for i := 1; i < min(len(ws), maxSlotWords) && !stopsClause(ws[i-1].Stop); i++ {
		if forOccasion(ws[i:]) {
			return true
		}
	}
	return false
}

// forOccasion reports whether ws names a part, an occasion or a time that passes: "at the temples", "for the carnival",
// "on Mondays", "this week". The day of a change is none.
func forOccasion(ws english.Words) bool {
	if len(ws) < 2 {
		return false
	}
	next := ws[1].Text
	dated := inAny(next, english.DateWords, changeWords) && singular(next) == next || english.StartsWithDigit(next) ||
		monthNumbers.Of(next) != "" || next == "last"
	return onlyFor.Has(ws[0].Text) && !dated || ws[0].Text == "these" ||
		ws[0].Text == "this" && english.Periods.Has(next)
}
