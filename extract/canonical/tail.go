package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People add anything behind a statement: "I weigh 86 kilos this morning, after five months of the plan". The
// readers of statements know some of these forms. So a fact of which they make nothing is read without them.
//
// A tail is left out only where nothing else is lost: the readers have found no firm claim in the whole, and the words
// left out neither bound the statement ("only on Sundays") nor make it doubtful ("I think"). The longest beginning
// comes first, so that as little as possible is left out.

// withoutTails are the claims and themes of the statement before a mark in a fact of which claims, none of them firm,
// are all that was read. What is behind the mark must not bound the statement or deny it: "I might be in Porto, if it
// works out".
func withoutTails(fact string, claims []Claim, themes []theme) ([]Claim, []theme) {
	if strings.Contains(fact, "?") || firm(claims) {
		return claims, themes
	}
	ws := english.Lex(fact)
	if len(ws) > english.MaxSentenceWords || !beginsStatement(ws) {
		return claims, themes
	}
	// Of two people, a participle tells what they are at: "Ana and I are together, waiting for the bus".
	pair := ws.At(1) == "and"
	readings := 0
	for i := min(len(ws)-2, maxTailStart); i >= minStatement && readings < maxTails; i-- {
		end := min(ws[i].End, ws[i+1].Start) // the words of "I'm" share their bytes
		mark := strings.IndexAny(fact[end:ws[i+1].Start], ",;–—")
		// A mark may begin a tail, and so may "and" where a verb without a subject follows.
		switch {
		case mark >= 0 && isTail(ws[i+1:]) && !(pair && endsInIng(ws[i+1].Text)):
			end += mark // behind a bracket, as of a date
		case mark < 0 && beginsOwnClause(ws[i+1:]) && isTail(ws[i+2:]):
		case mark < 0 && ws[i+1].Text == "that" && ws.At(i+2) == "i" && ws[i].Upper: // "a MacBook that I bought used"
		case mark < 0 && beginsPurpose(ws[i+1:]) && english.AgentVerbs.Has(firstOfOrder(ws)):
		default:
			continue
		}
		readings++
		again, told, _ := wholeClaims(fact[:end])
		if firm(again) {
			return again, told
		}
	}
	return claims, themes
}

const (
	minStatement = 1  // the least index of the last word of a statement: "I vape"
	maxTailStart = 30 // words of a fact behind which no tail is looked for
	maxTails     = 4  // readings of one fact, each without another tail
)

// firm reports whether one of claims may end another.
func firm(claims []Claim) bool {
	for _, c := range claims {
		if !c.Loose {
			return true
		}
	}
	return false
}

// beginsStatement reports whether a fact begins with the subject of a statement of the speaker's or theirs, or with the
// verb of an order. "When I lived in Porto, I had a cat" begins with a time.
func beginsStatement(ws english.Words) bool {
	switch ws.At(0) {
	case "i", "we", "my", "our", "please", "always", "never", "let":
		return true
	}
	if english.AgentVerbs.Has(ws.At(0)) || ws.StartWith("do", "not") {
		return true
	}
	return len(ws) > 2 && ws[0].Upper && (personVerbs.Has(ws[1].Text) || ws[1].Text == "and" && ws[2].Text == "i")
}

// beginsOwnClause reports whether ws is "and" or "so" with a verb behind it that the readers of statements do not look
// for, or somebody else: "and need to varnish it", "so that is that", "and they raised the fee".
func beginsOwnClause(ws english.Words) bool {
	if len(ws) < 3 || ws[0].Text != "and" && ws[0].Text != "so" {
		return false
	}
	w := ws[1].Text
	if w == "they" || w == "it" || w == "she" || w == "he" || w == "the" && len(ws) > 3 {
		return true // "I bank with Santander and they raised the fee"
	}
	// "I take the bus and complain about it every evening"
	about := ws[2:min(len(ws), 2+maxLeaning)]
	if ws[0].Text == "and" && ownVerbs.Has(strings.TrimSuffix(w, "s")) && (about.Has("it") || about.Has("them")) {
		return true
	}
	if ws[0].Text == "and" && (inAny(w, english.Moods, english.Evaluative) || endsInIng(w) || ws.At(2) == "as") {
		return true // "I am 69 and fit as a fiddle", "I'm single and enjoying it"
	}
	return inAny(w, english.Auxiliaries, english.Modals, wantingVerbs) || english.Deictic.Has(w) && isBe(ws[2].Text)
}

