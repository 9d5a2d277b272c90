package analyzer

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

// language is one of the languages in the Latin script that Snowball has a
// stemmer for, by its ISO 639-1 code.
type language int

const (
	none language = iota - 1 // of names
	en
	de
	fr
	es
	pt
	it
	nl
	sv
	da
	nb
	fi
	hu
	tr // before Romanian, which has ş in old texts only
	ro
	known int = iota - 1 // how many
)

var stemmers = [known]func(*snowballstem.Env) bool{
	en: english.Stem, de: german.Stem, fr: french.Stem, es: spanish.Stem, pt: portuguese.Stem, it: italian.Stem,
	nl: dutch.Stem, sv: swedish.Stem, da: danish.Stem, nb: norwegian.Stem, fi: finnish.Stem, hu: hungarian.Stem,
	ro: romanian.Stem, tr: turkish.Stem,
}

// languages is a set of languages, with two flags of a word.
type languages uint32

const (
	everywhere languages = 1 << (iota + 30) // a function word whatever the text's language
	ambiguous                               // little evidence of a language
)

// stops tells whether a word is a function word in a text of a language.
func (w *word) stops(l language) bool {
	return l != none && w.stop&(everywhere|1<<l) != 0
}

// guess gives the language with the highest score of function words and
// letters. Any language except English must score higher than English, by a
// word that it has and English does not. Words that may be names count only
// beside other function words. Without any of those, letters decide.
func guess(ws []word) language {
	score := spelling(ws)
	margin := 1
	if hasEvidence(ws) {
		margin = 2
		for i := range ws {
			w := &ws[i]
			switch {
			case w.stop == 0:
			case w.stop&ambiguous != 0:
				score.add(w.stop, 1)
			default:
				score.add(w.stop, 2)
			}
		}
	}
	best := en
	for l := range language(known) {
		if score[l] > score[best] {
			best = l
		}
	}
	if score[best] < score[en]+margin {
		return en
	}
	return best
}

// hasEvidence tells whether a word can be nothing else than a function word.
func hasEvidence(ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool { return w.stop != 0 && w.stop&(ambiguous|everywhere) == 0 })
}

// scores counts the evidence for each language.
type scores [known]int

func (s *scores) add(of languages, n int) {
	for of &^= ambiguous | everywhere; of != 0; of &= of - 1 {
		s[bits.TrailingZeros32(uint32(of))] += n
	}
}

// spelling scores the letters. A letter counts half as much as a function word,
// as a name keeps its letters in any language.
func spelling(ws []word) (s scores) {
	for i := range ws {
		for _, r := range ws[i].raw {
			if r >= utf8.RuneSelf {
				s.add(letters[unicode.ToLower(r)], 1)
			}
		}
	}
	return s
}

// letters are those that only a few of the languages have. é is not among them:
// too many English words have it.
var letters = func() map[rune]languages {
	out := map[rune]languages{}
	for l, alphabet := range [known]string{
		de: "äöüß", fr: "àèêîûœç", es: "áíóúñ", pt: "áíóúêçãõ", it: "àèìò", sv: "äöå", da: "åæø", nb: "åæø",
		fi: "äö", hu: "áíóúöüőű", tr: "öüçğış", ro: "îășțş",
	} {
		for _, r := range alphabet {
			out[r] |= 1 << l
		}
	}
	return out
}()

// stem gives the term of a word that depends on the word alone: its stem in the
// language most often written in its script, or the word itself.
func stem(env *snowballstem.Env, w string) string {
	by := english.Stem
	if strings.IndexFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		switch first, _ := utf8.DecodeRuneInString(w); {
		case unicode.Is(unicode.Cyrillic, first):
			by = russian.Stem
		case unicode.Is(unicode.Arabic, first):
			by = arabic.Stem
			if rest, ok := strings.CutPrefix(w, "و"); ok && strings.HasPrefix(rest, "ال") {
				w = rest // "and the", which the stemmer leaves together
			}
		case unicode.Is(unicode.Tamil, first):
			by = tamil.Stem
		case unicode.Is(unicode.Devanagari, first):
			return hindi(w)
		default:
			return w
		}
	}
	return run(env, by, w)
}

// run gives the stem of a word, or the whole word if nothing would be left.
func run(env *snowballstem.Env, by func(*snowballstem.Env) bool, w string) string {
	env.SetCurrent(w)
	by(env)
	if env.Current() == "" {
		return w
	}
	return env.Current()
}

// foreign gives the stem of a word in a language other than English; "" if
// there is none. The stemmers know accents, so the word is folded afterwards.
func foreign(env *snowballstem.Env, w *word, l language) string {
	if l <= en || w.raw == "" {
		return ""
	}
	s := written.Replace(norm.NFKC.String(strings.ToLower(w.raw)))
	switch l {
	case de:
		s = umlauts(s)
	case tr: // parts a name from its ending
		s, _, _ = strings.Cut(s, "'")
	}
	s = apostrophes(s)
	notLatin := func(r rune) bool { return !unicode.Is(unicode.Latin, r) }
	if s == "" || len(s) > 2*maxWord || strings.ContainsFunc(s, notLatin) {
		return ""
	}
	return fold(run(env, stemmers[l], s))
}

// written replaces letters by those that the stemmers know: the stemmers have
// Romanian letters with cedillas, and a Turkish İ becomes an i with two dots.
var written = strings.NewReplacer("’", "'", "ʼ", "'", "ș", "ş", "ț", "ţ", "i\u0307", "i")

// umlauts makes both spellings of an umlaut, ä and ae, the same: the letter
// without either, as fold does to the first. After a vowel or q, ue is not an
// umlaut ("neue", "Quelle"); the rule is that of Snowball's German2 stemmer.
func umlauts(s string) string {
	if !strings.Contains(s, "ae") && !strings.Contains(s, "oe") && !strings.Contains(s, "ue") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if i+1 < len(s) && s[i+1] == 'e' && umlaut(s, i) {
			i++
		}
	}
	return string(out)
}

// umlaut tells whether the vowel at s[i], with the e behind it, is an umlaut.
func umlaut(s string, i int) bool {
	switch s[i] {
	case 'a', 'o':
		return true
	case 'u':
		return i == 0 || !strings.ContainsRune("aeiouyq", rune(s[i-1]))
	}
	return false
}

// hindi removes the longest ending of a Hindi word that leaves two characters
// or more (Ramanathan and Rao, "A Lightweight Stemmer for Hindi", 2003), as
// Snowball's Go stemmers have none for Hindi.
func hindi(w string) string {
	for _, end := range hindiEndings {
		if stem, ok := strings.CutSuffix(w, end); ok && utf8.RuneCountInString(stem) >= 2 {
			return stem
		}
	}
	return w
}

// hindiEndings are in the spelling of fold, longest first.
var hindiEndings = strings.Fields(`
	ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयां ाइयों
	ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियां ियों
	ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं
	कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ां ों ें
	ो े ू ु ी ि ा`)
