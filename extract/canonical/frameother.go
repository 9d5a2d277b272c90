package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A frame finds a verb and its things, and the same words may be said of another thing than the speaker's own, or of
// one of several. What is read so would end what still holds, so it is left out.

// ofOther reports whether what a frame matched is of another home, work or thing than the speaker's own: "moved the
// piano to Rome", "got a weekend job at Bosch", "raised the rent of the neighbors".
func (f *frame) ofOther(s slots, ws english.Words) bool {
	if f.attribute == "home" {
		return ofThingMoved(ws)
	}
	if f.attribute == "employer" && ws.Any(sideJobs) {
		return true
	}
	if len(s["other"]) > 0 && movesThing(ws) {
		return true
	}
	if !strings.HasPrefix(f.attribute, "dose of ") || len(s["thing"]) == 0 || !ws.Has("of") {
		return false
	}
	_, one := singles[s["thing"][0]]
	return one
}

// movesThing reports whether a thing of the speaker's stands before what it was changed from: "moved our house
// insurance from Allianz to Axa" leaves the car's. A choice knows what it is for.
func movesThing(ws english.Words) bool {
	for i := 1; i < len(ws) && ws[i].Text != "from"; i++ {
		if (possessives.Has(ws[i].Text) || english.Articles.Has(ws[i].Text)) && ws.Has("from") {
			return true
		}
	}
	return false
}

// forOneThing reports whether a change goes on with what it is for: "instead of spelt flour for the pizza", "instead of
// Zoom with clients".
func forOneThing(rest english.Words) bool {
	return forOccasion(rest) && !namesSpan(rest[1:])
}

// happenedOnce reports whether one thing was done instead of another and may not be again: "took the bus instead of my
// bike". A choice, or a word such as "now", lasts.
func (c *claim) happenedOnce(lemma string, ws english.Words) bool {
	return (ws.Has("instead") || ws.Has("rather")) && !choosing.Has(lemma) &&
		!c.fact.Has("now") && !c.fact.Has("nowadays") && !changeMarks.Found(c.fact)
}

var choosing = frameTables.Words("choosing")

// inAnyClause are the claims of readers that look for a subject of their own.
func (c *claim) inAnyClause(all, ws english.Words) []Claim {
	out := append(c.choices(ws), c.left(ws)...)
	if ws.At(0) == "if" {
		return out
	}
	return slices.Concat(out, c.former(ws), c.counted(ws), countNow(all, ws), c.states(ws), c.household(ws),
		c.noMore(ws), c.leaves(ws), lacks(ws), gains(ws), born(ws),
		groupSize(ws, c.changed), c.keptAt(ws), c.ways(ws))
}

// takesName reports whether a frame tells of the name of somebody else that the speaker takes.
func (f *frame) takesName() bool {
	return f.ended && strings.HasSuffix(f.attribute, "name") && slices.Contains(f.tokens[0].words, "take")
}

// bindsTo reports whether a status goes on with a thing: "married to Ann" and "engaged in May" do not, but "married to
// my job" does.
func (c *claim) bindsTo(rest english.Words) bool {
	somebody := rest.At(0) == "to" && (rest.At(1) == "a" || rest.At(1) == "an") // "married to a trombone player"
	for _, w := range rest[:min(len(rest), 6)] {
		if weddingPlaces.Has(w.Text) {
			return false // "married in a little chapel"
		}
	}
	return bindsStatus.Has(rest.At(0)) && !somebody && !beginsDate(rest) &&
		c.firstName(rest[1:min(2, len(rest))]) == "" &&
		!english.DateWords.Has(rest.At(1)) && !english.StartsWithDigit(rest.At(1)) && rest.At(1) != "city"
}

// partsForAWhile reports whether what follows says that a couple parts at a place or for a time alone: "we
// split up at the museum".
func (f *frame) partsForAWhile(rest english.Words) bool {
	next := rest.At(1)
	return f.event && f.closed() && f.attribute != "employer" && bindsCouple.Has(rest.At(0)) &&
		!namesSpan(rest) && !beginsDate(rest) &&
		!english.DateWords.Has(next) && !english.StartsWithDigit(next) && next != "good"
}

// ofOthersAlone reports whether a frame tells nothing of the speaker with this verb and subject: "the landlord sold his
// car", or "I reached 40 on the leaderboard", while of somebody else it is mostly the age.
func (v *verbPhrase) ofOthersAlone(f *frame, lemma string) bool {
	return v.other && !f.ofMine() || lemma == "reach" && v.owner == ""
}

// singleName is the attribute of a thing of which people have one, if another number or day of it is told: "the
// landlord raised the rent", "the midwife changed the due date". A due date without a word of a birth may be a
// library's.
func (c *claim) singleName(before, thing string) string {
	single := singles[thing]
	switch {
	case before == "dose of " && single.kind == "number":
		return single.attribute
	case before == "date of " && thing == "due date" && c.fact.Any(births):
		return dueDate
	}
	return ""
}

// beginsDate reports whether ws begins with a date behind "in" or "on": "in May", "on the 9th".
func beginsDate(ws english.Words) bool {
	w := ws.At(0)
	if feast := ws.At(1); feastLinks.Has(w) && (english.DateWords.Has(feast) || feast == "new" && ws.At(2) == "year") {
		return true // "before New Year", "around Easter"
	}
	if w != "in" && w != "on" || len(ws) < 2 {
		return false
	}
	if ws = ws[1:]; ws[0].Text == "the" && len(ws) > 1 {
		ws = ws[1:]
	}
	w = ws[0].Text
	return inAny(w, english.DateWords, seasons) || monthNumbers.Of(w) != "" || isYear(w) || dayOfMonth(w) != ""
}

// hasBought reports whether "have" is no verb of its own in a frame of a home: "have bought a flat in Rome" does not
// say "have a flat in Rome".
func (f *frame) hasBought(lemma, next string) bool {
	return f.attribute == "home" && lemma == "have" && next != "got" && english.Past(next)
}

// buys reports whether a frame takes the place of what somebody bought for their home.
func (f *frame) buys() bool {
	return f.event && f.attribute == "home" && slices.Contains(f.tokens[0].words, "buy")
}

// ownerOf is whose attribute a frame tells of. A doctor sets the dose of the speaker: "my doctor put the sertraline up
// to 75 mg".
func (f *frame) ownerOf(v *verbPhrase) owner {
	movesIn := f.attribute == "living" && f.ended // "my boyfriend moved in with me"
	if movesIn || strings.HasPrefix(f.attribute, "dose of ") && officials.Has(string(v.owner)) {
		return ""
	}
	return v.owner
}

// tellsOne reports whether a frame tells that one of several is left: "down to one car".
func (f *frame) tellsOne(before string) bool { return f.event && f.value != "" && before == "count " }

// takesPlace reports whether a state that is told as a new one takes the place of another one, as people have one way
// to work, and mostly one bank and one occupation: "these days I cycle to the office". Who does some field of work now
// may do it beside.
func (f *frame) takesPlace() bool {
	first, _, _ := strings.Cut(f.attribute, " ")
	work := f.attribute == "one boss" || f.attribute == "occupation" && !slices.Contains(f.tokens[0].words, "do")
	return work || onlyOne.Has(first)
}

// daysAhead reports whether what follows a statement in the present is a day, so that it tells what will be.
func daysAhead(rest english.Words) bool {
	day := rest.At(0)
	if day == "on" || day == "next" {
		day = rest.At(1)
	}
	return day == "tomorrow" || english.DateWords.Has(day) && strings.HasSuffix(day, "day") && day != "today" &&
		day != "yesterday"
}
