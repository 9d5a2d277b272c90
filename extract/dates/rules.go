package dates

import (
	"regexp"
	"strings"
	"time"
)

// rule is one row of the table: one way to write a date, and the day it means.
type rule struct {
	// example is a sentence with such a date, and means is the note that it gets when it is said on Monday
	// 8 May 2023. A test holds every row to them.
	example, means string
	// pattern is the whole date, in small letters. Its groups are the parts that resolve asks for.
	pattern *regexp.Regexp
	// guard refuses matches by their parts or by the text around them. A nil guard refuses none.
	guard func(m *match) bool
	// resolve gives the day that a match means, or the first of the period.
	resolve func(m *match, s said) reading
}

// said is how the sentence with a date is said.
type said struct {
	at   time.Time // on the speaker's clock, see wallClock
	past bool      // it tells of the past, and else of what is or comes
	sure bool      // its tense is certain
}

// reading is what a rule reads in a match.
type reading struct {
	day   time.Time // the first day of the time it means
	grain grain
	style style
	// yearless is set where the words name a day or a month without saying its year in figures.
	yearless bool
	// unsure is set where another day is as likely.
	unsure bool
	// frames is set where the words name a whole year, in which the other dates of the sentence then are.
	frames bool
	// roughly is set for "a few", which is written as "around" a day.
	roughly bool
}

// style is how a note completes the words of a date.
type style int

const (
	inBrackets     style = iota // yesterday (2023-05-07)
	yearAfter                   // 12 May 2023
	yearAfterComma              // May 12, 2023
	inFull                      // 12 May 2023: nothing to add
)

