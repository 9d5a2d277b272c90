// Package analyzer turns text into the words that memories are found by. It is
// the one analyzer for every backend, for storing and for asking, in any
// language.
//
// Text is cut at Unicode word boundaries (UAX 29), and case, accents and other
// variants of writing are folded. The rest depends on the word alone, as far as
// possible: the script tells the language of Cyrillic, Arabic, Devanagari or
// Tamil well enough to choose the stemmer, and Chinese, Japanese, Korean, Thai
// and similar scripts are cut into pairs of characters.
//
// The Latin script does not tell the language. There the language is guessed
// from the function words in the text, and a guess is often wrong or missing: a
// question is short, a name occurs in every language, people mix languages. So
// a word in the Latin script always gets the term that the English stemmer
// makes of it, whatever language the text is in. The same word therefore finds
// itself whatever the guess. If another language is guessed, the term of that
// language's stemmer is added if it differs: it finds the word's other forms. A
// term carries no mark of its language. So a word still matches if the language
// was guessed on one side only and the other side has the basic form, and
// related languages find each other. English text, and text without any sign of
// its language, has one term a word. Only the function words of the guessed
// language are left out.
package analyzer

import (
	"time"

	"github.com/blevesearch/snowballstem"

	"github.com/memoryd/memoryd/memory"
)

// Name is the version of the analyzer. It is stored with the data, whose words
// can be compared only with words of the same version: a change to what Words
// returns needs a new name.
const Name = "words-2"

// maxWord is the longest word kept, in bytes. Longer ones are base64 or hashes,
// which no question has.
const maxWord = 64

// Words gives the terms of a text, in its order, as often as they occur: at
// most two for a word, and for a character of text without spaces. None is
// empty or has more than 64 bytes. It takes time linear in the text.
func Words(text string) []string {
	ws := split(text)
	return terms(ws, guess(ws))
}

// terms gives the stems of all words except the function words of their
// language.
func terms(ws []word, lang language) []string {
	out := make([]string, 0, len(ws))
	env := snowballstem.NewEnv("")
	for i := range ws {
		w := &ws[i]
		if w.stops(lang) {
			continue
		}
		common := stem(env, w.form)
		out = append(out, common)
		if s := foreign(env, w, lang); s != "" && s != common && len(s) <= maxWord {
			out = append(out, s)
		}
	}
	return out
}

// Of gives the terms that a memory is found by: its words, its author's name,
// and the speaker's day it was said on as people write it ("8 May 2023"), so that a
// question with the name of a person or a month finds it. The name and the day
// do not count when the language of the fact is guessed, and no part of a name
// is a function word. A passage of a document is found by its title and headings
// instead of a name and a day, which say nothing about it.
func Of(m *memory.Memory) memory.Terms {
	out := memory.Terms{}
	of := [][]string{terms(split(m.Author), none), Words(m.Fact), Words(Day(m.Local(m.Timestamp)))}
	if p := m.Source.Passage; p != nil {
		of = [][]string{Words(m.Fact), Words(p.Title), nil}
		for _, h := range p.Headings {
			of[2] = append(of[2], Words(h)...)
		}
	}
	for _, ts := range of {
		for _, t := range ts {
			out[t]++
		}
	}
	return out
}

// Day writes the date of a time in words, in the location of the time.
func Day(t time.Time) string { return t.Format("2 January 2006") }

// maxQuestion is how many terms of a question count. Each one costs a look at
// all memories that have it.
const maxQuestion = 256

// Question gives the distinct terms of a question in order, at most maxQuestion
// of them.
func Question(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range Words(text) {
		if len(out) == maxQuestion {
			break
		}
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
