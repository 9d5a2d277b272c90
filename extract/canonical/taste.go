package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// The values of a taste.
const (
	liked    = "liked"
	disliked = "disliked"
)

// taste reads "I love sushi", "I can't stand sushi anymore" and "I'm not a fan of
// sushi". A liking may have a bound: "I like tea in summer".
func (c *claim) taste(ws english.Words) []Claim {
	if what := putOff(ws); what != "" {
		return tastesOf(what, Claim{Attribute: "taste of " + what, Value: disliked})
	}
	if ws.At(0) != "i" {
		return nil
	}
	ws, _ = withoutAnymore(withoutAdverbs(ws[1:]))
	if value, what := fan(ws); what != "" {
		return tastesOf(what, Claim{Attribute: "taste of " + what, Value: value})
	}
	ws = withoutDegree(ws)
	value, n := liked, likePhrases.Match(ws, 0)
	if n == 0 {
		value, n = disliked, dislikePhrases.Match(ws, 0)
	}
	if n == 0 {
		value, n = turnedTaste(ws)
	}
	if n == 0 {
		value, ws, n = found(ws)
	}
	if n == 0 || n >= len(ws) {
		return nil
	}
	if ws[n].Text == "to" {
		if verb := ws.At(n + 1); !english.PresentVerbs.Has(verb) && !habitVerbs.Has(verb) {
			return nil // "I like to think"
		}
		n++
	}
	of := ws[n:]
	if base := english.Infinitive(of[0].Text); base != "" { // "enjoying swimming" is of "to swim", as "love swimming"
		of = replaceFirst(of, english.Word{Text: base, Start: of[0].Start, Stop: of[0].Stop})
	}
	what, rest := objectOf(of)
	rest = withoutRemark(ws[:len(ws)-len(rest)], rest)
	if what == "" || stopsClause(ws[len(ws)-len(rest)-1].Stop) && len(rest) > 0 {
		return nil
	}
	// A reason or a beginning bounds nothing: "I can't stand olives since that jar".
	bounded := len(rest) > 0 && (!reasons.Has(rest[0].Text) || rest.StartWith("now", "that") || forNow(rest) ||
		rest[0].Text == "either" && len(rest) > 1 && !changeWords.Has(rest[1].Text))
	bounded = bounded && !(ws[:n].Has("to") && rest[0].Text == "after") // "came to love it after a month there"
	taste := Claim{Attribute: "taste of " + what, Value: value, Narrow: bounded, Changed: rest.Has("again")}
	return append(tastesOf(what, taste), taste.boundBy(rest)...)
}

// boundBy is the taste of a thing with what bounds it: who likes tea in summer likes one thing, which they may come to
// dislike.
func (c *Claim) boundBy(rest english.Words) []Claim {
	within, _ := withoutAnymore(withoutChange(rest))
	if !c.Narrow || len(within) < 2 || len(within) >= maxBound || forNow(within) ||
		!english.Prepositions.Has(within[0].Text) {
		return nil
	}
	return []Claim{{Attribute: c.Attribute + " " + within.String(), Value: c.Value, Changed: c.Changed}}
}

// maxBound bounds the words of what bounds a taste: "from home", "in my coffee".
const maxBound = 4

// tastesOf are a taste of a thing and what it says of others of its kind.
func tastesOf(what string, taste Claim) []Claim {
	head, value := what[strings.LastIndex(what, " ")+1:], taste.Value
	switch {
	case value == disliked && colors.Has(head):
		return []Claim{taste, {Attribute: "favorite color", Value: what, Ended: true}}
	case taste.Narrow:
	case value == liked && head != what: // who dislikes all coffee no longer enjoys strong coffee
		return []Claim{taste, {Attribute: "taste of any " + head, Value: liked, Several: true}}
	case value == disliked && head == what:
		return []Claim{taste, {Attribute: "taste of any " + head, Value: liked, Ended: true}}
	}
	return []Claim{taste}
}

