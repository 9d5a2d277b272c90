// Package rules finds facts without a model, by the form of English sentences.
//
// It keeps a sentence in which users say something of themselves and theirs, ask that something be remembered, or tell
// the agent to do something from now on. It would rather miss a statement than keep small talk, and it gives nothing
// for other languages.
//
// A sentence is read in steps, each in a file of its own. sentence.go takes off the words before and after the
// statement and looks for instructions (instruction.go). clause.go judges a statement: its subject (subject.go), or
// one that is not the speaker (others.go), then its predicate (predicate.go). The judgement of a predicate is a table
// of rules, each with an example. The words that rules look for are in tables.txt.
package rules

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

// maxFacts is how many facts one turn may give. A message in which people tell of themselves has fewer; a pasted
// document has more.
const maxFacts = 20

// Extractor implements [extract.Extractor] by rules. The same turns always give the same facts. It is safe for
// concurrent use.
type Extractor struct{}

// New makes the extractor.
func New() *Extractor { return &Extractor{} }

// Name is "rules".
func (e *Extractor) Name() string { return "rules" }

// Budget is 0: a batch may have any number of tokens.
func (e *Extractor) Budget() int { return 0 }

// Extract gives each kept sentence of the user's turns as one fact, in order: in the speaker's own words, without the
// lead-in ("By the way,"), and with dates beside the words that mean them ("yesterday (2023-05-07)"). A relative date
// is counted from the time of its turn. Of a policy it heeds the managed topics that are off, which its caller drops,
// and the first person. The only error is that of ctx.
func (e *Extractor) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	out := extract.Found{Unheeded: b.Policy.Unheeded(extract.FirstPerson)}
	var k talk
	for i := range b.Before {
		k.hear(&b.Before[i])
	}
	for i := range b.Turns {
		if err := ctx.Err(); err != nil {
			return extract.Found{}, err
		}
		if b.Turns[i].User {
			out.Facts = append(out.Facts, k.read(&b.Turns[i])...)
		}
		k.hear(&b.Turns[i])
	}
	return out, nil
}

// Consolidate compares nothing: the canonical forms of two facts tell all that rules can tell of them.
func (e *Extractor) Consolidate(_ context.Context, c extract.Comparison, _ bool) (extract.Consolidated, error) {
	return extract.Consolidated{Verdicts: extract.CreateAll(c)}, nil
}

// resolved is the statement of s as said at the time at, with its dates written out, and the day it speaks of.
func (s *sentence) resolved(at time.Time) (string, time.Time) {
	if !dates.Possible(s.words) {
		return s.statement(), time.Time{}
	}
	var b strings.Builder
	var from time.Time
	done := s.start
	for _, d := range dates.Find(s.text[:s.end], s.words, s.start, at) {
		b.WriteString(s.text[done:d.End])
		b.WriteString(d.Note)
		done = d.End
		if from.IsZero() && !d.Unsure {
			from = d.Period.From
		}
	}
	b.WriteString(s.text[done:s.end])
	return s.withSubject(b.String()), from
}

// capitalized is s with a capital at its front, and one blank between words.
func capitalized(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// uncapitalized is s with a small letter at its front, unless its first word is in capitals.
func uncapitalized(s string) string {
	ws := english.Split(s)
	if len(ws) == 0 || !ws[0].Upper {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// topics is a set of memory's topics.
type topics uint8

const (
	personal topics = 1 << iota
	preference
	details
	instruction

	none topics = 0 // the sentence is not kept
)

// names gives the topics in a fixed order.
func (t topics) names() []string {
	var out []string
	for i, n := range [...]string{
		memory.TopicPersonalInfo, memory.TopicPreferences, memory.TopicDetails, memory.TopicInstructions,
	} {
		if t&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}
