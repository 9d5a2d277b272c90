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

// hollow reports whether a statement says nothing that is worth reading later: "We pulled off a great win!".
func hollow(ws english.Words, t topics) bool {
	if t != details {
		return false
	}
	n, vague := weight(ws)
	return vague && n < 2 && !newClause(ws).timed
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
		case (w == "our" || w == "there") && !generic.Has(ws.At(i+1)): // "Rex is our dog", "There are five of us"
			return false
		}
	}
	return true
}

// withoutRemarks is the end of the statement ws[:end] without remarks behind its last mark: "…, it was great", ", wish
// me luck". A remark has no definite word.
func withoutRemarks(ws english.Words, from, end int) int {
	for i := end - 1; i > from+2; i-- {
		if !strings.ContainsRune(",;–—-(.!", ws[i-1].Stop) || ws[i-1].Stop == 0 {
			continue
		}
		judged := praise.Has(ws[i].Text) || ws[i].Text == "that" || ws[i].Text == "it"
		if !remark(ws[i:end]) || judged && strings.HasSuffix(ws[from].Text, "ing") { // see judgedBehind
			return end
		}
		end = i
	}
	return end
}

// remark reports whether ws is a comment on the statement before it.
func remark(ws english.Words) bool {
	if k := remarks.Match(ws, 0); k > 0 {
		heavy, _ := weight(ws[k:])
		return heavy < 2 // but not "finally settled in Braga"
	}
	n, vague := weight(ws)
	return n == 0 && vague && !ws.Has("not") && !ws.Any(firstPerson)
}
