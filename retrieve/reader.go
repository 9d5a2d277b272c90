package retrieve

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/extract/gist"
	"github.com/memoryd/memoryd/memory"
)

// How surely package gist must read a sentence. On stories that none of this was fitted to (memoryd eval stories), what
// holds now is first after 158 of 240 changes by this alone, instead of 125 without it, and in 69 of 90 stories without
// a change instead of 73. docs/search.md has the figures of this and of pairs together.
const (
	aboutAsked = 0.2 // how near its theme is to that of the question
	surelyTold = 0.7 // that it tells of a change
	surelySaid = 0.4 // that it tells how things are
	aboutOlder = 0.3 // both of the first and the third, of an older statement that may have been changed
)

// maxSentences bounds the sentences of a match that are read.
const maxSentences = 6

// reader reads matches for what a question asks.
type reader struct {
	short bool // the question asks how things are
	self  bool // the question speaks of the one who asks
	text  string
	asked *gist.Reading // of the text, once it is asked for
	kin   []string      // whom around the one who asks the question is about
}

func newReader(q *question) *reader {
	r := &reader{short: q.general(), self: q.self, text: q.text}
	for _, w := range plainWords(q.text) {
		if k := gist.KinOf(w); k != "" {
			r.kin = append(r.kin, k)
		}
	}
	return r
}

// near tells how near the theme of what was said is to that of the question.
func (r *reader) near(said *gist.Reading) float64 {
	if r.asked == nil {
		asked := gist.Of(r.text)
		r.asked = &asked
	}
	return r.asked.Near(said)
}

// changes reports whether a match tells of a change of what is asked.
func (r *reader) changes(s *spoken) bool {
	r.read(s)
	return s.tells
}

// answers reports whether a match tells how things are with what is asked.
func (r *reader) answers(s *spoken) bool {
	r.read(s)
	return s.about >= aboutOlder
}

// read reads the sentences of a match, other than foreign ones: the words for people and for what passes are English.
// A sentence about somebody else, one that quotes, and one of what passes or may not be so tells of no change.
func (r *reader) read(s *spoken) {
	if s.read {
		return
	}
	s.read = true
	for i, text := range english.Sentences(memory.Cut(s.Memory.Fact, maxRead)) {
		if i == maxSentences {
			break
		}
		words := plainWords(text)
		if len(words) == 0 || english.Foreign(english.Lex(text)) || !r.sameSubject(words) ||
			asks(text) && english.QuestionWords.Has(words[0]) || longPast(words, s.Memory.SaidAt()) {
			continue
		}
		g := gist.Of(text)
		near, said := r.near(&g), g.Asserts()
		s.about = max(s.about, near*said)
		s.tells = s.tells || near >= aboutAsked && g.Changes() >= surelyTold && said >= surelySaid &&
			!besidesWords.in(words, text) && !passingWords.in(words, text) && !strings.ContainsAny(text, "\"“«„")
	}
}

// longPast reports whether a sentence names a year before the one in which it was said: "back in 2012 I moved to
// Prague" tells of no change since.
func longPast(words []string, said time.Time) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		year, err := strconv.Atoi(w)
		return err == nil && len(w) == 4 && year > 1900 && year < said.Year()
	})
}

// sameSubject reports whether a sentence may speak of those that the question is about. Of a question about somebody
// around the one who asks, the first such word of the sentence decides; of any other, who comes first in it.
func (r *reader) sameSubject(words []string) bool {
	for i, w := range words {
		k := gist.KinOf(w)
		switch {
		case k != "" && (len(r.kin) > 0 || i < 4):
			return slices.ContainsFunc(r.kin, func(asked string) bool { return gist.Related(asked, k) })
		case len(r.kin) > 0:
		case w == "i" || w == "we" || i == 4:
			return true
		case w == "he" || w == "she" || w == "they":
			return false
		}
	}
	return true
}
