package dates

import (
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// Period is a span of time. From is in it, To is not. Both are in the location of the speaker.
type Period struct {
	From, To time.Time
	// AnyYear is set where the text names days or months without their year: From and To are then of one of the
	// years.
	AnyYear bool
}

// IsZero reports whether p is no period.
func (p Period) IsZero() bool { return p.From.IsZero() }

// Holds reports whether a moment is in the period; with AnyYear, whether it is in the period of its own year.
func (p Period) Holds(t time.Time) bool {
	if !p.AnyYear {
		return !t.Before(p.From) && t.Before(p.To)
	}
	year := t.In(p.From.Location()).Year() - p.From.Year()
	for _, y := range [...]int{year, year - 1} { // a period may go over the turn of the year
		if q := (Period{From: p.From.AddDate(y, 0, 0), To: p.To.AddDate(y, 0, 0)}); q.Holds(t) {
			return true
		}
	}
	return false
}

// Periods gives the days, weeks, months and years that an English text names, as said at the given time: "in May
// 2023", "last week", "on 3 June". ISO dates (2023-05-08) are found in texts of any language. The limits are those of
// [Find].
func Periods(text string, at time.Time) []Period {
	var out []Period
	for _, e := range Find(text, english.Split(text), 0, at) {
		if !e.Period.IsZero() {
			out = append(out, e.Period)
		}
	}
	return out
}
