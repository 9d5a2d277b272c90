package extract

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

var (
	yearIn        = regexp.MustCompile(`\b(?:19|20|21)\d\d\b|['’]\d\d$`)
	wholeYear     = regexp.MustCompile(`^(?:last|past|previous|next|coming|this) year$|^(?:in|since|during|from) (?:` + years + `)$`)
	listed        = regexp.MustCompile(`^(?:[ ,–-]|\b(?:and|or|to|through|until|till|of|on|in|the|from)\b)*$`) // between dates that share a year
	rangeJoint    = regexp.MustCompile(`^ ?(?:-|–|to|through|until|till) ?(?:on )?(?:the )?$`)
	clauseJoint   = regexp.MustCompile(`[,;]|\b(?:and|but|then|so)\b`)
	weekdayLead   = regexp.MustCompile(`(?i)\b(` + weekdayNames + `),? (?:the )?$`)
	monthDay      = regexp.MustCompile(`^(?:` + someDays + `(?: of)? [a-z]+|[a-z]+\.? (?:the )?` + someDays + `)$`)
	relativeMonth = regexp.MustCompile(`^(?:last|next|this|coming) `)
	relativeWeek  = regexp.MustCompile(`^(?:last|past|previous|next|coming|this) week$`)
	shortMonth    = regexp.MustCompile(` (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$`)
	midStop       = regexp.MustCompile(`^\. *[a-z]`) // a full stop in mid-sentence
	monthName     = regexp.MustCompile(`^(?:(?:last|next|this|coming) )?(?i:` + monthNames + `)$`)
	monthOfYear   = regexp.MustCompile(`^(?i:` + monthNames + `),? (?:of )?(?:` + years + `)$`)
	yearAlone     = regexp.MustCompile(`(?:` + years + `)$`)
	until         = regexp.MustCompile(`(?i)\b(?:until|till|til|by|before)\s+(?:the\s+)?$`)
	daypart       = regexp.MustCompile(`^(?:['’]s\b|['’] time\b)?(?: (?:morning|afternoon|evening|night)\b)?`)
)

// someDays is one day of a month, or the first and the last of several.
const someDays = `\d{1,2}(?:st|nd|rd|th)?(?:, \d{1,2}(?:st|nd|rd|th)?)*(?:(?:` + upTo + `| and (?:the )?)\d{1,2}(?:st|nd|rd|th)?)?`

// annotate writes the note for an expression by its grain: a day, a week, a
// month or a year, as its words (phrase, in small letters) tell.
func annotate(text, phrase string, left, right int, t time.Time, recurring bool) (dated, bool) {
	e := dated{start: left, end: right, phrase: phrase, day: midnight(t)}
	undated := monthDay.MatchString(phrase) || monthName.MatchString(phrase)
	switch {
	case undated && recurring:
		return dated{}, false
	case yearIn.MatchString(phrase): // says its year itself
		e.year = e.day.Year()
	case undated && !relativeMonth.MatchString(phrase):
		e.guessed = true
		if shortMonth.MatchString(phrase) && midStop.MatchString(text[right:]) {
			e.end++ // past the full stop of "12 Jan."
		}
		e.note = e.yearNote()
	default:
		e.end += len(daypart.FindString(text[right:]))
		note := ""
		note, e.day = grain(phrase, e.day)
		if wholeYear.MatchString(phrase) {
			e.year = e.day.Year()
		}
		if strings.Contains(phrase, "few") {
			note = "around " + note
		}
		e.note = " (" + note + ")"
	}
	if strings.HasPrefix(strings.TrimLeft(text[e.end:], " "), "(") {
		e.note, e.guessed = "", false // the speaker says it already
	}
	if until.MatchString(text[max(0, left-16):left]) {
		e.day = time.Time{} // when it ends is not when it began
	}
	return e, true
}

// yearNote is what to write behind a day or month whose year was guessed.
func (e *dated) yearNote() string {
	note := " " + strconv.Itoa(e.day.Year())
	if c := e.phrase[len(e.phrase)-1]; c >= '0' && c <= '9' || !monthName.MatchString(e.phrase) && e.phrase[0] > '9' {
		return "," + note // May 12, 2023
	}
	return note
}

// settle looks at the dates of a sentence together: one without a year has that
// of the date it is listed with ("3 June and 7 July 2024", "12 June last year"),
// or of the year that the sentence begins with; in "from 1 January to 31
// December" the first comes before the second; and on "Friday 13 June" it was a
// Friday.
func settle(text string, start int, all []dated, at time.Time) {
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		if !e.guessed {
			continue
		}
		before, after := -1, -1
		for j := i - 1; j >= 0 && before < 0; j-- {
			between := text[all[j].end:e.start]
			if leads := strings.TrimSpace(text[start:all[j].start]) == "" && wholeYear.MatchString(all[j].phrase) &&
				!clauseJoint.MatchString(strings.TrimPrefix(between, ",")); all[j].year != 0 && (listed.MatchString(between) || leads) {
				before = j
			}
		}
		if i+1 < len(all) && all[i+1].year != 0 && listed.MatchString(text[e.end:all[i+1].start]) {
			after = i + 1
		}
		switch {
		case after >= 0:
			e.adopt(all[after].year)
		case before >= 0:
			e.adopt(all[before].year)
			if e.year != 0 && !e.day.IsZero() {
				all[before].day = time.Time{} // the day says more than the year
			}
		case i+1 < len(all) && all[i+1].guessed && rangeJoint.MatchString(text[e.end:all[i+1].start]) && !e.day.IsZero() && !all[i+1].day.IsZero():
			year := all[i+1].day.Year()
			if e.move(year); e.day.After(all[i+1].day) {
				e.move(year - 1)
			}
			e.note = e.yearNote()
		default:
			if g := weekdayLead.FindStringSubmatch(text[max(0, e.start-16):e.start]); g != nil && !monthName.MatchString(e.phrase) {
				e.fitWeekday(lowerASCII(g[1]), at)
			}
		}
	}
}

