package extract

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/olebedev/when/rules"
)

// dateRule is a rule of our own for the date library. Its expression has the
// whole date as its first group. ok sees what stands around a match; resolve
// gives the day it means, or the first of the period.
type dateRule struct {
	re      *regexp.Regexp
	ok      func(before, after string, g []string) bool
	resolve func(g []string, ref time.Time) time.Time
}

// Find gives the first match that passes.
func (r *dateRule) Find(text string) *rules.Match {
	for from := 0; from < len(text); {
		loc := r.re.FindStringSubmatchIndex(text[from:])
		if loc == nil {
			return nil
		}
		left, right := from+loc[2], from+loc[3]
		groups := make([]string, 0, len(loc)/2-1)
		for i := 2; i < len(loc); i += 2 {
			if loc[i] < 0 {
				groups = append(groups, "")
				continue
			}
			groups = append(groups, text[from+loc[i]:from+loc[i+1]])
		}
		if wholeWords(text, left, right) && (r.ok == nil || r.ok(text[:left], text[right:], groups)) {
			return &rules.Match{Left: left, Right: right, Text: text[left:right], Captures: groups, Applier: r.apply}
		}
		from = right
	}
	return nil
}

// apply writes the day as a duration from ref: the library sets year, month
// and day one after the other, and so makes 3 March of 12 February whenever
// ref is a 31st.
func (r *dateRule) apply(m *rules.Match, c *rules.Context, _ *rules.Options, ref time.Time) (bool, error) {
	if c.Duration == 0 {
		for i := range m.Captures {
			m.Captures[i] = lowerASCII(m.Captures[i])
		}
		day := r.resolve(m.Captures, ref)
		if away := day.Year() - ref.Year(); away > 290 || away < -290 {
			return false, nil // a Duration holds 292 years
		}
		c.Duration = day.Sub(midnight(ref))
	}
	return true, nil
}

const (
	monthNames   = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`
	weekdayNames = `monday|tuesday|wednesday|thursday|friday|saturday|sunday`
	years        = `(?:19|20|21)\d\d`
	dayYears     = years + `|['’]\d\d`                          // behind a day
	upTo         = ` ?(?:-|–|to|through|until|till) ?(?:the )?` // between the first and the last day of some
	dayNumber    = `(\d{1,2})(?:st|nd|rd|th)?`
	counts       = `an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,3}|an? few|an? couple(?: of)?`
)

// ownDates are the rules for a sentence that tells of the past, or of what is
// or comes. What one has resolved those after it leave alone, so the longer
// expression goes first ("Friday last week"). They are built per parser, as its expressions are.
func ownDates(past bool) []rules.Rule {
	return []rules.Rule{
		&dateRule{regexp.MustCompile(`(?i)\b((?:(last|past|next|this|every|each) )?(` + weekdayNames + `)(?: (last|next) week)?)\b`), freeWeekday,
			func(g []string, ref time.Time) time.Time { return weekday(g, ref, past) }},
		&dateRule{regexp.MustCompile(`(?i)\b((?:the )?day (before yesterday|after tomorrow))\b`), nil,
			func(g []string, ref time.Time) time.Time {
				if g[1] == "after tomorrow" {
					return midnight(ref).AddDate(0, 0, 2)
				}
				return midnight(ref).AddDate(0, 0, -2)
			}},
		&dateRule{regexp.MustCompile(`(?i)\b(this (?:morning|afternoon|evening))\b`), nil,
			func(_ []string, ref time.Time) time.Time { return midnight(ref) }},
		&dateRule{regexp.MustCompile(`(?i)\b((last|past|previous|next|coming|this) (weekend|week|month|year))\b`), freePeriod, period},
		&dateRule{regexp.MustCompile(`(?i)\b((` + counts + `) (days?|weekends?|weeks?|months?|years?|decades?) ago)\b`), libraryCannot, countedBack},
		&dateRule{regexp.MustCompile(`(?i)\b(in (` + counts + `) (days?|weeks?|months?|years?))\b`), nil,
			func(g []string, ref time.Time) time.Time { return shift(ref, number(g[1]), g[2]) }},
		&dateRule{regexp.MustCompile(`\b((` + years + `)-(\d\d)-(\d\d))\b`), validISO,
			func(g []string, _ time.Time) time.Time { return date(g[1], time.Month(number(g[2])), number(g[3])) }},
		&dateRule{regexp.MustCompile(`(?i)\b((?:` + dayNumber + `(?:, \d{1,2}(?:st|nd|rd|th)?)*(?:` + upTo + `| and (?:the )?))?(\d{1,2})(st|nd|rd|th)?(?: of)? (` + monthNames + `)\b(?:\.?,? (` + dayYears + `))?)`), validDayMonth,
			func(g []string, ref time.Time) time.Time {
				return monthDays(g[5], months[g[4][:3]], number(cmp.Or(g[1], g[2])), number(g[2]), ref, past)
			}},
		&dateRule{regexp.MustCompile(`(?i)\b((` + monthNames + `)\.? (?:the )?` + dayNumber + `(?:` + upTo + dayNumber + `)?(?:,? (` + dayYears + `))?)\b`), validMonthDay,
			func(g []string, ref time.Time) time.Time {
				return monthDays(g[4], months[g[1][:3]], number(g[2]), number(cmp.Or(g[3], g[2])), ref, past)
			}},
		&dateRule{regexp.MustCompile(`(?i)\b((?:(last|next|this|coming) )?(` + monthNames + `)(?:,? (?:of )?(` + years + `))?)\b`), freeMonth,
			func(g []string, ref time.Time) time.Time { return wholeMonth(g, ref, past) }},
		&dateRule{regexp.MustCompile(`(?i)\b((?:in|since|during|from|(?:summer|spring|fall|autumn|winter|end|beginning|start|class) of) (` + years + `))\b`), freeYear,
			func(g []string, _ time.Time) time.Time { return date(g[1], time.January, 1) }},
	}
}

var (
	months   = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}
	weekdays = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6} // from the Monday of a week
	counted  = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}

	// determined: "the last week", "my last year" are spans or parts of
	// something else, "a Sunday" is any.
	determined   = regexp.MustCompile(`(?i)\b(?:the|my|our|his|her|their|your|a|an|every|each|any|most|some|other|first|second|third|until last) $`)
	monthLead    = regexp.MustCompile(`(?i)\b(?:in|since|by|until|till|during|early|late|mid|end of|throughout|early in|late in)[ -]$`)
	dayLead      = regexp.MustCompile(`(?i)\b(?:on|the|by|from|since|until|for) $`)
	digitBefore  = regexp.MustCompile(`\d(?:st|nd|rd|th)?(?: of)? $`)
	digitAfter   = regexp.MustCompile(`^\.? (?:the )?\d`)
	countedNoun  = regexp.MustCompile(`(?i)^ (?:words|steps|characters|pieces|dollars|euros|pounds|people|calories|km|kilometers|kilometres|miles|meters|metres|feet|seconds|minutes|hours|tokens|lines|rows)\b`)
	dateFollows  = regexp.MustCompile(`(?i)^,? (?:the )?(?:\d{1,2}(?:st|nd|rd|th|(?: of)? (?:` + monthNames + `))\b|(?:` + monthNames + `)\b)`)
	weekAfter    = regexp.MustCompile(`(?i)^,? (?:the )?(?:week|weekend|one|month) (?:after|before)\b|^ (?:after|before) (?:next|last|that)\b`)
	weekdayRange = regexp.MustCompile(`(?i)^ ?(?:to|through|thru|till|until|-|–) ?(?:` + weekdayNames + `)\b`)
	rangeEnd     = regexp.MustCompile(`(?i)(?:` + weekdayNames + `) ?(?:to|through|thru|till|until|-|–) ?$`)
)

