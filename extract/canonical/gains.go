package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Readers of statements about having none of a kind of things, about getting the first or one more of them, and about
// the school that somebody is at.

var (
	schoolWords   = frameTables.Words("school-words")
	schoolsBeside = frameTables.Words("schools-beside")
	lackKinds     = frameTables.Variants("lack-kinds")
	getting       = frameTables.Words("getting")
	holding       = frameTables.Words("holding")
	memberNouns   = frameTables.Words("member-nouns")
	keptLinks     = frameTables.Words("kept-links")
	keeping       = frameTables.Words("keeping")
	moving        = frameTables.Words("moving")
	lackVague     = frameTables.Words("lack-vague")
	lackEnds      = frameTables.Words("lack-ends")
	lifts         = frameTables.Words("lifts")
	lifting       = frameTables.Words("lifting")
	bestWords     = frameTables.Words("best-words")
	payLinks      = frameTables.Words("pay-links")
	raiseWords    = frameTables.Words("raise-words")
)

// schoolName is ws as the name of a school: "Hill Road Academy", "St Mark's". A school for one thing, such as music,
// is one beside that of every day.
func (c *claim) schoolName(ws english.Words) string {
	ws = withoutArticle(ws)
	if len(ws) == 0 || ws.Any(schoolsBeside) || !c.capital(ws[0]) || inAny(ws[0].Text, english.DateWords) {
		return ""
	}
	saint := ws[0].Text == "st" || ws[0].Text == "saint"
	if len(ws) < 2 || !saint && !ws[1:].Any(schoolWords) || !c.capital(ws[len(ws)-1]) {
		return ""
	}
	return ws.String()
}

// Who has no pet may get a cat, so that a lack is an attribute of the kind: "yes" where somebody has none. Getting one
// says that it is "no", and a lack that is told later leaves that one was got.

// lackAttribute begins the attribute of a kind of things that somebody has none of.
const lackAttribute = "lack of "

// What follows the thing bounds the lack, unless it only says when it is so: "no car with me" leaves the one at home.

// lacks reads "I don't have any pets" and "we have no car".
func lacks(ws english.Words) []Claim {
	if w := ws.At(0); w != "i" && w != "we" || ws.Any(uncertain) {
		return nil
	}
	rest := ws[1:]
	for len(rest) > 0 && frontAdverbs.Has(rest[0].Text) {
		rest = rest[1:]
	}
	switch {
	case rest.StartWith("do", "not", "have"), rest.StartWith("do", "not", "own"):
		rest = rest[3:]
	case rest.StartWith("have", "no"), rest.StartWith("own", "no"):
		rest = rest[1:]
	default:
		return nil
	}
	for len(rest) > 0 && (indefinite.Has(rest[0].Text) || rest[0].Text == "no") {
		rest = rest[1:]
	}
	for n := min(len(rest), maxObjectWords); n > 0; n-- {
		if n < len(rest) && rest[n-1].Stop == 0 && !lackEnds.Has(rest[n].Text) || rest[:n].Any(english.Prepositions) {
			continue // "no car with me"
		}
		noun := countName(singular(rest[n-1].Text))
		if kind := kindLacked(rest[:n]); kind != "" && !rest[n:].Any(english.DateWords) {
			return []Claim{{Attribute: lackAttribute + noun, Value: held, Several: true}}
		}
	}
	return nil
}

// kindLacked is the kind of the thing that ws names, by its last word: "pet" of "an old greyhound", or else the thing.
func kindLacked(ws english.Words) string {
	last := countName(singular(ws[len(ws)-1].Text))
	if kind := lackKinds.Of(last); kind != "" {
		return kind
	}
	if inAny(last, english.StopWords, themePlain, lackVague, english.Evaluative, english.Moods, english.Adverbs) ||
		english.StartsWithDigit(last) || english.DateWords.Has(last) || english.Periods.Has(last) {
		return ""
	}
	return last
}

// A verb such as "have" tells of what there may have been before, so that it counts nothing more. "I had a cat as a
// child" is of the past.