// firstOfOrder is the first word of an order behind "please", "always" and "do not".
func firstOfOrder(ws english.Words) string {
	i := 0
	for w := ws.At(i); w == "please" || w == "always" || w == "never" || w == "do" || w == "not"; w = ws.At(i) {
		i++
	}
	return ws.At(i)
}

// beginsPurpose reports whether ws says what an order is for, or that it is about the answers, which all orders are:
// "so that I can practise", "because I'm learning", "when writing to me".
func beginsPurpose(ws english.Words) bool {
	next := ws.At(1)
	switch ws.At(0) {
	case "so":
		return next == "that" || next == "i" || next == "we"
	case "because":
		return next == "i" || next == "we" || next == "my" || next == "it"
	case "when":
		return answering.Has(english.Infinitive(next)) && (ws.At(2) == "me" || ws.At(3) == "me")
	}
	return false
}

// A reason bounds nothing that is over: "sold the car because of my back", "gave up beer after years of headaches". It
// may bound what goes on: "I cycle because of my back". A time bounds both, as it may be long past: "moved to Rome when
// my father was posted there", "gave up coffee when my wife was pregnant".

// isReason reports whether ws tells why that happened which is said before it. Who "stopped running because of a
// stitch" or "left Cork after a big breakfast" may run and live there still.
func isReason(before, ws english.Words) bool {
	if len(ws) < 3 || !hasHappened(before) {
		return false
	}
	if ws[0].Text == "without" {
		return before.Any(departing) && !possessives.Has(ws[1].Text) && ws.Any(unplanned) // "without a plan"
	}
	if before.Any(pausing) {
		return false
	}
	// "Sold the bike after that scare". Who gave up coffee "after dinner" may drink it at breakfast.
	if w := ws[0].Text; (w == "after" || w == "since") && !ws.Any(recurring) && !slices.ContainsFunc(ws, ofTime) &&
		(definitive.Found(before) || ws[1].Text == "that") {
		return true
	}
	switch ws[0].Text {
	case "after":
		span := english.StartsWithDigit(ws[1].Text) && english.Periods.Has(singular(ws[2].Text)) // "after 2 months"
		once := afterwards.Has(ws[1].Text) || span || endsInIng(ws[1].Text) && len(ws) > 2       // "after leaving Acme"
		reason := ws[1:min(len(ws), maxReason)]
		return once && !reason.Any(recurring) || reason.Any(turningPoint)
	case "because", "following":
		return true
	case "on": // "on my doctor's orders"
		return ws[:min(len(ws), maxReason)].Has("orders")
	case "with": // "with the help of patches"
		return ws[1].Text == "help" || ws.At(2) == "help"
	}
	return false
}

// ofTime reports whether a word may tell when something was: "twenty years ago", "in 2005", "after 3 pm".
func ofTime(w english.Word) bool {
	return w.Text == "in" || english.Periods.Has(singular(w.Text)) || english.DateWords.Has(w.Text) ||
		english.StartsWithDigit(w.Text) || isNumber(w.Text)
}

var (
	reasonStarts = tables.Words("reason-starts")
	afterwards   = tables.Words("afterwards")
	departing    = tables.Words("departing")
	unplanned    = tables.Words("unplanned")
	turningPoint = tables.Words("turning-points")
	pausing      = tables.Words("pausing")
	ownVerbs     = tables.Words("own-verbs")
	definitive   = tables.Phrases("definitive")
)

// maxReason bounds the words up to the noun of what was before.
const maxReason = 6

// hasHappened reports whether a statement tells of an event, or that something is so no longer.
func hasHappened(ws english.Words) bool {
	at := 1
	for at+1 < len(ws) && (inAny(ws[at].Text, frontAdverbs, english.Adverbs) || ws[at].Text == "have") {
		at++
	}
	return english.Past(ws.At(at)) || pastBe.Has(ws.At(at)) && english.Past(ws.At(at+1)) ||
		ws.Any(anymoreWords) || ws.Has("longer") || ws.Has("done") || ws.Has("down") && ws.Has("to")
}

// The readers of statements take a reason behind a statement for a bound of it. So a reason is left out before any of
// them reads the fact. A tail is left out only if they found nothing.

// withoutReason is a fact up to why happened what it tells, and up to the case of which it holds most: "I love running,
// especially in the rain".
func withoutReason(fact string) string {
	ws := english.Lex(fact)
	for i := minStatement + 1; i+2 < min(len(ws), maxTailStart); i++ {
		if ws[i].Stop == ',' && (ws[i+1].Text == "especially" || ws[i+1].Text == "particularly") {
			fact = fact[:ws[i].End]
			ws = ws[:i+1]
		}
	}
	for i := minStatement; i+2 < min(len(ws), maxTailStart); i++ {
		if reasonStarts.Has(ws[i+1].Text) && (ws[i].Stop == 0 || ws[i].Stop == ',') &&
			!ws[i+1:].Any(tailDoubts) && isReason(ws[:i+1], ws[i+1:]) {
			return fact[:ws[i].End]
		}
	}
	return fact
}