// found reads "find opera boring": how somebody finds a thing, the words up to it, and how many stand before it.
func found(ws english.Words) (value string, rest english.Words, n int) {
	last := len(ws) - 1
	if ws.At(0) != "find" || last < 2 {
		return "", ws, 0
	}
	switch {
	case unpleasant.Has(ws[last].Text):
		return disliked, ws[:last], 1
	case pleasant.Has(ws[last].Text):
		return liked, ws[:last], 1
	}
	return "", ws[:last], 0
}

// withoutRemark is rest, nil if it goes on about the thing before it, and names no other one: "I can't stand okra,
// tastes like soap".
func withoutRemark(before, rest english.Words) english.Words {
	if len(rest) < 2 || !stopsClause(before[len(before)-1].Stop) {
		return rest
	}
	if w := rest[0].Text; w == "it" || w == "they" || w == "so" || w == "which" || thirdPerson(w) {
		return nil
	}
	return rest
}

// forOwnReason reports whether the reason of a liking is another thing than what is liked: "because my kitchen is being
// renovated". "Because they smell" and "since that jar" bound nothing.
func forOwnReason(ws english.Words) bool {
	for i := 0; i+1 < len(ws); i++ {
		if ws[i].Text == "because" {
			next := ws[i+1].Text
			return next != "they" && next != "it" && next != "i"
		}
	}
	return false
}

// forNow reports whether words behind a liking tell of today or of a time that ends: "because of the rain today".
func forNow(ws english.Words) bool {
	return passes(ws) || ws.Has("today") || ws.Has("tonight") || ws.Has("until") || ws.Has("till")
}

// favoriteThing reads "Sushi is my favorite thing ever": who has it as a favorite likes it. What follows bounds the
// liking ("to code to"), and a favorite color tells of none.
func (c *claim) favoriteThing() []Claim {
	ws := c.words
	for i := 1; i <= min(maxObjectWords, len(ws)-4); i++ {
		head := ws[i+3].Text
		if !isBe(ws[i].Text) || !ws[i+1:].StartWith("my", "favorite") || isColorNoun(head) ||
			favoriteQualifiers.Has(head) && head != "thing" {
			continue
		}
		if what := wholeObject(ws[:i]); what != "" && !english.Articles.Has(ws[0].Text) {
			bounded := i+4 < len(ws) && ws[i+4].Text != "ever"
			return []Claim{{Attribute: "taste of " + what, Value: liked, Narrow: bounded}}
		}
	}
	return nil
}

// instruction reads what the agent is told to do in all answers, or to do no
// longer: "Always use bullet points", "Stop using bullet points".
func (c *claim) instruction() []Claim {
	ws, standing := withoutRequest(c.words)
	for i := 2; i < len(ws); i++ {
		if n := toAnswers.Match(ws, i); n > 0 && i+n == len(ws) {
			ws, standing = ws[:i], true // "add emojis to your answers"
		}
	}
	ws, _ = withoutAnymore(ws)
	ended := false
	switch {
	case ws.At(len(ws)-1) == "again":
		ws, standing = ws[:len(ws)-1], true // "You can use bullet points again"
	case ws.StartWith("do", "not"):
		ws, ended, standing = ws[2:], true, true
	case ws.At(0) == "never":
		ws, ended, standing = ws[1:], true, true
	case ws.At(0) == "stop" || ws.At(0) == "quit":
		verb := english.Infinitive(ws.At(1))
		if verb == "" {
			return nil
		}
		ws, ended, standing = append(english.Words{{Text: verb}}, ws[2:]...), true, true
	}
	// "Don't use emojis at work" leaves the answers to the speaker as they are.
	if !standing || len(ws) < 2 || !english.AgentVerbs.Has(ws[0].Text) || ended && ofOneTask(ws) {
		return nil
	}
	verb, rest := ws[0].Text, ws[1:]
	for len(rest) > 1 && answerParts.Has(rest[0].Text) {
		rest = rest[1:]
	}
	if using.Has(verb) {
		verb = "use"
	}
	what := object(rest)
	if what == "" || len(rest) > maxObjectWords+1 {
		return nil
	}
	return []Claim{{Attribute: "instruction " + verb + " " + what, Value: held, Ended: ended}}
}