// gains reads "we adopted a cat", of somebody who may have had no pet, and "I bought another guitar", which ends how
// many they were.
func gains(ws english.Words) (out []Claim) {
	if w := ws.At(0); w != "i" && w != "we" || ws.Any(uncertain) || ws.Any(negations) {
		return nil
	}
	rest := gained(ws)
	if len(rest) == 0 || !indefinite.Has(rest[0].Text) && rest[0].Text != "my" && rest[0].Text != "our" {
		return nil
	}
	for n := 2; n <= min(len(rest), maxObjectWords+1); n++ {
		if n < len(rest) && rest[n-1].Stop == 0 && !ends(rest[n]) && !called.Has(rest[n].Text) {
			continue
		}
		noun := countName(singular(rest[n-1].Text))
		if n < len(rest) && strings.HasSuffix(rest[n].Text, "ed") && !called.Has(rest[n].Text) {
			break // "I have a car booked for the weekend"
		}
		if others := rest[n:]; ofSomebody(rest[:n-1]) || others.At(0) == "for" && !namesSpan(others) {
			return out // "I got my son a job", "I bought a car for my niece"
		}
		if kind := kindLacked(rest[:n]); kind != "" {
			got := Claim{Attribute: lackAttribute + kind, Value: "no", Several: true, Changed: true, Loose: true}
			out = append(out, got)
			if got.Attribute = lackAttribute + noun; noun != kind {
				out = append(out, got)
			}
		}
		if nth := ordinals.Of(rest[1].Text); nth != "" && nth != "1" && n == 3 && countable.Has(noun) {
			out = append(out, Claim{Attribute: "count " + noun, Value: nth, Changed: true})
		}
		if rest[0].Text == "another" && countable.Has(noun) && !ws.Any(holding) && !rest[n:].Any(tailDoubts) {
			out = append(out, Claim{Attribute: "count " + noun, Ended: true})
		}
		break
	}
	return out
}

// gained is what stands behind a verb of getting in ws, of which the speaker is the subject.
func gained(ws english.Words) english.Words {
	for i := 1; i < min(len(ws), 4); i++ {
		if getting.Has(ws[i].Text) {
			return ws[i+1:]
		}
		if ws[i].Text == "took" && ws.At(i+1) == "in" {
			return ws[i+2:]
		}
	}
	return nil
}

// yesNo are attributes whose value says only that they are so.
var yesNo = frameTables.Words("yes-no")

// People tell a lift by its number alone as often as with a unit, so that a record has none. A brother's lift
// and a set of ten are no record of the speaker's.

// bestLift reads "I can deadlift 120 kg" and "pulled 135 on the deadlift last night, that's my new max".
func bestLift(all english.Words) []Claim {
	first := all.At(0)
	lift := slices.IndexFunc(all, func(w english.Word) bool { return lifts.Has(w.Text) })
	if lift < 0 || ofSomebody(all) || all.Any(uncertain) || first != "i" && first != "my" && !lifting.Has(first) {
		return nil
	}
	number := slices.IndexFunc(all, func(w english.Word) bool {
		return english.StartsWithDigit(w.Text) && !isDate(w.Text) && !strings.Contains(w.Text, ":")
	})
	if number < 0 || slices.ContainsFunc(all[number+1:], func(w english.Word) bool {
		return english.StartsWithDigit(w.Text) && !isDate(w.Text)
	}) {
		return nil // "3 sets of 10"
	}
	name, best := singular(all[lift].Text), all.Any(bestWords)
	if all.At(lift+1) == "press" {
		name += " press"
	}
	can := all.At(1) == "can" || all[:number].Any(lifting)
	if !best && (!can || all.At(1) != "can" && all.Any(noRecord)) {
		return nil
	}
	changed := best && (all.Has("new") || all.Has("now") || all.Has("ever"))
	n := numberOf(all[number:])
	return []Claim{{
		Attribute: recordAttribute + name, Value: n, Several: true, Changed: changed,
		result: !best && all.At(1) != "can",
	}}
}

// A raise ends the salary of before, even if the new one is not told. The next clause may tell it.

