// Package analyzer turns text into the words that memories are found by: the
// one analyzer for every backend, for storing and for asking.
package analyzer

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"

	"github.com/memoryd/memoryd/memory"
)

// Name is stored with the data, which is comparable only with words of the
// same analyzer: a change to what Words returns needs a new name.
const Name = "words-english-1"

// maxWord is the longest word kept, in bytes: longer ones are no words
// (base64, hashes) and nobody asks for them.
const maxWord = 64

// Words splits text at Unicode word boundaries (UAX 29), folds case and
// accents, drops English function words, and stems the rest (Snowball's
// English). The order is that of the text; words occur as often as there.
func Words(text string) []string {
	var out []string
	env := snowballstem.NewEnv("")
	tokens := words.FromString(text)
	for tokens.Next() {
		w := fold(tokens.Value())
		if w == "" || len(w) > maxWord || stopWords[w] {
			continue
		}
		out = append(out, stem(env, w))
	}
	return out
}

// fold is the form in which words are compared: compatibility-decomposed,
// lower case, without accents, apostrophes and a possessive's s; "" for what is
// neither a word nor a picture of one.
func fold(token string) string {
	ascii, word := true, false
	for i := 0; i < len(token); i++ {
		c := token[i]
		ascii = ascii && c < utf8.RuneSelf
		word = word || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf
	}
	if !word {
		return ""
	}
	if !ascii {
		token = strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Mn, r):
				return -1
			case r == '’':
				return '\''
			}
			return r
		}, norm.NFKD.String(token))
		if strings.IndexFunc(token, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) }) < 0 {
			return ""
		}
		token = strings.ReplaceAll(token, "ß", "ss")
	}
	token = strings.ToLower(token)
	token = strings.TrimSuffix(token, "'s")
	return strings.ReplaceAll(token, "'", "")
}

func stem(env *snowballstem.Env, w string) string {
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	env.SetCurrent(w)
	english.Stem(env)
	return env.Current()
}

// Of is what a memory is found by: its words, its author's name, and the day
// it was said on as people write it ("8 May 2023"), so that a question that
// names a person or a month finds it.
func Of(m *memory.Memory) memory.Terms {
	out := memory.Terms{}
	for _, text := range []string{m.Author, m.Fact, Day(m.Timestamp)} {
		for _, w := range Words(text) {
			out[w]++
		}
	}
	return out
}

// Day is a date in words.
func Day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// maxQuestion is how many words of a question count: every one costs a look at
// everybody who has it.
const maxQuestion = 256

// Question is the distinct words of a question, in order, the first maxQuestion
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

// stopWords are English function words after fold: articles, pronouns,
// auxiliaries, prepositions, conjunctions, and what their contractions become.
var stopWords = set(`a an the this that these those
	i me my mine myself we us our ours ourselves you your yours yourself yourselves
	he him his himself she her hers herself it its itself they them their theirs themselves
	who whom whose which what where when why how
	am is are was were be been being have has had having do does did doing
	will would shall should can could might must ought
	im ive ill id youre youve youll youd hes shes theyre theyve theyll theyd weve well were wed itll thats whats
	isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt wont wouldnt cant couldnt shouldnt cannot
	and but or nor so if because as until while than then
	of at by for with about against between into through during before after above below to from
	up down in out on off over under again further once here there
	all any both each few more most other some such no not only own same too very just also
	s t d ll m re ve`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}
