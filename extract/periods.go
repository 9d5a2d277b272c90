package extract

import (
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// Period is a span of time that a text names: From is in it, To is not.
type Period struct {
	From, To time.Time
	// AnyYear is set where the text names days or months without their year:
	// From and To are then of one of the years.
	AnyYear bool
}

// Holds reports whether a moment is in the period.
func (p Period) Holds(t time.Time) bool {
	if p.AnyYear {
		year := t.UTC().Year() - p.From.Year()
		for _, y := range [...]int{year, year - 1} { // a period may go over the turn of the year
			if q := (Period{From: p.From.AddDate(y, 0, 0), To: p.To.AddDate(y, 0, 0)}); q.Holds(t) {
				return true
			}
		}
		return false
	}
	return !t.Before(p.From) && t.Before(p.To)
}

// Periods finds the days, weeks, months and years that an English text names,
// as said at a time: "in May 2023", "last week", "on 3 June". ISO dates are
// found in texts of any language.
func Periods(text string, at time.Time) []Period {
	s := sentence{text: text, words: english.Split(text), end: len(text)}
	var out []Period
	for _, e := range questionDates.read(&s, at) {
		if !e.day.IsZero() {
			out = append(out, Period{From: e.day, To: e.until(), AnyYear: e.guessed})
		}
	}
	return out
}

var questionDates = newDateReader()

// until is the end of what an expression names.
func (e *dated) until() time.Time {
	switch p := e.phrase; {
	case relativeWeek.MatchString(p):
		return e.day.AddDate(0, 0, 7)
	case strings.Contains(p, "weekend"):
		return e.day.AddDate(0, 0, 2)
	case strings.Contains(p, "month"), monthName.MatchString(p), monthOfYear.MatchString(p):
		return e.day.AddDate(0, 1, 0)
	case strings.Contains(p, "decade"):
		return e.day.AddDate(10, 0, 0)
	case strings.Contains(p, "year"), e.day.Month() == time.January && e.day.Day() == 1 && yearAlone.MatchString(p):
		return e.day.AddDate(1, 0, 0)
	}
	return e.day.AddDate(0, 0, 1)
}
