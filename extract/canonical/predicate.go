package canonical

import "github.com/memoryd/memoryd/extract/english"

// predicate is what a fact says of an owner.
type predicate struct {
	owner   owner
	words   english.Words // from the verb on
	perfect bool          // the verb follows "have" or "have been"
}

// predicateRule reads predicates by their verb.
type predicateRule struct {
	verbs   string
	read    func(c *claim, p predicate) reading
	example string // "fact = attribute: value"
}

// predicateRules are the rules of verbs. No verb has two.
var predicateRules = []predicateRule{
	{"live lives living lived reside resides", (*claim).lives, "I live in Porto = home: porto"},
	{"moved relocated", (*claim).moved, "I moved to Lisbon last week = home: lisbon"},
	{"work works working worked", (*claim).works, "I work at Acme = employer: acme"},
	{"started", (*claim).startedWork, "I started working at Acme = employer: acme"},
	{"settled", (*claim).settled, "I settled in Porto = home: porto"},
	{"go goes", (*claim).goesBy, "I go by Ann = form of address: ann"},
	{"joined", (*claim).joinedAs, "I joined Acme as a nurse = employer: acme"},
	{"turned", (*claim).turnedAge, "I turned 35 yesterday = age: 35"},
	{"got", (*claim).gotMarried, "I got married = marital status: married"},
	{"weigh weighs", (*claim).weighs, "I weigh 80 kg = weight kg: 80"},
	{"am are is", (*claim).is, "I am 34 = age: 34"},
	{"prefer use", (*claim).prefersUnits, "I prefer metric units = units: metric"},
}

var predicateRulesByVerb = func() map[string]predicateRule {
	out := map[string]predicateRule{}
	for _, rule := range predicateRules {
		for _, w := range english.Split(rule.verbs) {
			out[w.Text] = rule
		}
	}
	return out
}()

// predicate reads what follows "I" or "my sister".
func (c *claim) predicate(o owner, ws english.Words) reading {
	ws, perfect := withoutPerfect(ws)
	for perfect && len(ws) > 2 && perfectAdverbs.Has(ws[0].Text) {
		ws = ws[1:]
		perfect = !completed.Has(ws[0].Text) // "have finally moved to Porto"
	}
	if len(ws) < 2 {
		return reading{}
	}
	verb := ws[0].Text
	if perfect && !lastingVerbs.Has(verb) || !perfect && pastOfLasting.Has(verb) {
		return reading{} // the past, as in "lived" and "have been"
	}
	rule, ok := predicateRulesByVerb[verb]
	if !ok {
		return reading{}
	}
	return rule.read(c, predicate{o, ws, perfect}).of(o)
}

// withoutPerfect leaves "lived" or "living" of "have lived", "am living" and
// "have been living", and reports the perfect.
func withoutPerfect(ws english.Words) (english.Words, bool) {
	first, second := ws.At(0), ws.At(1)
	switch {
	case (first == "have" || first == "has") && second == "been":
		return ws[2:], true
	case first == "have" || first == "has":
		return ws[1:], true
	case isBe(first) && (second == "living" || second == "working"):
		return ws[1:], false
	}
	return ws, false
}

// isBe reports whether w is "be" in the present.
func isBe(w string) bool { return w == "am" || w == "are" || w == "is" }

// lives reads "live in Porto" and "have lived in Porto since 2019". Where "we"
// live must be a place that is known: "We live in interesting times".
func (c *claim) lives(p predicate) reading {
	ws, untilNow := withoutSpan(p.words)
	if p.words[1].Text != "in" || p.perfect && !untilNow {
		return reading{}
	}
	return c.home(ws[min(2, len(ws)):], c.words[0].Text == "we")
}

// moved reads "moved back to Lisbon" and "moved from Rome to Lisbon". People move
// to other things than towns, so the town must be one that is known.
func (c *claim) moved(p predicate) reading {
	ws := withoutRecentTime(p.words)
	i := 1
	if ws.At(i) == "back" {
		i++
	}
	if ws.At(i) == "from" {
		for i++; i < len(ws) && ws[i].Text != "to"; i++ {
			if i > maxFromWords || !c.capital(ws[i]) {
				return reading{}
			}
		}
	}
	if ws.At(i) != "to" {
		return reading{}
	}
	return c.home(ws[i+1:], true)
}

// settled reads "settled in Porto last year".
func (c *claim) settled(p predicate) reading {
	ws := withoutRecentTime(p.words)
	if ws.At(1) != "in" || len(ws) < 3 {
		return reading{}
	}
	return c.home(ws[2:], false)
}

