package english

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lex reads the words of text in one spelling, and the marks between them that may mean something: all but the
// ordinary punctuation and quotation marks. Hyphenated words are taken apart, small numbers are figures, and the
// spelling is American, so that two facts that differ in these alone have the same words.
func Lex(text string) Words {
	split := Split(text)
	out := make(Words, 0, len(split)+2)
	end, sign := 0, ""
	for _, w := range split {
		if w.Start >= end {
			gap := text[end:w.Start]
			if last := len(out) - 1; last >= 0 && gap != "" && !strings.Contains(gap, " ") &&
				EndsWithDigit(out[last].Text) && StartsWithDigit(w.Text) {
				out[last].Text += gap + w.Text // "3,5" is one number
				out[last].End, out[last].Stop, end = w.End, w.Stop, w.End
				continue
			}
			out, sign = appendMarks(out, gap, StartsWithDigit(w.Text), end)
		}
		end = w.End
		w.Text = sign + w.Text
		sign = ""
		out = appendParts(out, w)
	}
	out, _ = appendMarks(out, text[end:], false, end)
	return out
}

// longestSpelled bounds the words that spelling looks at, in bytes: longer ones are no words, and looking into them
// would take the square of their length.
const longestSpelled = 32

// appendParts adds a word, taken apart at the hyphens between letters, in American spelling and with small numbers as
// figures.
func appendParts(out Words, w Word) Words {
	whole := w
	for w.Text != "" {
		part, rest, ok := strings.Cut(w.Text, "-")
		if !ok || part == "" || rest == "" || StartsWithDigit(rest) || EndsWithDigit(part) {
			part, rest = w.Text, ""
		}
		whole.Text = spelling(part)
		if joined := tensAndUnit(whole.Text, rest); joined != "" {
			whole.Text, rest = joined, ""
		}
		whole.Stop = 0
		out = append(out, whole)
		w.Text = rest
	}
	out[len(out)-1].Stop = w.Stop
	return out
}

// tensAndUnit is the figure for "thirty-four", given as "30" and "four"; "" for other words.
func tensAndUnit(tens, unit string) string {
	if unit == "" || len(tens) != 2 || tens[1] != '0' || !StartsWithDigit(tens) {
		return ""
	}
	if nth := ordinalUnits.Of(unit); nth != "" {
		return tens[:1] + nth // "65th" of "sixty-fifth"
	}
	switch unit = spelling(unit); {
	case unit == "one":
		return tens[:1] + "1"
	case len(unit) == 1 && StartsWithDigit(unit):
		return tens[:1] + unit
	}
	return ""
}

// plainMarks are marks that two texts may differ in and still say the same.
const plainMarks = `.,;:!"'()[]{}*_“”‘’«»„–—…`

// appendMarks adds the marks of a gap as words; a minus before a number is given back as its sign.
func appendMarks(out Words, gap string, number bool, at int) (words Words, sign string) {
	for i, r := range gap {
		switch {
		case r == '-' || r == '−':
			free := i > 0 && gap[i-1] == ' ' || i == 0 && len(out) == 0
			if number && free && i+utf8.RuneLen(r) == len(gap) {
				return out, "-"
			}
		case r == '&':
			out = append(out, Word{Text: "and", Start: at + i, End: at + i + 1})
		case unicode.IsSpace(r), strings.ContainsRune(plainMarks, r), r == utf8.RuneError:
		default:
			out = append(out, Word{Text: string(r), Start: at + i, End: at + i + utf8.RuneLen(r)})
		}
	}
	return out, ""
}

// spelling is w as Americans write it, and as a figure if it is a small number.
func spelling(w string) string {
	if len(w) > longestSpelled {
		return w
	}
	if s := spellings.Of(w); s != "" {
		return s
	}
	for i := 1; i+2 < len(w); i++ {
		if w[i:i+3] == "our" && ourStems.Has(w[:i]) {
			return w[:i] + "or" + w[i+3:]
		}
		if w[i:i+2] == "is" && iseStems.Has(w[:i]) && iseEnds.Has(w[i+2:]) {
			return w[:i] + "iz" + w[i+2:]
		}
	}
	return w
}

// Probable reports whether ws looks English: it has words of English, more of them than of its neighbours, and
// enough words that the tables know.
func Probable(ws Words) bool {
	strong, foreign, known := 0, 0, 0
	for _, w := range ws {
		if foreignScript(w.Text) {
			return false
		}
		t := w.Text
		if englishWords.Has(t) {
			strong++
		}
		if foreignWords.Has(t) {
			foreign++
		}
		if englishWords.Has(t) || StopWords.Has(t) || PresentVerbs.Has(t) || irregularPast.Has(t) || Likings.Has(t) ||
			OwnNouns.Has(t) || Prepositions.Has(t) || AgentVerbs.Has(t) {
			known++
		}
	}
	return strong > foreign && known*3 >= len(ws)
}

// Foreign reports whether ws looks like another language: it has letters of another script, or more words of others
// than of English. A few words may be of either.
func Foreign(ws Words) bool {
	own, foreign := 0, 0
	for _, w := range ws {
		if foreignScript(w.Text) {
			return true
		}
		if englishWords.Has(w.Text) {
			own++
		}
		if foreignWords.Has(w.Text) {
			foreign++
		}
	}
	return foreign > own
}

// foreignScript reports whether w has a letter that is not Latin.
func foreignScript(w string) bool {
	for _, r := range w {
		if r > unicode.MaxLatin1 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return true
		}
	}
	return false
}
