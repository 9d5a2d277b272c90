package retrieve

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/extract/gist"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// newerFirst orders the first n matches that give one attribute of one person a value
// ("I live in Porto.", "I live in Rome.") so that the newest is first: their scores
// change places. It does so only if one of them is a fact that a client gave or
// changed: that is compared with nothing when it is stored, while all that was said in
// sessions was compared already. A question about the past leaves the order.
func newerFirst(best []*ranked, q *question, n int) []*ranked {
	top := best[:min(n, len(best))]
	given := func(c *ranked) bool {
		return c.Memory.Kind == memory.KindFact && (len(c.Memory.Source.EventIDs) == 0 || c.Memory.Edited)
	}
	if q.past || len(q.periods) > 0 || !slices.ContainsFunc(top, given) {
		return best
	}
	type matter struct{ attribute, author string }
	groups := map[matter][]*ranked{}
	for _, c := range top {
		m := c.Memory
		if c.outdated != nil || m.HoldsFrom().After(q.at) || m.IsShared() {
			continue
		}
		author := m.Author
		if q.isUser(author) {
			author = "" // as of a fact that a client gave
		}
		if attribute := subjectOf(c); attribute != "" {
			at := matter{attribute, author}
			groups[at] = append(groups[at], c)
		}
	}
	for _, group := range groups {
		if !slices.ContainsFunc(group, given) ||
			slices.ContainsFunc(group, func(c *ranked) bool { return q.namesNumberOf(top[0], c) }) {
			continue
		}
		scores := make([]float64, len(group)) // best first
		for i, c := range group {
			scores[i] = c.score
		}
		slices.SortStableFunc(group, func(a, b *ranked) int { return decided(b).Compare(decided(a)) })
		for i, c := range group {
			c.score = scores[i]
		}
	}
	slices.SortStableFunc(best, better)
	return best
}

// formOf reads what a match says.
func formOf(c *ranked) canonical.Form {
	text := memory.Cut(c.Memory.Fact, maxRead)
	if c.Memory.Kind == memory.KindFact {
		return canonical.Of(text)
	}
	return canonical.OfWords(text) // a turn
}

// subjectOf reads what attribute a match gives a value to.
func subjectOf(c *ranked) string {
	text := memory.Cut(c.Memory.Fact, maxRead)
	if c.Memory.Kind == memory.KindFact {
		return canonical.SubjectOf(text)
	}
	return canonical.SubjectOfWords(text) // a turn
}

// decided returns when the words of a match were said or, if that was later, decided
// on by a client.
func decided(c *ranked) time.Time {
	said, edited := c.Memory.SaidAt(), c.Memory.DecidedAt()
	if edited.After(said) {
		return edited
	}
	return said
}

// How near to the score of the first match those of two statements must be for the
// later one to be taken for one about the same thing as the earlier, by its words.
const (
	nearChange = 0.7
	nearShared = 0.35 // if they share a word
)

// fewTerms bounds the words of a question that asks how things are, such as "Where do I
// live?". One with more of them asks for something particular, which a later statement
// about the same theme does not answer: with all questions the MRR of BEAM's first ten
// chats falls from .55 to .43.
const fewTerms = 4

// How surely package gist must judge that a statement takes the place of an earlier one.
const (
	probably     = 0.5
	changesAtAll = 0.2 // that a sentence tells of a change; others are not compared
	saidAtAll    = 0.3 // that an earlier one tells how things are; a request does not
)

// maxNewer bounds Match.Newer. The latest tells most.
const maxNewer = 3

// changeDepth is how many of the best matches the one that comes first is chosen from, however many are asked for: the
// first match is the same for each topK.
const changeDepth = 10

// maxCompared bounds the matches that are compared with each other: a context asks for a hundred, and has room for
// some thirty.
const maxCompared = 30

