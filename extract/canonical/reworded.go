package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// One thing is told from several sides: "they let me go" is "I was let go", "Mustard has replaced teal as my favorite
// color" is "my favorite color is mustard now". The readers of statements know one side. So a clause that tells
// the other one is put in the words that they know before they read it.
//
// The table "rewordings" has the words that are known, and the patterns of those that are put so. A pattern begins
// where a clause does and is of plain words, forms of verbs and slots. What stands behind it stays as it is.

// rewording is one pattern of the table.
type rewording struct {
	to     []string // words and slots
	tokens []token
}

var rewordings = compileRewordings()

func compileRewordings() (out []rewording) {
	for left, patterns := range frameTables.Lists("rewordings") {
		for _, p := range patterns {
			tokens := compileTokens(p)
			for _, t := range tokens {
				for _, w := range t.words {
					inflect(w, irregularForms)
				}
			}
			out = append(out, rewording{to: strings.Fields(left), tokens: tokens})
		}
	}
	return out
}

// maxRewording bounds the words of a slot.
const maxRewording = 5

// reworded is a fact with its clauses in the words that the readers of statements know.
func reworded(fact string) string {
	ws := english.Lex(fact)
	if len(ws) < 3 || len(ws) > maxFramedWords || strings.Contains(fact, "?") {
		return fact
	}
	lower := strings.ToLower(fact) == fact
	var out strings.Builder
	end := 0
	for i := 0; i < len(ws); i++ {
		if i > 0 && !stopsClause(ws[i-1].Stop) && !coordinates(ws[i-1].Text) {
			continue
		}
		text, n := rewordingAt(fact, ws[i:])
		for n == 0 && english.Adverbs.Has(ws.At(i)) && !negations.Has(ws[i].Text) { // "recently they let me go"
			i++
			text, n = rewordingAt(fact, ws[i:])
		}
		if n == 0 {
			continue
		}
		if !lower {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		out.WriteString(fact[end:ws[i].Start] + text)
		i += n - 1
		end = ws[i].End
	}
	return out.String() + fact[end:]
}

// coordinates reports whether w joins two clauses of which each holds alone.
func coordinates(w string) bool { return w == "and" || w == "but" || w == "so" }

// rewordingAt is what ws begins with in other words, and the number of the words of ws that it stands for: the most that
// a pattern has.
func rewordingAt(fact string, ws english.Words) (text string, most int) {
	for _, r := range rewordings {
		found := map[string]string{}
		n := r.match(r.tokens, fact, ws, found)
		if n <= most || n < len(ws) && !mayFollow(ws[:n], ws[n:]) {
			continue // "they let me go home early"
		}
		said := make([]string, len(r.to))
		for i, w := range r.to {
			if said[i] = w; w[0] == '<' {
				said[i] = found[w[1:len(w)-1]]
			}
		}
		text, most = strings.Join(said, " "), n
	}
	return text, most
}

// mayFollow reports whether rest, behind words that are told from another side, leaves them what they are.
func mayFollow(ws, rest english.Words) bool {
	next := rest[0].Text
	if ws[len(ws)-1].Stop == 0 && (next == "to" || nth(next) != "") {
		return false // "they let me go to the fair"
	}
	return !goesOn(ws, rest) || english.Fillers.Has(next) || next == "please"
}

// match is the number of words of ws that tokens stand for, -1 for none. It notes in found what the slots stand for.
func (r *rewording) match(tokens []token, fact string, ws english.Words, found map[string]string) int {
	if len(tokens) == 0 {
		return 0
	}
	t, rest := tokens[0], tokens[1:]
	from, until := 1, 1
	switch {
	case t.wild:
		from, until = 0, maxWild
	case t.slot == "number" || t.slot == "pay" || t.slot == "nth" || t.slot == "lang":
	case t.slot != "":
		until = maxRewording
	case len(ws) == 0 || !t.has(ws[0].Text):
		until = 0
	}
	until = min(until, len(ws))
	for n := from; n <= until; n++ { // not beyond a mark
		if n > 1 && stopsClause(ws[n-2].Stop) {
			until = n - 1
		}
	}
	last := t.slot != "" && len(rest) == 0
	for k := range max(0, until-from+1) {
		n := from + k
		if last {
			n = until - k // "New Year" before "New"
		}
		if t.slot != "" && !fills(t.slot, fact, ws[:n], ws[n:], last) {
			continue
		}
		if n > 0 && n < len(ws) && len(rest) > 0 && stopsClause(ws[n-1].Stop) && ws[n-1].Stop != ':' && !rest[0].comma() {
			break
		}
		if k := r.match(rest, fact, ws[n:], found); k >= 0 {
			if t.slot != "" {
				found[t.slot] = slotText(t.slot, fact, ws[:n])
			}
			return n + k
		}
	}
	if t.optional {
		return r.match(rest, fact, ws, found)
	}
	return -1
}

// comma reports whether a mark may stand before the token.
func (t *token) comma() bool {
	return slices.Contains(t.words, "it") || slices.Contains(t.words, "she")
}

// slotText is what a slot stands for: the figure of an ordinal, or else the words themselves.
func slotText(slot, fact string, ws english.Words) string {
	switch slot {
	case "nth":
		return nth(ws[0].Text)
	case "whose":
		return fact[ws[0].Start : ws[len(ws)-1].End-len("'s")]
	}
	return fact[ws[0].Start:ws[len(ws)-1].End]
}

// fills reports whether ws, which rest follows, can stand for a slot; the last one of a pattern goes to the end of
// its noun phrase.
func fills(slot, fact string, ws, rest english.Words, last bool) bool {
	switch slot {
	case "number":
		return isNumber(ws[0].Text)
	case "pay":
		return numberOf(ws[:1]) != ""
	case "nth":
		return nth(ws[0].Text) != ""
	case "cap":
		return ws[0].Upper && !goesOn(ws, rest)
	case "place":
		return (&claim{text: fact}).placeName(ws, false) != ""
	case "lang":
		return len(ws) == 1 && IsLanguage(ws[0].Text)
	case "whose":
		own, ok := strings.CutSuffix(ws[len(ws)-1].Text, "'s")
		return ok && len(ws) > 1 && possessives.Has(ws[0].Text) && (relation(own) != "" || english.OwnNouns.Has(own))
	case "who", "other":
		w := ws[0].Text
		speaker := len(ws) == 1 && (w == "we" || w == "i")
		return slot == "who" && speaker || len(ws) == 1 && (w == "he" || w == "she" || w == "they") ||
			ws[0].Upper && w != "i" || possessives.Has(w) && len(ws) > 1
	}
	if slot == "thing" && givenNames.Has(ws[0].Text) {
		return false // "I'm head over heels for Ana"
	}
	for _, w := range ws {
		if inAny(w.Text, english.Pronouns, negations, links, english.Auxiliaries, english.Deictic) {
			return false
		}
	}
	return !last || !goesOn(ws, rest)
}

// nth is the figure of an ordinal: "65" of "65th" and "3" of "third"; "" if w is none.
func nth(w string) string {
	if n := numberWords.Of(w); n != "" {
		return n
	}
	if n := strings.TrimRight(w, "stndrh"); n != w && isNumber(n) {
		return n
	}
	return ""
}
