package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People put remarks between a subject and its verb, and adjectives and adverbs before what they name: "My dentist, a
// gentle man, is Dr. Keller", "I drive a beat-up silver Honda". The readers of statements look for the words that the
// remark parts. So a statement is read once more without them, and what that tells stands for what it told with them.

var (
	keptAdverbs   = tables.Words("kept-adverbs")
	keptBefore    = tables.Words("kept-before")
	modifiers     = tables.Words("modifiers")
	asides        = tables.Phrases("asides")
	keptHyphens   = tables.Words("kept-hyphens")
	remarkClauses = tables.Phrases("remark-clauses")
	remarkStarts  = tables.Words("remark-starts")
	doubting      = tables.Words("doubting")
	noParenthesis = tables.Words("no-parenthesis")
)

const (
	maxParenthesis = 12 // words of a remark between two commas
	maxParentheses = 3
	maxHalf        = 8 // words before it
)

// pared is a fact without such words.
func pared(fact string) string {
	if strings.Contains(fact, "?") || strings.ContainsAny(fact, "\"“") {
		return fact
	}
	bare, _ := WithoutRemarks(fact)
	return withoutTrimmings(bare)
}

// WithoutRemarks is a sentence without the remarks between commas that part it: "I, a born walker, sold my car" is "I
// sold my car". It reports whether there were any.
func WithoutRemarks(text string) (string, bool) {
	bare := text
	for range maxParentheses {
		less, ok := withoutParenthesis(bare)
		if !ok {
			break
		}
		bare = less
	}
	return bare, bare != text
}

// withoutParenthesis is a fact without one remark between two commas that parts a statement. It reports whether there
// is one.
func withoutParenthesis(fact string) (string, bool) {
	if strings.Count(fact, ",") < 2 {
		return fact, false
	}
	ws, start := english.Lex(fact), 0
	for i := 0; i+2 < len(ws); i++ {
		if ws[i].Stop != ',' {
			if stopsClause(ws[i].Stop) || coordinates(ws[i].Text) {
				start = i + 1
			}
			continue
		}
		for j := i + 1; j < min(len(ws)-1, i+1+maxParenthesis); j++ {
			if ws[j].Stop != ',' || !parts(ws[start:i+1], ws[i+1:j+1], ws[j+1:]) {
				continue
			}
			behind := ws[j].End + strings.IndexByte(fact[ws[j].End:], ',') + 1
			return fact[:ws[i].End] + " " + strings.TrimLeft(fact[behind:], " "), true
		}
		start = i + 1
	}
	return fact, false
}

// parts reports whether a remark stands in the middle of a statement, of which before and after are the halves.
func parts(before, remark, after english.Words) bool {
	first, last, next := remark[0].Text, before[len(before)-1].Text, after[0].Text
	named := !slices.ContainsFunc(remark, func(w english.Word) bool { return !w.Upper }) // "my dentist, Dr. Lee, is"
	describes := first == "which" || first == "who" || first == "whose" || first == "whom"
	// What a remark says must not be where, when or whether the rest is so: "in the game", "if all goes well".
	said := describes || remarkClauses.Match(remark, 0) > 0 ||
		remarkStarts.Has(first) && !remark.Any(negations) && (!speaks(remark) || first == "as")
	hearsay := first == "according" && slices.ContainsFunc(remark, func(w english.Word) bool { return w.Upper })
	if remark.Any(doubting) || hearsay {
		return false
	}
	// Two clauses of the speaker's, or the parts of a list, are no statement and its remark.
	if named || noParenthesis.Has(first) || !said || next == "i" || next == "we" || coordinates(next) || next == "or" {
		return false
	}
	speaker := before[0].Text == "i" || before[0].Text == "we"
	switch {
	// "I'm, after months of running, down to 90 kilos"
	case isBe(last), english.Auxiliaries.Has(last), last == "not", last == "i", last == "we":
		return len(before) < maxHalf
	// "I moved, boxes and all, to Ghent"
	case speaker && len(before) > 1 && len(before) < 4:
		return inAny(next, english.Prepositions, english.Articles, possessives) || english.StartsWithDigit(next)
	// "My dentist, a gentle man, is Dr. Keller"
	case len(before) <= maxHalf && !hasFinite(before):
		begins := possessives.Has(before[0].Text) || english.Articles.Has(before[0].Text) || before[0].Upper
		return begins && isFinite(next)
	}
	return false
}

// speaks reports whether ws have a subject that is the speaker.
func speaks(ws english.Words) bool { return ws.Has("i") || ws.Has("we") }

// hasFinite reports whether ws have a verb of a statement.
func hasFinite(ws english.Words) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool { return isFinite(w.Text) })
}

