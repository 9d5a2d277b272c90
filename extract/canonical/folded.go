package canonical

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Before a fact is read, its words are folded where one meaning has several forms, so that each reader needs to know
// one of them.

var (
	numberWords = tables.Variants("number-ordinals")
	familyWords = tables.Words("family-words")
	forcedVerbs = tables.Variants("forced-verbs")
	appointing  = tables.Words("appointing")
	attempts    = tables.Words("attempts")
	ourWords    = tables.Words("our-words")
	agePeriods  = tables.Words("age-periods")
	fanDegrees  = tables.Words("fan-degrees")
	ownBeings   = tables.Words("own-beings")
	nearly      = tables.Words("nearly")
	worn        = tables.Phrases("worn")
	inChats     = tables.Phrases("in-chats")
	monthParts  = tables.Words("month-parts")
)

// folded is ws, the words of a fact, with these forms in the place of others:
//
//   - "5th birthday" for "fifth birthday", "turned 1" for "turned one".
//   - "we" for "our family", "we all" and "we both", and "we are down to" for "it is down to".
//   - "our dog" for "the dog", whose age is told.
//   - "moved" for "had to move".
//   - "and I love it now" for "and now I love it".
//   - "my boss is Ann" for "Ann is my boss".
//   - "before Christmas" for "just before Christmas", and "the big 60" for "the big six-oh".
//   - "passed the test" for "passed the test on the first try", and "call me Ann" for "call me Ann in our chats".
//   - "my band is called Moss now" for "my band's new name is Moss".
//   - "my favorite color is green now" for "my favorite color these days is green".
//
// A word that moves has no bytes of its own in the text, so that those of all words stay in order.
func folded(ws english.Words) english.Words {
	ws = withTimeLast(withPostFirst(renamed(ws)))
	if ws.StartWith("our", "whole", "family") || ws.StartWith("our", "entire", "family") {
		ws = append(ws[:1:1], ws[2:]...)
	}
	out := make(english.Words, 0, len(ws))
	for i := 0; i < len(ws); i++ {
		if end := clauseOfNow(ws, i); end > 0 {
			out = append(append(out, ws[i]), ws[i+2:end]...)
			now, last := ws[i+1], len(out)-1
			now.Start, now.End = out[last].End, out[last].End
			now.Stop, out[last].Stop = out[last].Stop, 0
			return append(append(out, now), folded(ws[end:])...)
		}
		if n := idle(ws, i); n > 0 {
			if stop := ws[i+n-1].Stop; stop != 0 && len(out) > 0 {
				out[len(out)-1].Stop = stop
			}
			i += n - 1
			continue
		}
		w, n := foldedAt(ws, i)
		out = append(out, w)
		i += n - 1
	}
	return out
}

// idle is the number of words at ws[i] that change nothing of what is said: "all" of "we all live in Porto", "city
// center" of "in Dublin city center", "on the first try".
func idle(ws english.Words, i int) int {
	if n := max(idleBehind(ws, i), wornName(ws, i)); n > 0 {
		return n
	}
	next := ws.At(i + 1)
	switch w := ws[i].Text; {
	case (w == "all" || w == "both") && ws.At(i-1) == "we" && verbFollows(ws[i+1:]),
		fanDegrees.Has(w) && (next == "fan" || next == "lover"):
		return 1
	case i > 2 && (w == "completely" || w == "entirely" || w == "altogether") &&
		(next == "on" || next == "after" || next == "and" || next == ""):
		return 1
	case i > 1 && nearly.Has(w) && (next == "before" || next == "after"):
		return 1
	case i > 0 && isYear(w) && english.Articles.Has(ws[i-1].Text) && i+1 < len(ws) && ws[i+1].Upper: // "a 2012 Civic"
		return 1
	case w == "city" && next == "center" && i > 0 && ws[i-1].Upper:
		return 2
	}
	return 0
}