// isTail reports whether the words behind a mark may be left out: they neither bound the statement before it nor make
// it doubtful.
func isTail(ws english.Words) bool {
	if ws[0].Text == "but" || ws[0].Text == "and" || conditions.Has(ws[0].Text) || boundingTails.Match(ws, 0) > 0 {
		return false
	}
	return !ws.Any(tailDoubts) && !(len(ws) < 3 && ws.Has("not"))
}

// withoutWish is ws up to what follows from it for the next answer, where no mark tells both apart: "I can't stand
// durian so nothing with it". "So no more glasses" is a statement.
func withoutWish(ws english.Words) english.Words {
	for i := minStatement + 1; i+1 < len(ws); i++ {
		next := ws[i+1].Text
		wish := next == "nothing" || next == "none" || next == "please" || next == "no" && ws.At(i+2) != "more"
		if ws[i].Text == "so" && wish {
			return ws[:i]
		}
	}
	return ws
}

// withoutTheirs is ws up to a clause about "the" thing of somebody of whom it tells before: "my sister's firm grows,
// the office has moved". Those who decide about a thing of the speaker's, such as a landlord, have it not.
func withoutTheirs(ws english.Words) english.Words {
	if w := ws.At(0); w == "i" || w == "we" {
		return ws
	}
	for i := minStatement; i+2 < len(ws); i++ {
		next := i + 1
		if w := ws[next].Text; w == "and" || w == "but" || w == "so" {
			next++
		} else if !stopsClause(ws[i].Stop) {
			continue
		}
		people := slices.DeleteFunc(slices.Clone(ws[:i+1]), func(w english.Word) bool {
			return officials.Has(strings.TrimSuffix(w.Text, "'s")) || thirdPersons.Has(w.Text)
		})
		if ws.At(next) == "the" && ofSomebody(people) {
			return ws[:i+1]
		}
	}
	return ws
}

// withoutComments is list without the statements that only comment on the one before: "I cycle to work and I love it",
// "I quit smoking and the kids are thrilled". They say nothing that could be hidden when the fact gives way.
func withoutComments(list []statement) []statement {
	if len(list) < 2 {
		return list
	}
	out := list[:1:1]
	for _, s := range list[1:] {
		if !comments(s.words) {
			out = append(out, s)
		}
	}
	return out
}

// cutAtComment is ws up to a comment that "and" or "so" joins to it.
func cutAtComment(ws english.Words) english.Words {
	for i := 1; i < len(ws); i++ {
		if links.Has(ws[i].Text) && comments(ws[i+1:]) {
			return ws[:i]
		}
	}
	return ws
}

// comments reports whether a clause only comments: it ends in a pronoun for what was said, or in a mood or a judgement
// of somebody, and names nothing else.
func comments(ws english.Words) bool {
	if len(ws) < 3 || len(ws) > maxComment {
		return false
	}
	for i, w := range ws {
		if w.Upper && i > 0 && w.Text != "i" && w.Text != "am" || english.StartsWithDigit(w.Text) {
			return false
		}
	}
	if ws[1].Text == "need" && (ws[0].Text == "i" || ws[0].Text == "we") {
		return true // it tells of the next answer: "and need to varnish it"
	}
	// A name or a number would be something of its own, so that only a pronoun or a mood may end a comment.
	if n := len(ws) - 1; n > 2 && (ws[n].Text == "daily" || changeWords.Has(ws[n].Text)) {
		ws = ws[:n] // "and snack on them daily"
	}
	last, before := ws[len(ws)-1].Text, ws[len(ws)-2].Text
	switch {
	case ws[0].Text == "we" && (last == "together" || before == "every" && english.Periods.Has(last)),
		ws[0].Text == "you" && last == "too":
		return true // "my best friend is Kwame, we talk every day"
	}
	switch last {
	case "it", "that", "this", "them":
		return true
	}
	return inAny(last, english.Moods, english.Evaluative, commentMoods) &&
		(isBe(before) || english.Adverbs.Has(before) || before == "feel" || before == "feels")
}

const maxComment = 8 // words

var commentMoods = tables.Words("comment-moods")
