package retrieve

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/internal/legible"
)

// clean returns text as one line that nothing of the block's own form can be
// mistaken for: a second line, a citation, a tag.
func clean(text string) string {
	text = withoutCitations(legible.Line(text))
	text = entity.ReplaceAllString(text, "&amp;$1")
	text = strings.NewReplacer("<", "&lt;", "＜", "&lt;", "﹤", "&lt;").Replace(text)
	return legible.EscapeTags(text)
}

// entity matches a bracket or an angle as HTML writes it, which a reader of HTML
// or Markdown sees as the bracket itself. "&lt;" is what clean writes.
var entity = regexp.MustCompile(`&(#\w+;|[lr](?:sqb|brack|bbrk|obrk|brke)\w*;)`)

// withoutCitations makes round brackets of those around a number, so that the text
// cannot cite. The brackets may be of any script, and need not match: a model takes
// "【1]" for "[1]". Brackets around words alone stay, as in "a[i]".
func withoutCitations(text string) string {
	if !strings.ContainsFunc(text, isOpening) && !strings.ContainsFunc(text, isClosing) {
		return text
	}
	runes := []rune(text)
	number := false // is between the bracket that opens and here
	for i, r := range runes {
		switch {
		case isOpening(r):
			number = false
		case isNumber(r):
			number = true
		case isClosing(r) && number:
			runes[i] = ')'
		case isClosing(r):
			number = false
		}
	}
	number = false // is between here and the bracket that closes
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case isClosing(r):
			number = false
		case isNumber(r):
			number = true
		case isOpening(r) && number:
			runes[i] = '('
		}
	}
	return string(runes)
}

// isNumber reports whether a character is a number of any script: "[1]", "[²]",
// "[④]", "[一]".
func isNumber(r rune) bool {
	return unicode.IsNumber(r) || r > unicode.MaxLatin1 && strings.ContainsRune("一二三四五六七八九十", r)
}

// isOpening reports whether a character can stand for "[", and isClosing whether
// it can for "]". Round and curly brackets and quotation marks cannot.
func isOpening(r rune) bool {
	return r == '[' || r > unicode.MaxLatin1 &&
		(unicode.Is(unicode.Ps, r) && !strings.ContainsRune(notSquare, r) || strings.ContainsRune("⎡⎢⎣⊏⊑˹˻", r))
}

func isClosing(r rune) bool {
	return r == ']' || r > unicode.MaxLatin1 &&
		(unicode.Is(unicode.Pe, r) && !strings.ContainsRune(notSquare, r) || strings.ContainsRune("⎤⎥⎦⊐⊒˺˼", r))
}

// notSquare are the brackets of Unicode that do not look like square ones: round,
// curly, and the quotation marks of German and of East Asia.
const notSquare = "（）｛｝⁽⁾₍₎﹙﹚﹛﹜︵︶︷︸❨❩❪❫❴❵⦅⦆｟｠⸨⸩﴾﴿‚„「」『』｢｣﹁﹂﹃﹄〝〞〟"
