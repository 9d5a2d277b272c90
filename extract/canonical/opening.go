package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People put words before the subject of a statement, and say "have got", which hides the statement from tables that
// begin with its subject. prepared folds these forms for all of them.
//
//   - A reason or a beginning bounds nothing: "After all the noise we moved to Ghent". A time that comes again does, so
//     it stays: "On Fridays I cycle to work".
//   - Words such as "these days" tell that another state held before, so that a state that is told with them takes the
//     place of an older one of its kind.
//   - "Me and Tom" is "Tom and I".
//
// The canonical text of a fact keeps the words as they are, since the reason is part of what was said.

var (
	openings       = tables.Phrases("openings")
	changeOpenings = tables.Phrases("change-openings")
	gotten         = tables.Words("gotten")
	meals          = tables.Words("meals")
	people         = tables.Words("people")
	mistaking      = tables.Words("mistaking")
	seldom         = tables.Phrases("seldom")
	knowing        = tables.Words("knowing")
	saying         = tables.Words("saying")
)

// maxOpening bounds the words before a subject: "after all that trouble with the landlord".
const maxOpening = 8

// prepared is the words of a fact with its subject in front: "I moved to Ghent" of "After all the noise I moved to
// Ghent", and "we have Netflix" of "we've got Netflix". It reports whether the words before the subject tell of a
// change: "these days".
//
// A time that may come again ("on Mondays") stays, and so does all before a subject that is a clause of its own: "since
// my sister moved to Rome I have no babysitter" is about her.
func prepared(ws english.Words) (rest english.Words, changed bool) {
	ws = withoutSource(withSeldom(withoutPerson(righted(withoutTheirs(withoutWish(ws))))))
	ws = withKinOfSpeaker(withMealLast(withSpeakerLast(withoutGot(ws))))
	if rest := withoutMiddle(ws); len(rest) < len(ws) {
		return rest, true
	}
	n := changeOpenings.Match(ws, 0)
	changed = n > 0
	n = max(n, openings.Match(ws, 0))
	if n == 0 && frontOpeners.Has(ws.At(0)) && ws.At(1) != "all" {
		n = 1
	}
	if n == 0 {
		return afterFrontTime(ws), false
	}
	for i := n; i < min(len(ws), maxOpening); i++ {
		w := ws[i].Text
		// "After a row with my boss I quit": the first "my" is none of the subject.
		begins := w == "i" || w == "we" ||
			(w == "my" || w == "our") && !inAny(ws[i-1].Text, english.Prepositions, frontOpeners)
		if begins && i+2 < len(ws) {
			return ws[i:], changed || sinceMonth(ws[:i])
		}
		// "Since I moved, …" has a subject of its own, and another statement is more than an opening.
		if inAny(w, english.Pronouns, links) && w != "this" || strings.ContainsRune(".;:!?", ws[i].Stop) {
			break
		}
	}
	return ws, false
}

// withoutPerson is ws with the name alone where it says that somebody is a person with this name: "my new teacher is
// Elias" of "my new teacher is a young man named Elias".
func withoutPerson(ws english.Words) english.Words {
	for i := range ws {
		now := changeWords.Has(ws.At(i-1)) && isBe(ws.At(i-2)) // "is now a student called Felix"
		if !english.Articles.Has(ws[i].Text) || !now && !isBe(ws.At(i-1)) {
			continue
		}
		for k := i + 1; k+2 < len(ws) && k < i+4; k++ {
			named := k + 1
			if ws[named].Text == "from" && named+2 < len(ws)-1 {
				named += 2 // "a guy from Senegal named Moussa"
			}
			w := ws[named].Text
			if people.Has(ws[k].Text) && (w == "named" || w == "called") && ws[named+1].Upper {
				return slices.Concat(ws[:i], ws[named+1:])
			}
		}
	}
	return ws
}

