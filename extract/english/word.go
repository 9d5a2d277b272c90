package english

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word of a sentence in the spelling the rules compare: lower case, straight apostrophes, contractions
// taken apart ("I'm" is "i" and "am", both at the place of the whole), and some misspelled words as they should be.
type Word struct {
	Text       string
	Start, End int  // bytes of the sentence
	Stop       rune // the first mark between this word and the next; 0 if only space
	Upper      bool // written with a capital, or with one behind its first letter ("iPhone"), and not in capitals
}

// Words are the words of a sentence, in order.
type Words []Word

// At is the word at i, "" outside of ws.
func (ws Words) At(i int) string {
	if i < 0 || i >= len(ws) {
		return ""
	}
	return ws[i].Text
}

// String is ws as text, with one blank between words and no marks.
func (ws Words) String() string {
	var b strings.Builder
	for i, w := range ws {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// StartWith reports whether ws begins with the words of a phrase.
func (ws Words) StartWith(phrase ...string) bool {
	if len(ws) < len(phrase) {
		return false
	}
	for i, p := range phrase {
		if ws[i].Text != p {
			return false
		}
	}
	return true
}

// Has reports whether w is one of the words.
func (ws Words) Has(w string) bool {
	return slices.ContainsFunc(ws, func(x Word) bool { return x.Text == w })
}

// Any reports whether a word of s is in ws.
func (ws Words) Any(s Set) bool {
	for i := range ws {
		if s.Has(ws[i].Text) {
			return true
		}
	}
	return false
}

// WithoutFillers is ws without the words at its end that say nothing: "lol".
func (ws Words) WithoutFillers() Words {
	for n := len(ws) - 1; n > 1 && Fillers.Has(ws[n].Text); n-- {
		ws = ws[:n]
	}
	return ws
}

// Content counts the words that say something by themselves: all but the stop words.
func (ws Words) Content() int {
	n := 0
	for i := range ws {
		if !StopWords.Has(ws[i].Text) {
			n++
		}
	}
	return n
}

// Split reads the words of a sentence. Marks inside a word (T-shirt, 3.5, 1,100, o'clock) do not end it.
func Split(s string) Words {
	words := make(Words, 0, len(s)/5+1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !WordRune(r) {
			if len(words) > 0 && words[len(words)-1].Stop == 0 && !unicode.IsSpace(r) {
				words[len(words)-1].Stop = r
			}
			i += n
			continue
		}
		end := wordEnd(s, i)
		second, _ := utf8.DecodeRuneInString(s[i+n:])
		camel := unicode.IsLower(r) && unicode.IsUpper(second) && end-i > len("kWh") // "iPhone"
		words = appendWord(words, s[i:end], i, end, camel || unicode.IsUpper(r) && !unicode.IsUpper(second))
		i = end
	}
	for k := range words[:max(len(words)-1, 0)] {
		// "VS Code" is one name.
		w, next := &words[k], words[k+1]
		in := s[w.Start:w.End]
		w.Upper = w.Upper || w.Stop == 0 && next.Upper && len(in) > 1 && len(in) < 5 && in == strings.ToUpper(in) &&
			unicode.IsLetter(rune(in[0]))
	}
	return withIs(words)
}

// withIs takes "is" apart from the noun before it where hardly a possession follows: "my mom's 79", "the wedding's on
// Friday", "its too hot".
func withIs(ws Words) Words {
	for i := 0; i+1 < len(ws); i++ {
		if ws[i].Stop == '.' && titles.Has(ws[i].Text) {
			ws[i].Stop = 0 // "Dr. Lee"
		}
		next := ws[i+1].Text
		noun, ok := strings.CutSuffix(ws[i].Text, "'s")
		switch {
		case ws[i].Stop != 0:
			continue
		case ok, ws[i].Text == "its":
			noun = strings.TrimSuffix(ws[i].Text, "s")
			noun = strings.TrimSuffix(noun, "'")
			ok = complements.Has(next) || StartsWithDigit(next) || StartsWithDigit(spellings.Of(next))
		default:
			noun, ok = bareIs(ws, i)
		}
		if !ok {
			continue
		}
		is := ws[i]
		is.Text, is.Upper = "is", false
		ws[i].Text = noun
		ws = slices.Insert(ws, i+1, is)
	}
	return ws
}

// bareIs is the noun before an "is" that is written without its apostrophe, behind "my" at the front of a clause: "my
// phones a Pixel", "my birthdays the 3rd", "my daughter Ellas 6". A verb would stand where the article does.
func bareIs(ws Words, i int) (noun string, ok bool) {
	w, next := ws[i].Text, ws[i+1].Text
	noun = strings.TrimSuffix(w, "s")
	if len(w) < 4 || noun == w || strings.HasSuffix(noun, "s") || notPlural.Has(w) || OwnNouns.Has(w) {
		return "", false
	}
	front := func(k int) bool { return ws.At(k) == "my" && (k == 0 || ws[k-1].Stop != 0) }
	switch {
	case front(i - 1):
		return noun, next == "a" || next == "an" || next == "the"
	case front(i-2) && OwnNouns.Has(ws[i-1].Text) && ws[i-1].Stop == 0 && StartsWithDigit(next):
		after := ws.At(i + 2)
		return noun, ws[i+1].Stop != 0 || after == "" || after == "and" || after == "now" || after == "years"
	}
	return "", false
}

// appendWord adds the word that stands at s[start:end], or those of the contraction that it is.
func appendWord(words Words, raw string, start, end int, upper bool) Words {
	text := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
	long := contractions.Of(text)
	if long == "" {
		if right := corrected(text); right != "" {
			text = right
		}
		return append(words, Word{Text: text, Start: start, End: end, Upper: upper})
	}
	for part := range strings.SplitSeq(long, " ") {
		words = append(words, Word{Text: part, Start: start, End: end, Upper: upper})
	}
	return words
}

// wordEnd is the end of the word that starts at i.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if WordRune(r) {
			i += n
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		within := strings.ContainsRune("'’-.:/@_+", r) && WordRune(next) ||
			r == ',' && EndsWithDigit(s[:i]) && StartsWithDigit(s[i+n:]) // "1,100", "71,5 kg"
		if !within {
			return i
		}
		i += n
	}
	return i
}

// WordRune reports whether r is part of a word and no mark: a letter, a digit, or an accent on one.
func WordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// StartsWithDigit reports whether the first byte of s is a digit.
func StartsWithDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// EndsWithDigit reports whether the last byte of s is a digit.
func EndsWithDigit(s string) bool { return s != "" && '0' <= s[len(s)-1] && s[len(s)-1] <= '9' }

var household = tables.Words("household")

// A noun with "the" before it may be anybody's. But people call only their own family "the twins" or "the family"
// without saying whose it is.

// OfHousehold is ws with "our" for "the" before those who live with the speaker: "the twins turned five", "the whole
// family moved". The words keep their places in the sentence.
func (ws Words) OfHousehold(i int) Words {
	noun := i + 1
	if w := ws.At(noun); w == "whole" || w == "entire" {
		noun++
	}
	if ws.At(i) != "the" || !household.Has(ws.At(noun)) || noun+1 >= len(ws) || ws[noun].Stop != 0 {
		return ws
	}
	verb := noun + 1
	for verb+1 < len(ws) && Adverbs.Has(ws[verb].Text) {
		verb++
	}
	if v := ws.At(verb); !Auxiliaries.Has(v) && !Past(v) && !presentOf(v) {
		return ws
	}
	out := append(Words{}, ws[:i]...)
	our := ws[i]
	our.Text = "our"
	return append(append(out, our), ws[noun:]...)
}
