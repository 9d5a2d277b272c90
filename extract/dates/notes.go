package dates

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// date is a date of a sentence: what its rule reads in it, and what the sentence around it adds.
type date struct {
	// reading has no day where the date does not tell when the sentence holds.
	reading
	start, end int    // in bytes of the sentence
	note       string // see Expression
	year       int    // as the sentence says it; 0 if it says none
	guessed    bool   // the tense chose its year
}

var (
	// partOfDay may follow a day, and then goes before its note.
	partOfDay  = regexp.MustCompile(`^(?:['’]s\b|['’] time\b)?(?: (?:morning|afternoon|evening|night)\b)?`)
	shortMonth = regexp.MustCompile(` (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$`)
	// innerStop is a full stop behind such a month that ends no sentence: "12 Jan. in Rome".
	innerStop   = regexp.MustCompile(`^\. *[a-z]`)
	until       = regexp.MustCompile(`\b(?:until|till|til|by|before)\s+(?:the\s+)?$`)
	bracketNext = regexp.MustCompile(`^ *\(`)
)

// date is what the sentence makes of a match. It is false for a day without a year in a sentence about something
// that comes every year: any year would be wrong.
func (s *sentence) date(m match, r reading) (date, bool) {
	if r.yearless && s.annual {
		return date{}, false
	}
	d := date{reading: r, start: m.start, end: m.end + s.rest(&m, r.style)}
	d.guessed = r.style == yearAfter || r.style == yearAfterComma
	if r.style == inFull || r.frames {
		d.year = r.day.Year()
	}
	d.note = d.written()
	if d.unsure {
		d.note = ""
	}
	if bracketNext.MatchString(s.text[d.end:]) {
		d.note, d.guessed, d.unsure = "", false, false // the speaker says it already
	}
	if until.MatchString(tail(s.lower[:m.start])) {
		d.day = time.Time{} // the end of something is not its beginning
	}
	return d, true
}

// rest is how many bytes behind a match go before the note too.
func (s *sentence) rest(m *match, noted style) int {
	after := s.text[m.end:]
	switch {
	case noted == inBrackets:
		return len(partOfDay.FindString(after))
	case noted == yearAfter && shortMonth.MatchString(s.lower[m.start:m.end]) && innerStop.MatchString(after):
		return len(".")
	}
	return 0
}

// written is the note of a date by its style.
func (d *date) written() string {
	switch d.style {
	case yearAfter:
		return " " + strconv.Itoa(d.day.Year())
	case yearAfterComma:
		return ", " + strconv.Itoa(d.day.Year())
	case inFull:
		return ""
	}
	around := ""
	if d.roughly {
		around = "around "
	}
	return " (" + around + d.day.Format(grains[d.grain].layout) + ")"
}

var (
	// listed is what may stand between dates that share a year.
	listed = regexp.MustCompile(`^(?:[ ,–-]|\b(?:and|or|to|through|until|till|of|on|in|the|from)\b)*$`)
	// rangeJoint stands between the first and the last day of a range.
	rangeJoint  = regexp.MustCompile(`^ ?(?:-|–|to|through|until|till) ?(?:on )?(?:the )?$`)
	clauseJoint = regexp.MustCompile(`[,;]|\b(?:and|but|then|so)\b`)
	weekdayLead = regexp.MustCompile(`\b(` + weekdayNames + `),? (?:the )?$`)
)

// complete looks at the dates of a sentence together, and corrects the years that the tense chose, from the last date
// to the first. A date has the year of the one it is listed with ("3 June and 7 July 2024", "12 June last year"), or of
// the year that the sentence begins with. In "from 1 January to 31 December" the first day is before the second, and
// "Friday 13 June" was a Friday.
func (s *sentence) complete() {
	for i := len(s.dates) - 1; i >= 0; i-- {
		d := &s.dates[i]
		if !d.guessed {
			continue
		}
		if after := s.yearBehind(i); after != nil {
			d.adopt(after.year)
		} else if before := s.yearBefore(i); before != nil {
			d.adopt(before.year)
			if !d.day.IsZero() {
				before.day = time.Time{} // the day says more than the year
			}
		} else if last := s.rangeEnd(i); last != nil {
			d.precede(last)
		} else if day := weekdayLead.FindStringSubmatch(tail(s.lower[:d.start])); day != nil && d.grain == aDay {
			d.fall(weekdays[day[1]], s.at)
		}
	}
}

// yearBehind is the next date if it says its year and is listed with date i.
func (s *sentence) yearBehind(i int) *date {
	if i+1 == len(s.dates) {
		return nil
	}
	next := &s.dates[i+1]
	if next.year == 0 || !listed.MatchString(s.text[s.dates[i].end:next.start]) {
		return nil
	}
	return next
}

// yearBefore is the nearest date before date i that says a year and is listed with it, or is a year that the sentence
// begins with: "In 2019 I visited Oslo on 12 March". A year does not reach into another clause.
func (s *sentence) yearBefore(i int) *date {
	for j := i - 1; j >= 0; j-- {
		d := &s.dates[j]
		if d.year == 0 {
			continue
		}
		between := s.text[d.end:s.dates[i].start]
		opens := d.frames && strings.TrimSpace(s.text[s.from:d.start]) == ""
		if listed.MatchString(between) || opens && !clauseJoint.MatchString(strings.TrimPrefix(between, ",")) {
			return d
		}
	}
	return nil
}

// rangeEnd is the next date if it is the last day of a range that begins with date i.
func (s *sentence) rangeEnd(i int) *date {
	if i+1 == len(s.dates) {
		return nil
	}
	d, next := &s.dates[i], &s.dates[i+1]
	if !next.guessed || d.day.IsZero() || next.day.IsZero() || !rangeJoint.MatchString(s.text[d.end:next.start]) {
		return nil
	}
	return next
}

// move gives a day another year. A day that the year does not have stays as it was.
func (d *date) move(year int) {
	if t := time.Date(year, d.day.Month(), d.day.Day(), 0, 0, 0, 0, time.UTC); t.Month() == d.day.Month() {
		d.day = t
	}
}

// adopt gives a date the year that another date of the sentence says.
func (d *date) adopt(year int) {
	if !d.day.IsZero() {
		d.move(year)
	}
	d.year, d.note, d.guessed, d.unsure = year, "", false, false
}

// precede gives a day the nearest year before the last day of its range.
func (d *date) precede(last *date) {
	if d.move(last.day.Year()); d.day.After(last.day) {
		d.move(last.day.Year() - 1)
	}
	if d.unsure = last.unsure; d.unsure {
		d.note = ""
		return
	}
	d.note = d.written()
}

// fall gives a day the nearest year in which it falls on a weekday. A day comes back to a weekday after twelve years at
// most, so six years before and behind the sentence have one, except for 29 February.
func (d *date) fall(weekday int, at time.Time) {
	if d.day.IsZero() {
		return
	}
	var best time.Time
	for year := at.Year() - 6; year <= at.Year()+6; year++ {
		t := time.Date(year, d.day.Month(), d.day.Day(), 0, 0, 0, 0, time.UTC)
		if t.Day() != d.day.Day() || sinceMonday(t) != weekday {
			continue
		}
		if best.IsZero() || t.Sub(at).Abs() < best.Sub(at).Abs() {
			best = t
		}
	}
	if !best.IsZero() {
		d.day, d.unsure = best, false
		d.note = d.written()
	}
}