// righted is ws with what is right in front, where it first says which of the speaker's statements was wrong: "my
// grandma's birthday is on 18 November" of "I had grandma's birthday wrong, it is on 18 November".
func righted(ws english.Words) english.Words {
	if len(ws) < 7 || ws[0].Text != "i" || !mistaking.Has(ws[1].Text) {
		return ws
	}
	for i := 3; i < min(len(ws)-3, maxOpening); i++ {
		it := i + 1
		if ws[i].Text != "wrong" {
			continue
		}
		for ws.At(it) == "sorry" || ws.At(it) == "and" || ws.At(it) == "but" || ws.At(it) == "actually" {
			it++
		}
		if w := ws.At(it); w != "it" && w != "she" && w != "he" || !isBe(ws.At(it+1)) {
			return ws
		}
		thing := slices.Clone(ws[2:i])
		thing[len(thing)-1].Stop = 0
		// "I had" leaves its place to a word that corrects, and "grandma's" stands for "my grandma's".
		lead := english.Words{{Text: "actually", Start: ws[0].Start, End: ws[0].Start}}
		if noun, ok := strings.CutSuffix(thing[0].Text, "'s"); ok && relation(noun) != "" {
			lead = append(lead, english.Word{Text: "my", Start: ws[0].Start, End: ws[0].Start})
		}
		return slices.Concat(lead, thing, ws[it+1:])
	}
	return ws
}

// "Hardly ever" alone may be said of what was always so. With "these days" it tells that it was otherwise before.

// withSeldom is ws with "do not … anymore" for "hardly ever … these days", and without "nearly" before how often
// something is done.
func withSeldom(ws english.Words) english.Words {
	for i := 0; i+1 < len(ws); i++ {
		w, next := ws[i].Text, ws[i+1].Text
		if (w == "nearly" || w == "almost") && (next == "every" || next == "all") {
			return slices.Concat(ws[:i], ws[i+1:])
		}
	}
	n, last := 0, len(ws)
	if len(ws) > 4 && (ws[0].Text == "i" || ws[0].Text == "we") {
		n = seldom.Match(ws, 1)
	}
	if n == 0 {
		return ws
	}
	for _, cue := range []string{"now", "nowadays", "anymore"} {
		if ws[last-1].Text == cue {
			last--
		}
	}
	if last == len(ws) && len(ws) > 6 && ws[last-2].Text == "these" && ws[last-1].Text == "days" {
		last -= 2
	}
	if last == len(ws) {
		return ws
	}
	at, end := ws[1], ws[last]
	deny := english.Words{{Text: "do", Start: at.Start, End: at.Start}, {Text: "not", Start: at.Start, End: at.Start}}
	anymore := english.Words{{Text: "anymore", Start: end.Start, End: end.End}}
	return slices.Concat(ws[:1], deny, ws[1+n:last], anymore)
}

// Who measures or decides something of the speaker's is believed, and who only thinks so is not: "my sister says I'm
// allergic to cats" stays what the sister says.

// withoutSource is ws without who says it, where that is somebody who knows: "the lab says my blood type is…".
func withoutSource(ws english.Words) english.Words {
	w := ws.At(0)
	if len(ws) < 5 || w != "the" && w != "my" && w != "our" || !knowing.Has(ws[1].Text) {
		return ws
	}
	for i := 2; i < 5 && i+2 < len(ws); i++ {
		from := i + 1
		if !saying.Has(ws[i].Text) {
			continue
		}
		for ws.At(from) == "me" || ws.At(from) == "us" || ws.At(from) == "that" {
			from++
		}
		if own := ws.At(from); (own == "my" || own == "i") && from+2 < len(ws) {
			return ws[from:]
		}
	}
	return ws
}

// sinceMonth reports whether an opening tells that something holds since a time within the last year: "since January".
// With a year it may have held when the older statement was made.
func sinceMonth(ws english.Words) bool {
	longAgo := func(w english.Word) bool { return isYear(w.Text) || w.Text == "birth" || w.Text == "childhood" }
	return ws[0].Text == "since" && len(ws) > 1 && sinceTime.MatchString(ws[1:].String()) &&
		!slices.ContainsFunc(ws, longAgo)
}

// sinceLately marks numbers that hold since a time within the last year as new ones: "I've been on 28 hours a week
// since March".
func sinceLately(claims []Claim, all english.Words) []Claim {
	at := slices.IndexFunc(all, func(w english.Word) bool { return w.Text == "since" })
	if at < 1 || !sinceMonth(withoutYear(all[at:])) && changeMarks.Match(all, at) == 0 {
		return claims
	}
	for i, c := range claims {
		one := strings.HasPrefix(c.Attribute, "rate ") || strings.HasPrefix(c.Attribute, "one ") ||
			strings.HasPrefix(c.Attribute, "count ")
		claims[i].Changed = c.Changed || one && !c.Ended
	}
	return claims
}

