package rules

import (
	"slices"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// Some orders hold for good without a word such as "always": those for each of many times ("quiz me every morning"),
// those about all things of a kind ("show prices in dollars"), and those that take back what was done until now ("no
// need to remind me any more", "drop the jokes").

// maxStanding bounds the words of such an order. A longer one describes a text.
const maxStanding = 18

// maxMannerOrder bounds the words of an order about the language of answers or a form of address.
const maxMannerOrder = 12

// standingOrder reports whether ws is an order that holds for good.
func standingOrder(ws english.Words) bool {
	if len(ws) > maxStanding || ws.Has("?") || ws.Any(pointing) {
		return false
	}
	o := unwrap(ws, 0)
	// The language of answers needs no word of how long it holds.
	if len(ws) < maxMannerOrder && canonical.SetsManner(ws.String()) {
		return true
	}
	switch canonical.KindOfOrder(ws) {
	case canonical.WithdrawnOrder:
		return withdraws(ws)
	case canonical.SettingOrder:
		// "American spelling from now on" has no verb.
		bare := english.Lasting.Found(ws) && !english.AgentVerbs.Has(o.words.At(0))
		return setsKind(o.words) || o.words.At(0) == "i" || bare || serves(o) || recurs(ws) || timedReminder(o.words)
	case canonical.PlainOrder:
		return serves(o) || recurs(ws) || timedReminder(o.words)
	}
	return false
}

// serves reads "wake me at 7 from now on": a verb of what an agent does for somebody, and a word that it lasts.
func serves(o order) bool {
	return (o.standing || english.Lasting.Found(o.words) || o.words.Has("always")) && servingVerbs.Has(o.words.At(0))
}

// timedReminder reads "remind me about my pills at 8". Without a time it may ask what the thing is.
func timedReminder(ws english.Words) bool {
	if !ws.StartWith("remind", "me") || ws.At(2) != "about" && ws.At(2) != "of" {
		return false
	}
	for i, w := range ws[3:] {
		if english.DateWords.Has(w.Text) || isCount(w.Text) && ws.At(i+2) == "at" {
			return true
		}
	}
	return false
}

// recurs reads "quiz me in Italian every morning": a verb of what an agent does for somebody, and a time that comes
// again. Words that lead into another clause make the time one of that clause: "tell me what you do every day".
func recurs(ws english.Words) bool {
	// The time may stand in front.
	verb := ws
	for len(verb) > 2 && (eachWords.Has(verb[0].Text) || recurring.Has(verb[0].Text)) {
		verb = verb[1:] // "every morning, send me the news"
	}
	verb = unwrap(verb, 0).words
	forMe := verb[:min(len(verb), 4)].Has("me") || verb.At(1) == "us"
	ofAnswer := eachWords.Has(verb.At(1)) && isAnswer(verb.At(2)) // "start each answer with a joke"
	switch first := verb.At(0); {
	case servingVerbs.Has(first):
	case givingVerbs.Has(first) && forMe:
	case english.AgentVerbs.Has(first) && ofAnswer:
		return !ws.Any(recursElse)
	default:
		return false
	}
	elsewhere := slices.ContainsFunc(ws, func(w english.Word) bool {
		return recursElse.Has(w.Text) && !(w.Text == "about" && verb.At(0) == "remind")
	})
	if elsewhere || verb.Has("to") && verb.At(0) != "remind" {
		return false
	}
	for i, w := range ws {
		next := ws.At(i + 1)
		timed := english.DateWords.Has(next) || recurring.Has(next) || isAnswer(next)
		before := ws.At(i - 1)
		inside := before == "for" || before == "of" && ws.At(i-2) != "end" && ws.At(i-2) != "start"
		if eachWords.Has(w.Text) && timed && !inside && !english.PresentVerbs.Has(before) {
			return true
		}
	}
	return false
}

// isAnswer reports whether w names one answer of the agent's.
func isAnswer(w string) bool { return w == "reply" || answerNouns.Has(w+"s") }

// setsKind reads "give distances in miles" and "round all prices to euros": an order about all things of a kind.
func setsKind(ws english.Words) bool {
	if !settingVerbs.Has(ws.At(0)) {
		return false
	}
	// "Show me all flights under 200 euros" asks for them.
	lists, what, all := ws.At(0) == "show" || ws.At(0) == "list" || ws.At(0) == "find", ws[1:], false
	for len(what) > 1 && (what[0].Text == "me" || what[0].Text == "all" || what[0].Text == "my") {
		all = all || what[0].Text != "me"
		what = what[1:]
	}
	end, kind := kindOfThing(what)
	return kind && end < len(what) && isPlural(what[end-1].Text) && (all && !lists || measured.Has(what[end-1].Text))
}

// withdraws reads an order that takes back what was done until now. It names what an agent does again and again, or
// says that it was done before. "Skip the intro" does neither, and is about one text.
func withdraws(ws english.Words) bool {
	if ws.Has("without") {
		return actingVerbs.Has(unwrap(ws, 0).words.At(0))
	}
	over := ws.Has("anymore") || ws.Has("longer") || ws.Has("any") && ws.Has("more") || english.Lasting.Found(ws)
	serves := false
	for i, w := range ws { // "no need to remind me", but not "forget the quiz"
		verb := ws.At(i-1) == "to" && servingVerbs.Has(w.Text)
		serves = serves || verb || servingVerbs.Has(english.Infinitive(w.Text))
	}
	// Who wants exact prices wants none rounded any more.
	exact := settingVerbs.Has(ws.At(0)) && setsExactly(ws)
	named := unwrap(ws, 0).words.At(0) != "i" || ws.Any(servedOnce)
	return ws.Any(servedThings) || serves || exact || (over || ws.Has("now")) && named
}

// setsExactly reads "give exact prices with cents".
func setsExactly(ws english.Words) bool {
	end, kind := kindOfThing(ws[1:])
	return kind && measured.Has(ws[end].Text)
}
