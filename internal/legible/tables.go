package legible

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	zwnj       = '\u200c' // zero width non-joiner
	zwj        = '\u200d' // zero width joiner
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
	keycap     = '\u20e3'
	flag       = '\U0001f3f4' // the black flag, which tags make the flag of a region
)

// regions are the tags after flag of the flags that Unicode recommends: those of
// England, Scotland and Wales. Any other tags would be a text of their own.
var regions = []string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged writes a name in tag characters, and the tag that ends it.
func tagged(name string) string {
	const tags, cancel = 0xe0000, "\U000e007f"
	return strings.Map(func(r rune) rune { return tags + r }, name) + cancel
}

// lengthOfTags returns the length of the tags that text begins with, if they make
// a flag.
func lengthOfTags(text string) int {
	for _, region := range regions {
		if strings.HasPrefix(text, region) {
			return len(region)
		}
	}
	return 0
}

// isPictograph reports whether a character is, or may become, an emoji: the ranges
// of Unicode's Extended_Pictographic, whose reserved parts have emoji of later
// versions, the modifiers of skin tone and the letters of flags.
func isPictograph(r rune) bool { return unicode.Is(pictographs, r) }

var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00a9, Hi: 0x00ae, Stride: 5}, // ©, ®
		{Lo: 0x203c, Hi: 0x2049, Stride: 13},
		{Lo: 0x2122, Hi: 0x2139, Stride: 23},
		{Lo: 0x2194, Hi: 0x21aa, Stride: 1}, // arrows
		{Lo: 0x231a, Hi: 0x23ff, Stride: 1},
		{Lo: 0x24c2, Hi: 0x24c2, Stride: 1},
		{Lo: 0x25aa, Hi: 0x25fe, Stride: 1},
		{Lo: 0x2600, Hi: 0x27bf, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2b05, Hi: 0x2b55, Stride: 1},
		{Lo: 0x3030, Hi: 0x303d, Stride: 13},
		{Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f000, Hi: 0x1faff, Stride: 1},
		{Lo: 0x1fc00, Hi: 0x1fffd, Stride: 1},
	},
	LatinOffset: 1,
}

// blank are characters that are white space to the eye, though not to Unicode:
// the empty cell of Braille, whose texts use it as a blank, and two blanks of
// Egyptian hieroglyphs.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x13441, Hi: 0x13442, Stride: 1}},
}

// glyphless are characters that have no glyph, though Unicode does not have them
// among those to ignore: the filler of Khitan and the musical null note head.
var glyphless = &unicode.RangeTable{R32: []unicode.Range32{
	{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1},
	{Lo: 0x1d159, Hi: 0x1d159, Stride: 1},
}}

var mongolianSelectors = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x180b, Hi: 0x180f, Stride: 1}}}

var hieroglyphJoiners = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x13430, Hi: 0x1343f, Stride: 1}}}

// isVirama reports whether a mark takes the vowel from the letter before it. Its
// combining class is 9 in every script that has one.
func isVirama(r rune) bool {
	const class = 9
	return r > unicode.MaxLatin1 && norm.NFC.PropertiesString(string(r)).CCC() == class
}
