package canonical

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// A task is told with "still" or as something that must be done, and its end in the past or the perfect, with the same
// verb and the same thing. Another thing, a part of it or somebody else's are other tasks, and what is done almost or
// not at all is no end; see theme.loose.

// readTask reads what is still to be done once, or what was done: "I still need to renew my passport" and "I've renewed
// my passport". A task that comes again and again is never done for good.
func (t *theme) readTask(subject, ws english.Words, verb int) {
	if again := ws.Has("every") || ws.Has("each") || ws.Has("daily") || ws.Has("always"); again || t.negated {
		return
	}
	for i := 0; i+2 < min(len(ws), 6); i++ {
		n := 0
		switch must := tasks.Has(ws[i].Text); {
		case must && ws[i+1].Text == "to":
			n = 2
		case ws[i].Text == "must":
			n = 1
		}
		if n > 0 && ws.Has("still") {
			t.todo = verbStem(ws[i+n].Text)
			return
		}
	}
	if v := ws[verb].Text; english.Past(v) && verb < 3 && len(subject) == 0 && !givesTo(ws[verb:]) {
		t.did = verbStem(v)
	} else if last := ws[len(ws)-1].Text; len(subject) > 0 && isBe(ws[0].Text) && english.Past(last) {
		t.did = verbStem(last) // "my taxes are filed"
	}
}

// didWhole reports whether t does not tell whose or of what the thing is, unless o does: "painted the fence of the
// school" is another fence.
func (t *theme) didWhole(o *theme) bool {
	return !slices.Contains(t.raw, "of") || slices.Contains(o.raw, "of")
}

// givesTo reports whether ws has a thing behind somebody for whom it was done: "called my mum a taxi". Another thing
// was done than with one of both alone.
func givesTo(ws english.Words) bool {
	for i := 2; i < len(ws); i++ {
		w, before := ws[i].Text, ws[i-1]
		if (english.Articles.Has(w) || possessives.Has(w)) && before.Stop == 0 && themeStem(before.Text) != "" &&
			(possessives.Has(ws[i-2].Text) || before.Upper) {
			return true
		}
	}
	return false
}

// longAgo reports whether a fact names a year, or a time of years or months ago: what was done then may have to be done
// again. It may also name what undid it: "I booked the flight, but they canceled it".
func longAgo(ws english.Words) bool {
	for i, w := range ws {
		period := singular(ws.At(i + 1))
		if _, err := time.Parse("2006", w.Text); err == nil || w.Text == "but" || w.Text == "once" ||
			w.Text == "last" && period == "year" || ws.At(i+2) == "ago" && (period == "year" || period == "month") {
			return true
		}
	}
	return false
}

// verbStem is one form for the present and the past of a verb.
func verbStem(w string) string {
	for lemma, form := range inflections[w] {
		if form&pastForm != 0 && lemma != w {
			return strings.TrimSuffix(lemma, "e")
		}
	}
	for _, end := range []string{"ied", "ed"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 2 {
			if end == "ied" {
				stem += "y"
			}
			return strings.TrimSuffix(stem, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}

// holdsThing reports whether ws begins with a "have" of possession.
func holdsThing(ws english.Words) bool {
	next := ws.At(1)
	return (ws[0].Text == "have" || ws[0].Text == "has") && (inAny(next, english.Articles, possessives, quantities) ||
		english.StartsWithDigit(next) || !english.Past(next) && !english.Participles.Has(next) && !ladder.Has(next) &&
		!negations.Has(next) && enders.Match(ws, 1) == 0)
}

// skipped is the number of words before the verb: "not", adverbs.
func skipped(ws english.Words) int {
	n := 0
	for n < len(ws) && (inAny(ws[n].Text, negations, frontAdverbs) || ladder.Has(ws[n].Text) && !isBe(ws[n].Text)) {
		n++
	}
	return n
}

// tookPlace reports whether ws tells that an event is over: "had my knee surgery last week". Who "had my car serviced"
// has it still.
func tookPlace(ws english.Words) bool {
	if ws.At(0) != "had" || ws.At(1) != "my" && ws.At(1) != "our" && ws.At(1) != "the" {
		return false
	}
	for i := 2; i < min(len(ws), 6) && (i == 2 || ws[i-1].Stop == 0); i++ {
		if happenings.Has(ws[i].Text) {
			return !english.Past(ws.At(i+1)) && !happenings.Has(ws.At(i+1)) && ws.At(i+1) != "moved"
		}
	}
	return false
}