func freePeriod(before, _ string, g []string) bool {
	return strings.EqualFold(g[1], "this") || !determined.MatchString(before[max(0, len(before)-16):])
}

// libraryCannot takes from the library's rule what it gets wrong or does not
// know: months (which it reckons modulo 12), weekends, couples and decades.
func libraryCannot(_, _ string, g []string) bool {
	unit := lowerASCII(g[2])
	return strings.HasPrefix(unit, "month") || strings.HasPrefix(unit, "decade") || strings.HasPrefix(unit, "weekend") || strings.Contains(lowerASCII(g[1]), "couple")
}

func validISO(_, _ string, g []string) bool { return exists(g[1], number(g[2]), number(g[3])) }

func validDayMonth(before, _ string, g []string) bool {
	name := g[4]
	if (name == "may" || name == "march") && g[3] == "" && g[5] == "" && !dayLead.MatchString(before[max(0, len(before)-8):]) {
		return false // "the 2 may come"
	}
	return exists(g[5], int(months[lowerASCII(name[:3])]), number(cmp.Or(g[1], g[2]))) && exists(g[5], int(months[lowerASCII(name[:3])]), number(g[2]))
}

func validMonthDay(before, after string, g []string) bool {
	if (g[1] == "may" || g[1] == "march") && g[4] == "" && !dayLead.MatchString(before[max(0, len(before)-8):]) || strings.HasPrefix(after, ":") {
		return false
	}
	return exists(g[4], int(months[lowerASCII(g[1][:3])]), number(g[2])) && exists(g[4], int(months[lowerASCII(g[1][:3])]), number(cmp.Or(g[3], g[2])))
}

