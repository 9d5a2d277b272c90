package retrieve

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/gist"
)

// "I quit my job at Siemens." tells that something is so no longer, and not how it is. To a question about how things
// are it answers less than the statement of the same matter that follows it: "I started at Bosch." Package canonical
// tells both by the attribute that one ends and the other gives a value, package gist by what sentences are about.

// How surely package gist must read a statement that ends something, and one that follows it.
const (
	surelyEnded   = 0.6 // that it tells of an end
	surelyFollows = 0.4 // that the later one tells how things are, in a theme near that of the end
)

// behindEnd is what the score of a statement is multiplied with that ranks directly behind what follows it, and before
// what is outdated by it.
const behindEnd = 1 - 5e-10

// endsLast puts each statement of the one who asks that only ends something directly behind the latest one that tells
// what is so since, later or in the same turn: "I quit Siemens and now work at Bosch". It leaves a question that asks
// for the end: by the word for it ("Did I quit?"), or by the value that ended ("Why did I leave Siemens?"). It reports
// whether that settles the place of first.
func endsLast(own []*spoken, first *ranked, q *question, read *reader) (settled bool) {
	for _, c := range own {
		if !c.endsOnly() {
			continue
		}
		if q.asksForEnd(c) {
			settled = settled || c.ranked == first
			continue
		}
		var next *spoken
		for _, o := range own {
			later := decided(o.ranked).After(decided(c.ranked)) || o.beside(c)
			follows := later && o.follows(c, read) || o.goesOn(c) && tellsChange(o.Memory)
			if follows && !o.endsOnly() &&
				(next == nil || decided(o.ranked).After(decided(next.ranked))) {
				next = o
			}
		}
		if next != nil {
			next.score = max(next.score, c.score)
			c.score = min(c.score, next.score*behindEnd)
			settled = settled || c.ranked == first
		}
	}
	return settled
}

// asksForEnd reports whether a question has a word for a change that a statement has, or the value that it ends.
func (q *question) asksForEnd(c *spoken) bool {
	said := plainWords(c.Memory.Fact)
	for _, w := range plainWords(q.text) {
		if changeWords.words.Has(w) && slices.Contains(said, w) {
			return true
		}
	}
	form := c.formOf()
	return slices.ContainsFunc(form.Claims, func(claim canonical.Claim) bool {
		return claim.Ended && slices.ContainsFunc(plainWords(claim.Value), func(w string) bool {
			return slices.Contains(plainWords(q.text), w)
		})
	})
}

// endsOnly reports whether a statement tells that something has ended, and nothing that is so since.
func (s *spoken) endsOnly() bool {
	form := s.formOf()
	ended := false
	for i := range form.Claims {
		switch c := &form.Claims[i]; {
		case c.Ended:
			ended = true
		case !c.Loose:
			return false
		}
	}
	if ended {
		return true
	}
	sentences := s.sentences()
	unsure := func(g gist.Reading) bool { return g.Ends() < surelyEnded }
	return len(sentences) > 0 && !slices.ContainsFunc(sentences, unsure)
}

// beside reports whether two facts are of one turn.
func (s *spoken) beside(o *spoken) bool {
	is, was := &s.Memory.Source, &o.Memory.Source
	return s != o && len(is.EventIDs) > 0 && is.SessionID == was.SessionID && slices.Equal(is.EventIDs, was.EventIDs)
}

// goesOn reports whether o is a part of a sentence, and s another fact of its turn, which may be the rest of it: "I
// quit Marlow's" and "now cook at the Heron Inn". A whole sentence mostly ends in a mark.
func (s *spoken) goesOn(o *spoken) bool {
	part := strings.TrimSpace(o.Memory.Source.Quote)
	whole := strings.HasSuffix(strings.TrimRight(part, ")\"'”’"), ".") || strings.ContainsAny(part, "!?…")
	return s.beside(o) && part != "" && !whole
}

// follows reports whether a statement tells what is so since an earlier one ended something.
func (s *spoken) follows(end *spoken, read *reader) bool {
	if slices.Contains(end.newer, s.ranked) && s.sharesTheme(end) {
		return true
	}
	form, gone := s.formOf(), end.formOf()
	for i := range form.Claims {
		if c := &form.Claims[i]; !c.Ended && !c.Loose && slices.ContainsFunc(gone.Claims, func(o canonical.Claim) bool {
			return o.Ended && o.Attribute == c.Attribute
		}) {
			return true
		}
	}
	return read.answers(s) && read.answers(end) && s.sharesTheme(end)
}

// sharesTheme reports whether a sentence of s tells how things are in a theme near that of a sentence of another one.
func (s *spoken) sharesTheme(o *spoken) bool {
	for i := range s.sentences() {
		for k := range o.sentences() {
			if g := &s.said[i]; g.Asserts()*g.Near(&o.said[k]) >= surelyFollows {
				return true
			}
		}
	}
	return false
}
