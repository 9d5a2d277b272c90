package retrieve

import (
	"slices"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// An agent repeats what it was told: "Porto, how lovely!". No fact is made of that, but it is outdated as soon as the
// fact is: a block that has "I live in Rome" would otherwise say "Porto" without a mark.

// echoed are the facts that have ended and whose value a turn of the agent repeats: those of its session, from words of
// somebody else that came before it, until others took their place. A person who says "I live in Porto too" repeats
// nothing, and "So you left Porto" is said when the value has ended.
func (s *succession) echoed(turn *memory.Memory) (facts []*memory.Candidate) {
	if isPerson(turn) || turn.Source.SessionID == "" || len(s.endedIn[turn.Source.SessionID]) == 0 {
		return nil
	}
	words := s.wordsOf(turn.Fact)
	if !addresses(turn.Fact) && len(words) > shortEcho {
		return nil // "The bridge in Porto was built in 1886" is no echo
	}
	for _, c := range s.endedIn[turn.Source.SessionID] {
		m := c.Memory
		if m.Author == turn.Author || turn.Timestamp.Before(m.Timestamp) {
			continue
		}
		by, ended := s.byID[m.SupersededBy], m.ValidTo
		if by != nil {
			ended = by.Memory.Timestamp
		}
		if !ended.IsZero() && !turn.Timestamp.Before(ended) {
			continue
		}
		if hasValue(words, m) && (by == nil || !hasValue(words, by.Memory)) {
			facts = append(facts, c)
		}
	}
	return facts
}

// shortEcho is how many words an echo has at most that does not say "you".
const shortEcho = 6

// hasValue reports whether some words have those of a value that a fact gives.
func hasValue(words map[string]bool, fact *memory.Memory) bool {
	form := canonical.Of(memory.Cut(fact.Fact, maxRead))
	return slices.ContainsFunc(form.Values(), func(value string) bool {
		own := analyzer.Words(value)
		return len(own) > 0 && !slices.ContainsFunc(own, func(w string) bool { return !words[w] })
	})
}

// text returns the canonical text of a fact.
func (s *succession) text(fact string) string {
	out, ok := s.texts[fact]
	if !ok {
		out = canonical.Text(fact)
		s.texts[fact] = out
	}
	return out
}

// wordsOf returns the distinct analyzed words of a text.
func (s *succession) wordsOf(text string) map[string]bool {
	out := s.words[text]
	if out == nil {
		out = map[string]bool{}
		for _, w := range analyzer.Words(memory.Cut(text, maxRead)) {
			out[w] = true
		}
		s.words[text] = out
	}
	return out
}