// idleBehind is idle of words that stand behind a statement.
func idleBehind(ws english.Words, i int) int {
	switch w, next := ws[i].Text, ws.At(i+1); {
	case i < 3:
		return 0
	case tellsAttempt(ws[i:]):
		return 4
	case next == "included" && i+2 == len(ws) && ws[i-1].Stop == ',': // "1,400 a month, heating included"
		return 2
	case w == "more" && next == "or" && ws.At(i+2) == "less" && (i+3 == len(ws) || ws[i+2].Stop != 0):
		return 3
	case ws[:i].Has("me"):
		return inChats.Match(ws, i)
	}
	return 0
}

// wornName is the number of words at i that say how old or used a thing is before its name: "a battered Pixel 6".
func wornName(ws english.Words, i int) int {
	if i == 0 || !english.Articles.Has(ws[i-1].Text) {
		return 0
	}
	n := worn.Match(ws, i)
	if i+n >= len(ws) || !ws[i+n].Upper {
		return 0
	}
	return n
}

// foldedAt is the word in whose form the n words at ws[i] are read.
func foldedAt(ws english.Words, i int) (w english.Word, n int) {
	if w, n = foldedTime(ws, i); n > 0 {
		return w, n
	}
	w, n = ws[i], 1
	next, past := ws.At(i+1), pastOf(ws.At(i+2))
	front := i == 0 || english.Periods.Has(singular(ws[i-1].Text)) // "for six years our family has lived in Galway"
	switch {
	case numberWords.Of(w.Text) != "" && ofBirthday(ws, i):
		w.Text = numberWords.Of(w.Text) + "th"
	case ws.At(i-1) == "big" && next == "oh" && isNumber(w.Text) && len(w.Text) == 1:
		w.Text, w.End, w.Stop, n = w.Text+"0", ws[i+1].End, ws[i+1].Stop, 2
	case w.Text == "one" && ws.At(i-1) == "turned":
		w.Text = "1"
	case front && w.Text == "our" && familyWords.Has(next) && ws[i+1].Stop == 0 && verbFollows(ws[i+2:]):
		w.Text, w.End, n = "we", ws[i+1].End, 2
	case i == 0 && w.Text == "the" && ownBeings.Has(next) && tellsAge(ws):
		w.Text = "our"
	case lacksAny(ws[i:]):
		ws[i+2].Text = "have"
		if w.Text = "do"; ws[i].Text == "has" {
			w.Text = "does"
		}
	case w.Text == "had" && next == "to" && past != "":
		w, n = ws[i+2], 3
		w.Text = past
	case w.Text == "it" && isBe(next) && ws.At(i+2) == "down" && ws.At(i+3) == "to" && ws[:i].Any(ourWords):
		w.Text, ws[i+1].Text = "we", "are"
	}
	return w, n
}

// lacksAny reports whether ws begins with "have not got any" and the one word of what somebody lacks altogether. "I
// haven't got any cash on me" is of where they are.
func lacksAny(ws english.Words) bool {
	return (ws.StartWith("have", "not", "got", "any") || ws.StartWith("has", "not", "got", "any")) &&
		(len(ws) < 6 || ws[4].Stop != 0)
}

// foldedTime is foldedAt for several words as one, most of them of time; n is 0 where there are none.
func foldedTime(ws english.Words, i int) (w english.Word, n int) {
	w = ws[i]
	next := ws.At(i + 1)
	switch {
	case w.Text == "these" && next == "days" && isNumber(ws.At(i-1)), // "he is 90 these days"
		w.Text == "for" && next == "now" && ws[:i].Has("based"):
		w.Text, n = "now", 2
	case w.Text == "instead" && next == "of" && (insteadOfDay(ws, i) || insteadOfClock(ws, i)):
		w.Text, n = "now", 3
	case w.Text == "new" && next == "year" && (ws.At(i-1) == "at" || ws.At(i-1) == "since") &&
		(i+2 == len(ws) || ws[i+1].Stop != 0 || links.Has(ws[i+2].Text)):
		w.Text, n = "newyear", 2
	case w.Text == "out" && next == "of" && ws.At(i-1) == "based":
		w.Text, n = "in", 2
	case isMonth(ws.At(i+4)) && ws[i:].StartWith("at", "the") && monthParts.Has(ws[i+2].Text) && ws[i+3].Text == "of":
		w.Text, n = "in", 4 // "at the end of March"
	case isMonth(ws.At(i+2)) && next == "in" && (w.Text == "back" || w.Text == "early" || w.Text == "late"):
		w.Text, n = "in", 2
	default:
		return w, 0
	}
	w.End, w.Stop = ws[i+n-1].End, ws[i+n-1].Stop
	return w, n
}

