package extract

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	yearIn        = regexp.MustCompile(`\b(?:19|20|21)\d\d\b`)
	monthDay      = regexp.MustCompile(`^(?:` + someDays + `(?: of)? [a-z]+|[a-z]+\.? (?:the )?` + someDays + `)$`)
	relativeMonth = regexp.MustCompile(`^(?:last|next|this|coming) `)
	relativeWeek  = regexp.MustCompile(`^(?:last|past|previous|next|coming|this) week$`)
	shortMonth    = regexp.MustCompile(` (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$`)
	midStop       = regexp.MustCompile(`^\. *[a-z]`) // a full stop in mid-sentence
	monthName     = regexp.MustCompile(`^(?:(?:last|next|this|coming) )?(?i:` + monthNames + `)$`)
	until         = regexp.MustCompile(`(?i)\b(?:until|till|til|by|before)\s+(?:the\s+)?$`)
	daypart       = regexp.MustCompile(`^(?:['’]s\b)?(?: (?:morning|afternoon|evening|night)\b)?`)
)

// someDays is one day of a month, or the first and the last of several.
const someDays = `\d{1,2}(?:st|nd|rd|th)?(?:` + upTo + `\d{1,2}(?:st|nd|rd|th)?)?`

// annotate writes the note for an expression by its grain: a day, a week, a
// month or a year, as its words (phrase, in small letters) tell.
func annotate(text, phrase string, left, right int, t time.Time, recurring bool) (dated, bool) {
	e := dated{end: right, day: midnight(t)}
	undated := monthDay.MatchString(phrase) || monthName.MatchString(phrase)
	switch {
	case undated && recurring:
		return dated{}, false
	case yearIn.MatchString(phrase): // says its year itself
	case undated && !relativeMonth.MatchString(phrase):
		if shortMonth.MatchString(phrase) && midStop.MatchString(text[right:]) {
			e.end++ // past the full stop of "12 Jan."
		}
		e.note = " " + strconv.Itoa(e.day.Year())
		if c := phrase[len(phrase)-1]; c >= '0' && c <= '9' || !monthName.MatchString(phrase) && phrase[0] > '9' {
			e.note = "," + e.note // May 12, 2023
		}
	default:
		e.end += len(daypart.FindString(text[right:]))
		note := ""
		note, e.day = grain(phrase, e.day)
		if strings.Contains(phrase, "few") {
			note = "around " + note
		}
		e.note = " (" + note + ")"
	}
	if strings.HasPrefix(strings.TrimLeft(text[e.end:], " "), "(") {
		e.note = "" // the speaker says it already
	}
	if until.MatchString(text[max(0, left-16):left]) {
		e.day = time.Time{} // when it ends is not when it began
	}
	return e, true
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
func yearly(ws []word) bool {
	for _, w := range ws {
		switch w.text {
		case "birthday", "birthdays", "anniversary", "born", "every", "each", "annual", "annually", "yearly":
			return true
		}
	}
	return false
}

// toldInPast reads the tense at byte i of the sentence from the nearest verb
// before it, or else the nearest behind it. The present counts as what comes.
func toldInPast(ws []word, i int) bool {
	past, found := false, false
	for j, w := range ws {
		if w.start >= i && found {
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
func tense(ws []word, j int) (past, ok bool) {
	w, before := ws[j].text, ""
	if j > 0 {
		before = ws[j-1].text
	}
	switch {
	case w == "been" || w == "had" || w == "was" || w == "were" || w == "did":
		return true, true
	case w == "will" || w == "shall" || auxiliaries[w] && !modals[w]:
		return false, true
	case strings.HasSuffix(w, "ing"):
		return false, before == "am" || before == "are" || before == "is"
	case tenseless[before] || strings.HasSuffix(before, "ing"):
		return false, false // "to visit", "will be booked", "am excited"
	case pastVerb(w):
		return true, true
	case present[w]:
		return false, before == "i" || before == "we"
	}
	return false, false
}

var (
	modals    = words("would can could should might may must")
	tenseless = words("am is are be to will shall not would can could should might may must get feel so very really a an the my our his her their")
)

// hint is what a glance at the words says of dates in them. It spares most
// sentences the date rules, which take longer than all the rest.
type hint int

const (
	noDate    hint = iota
	maybeDate      // "today", or a word that is often no date
	namedDate
)

var (
	dayNames   = words("yesterday tomorrow ago monday tuesday wednesday thursday friday saturday sunday january february april june july august september october november december jan feb apr jun jul aug sep sept oct nov dec")
	todayNames = words("today tonight may march mar")
	periods    = words("week weekend month year night morning afternoon evening")
	calendar   = words("week weekend month year")
	countWords = words("a an one two three four five six seven eight nine ten eleven twelve few couple")
	dateUnits  = words("day days week weeks month months year years")
)

func dateHint(ws []word) hint {
	found := noDate
	for i, w := range ws {
		next := ""
		if i+1 < len(ws) {
			next = ws[i+1].text
		}
		switch {
		case dayNames[w.text] && (i == 0 || ws[i-1].text != "every" && ws[i-1].text != "each"), len(w.text) >= 4 && yearIn.MatchString(w.text),
			w.text == "this" && calendar[next], periods[next] && (w.text == "last" || w.text == "next" || w.text == "past" || w.text == "coming" || w.text == "previous"),
			dateUnits[w.text] && i > 1 && inSome(ws[:i]), w.text == "may" && w.upper && i > 0, w.text == "march" && w.upper:
			return namedDate
		case todayNames[w.text], w.text == "this" && periods[next]:
			found = maybeDate
		default:
			if day, _, ok := strings.Cut(w.text, "'"); ok && (dayNames[day] || todayNames[day]) {
				found = maybeDate // yesterday's
			}
		}
	}
	return found
}

// inSome reports whether ws ends in "in two" or the like.
func inSome(ws []word) bool {
	for i := len(ws) - 1; i >= 0 && i >= len(ws)-4; i-- {
		w := ws[i].text
		if w == "in" {
			return true
		}
		if !countWords[w] && w != "of" && (w[0] < '0' || w[0] > '9') {
			return false
		}
	}
	return false
}
