package canonical

import (
	"regexp"
	"slices"

	"github.com/memoryd/memoryd/extract/english"
)

var (
	// sinceTime matches what follows "since" in a span that reaches the present:
	// "2019", "early may", "last summer".
	sinceTime = regexp.MustCompile(`^(?:early |late |mid |last )?(?:\d{4}|` +
		`monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday|` +
		`january|february|march|april|may|june|july|august|september|october|november|december|` +
		`year|month|week|summer|winter|spring|autumn|fall|birth|childhood)` +
		`(?: (?:\d{4}|week of|\d{4}-\d\d(?:-\d\d)?))*$`)
	// span matches what follows "for" in such a span: "5 years", "ages".
	span = regexp.MustCompile(`^(?:about |around |almost |over |nearly )?` +
		`(?:\d+|a|many|a few|several|ages) ?(?:years?|months?|weeks?)?$`)
	// recently matches a time of the last weeks, with or without its date.
	recently = regexp.MustCompile(`^(?:(?:as of |since )(?:today|yesterday|now|` +
		`(?:this|last) (?:week|month|morning)|` +
		`(?:last )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday))|` +
		`yesterday|today|recently|last night|the other day|on the \d\d?(?:st|nd|rd|th)|` +
		`at (?:the )?(?:start|beginning|end) of (?:the|this|last) (?:month|week)|` +
		`on (?:the )?(?:first|1st|last day) of (?:the|this|last) month|` +
		`(?:a|one|\d|few|a few|couple of|a couple of) (?:days?|weeks?|months?) ago|` +
		`(?:last|this|over the|at|at the|on|last) (?:week|weekend|month|morning|` +
		`monday|tuesday|wednesday|thursday|friday|saturday|sunday)` +
		`)(?: (?:around )?(?:week of )?\d{4}-\d\d(?:-\d\d)?)?$`)
)

// maxTimeWords is more than the longest time that recently matches.
const maxTimeWords = 8

// withoutRecentTime is ws without a time of the last weeks at its end: what
// happened then holds now. After a longer time it may have been undone.
func withoutRecentTime(ws english.Words) english.Words {
	for i := max(1, len(ws)-maxTimeWords); i < len(ws); i++ {
		if recentStart.Has(ws[i].Text) && recently.MatchString(ws[i:].String()) {
			return ws[:i]
		}
	}
	return ws
}

// withoutBeginning is ws without a time at its end from which on it has held: "as of
// this week".
func withoutBeginning(ws english.Words) english.Words {
	if rest := withoutRecentTime(ws); len(rest) < len(ws) && beginnings.Has(ws[len(rest)].Text) {
		return rest
	}
	return ws
}

// withoutTimeWithin is ws without a time of the last weeks between the verb and what
// belongs to it: "I started this morning at Acme".
func withoutTimeWithin(ws english.Words) english.Words {
	for i := 2; i+2 < len(ws); i++ {
		if !recentStart.Has(ws[i].Text) {
			continue
		}
		for k := min(len(ws)-1, i+maxTimeWords); k > i; k-- {
			if english.Prepositions.Has(ws[k].Text) && recently.MatchString(ws[i:k].String()) {
				return slices.Concat(ws[:i], ws[k:])
			}
		}
	}
	return ws
}

// afterFrontTime is ws without a time of the last weeks before its subject:
// "Last week I moved to Porto".
func afterFrontTime(ws english.Words) english.Words {
	for k := 1; k < min(len(ws), maxTimeWords); k++ {
		if w := ws[k].Text; w == "i" || w == "we" || w == "my" {
			if recently.MatchString(ws[:k].String()) {
				return ws[k:]
			}
			return ws
		}
	}
	return ws
}

// withoutSpan is ws without a span of time at its end that reaches the present:
// "since 2019", "for 5 years". It reports whether there was one.
func withoutSpan(ws english.Words) (rest english.Words, found bool) {
	for i := 1; i < len(ws); i++ {
		after := ws[i+1:]
		switch ws[i].Text {
		case "since":
			found = len(after) > 0 && len(after) < maxTimeWords-1 && sinceTime.MatchString(after.String())
		case "for":
			found = span.MatchString(after.String())
		}
		if found {
			return ws[:i], true
		}
	}
	return ws, false
}
