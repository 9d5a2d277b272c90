package redact

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c|0x20) && c < 0x80 }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// charset is a set of bytes.
type charset [256]bool

// chars makes a charset of ranges, such as "a-z0-9_"; a '-' at the end is itself.
func chars(ranges string) *charset {
	var set charset
	for i := 0; i < len(ranges); i++ {
		if i+2 < len(ranges) && ranges[i+1] == '-' {
			for c := int(ranges[i]); c <= int(ranges[i+2]); c++ {
				set[c] = true
			}
			i += 2
			continue
		}
		set[ranges[i]] = true
	}
	return &set
}

// run returns where the bytes of a set end that begin at i.
func (set *charset) run(text string, i int) int {
	for i < len(text) && set[text[i]] {
		i++
	}
	return i
}

// begins reports whether a word may begin at i: no letter or digit comes before it. A
// letter beyond ASCII does not count, as some scripts put no space between words.
func begins(text string, i int) bool {
	return i == 0 || !isAlnum(text[i-1]) && text[i-1] != '_' || escaped(text, i)
}

// escaped reports whether the letter before i belongs to an escape, as the n of "\n" in
// JSON within a text.
func escaped(text string, i int) bool {
	return i >= 2 && text[i-2] == '\\' && (text[i-1] == 'n' || text[i-1] == 't' || text[i-1] == 'r')
}

// ends reports whether a word may end before i.
func ends(text string, i int) bool { return i >= len(text) || !isAlnum(text[i]) && text[i] != '_' }

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// variety is which kinds of characters a text has.
type variety struct{ lower, upper, digit, symbol, wide, inner bool }

func varietyOf(s string) (v variety) {
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c):
			v.lower = true
		case isUpper(c):
			v.inner = v.inner || i > 0 && isLower(s[i-1])
			v.upper = true
		case isDigit(c):
			v.digit = true
		case c >= 0x80:
			v.wide = true
		default:
			v.symbol = true
		}
	}
	return v
}

// random reports whether a text of at least least bytes looks as a machine made it: it
// has digits among letters, and not the few characters over and over of a placeholder.
func random(s string, least int) bool {
	if len(s) < least {
		return false
	}
	v := varietyOf(s)
	if !v.digit || !v.lower && !v.upper {
		return false
	}
	// 2.5 bits are those of six characters in equal shares: "xxxx1234" and "aaaa0000" have
	// less, and a random text of 12 characters has more than 3.
	return entropy(s) >= 2.5 && !placeholder(s)
}

// placeholder reports whether a value stands for a secret and is none.
func placeholder(s string) bool {
	low := strings.ToLower(s)
	for _, p := range []string{"example", "your", "xxxx", "****", "....", "placeholder", "changeme", "redacted",
		"dummy"} {
		if strings.Contains(low, p) && len(low) < len(p)+16 {
			return p != "example" || !strings.ContainsAny(s, "0123456789") || strings.Contains(low, "example.")
		}
	}
	return s[0] == '<' || s[0] == '$' || strings.HasPrefix(s, "%(") || strings.HasPrefix(s, "{{")
}

// lowerBefore is up to n bytes of the text before i in lower case.
func lowerBefore(text string, i, n int) string {
	return strings.ToLower(cutLeft(text[max(0, i-n):i], i > n))
}

// lowerAfter is up to n bytes of the text from i in lower case.
func lowerAfter(text string, i, n int) string { return strings.ToLower(text[i:min(len(text), i+n)]) }

// cutLeft leaves out the rest of a character at the beginning of a text that was cut.
func cutLeft(s string, cut bool) string {
	for cut && len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// wordsIn splits a text in lower case into words: runs of letters and marks.
func wordsIn(low string) []string {
	return strings.FieldsFunc(low, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) &&
			r != '\''
	})
}
