package canonical

import (
	"slices"

	"github.com/memoryd/memoryd/extract/english"
)

// leaving reads what ends without a successor: "left Google", "was laid off",
// "broke up with Tom", "gave up coffee". The words have no adverbs at their front.
func (c *claim) leaving(o owner, ws english.Words) []Claim {
	if out := c.citizenship(o, ws); out != nil && out[0].Ended {
		return out
	}
	switch {
	case dismissed.Match(ws, 0) > 0:
		return jobLost(o, c.dismissedFrom(ws))
	case retires(ws) && !c.retiredFromPastime():
		return append(jobLost(o, ""), Claim{Attribute: o.attribute("occupation"), Ended: true})
	case c.freshJob(ws):
		return []Claim{{Attribute: o.attribute("employer"), Ended: true}}
	case separated.Match(ws, 0) > 0:
		return c.separation(o, ws)
	case alone.Match(ws, 0) > 0 && o == "":
		return c.separation(o, nil)
	}
	if n := booking.Match(ws, 0); n > 0 && n < len(ws) && o == "" {
		if what := object(ws[n:]); what != "" {
			return []Claim{{Attribute: what + " time", Value: "planned", Several: true}}
		}
	}
	if n := noJourneys.Match(ws, 0); n > 0 && len(ws) > n && c.capital(ws[n]) {
		return []Claim{{Attribute: o.attribute("journey to " + ws[n].Text), Value: held, Ended: true}}
	}
	if out := c.leftEmployer(o, ws); out != nil {
		return out
	}
	return c.gaveUp(o, ws)
}

// dismissedFrom is the firm that a dismissal names: "bank" of "was laid off from the bank". It is "" for a dismissal
// from whatever firm.
func (c *claim) dismissedFrom(ws english.Words) string {
	return c.firmLeft(ws[dismissed.Match(ws, 0):])
}

// firmLeft is the firm that ws names behind a dismissal: "bank" of "from the bank". "The firm" may be any.
func (c *claim) firmLeft(ws english.Words) string {
	if ws.At(0) != "from" && ws.At(0) != "by" || len(ws) < 2 {
		return ""
	}
	if value := c.company(ws[1:]); value != "" {
		return value
	}
	if what := object(ws[1:]); !jobNouns.Has(lastWord(what)) && !anyFirm.Has(lastWord(what)) {
		return what
	}
	return ""
}

// retiredFromPastime reports whether the statement names something beside work: "retired from the chess league".
func (c *claim) retiredFromPastime() bool {
	for i := range c.words {
		if c.words[i:].StartWith("retired", "from") {
			return c.words[i:min(len(c.words), i+6)].Any(pastimes)
		}
	}
	return false
}

// freshJob reports whether ws tells of a new job, and nothing of it: a job "at Acme" names the next employer, one "for
// the weekends" stays beside the old one, and that of "last month" may be the one that was spoken of.
func (c *claim) freshJob(ws english.Words) bool {
	ws = withoutHave(ws)
	n := freshJobs.Match(ws, 0)
	if n == 0 || n < len(ws) && !namesToday(ws[n:]) {
		return false
	}
	rest := c.words[slices.IndexFunc(c.words, func(w english.Word) bool { return w.End == ws[n-1].End })+1:]
	return len(rest) == 0 || namesToday(rest)
}

// namesToday reports whether ws is a time of these days, with or without its date: "today", "this week".
func namesToday(ws english.Words) bool {
	w := ws[0].Text
	return (w == "today" || w == "yesterday" || w == "this") && recently.MatchString(ws.String())
}

// retires reports whether ws begins like "draw my pension", but not "get my pension statement".
func retires(ws english.Words) bool {
	n := retired.Match(ws, 0)
	return n > 0 && (ws[n-1].Text != "pension" || n == len(ws) || !goesOn(ws[:n], ws[n:]))
}

// leftBy reads "Marco dumped me", "my wife left me", "today was my last day at Acme"
// and "Luna passed away".
func (c *claim) leftBy(ws english.Words) []Claim {
	for i := range ws {
		if leavingMe.Match(ws, i) > 0 && i > 0 && i < 3 &&
			(c.capital(ws[i-1]) || partners.Has(relation(ws[i-1].Text))) {
			return c.separation("", ws[i:i+1])
		}
		if n := dismissing.Match(ws, i); n > 0 && i > 0 && i < 4 && !ws[:i].Any(negations) &&
			(i+n == len(ws) || ws[i+n-1].Stop != 0 || afterDismissal.Has(ws[i+n].Text)) {
			return jobLost("", "")
		}
		if ws[i:].StartWith("my", "last", "day", "at") && ws[:i].Any(pastBe) && i+4 < len(ws) {
			if company := c.company(ws[i+4:]); company != "" {
				return []Claim{{Attribute: "employer", Value: company, Ended: true}}
			}
		}
	}
	if n := deathVerbs.Match(ws, 1); n > 0 && n+1 == len(ws) && c.capital(ws[0]) && ws[0].Text != "i" {
		return []Claim{{Attribute: beingAttribute + ws[0].Text, Value: held, Ended: true}}
	}
	return nil
}

// beingAttribute is of a pet, by its name.
const beingAttribute = "being "

// newJob reads "I started a new job at Bosch", "I was hired by Bosch".
func (c *claim) newJob() reading {
	o, ws := c.subjectOf(c.words)
	ws = withoutAdverbs(ws)
	n := newJobs.Match(ws, 0)
	if n == 0 || n == len(ws) {
		return reading{}
	}
	ws, _ = withoutSpan(ws[n:])
	return c.employer(ws).of(o)
}