// withoutYear is ws without the year that a note adds to its month: "since march 2026".
func withoutYear(ws english.Words) english.Words {
	if n := len(ws) - 1; n > 1 && isYear(ws[n].Text) && monthNumbers.Of(ws[n-1].Text) != "" {
		return ws[:n]
	}
	return ws
}

// withoutMiddle is ws without a word of change between a thing of the speaker's and its verb: "my dentist is Ann" of
// "my dentist these days is Ann".
func withoutMiddle(ws english.Words) english.Words {
	if w := ws.At(0); w != "my" && w != "our" {
		return ws
	}
	for i := 2; i < min(len(ws)-2, maxOpening/2); i++ {
		n := changeOpenings.Match(ws, i)
		if n == 0 && ws[i].Text == "currently" {
			n = 1
		}
		if n > 0 && isBe(ws.At(i+n)) {
			return slices.Concat(ws[:i], ws[i+n:])
		}
	}
	return ws
}

// withoutGot folds the British possession. After "got" a participle or "to" may follow, which tells of something else.
// It is ws with "have" for "have got", where a thing follows: "we have got Netflix", but not "I have got to
// go" and "I have got married".
func withoutGot(ws english.Words) english.Words {
	for i := 1; i+1 < len(ws); i++ {
		if ws[i].Text != "got" || ws[i-1].Text != "have" && ws[i-1].Text != "has" {
			continue
		}
		next := ws[i+1]
		if next.Upper || english.StartsWithDigit(next.Text) || next.Text == "one" || gotten.Has(next.Text) ||
			inAny(next.Text, english.Articles, possessives) {
			return slices.Concat(ws[:i], ws[i+1:])
		}
	}
	return ws
}

// withSpeakerLast lets the rules find the speaker where a clause is cut at "and": "Tom" and "I broke up".
// It is ws with "Tom and I" for "me and Tom" and "Tom and me" before a verb.
func withSpeakerLast(ws english.Words) english.Words {
	n := pairAt(ws)
	if n == 0 {
		return ws
	}
	out := slices.Clone(ws)
	if ws[0].Text != "me" {
		out[n-1].Text = "i"
		return out
	}
	// The words keep their order in the text.
	end := ws[n-1].End
	pair := append(slices.Clone(ws[2:n]), english.Word{Text: "and", Start: end, End: end},
		english.Word{Text: "i", Start: end, End: end})
	return append(pair, out[n:]...)
}

// joinedChange is ws without the mark before what a change leaves: "I switched banks, from Rabobank to Bunq". Without
// a verb of changing, "from" begins a remark of its own.
func joinedChange(ws english.Words) english.Words {
	for i := 1; i+3 < len(ws); i++ {
		if ws[i].Stop != ',' || ws[i+1].Text != "from" || !ws[i+2:min(len(ws), i+3+maxOldValue)].Has("to") {
			continue
		}
		for k := i; k >= 0 && (k == i || !stopsClause(ws[k].Stop)); k-- {
			if resets(ws[k].Text) || movingOver.Has(ws[k].Text) {
				ws = slices.Clone(ws)
				ws[i].Stop = 0
				return ws
			}
		}
	}
	return ws
}

// withMealLast is ws with a meal before the subject behind the clause: "I have porridge for breakfast" of "for
// breakfast I have porridge".
func withMealLast(ws english.Words) english.Words {
	if len(ws) < 5 || ws[0].Text != "for" || !meals.Has(ws[1].Text) || ws[2].Text != "i" && ws[2].Text != "we" {
		return ws
	}
	end := 3
	for end < len(ws) && !stopsClause(ws[end-1].Stop) && !links.Has(ws[end].Text) {
		end++
	}
	out := slices.Clone(ws[2:end])
	last := &out[len(out)-1]
	at := last.End
	out = append(out, english.Word{Text: "for", Start: at, End: at},
		english.Word{Text: ws[1].Text, Start: at, End: at, Stop: last.Stop})
	out[end-3].Stop = 0
	return append(out, ws[end:]...)
}

// withKinOfSpeaker is ws with "my mom" for a "mom" that begins it: people name their parents without "my".
func withKinOfSpeaker(ws english.Words) english.Words {
	if len(ws) < 3 || !kin.Has(strings.TrimSuffix(ws[0].Text, "'s")) || ws[0].Stop != 0 {
		return ws
	}
	return append(english.Words{{Text: "my", Start: ws[0].Start, End: ws[0].Start}}, ws...)
}
