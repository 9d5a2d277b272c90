package retrieve

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/analyzer"
)

// People ask for the plain matters of a life in other words than they tell of them in: "Who do I report to?" is
// answered by "My boss is Ann", and "Where do I live?" by "Home is Kobe now". No word of the one is in the other, and a
// small embedder knows too little of their meaning. So such a question is searched with the words of its answers, too.

// matter is what several questions ask for.
type matter struct {
	words string   // of its answers
	asked []string // phrases of its questions
}

var matters = mattersOf()

// mattersOf reads the table. Its lines name the words first, as those of other tables of phrases do.
func mattersOf() (out []matter) {
	for words, asked := range tables.Lists("told-as") {
		out = append(out, matter{words, asked})
	}
	return out
}

// toldAs returns the words in which the answers to a question are told; "" for most questions.
func toldAs(text string) string {
	if len(text) > maxRead {
		return ""
	}
	// Blanks around the words and the phrases keep "i live" from being found in "alibi lived".
	words := " " + strings.Join(plainWords(text), " ") + " "
	var out []string
	for _, m := range matters {
		if slices.ContainsFunc(m.asked, func(p string) bool { return strings.Contains(words, " "+p+" ") }) {
			out = append(out, m.words)
		}
	}
	return strings.Join(out, " ")
}

// withTold returns the analyzed words of a question with those of its answers.
func withTold(terms []string, told string) []string {
	for _, term := range analyzer.Words(told) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}
