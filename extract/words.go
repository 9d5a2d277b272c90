package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one word of a sentence in the spelling the rules compare: lower
// case, straight apostrophes, contractions taken apart ("I'm" is "i" and "am",
// both at the place of the whole).
type word struct {
	text       string
	start, end int  // bytes of the sentence
	stop       rune // the first mark between this word and the next; 0 if only space
	upper      bool // written with a capital, and not in capitals throughout
}

// contractions are taken apart so that each rule is written once. Spellings
// without the apostrophe are included where they are no other word.
var contractions = map[string]string{
	"i'm": "i am", "im": "i am", "i've": "i have", "ive": "i have", "i'd": "i would", "i'll": "i will",
	"we're": "we are", "we've": "we have", "weve": "we have", "we'd": "we would", "we'll": "we will",
	"you're": "you are", "youre": "you are", "you've": "you have", "you'd": "you would", "you'll": "you will",
	"he's": "he is", "she's": "she is", "it's": "it is", "that's": "that is", "thats": "that is", "there's": "there is",
	"here's": "here is", "what's": "what is", "whats": "what is", "who's": "who is", "how's": "how is", "where's": "where is",
	"let's": "let us", "lets": "let us", "name's": "name is", "birthday's": "birthday is",
	"they're": "they are", "they've": "they have",
	"don't": "do not", "dont": "do not", "doesn't": "does not", "doesnt": "does not", "didn't": "did not", "didnt": "did not",
	"can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not", "wouldn't": "would not",
	"couldn't": "could not", "shouldn't": "should not", "mustn't": "must not", "isn't": "is not", "isnt": "is not",
	"aren't": "are not", "wasn't": "was not", "wasnt": "was not", "weren't": "were not", "haven't": "have not", "havent": "have not",
	"hasn't": "has not", "hadn't": "had not", "ain't": "am not",
	"gonna": "going to", "wanna": "want to", "gotta": "got to", "ya": "you", "u": "you", "ur": "your",
	"pls": "please", "plz": "please", "thx": "thanks", "mum": "mom", "favourite": "favorite", "fave": "favorite",
	"faves": "favorite", "favourites": "favorite", "favorites": "favorite",
}

// splitWords reads the words of a sentence. Marks inside a word (T-shirt,
// 3.5, o'clock) do not end it.
func splitWords(s string) []word {
	words := make([]word, 0, len(s)/5+1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			if len(words) > 0 && words[len(words)-1].stop == 0 && !unicode.IsSpace(r) {
				words[len(words)-1].stop = r
			}
			i += n
			continue
		}
		end := wordEnd(s, i)
		second, _ := utf8.DecodeRuneInString(s[i+n:])
		words = appendWord(words, s[i:end], i, end, unicode.IsUpper(r) && !unicode.IsUpper(second))
		i = end
	}
	return words
}

func appendWord(words []word, raw string, start, end int, upper bool) []word {
	text := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
	long, ok := contractions[text]
	if !ok {
		return append(words, word{text: text, start: start, end: end, upper: upper})
	}
	for part := range strings.SplitSeq(long, " ") {
		words = append(words, word{text: part, start: start, end: end, upper: upper})
	}
	return words
}

// wordEnd is the end of the word that starts at i.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if wordRune(r) {
			i += n
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		if !strings.ContainsRune("'’-.:/@_+", r) || !wordRune(next) {
			return i
		}
		i += n
	}
	return i
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// set is a table of words.
type set map[string]bool

func words(lists ...string) set {
	out := set{}
	for _, l := range lists {
		for w := range strings.FieldsSeq(l) {
			out[w] = true
		}
	}
	return out
}

// phrases is a table of word sequences by their first word.
type phrases map[string][][]string

func phraseTable(list ...string) phrases {
	out := phrases{}
	for _, p := range list {
		w := strings.Fields(p)
		out[w[0]] = append(out[w[0]], w)
	}
	return out
}

// at is how many words the longest phrase that stands at ws[i] has; 0 if none
// does.
func (p phrases) at(ws []word, i int) int {
	if i < 0 || i >= len(ws) {
		return 0
	}
	longest := 0
	for _, ph := range p[ws[i].text] {
		if len(ph) > longest && hasPhrase(ws[i:], ph) {
			longest = len(ph)
		}
	}
	return longest
}

func hasPhrase(ws []word, ph []string) bool {
	if len(ws) < len(ph) {
		return false
	}
	for i, p := range ph {
		if ws[i].text != p {
			return false
		}
	}
	return true
}
