package injection

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is decoded of one text.
const (
	minEncoded   = 24      // characters
	maxDecodings = 16      // passages
	maxDecoded   = 8 << 10 // bytes of one
)

// encodings are passages that may be text in base64, in hexadecimal digits, or in
// escapes of URLs and of JSON.
var encodings = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}={0,2}|` +
	`(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9.]){0,3}(?:%[0-9A-Fa-f]{2}){4,}[%0-9A-Za-z.+-]*|` +
	`(?:\\u[0-9A-Fa-f]{4}){4,}|(?:\\x[0-9A-Fa-f]{2}){4,}|(?:[0-9A-Fa-f]{2} ){12,}`)

// decoded returns the texts that are hidden in a text: encoded passages, words whose
// letters are parted by spaces or signs, and words written backwards or shifted.
func decoded(text string) (out []string) {
	if strings.Contains(text, "&#") {
		out = append(out, html.UnescapeString(text))
	}
	if joined, ok := joinLetters(text); ok {
		out = append(out, joined)
	}
	lower := strings.ToLower(text)
	if strings.Contains(lower, "snoitcurtsni") || strings.Contains(lower, "tpmorp") {
		out = append(out, reversed(text))
	}
	if strings.Contains(lower, "vafgehpgvba") || strings.Contains(lower, "cebzcg") {
		out = append(out, strings.Map(rot13, text))
	}
	if !mayEncode(text) {
		return out
	}
	for _, passage := range encodings.FindAllString(text, maxDecodings) {
		if plain := decode(passage[:min(len(passage), 2*maxDecoded)]); plain != "" {
			out = append(out, plain)
		}
	}
	return out
}

// mayEncode reports whether a text may have encoded passages: a long run of characters
// without a space, escapes, or many groups of two digits. It takes a fraction of the time
// of the expression.
func mayEncode(text string) bool {
	run, pairs := 0, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '%' || c == '\\':
			return true
		case c == ' ':
			if run == 2 {
				pairs++
			}
			run = 0
		case c < 0x80 && c != '\n' && c != ',' && c != '"':
			if run++; run >= minEncoded {
				return true
			}
		default:
			run = 0
		}
	}
	return pairs >= 8
}

// decode decodes one passage; "" if it is no text.
func decode(passage string) string {
	switch {
	case strings.Contains(passage, "%"):
		if s, err := url.PathUnescape(passage); err == nil {
			return readable([]byte(s))
		}
		return ""
	case strings.HasPrefix(passage, `\`):
		return readable([]byte(unescaped(passage)))
	}
	compact := strings.ReplaceAll(passage, " ", "")
	if raw, err := hex.DecodeString(compact); err == nil {
		return readable(raw)
	}
	compact = strings.TrimRight(compact, "=")
	if len(compact) < minEncoded {
		return ""
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(compact, "-_") {
		encoding = base64.RawURLEncoding
	}
	if raw, err := encoding.DecodeString(compact); err == nil {
		return readable(raw)
	}
	return ""
}

// readable returns bytes as text, if they are text with words.
func readable(raw []byte) string {
	if !utf8.Valid(raw) {
		return ""
	}
	for _, r := range string(raw) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return ""
		}
	}
	return string(raw)
}

// unescaped reads escapes such as \u0041 and \x41.
func unescaped(s string) string {
	var b strings.Builder
	for len(s) > 2 {
		n := 2
		if s[1] == 'u' {
			n = 4
		}
		if s[0] != '\\' || len(s) < 2+n {
			break
		}
		r := rune(0)
		for _, c := range []byte(s[2 : 2+n]) {
			r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
		}
		if r >= 0 && utf8.ValidRune(r) {
			b.WriteRune(r)
		}
		s = s[2+n:]
	}
	return b.String()
}

// minLetters is how many letters in a row stand alone where words are spelled out.
const minLetters = 12

// joinLetters joins letters that are parted by spaces or signs, "i g n o r e" or
// "i.g.n.o.r.e". A wider gap parts words; without one the letters are parted into words
// of the lexicon.
func joinLetters(text string) (string, bool) {
	var out, run strings.Builder
	letters, gap, found := 0, 0, false
	flush := func() {
		if letters >= minLetters {
			found = true
			joined := run.String()
			if !strings.Contains(joined, " ") {
				joined = split(joined)
			}
			out.WriteString(" " + joined + " ")
		}
		run.Reset()
		letters = 0
	}
	previous := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		next, _ := utf8.DecodeRuneInString(text[i:])
		switch {
		case !wordLike(r):
			if gap++; r == '\n' {
				gap++
			}
		case !unicode.IsLetter(r) || isUnspaced(r) || wordLike(previous) || wordLike(next):
			flush()
			gap = 0
		default:
			if letters > 0 && gap > 1 {
				run.WriteByte(' ')
			}
			run.WriteRune(r)
			letters, gap = letters+1, 0
		}
		previous = r
	}
	flush()
	return out.String(), found
}

func wordLike(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// split parts letters without gaps into words of the lexicon, the longest at each place.
func split(letters string) string {
	l := terms()
	letters = fold(letters)
	var out strings.Builder
	for i := 0; i < len(letters); {
		best := 0
		for n := 2; n <= min(len(letters)-i, 24); n++ {
			if _, known := l.words[letters[i:i+n]]; known {
				best = n
			}
		}
		if best == 0 {
			_, best = utf8.DecodeRuneInString(letters[i:])
			out.WriteString(letters[i : i+best])
		} else {
			out.WriteString(" " + letters[i:i+best] + " ")
		}
		i += best
	}
	return out.String()
}

func reversed(text string) string {
	runes := []rune(text)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}