// leftEmployer reads "left Google after 5 years" and "quit my job at Acme".
func (c *claim) leftEmployer(o owner, ws english.Words) []Claim {
	n := leaveVerbs.Match(ws, 0)
	if n == 0 || n == len(ws) {
		return nil
	}
	rest := ws[n:]
	own := possessives.Has(rest[0].Text) && len(rest) > 1 && jobNouns.Has(rest[1].Text)
	value := ""
	switch {
	case own && len(rest) == 2, rest[0].Text == "the" && len(rest) == 2 && workplaces.Has(rest[1].Text):
	case own && len(rest) > 3 && (rest[2].Text == "at" || rest[2].Text == "with"):
		value = c.company(rest[3:])
	case rest[0].Text == "the" && (ws.At(n-1) == "quit" || c.words.Has("quit")) && workNouns.Has(wholeObject(rest)):
		value = wholeObject(rest) // "quit the mine"
	default:
		if value = c.company(rest); value == "" {
			return nil
		}
	}
	if !own || rest[1].Text != "job" { // "my position on the board"
		return []Claim{{Attribute: o.attribute("employer"), Value: value, Ended: true}}
	}
	return jobLost(o, value)
}

// separation reads "broke up with Tom", "got divorced last year" and "am single
// again": o has no partner from then on.
func (c *claim) separation(o owner, ws english.Words) []Claim {
	n := separated.Match(ws, 0)
	switch after := ws.At(n); {
	case n == 0:
	case partsAtPlace(c.words):
		return nil
	case after == "from":
		who := ws[n+1:]
		if len(who) == 0 || !c.capital(who[0]) && !(who[0].Text == "my" && partners.Has(who.At(1))) {
			return nil // "separated from the group"
		}
	case after != "" && after != "with":
		return nil // "broke up the wall"
	}
	status := "single"
	for _, w := range ws {
		if maritalStatuses.Has(w.Text) {
			status = w.Text
		}
	}
	return []Claim{
		{Attribute: o.attribute("marital status"), Value: status},
		{Attribute: o.attribute(partnerAttribute), Ended: true},
	}
}

const partnerAttribute = "partner name"

// partner reads who the speaker's partner is: "My boyfriend is Tom", "I am married
// to Tom", "I am dating Tom".
func (c *claim) partner() []Claim {
	ws := c.words
	if (ws.At(0) == "my" || ws.At(0) == "our") && partners.Has(relation(ws.At(1))) && len(ws) > 3 &&
		isBe(ws[2].Text) {
		ws = ws[3:]
		if w := ws[0].Text; len(ws) > 1 && (w == "called" || w == "named") {
			ws = ws[1:]
		}
		return c.partnerIs(ws)
	}
	if len(ws) > 3 && ws[0].Upper && ws[0].Text != "i" {
		if n := isMy.Match(ws, 1); n > 0 { // "Rafael is my fiance"
			if status := couple.Of(relation(ws.At(1 + n))); status != "" {
				return append(c.partnerIs(ws[:1]), Claim{Attribute: "marital status", Value: status})
			}
		}
	}
	if ws.At(0) != "i" {
		return nil
	}
	ws = withoutAdverbs(ws[1:])
	n := together.Match(ws, 0)
	if n == 0 || n == len(ws) {
		return nil
	}
	out := c.partnerIs(ws[n:])
	if out != nil && dating.Match(ws, 0) > 0 {
		out = append(out, Claim{Attribute: "marital status", Value: "dating"})
	}
	return out
}

// partnerIs reads the name of a partner, and what comes behind it.
func (c *claim) partnerIs(ws english.Words) []Claim {
	for i := 1; i < min(len(ws)-1, maxNameWords); i++ {
		if w := ws[i].Text; w == "called" || w == "named" {
			ws = ws[i+1:] // "a guy called Marco"
		}
	}
	for k := min(len(ws), maxNameWords); k > 0; k-- {
		if k < len(ws) && c.capital(ws[k]) {
			continue
		}
		if name := c.firstName(ws[:k]); name != "" {
			return []Claim{{Attribute: partnerAttribute, Value: name}}
		}
	}
	return nil
}

// gaveUp reads "gave up coffee", "quit playing tennis", "went off sushi" and
// "switched from coffee to tea": the end of a habit, and perhaps a new one.
func (c *claim) gaveUp(o owner, ws english.Words) []Claim {
	if n := switching.Match(ws, 0); n > 0 {
		return c.switched(o, ws[n:])
	}
	n := quitting.Match(ws, 0)
	if n == 0 || n == len(ws) {
		return nil
	}
	rest := ws[n:]
	if verb := habitOfIng(rest[0].Text); verb != "" {
		return asEnded(c.habits(o, append(english.Words{{Text: verb}}, rest[1:]...)))
	}
	if what := wholeObject(rest); what != "" {
		return asEnded([]Claim{habit(o, "of "+what)})
	}
	return nil
}

// switched reads "coffee to tea" after "switched from".
func (c *claim) switched(o owner, ws english.Words) []Claim {
	for k := 1; k+1 < len(ws) && k <= maxObjectWords; k++ {
		if ws[k].Text != "to" {
			continue
		}
		from, to := object(ws[:k]), object(ws[k+1:])
		if from == "" || to == "" || from == to {
			return nil
		}
		gone := habit(o, "of "+from)
		gone.Ended = true
		out := []Claim{gone, habit(o, "of "+to)}
		if wholeObject(ws[k+1:]) != "" { // not "from Arsenal to Chelsea in the game"
			out = append(out, Claim{Attribute: o.attribute(teamAttribute), Value: ws[:k].String(), Ended: true})
		}
		return out
	}
	return nil
}