// isFinite reports whether w is a verb of a statement.
func isFinite(w string) bool {
	stem := strings.TrimSuffix(w, "s")
	return isBe(w) || english.Auxiliaries.Has(w) || english.Modals.Has(w) || english.Past(w) ||
		english.PresentVerbs.Has(w) || english.Likings.Has(w) ||
		stem != w && (english.PresentVerbs.Has(stem) || english.Likings.Has(stem)) ||
		strings.HasSuffix(w, "ly") && !keptAdverbs.Has(w)
}

// An adverb that weakens what is told is kept, and so is an adjective that tells which one is meant: "nearly",
// "second".

// withoutTrimmings is a fact without adverbs and adjectives that change little of what it tells.
func withoutTrimmings(fact string) string {
	ws := english.Lex(fact)
	drop := make([]bool, len(ws))
	for i := 1; i < len(ws); i++ {
		n := asides.Match(ws, i)
		if n == 0 || ws[i+n-1].Stop != 0 {
			if n = hyphened(fact, ws, i); i+n >= len(ws) || !modifies(ws, i, n, drop[i-1]) {
				continue
			}
		}
		for k := range n {
			drop[i+k] = i+n < len(ws)
		}
		i += n - 1
	}
	for i := range ws {
		dropBeforeValue(fact, ws, i, drop)
	}
	var out strings.Builder
	end := 0
	for i, dropped := range drop {
		if dropped && ws[i].Start >= end && i+1 < len(ws) && ws[i+1].Start >= ws[i].End {
			out.WriteString(fact[end:ws[i].Start])
			end = ws[i+1].Start
		}
	}
	// The last words are never left out, so that what is told of stays.
	return out.String() + fact[end:]
}

// hyphened is the number of the words at i that hyphens join, 1 without a hyphen. They share the bytes of the whole.
func hyphened(fact string, ws english.Words, i int) int {
	n := 1
	for i+n < len(ws) && ws[i+n].Start == ws[i].Start && strings.Contains(fact[ws[i].Start:ws[i].End], "-") {
		n++
	}
	return n
}

// modifies reports whether the n words at i, which hyphens join, only modify what follows; dropped tells whether the
// word before does.
func modifies(ws english.Words, i, n int, dropped bool) bool {
	w, last, before := ws[i], ws[i+n-1], ws[i-1].Text
	if w.Upper || last.Stop != 0 && last.Stop != ',' || !plainLetters(w.Text) {
		return false
	}
	if n == 1 && strings.HasSuffix(w.Text, "ly") && w.Stop == 0 {
		return len(w.Text) > 4 && !keptAdverbs.Has(w.Text) && !negations.Has(before) && !links.Has(before) &&
			ws[i-1].Stop == 0
	}
	inPhrase := dropped || inAny(before, english.Articles, possessives) || isNumber(before)
	if !inPhrase || english.StopWords.Has(ws[i+n].Text) {
		return false
	}
	compound := n > 1 && !keptHyphens.Has(w.Text) && last.Text != "old" && last.Text != "law"
	return compound || n == 1 && modifiers.Has(w.Text)
}

// plainLetters reports whether a word has small letters alone.
func plainLetters(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' })
}

// isAmount reports whether an amount begins with w: a number, or the sign of a currency.
func isAmount(w string) bool {
	return isNumber(w) || english.StartsWithDigit(w) || w == "$" || w == "£" || w == "€"
}

// What describes a name need not be known as an adjective, since nothing but an adjective stands there.

// dropBeforeValue drops the adjectives before a name or a number behind "a" at i: "a silver Honda", "a modest 400
// euros". Behind "my" and "the" they may be nouns: "my boss Karen".
func dropBeforeValue(fact string, ws english.Words, i int, drop []bool) {
	if ws[i].Text != "a" && ws[i].Text != "an" {
		return
	}
	k := i + 1
	for k < min(len(ws), i+6) && !ws[k].Upper && !isAmount(ws[k].Text) {
		n := hyphened(fact, ws, k)
		w := ws[k+n-1]
		kept := n == 1 && (english.StopWords.Has(w.Text) || keptBefore.Has(w.Text))
		// A noun before a name or a number is no adjective: "a nurse Ann knows".
		noun := occupations.Of(w.Text) != "" || persons.Has(w.Text) || pets.Has(w.Text)
		if w.Stop != 0 && !strings.ContainsRune(",$£€", w.Stop) || kept || noun || !plainLetters(w.Text) {
			return
		}
		k += n
	}
	if k == i+1 || k >= min(len(ws), i+6) {
		return
	}
	for j := i + 1; j < k; j++ {
		drop[j] = true
	}
	drop[i] = !ws[k].Upper // "a modest 400 euros"
}

// withPared are the claims of a fact with those that it has without remarks and modifiers. Those count for more: of "I
// drive a beat-up silver Honda" the car is a Honda, and no "beat".
func withPared(claims, bare []Claim) []Claim {
	out := slices.Clone(bare)
	for _, c := range claims {
		if !slices.ContainsFunc(bare, func(b Claim) bool { return b.Attribute == c.Attribute }) {
			out = append(out, c)
		}
	}
	return out
}
