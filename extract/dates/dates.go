// Package dates finds the days, weeks, months and years that English text names, and resolves them to days of the
// calendar.
//
// [Find] reads a sentence and gives each date as an [Expression]: where it stands, the date to write behind it, and the
// [Period] that it names. [Periods] gives the periods of a question. [Possible] and [Named] judge by the words alone
// whether a sentence may have a date at all, which costs far less.
//
// Relative dates ("yesterday", "two weeks ago") count from the time at which the text was said, which the caller
// passes; the package never asks a clock. "Today" is the day on the clock of the speaker: the day of that time in its
// own location. Periods begin at 00:00 of their days on that clock, and weeks begin on Monday.
//
// A date without a year or a week ("12 May", "on Friday") is the nearest one before or after that time, as the tense
// of the sentence tells. Where the tense and the time leave more than one choice, the date is [Expression.Unsure].
//
// The table in rules.go has one row for each way to write a date.
package dates

import (
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

// Expression is a date that a sentence names.
type Expression struct {
	// Start and End are where it stands, in bytes of the text. A part of the day ("yesterday morning") is in it.
	Start, End int
	// Note completes the words when it is inserted at End: " (2023-05-07)" behind "yesterday", ", 2023" behind
	// "May 12". It is empty where the text gives the date in full.
	Note string
	// Period is the time that the expression names. It is zero where the time does not tell when the sentence holds,
	// as in "until Friday".
	Period Period
	// Unsure is set where the words, the tense and the time leave more than one day: "in May" said in May, "3 March"
	// in a story of the past that is told in January. Note is then empty, and Period is the likeliest.
	Unsure bool
}

// maxExpressions is how many dates of one text are resolved. Sentences that people write have fewer.
const maxExpressions = 6

// Find gives the dates in text[from:], in order, as said at the given time, whose location is that of the speaker and
// of the periods. The words tell the tense. They are those of the whole sentence, at their places in text; words before
// from and behind the end of text count too.
//
// Find gives six dates at most, and none if at is not a time that a memory may carry ([memory.ValidateTime]). It is
// safe for concurrent use.
func Find(text string, words english.Words, from int, at time.Time) []Expression {
	clock := wallClock(at)
	if memory.ValidateTime("", clock) != nil {
		return nil
	}
	s := sentence{text: text, lower: lowerASCII(text), words: words, from: from, at: clock, annual: annual(words)}
	s.read()
	s.complete()
	return s.expressions(at.Location())
}

// sentence is a text whose dates are being found.
type sentence struct {
	text   string
	lower  string // the text in small letters; every byte has the same place in both
	words  english.Words
	from   int       // the byte where reading begins
	at     time.Time // when it was said, on the speaker's clock, see wallClock
	annual bool      // it tells of something that comes every year
	dates  []date
}

// read finds the dates one by one.
func (s *sentence) read() {
	for from := s.from; from < len(s.text) && len(s.dates) < maxExpressions; {
		m, ok := firstMatch(s.lower, s.text, from)
		if !ok {
			return
		}
		from = m.end
		told := s.told(&m)
		d, ok := s.date(m, m.rule.resolve(&m, told))
		if ok && s.plausible(&d, told.past) {
			s.dates = append(s.dates, d)
			from = max(from, d.end)
		}
	}
}

// told is how the sentence tells the date of a match. "To" and "for" point ahead even behind a verb of the past: "They
// moved it to Friday". Between the days of a range "to" says nothing.
func (s *sentence) told(m *match) said {
	t := said{at: s.at}
	last := s.from // where the date before this one ends
	if n := len(s.dates); n > 0 {
		last = s.dates[n-1].end
	}
	t.past, t.sure = direction(s.words, last, m.start)
	if pointsAhead.MatchString(m.before()) && (len(s.dates) == 0 || !rangeJoint.MatchString(s.text[last:m.start])) {
		t.past = false
	}
	if t.past && until.MatchString(tail(s.lower[:m.start])) {
		t.sure = false // "They extended it until 3 March"
	}
	return t
}

// plausible refuses days that a memory cannot carry. In a sentence about the past it refuses "in two weeks" as well:
// there the words tell how long something took.
func (s *sentence) plausible(d *date, past bool) bool {
	if !d.day.IsZero() && memory.ValidateTime("", d.day) != nil {
		return false
	}
	return !past || !strings.HasPrefix(s.lower[d.start:], "in ") || !d.day.After(s.at)
}

// expressions gives the dates found as the caller sees them, with periods in the location of the speaker. A period that
// begins there at a time that a memory cannot carry is left out.
func (s *sentence) expressions(speaker *time.Location) []Expression {
	var out []Expression
	for i := range s.dates {
		d := &s.dates[i]
		e := Expression{Start: d.start, End: d.end, Note: d.note, Unsure: d.unsure}
		if from := midnightIn(d.day, speaker); !d.day.IsZero() && memory.ValidateTime("", from) == nil {
			e.Period = Period{From: from, To: midnightIn(d.grain.end(d.day), speaker), AnyYear: d.guessed}
		}
		out = append(out, e)
	}
	return out
}

// lowerASCII is s in small letters. Unlike strings.ToLower it keeps the place of every byte.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
