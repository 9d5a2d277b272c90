package extract

import (
	"strings"
	"time"

	"github.com/olebedev/when"
	"github.com/olebedev/when/rules"
	"github.com/olebedev/when/rules/en"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

// dateReader finds the days and periods that a sentence names. Two parsers
// differ in what "on Friday" and "on 12 May" mean: the one before, where the
// sentence tells of the past, or else the next one.
type dateReader struct {
	past, coming *when.Parser
}

func newDateReader() *dateReader {
	return &dateReader{past: newParser(true), coming: newParser(false)}
}

// newParser chains our rules before those of the library, which skip what is
// resolved already ("the day before yesterday" holds a "yesterday"). Of the
// library's we take what is right at month ends and in any letter case; its
// arithmetic with months and its dates without year are replaced by ours.
func newParser(past bool) *when.Parser {
	p := when.New(&rules.Options{MatchByOrder: true}) // Distance 0: dates that do not touch are dates apart
	p.Add(ownDates(past)...)
	p.Add(
		&guarded{en.CasualDate(rules.Skip), func(m string) bool { return m != "now" && m != "tmr" }},
		&guarded{en.PastTime(rules.Skip), func(m string) bool {
			return !strings.Contains(m, "month") && !strings.Contains(m, "half") && !longNumber(m)
		}},
		&guarded{en.Weekday(rules.Skip), func(m string) bool {
			return (strings.HasPrefix(m, "last") || strings.HasPrefix(m, "past") || strings.HasPrefix(m, "next")) && strings.HasSuffix(m, "day")
		}},
	)
	return p
}

// longNumber: a duration of 1,000 weeks or more is past the range of dates,
// and further on past that of time.Duration.
func longNumber(s string) bool {
	digits := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	return digits > 3
}

// guarded is a rule of the library, given text in small letters, whose matches
// must also pass ok.
type guarded struct {
	rule rules.Rule
	ok   func(match string) bool
}

// Find gives the first match that passes.
func (g *guarded) Find(text string) *rules.Match {
	text = lowerASCII(text)
	for from := 0; from < len(text); {
		m := g.rule.Find(text[from:])
		if m == nil || m.Right <= m.Left {
			return nil
		}
		m.Left, m.Right = m.Left+from, m.Right+from
		if trimmed := strings.TrimSpace(m.Text); g.ok(trimmed) && wholeWords(text, m.Left, m.Right) {
			m.Right = m.Left + len(strings.TrimRight(m.Text, " "))
			return m
		}
		from = m.Right
	}
	return nil
}

// lowerASCII keeps every byte's place, which strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// wholeWords reports whether text[left:right] stands free: not inside a word,
// a path or an address.
func wholeWords(text string, left, right int) bool {
	joined := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || c == '_' || c == '/' || c == '-' || c == '@' || c == '#'
	}
	// An en or em dash or a curly apostrophe starts with 0xE2 and parts words.
	return (left == 0 || !joined(text[left-1]) || left > 2 && text[left-3] == 0xE2) && (right == len(text) || !joined(text[right]) || text[right] == 0xE2)
}

// dated is one expression found: where it ends, what to write behind it, and
// the first day it means (zero: it does not say when the sentence holds).
type dated struct {
	start, end int
	phrase     string // in small letters
	note       string
	day        time.Time
	year       int  // that it says, 0 if it says none
	guessed    bool // its year was chosen by the tense
}

// maxDates is how many dates of one sentence are resolved; no one gives more.
const maxDates = 6

// read finds the dates of the part of s that makes the fact, said at the time
// at; places are those of s.text. No clock is asked: where at is not a time,
// nothing is found.
func (d *dateReader) read(s *sentence, at time.Time) []dated {
	if at = at.UTC(); memory.ValidateTime("", at) != nil {
		return nil
	}
	text, recurring := s.text[:s.end], yearly(s.words)
	var out []dated
	for from := s.start; from < len(text) && len(out) < maxDates; {
		res, past := d.next(text, s.words, from, at)
		if res == nil || res.Text == "" {
			break
		}
		left := from + res.Index
		from = left + len(res.Text)
		right := left + len(strings.TrimRight(res.Text, " "))
		e, ok := annotate(text, lowerASCII(text[left:right]), left, right, res.Time, recurring)
		if ok && plausible(text[left:right], e.day, at, past) {
			out = append(out, e)
			from = max(from, e.end)
		}
	}
	settle(text, s.start, out, at)
	return out
}

// next is the first expression at or after from, read in the tense of the verb
// nearest to it.
func (d *dateReader) next(text string, ws english.Words, from int, at time.Time) (*when.Result, bool) {
	res, err := d.coming.Parse(text[from:], at)
	if err != nil || res == nil {
		return nil, false // an error is a number out of range: no date
	}
	past := toldInPast(ws, from+res.Index)
	if past {
		if res, err = d.past.Parse(text[from:], at); err != nil {
			return nil, false
		}
	}
	return res, past
}

// plausible refuses days outside what a memory may carry, and "in two weeks"
// in a sentence about the past, where it is how long something took.
func plausible(phrase string, day, at time.Time, past bool) bool {
	if !day.IsZero() && memory.ValidateTime("", day) != nil {
		return false
	}
	return !past || !strings.HasPrefix(lowerASCII(phrase), "in ") || !day.After(at)
}