// isMonth reports whether w names a month.
func isMonth(w string) bool { return monthNumbers.Of(w) != "" }

// tellsAge reports whether ws tells the age of its subject: "the dog turned two".
func tellsAge(ws english.Words) bool {
	return ws.At(2) == "turned" || ws.Has("birthday") || ws.Has("old")
}

// insteadOfDay reports whether a day of the week at i takes the place of another: "on Mondays instead of Wednesdays".
func insteadOfDay(ws english.Words, i int) bool {
	day := func(w english.Word) bool { // of each week
		return strings.HasSuffix(w.Text, "days") && english.DateWords.Has(singular(w.Text))
	}
	return i+2 < len(ws) && day(ws[i+2]) && slices.ContainsFunc(ws[max(0, i-3):i], day)
}

// insteadOfClock reports whether a time of day at i takes the place of another: "get up at 6 instead of 7".
func insteadOfClock(ws english.Words, i int) bool {
	if ws[0].Text != "i" && ws[0].Text != "we" || ws.Any(english.DateWords) {
		return false // "on Sunday I get up at 9 instead of 7"
	}
	return i > 1 && ws[i-2].Text == "at" && english.StartsWithDigit(ws[i-1].Text) && english.StartsWithDigit(ws.At(i+2))
}

// pastOf is the past form of the verb w; "" if w is none that is known.
func pastOf(w string) string {
	if forms := irregularForms.For(w); len(forms) > 0 && inflections[w][w]&presentForm != 0 {
		return forms[0]
	}
	return forcedVerbs.Of(w)
}

// withPostFirst is ws with somebody's post before the name: "my boss is Ann" for "Ann is my boss". Of relatives both
// orders are known.
func withPostFirst(ws english.Words) english.Words {
	is := 1
	for is < min(len(ws), 3) && ws[is].Upper {
		is++
	}
	post := is + 2
	if post >= len(ws) || !ws[0].Upper || ws[is].Text != "is" || ws[is+1].Text != "my" ||
		!officials.Has(ws[post].Text) ||
		post+1 < len(ws) && ws[post].Stop == 0 && !links.Has(ws[post+1].Text) && ws[post+1].Text != "at" &&
			!(ws[post+1].Text == "now" && (post+2 == len(ws) || ws[post+1].Stop != 0)) {
		return ws
	}
	name := slices.Clone(ws[:is])
	name[is-1].Stop = ws[post].Stop
	front := english.Words{ws[is+1], ws[post], ws[is]}
	for i := range front {
		front[i].Start, front[i].End, front[i].Stop = ws[0].Start, ws[0].Start, 0
	}
	return slices.Concat(front, name, ws[post+1:])
}

// renamed is ws with a new name of a thing as what it is called: "my band is called Moss now" for "my band's new name
// is Moss".
func renamed(ws english.Words) english.Words {
	if w := ws.At(0); w != "my" && w != "our" && w != "the" {
		return ws
	}
	for i := 1; i+4 < min(len(ws), maxFolded); i++ {
		noun, owns := strings.CutSuffix(ws[i].Text, "'s")
		if !owns || !ws[i+1:].StartWith("new", "name", "is") || !ws[i+4].Upper {
			continue
		}
		out := slices.Clone(ws)
		out[i].Text, out[i+1].Text, out[i+2].Text = noun, "is", "called"
		out = slices.Delete(out, i+3, i+4)
		// A name may have several words, and nothing may follow it.
		end := i + 3
		for end+1 < len(out) && out[end].Stop == 0 && out[end+1].Upper {
			end++
		}
		if end+1 < len(out) && out[end].Stop == 0 {
			return ws // "my band's new name is Moss in France"
		}
		now := english.Word{Text: "now", Start: out[end].End, End: out[end].End, Stop: out[end].Stop}
		out[end].Stop = 0
		return slices.Insert(out, end+1, now)
	}
	return ws
}

