package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// endRules are the ways to say that something ended, without "any more". Each
// gives what the subject did before, as a predicate in the present. The first
// rule that reads a predicate decides.
var endRules = []struct {
	read    func(predicate english.Words, third bool) (english.Words, bool)
	example string // the first fact ends the second
}{
	{noLonger, "I no longer eat meat = I eat meat"},
	{isNoLonger, "I am no longer vegan = I am vegan"},
	{stopped, "I stopped smoking = I smoke"},
	{leftJob, "I quit my job at Acme = I work at Acme"},
}

// endedStatement reads reduced words that say that something ended, and gives
// the words of the statement that ended.
func endedStatement(ws english.Words) (english.Words, bool) {
	n := subjectEnd(ws)
	if n == 0 {
		return nil, false
	}
	subject, third := ws[:n:n], n > 1
	predicate, anymore := withoutAnymore(ws[n:])
	if !standsAlone(predicate) {
		return nil, false
	}
	if anymore {
		before, ok := affirmed(predicate)
		return append(subject, before...), ok
	}
	for _, rule := range endRules {
		if before, ok := rule.read(predicate, third); ok {
			return append(subject, before...), true
		}
	}
	return nil, false
}

// subjectEnd is where the subject of ws ends; 0 unless it is the speaker, or one
// person or thing of the speaker's.
func subjectEnd(ws english.Words) int {
	switch ws.At(0) {
	case "i", "we":
		return 1
	case "my", "our":
		for k := 2; k < min(len(ws), 4); k++ {
			w := ws[k].Text
			if !english.Auxiliaries.Has(w) && w != "no" && w != "stopped" && w != "quit" {
				continue
			}
			if strings.HasSuffix(ws[k-1].Text, "s") {
				return 0 // several
			}
			return k
		}
	}
	return 0
}

// withoutAnymore is ws without "anymore" or "any longer" at its end, and whether
// one of them was there.
func withoutAnymore(ws english.Words) (rest english.Words, found bool) {
	switch last := len(ws) - 1; {
	case ws.At(last) == "anymore":
		return ws[:last], true
	case ws.At(last) == "longer" && ws.At(last-1) == "any":
		return ws[:last-1], true
	}
	return ws, false
}

// standsAlone reports whether nothing in ws bounds, repeats or joins the
// statement, or points outside it: "because of my heart", "again", "on Monday".
func standsAlone(ws english.Words) bool {
	for i, w := range ws {
		last := i+1 == len(ws)
		if isYear(w.Text) || bounding.Has(w.Text) || english.Pronouns.Has(w.Text) || english.DateWords.Has(w.Text) {
			return false
		}
		if w.Text == "for" && (last || amountStarts.Has(ws[i+1].Text) || english.StartsWithDigit(ws[i+1].Text)) {
			return false // "for a month"
		}
		if !last && w.Stop != 0 && w.Stop != '\'' && w.Stop != '"' {
			return false
		}
	}
	return true
}

// isYear reports whether w is a year of the last or of this century.
func isYear(w string) bool {
	return len(w) == 4 && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20"))
}

// affirmed turns "do not eat meat" into "eat meat": what "any more" denies.
func affirmed(ws english.Words) (english.Words, bool) {
	if len(ws) < 3 || ws[1].Text != "not" || english.Adverbs.Has(ws[2].Text) {
		return nil, false
	}
	auxiliary, verb := ws[0], ws[2]
	if auxiliary.Text == "do" || auxiliary.Text == "does" {
		if english.TalkVerbs.Has(verb.Text) && !english.Likings.Has(verb.Text) {
			return nil, false // "I don't know any more"
		}
		if auxiliary.Text == "does" {
			verb.Text = english.ThirdPerson(verb.Text)
		}
		return replaceFirst(ws[2:], verb), verb.Text != ""
	}
	if lastingForms.Has(auxiliary.Text) && (auxiliary.Text != "can" || len(ws) > 3) {
		return replaceFirst(ws[1:], auxiliary), true
	}
	return nil, false
}

// noLonger turns "no longer eat meat" into "eat meat". The verb must be a finite
// one that needs no other word.
func noLonger(ws english.Words, _ bool) (english.Words, bool) {
	if !ws.StartWith("no", "longer") {
		return nil, false
	}
	verb := ws.At(2)
	auxiliary := english.Auxiliaries.Has(verb) && verb != "have" && verb != "has"
	if verb == "" || verb == "to" || auxiliary || strings.HasSuffix(verb, "ing") {
		return nil, false
	}
	return ws[2:], true
}

// isNoLonger turns "am no longer vegan" into "am vegan".
func isNoLonger(ws english.Words, _ bool) (english.Words, bool) {
	if !lastingForms.Has(ws.At(0)) || !ws[1:].StartWith("no", "longer") || len(ws) < 4 {
		return nil, false
	}
	return replaceFirst(ws[2:], ws[0]), true
}

// stopped turns "stopped eating meat" and "gave up eating meat" into "eat meat".
func stopped(ws english.Words, third bool) (english.Words, bool) {
	ws = withoutHave(ws)
	switch verb := ws.At(0); {
	case verb == "stopped", verb == "quit":
		ws = ws[1:]
	case (verb == "gave" || verb == "given") && ws.At(1) == "up":
		ws = ws[2:]
	default:
		return nil, false
	}
	verb := english.Infinitive(ws.At(0))
	if verb == "be" {
		return nil, false // "stopped being a nurse" would need the form of "be"
	}
	ws = withoutWholly(ws)
	return inPresent(ws, verb, third)
}

// withoutWholly is ws without a word at its end that only stresses an end: "quit smoking completely".
func withoutWholly(ws english.Words) english.Words {
	if last := len(ws) - 1; last > 0 && wholly.Has(ws[last].Text) {
		return ws[:last]
	}
	return ws
}

// leftJob turns "quit my job at Acme" and "left my job at Acme" into "work at
// Acme".
func leftJob(ws english.Words, third bool) (english.Words, bool) {
	ws = withoutHave(ws)
	if verb := ws.At(0); verb != "stopped" && verb != "quit" && verb != "left" {
		return nil, false
	}
	if !ws[1:].StartWith("my", "job", "at") || len(ws) < 5 || ws[4:].Any(english.Prepositions) {
		return nil, false // "to travel"
	}
	return inPresent(ws[2:], "work", third)
}

// withoutHave is ws without the auxiliary of the perfect.
func withoutHave(ws english.Words) english.Words {
	if w := ws.At(0); w == "have" || w == "has" {
		return ws[1:]
	}
	return ws
}

// inPresent puts verb, in the present, in place of the first word of ws. It
// reports whether that form is known.
func inPresent(ws english.Words, verb string, third bool) (english.Words, bool) {
	if third && verb != "" {
		verb = english.ThirdPerson(verb)
	}
	if verb == "" {
		return nil, false
	}
	return replaceFirst(ws, english.Word{Text: verb}), true
}

// replaceFirst is a copy of ws with another first word.
func replaceFirst(ws english.Words, first english.Word) english.Words {
	return append(english.Words{first}, ws[1:]...)
}
