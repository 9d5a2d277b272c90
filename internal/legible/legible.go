// Package legible makes text safe to show to a language model: what a person
// could not see in it is not there. Text that a model reads goes through [Text] or
// [Line], whatever the road: blocks, tools, MCP, ADK and memoryd's own prompts.
//
// Unicode has thousands of characters without a glyph. Whole sentences can be
// written in them, which a model reads and no person sees. The few of them that
// scripts and emoji need stay, in the places where those need them; see [Runes].
// What is stored is never changed: the words of people stay as they were said.
package legible

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text without the characters that cannot be seen. Line breaks of
// all kinds become "\n", other white space but tabs becomes blanks, and characters
// of private use become U+FFFD. Text of the result is the result.
func Text(text string) string {
	if isPlain(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range Runes(text) {
		out.WriteRune(r)
	}
	return out.String()
}

// Line returns Text as one line: single blanks separate its words.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// isPlain reports whether text is printable ASCII, tabs and line feeds.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Runes yields the characters of Text, each with the index in text of the
// character that it stands for. Of the characters that cannot be seen these stay:
//
//   - A joiner (U+200C, U+200D) beside a virama, as Indic scripts use it, and one
//     after a letter of a script whose letters join, such as Arabic; U+200D only
//     at the end of a word there, as within a word it changes nothing.
//   - U+200D between two emoji, U+FE0E or U+FE0F after one, and U+FE0F within a
//     keycap.
//   - The tags of the flags of England, Scotland and Wales.
//   - A Mongolian vowel separator or variation selector after a Mongolian letter.
//   - A joiner of Egyptian hieroglyphs after a hieroglyph.
//   - A sign that encloses or underlines a number, of Arabic or Kaithi, in front of
//     a digit, and the abbreviation mark of Syriac in front of a letter.
//
// All other variation selectors only choose between glyphs of one character, and
// direction marks between orders on a screen, so they are removed.
func Runes(text string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		s := scanner{text: text}
		for i, r := range text {
			if shown, ok := s.show(i, r); ok && !yield(i, shown) {
				return
			}
		}
	}
}

// scanner decides on one character after the other.
type scanner struct {
	text string
	last rune // the last character that stays
	base rune // the last of these that can be seen
	tags int  // the text up to here is a part of a flag

	seen   rune // the first character that can be seen
	seenAt int  // from here on, as far as next has looked
}

// show returns the character to show for r, which is at an index of the text, and
// false for none.
func (s *scanner) show(i int, r rune) (rune, bool) {
	switch {
	case r == '\r' && s.next(i) == '\n':
		return 0, false
	case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		r = '\n'
	case r == '\t':
	case unicode.Is(unicode.Zs, r) || unicode.Is(blank, r):
		r = ' '
	case unicode.Is(unicode.Co, r):
		r = utf8.RuneError
	case r == flag:
		s.tags = i + utf8.RuneLen(flag) + lengthOfTags(s.text[i+utf8.RuneLen(flag):])
	case i < s.tags:
		s.last = r
		return r, true
	case hidden(r):
		if !s.needed(r, s.next(i)) {
			return 0, false
		}
		s.last = r
		return r, true
	}
	s.last, s.base = r, r
	return r, true
}

// next returns the first character after index i that can be seen; 0 for none. It
// remembers where that is, so that a long run of hidden characters is read once.
func (s *scanner) next(i int) rune {
	if i < s.seenAt {
		return s.seen
	}
	_, n := utf8.DecodeRuneInString(s.text[i:])
	for s.seenAt = i + n; s.seenAt < len(s.text); s.seenAt += n {
		if s.seen, n = utf8.DecodeRuneInString(s.text[s.seenAt:]); !hidden(s.seen) {
			return s.seen
		}
	}
	s.seen = 0
	return 0
}

// hidden reports whether a character has no glyph of its own. The reserved ones of
// Unicode's Default_Ignorable_Code_Point are among them, so that later versions of
// Unicode add no characters here.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' || unicode.IsSpace(r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector, unicode.Noncharacter_Code_Point, glyphless)
}

// needed reports whether a hidden character has a use between the last character
// that stays and the next one of the text.
func (s *scanner) needed(r, next rune) bool {
	switch {
	case r == zwj && isPictograph(s.base) && isPictograph(next):
		return s.last != zwj
	case r == zwj || r == zwnj:
		return s.joins(r, next)
	case r == textStyle || r == emojiStyle:
		return isPictograph(s.last) || r == emojiStyle && next == keycap && strings.ContainsRune("0123456789#*", s.last)
	case unicode.Is(mongolianSelectors, r):
		return unicode.Is(unicode.Mongolian, s.last) && unicode.IsLetter(s.last)
	case unicode.Is(hieroglyphJoiners, r):
		return unicode.Is(unicode.Egyptian_Hieroglyphs, s.last) && unicode.IsLetter(s.last)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return unicode.Is(unicode.Nd, next) || unicode.IsLetter(next) && unicode.In(next, unicode.Syriac)
	}
	return false
}

// joins reports whether a joiner changes how the letters beside it are written.
func (s *scanner) joins(joiner, next rune) bool {
	if isVirama(s.last) || isVirama(next) && unicode.IsLetter(s.last) {
		return true
	}
	if !isCursive(s.last) {
		return false
	}
	return joiner == zwnj || !isCursive(next)
}

// isCursive reports whether a character is of a script whose letters join.
func isCursive(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Mn) && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mandaic,
		unicode.Nko, unicode.Mongolian, unicode.Phags_Pa, unicode.Manichaean, unicode.Psalter_Pahlavi, unicode.Adlam,
		unicode.Hanifi_Rohingya, unicode.Sogdian, unicode.Old_Sogdian, unicode.Chorasmian, unicode.Old_Uyghur)
}