// changeFirst notes for the first n matches, at most maxCompared, which later ones may have taken their place:
// statements of the one who asks that tell of a change, in another session. Three ways
// tell that one may be: package gist judges it from both statements; they have a word for
// it ("I'm in Rome now") and are as good a match or share a word; or package gist reads
// a change in what the question asks for. The last two apply to short questions of
// speakers about themselves, or about no other person. There the latest that may have
// taken the place of the first match changes places with it. So the newer is first, and
// what it may have ended says so, even where no rule has compared the two. Both stay, as
// they may be about two things. A question about the past leaves all that. Shared
// knowledge, and the words of other people, keep their place.
func changeFirst(best []*ranked, q *question, n int) []*ranked {
	if q.past || len(q.periods) > 0 || len(best) == 0 {
		return best
	}
	first, read, depth := best[0], newReader(q), changeDepth
	if read.short {
		depth = min(max(n, changeDepth), maxCompared)
	}
	var own []*spoken
	for _, c := range best[:min(depth, len(best))] {
		m := c.Memory
		if !m.IsShared() && q.asksOwn(m) && c.outdated == nil && !m.HoldsFrom().After(q.at) && !isRecord(m) {
			own = append(own, &spoken{ranked: c, near: c.score / first.score})
		}
	}
	if isRecord(first.Memory) {
		return best
	}
	older := own
	others := first.Memory.IsShared() || isPerson(first.Memory) && !q.asksOwn(first.Memory)
	others = others || !isPerson(first.Memory) && !addresses(first.Memory.Fact)
	if !others && (len(own) == 0 || own[0].ranked != first) {
		// The agent's words are compared by gist alone.
		older = append(slices.Clone(own), &spoken{ranked: first, near: -1})
	}
	noteNewer(own, older, first, read)
	near := best[:min(changeDepth, len(best))]
	settled := read.short && endsLast(own, first, q, read)
	for _, latest := range first.newer {
		if settled || !read.short || q.namesNumberOf(first, latest) {
			break // what is about the first may still be about something else than what is asked
		}
		if !slices.Contains(near, latest) {
			continue
		}
		about, form, then, now := formOf(first), formOf(latest), &spoken{ranked: first}, &spoken{ranked: latest}
		if !about.Unrelated(&form) || read.answers(now) && now.mayReplace(then) {
			latest.score, first.score = first.score, latest.score
			break
		}
	}
	slices.SortStableFunc(best, better)
	for _, c := range older {
		c.newer = c.newer[:min(len(c.newer), maxNewer)]
	}
	return best
}

// asksOwn reports whether a memory is in the words of the one who asks, or a fact that a client gave.
func (q *question) asksOwn(m *memory.Memory) bool {
	return m.Author == "" || q.isUser(m.Author)
}

// namesNumberOf reports whether a question names a number that a match has and another one has not: "Do I have 17
// cats?" asks for that match, while "What is my 10k time?" asks for either.
func (q *question) namesNumberOf(c, other *ranked) bool {
	if !slices.ContainsFunc(q.terms, english.StartsWithDigit) {
		return false
	}
	has := analyzer.Words(memory.Cut(c.Memory.Fact, maxRead))
	lacks := analyzer.Words(memory.Cut(other.Memory.Fact, maxRead))
	return slices.ContainsFunc(q.terms, func(term string) bool {
		return english.StartsWithDigit(term) && slices.Contains(has, term) && !slices.Contains(lacks, term)
	})
}

// general reports whether a question asks how things are with the one who asks.
func (q *question) general() bool {
	return !q.past && len(q.periods) == 0 && len(q.terms) <= fewTerms && (q.self || !hasName(q.text))
}

// isRecord reports whether a memory is one of several lines that a client gave, such as the fields of an item. It is no
// statement that a later one takes the place of: all items of a kind have the same fields.
func isRecord(m *memory.Memory) bool {
	return m.Kind == memory.KindFact && len(m.Source.EventIDs) == 0 && strings.Contains(m.Fact, "\n")
}

