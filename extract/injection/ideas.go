package injection

import (
	_ "embed"
	"sync"
	"unicode/utf8"
)

//go:embed ideas.txt
var ideasText string

// ideaNames are the ideas of ideas.txt. They are wider than the classes of the lexicon: rules
// could not use them, but together they tell the judge the same in all languages, of a
// machine, its user, money and silence for instance.
var ideaNames = []string{"machine", "human", "maker", "consent", "money", "risk", "quiet", "run", "visit", "rank",
	"reading", "page", "attacktalk", "selfish", "memory", "always", "source", "demand", "intent", "denial", "letter",
	"people", "software", "law", "household"}

// maker is the idea of those who made a model, which a rule looks at; ideaNames has its place.
const maker class = 1 << 2

// ideas reads ideas.txt when it is needed first. The class of a term is a bit for its idea.
var ideas = sync.OnceValue(func() *lexicon {
	names := map[string]class{}
	for i, name := range ideaNames {
		names[name] = 1 << i
	}
	return parseLexicon(ideasText, names)
})

// ideasOf are the ideas of some words and of the folded text that they are of.
func ideasOf(words []word, folded string) (found class) {
	unspaced := false
	for i := range words {
		found |= words[i].ideas
		unspaced = unspaced || isUnspacedWord(&words[i])
	}
	if !unspaced {
		return found
	}
	l := ideas()
	for i, r := range folded {
		if !isUnspaced(r) {
			continue
		}
		for n, end := 0, i; n < l.unspacedMost && end < len(folded); n++ {
			_, size := utf8.DecodeRuneInString(folded[end:])
			end += size
			found |= l.unspaced[folded[i:end]]
		}
	}
	return found
}
