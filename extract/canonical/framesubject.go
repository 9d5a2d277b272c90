package canonical

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// segment is a part of a fact that has its own predicate.
type segment struct {
	words    english.Words // from the subject on
	from, to int           // the words of the fact that it is
	linked   bool          // an "and" or a mark stands before it
	// bounded says that a clause follows on which it depends: "when I was five".
	bounded bool
	lists   bool // an "and" or "or" follows
}

// withoutNoteMarks is ws without the brackets around the date that belongs to a word:
// "yesterday (2026-03-16)" ends no clause.
func (c *claim) withoutNoteMarks(ws english.Words) english.Words {
	for i := range ws {
		next := ws.At(i + 1)
		switch {
		case ws[i].Stop == '(' && (next == "week" || isDate(next)):
			ws[i].Stop = 0
		case ws[i].Stop == ')' && isDate(ws[i].Text):
			ws[i].Stop = 0
			if after := ws[i].End + 1; after < len(c.text) && stopsClause(rune(c.text[after])) {
				ws[i].Stop = rune(c.text[after]) // "(2026-03-16), and"
			}
		}
	}
	return ws
}

// elidedByOther reports whether a clause begins with a noun that may be its subject: "rent
// is up", and not with a verb.
func (c *claim) elidedByOther(ws english.Words) bool {
	_, n := singleAt(ws, 0)
	return n > 0 && n < len(ws) && isVerbOfValue(ws[n].Text)
}

// segments are the parts of a fact between its marks and links. Questions are left out, and
// clauses that depend on others: "who moved to Porto", "when I moved to Porto".
func segments(all english.Words) (out []segment) {
	start := 0
	for i := range all {
		last := i+1 == len(all)
		stop := stopsClause(all[i].Stop)
		link := !last && links.Has(all[i+1].Text)
		if !last && !stop && !link && all[i+1].Text != "?" {
			continue
		}
		ws := all[start : i+1]
		// "And then" and the like stand before the subject.
		depends := false
		for len(ws) > 0 && (links.Has(ws[0].Text) || ws[0].Text == "?") {
			depends = depends || dependent.Has(ws[0].Text)
			ws = ws[1:]
		}
		if depends = depends || len(ws) == 0; !depends && len(ws) > 2 && ws[0].Text == "meaning" && start > 0 &&
			stopsClause(all[start-1].Stop) {
			ws = ws[1:] // ", meaning we're down to one car"
		}
		if len(ws) > 0 && !depends && (last || all[i+1].Text != "?") {
			ws = ws[min(english.SkipLeads(ws), len(ws)-1):]
			next := all.At(i + 1)
			out = append(out, segment{
				words: ws, from: start, to: i + 1, linked: start > 0,
				// "Which" and "where" go on about a value, and leave the statement whole.
				bounded: dependent.Has(next) && next != "which" && next != "where",
				lists:   next == "and" || next == "or",
			})
		}
		start = i + 1
	}
	return out
}

// ofNamed reports whether a predicate tells what only somebody with a name has, if no article stands before the
// subject: "is seven years old", "is allergic to nuts".
func ofNamed(ws english.Words) bool {
	if len(ws) > 1 && isBe(ws[0].Text) && namedStates.Has(ws[1].Text) {
		return true
	}
	return len(ws) > 3 && isBe(ws[0].Text) &&
		(ws[1].Text == "allergic" && ws[2].Text == "to" || isNumber(ws[1].Text) && ageTails.Has(ws[2:4].String()))
}

// frameSubject reads the subject that ws begins with: the speaker, a relation of the
// speaker's or a person with a name, and gives the predicate. Not ok with a predicate: ws
// has no subject. Without: it is somebody else's.
func (c *claim) frameSubject(ws english.Words, first bool) (o owner, predicate english.Words, ok bool) {
	word := ws.At(0)
	switch {
	case word == "i" || word == "we":
		return "", ws[1:], len(ws) > 1
	case len(ws) > 3 && ws[1].Text == "and" && (ws[2].Text == "i" || ws[0].Text == "me"):
		return "", ws[3:], true
	case word == "my" || word == "our":
		o, n := relationAt(ws[1:])
		if o == "" {
			return c.possessedSubject(ws[1:])
		}
		if rest := ws[1+n:]; rest.StartWith("and", "i") && len(rest) > 2 {
			return "", rest[2:], true // "my wife and I separated"
		}
		rest := c.behindPerson(ws[1+n:])
		return appointed(o, rest), rest, len(rest) > 0
	case kin.Has(word):
		return owner(relationOf(word)), ws[1:], len(ws) > 1
	}
	if len(ws) > 2 && ws[0].Upper && ws[0].Stop == 0 && inflections[word] == nil && c.properName(ws[:1]) != "" &&
		!inAny(word, english.StopWords, cities, countries) &&
		// Any first word has a capital, so that it must be a known name there.
		(!first || word == c.friend || givenNames.Has(word) || personVerbs.Has(ws[1].Text) || ofNamed(ws[1:])) &&
		(inflections[ws[1].Text] != nil || ladder.Has(ws[1].Text) || givenNames.Has(word) && english.Past(ws[1].Text)) {
		return owner(word), ws[1:], true
	}
	if inAny(word, english.Pronouns, english.Deictic, english.Articles) || word == "they" {
		return "", nil, false
	}
	return "", ws, false
}

