package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// polyglot is a static model and a lexicon, whose words of other languages have rows of
// the model: those of English words with their meaning. The vector of an English text is
// the static model's.
type polyglot struct {
	*static
	lexicon *lexicon
	latin   []byte // the languages in Latin letters
}

func newPolyglot(m *static, x *lexicon) *polyglot {
	p := &polyglot{static: m, lexicon: x}
	for _, code := range []string{"en", "de", "es", "fr", "pt", "it", "nl", "pl", "tr"} {
		if language, ok := x.languages[code]; ok {
			p.latin = append(p.latin, language)
		}
	}
	return p
}

// token is a run of letters of one script, in small letters, or another character.
type token struct {
	text   string
	script script
}

// script is a kind of letters, and says which languages a word may be of.
type script int

const (
	symbol script = iota
	latin
	cyrillic
	arabic
	devanagari
	hangul
	east // Chinese characters and kana
	number
	other
)

func scriptOf(r rune) script {
	switch {
	case 'a' <= r && r <= 'z':
		return latin
	case unicode.IsNumber(r):
		return number
	case r < utf8.RuneSelf || !unicode.IsLetter(r):
		return symbol
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		return east
	}
	return other
}

// unwritten reports whether a character changes nothing about a word: the vowel signs and
// the stretching of Arabic, and invisible characters.
func unwritten(r rune) bool {
	return '\u064b' <= r && r <= '\u0652' || r == '\u0640' || unicode.Is(unicode.Cf, r)
}

// tokens splits a text into words and other characters without spaces.
func tokens(text string) []token {
	var out []token
	var word []byte
	kind := symbol
	flush := func() {
		if len(word) > 0 {
			out = append(out, token{string(word), kind})
			word = word[:0]
		}
	}
	text = norm.NFKC.String(text)
	// A ligature of Arabic becomes up to 18 letters: the bound on the work holds for these.
	for _, r := range text[:min(len(text), longestText)] {
		if unwritten(r) {
			continue
		}
		r = unicode.ToLower(r)
		is := scriptOf(r)
		switch {
		case is == symbol && unicode.IsMark(r) && len(word) > 0: // a vowel of Hindi, or an accent
			word = utf8.AppendRune(word, r)
		case is == symbol:
			flush()
			if !unicode.IsSpace(r) {
				out = append(out, token{string(r), symbol})
			}
		default:
			if is != kind {
				flush()
			}
			kind, word = is, utf8.AppendRune(word, r)
		}
	}
	flush()
	return out
}

// How the language of a text in Latin letters is told. In these bounds no turn of an English
// conversation is taken for another language, and a sentence of five words in one of the
// others hardly ever for English. Frequencies are those of entry.frequency.
const (
	guessWords   = 64 // that are looked at, the first
	rareWord     = 25 // the frequency that an unknown word is taken to have
	guessMargin  = 80 // how much more frequent all words together must be than in English
	guessPerWord = 5  // and by how much for each word
	loneMargin   = 40 // the margin of a text of one word
	loneEnglish  = 85 // how frequent it may be in English: hat is more frequent in German
)

// guess returns the language of the words in Latin letters, in which they are most
// frequent, and whether it is another than English.
func (p *polyglot) guess(ts []token) (language byte, foreign bool) {
	var score [256]int
	words := 0
	for _, t := range ts {
		if t.script != latin {
			continue
		}
		if words++; words > guessWords {
			break
		}
		for _, l := range p.latin {
			score[l] += max(p.lexicon.word(l, t.text).frequency(), rareWord)
		}
	}
	english := p.latin[0]
	best := english
	for _, l := range p.latin {
		if score[l] > score[best] {
			best = l
		}
	}
	ahead := score[best] - score[english]
	if words == 1 {
		return best, ahead >= loneMargin && score[english] <= loneEnglish
	}
	return best, ahead > 0 && ahead >= guessMargin+guessPerWord*min(words, guessWords)
}

// vector returns the vector of a text. It is the static model's unless the text has words
// of another language.
func (p *polyglot) vector(text string) []float32 {
	text = text[:min(len(text), longestText)]
	ts := tokens(text)
	tongue := p.tongueOf(ts)
	s := &sum{polyglot: p, numbers: make([]float64, p.dimension)}
	if !tongue.foreign {
		s.english(text, 1)
	}
	for _, t := range ts {
		if t.script != latin || tongue.foreign {
			s.token(tongue, t)
		}
	}
	if !s.known {
		clear(s.numbers)
	}
	return unit(s.numbers)
}

// tongue is the language of a text.
type tongue struct {
	language byte // of the words in Latin letters
	foreign  bool // these are not English
	home     byte // the language of Chinese characters
}

// tongueOf tells the language of the words of a text.
func (p *polyglot) tongueOf(ts []token) (out tongue) {
	out.language, out.foreign = p.guess(ts)
	for _, t := range ts {
		if out.home = p.lexicon.languages["zh"]; t.script == east && strings.ContainsFunc(t.text, kana) {
			out.home = p.lexicon.languages["ja"]
			break
		}
	}
	return out
}

