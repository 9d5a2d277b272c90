package retrieve

import (
	_ "embed" // for words.txt
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed words.txt
var wordsText string

var tables = english.Parse(wordsText)

// The vocabularies, each of many languages; words.txt says what each is for.
var (
	whenWords    = vocabularyOf("when")
	nameWords    = vocabularyOf("name")
	presentWords = vocabularyOf("present")
	firstPerson  = vocabularyOf("first-person")
	secondPerson = vocabularyOf("second-person")
	timeWords    = vocabularyOf("time")
	pastWords    = vocabularyOf("past")
	changeWords  = vocabularyOf("change")
	besidesWords = vocabularyOf("besides")
	passingWords = vocabularyOf("passing")
	severalWords = vocabularyOf("several")
	orderWords   = vocabularyOf("order")

	roleWords    = tables.Words("role-words")
	nameFields   = tables.Words("name-fields")
	namePhrases  = slices.Collect(tables.Phrases("name-phrases").All())
	nameUnspaced = tables.Phrases("name-unspaced-phrases").Longest()
	denying      = tables.Words("denying-words")
	articles     = tables.Words("articles")
	tellWords    = tables.Words("tell-words")

	everythingAbout    = longestFirst(slices.Collect(tables.Phrases("everything-about-phrases").All()))
	everythingWords    = tables.Words("everything-words")
	everythingUnspaced = longestFirst(tables.Phrases("everything-about-unspaced").Longest())
	everythingPieces   = longestFirst(tables.Phrases("everything-unspaced").Longest())

	owners  = tables.Words("owner-words")
	lasting = tables.Words("lasting-words")

	formWords   = tables.Words("form-words")
	asking      = tables.Words("asking-words")
	determiners = tables.Words("determiners")
	pronouns    = tables.Words("pronouns")
	auxiliaries = tables.Words("auxiliaries")
	plurals     = tables.Words("plurals")
)

// vocabulary is words of many languages that have one meaning in common.
type vocabulary struct {
	words english.Set
	parts []string // of languages without spaces: each may stand anywhere in a text
}

func vocabularyOf(name string) vocabulary {
	return vocabulary{tables.Words(name + "-words"), tables.Phrases(name + "-unspaced").Longest()}
}

// in reports whether text, split into words, has a word of the vocabulary.
func (v vocabulary) in(words []string, text string) bool {
	return slices.ContainsFunc(words, v.words.Has) ||
		slices.ContainsFunc(v.parts, func(p string) bool { return strings.Contains(text, p) })
}