// raised reads "I got my raise, I'm on 53k": the salary since.
func raised(all english.Words) []Claim {
	if w := all.At(0); w != "i" && w != "we" && w != "my" || !all.Any(raiseWords) || all.Any(uncertain) ||
		all.Any(negations) || ofOthers(all) {
		return nil
	}
	for i := 3; i < len(all); i++ {
		n := numberOf(all[i:])
		paid := payLinks.Has(all[i-1].Text) && isBe(all[i-2].Text)
		if paid && len(n) > 3 { // "I'm on 3 pills"
			return []Claim{{Attribute: "one salary", Value: n, Several: true, Changed: true}}
		}
	}
	return nil
}

// People tell that the rent went up in one clause and how much it is in the next one, which does not name it.

// paysRent reads "the landlord put the rent up, so I pay 1,020 euros every month now".
func paysRent(all english.Words) []Claim {
	if !all.Has("rent") || all.Any(negations) || all.Any(uncertain) || ofOthers(all) {
		return nil
	}
	for i := 0; i+2 < len(all); i++ {
		if w := all[i].Text; w != "i" && w != "we" || all[i+1].Text != "pay" {
			continue
		}
		rest := withoutCurrency(all[i+2:])
		monthly := all[i:].Has("month") || all[i:].Has("monthly")
		if n := numberOf(rest); n != "" && monthly {
			changed := all.Has("now") || all[:i].Any(themeSetters)
			return []Claim{{Attribute: "one rent", Value: n, Several: true, Changed: changed}}
		}
	}
	return nil
}

// Who gets a new thing names it behind a comma, as a remark. The reader of "my new car is…" then reads both.

// newNamed is "my new car is a Dacia Jogger" for "picked up my new car yesterday, a Dacia Jogger". It is "" for any
// other fact.
func (c *claim) newNamed(all english.Words) string {
	for i := 1; i+3 < min(len(all), maxOpening); i++ {
		if all[i].Text != "new" || !possessives.Has(all[i-1].Text) || all[i].Stop != 0 {
			continue
		}
		noun := all[i+1]
		end := i + 1
		comma := func() bool { // behind the bracket of a date
			from, to := all[end].End, all[end+1].Start
			return strings.Contains(c.text[min(from, to):to], ",")
		}
		for end < len(all)-2 && !comma() && end < i+4 {
			end++
		}
		value := all[end+1:]
		if !comma() || !onlyTime(all[i+2:end+1]) || !english.Articles.Has(value.At(0)) || len(value) < 2 {
			return ""
		}
		last := 1
		for last < len(value) && c.capital(value[last]) && value[last-1].Stop == 0 {
			last++
		}
		if last < 2 || last < len(value) && value[last-1].Stop == 0 || value[0].Start > value[last-1].End {
			return ""
		}
		return "my new " + c.written(english.Words{noun}) + " is " + c.text[value[0].Start:value[last-1].End]
	}
	return ""
}

// People tell how many they are in a team as "we're nine" or "my team has nine people".

// Who counts themselves in says so seldom, so that both numbers are taken as they are.

// groupSize reads "my team has nine people now".
func groupSize(ws english.Words, changed bool) []Claim {
	if len(ws) < 5 || ws[0].Text != "my" && ws[0].Text != "our" || !groupNouns.Has(ws[1].Text) ||
		ws[2].Text != "has" && ws[2].Text != "is" || !isNumber(ws[3].Text) || !memberNouns.Has(ws[4].Text) {
		return nil
	}
	if rest := withoutCue(ws[4:]); len(rest) > 1 {
		return nil
	}
	return []Claim{{
		Attribute: "members " + ws[1].Text, Value: ws[3].Text, Several: true, Changed: changed || len(ws) > 5,
	}}
}

// A thing is kept at one place. If it was moved to another one, it is no longer at the first.