// Parts of patterns.
const (
	monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|` +
		`jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`
	weekdayNames = `monday|tuesday|wednesday|thursday|friday|saturday|sunday`
	ordinal      = `(?:st|nd|rd|th)`
	years        = `(?:19|20|21)\d\d`
	dayYears     = years + `|['’]\d\d`                          // behind a day
	upTo         = ` ?(?:-|–|to|through|until|till) ?(?:the )?` // between the first and the last of some days
	smallNumbers = `one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve`
	counts       = `an?|` + smallNumbers + `|\d{1,3}|an? few|an? couple(?: of)?`
	couples      = `an? couple(?: of)?`
)

// rules is the table. Where matches overlap, the date is that of the row that stands first, so a row goes before those
// that match a part of what it matches: "Friday last week" is a Friday, and not a week.
var rules = []*rule{
	{
		// Before the row of "Friday", which would read the tense.
		example: "I saw the dentist last Friday", means: " (2023-05-05)",
		pattern: pattern(`(?P<which>last|past|next)\s*(?P<weekday>` + weekdayNames + `)` +
			`(?P<week>\s*(?:this|last|past|next)\s*week)?\b`),
		guard:   func(m *match) bool { return m.part("week") == "" }, // "last Friday last week" is no day
		resolve: lastOrNextWeekday,
	},
	{
		example: "I went to church on Sunday", means: " (2023-05-07)",
		pattern: pattern(`(?:(?P<which>last|past|next|this|every|each) )?(?P<weekday>` + weekdayNames + `)` +
			`(?: (?P<week>last|next) week)?\b`),
		guard:   freeWeekday,
		resolve: nearestWeekday,
	},
	{
		example: "I went to the dentist the day before yesterday", means: " (2023-05-06)",
		pattern: pattern(`(?:the )?day (?P<which>before yesterday|after tomorrow)\b`),
		resolve: func(m *match, s said) reading {
			if m.part("which") == "after tomorrow" {
				return units["day"].from(s.at, 2)
			}
			return units["day"].from(s.at, -2)
		},
	},
	{
		example: "I missed the bus yesterday", means: " (2023-05-07)",
		pattern: pattern(`(?:(?P<back>yesterday|last\s*night)|(?P<on>tomorrow)|today|tonight|` +
			`this (?:morning|afternoon|evening))\b`),
		resolve: func(m *match, s said) reading {
			switch {
			case m.part("back") != "":
				return units["day"].from(s.at, -1)
			case m.part("on") != "":
				return units["day"].from(s.at, 1)
			}
			return units["day"].from(s.at, 0)
		},
	},
	{
		example: "I went to Rome last week", means: " (week of 2023-05-01)",
		pattern: pattern(`(?P<which>last|past|previous|next|coming|this) (?P<unit>weekend|week|month|year)\b`),
		guard:   freePeriod,
		resolve: period,
	},
	{
		// Units that the next row does not count, and couples of all units.
		example: "I lost my job three months ago", means: " (2023-02)",
		pattern: pattern(`(?:(?P<count>` + counts + `) (?P<unit>(?:month|decade|weekend)s?)|` +
			`(?P<couple>` + couples + `) (?P<units>(?:day|week|year)s?)) ago\b`),
		resolve: func(m *match, s said) reading {
			return counted(s.at, m.part("count")+m.part("couple"), m.part("unit")+m.part("units"), -1)
		},
	},
	{
		// People write "3days ago" as well, and an hour ago may have been yesterday.
		example: "I had surgery 3 days ago", means: " (2023-05-05)",
		pattern: pattern(`(?P<count>` + smallNumbers + `|\d+|an?(?:\s*few)?|half(?:\s*an?)?)\s*` +
			`(?P<unit>(?:second|min|minute|hour|day|week|month|year)s?) ago\b`),
		guard:   countable,
		resolve: func(m *match, s said) reading { return counted(s.at, m.part("count"), m.part("unit"), -1) },
	},
	{
		example: "I start a new job in two weeks", means: " (2023-05-22)",
		pattern: pattern(`in (?P<count>` + counts + `) (?P<unit>(?:day|week|month|year)s?)\b`),
		guard:   happensOnce,
		resolve: func(m *match, s said) reading {
			r := counted(s.at, m.part("count"), m.part("unit"), 1)
			r.unsure = s.past // "I wrote it in two weeks" tells how long
			return r
		},
	},
	{
		example: "My exam is on 2023-06-12", means: "",
		pattern: pattern(`(?P<year>` + years + `)-(?P<month>\d\d)-(?P<day>\d\d)\b`),
		guard: func(m *match) bool {
			month := count(m.part("month"))
			return month <= 12 && exists(m.part("year"), time.Month(month), count(m.part("day")))
		},
		resolve: func(m *match, _ said) reading {
			return reading{style: inFull, day: time.Date(yearOf(m.part("year")), time.Month(count(m.part("month"))),
				count(m.part("day")), 0, 0, 0, 0, time.UTC)}
		},
	},
	{
		example: "My exam is on the 12th of May", means: " 2023",
		pattern: pattern(`(?:(?P<first>\d{1,2})` + ordinal + `?(?:, \d{1,2}` + ordinal + `?)*` +
			`(?:` + upTo + `| and (?:the )?))?` +
			`(?P<last>\d{1,2})(?P<ordinal>` + ordinal + `)?(?: of)? (?P<month>` + monthNames + `)\b` +
			`(?:\.?,? (?P<year>` + dayYears + `))?`),
		guard: func(m *match) bool {
			return (m.part("ordinal") != "" || !ambiguousMonth(m) || dayLead.MatchString(m.before())) && daysExist(m)
		},
		resolve: func(m *match, s said) reading { return daysOfMonth(m, s, yearAfter) },
	},
	{
		example: "My exam is on May 12th", means: ", 2023",
		pattern: pattern(`(?P<month>` + monthNames + `)\.? (?:the )?(?P<first>\d{1,2})` + ordinal + `?` +
			`(?:` + upTo + `(?P<last>\d{1,2})` + ordinal + `?)?(?:,? (?P<year>` + dayYears + `))?\b`),
		guard: func(m *match) bool {
			clock := strings.HasPrefix(m.after(), ":") // "June 12:30"
			return !clock && (!ambiguousMonth(m) || dayLead.MatchString(m.before())) && daysExist(m)
		},
		resolve: func(m *match, s said) reading { return daysOfMonth(m, s, yearAfterComma) },
	},
	{
		example: "I visited Rome in March", means: " 2023",
		pattern: pattern(`(?:(?P<which>last|next|this|coming) )?(?P<month>` + monthNames + `)` +
			`(?:,? (?:of )?(?P<year>` + years + `))?\b`),
		guard:   freeMonth,
		resolve: wholeMonth,
	},
	{
		// A number alone is no year.
		example: "I met Ann in 2019", means: "",
		pattern: pattern(`(?P<lead>in|since|during|from|` +
			`(?:summer|spring|fall|autumn|winter|end|beginning|start|class) of) (?P<year>` + years + `)\b`),
		guard: func(m *match) bool { return !countedNoun.MatchString(m.after()) },
		resolve: func(m *match, _ said) reading {
			return reading{
				day:   firstOf(yearOf(m.part("year")), time.January),
				grain: aYear,
				style: inFull, frames: !strings.HasSuffix(m.part("lead"), " of"),
			}
		},
	},
}

// pattern compiles the pattern of a row, which begins with a word.
func pattern(p string) *regexp.Regexp { return regexp.MustCompile(`\b` + p) }
