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

// withoutRemarks is the end of the statement ws[:end] without remarks behind its last mark: "…, it was great", ", wish
// me luck". A remark has no definite word.
func withoutRemarks(ws english.Words, from, end int) int {
	for i := end - 1; i > from+2; i-- {
		if !strings.ContainsRune(",;–—-(.!", ws[i-1].Stop) || ws[i-1].Stop == 0 {
			continue
		}
		if !remark(ws[i:end]) {
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
