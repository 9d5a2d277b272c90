package analyzer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold gives the form in which words are compared: compatibility-decomposed,
// lower case, without accents and points, apostrophes, a possessive's s and an
// elided article ("l'"). It is "" for a token that is neither a word nor a
// pictogram.
func fold(token string) string {
	ascii, word := true, false
	for i := 0; i < len(token); i++ {
		c := token[i]
		ascii = ascii && c < utf8.RuneSelf
		word = word || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf
	}
	if !word {
		return ""
	}
	if ascii {
		return apostrophes(strings.ToLower(token))
	}
	token = foldRunes(token)
	if strings.IndexFunc(token, counts) < 0 {
		return ""
	}
	return apostrophes(token)
}

// counts tells whether a character can be a word by itself: a letter, a number
// or a pictogram.
func counts(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

// foldRunes folds character by character. Letters made of several parts are
// composed again after their accents are gone: syllables of Hangul, voiced
// kana.
func foldRunes(s string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(s, "")) {
		r = unicode.ToLower(r)
		switch {
		case r == '\u0306' && last == 'и', r == '\u0308' && last == 'і': // й and ї are letters
		case accent(r), unicode.Is(unicode.Cf, r), unicode.IsSpace(r), r == 'ـ':
			continue
		}
		last = r
		if v, ok := variants[r]; ok {
			b.WriteString(v)
		} else if zero := zeroOf(r); zero != 0 {
			b.WriteRune('0' + r - zero)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// accent tells whether a mark may be left out, as people often do: accents of
// Latin, Greek and Cyrillic, points of Hebrew and Arabic. The vowel signs of
// Indic scripts and Thai are marks too, but without them the word is another
// one. The same holds for voiced kana. The Arabic stemmer makes آ an ا itself;
// before that the mark tells the name آنا from "I".
func accent(r rune) bool {
	switch {
	case r < 0x300 || !unicode.In(r, unicode.Mn, unicode.Me):
		return false
	case r == '\u0653' || r == '\u3099' || r == '\u309a': // of آ, が and ぱ
		return false
	case r == '\u093c': // in Persian loanwords of Hindi, often left out
		return true
	}
	return unicode.In(r, unicode.Inherited, unicode.Common, unicode.Latin, unicode.Greek, unicode.Cyrillic,
		unicode.Hebrew, unicode.Arabic, unicode.Syriac)
}

// variants are letters that decomposing does not change, with their common
// replacements: on keyboards that lack them, on other computers, at the end of
// a word.
var variants = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", '’': "'", 'ʼ': "'",
	'ς': "σ",
	'ی': "ي", 'ک': "ك", 'ٱ': "ا",
	'ँ': "ं", // Hindi writes either
}

// zeroOf gives the zero of the digits that r belongs to; 0 for common digits
// and other characters.
func zeroOf(r rune) rune {
	for _, zero := range [...]rune{'٠', '۰', '०', '০', '๐'} {
		if zero <= r && r <= zero+9 {
			return zero
		}
	}
	return 0
}

// apostrophes removes a possessive's s, an elided article and apostrophes.
func apostrophes(w string) string {
	if strings.IndexByte(w, '\'') < 0 {
		return w
	}
	return strings.ReplaceAll(elision(strings.TrimSuffix(w, "'s")), "'", "")
}

// elision removes the short words that French, Italian and Catalan elide before
// a vowel. It does so in any text, as a name is the same with them ("chez
// l'Anna", "d'Anna"). But s' stays: English has s'mores.
func elision(w string) string {
	before, after, found := strings.Cut(w, "'")
	if found && after != "" && elided[before] {
		return after
	}
	return w
}

var elided = map[string]bool{
	"c": true, "d": true, "j": true, "l": true, "m": true, "n": true, "t": true,
	"qu": true, "jusqu": true, "lorsqu": true, "puisqu": true,
	"un": true, "gl": true, "all": true, "dall": true, "dell": true, "nell": true, "sull": true, "quell": true,
	"quest": true,
}
