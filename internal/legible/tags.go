package legible

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// angles are the characters that look like "<". Unicode's list of confusable
// characters has them, except for the brackets of East Asia and of mathematics.
const angles = "<＜﹤︿‹˂❮❬〈〈⟨⧼ᐸᚲ≺𝈶"

var tagBegin = regexp.MustCompile(`[` + angles + `]\s*\P{L}{0,3}\s*(\pL.{0,400})`)

// blockTag is the name in the tags of a block of memories, as the front of the
// text that follows an angle.
var blockTag = regexp.MustCompile(`^(?i:PAST\PL{0,3}CONVERSATIONS)`)

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
		if blockTag.MatchString(norm.NFKC.String(text[at[2]:at[3]])) {
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