// appointed is of whom a predicate of o tells: of the speaker in "my boss made me team lead".
func appointed(o owner, ws english.Words) owner {
	if ws.At(1) == "me" && appointing.Has(ws[0].Text) {
		return ""
	}
	return o
}

// behindPerson is ws without the place or the name that stands behind a relation: "my doctor in Bristol put me on
// iron", "my daughter Freya is 6".
func (c *claim) behindPerson(ws english.Words) english.Words {
	if len(ws) > 3 && (ws[0].Text == "in" || ws[0].Text == "from") && c.capital(ws[1]) {
		ws = ws[2:]
	}
	if len(ws) > 2 && ws[0].Upper && !ladder.Has(ws[0].Text) && inflections[ws[0].Text] == nil {
		ws = ws[1:]
	}
	return ws
}

// relationOf is the one word for a relation.
func relationOf(w string) string {
	if r := relation(w); r != "" {
		return r
	}
	return w
}

// possessedSubject reads "sister's just moved": a relation whose "is" or "has" has lost
// its place.
func (c *claim) possessedSubject(ws english.Words) (o owner, predicate english.Words, ok bool) {
	noun, short := strings.CutSuffix(ws.At(0), "'s")
	if rel := relation(noun); short && rel != "" && len(ws) > 1 &&
		(ladder.Has(ws[1].Text) || english.Past(ws[1].Text) || endsInIng(ws[1].Text)) {
		return owner(rel), append(english.Words{{Text: "has", Start: ws[0].End, End: ws[0].End}}, ws[1:]...), true
	}
	return "", nil, false
}

// elidedPredicate reports whether ws may be a statement of the speaker's without "I":
// "finally settled in Porto".
func (c *claim) elidedPredicate(ws english.Words) bool {
	i := 0
	for i+1 < len(ws) && (ladder.Has(ws[i].Text) || ladderPhrases.Match(ws, i) > 0) {
		i += max(1, ladderPhrases.Match(ws, i))
	}
	if enders.Match(ws, i) > 0 {
		return true
	}
	for _, form := range inflections[ws.At(i)] {
		if form&(pastForm|ingForm) != 0 {
			return true
		}
	}
	return false
}

// goesOn reports whether a predicate begins at ws, or a subject, so that what stands before
// it is no list.
func (c *claim) goesOn(ws english.Words) bool {
	w := ws.At(0)
	return inAny(w, ladder, negations) || inflections[w] != nil || w == "i" || w == "we" || w == "my" || w == "it" ||
		english.Past(w) || endsInIng(w) || english.PresentVerbs.Has(w)
}

// isDate reports whether w is a year, a month or a day as the notes of facts have them.
func isDate(w string) bool {
	return len(w) >= len("2006") && english.StartsWithDigit(w) && endOfTime(english.Words{{Text: w}}) != (time.Time{})
}

// withoutQuotes is ws without the words between quotation marks, which are somebody else's:
// "The song goes "I moved to Rome"".
func (c *claim) withoutQuotes(ws english.Words) english.Words {
	// Curly marks take as many bytes as those in their place, so that the places stay.
	marks := strings.NewReplacer("“", "\"  ", "”", "\"  ").Replace(c.text) // of as many bytes
	first := strings.IndexByte(marks, '"')
	last := strings.LastIndexByte(marks, '"')
	if first < 0 || first == last {
		return ws
	}
	return slices.DeleteFunc(slices.Clone(ws), func(w english.Word) bool { return w.Start > first && w.End <= last })
}
