package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// weight counts the words that tell something definite: content words that are not judgements and not of the kind
// that fits any talk ("journey", "support"). It reports too whether any such word was left out.
func weight(ws english.Words) (n int, vague bool) {
	for i := range ws {
		w := ws[i].Text
		switch {
		case english.Evaluative.Has(w), generic.Has(w):
			vague = true
		case english.StopWords.Has(w):
		case ws[i].Upper && i > 0: // a name tells more than any word
			n += 2
		default:
			n++
		}
	}
	return n, vague
}

// telling are statements of common words alone that tell of a life.
var telling = tables.Phrases("telling")

// hollow reports whether a statement says nothing that is worth reading later: "We pulled off a great win!".
func hollow(ws english.Words, t topics) bool {
	// Words that count for nothing elsewhere make these statements: "I'm looking for work".
	if telling.Found(ws) {
		return false
	}
	if everyDay(ws) || ofTheMoment(ws) {
		return true
	}
	n, vague := weight(ws)
	if t != details && (t != personal || n > 1 || ws.Any(english.OwnNouns) || !progress(ws)) {
		return false
	}
	return vague && n < 2 && !newClause(ws).timed && !ws.Any(regular)
}

// progress reports whether ws says what the speaker is doing: "I am making progress".
func progress(ws english.Words) bool {
	i, _ := (&clause{words: ws}).skipAdverbs(2)
	return strings.HasSuffix(ws.At(i), "ing")
}

// everyDay reports whether a statement only tells that the speaker does now, has just done or is about to do what
// everybody does each day: "I just ate breakfast". A habit, or a doing on a Monday or at six, is
// another matter.
func everyDay(ws english.Words) bool {
	i, negated := (&clause{words: ws}).skipAdverbs(1)
	speaks := ws.At(0) == "i" || ws.At(0) == "we"
	usual := ws.Any(regular) || ws.Has("usually") || ws.Has("often") || ws.Has("always") || ws.Has("again")
	if verb := ws.At(i); !speaks || negated || usual ||
		!english.Past(verb) && verb != "am" && verb != "are" && verb != "have" && verb != "will" {
		return false
	}
	found := false
	for k := i; k < len(ws); k++ {
		w := ws[k].Text
		daily := dailyWords.Has(w)
		empty := english.StopWords.Has(w) || generic.Has(w) || english.Evaluative.Has(w)
		another := firstPerson.Has(w) && w != "my" && w != "i"
		if !daily && (!empty || english.DateWords.Has(w)) || another || english.StartsWithDigit(w) {
			return false
		}
		found = found || daily && !english.StopWords.Has(w)
	}
	return found
}

// platitude reports whether a statement is about people in general and not about the speaker: "Pets make us so much
// happier", "Pushing boundaries is how we grow". Its only words for the speaker are "we" and the like, and it neither
// begins with one nor tells of a time, a name, a number or something that happened.
func platitude(ws english.Words, t topics) bool {
	if t&^(personal|details) != 0 || !ws.Any(firstPerson) || newClause(ws).timed {
		return false
	}
	if english.Prepositions.Has(ws.At(0)) { // "On Mondays we play chess"
		return false
	}
	i, _ := (&clause{words: ws}).skipAdverbs(0)
	if i < len(ws) && (firstPerson.Has(ws[i].Text) || i+1 < len(ws) && firstPerson.Has(ws[i+1].Text)) {
		return false
	}
	for i := range ws {
		w := ws[i].Text
		switch {
		case alone.Has(w), ws[i].Upper && i > 0, english.Past(w), english.StartsWithDigit(w):
			return false
		case w == "there", w == "our" && ownsNear(ws, i+1): // "Rex is our dog", "There are five of us"
			return false
		}
	}
	return true
}

// ownsNear reports whether the words from i on name somebody or something that some people have and others have not:
// "our new dog". Everybody has days and hearts.
func ownsNear(ws english.Words, i int) bool {
	for j := i; j < min(len(ws), i+3); j++ {
		w := ws[j].Text
		group := several.Has(w) && w != "people"
		if english.OwnNouns.Has(w) || w == "own" || w == "favorite" || places.Has(w) || group {
			return true
		}
	}
	return false
}

// withoutRemarks is the end of the statement ws[:end] without remarks behind its last mark: "…, it was great", ", wish
// me luck". A remark has no definite word.
func withoutRemarks(ws english.Words, from, end int) int {
	for i := end - 1; i > from+2; i-- {
		if !strings.ContainsRune(",;–—-(.!", ws[i-1].Stop) || ws[i-1].Stop == 0 {
			continue
		}
		judged := praise.Has(ws[i].Text) || ws[i].Text == "that" || ws[i].Text == "it" ||
			english.Auxiliaries.Has(ws[i].Text) || english.Modals.Has(ws[i].Text) // "Checking reviews, too, is good"
		if !remark(ws[i:end]) || judged && strings.HasSuffix(ws[from].Text, "ing") { // see judgedBehind
			return end
		}
		end = i
	}
	return end
}

// maxSince bounds the words of a remark that tells how long something has been so.
const maxSince = 8

// remark reports whether ws is a comment on the statement before it.
func remark(ws english.Words) bool {
	if k := sinceWhen.Match(ws, 0); k > 0 && k < len(ws) && len(ws) < maxSince {
		return true // ", have done since school"
	}
	if k := remarks.Match(ws, 0); k > 0 {
		heavy, _ := weight(ws[k:])
		return heavy < 2 // but not "finally settled in Braga"
	}
	n, vague := weight(ws)
	return n == 0 && vague && !ws.Has("not") && !ws.Any(firstPerson)
}
