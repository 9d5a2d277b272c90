package gist

import (
	_ "embed" // for words.txt
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed words.txt
var wordsText string

var (
	tables      = english.Parse(wordsText)
	besides     = cueOf("besides")
	unreal      = cueOf("unreal")
	passing     = cueOf("passing")
	changing    = cueOf("change")
	denies      = cueOf("denies")
	longPast    = tables.Phrases("past-phrases")
	corrections = tables.Words("correction")
	speaker     = tables.Words("speaker")
	others      = tables.Words("others")
	kin         = tables.Variants("kin")
	kinds       = tables.Words("kin-kinds")
	general     = tables.Variants("kin-general")
)

// cue is words and phrases that tell the same.
type cue struct {
	words   english.Set
	phrases english.Phrases
}

// cueOf reads the words of a name in words.txt, and its phrases.
func cueOf(name string) cue {
	return cue{tables.Words(name), tables.Phrases(name + "-phrases")}
}

// in reports whether ws has a word or a phrase of c.
func (c cue) in(ws english.Words) bool { return ws.Any(c.words) || c.phrases.Found(ws) }

// at is how many words of c stand at ws[i].
func (c cue) at(ws english.Words, i int) int {
	if n := c.phrases.Match(ws, i); n > 0 {
		return n
	}
	if c.words.Has(ws.At(i)) {
		return 1
	}
	return 0
}

// KinOf is the one word for somebody around a speaker that w means, such as "mother" of "mum"; "" if it is no such
// word.
func KinOf(w string) string {
	w = strings.TrimSuffix(w, "'s")
	if one := kin.Of(w); one != "" {
		return one
	}
	if kinds.Has(w) {
		return w
	}
	return ""
}

// Related reports whether who is asked for, as KinOf names them, may be who is spoken of: a daughter is a child, and
// no son.
func Related(asked, said string) bool {
	return asked == said || general.Of(asked) == said || general.Of(said) == asked
}

// cues are what a sentence has of the words above. They are read once and kept with the reading, as a search compares
// each sentence with many others.
type cues struct {
	// stems are those of its words with a meaning of their own, sorted, each once. Two statements about one thing often
	// share some.
	stems []string
	// denied are the stems that it takes back: "soy" of "oat milk instead of soy".
	denied []string
	// owned are the stems behind "my" and "our", of things: "my lamp" is no "my kettle".
	owned []string
	// kin are those around the speaker who are spoken of, and subject the one of them who comes first, where the
	// sentence is about them: "my sister moved".
	kin     []string
	subject string
	// owner is a name that owns something: "nadia" of "Nadia's birthday".
	owner string
	// named is who or what does something, by name: "bob" of "Bob has two cats".
	named string
	// third tells that it begins with "he", "she" or "they"; theirs that it has such a word, or "his", "her" or
	// "their", anywhere.
	third, theirs bool
	// self and first tell that the speaker comes early, or first. mine tells that a word for the speaker is in it,
	// beside that of "my sister".
	self, first, mine bool
	// fading tells that it tells of something beside the first, or not real, long past, quoted or asked.
	fading bool
	// passes tells that it may tell of what passes.
	passes bool
	// Words of a change, and of a correction.
	change, now, new, fixes bool
	// name and number tell that it has one: both are often values.
	name, number bool
	length       int // in words
}

// early is how many words from the start on name the subject of a sentence.
const early = 4

// read collects the cues of ws, the words of text. A question, a quotation, a jest and the like fade: they end
// nothing, however much they have in common with an earlier statement.
func (c *cues) read(text string, ws english.Words) {
	*c = cues{length: len(ws)}
	asks := english.QuestionWords.Has(ws.At(0)) && strings.HasSuffix(strings.TrimSpace(text), "?")
	c.fading = asks || strings.ContainsAny(text, "\"“«„") || besides.in(ws) || unreal.in(ws) || longPast.Found(ws)
	c.passes = passing.in(ws)
	c.change = changing.in(ws)
	c.named = namedSubject(ws)
	for i, w := range ws {
		c.whoIs(ws, i)
		c.now = c.now || w.Text == "now" || w.Text == "nowadays"
		c.new = c.new || w.Text == "new"
		c.fixes = c.fixes || corrections.Has(w.Text)
		c.number = c.number || english.StartsWithDigit(w.Text)
		c.fading = c.fading || w.Text == "too" && i > 0 && (w.Stop != 0 || i == len(ws)-1)
		if stem := stemOf(w.Text); stem != "" {
			c.stems = append(c.stems, stem)
		}
		if (w.Text == "my" || w.Text == "our") && i+1 < len(ws) && KinOf(ws[i+1].Text) == "" {
			c.owned = append(c.owned, ownedStems(ws[i+1:])...)
		}
		if n := denies.at(ws, i); n > 0 {
			c.denied = append(c.denied, stemsOf(ws[i+n:min(i+n+2, len(ws))])...)
		}
	}
	slices.Sort(c.stems)
	c.stems = slices.Compact(c.stems)
}

// whoIs collects who the word at i names, if it names somebody.
func (c *cues) whoIs(ws english.Words, i int) {
	w := ws[i]
	k := KinOf(w.Text)
	if k != "" {
		c.kin = append(c.kin, k)
		if c.subject == "" && i < early && !c.self {
			c.subject = k
		}
	}
	if i < early && (w.Text == "he" || w.Text == "she" || w.Text == "they") {
		c.third = c.third || !c.self
	}
	if speaks := w.Text == "i" || w.Text == "we"; speaks && i < early {
		c.self, c.first = true, c.first || i == 0
	}
	c.mine = c.mine || speaker.Has(w.Text) && KinOf(ws.At(i+1)) == ""
	c.theirs = c.theirs || others.Has(w.Text)
	if w.Upper && w.Text != "i" && (i > 0 || strings.HasSuffix(w.Text, "'s")) {
		c.name = true
		if own, ok := strings.CutSuffix(w.Text, "'s"); ok && k == "" {
			c.owner = own
		}
	}
}

// namedSubject is the first word of ws in lower case, if it is a name or another noun that does something.
func namedSubject(ws english.Words) string {
	if len(ws) < 3 || !ws[0].Upper || ws[0].Stop != 0 || KinOf(ws[0].Text) != "" || english.Past(ws[0].Text) {
		return ""
	}
	noNames := []english.Set{english.StopWords, english.QuestionWords, english.PresentVerbs, english.Adverbs}
	if slices.ContainsFunc(noNames, func(s english.Set) bool { return s.Has(ws[0].Text) }) {
		return ""
	}
	switch next, then := ws[1].Text, ws[2].Text; {
	case next == "has" || next == "does" || english.Past(next) && next != "was":
		return ws[0].Text
	case strings.HasSuffix(next, "s") && english.PresentVerbs.Has(strings.TrimSuffix(next, "s")):
		return ws[0].Text
	case next == "is" && then != "home" && then != "my" && then != "our" && then != "where":
		return ws[0].Text
	}
	return ""
}

// stemsOf are the stems of ws.
func stemsOf(ws english.Words) (out []string) {
	for _, w := range ws {
		if stem := stemOf(w.Text); stem != "" {
			out = append(out, stem)
		}
	}
	return out
}

// ownedStems are the stems of the words that name a thing behind "my": up to three, to the first that has no meaning of
// its own.
func ownedStems(ws english.Words) (out []string) {
	for _, w := range ws[:min(3, len(ws))] {
		stem := stemOf(w.Text)
		if stem == "" {
			break
		}
		if stem != "new" && stem != "old" && stem != "current" {
			out = append(out, stem)
		}
		if w.Stop != 0 {
			break
		}
	}
	return out
}

// stemOf is a word without its ending; "" of one that has no meaning of its own.
func stemOf(w string) string {
	if english.StopWords.Has(w) || len(w) < 2 {
		return ""
	}
	if _, err := strconv.Atoi(w); err == nil {
		return w
	}
	w = strings.TrimSuffix(w, "'s")
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 2 {
			return rest
		}
	}
	return w
}
