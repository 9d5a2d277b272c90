package legible

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// angles are the characters that look like "<". Unicode's list of confusable
// characters has them, except for the brackets of East Asia and of mathematics.
const angles = "<＜﹤︿‹˂❮❬〈〈⟨⧼ᐸᚲ≺𝈶"

var tagBegin = regexp.MustCompile(`[` + angles + `]\s*\P{L}{0,3}\s*(\pL.{0,400})`)

// blockTag is the name in the tags of a block of memories, as the front of the
// text that follows an angle.
var blockTag = regexp.MustCompile(`^(?i:PAST\PL{0,3}CONVERSATIONS)|` +
	// Letters of other alphabets look like those of the name: its shape tells it too.
	`^[\pL\pN]{4}[^\pL\pN]{0,3}[\pL\pN]{13}([^\pL\pN]|$)`)

// baseLetters returns text without compatibility forms, accents and other marks.
func baseLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
}

// EscapeTags writes the angle of what looks like a tag of a block of memories as
// "&lt;", so that text in a block cannot end it. It recognizes the tag in other
// characters that look like those of it: "＜／ＰＡＳＴ＿ＣＯＮＶＥＲＳＡＴＩＯＮＳ".
func EscapeTags(text string) string {
	if !strings.ContainsAny(text, angles) {
		return text
	}
	var out strings.Builder
	for {
		at := tagBegin.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		angle := at[0] + len(firstRune(text[at[0]:]))
		out.WriteString(text[:at[0]])
		if blockTag.MatchString(baseLetters(text[at[2]:at[3]])) {
			out.WriteString("&lt;")
		} else {
			out.WriteString(text[at[0]:angle])
		}
		text = text[angle:]
	}
}

func firstRune(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}
