package rules

import (
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// A correction often gives the value alone: "Sorry, I meant Thursday". It is read as the statement that it corrects,
// with the new value in its place. That is the last statement of the conversation which has one value of that kind.

// Only a short sentence that marks itself as a correction is read so, and only if it has one value and no word that
// says what it is about. The statement keeps all its other words. The corrected fact bears a mark of a correction, by
// which it takes the place of the older one; see package canonical.

// Bounds of corrections.
const (
	maxCorrection = 10 // words; a longer one says itself what it is about
	maxHeard      = 12 // turns of the user in which the statement is sought
)

// valueKind tells which kind of value a word is: a day, an hour, a number or a name. A word that is no value has none.
func valueKind(ws english.Words, i int) string {
	w := ws[i]
	switch {
	case english.StartsWithDigit(w.Text) && strings.Contains(w.Text, ":"):
		return "hour"
	case english.StartsWithDigit(w.Text):
		return "number"
	case weekdays.Has(strings.TrimSuffix(w.Text, "s")):
		return "day"
	case w.Upper && i > 0 && w.Text != "i" && !english.StopWords.Has(w.Text) && !english.DateWords.Has(w.Text):
		return "name"
	}
	return ""
}

// onlyValue is the index of the one value of a kind in ws, or -1. Of the kind "" any kind counts.
func onlyValue(ws english.Words, kind string) int {
	found := -1
	for i := range ws {
		k := valueKind(ws, i)
		if k == "" || kind != "" && k != kind {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// correct adds the statement that s corrects, with the value that s gives. It reports whether there is one.
func (k *talk) correct(r *turn, s *sentence) bool {
	if len(s.words) == 0 || len(s.words) > maxCorrection || s.question || s.topics != none && !s.leans ||
		len(s.several) > 0 || !canonical.Corrects(s.words) {
		return false
	}
	at := onlyValue(s.words, "")
	if at < 0 {
		return false
	}
	for i := range s.words {
		w := s.words[i].Text
		if i != at && w != "i" && !english.StopWords.Has(w) && !correctionWords.Has(w) {
			return false // it says itself what it is about
		}
	}
	value := s.text[s.words[at].Start:s.words[at].End]
	kind := valueKind(s.words, at)
	if r.replace(r.facts, kind, value, s) {
		return true
	}
	for i := len(k.heard) - 1; i >= 0; i-- {
		if t := k.heard[i]; t.Author == r.Author && t.SessionID == r.SessionID {
			var alone talk
			if r.replace(alone.read(t), kind, value, s) {
				return true
			}
		}
	}
	return false
}

// replace adds the last of some facts that has one value of a kind, with another value in its place.
func (r *turn) replace(facts []extract.Fact, kind, value string, s *sentence) bool {
	for i := len(facts) - 1; i >= 0; i-- {
		text := dateNote.ReplaceAllString(facts[i].Text, "")
		ws := english.Split(text)
		at := onlyValue(ws, kind)
		if at < 0 || strings.Contains(text, "?") {
			continue
		}
		said := read(text[:ws[at].Start] + value + text[ws[at].End:])
		if len(said.words) == 0 {
			return false
		}
		said.start, said.end = 0, len(said.text)
		said.subject, said.corrects = nil, !canonical.Corrects(said.words)
		full, from := said.resolved(r.Timestamp)
		r.addFact(full, s.text, facts[i].Topics, from)
		r.open = false
		return true
	}
	return false
}

// dateNote is the date that extraction writes beside a day.
var dateNote = regexp.MustCompile(` \((?:week of )?\d{4}(?:-\d\d){0,2}\)`)
