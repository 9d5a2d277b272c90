package dates

import (
	"cmp"
	"strings"
	"time"
)

// counted is the time so many units on, or back where the direction is -1: "two weeks ago", "in a few days".
func counted(at time.Time, number, name string, direction int) reading {
	r := units[strings.TrimSuffix(name, "s")].from(at, direction*count(number))
	r.roughly = strings.Contains(number, "few")
	return r
}

// steps is how many units words like "last" lead on.
var steps = map[string]int{"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}

// period is a week, weekend, month or year of the calendar, seen from the one that the sentence is said in. "Coming
// weekend" is the one of the same week.
func period(m *match, s said) reading {
	n, name := steps[m.part("which")], m.part("unit")
	u := units[name]
	switch {
	case name == "week":
		u = calendarWeek
	case name == "weekend" && m.part("which") == "coming":
		n = 0
	}
	r := u.from(s.at, n)
	r.frames = name == "year"
	return r
}

// nearestWeekday is the nearest such day in the direction of the tense. It is never the day of the sentence itself,
// which people call today: told on that day, it is unsure.
func nearestWeekday(m *match, s said) reading {
	t := monday(s.at).AddDate(0, 0, weekdays[m.part("weekday")])
	today := midnight(s.at)
	switch {
	case m.part("week") == "last":
		t = t.AddDate(0, 0, -7)
	case m.part("week") == "next":
		t = t.AddDate(0, 0, 7)
	case m.part("which") == "this":
	case s.past && !t.Before(today):
		t = t.AddDate(0, 0, -7)
	case !s.past && !t.After(today):
		t = t.AddDate(0, 0, 7)
	}
	bare := m.part("which") == "" && m.part("week") == ""
	sameDay := weekdays[m.part("weekday")] == sinceMonday(s.at)
	return reading{day: t, unsure: bare && (!s.sure || sameDay)}
}

// lastOrNextWeekday is the nearest such day before or after the day of the sentence, whatever its tense. "Next Friday"
// is unsure from Monday to Thursday: some people mean the one of the week after.
func lastOrNextWeekday(m *match, s said) reading {
	n := weekdays[m.part("weekday")] - sinceMonday(s.at)
	next := m.part("which") == "next"
	thisWeek := next && n > 0
	switch {
	case next && n <= 0:
		n += 7
	case !next && n >= 0:
		n -= 7
	}
	r := units["day"].from(s.at, n)
	r.unsure = thisWeek
	return r
}

// daysOfMonth is the first of some days of a month. Where no year is given, the last of them tells which one is meant:
// days that have begun are not over.
func daysOfMonth(m *match, s said, noted style) reading {
	month, year := monthOf(m.part("month")), m.part("year")
	first, last := firstAndLast(m)
	r := reading{style: inFull}
	y := 0
	if year != "" {
		y = yearOf(year)
	} else {
		y = nearestYear(month, max(first, last), s)
		r.style, r.yearless = noted, true
	}
	r.day = time.Date(y, month, first, 0, 0, 0, 0, time.UTC)
	r.unsure = r.yearless && !s.near(r.day)
	return r
}

// How far from its telling a day or month without a year is still the nearest one, in days. Stories of the past leave
// the year out for half a year; of older days people say the year, or do not care. Plans reach further, but a day that
// is just over is hardly that of the next year.
const (
	mostBack  = 183
	mostAhead = 335
)

// near reports whether a day that the tense chose is the only one that can be meant.
func (s *said) near(day time.Time) bool {
	most := mostAhead
	if s.past {
		most = mostBack
	}
	return s.sure && day.Sub(s.at).Abs() <= time.Duration(most)*24*time.Hour
}

// firstAndLast are the days of the month that a match names: "3 to 7 June", "June 3".
func firstAndLast(m *match) (first, last int) {
	a, b := m.part("first"), m.part("last")
	return count(cmp.Or(a, b)), count(cmp.Or(b, a))
}

// nearestYear is the year of the nearest such day that is not after the day of the sentence (past), or not before it.
func nearestYear(month time.Month, day int, s said) int {
	step := 1
	if s.past {
		step = -1
	}
	today := midnight(s.at)
	for y := today.Year(); ; y += step {
		t := time.Date(y, month, day, 0, 0, 0, 0, time.UTC)
		if t.Month() == month && (t.Equal(today) || t.Before(today) == s.past) { // 29 February waits for its year
			return y
		}
	}
}

// wholeMonth is a month of the year given, or else of the one that "last", "next", "this" or the tense points at.
func wholeMonth(m *match, s said) reading {
	r := reading{grain: aMonth, style: inFull}
	month := monthOf(m.part("month"))
	if year := m.part("year"); year != "" {
		r.day = firstOf(yearOf(year), month)
		return r
	}
	r.yearless = true
	which := m.part("which")
	if r.style = inBrackets; which == "" {
		r.style = yearAfter
	}
	now := firstOf(s.at.Year(), s.at.Month())
	r.day = firstOf(s.at.Year(), month)
	switch {
	case which == "this":
	case which == "last" && !r.day.Before(now), which == "" && s.past && r.day.After(now):
		r.day = r.day.AddDate(-1, 0, 0)
	case which != "" && which != "last" && !r.day.After(now), which == "" && !s.past && r.day.Before(now):
		r.day = r.day.AddDate(1, 0, 0)
	}
	r.unsure = which == "" && (r.day.Equal(now) || !s.near(r.day)) // "in May" said in May may be any
	return r
}