// withTimeLast is ws, which begins with a thing of the speaker's, with the word behind the value that tells that it has
// it now: "my favorite color is green now" for "my favorite color these days is green".
func withTimeLast(ws english.Words) english.Words {
	if w := ws.At(0); w != "my" && w != "our" {
		return ws
	}
	for i := 2; i+2 < min(len(ws), maxFolded); i++ {
		n := 1
		if ws[i].Text == "these" && ws[i+1].Text == "days" {
			n = 2
		} else if ws[i].Text != "nowadays" && ws[i].Text != "currently" {
			continue
		}
		if w := ws.At(i + n); w != "is" && w != "are" {
			return ws
		}
		// The clause ends at a mark or at a word that joins the next one.
		end := i + n + 1
		for end < len(ws) && !stopsClause(ws[end-1].Stop) && !links.Has(ws[end].Text) {
			end++
		}
		out := slices.Concat(ws[:i], ws[i+n:end])
		last := len(out) - 1
		now := english.Word{Text: "now", Start: out[last].End, End: out[last].End, Stop: out[last].Stop}
		out[last].Stop = 0
		return append(append(out, now), ws[end:]...)
	}
	return ws
}

// maxFolded bounds the words that are looked at for a new name, or for a time behind a thing.
const maxFolded = 8

// clauseOfNow is where the clause ends that begins with "and now I" at i; 0 if none does.
func clauseOfNow(ws english.Words, i int) int {
	next := ws.At(i + 2)
	if !links.Has(ws[i].Text) || ws.At(i+1) != "now" || next != "i" && next != "we" && next != "my" {
		return 0
	}
	end := i + 3
	for end < len(ws) && !stopsClause(ws[end-1].Stop) && !links.Has(ws[end].Text) {
		end++
	}
	return end
}

// tellsAttempt reports whether ws begins like "on the first try".
func tellsAttempt(ws english.Words) bool {
	return (ws.At(0) == "on" || ws.At(0) == "at") && ws.At(1) == "the" && ordinals.Of(ws.At(2)) != "" &&
		attempts.Has(ws.At(3))
}

// ofBirthday reports whether the ordinal at i is one of a birthday: "his fifth birthday", "grandma's ninetieth".
func ofBirthday(ws english.Words, i int) bool {
	before := ws.At(i - 1)
	return strings.HasPrefix(ws.At(i+1), "birthday") ||
		ws.Any(celebrating) && (strings.HasSuffix(before, "'s") || isBe(before))
}

// verbFollows reports whether a verb stands behind a subject.
func verbFollows(ws english.Words) bool {
	for i := range ws[:min(len(ws), 3)] {
		if w := ws[i].Text; english.Auxiliaries.Has(w) || english.Past(w) || thirdPerson(w) {
			return true
		} else if !english.Adverbs.Has(w) && !frontAdverbs.Has(w) && !changeWords.Has(w) {
			return false
		}
	}
	return false
}

// monthsOld is the age "11 months" of ws, as it is told of those who are not yet a year or two old; "" if it is none.
func monthsOld(ws english.Words) string {
	if len(ws) != 3 && !(len(ws) == 4 && ws[3].Text == "now") || ws[2].Text != "old" || !agePeriods.Has(ws[1].Text) {
		return ""
	}
	if _, err := strconv.Atoi(ws[0].Text); err != nil {
		return ""
	}
	return ws[0].Text + " " + ws[1].Text
}