// goesBy reads "go by Ann": how the speaker wants to be called.
func (c *claim) goesBy(p predicate) reading {
	if p.words.At(1) != "by" || p.owner != "" || len(p.words) < 3 || transports.Of(p.words[2].Text) != "" {
		return reading{}
	}
	return reading{addressAttribute, c.properName(p.words[2:])}
}

// maxFromWords is how far from the verb the place that is left may reach.
const maxFromWords = 5

// works reads "work at Acme", "work as a nurse" and "have worked at Acme for 5
// years".
func (c *claim) works(p predicate) reading {
	ws, untilNow := withoutSpan(p.words)
	if p.perfect && !untilNow {
		return reading{}
	}
	for _, v := range withoutModifiers(ws, false) {
		if r := c.work(v.words[1:]); r.ok() {
			return r
		}
	}
	return reading{}
}

// startedWork reads "started working at Acme last week".
func (c *claim) startedWork(p predicate) reading {
	if w := p.words[1].Text; w != "working" && w != "work" {
		return reading{}
	}
	ws := withoutRecentTime(p.words)
	return c.work(ws[min(2, len(ws)):])
}

// joinedAs reads "joined Acme as a nurse". Without the occupation it may be a gym
// or a club.
func (c *claim) joinedAs(p predicate) reading {
	ws := withoutRecentTime(p.words)
	if tradeAt(ws) == 0 && !companyNouns.Has(ws.At(len(ws)-1)) {
		return reading{}
	}
	return c.employer(ws[1:])
}

// turnedAge reads "turned 35 yesterday".
func (c *claim) turnedAge(p predicate) reading {
	ws := withoutRecentTime(p.words)
	if len(ws) != 2 || !p.owner.isOne() {
		return reading{}
	}
	return c.age(ws[1:])
}

// gotMarried reads "got married last week".
func (c *claim) gotMarried(p predicate) reading {
	return c.maritalStatus(withoutRecentTime(p.words)[1:])
}

// weighs reads "weigh 80 kg".
func (c *claim) weighs(p predicate) reading { return measured("weight", p.words[1:]) }

// prefersUnits reads "prefer metric units".
func (c *claim) prefersUnits(p predicate) reading {
	if p.owner != "" {
		return reading{}
	}
	return units(p.words[1:])
}

// is reads what follows "am": a marital status, an occupation, a height, an age.
func (c *claim) is(p predicate) reading {
	ws := p.words[1:]
	for len(ws) > 1 && stateAdverbs.Has(ws[0].Text) {
		ws = ws[1:]
	}
	last := ws.At(len(ws) - 1)
	switch {
	case ws[0].Text == "based" && len(ws) > 2:
		return c.lives(predicate{p.owner, ws, p.perfect})
	case weighing.Match(ws, 0) > 0:
		if r := measured("weight", ws[weighing.Match(ws, 0):]); r.attribute == "weight kg" ||
			r.attribute == "weight lb" {
			return r
		}
	case p.owner == "" && len(ws) == 2 && measured("weight", ws).ok() && measures.Of(ws[1].Text) != "m" &&
		measures.Of(ws[1].Text) != "cm" && measures.Of(ws[1].Text) != "ft":
		return measured("weight", ws)
	case maritalStatuses.Has(ws[0].Text):
		return c.maritalStatus(ws)
	case len(ws) > 2 && ws.At(len(ws)-2) == "by" && (last == "profession" || last == "trade"):
		return occupation(ws[:len(ws)-2])
	case len(ws) > 2 && last == "tall":
		return measured("height", ws[:len(ws)-1])
	case p.owner == "" && len(ws) == 1 && givenNames.Has(ws[0].Text):
		return reading{"name", ws[0].Text}
	case p.owner.isOne():
		return c.age(ws)
	}
	return reading{}
}

// age reads "34" and "34 years old". A single digit alone is no age, nor is the
// end of a length (5'10).
func (c *claim) age(ws english.Words) reading {
	n := ws[0].Text
	alone := len(ws) == 1
	if !alone && !ageTails.Has(ws[1:].String()) || n != "100" && (!isNumber(n) || len(n) > 2) {
		return reading{}
	}
	if n[0] == '0' || alone && len(n) == 1 || afterApostrophe(c.text, n) {
		return reading{}
	}
	return reading{"age", n}
}

// maritalStatus reads "married" and "married to Tom".
func (c *claim) maritalStatus(ws english.Words) reading {
	if !maritalStatuses.Has(ws.At(0)) {
		return reading{}
	}
	joined := len(ws) == 3 && ws[1].Text == "and" && ws[0].Stop == 0 // "single and lazy"
	if len(ws) > 1 && !joined && (ws[1].Text != "to" && ws[1].Text != "from" || c.firstName(ws[2:]) == "") {
		return reading{}
	}
	return reading{"marital status", ws[0].Text}
}