// noteNewer notes for each of some statements which of the speaker's own may have taken its place.
func noteNewer(own, older []*spoken, first *ranked, read *reader) {
	for _, change := range own {
		byWords := read.short && read.self && change.near >= nearShared && tellsChange(change.Memory) &&
			read.sameSubject(plainWords(memory.Cut(change.Memory.Fact, maxRead)))
		// A long question compares those alone that have a word for a change, as reading all costs a millisecond.
		worded := read.short || hasChangeWord(change.Memory)
		for _, c := range older {
			if !decided(change.ranked).After(decided(c.ranked)) || sameSession(change.Memory, c.Memory) {
				continue
			}
			replaces := byWords && c.near >= nearShared &&
				(min(c.near, change.near) >= nearChange || shareWord(change.wordsOf(), c.wordsOf()))
			if !replaces && !(read.short && read.changes(change) && (c.ranked == first || read.answers(c))) &&
				!(worded && change.mayReplace(c)) {
				continue
			}
			if !change.formOf().Repeats(c.formOf()) {
				c.newer = append(c.newer, change.ranked)
			}
		}
	}
	for _, c := range older {
		slices.SortStableFunc(c.newer, func(a, b *ranked) int { return decided(b).Compare(decided(a)) })
	}
}

// spoken is a match in the words of the one who asks.
type spoken struct {
	*ranked
	near  float64  // its score, as a part of that of the first match
	words []string // analyzed, once they are asked for
	form  *canonical.Form
	said  []gist.Reading // of its sentences, once they are asked for
	read  bool           // about and tells are set
	about float64        // how surely a sentence of it tells how things are with what is asked
	tells bool           // a sentence of it tells of a change of that
}

// mayReplace reports whether a sentence of s probably takes the place of one of an earlier statement.
func (s *spoken) mayReplace(before *spoken) bool {
	for i := range s.sentences() {
		after := &s.said[i]
		if after.Changes() < changesAtAll {
			continue
		}
		for k := range before.sentences() {
			if before.said[k].Asserts() >= saidAtAll && after.Replaces(&before.said[k]) >= probably {
				return true
			}
		}
	}
	return false
}

// sentences returns how the sentences of s read.
func (s *spoken) sentences() []gist.Reading {
	if s.said == nil {
		s.said = []gist.Reading{}
		for i, text := range english.Sentences(memory.Cut(s.Memory.Fact, maxRead)) {
			if i == maxSentences {
				break
			}
			if !english.Foreign(english.Lex(text)) {
				s.said = append(s.said, gist.Of(text))
			}
		}
	}
	return s.said
}

// wordsOf returns the analyzed words.
func (s *spoken) wordsOf() []string {
	if s.words == nil {
		s.words = analyzer.Words(memory.Cut(s.Memory.Fact, maxRead))
	}
	return s.words
}

// formOf returns the form, which is read once: reading each pair of a hundred long matches takes seconds.
func (s *spoken) formOf() *canonical.Form {
	if s.form == nil {
		form := formOf(s.ranked)
		s.form = &form
	}
	return s.form
}

func shareWord(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// tellsChange reports whether a memory is a statement that tells of a change.
func tellsChange(m *memory.Memory) bool {
	text := memory.Cut(m.Fact, maxRead)
	words := plainWords(text)
	return (m.Kind.Statement() || !asks(text)) && changeWords.in(words, text) && !besidesWords.in(words, text)
}

// hasChangeWord reports whether a memory has a word that often tells of a change.
func hasChangeWord(m *memory.Memory) bool {
	text := memory.Cut(m.Fact, maxRead)
	return changeWords.in(plainWords(text), text)
}

// sameSession reports whether two memories were said in one session.
func sameSession(a, b *memory.Memory) bool {
	return a.Source.SessionID != "" && a.Source.SessionID == b.Source.SessionID
}
