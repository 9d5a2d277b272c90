package analyzer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// word is a word of a text before it is stemmed.
type word struct {
	form string    // after fold
	raw  string    // as written; "" if without case and accents
	stop languages // those in which it is a function word
}

// splitter collects the words of a text.
type splitter struct {
	out   []word
	begun bool     // a sentence has begun, so a capital marks a name
	run   []string // neighbouring characters of text without spaces
	kind  kind     // of run
}

// split gives the words of a text. For text without spaces these are its pairs
// of characters.
func split(text string) []word {
	s := splitter{out: make([]word, 0, len(text)/5)}
	tokens := words.FromString(text)
	for tokens.Next() {
		s.token(tokens.Value())
	}
	s.flush()
	return s.out
}

func (s *splitter) token(raw string) {
	form := fold(raw)
	if form == "" {
		s.flush()
		s.begun = s.begun && (raw == " " || raw == ",")
		return
	}
	if strings.IndexFunc(form, unspaced) < 0 {
		s.flush()
		s.add(form, raw)
	} else {
		s.mixed(form)
	}
	s.begun = true
}

// mixed adds a word that contains, or is, text without spaces: "2023年", "K팝".
func (s *splitter) mixed(form string) {
	for form != "" {
		n := strings.IndexFunc(form, unspaced)
		if n == 0 {
			r, n := utf8.DecodeRuneInString(form)
			if k := kindOf(r); k != s.kind {
				s.flush()
				s.kind = k
			}
			n = len(form) - len(strings.TrimLeftFunc(form[n:], unicode.IsMark))
			s.run = append(s.run, form[:n])
			form = form[n:]
			continue
		}
		if n < 0 {
			n = len(form)
		}
		s.flush()
		if part := fold(form[:n]); part != "" {
			s.add(part, "")
		}
		form = form[n:]
	}
}

// flush ends a run of characters. Two neighbouring characters are a term, as
// words of Chinese and Japanese mostly have two characters, and longer words
// share their pairs. Each Chinese character is a term too, as many are words:
// pairs and characters together find more than either (Nie et al., "On the Use
// of Words and N-grams for Chinese Information Retrieval", 2000). A Korean word
// starts with its noun, which may be one syllable, and ends with particles.
func (s *splitter) flush() {
	for i, c := range s.run {
		r, _ := utf8.DecodeRuneInString(c)
		if len(s.run) == 1 || s.kind == hangul && i == 0 || unicode.Is(unicode.Han, r) {
			s.add(c, "")
		}
		if i+1 < len(s.run) {
			s.add(c+s.run[i+1], "")
		}
	}
	s.run = s.run[:0]
}

// add adds a word unless it is too long. A word that may be a name, and has a
// capital within a sentence, is no function word.
func (s *splitter) add(form, raw string) {
	if len(form) > maxWord {
		return
	}
	w := word{form, raw, stops[form]}
	if w.stop&ambiguous != 0 && s.begun && capital(raw) {
		w.stop = 0
	}
	s.out = append(s.out, w)
}

// capital tells whether a word is a capital followed by small letters only.
func capital(raw string) bool {
	first, n := utf8.DecodeRuneInString(raw)
	notLower := func(r rune) bool { return !unicode.IsLower(r) }
	return n < len(raw) && unicode.IsUpper(first) && !strings.ContainsFunc(raw[n:], notLower)
}

// kind says how a script is cut into words.
type kind int

const (
	spaced  kind = iota // has spaces between words
	chinese             // Chinese characters and kana
	hangul              // has spaces, but a word ends with its particles
	thai                // Thai, Lao, Khmer, Burmese
)

func kindOf(r rune) kind {
	switch {
	case r < 0x0e00: // the first Thai character; all before have spaces
		return spaced
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		return chinese
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.IsLetter(r) && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return thai
	}
	return spaced
}

func unspaced(r rune) bool { return kindOf(r) != spaced }
