package retrieve

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/analyzer"
)

// A question may ask for several things: "Which books has she read?", "How many cats do I have?", "Summarize what we
// said about the garden". Memories that answer it share the matter and not the words that say in what form the answer
// is wanted. These words are rare in what people say, so BM25 would count them most.

// asksForSeveral reports whether a question asks for several things. Plurals are read in English alone.
func asksForSeveral(words []string, text string) bool {
	if severalWords.in(words, text) || asksForOrder(words, text) {
		return true
	}
	for i, w := range words {
		next := at(words, i+1)
		switch {
		case w == "how" && next == "many",
			w == "list" && determiners.Has(next), // "list all", not "on my shopping list"
			asking.Has(w) && (next == "are" || next == "were") && !pronouns.Has(at(words, i+2)),
			asking.Has(w) && pluralHead(words[i+1:]):
			return true
		}
	}
	return false
}

// maxHead is how many words may stand between "which" and its verb.
const maxHead = 5

// pluralHead reports whether the words behind "which" begin with several things and a verb: "books did".
func pluralHead(words []string) bool {
	verb := slices.IndexFunc(words, auxiliaries.Has)
	return verb > 0 && verb <= maxHead && slices.ContainsFunc(words[:verb], isPlural)
}

// isPlural reports whether an English word looks like a plural.
func isPlural(w string) bool {
	if plurals.Has(w) {
		return true
	}
	return len(w) > 3 && strings.HasSuffix(w, "s") &&
		!strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is")
}

// asksForOrder reports whether a question asks in what order things were, or how one thing went on over time.
func asksForOrder(words []string, text string) bool {
	if orderWords.in(words, text) {
		return true
	}
	for i, w := range words {
		before, next := at(words, i-1), at(words, i+1)
		switch {
		case w == "time" && before == "over",
			// Not "what did I order", and not "in order to".
			w == "order" && (asking.Has(before) || before == "in" && next != "to"),
			w == "order" && next == "in" && at(words, i+2) == "which":
			return true
		}
	}
	return false
}

// matterOf returns the analyzed words of a query, distinct. Of a question for several things it leaves out those that
// say in what form the answer is wanted, unless there are no others.
func matterOf(text string) []string {
	all := analyzer.Question(text)
	if len(text) > maxRead || !asksForSeveral(plainWords(text), text) {
		return all
	}
	matter := strings.Join(slices.DeleteFunc(strings.Fields(text), func(field string) bool {
		words := plainWords(field)
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !formWords.Has(w) })
	}), " ")
	if terms := analyzer.Question(matter); len(terms) > 0 {
		return terms
	}
	return all
}

// at returns the word of an index, "" outside.
func at(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}