// token adds a word of a text.
func (s *sum) token(in tongue, t token) {
	switch t.script {
	case latin:
		if !in.foreign {
			s.english(t.text, 1)
		} else if !s.word(in.language, t.text) {
			// A name, or a word of English: often both texts have it.
			s.english(t.text, unknownWeight)
		}
	case cyrillic:
		s.word(s.lexicon.languages["ru"], t.text)
	case devanagari:
		s.word(s.lexicon.languages["hi"], t.text)
	case arabic:
		s.arabic(s.lexicon.languages["ar"], t.text)
	case hangul:
		s.prefix(s.lexicon.languages["ko"], t.text, 1)
	case east:
		s.unspaced(in.home, t.text)
	case number:
		if in.foreign {
			s.english(t.text, 1)
		}
	case symbol:
		// The model's rows of other symbols tell the language: ¿ is Spanish.
		if in.foreign && t.text[0] < utf8.RuneSelf {
			s.english(t.text, 1)
		}
	}
}

func kana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }

// unknownWeight is what the pieces of a word count that the lexicon does not have.
const unknownWeight = 0.5

// sum is a vector while it is made.
type sum struct {
	*polyglot
	numbers []float64
	known   bool // it has a word that tells something
	// found is called with each row instead of adding it, if it is not nil.
	found func(row int, weight float32)
}

// add adds a row of the model, weighted.
func (s *sum) add(row int, weight float32) {
	// Rounded to 24 bits, so that each product below is exact in a float64, and a
	// processor that fuses the two operations gets the same sum.
	step := float64(float32(s.steps[row] * weight))
	if step == 0 {
		return // as all pieces of other scripts
	}
	if s.found != nil {
		s.found(row, weight)
		return
	}
	s.known = s.known || !s.symbols[row]
	for i, n := range s.rows[row*s.dimension:][:s.dimension] {
		s.numbers[i] += step * float64(int8(n))
	}
}

// english adds a text by the pieces of the static model.
func (s *sum) english(text string, weight float32) {
	s.pieces.each(text, func(row int) { s.add(row, weight) })
}

func (s *sum) entry(e entry) {
	for i := range lexiconRows {
		if row, weight := e.row(i); weight > 0 {
			s.add(row, weight)
		}
	}
}

// word adds a word of a language with spaces: itself, the two words that it is made of,
// or the longest word that it begins with. It reports whether one of these is known.
func (s *sum) word(language byte, word string) bool {
	if e := s.lexicon.word(language, word); e.meaning() {
		s.entry(e)
		return true
	}
	if n := utf8.RuneCountInString(word); n < 5 || n > longestCompound {
		return false
	}
	return s.compound(language, word) || s.prefix(language, word, max(4, utf8.RuneCountInString(word)*6/10))
}

// Bounds of a compound, in characters.
const (
	longestCompound = 40
	shortestPart    = 4
)

// links are what German, Dutch and other languages put between the parts of a compound.
var links = []string{"", "s", "n", "en", "es", "er", "e"}

// compound adds the two known words that a word is made of. Of several ways to split it,
// the one with the most frequent parts is taken.
func (s *sum) compound(language byte, word string) bool {
	var first, second entry
	count, total := 0, utf8.RuneCountInString(word)
	for i := range word {
		if count++; count <= shortestPart || total-count+1 < shortestPart {
			continue
		}
		tail := s.lexicon.word(language, word[i:])
		if !tail.meaning() {
			continue
		}
		for _, link := range links {
			part, ok := strings.CutSuffix(word[:i], link)
			if !ok || len(part) < shortestPart-1 {
				continue
			}
			head := s.lexicon.word(language, part)
			if head.meaning() && min(head.frequency(), tail.frequency()) > min(first.frequency(), second.frequency()) {
				first, second = head, tail
			}
		}
	}
	if first == nil {
		return false
	}
	s.entry(first)
	s.entry(second)
	return true
}

// prefix adds the longest known word that a word begins with, of so many characters at
// least: the rest is an ending.
func (s *sum) prefix(language byte, word string, least int) bool {
	var best entry
	h, i := begin(language), 0
	for n := 1; i < len(word) && n <= longestCompound; n++ {
		_, size := utf8.DecodeRuneInString(word[i:])
		h = h.of(word[i : i+size])
		i += size
		if e := s.lexicon.find(h); n >= least && e.meaning() {
			best = e
		}
	}
	if best == nil {
		return false
	}
	s.entry(best)
	return true
}

// arabic adds an Arabic word, without the small words that are written together with it
// if it is not known with them.
func (s *sum) arabic(language byte, word string) {
	if utf8.RuneCountInString(word) > longestCompound {
		return // no word, and its prefixes would take the square of its length
	}
	for rest := word; ; {
		if e := s.lexicon.word(language, rest); e.meaning() {
			s.entry(e)
			return
		}
		cut := rest
		for _, clitic := range []string{"ال", "لل", "و", "ف", "ب", "ل", "ك", "س"} {
			if tail, ok := strings.CutPrefix(rest, clitic); ok && utf8.RuneCountInString(tail) >= 3 {
				cut = tail
				break
			}
		}
		if cut == rest {
			s.prefix(language, rest, 3)
			return
		}
		rest = cut
	}
}

// unspaced adds the words of a text without spaces, the longest that fits each time, and
// of Chinese in Japanese, or the other way round, where the first has none.
func (s *sum) unspaced(home byte, text string) {
	away := s.lexicon.languages["ja"]
	if home == away {
		away = s.lexicon.languages["zh"]
	}
	for text != "" {
		e, length := s.lexicon.longest(home, text)
		if length == 0 {
			e, length = s.lexicon.longest(away, text)
		}
		if length == 0 {
			_, length = utf8.DecodeRuneInString(text)
		} else {
			s.entry(e)
		}
		text = text[length:]
	}
}
