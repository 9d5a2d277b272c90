package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is in letters. Longer strings are not words (base64, hashes).
const longestWord = 100

// pieces splits texts into the pieces that have a row, as BERT's uncased WordPiece
// does (Devlin et al., 2019).
type pieces struct {
	first map[string]int // the rows of pieces at the beginning of a word
	later map[string]int // the rows of pieces within a word, without their ##
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

// each calls found with the row of every piece of text, in order. It skips words that
// cannot be split into pieces.
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
		case standsAlone(r):
			flush()
			word = utf8.AppendRune(word, r)
			flush()
		default:
			word = utf8.AppendRune(word, unicode.ToLower(r))
		}
	}
	flush()
}

// split appends the rows of a word's pieces, taking the longest piece that fits each
// time. A word that cannot be split gets none.
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

// dropped reports whether a character counts for nothing: control and format
// characters, accents, and the replacement of invalid UTF-8.
func dropped(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < ' ' || r == 0x7f) && r != '\t' && r != '\n' && r != '\r'
	}
	return r == utf8.RuneError || unicode.In(r, unicode.C, unicode.Mn)
}

// cjk has the ranges that BERT's tokenizer takes for Chinese characters.
var cjk = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4DBF, 1}, {0x4E00, 0x9FFF, 1}, {0xF900, 0xFAFF, 1}},
	R32: []unicode.Range32{
		{0x20000, 0x2A6DF, 1}, {0x2A700, 0x2B73F, 1}, {0x2B740, 0x2B81F, 1}, {0x2B820, 0x2CEAF, 1},
		{0x2F800, 0x2FA1F, 1},
	},
}

// standsAlone reports whether a character is a word by itself: punctuation, the
// ASCII symbols, and Chinese characters.
func standsAlone(r rune) bool {
	if r < utf8.RuneSelf {
		return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
	}
	return unicode.Is(cjk, r) || unicode.IsPunct(r)
}
