package dates

import (
	"regexp"
	"strings"
)

// Patterns of the text before and behind a match, in small letters.
var (
	// determined: "the last week" and "my last year" are spans or parts of something else, and "a Sunday" is any.
	determined = regexp.MustCompile(`\b(?:the|my|our|his|her|their|your|a|an|every|each|any|most|some|other|` +
		`first|second|third|until last) $`)
	monthLead = regexp.MustCompile(`\b(?:in|since|by|until|till|during|early|late|mid|end of|throughout)[ -]$`)
	// pointsAhead are the prepositions behind which a date lies ahead, also where the verb is past.
	pointsAhead = regexp.MustCompile(`\b(?:to|for) (?:the )?$`)
	dayLead     = regexp.MustCompile(`\b(?:on|the|by|from|since|until|for) $`)
	// compared stands before a span that something is compared over: "the first holiday in 3 years".
	compared = regexp.MustCompile(`\b(?:first|last|only|second|third|once|twice|times|[a-z]{2,}est|best|worst|` +
		`most|nothing|no one|nobody)\b`)
	generally   = regexp.MustCompile(`\b(?:always|usually|often|typically|normally|whenever|every time)\b[^.;!?]*$`)
	digitBefore = regexp.MustCompile(`\d` + ordinal + `?(?: of)? $`)
	digitAfter  = regexp.MustCompile(`^\.? (?:the )?\d`)
	// countedNoun shows that a number is no year: "in 2000 steps".
	countedNoun = regexp.MustCompile(`^ (?:words|steps|characters|pieces|dollars|euros|pounds|people|calories|` +
		`km|kilometers|kilometres|miles|meters|metres|feet|seconds|minutes|hours|tokens|lines|rows)\b`)
	dateFollows = regexp.MustCompile(`^,? (?:the )?(?:\d{1,2}(?:` + ordinal + `|(?: of)? (?:` + monthNames + `))\b|` +
		`(?:` + monthNames + `)\b)`)
	weekFollows = regexp.MustCompile(`^,? (?:the )?(?:week|weekend|one|month) (?:after|before)\b|` +
		`^ (?:after|before) (?:next|last|that)\b`)
	// manyFollow shows that a day is that of every week: "on Tuesday nights I play squash".
	manyFollow   = regexp.MustCompile(`^ (?:nights|mornings|afternoons|evenings|lunchtimes)\b`)
	rangeFollows = regexp.MustCompile(`^ ?(?:to|through|thru|till|until|-|–) ?(?:` + weekdayNames + `)\b`)
	rangeBefore  = regexp.MustCompile(`(?:` + weekdayNames + `) ?(?:to|through|thru|till|until|-|–) ?$`)
)

// freeWeekday reports whether a match is a certain day: not one of every week, of a range ("Monday to Friday"), of a
// date written out ("Friday, 12 May"), or counted from another day. "Last Friday" has a row of its own.
func freeWeekday(m *match) bool {
	switch m.part("which") {
	case "last", "past", "next", "every", "each":
		return false
	}
	before, after := m.before(), m.after()
	return !determined.MatchString(before) && !dateFollows.MatchString(after) && !weekFollows.MatchString(after) &&
		!manyFollow.MatchString(after) && !rangeFollows.MatchString(after) && !rangeBefore.MatchString(before)
}

// freePeriod reports whether a match is a period of the calendar.
func freePeriod(m *match) bool {
	return m.part("which") == "this" || !determined.MatchString(m.before())
}

// happensOnce refuses a span of what is compared, one of what is so again and again, and one in which something has not
// been: "they always give up in two weeks", "I haven't smoked in six years".
func happensOnce(m *match) bool {
	return !compared.MatchString(m.before()) && !generally.MatchString(m.before()) &&
		!notFor(m.lower[:m.start-m.offset])
}

// notFor reports whether a text ends in that something has not been, and not in another clause behind that: "we haven't
// packed though we move in two weeks".
func notFor(before string) bool {
	s := notSince.FindString(before)
	return s != "" && !joining.MatchString(s)
}

// joining are words that begin another clause.
var joining = regexp.MustCompile(
	`\b(?:though|although|but|because|as|so|when|if|while|and|before|until|since)\b`)

// notSince finds that something has not been, before how long it has not.
var notSince = regexp.MustCompile(
	`\b(?:have|has|had)(?:n['’]?t| not| never| hardly| barely)\b(?: (?:\w+|\w+['’]\w+)){0,6} ?$`)

// countable refuses half units, months, which have a row of their own, and numbers of more than three digits: 1,000
// weeks are no date that people count to.
func countable(m *match) bool {
	n := m.part("count")
	long := len(n) > 3 && n[0] >= '0' && n[0] <= '9'
	return !long && !strings.HasPrefix(n, "half") && !strings.HasPrefix(m.part("unit"), "month")
}

// ambiguousMonth reports whether the month is more often a verb, written as it is here, and has no year: "2 may come",
// "I march 3 miles".
func ambiguousMonth(m *match) bool {
	name := m.written("month")
	return (name == "may" || name == "march") && m.part("year") == ""
}

// daysExist reports whether the calendar has the days of a month that a match names.
func daysExist(m *match) bool {
	month, year := monthOf(m.part("month")), m.part("year")
	first, last := firstAndLast(m)
	return exists(year, month, first) && exists(year, month, last)
}

// freeMonth reports whether a match is a month, and neither a part of a day ("12 May") nor a name or a verb: a month
// alone needs a word before it such as "in".
func freeMonth(m *match) bool {
	before, which, year := m.before(), m.part("which"), m.part("year")
	if digitBefore.MatchString(before) || year == "" && digitAfter.MatchString(m.after()) {
		return false
	}
	if ambiguousMonth(m) && which != "" && which != "last" && which != "next" {
		return false // "this may be"
	}
	return which != "" || year != "" || monthLead.MatchString(before)
}

// wholeWords reports whether text[left:right] stands free: not inside a word, a path or an address.
func wholeWords(text string, left, right int) bool {
	return (left == 0 || !joins(text[left-1]) || left >= 3 && text[left-3] == dash) &&
		(right == len(text) || !joins(text[right]) || text[right] == dash)
}

// dash is the first of the three bytes of en and em dashes and of curly quotation marks. They part words, unlike
// letters beyond ASCII.
const dash = 0xE2

// joins reports whether a byte beside a word makes it a part of something longer.
func joins(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80:
		return true
	}
	return strings.IndexByte("_/-@#", c) >= 0
}
