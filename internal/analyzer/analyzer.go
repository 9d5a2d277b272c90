// Package analyzer turns text into the words that memories are found by: the
// one analyzer for every backend, for storing and for asking, in any language.
//
// Text is cut at Unicode word boundaries (UAX 29), and case, accents and other
// variants of writing are folded. What becomes of a word then depends on the
// word alone, as far as can be: the script tells the language of Cyrillic,
// Arabic, Devanagari or Tamil well enough to choose the stemmer, and Chinese,
// Japanese, Korean, Thai and their like are cut into pairs of characters.
//
// The Latin script tells nothing. There the language is guessed from the
// function words in the text, and a guess is often wrong or missing: a question
// is short, a name is in every language, people mix languages. So a word in the
// Latin script always is the term that the English stemmer makes of it, whatever
// the text is in, and the same word finds itself whatever is guessed. Where
// another language is guessed, what that language's stemmer makes of the word
// is a second term if it differs: it finds the word's other forms. A term bears
// no mark of its language, so that what is guessed on one side only still finds
// what is in its basic form on the other, and related languages find each other.
// English text, and text in which nothing tells the language, has one term a
// word. Only the function words of the language guessed are left out.
package analyzer

import (
	"time"

	"github.com/blevesearch/snowballstem"

	"github.com/memoryd/memoryd/memory"
)

// Name is stored with the data, which is comparable only with words of the
// same analyzer: a change to what Words returns needs a new name.
const Name = "words-2"

// maxWord is the longest word kept, in bytes: longer ones are no words
// (base64, hashes) and nobody asks for them.
const maxWord = 64

// Words are the terms of a text, in its order, as often as they occur there:
// at most two for a word, and for a character of text without spaces. None is
// empty or has more than 64 bytes. It takes time linear in the text.
func Words(text string) []string {
	ws := split(text)
	return terms(ws, guess(ws))
}

// terms are the stems of all words but the function words of their language.
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

// Of is what a memory is found by: its words, its author's name, and the day
// it was said on as people write it ("8 May 2023"), so that a question that
// names a person or a month finds it. Neither name nor day has a say in what
// language the fact is in, and no part of a name is a function word.
func Of(m *memory.Memory) memory.Terms {
	out := memory.Terms{}
	for _, ts := range [][]string{terms(split(m.Author), none), Words(m.Fact), Words(Day(m.Timestamp))} {
		for _, t := range ts {
			out[t]++
		}
	}
	return out
}

// Day is a date in words.
func Day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// maxQuestion is how many terms of a question count: every one costs a look at
// everybody who has it.
const maxQuestion = 256

// Question is the distinct terms of a question, in order, the first maxQuestion
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