// keptAt reads "I keep my savings with ING" and "I moved my savings to Revolut": where the speaker has a thing of
// theirs for longer.
func (c *claim) keptAt(ws english.Words) []Claim {
	if w := ws.At(0); w != "i" && w != "we" || ws.Any(uncertain) || ws.Any(negations) {
		return nil
	}
	at := 1
	for at < len(ws) && (frontAdverbs.Has(ws[at].Text) || ws[at].Text == "have" && english.Past(ws.At(at+1))) {
		at++
	}
	keeps, moves := keeping.Has(ws.At(at)), moving.Has(ws.At(at))
	if !keeps && !moves || ws.At(at+1) != "my" && ws.At(at+1) != "our" {
		return nil
	}
	thing := ws[at+2:]
	for k := 1; k+1 < min(len(thing), maxKept); k++ {
		link := thing[k].Text
		if !english.Prepositions.Has(link) || moves && link == "from" {
			continue // "moved my savings from ING to Revolut"
		}
		place := c.placeKept(thing[k+1:])
		rightLink := keeps && keptLinks.Has(link) || moves && link == "to"
		name, _ := stateNoun(withoutFrom(thing[:k]))
		if !rightLink || place == "" || name == "" {
			return nil
		}
		return []Claim{{
			Attribute: keptAttribute + name, Value: place, Several: true, Changed: moves || c.changed, Loose: true,
		}}
	}
	return nil
}

// maxKept bounds the words of a thing that is kept somewhere, with the place that it was moved from.
const maxKept = 8

// placeKept is the name that ws begins with, if the phrase ends with it.
func (c *claim) placeKept(ws english.Words) string {
	ws = withoutCue(ws)
	// Of places without a name only those where people keep things count.
	if english.Articles.Has(ws[0].Text) && len(ws) == 2 && storerooms.Has(ws[1].Text) {
		return ws[1].Text
	}
	if !c.capital(ws[0]) {
		return ""
	}
	end := 1
	for end < len(ws) && ws[end-1].Stop == 0 && c.capital(ws[end]) {
		end++
	}
	if goesOn(ws[:end], ws[end:]) {
		return "" // "Google docs of the team"
	}
	return ws[:end].String()
}

// withoutFrom is ws up to the place that a thing was moved from.
func withoutFrom(ws english.Words) english.Words {
	if from := slices.IndexFunc(ws, func(w english.Word) bool { return w.Text == "from" }); from > 0 {
		return ws[:from]
	}
	return ws
}

// keptAttribute begins the attribute of a thing that is kept at a place with a name.
const keptAttribute = "place of "

// A birth long ago was of another child, and who tells of it names its year. A nephew is no child of the speaker's.

// born reads "our son was born on Sunday", which ends a pregnancy of the speaker's or their partner's.
func born(ws english.Words) (out []Claim) {
	if len(ws) < 3 || ws[0].Text != "my" && ws[0].Text != "our" || ws.Any(uncertain) || ws.Any(negations) {
		return nil
	}
	for k := 2; k+1 < min(len(ws), 6); k++ {
		arrives := pastBe.Has(ws[k].Text) && ws[k+1].Text == "born" || ws[k].Text == "is" && ws[k+1].Text == "here"
		one := children.Has(singular(ws[1].Text)) ||
			k == 3 && children.Has(singular(ws[2].Text)) && !ofSomebody(ws[1:2]) // "our second baby"
		longAgo := slices.ContainsFunc(ws, func(w english.Word) bool { return isYear(w.Text) })
		if !arrives || !one || longAgo {
			continue
		}
		for _, whose := range []owner{"", "wife", "girlfriend", "partner"} {
			out = append(out, Claim{Attribute: whose.attribute("pregnancy"), Ended: true})
		}
		return out
	}
	return nil
}

// Tax is no time, though "before" mostly begins one.

// withoutTax is ws without "before tax", which would begin a clause of its own.
func withoutTax(ws english.Words) english.Words {
	for i := 1; i+1 < len(ws); i++ {
		if w := ws[i].Text; (w == "before" || w == "after") && (ws[i+1].Text == "tax" || ws[i+1].Text == "taxes") {
			out := slices.Concat(ws[:i:i], ws[i+2:])
			out[i-1].Stop = max(out[i-1].Stop, ws[i+1].Stop)
			return out
		}
	}
	return ws
}
