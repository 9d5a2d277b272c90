package canonical

import (
	_ "embed" // for frames.txt
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed frames.txt
var framesText string

var (
	frameTables    = english.Parse(framesText)
	irregularForms = frameTables.Variants("irregular")
	elliptic       = frameTables.Words("elliptic")
)

// The other tables of this package read a statement from its first word to its last, so that
// one word more hides it. Frames read it piece by piece, and leave out what changes nothing:
//
//   - A fact is taken apart into segments, at marks and at words such as "and"; see segments.
//     A segment that depends on another one is left out: "when I was five", "who lives in
//     Porto". Questions and quotations are left out too.
//   - Whose it is tells the subject of the segment, or of the one before it: the speaker, a
//     relation, a person with a name. Of all other subjects only what they do to the speaker
//     counts ("they let me go"), or what befalls a thing of the speaker's ("the Volvo died").
//   - The words up to the verb are a ladder: auxiliaries, adverbs, "ended up", "decided to".
//     They give the tense, and whether the statement is denied or has ended; see verbPhrase.
//     A word on it that makes the statement uncertain, such as "might", ends the reading.
//   - The verb finds the frames, whatever its form. A state is read in the present alone, an
//     event in the past. What follows may bound the statement ("this week"), which leaves no
//     claim.
//   - Slots take values of a kind, so that "moved to Porto" and "moved to the back" differ.
//
// Things of which people have one (a boss, a rent) are found by their noun instead, wherever
// it stands; see nouns. Any other verb in the present with a thing gives a loose claim, which
// only says that somebody has to do with the thing, until they quit it; see habitual.
//
// To add a way to say something, add a pattern to its line in frames.txt, and a pair of facts
// to testdata/superseded.txt. Try what must stay apart, too: testdata/both-hold.txt has two
// people's same attribute, what comes beside another thing of its kind (a second cat), what
// passes (a week in Nice), what is only thought of, and what others do.
//
// Patterns are bounded, so that the time for a fact grows with its words alone: a "*" stands
// for maxWild words, a slot for maxSlotWords, and a fact of more than maxFramedWords words is
// left to the other tables.
//
// A statement that is read wrongly may hide what is true, so in doubt there is no claim: of
// several values of a kind, such as two phones, none takes the place of another one unless
// the fact tells of a change.

// frame is one way to say something of an attribute: the words of a predicate, with slots
// for its values.
//
// Frames differ from the patterns of the other tables in that words between those of the
// pattern, the tense and what leads into the verb do not count. So they read what the others
// miss, and may tell less of it: where both read an attribute, the others decide.
type frame struct {
	attribute string // has "<thing>" or "<other>" where the value is part of its name
	value     string // "" if a slot gives it
	tokens    []token
	event     bool // it is said in the past, and changes what held before
	noun      bool // it begins with the subject: "my job was cut"
	ended     bool
	several   bool
}

// token is one place of a frame.
type token struct {
	words    []string // any of these, in any form
	slot     string   // or a value: "place"
	wild     bool     // or up to maxWild words
	optional bool
}

// maxWild bounds the words that stand for a "*", so that a match of all frames stays cheap.
// It bounds the words that a "*" stands for.
const maxWild = 3

// frames are all frames by the plain form of their first word.
var frames = compileFrames()

// inflection tells which forms of a verb a word may be.
type inflection uint8

const (
	presentForm inflection = 1 << iota
	pastForm
	ingForm
)

// inflections has the verbs that a word may be a form of.
var inflections = map[string]map[string]inflection{}

func compileFrames() map[string][]*frame {
	irregular := irregularForms
	out := map[string][]*frame{}
	for _, kind := range []string{"states", "events", "happenings"} {
		for left, patterns := range frameTables.Lists(kind) {
			f := frame{event: kind != "states", noun: kind == "happenings"}
			f.ended = strings.HasPrefix(left, "!")
			f.several = strings.HasPrefix(left, "~")
			f.attribute, f.value, _ = strings.Cut(strings.TrimLeft(left, "!~"), ": ")
			for _, p := range patterns {
				g := f
				g.tokens = compileTokens(p)
				for _, w := range g.tokens[0].words {
					inflect(w, irregular)
					out[w] = append(out[w], &g)
				}
				for _, t := range g.tokens[1:] {
					for _, w := range t.words {
						inflect(w, irregular)
					}
				}
			}
		}
	}
	return out
}

// compileList compiles a table of patterns without an attribute.
func compileList(name string) (out [][]token) {
	irregular := irregularForms
	for _, list := range frameTables.Lists(name) {
		for _, p := range list {
			tokens := compileTokens(p)
			for _, t := range tokens {
				for _, w := range t.words {
					inflect(w, irregular)
				}
			}
			out = append(out, tokens)
		}
	}
	return out
}

func compileTokens(pattern string) (out []token) {
	for field := range strings.FieldsSeq(pattern) {
		var t token
		field, t.optional = strings.CutSuffix(field, "?")
		if slot, ok := strings.CutPrefix(field, "<"); ok {
			t.slot = strings.TrimSuffix(slot, ">")
		} else if field == "*" {
			t.wild = true
		} else {
			t.words = strings.Split(field, "|")
		}
		out = append(out, t)
	}
	return out
}

// inflect notes the forms of a word as those of a verb.
func inflect(w string, irregular english.Variants) {
	// One form may be that of several verbs: "found" is of "find" and of "found".
	note := func(form string, i inflection) {
		if inflections[form] == nil {
			inflections[form] = map[string]inflection{}
		}
		inflections[form][w] |= i
	}
	if w == "be" {
		for _, form := range []string{"am", "are", "is"} {
			note(form, presentForm)
		}
		note("was", pastForm)
		note("were", pastForm)
		note("been", pastForm)
		note("being", ingForm)
		return
	}
	if elliptic.Has(w) {
		note(w, pastForm)
	}
	stem := strings.TrimSuffix(w, "e")
	last := w[len(w)-1:]
	note(w, presentForm)
	note(third(w), presentForm)
	note(stem+"ing", ingForm)
	note(w+last+"ing", ingForm)
	if forms := irregular.For(w); len(forms) > 0 {
		for _, form := range forms {
			note(form, pastForm)
		}
		return
	}
	note(stem+"ed", pastForm)
	note(w+last+"ed", pastForm)
	if y, ok := strings.CutSuffix(w, "y"); ok {
		note(y+"ied", pastForm)
	}
}

// third is a verb with the ending of the third person, or a noun with that of the plural.
func third(w string) string {
	switch {
	case strings.HasSuffix(w, "y") && len(w) > 1 && !strings.ContainsRune("aeiou", rune(w[len(w)-2])):
		return w[:len(w)-1] + "ies"
	case w == "have":
		return "has"
	case strings.HasSuffix(w, "s"), strings.HasSuffix(w, "x"), strings.HasSuffix(w, "h") && !strings.HasSuffix(w, "th"),
		strings.HasSuffix(w, "o"), strings.HasSuffix(w, "z"):
		return w + "es"
	}
	return w + "s"
}