// exists reports whether the calendar has the day; without a year, whether any
// year has.
func exists(year string, month, day int) bool {
	y := 2000 // a leap year
	if year != "" {
		y = number(year)
	}
	t := time.Date(y, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return month >= 1 && month <= 12 && t.Day() == day
}

func freeMonth(before, after string, g []string) bool {
	if digitBefore.MatchString(before[max(0, len(before)-8):]) || g[3] == "" && digitAfter.MatchString(after) {
		return false // part of a day
	}
	if name := g[2]; (name == "may" || name == "march") && g[1] != "" && g[3] == "" && !strings.EqualFold(g[1], "last") && !strings.EqualFold(g[1], "next") {
		return false // "this may be"
	}
	return g[1] != "" || g[3] != "" || monthLead.MatchString(before[max(0, len(before)-12):])
}

func freeYear(_, after string, _ []string) bool { return !countedNoun.MatchString(after) }

func freeWeekday(before, after string, g []string) bool {
	switch lowerASCII(g[1]) {
	case "last", "past", "next":
		return false // the library's
	case "every", "each":
		return false // no day in particular
	}
	return !determined.MatchString(before[max(0, len(before)-16):]) && !dateFollows.MatchString(after) && !weekAfter.MatchString(after) &&
		!weekdayRange.MatchString(after) && !rangeEnd.MatchString(before[max(0, len(before)-20):])
}

// number reads a count in words or digits: "a few" is 3, as for the library.
func number(s string) int {
	s = lowerASCII(s)
	switch {
	case strings.Contains(s, "few"):
		return 3
	case strings.Contains(s, "couple"):
		return 2
	case s == "a" || s == "an":
		return 1
	case counted[s] > 0:
		return counted[s]
	}
	if short := strings.TrimLeft(s, "'’"); short != s { // '19
		n, _ := strconv.Atoi(short)
		if n < 50 {
			return 2000 + n
		}
		return 1900 + n
	}
	n, _ := strconv.Atoi(s) // the expressions let only digits through
	return n
}

func date(year string, month time.Month, day int) time.Time {
	return time.Date(number(year), month, day, 0, 0, 0, 0, time.UTC)
}

// shift moves ref by n units. Months and years lead to the first of theirs,
// where there is no 31st to fall over.
func shift(ref time.Time, n int, unit string) time.Time {
	day := midnight(ref)
	switch unit[0] {
	case 'd':
		if strings.HasPrefix(unit, "decade") {
			return firstOf(day.Year()+10*n, time.January)
		}
		return day.AddDate(0, 0, n)
	case 'w':
		if strings.HasPrefix(unit, "weekend") {
			return monday(day).AddDate(0, 0, 7*n+5)
		}
		return day.AddDate(0, 0, 7*n)
	case 'm':
		return firstOf(day.Year(), day.Month()).AddDate(0, n, 0)
	default:
		return firstOf(day.Year()+n, time.January)
	}
}

func countedBack(g []string, ref time.Time) time.Time { return shift(ref, -number(g[1]), g[2]) }

// monday is the first day of ref's week.
func monday(ref time.Time) time.Time {
	return midnight(ref).AddDate(0, 0, -(int(ref.Weekday())+6)%7)
}

func period(g []string, ref time.Time) time.Time {
	n := map[string]int{"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}[g[1]]
	switch g[2] {
	case "weekend":
		if g[1] == "coming" {
			n = 0
		}
		return monday(ref).AddDate(0, 0, 7*n+5)
	case "week":
		return monday(ref).AddDate(0, 0, 7*n)
	}
	return shift(ref, n, g[2])
}

// monthDays is the first of some days of a month. Where no year is given the
// last of them tells which is meant: those that have begun are not over.
func monthDays(year string, m time.Month, first, last int, ref time.Time, past bool) time.Time {
	t := monthDate(year, m, max(first, last), ref, past)
	return time.Date(t.Year(), m, first, 0, 0, 0, 0, time.UTC)
}

// monthDate is a day of a month: of the year given, or else the nearest such
// day not after ref (past) or not before it.
func monthDate(year string, m time.Month, day int, ref time.Time, past bool) time.Time {
	if year != "" {
		return date(year, m, day)
	}
	step := 1
	if past {
		step = -1
	}
	today := midnight(ref)
	for y := today.Year(); ; y += step {
		t := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
		if t.Month() == m && (t.Equal(today) || t.Before(today) == past) { // 29 February waits for its year
			return t
		}
	}
}

// wholeMonth is the first of a month: of the year given, or else of the one
// that "last", "next", "this" or the tense points at.
func wholeMonth(g []string, ref time.Time, past bool) time.Time {
	m := months[g[2][:3]]
	if g[3] != "" {
		return date(g[3], m, 1)
	}
	now := firstOf(ref.Year(), ref.Month())
	t := firstOf(ref.Year(), m)
	switch {
	case g[1] == "this":
	case g[1] == "last" && !t.Before(now), g[1] == "" && past && t.After(now):
		t = t.AddDate(-1, 0, 0)
	case (g[1] == "next" || g[1] == "coming") && !t.After(now), g[1] == "" && !past && t.Before(now):
		t = t.AddDate(1, 0, 0)
	}
	return t
}

// weekday is the nearest such day in the direction of the tense. It is never
// ref's own day, which people call today.
func weekday(g []string, ref time.Time, past bool) time.Time {
	t := monday(ref).AddDate(0, 0, weekdays[g[2]])
	today := midnight(ref)
	switch {
	case g[3] == "last":
		return t.AddDate(0, 0, -7)
	case g[3] == "next":
		return t.AddDate(0, 0, 7)
	case g[1] == "this":
	case past && !t.Before(today):
		return t.AddDate(0, 0, -7)
	case !past && !t.After(today):
		return t.AddDate(0, 0, 7)
	}
	return t
}
