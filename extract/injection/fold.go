package injection

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold writes a text in the one form that the lexicon is in: small letters without
// accents, in Unicode's compatible composition, without characters that nothing shows,
// and with Latin letters for those of other scripts that stand in Latin words.
func fold(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFKD.String(text) {
		switch {
		case r >= 0xE0020 && r <= 0xE007E: // tags spell ASCII that nothing shows
			b.WriteRune(unicode.ToLower(r - 0xE0000))
		case isMark(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		case r == 'ı':
			b.WriteByte('i')
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ł' || r == 'Ł':
			b.WriteByte('l')
		case r == 'ø' || r == 'Ø':
			b.WriteByte('o')
		case unicode.IsSpace(r) && r != '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return latinized(norm.NFC.String(b.String()))
}

// isPlain reports whether a text is ASCII, which needs no folding but that of case.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isMark reports whether a character is an accent of a letter of a script whose words
// are understood without: Latin, Greek, Cyrillic and Arabic.
func isMark(r rune) bool {
	return r >= 0x300 && r <= 0x36F || r >= 0x64B && r <= 0x65F || r == 0x670 || r == 0x640
}

// lookalikes are letters of other scripts that look like Latin ones.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'е': 'e', 'к': 'k', 'м': 'm', 'н': 'h', 'о': 'o', 'р': 'p', 'с': 'c', 'т': 't', 'у': 'y',
	'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'һ': 'h', 'г': 'r', 'п': 'n', 'ӏ': 'l',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'σ': 's', 'τ': 't',
	'υ': 'u', 'χ': 'x', 'γ': 'y', 'ω': 'w', 'ɑ': 'a', 'ɡ': 'g', 'ɩ': 'i', 'ʀ': 'r', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p',
	'ᴛ': 't', 'ᴄ': 'c', 'ᴇ': 'e', 'ᴀ': 'a', 'ɪ': 'i', 'ʟ': 'l', 'ѵ': 'v', 'ց': 'g', 'օ': 'o', 'ո': 'n', 'ս': 'u',
}

// latinized replaces lookalikes in words that have Latin letters too.
func latinized(text string) string {
	mixed := false
	for _, r := range text {
		if _, alike := lookalikes[r]; alike {
			mixed = true
			break
		}
	}
	if !mixed {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		switch {
		case end < 0:
			end = len(text)
		case end == 0:
			_, end = utf8.DecodeRuneInString(text)
		}
		one := text[:end]
		text = text[end:]
		if !strings.ContainsFunc(one, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }) {
			b.WriteString(one)
			continue
		}
		for _, r := range one {
			if latin, alike := lookalikes[r]; alike {
				r = latin
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isUnspaced reports whether words of the character's script are not parted by spaces.
func isUnspaced(r rune) bool {
	return r >= 0x2E80 && (r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x3FFFF || r == 'ー' || r == '々')
}

// digits are the letters that digits and signs stand for in words.
var digits = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s")

// unleet spells a word that has both letters and digits with letters alone.
func unleet(word string) string {
	letters := 0
	for i := range len(word) {
		if word[i] >= 'a' && word[i] <= 'z' {
			letters++
		}
	}
	if letters < 2 || letters == len(word) || !strings.ContainsAny(word, "013457@$") {
		return word
	}
	return digits.Replace(word)
}