// move gives a day another year; one that the year has not stays as it was.
func (e *dated) move(year int) {
	if t := time.Date(year, e.day.Month(), e.day.Day(), 0, 0, 0, 0, time.UTC); t.Month() == e.day.Month() {
		e.day = t
	}
}

// adopt gives a day the year that another date of the sentence says.
func (e *dated) adopt(year int) {
	if !e.day.IsZero() {
		e.move(year)
	}
	e.year, e.note, e.guessed = year, "", false
}

// fitWeekday gives a day the nearest year in which it falls on that weekday.
func (e *dated) fitWeekday(weekday string, at time.Time) {
	if e.day.IsZero() {
		return
	}
	best := time.Time{}
	for year := at.Year() - 6; year <= at.Year()+6; year++ {
		t := time.Date(year, e.day.Month(), e.day.Day(), 0, 0, 0, 0, time.UTC)
		if t.Day() == e.day.Day() && (int(t.Weekday())+6)%7 == weekdays[weekday] && (best.IsZero() || t.Sub(at).Abs() < best.Sub(at).Abs()) {
			best = t
		}
	}
	if !best.IsZero() {
		e.day = best
		e.note = e.yearNote()
	}
}

// grain writes day as exactly as phrase names it, and gives the first day of
// the period.
func grain(phrase string, day time.Time) (string, time.Time) {
	switch {
	case relativeWeek.MatchString(phrase):
		return day.Format("week of 2006-01-02"), day
	case strings.Contains(phrase, "month"), monthName.MatchString(phrase):
		return day.Format("2006-01"), firstOf(day.Year(), day.Month())
	case strings.Contains(phrase, "year"), strings.Contains(phrase, "decade"):
		return day.Format("2006"), firstOf(day.Year(), time.January)
	}
	return day.Format(time.DateOnly), day
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func firstOf(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// yearly reports whether a day without year comes round every year, so that
// giving it one would be wrong.
func yearly(ws english.Words) bool {
	for _, w := range ws {
		switch w.Text {
		case "birthday", "birthdays", "anniversary", "born", "every", "each", "annual", "annually", "yearly":
			return true
		}
	}
	return false
}

// toldInPast reads the tense at byte i of the sentence from the nearest verb
// before it, or else the nearest behind it. The present counts as what comes.
func toldInPast(ws english.Words, i int) bool {
	past, found := false, false
	for j, w := range ws {
		if w.Start >= i && found {
			break
		}
		if p, ok := tense(ws, j); ok {
			past, found = p, true
		}
	}
	return past
}

// tense reports what word j says of the time of its clause, if it is a verb
// that says anything.
func tense(ws english.Words, j int) (past, ok bool) {
	w, before := ws[j].Text, ""
	if j > 0 {
		before = ws[j-1].Text
	}
	switch {
	case arrangements.Has(w):
		return false, true // what was booked is to come
	case w == "been" || w == "had" || w == "was" || w == "were" || w == "did":
		return true, true
	case w == "will" || w == "shall" || english.Auxiliaries.Has(w) && !english.Modals.Has(w):
		return false, true
	case strings.HasSuffix(w, "ing"):
		return false, before == "am" || before == "are" || before == "is"
	case tenseless.Has(before) || strings.HasSuffix(before, "ing"):
		return false, false // "to visit", "will be booked", "am excited"
	case english.Past(w):
		return true, true
	case english.PresentVerbs.Has(w):
		return false, before == "i" || before == "we"
	}
	return false, false
}

// hint is what a glance at the words says of dates in them. It spares most
// sentences the date rules, which take longer than all the rest.
type hint int

const (
	noDate    hint = iota
	maybeDate      // "today", or a word that is often no date
	namedDate
)

func dateHint(ws english.Words) hint {
	found := noDate
	for i, w := range ws {
		next := ""
		if i+1 < len(ws) {
			next = ws[i+1].Text
		}
		switch {
		case english.DateWords.Has(w.Text) && (i == 0 || ws[i-1].Text != "every" && ws[i-1].Text != "each"), len(w.Text) >= 3 && strings.ContainsAny(w.Text, "0123456789") && yearIn.MatchString(w.Text),
			w.Text == "this" && calendar.Has(next), english.Periods.Has(next) && (w.Text == "last" || w.Text == "next" || w.Text == "past" || w.Text == "coming" || w.Text == "previous"),
			dateUnits.Has(w.Text) && i > 1 && inSome(ws[:i]), w.Text == "may" && w.Upper && i > 0, w.Text == "march" && w.Upper:
			return namedDate
		case english.WeakDateWords.Has(w.Text), w.Text == "this" && english.Periods.Has(next):
			found = maybeDate
		default:
			if day, _, ok := strings.Cut(w.Text, "'"); ok && (english.DateWords.Has(day) || english.WeakDateWords.Has(day)) {
				found = maybeDate // yesterday's
			}
		}
	}
	return found
}

// inSome reports whether ws ends in "in two" or the like.
func inSome(ws english.Words) bool {
	for i := len(ws) - 1; i >= 0 && i >= len(ws)-4; i-- {
		w := ws[i].Text
		if w == "in" {
			return true
		}
		if !countWords.Has(w) && w != "of" && (w[0] < '0' || w[0] > '9') {
			return false
		}
	}
	return false
}
