package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is in letters: a longer one is no word (base64, hashes).
const longestWord = 100

// pieces finds the pieces of a text that have a row, as BERT's uncased
// WordPiece does (Devlin et al., 2019).
type pieces struct {
	first map[string]int // pieces that a word may begin with
	later map[string]int // pieces that go on with it, without their ##
	bytes int            // of the longest piece
}

func newPieces(list []string) pieces {
	p := pieces{first: make(map[string]int, len(list)), later: map[string]int{}}
	for row, piece := range list {
		p.bytes = max(p.bytes, len(piece))
		if rest, ok := strings.CutPrefix(piece, "##"); ok && rest != "" {
			p.later[rest] = row
		} else {
			p.first[piece] = row
		}
	}
	return p
}

// each calls found for every piece of text, in order. A word of which a part
// is no piece has none.
func (p pieces) each(text string, found func(row int)) {
	var word []byte
	var rows []int
	flush := func() {
		rows = p.split(word, rows[:0])
		for _, row := range rows {
			found(row)
		}
		word = word[:0]
	}
	for _, r := range norm.NFD.String(text) {
		switch {
		case dropped(r):
		case unicode.IsSpace(r):
			flush()
		case alone(r):
			flush()
			word = utf8.AppendRune(word, r)
			flush()
		default:
			word = utf8.AppendRune(word, unicode.ToLower(r))
		}
	}
	flush()
}

// split appends the rows of a word's pieces: each time the longest piece that
// fits.
func (p pieces) split(word []byte, rows []int) []int {
	if utf8.RuneCount(word) > longestWord {
		return rows
	}
	known := p.first
	for start := 0; start < len(word); {
		end := min(len(word), start+p.bytes)
		for ; end > start; end-- {
			if row, ok := known[string(word[start:end])]; ok {
				rows = append(rows, row)
				break
			}
		}
		if end == start {
			return rows[:0]
		}
		start, known = end, p.later
	}
	return rows
}

// dropped are control and format characters, accents, and what stands for a
// byte that is no UTF-8.
func dropped(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < ' ' || r == 0x7f) && r != '\t' && r != '\n' && r != '\r'
	}
	return r == utf8.RuneError || unicode.In(r, unicode.C, unicode.Mn)
}

// alone are characters that are a word each: punctuation, all that ASCII has
// besides letters and digits, and Chinese characters.
func alone(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	case 0x4E00 <= r && r <= 0x9FFF,
		0x3400 <= r && r <= 0x4DBF,
		0x20000 <= r && r <= 0x2A6DF,
		0x2A700 <= r && r <= 0x2B73F,
		0x2B740 <= r &&
			r <= 0x2B81F,
		0x2B820 <= r && r <= 0x2CEAF,
		0xF900 <= r && r <= 0xFAFF,
		0x2F800 <= r && r <= 0x2FA1F:
		return true
	default:
		return unicode.IsPunct(r)
	}
}
