package dates

import (
	"strconv"
	"strings"
	"time"
)

// grain is how exactly words name a time.
type grain int

const (
	aDay grain = iota
	aWeekend
	aWeek
	aMonth
	aYear
	aDecade
)

// grains has the layout in which a note writes each grain, and how long the grain lasts.
var grains = [...]struct {
	layout              string
	years, months, days int
}{
	aDay:     {layout: time.DateOnly, days: 1},
	aWeekend: {layout: time.DateOnly, days: 2},
	aWeek:    {layout: "week of 2006-01-02", days: 7},
	aMonth:   {layout: "2006-01", months: 1},
	aYear:    {layout: "2006", years: 1},
	aDecade:  {layout: "2006", years: 10},
}

// end is the day after the span that begins on a day.
func (g grain) end(day time.Time) time.Time {
	return day.AddDate(grains[g].years, grains[g].months, grains[g].days)
}

// start is the first day of the span that t is in. A weekend counts to the week before it, and a decade begins in the
// year of t, because "two decades ago" is twenty years ago.
func (g grain) start(t time.Time) time.Time {
	switch g {
	case aWeekend:
		return monday(t).AddDate(0, 0, 5)
	case aWeek:
		return monday(t)
	case aMonth:
		return firstOf(t.Year(), t.Month())
	case aYear, aDecade:
		return firstOf(t.Year(), time.January)
	}
	return midnight(t)
}

// unit is a step from one time to another. Months and years lead to the first day of theirs, where there is no 31st to
// fall over.
type unit struct {
	span                time.Duration // of units shorter than a day
	years, months, days int
	grain               grain // how exactly the time is known after such a step
}

// units are the units that people count: "two weeks ago" is a day.
var units = map[string]unit{
	"second":  {span: time.Second},
	"min":     {span: time.Minute},
	"minute":  {span: time.Minute},
	"hour":    {span: time.Hour},
	"day":     {days: 1},
	"week":    {days: 7},
	"weekend": {days: 7, grain: aWeekend},
	"month":   {months: 1, grain: aMonth},
	"year":    {years: 1, grain: aYear},
	"decade":  {years: 10, grain: aDecade},
}

// calendarWeek is the unit of "last week": all of a week and no day of it.
var calendarWeek = unit{days: 7, grain: aWeek}

// from leads n units on from t, or back if n is negative.
func (u unit) from(t time.Time, n int) reading {
	start := u.grain.start(t.Add(time.Duration(n) * u.span))
	return reading{day: start.AddDate(n*u.years, n*u.months, n*u.days), grain: u.grain}
}

// Names and numbers as patterns let them through, in small letters.
var (
	// months are known by three letters.
	months = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8,
		"sep": 9, "oct": 10, "nov": 11, "dec": 12}
	// weekdays are counted from the Monday of a week.
	weekdays = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
		"sunday": 6}
	numbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
		"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
)

// monthOf is the month of a name, long or short; 0 if it is none.
func monthOf(name string) time.Month { return months[name[:min(3, len(name))]] }

// count reads a number in words or digits. "A few" counts as three, and "a couple" as two.
func count(s string) int {
	switch {
	case strings.Contains(s, "few"):
		return 3
	case strings.Contains(s, "couple"):
		return 2
	case numbers[s] > 0:
		return numbers[s]
	}
	n, _ := strconv.Atoi(s) // the patterns let only digits through
	return n
}

// yearOf reads a year of four digits, or of two behind an apostrophe: '19 is 2019, and '50 is 1950.
func yearOf(s string) int {
	n := count(strings.TrimLeft(s, "'’"))
	switch {
	case n < 50:
		return 2000 + n
	case n < 100:
		return 1900 + n
	}
	return n
}

// wallClock is the time that the speaker's clock shows at t, in the location of t, as a time in UTC: days are counted
// in UTC, and begin at the speaker's midnight.
func wallClock(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// midnightIn is the beginning of a day, which is counted in UTC, on the clocks of a location.
func midnightIn(day time.Time, location *time.Location) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, location)
}

// midnight is the beginning of t's day.
func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// firstOf is the first day of a month.
func firstOf(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// monday is the first day of the week that t is in.
func monday(t time.Time) time.Time {
	return midnight(t).AddDate(0, 0, -sinceMonday(t))
}

// sinceMonday is how many days of its week are over on t's day.
func sinceMonday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// exists reports whether the calendar has a day, in the year given or, if that is "", in any year.
func exists(year string, month time.Month, day int) bool {
	y := 2000 // a leap year
	if year != "" {
		y = yearOf(year)
	}
	return month != 0 && time.Date(y, month, day, 0, 0, 0, 0, time.UTC).Day() == day
}
