package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

const held = "yes" // the value of attributes that somebody has or has not

// habit is the claim that o does something: "habit drink coffee".
func habit(o owner, what string) Claim {
	return Claim{Attribute: o.attribute("habit " + what), Value: held}
}

// habits reads "drink coffee every morning", "am learning Spanish" and "am vegan".
func (c *claim) habits(o owner, ws english.Words) []Claim {
	if state := c.state(o, ws); state.Attribute != "" {
		return []Claim{state}
	}
	ws = withoutAdverbs(ws)
	if n := banking.Match(ws, 0); n > 0 && o == "" && c.company(ws[n:]) != "" {
		bank := Claim{Attribute: "bank thing", Value: c.company(ws[n:]), Several: true, Changed: c.changed}
		return []Claim{bank, habit(o, "of "+object(ws[n:]))}
	}
	if n := beginning.Match(ws, 0); n > 0 && n < len(ws) && habitOfIng(ws[n].Text) != "" {
		ws = append(english.Words{{Text: habitOfIng(ws[n].Text)}}, ws[n+1:]...)
	}
	verb, rest := ws.At(0), ws[1:]
	switch {
	case !isBe(verb):
	case rest.At(0) == "on" && len(rest) == 2 && wholeObject(rest[1:]) != "":
		return habitOf(o, "take", object(rest[1:])) // "I am on metformin"
	case rest.At(0) == "on" && len(rest) > 3 && english.StartsWithDigit(rest[1].Text) && doseUnits.Has(rest[2].Text):
		return c.habitWith(o, "take", rest[1:]) // "I am on 50 mg of sertraline a day"
	default:
		if verb = habitOfIng(rest.At(0)); verb == "" {
			return nil
		}
		return c.habitWith(o, verb, rest[1:])
	}
	if o != "" {
		verb = infinitiveOfThird(verb)
	}
	return c.habitWith(o, verb, rest)
}

// ofKinds are the claims by the kinds of what somebody eats or drinks: "no longer drink
// alcohol" and "stopped drinking" end "drink wine".
func ofKinds(habits []Claim) (out []Claim) {
	for _, c := range habits {
		for _, verb := range []string{"eat", "drink"} {
			who, what, found := strings.Cut(c.Attribute, "habit "+verb+" ")
			kind := foodKinds.Of(what)
			if !found || kind == "" || c.Ended {
				continue
			}
			o := owner(strings.TrimSpace(who))
			out = append(out, habitOf(o, verb, kind)...)
			if kind == "alcohol" {
				out = append(out, habit(o, verb))
			}
		}
	}
	return out
}

// state reads "am vegan", "went vegan", "get up at 7" and "am flying to Crete".
func (c *claim) state(o owner, ws english.Words) Claim {
	been := ws.At(1) == "been" && (ws.At(0) == "have" || ws.At(0) == "has")
	ws = withoutAdverbs(ws)
	diet := ""
	switch {
	case been:
		diet = dietOf(ws)
	case isBe(ws.At(0)) || dietVerbs.Has(ws.At(0)):
		diet = dietOf(ws[1:])
	}
	if diet != "" {
		return Claim{Attribute: o.attribute("diet"), Value: diet}
	}
	if way := c.commute(o, ws); way.Attribute != "" {
		return way
	}
	if n := couples.Match(ws, 0); n > 0 && o == "" && stayCouple(ws[n:]) {
		return Claim{Attribute: "marital status", Value: "dating"}
	}
	if isBe(ws.At(0)) && (ws.At(1) == "allergic" || ws.At(1) == "intolerant") && ws.At(2) == "to" {
		if what := object(ws[3:]); what != "" {
			return Claim{Attribute: o.attribute("has allergy to " + what), Value: held}
		}
	}
	if time := c.routine(o, ws); time.Attribute != "" {
		return time
	}
	for k := 3; k < min(len(ws), 7) && isBe(ws.At(0)) && ws.At(1) == "in"; k++ {
		if what := object(ws[2:k]); what != "" && departments.Has(ws[k].Text) {
			return Claim{Attribute: o.attribute("department"), Value: what, Several: true, Changed: c.changed}
		}
	}
	if n := journeys.Match(ws, 0); n > 0 && len(ws) > n && c.capital(ws[n]) {
		return Claim{Attribute: o.attribute("journey to " + ws[n].Text), Value: held}
	}
	return Claim{}
}

// routine reads "get up at 7" and "walk the dog at half past 6": the time of what o does each day.
func (c *claim) routine(o owner, ws english.Words) Claim {
	for n := 2; n < min(len(ws), maxRoutine) && !english.Past(ws[0].Text) && !isBe(ws[0].Text); n++ {
		name := ws[:n].String()
		if one := routines.Of(name); one != "" {
			name = one
		} else if ws[n-1].Text != "at" {
			continue
		}
		value, k := clockTime(ws[n:])
		if k == 0 || ws[:n].Any(negations) || ws[:n].Any(uncertain) {
			break
		}
		only := len(withoutDaily(withoutChange(ws))) == n+k // not "at 7 on weekends"
		return Claim{
			Attribute: o.attribute("time " + name), Value: value, Several: true, Changed: c.changed && only,
		}
	}
	return Claim{}
}

// maxRoutine bounds the words of a routine before its time: "take the kids to school at".
const maxRoutine = 8

// clockTime reads the time of day that ws begins with, and gives the number of its words: "7", "7:30 am", "half past
// 4", "noon".
func clockTime(ws english.Words) (value string, n int) {
	first, next := ws.At(0), ws.At(1)
	switch {
	case first == "noon" || first == "midnight":
		return first, 1
	case (first == "half" || first == "quarter") && (next == "past" || next == "to") && isNumber(ws.At(2)):
		n = 3
	case isNumber(first) && (next == "past" || next == "to") && isNumber(ws.At(2)):
		n = 3
	case english.StartsWithDigit(first):
		n = 1
	default:
		return "", 0
	}
	value = ws[:n].String()
	if half := ws.At(n); half == "am" || half == "pm" {
		n++
	}
	return value, n
}

// withoutDaily is ws without "every day" at its end, and "now" before or behind it.
func withoutDaily(ws english.Words) english.Words {
	last := len(ws) - 1
	if last > 1 && (ws[last-1].Text == "every" || ws[last-1].Text == "each") &&
		(ws[last].Text == "day" || ws[last].Text == "morning" || ws[last].Text == "night") {
		return withoutChange(ws[:last-1])
	}
	return ws
}

// commute reads "commute by train" and "get to school by bus".
func (c *claim) commute(o owner, ws english.Words) Claim {
	n := commuting.Match(ws, 0)
	if n == 0 || n == len(ws) || !transport.Has(ws[n].Text) {
		return Claim{}
	}
	way := Claim{Attribute: o.attribute("commute"), Value: ws[n].Text, Several: true, Changed: c.changed}
	if kind := transports.Of(way.Value); kind != "" {
		way.Value = kind
	}
	if ws[:n].Any(schools) {
		way.Attribute += " school"
	}
	return way
}

// habitWith are the claims of a habit verb and its object.
func (c *claim) habitWith(o owner, verb string, rest english.Words) (out []Claim) {
	if !habitVerbs.Has(verb) {
		return nil
	}
	// "I quit smoking 11 weeks ago" has no object either.
	if len(rest) == 0 || countsBack(rest) || english.Prepositions.Has(rest[0].Text) ||
		modifierStarts.Has(rest[0].Text) {
		if from := rest.At(0); verb == "drink" && (from == "from" || from == "out") {
			return nil // what it is drunk from tells of no alcohol
		}
		if intransitive.Has(verb) && (len(rest) < 2 || rest[0].Text != "for" || forAmount(rest[1:])) {
			return []Claim{habit(o, verb)}
		}
		return nil
	}
	what := object(rest)
	if what == "" {
		return nil
	}
	out = habitOf(o, verb, what)
	if verb == "drive" {
		drives := Claim{Attribute: o.attribute("car thing"), Value: what, Several: true, Changed: c.changed}
		out = append(out, drives)
	}
	if k := insteadOf(rest); k > 0 && object(rest[k:]) != "" && !goesOnFor(rest[k:]) && !goesOnFor(rest[:k-2]) {
		out = append(out, asEnded([]Claim{habit(o, "of "+object(rest[k:]))})...)
	}
	if r := doseOf(verb, rest); r.ok() {
		out = append(out, Claim{Attribute: o.attribute(r.attribute), Value: r.value})
	}
	if verb == "eat" && meats.Has(what) {
		out = append(out, Claim{Attribute: o.attribute("diet"), Value: "vegan", Ended: true},
			Claim{Attribute: o.attribute("diet"), Value: "vegetarian", Ended: true})
	}
	return out
}

// habitOf are the claims that o does something with a thing: by the verb, and for
// those who only name the thing ("I gave up coffee").
func habitOf(o owner, verb, what string) []Claim {
	return []Claim{habit(o, verb+" "+what), habit(o, "of "+what)}
}

// habitOfIng is the habit verb of "learning"; "" if it is none.
func habitOfIng(w string) string {
	if verb := english.Infinitive(w); verb != "" {
		return verb
	}
	stem, ok := strings.CutSuffix(w, "ing")
	if ok && habitVerbs.Has(stem) {
		return stem
	}
	return ""
}

// insteadOf is where the thing after "instead of" begins; 0 if there is none.
func insteadOf(ws english.Words) int {
	for i := 1; i+2 < len(ws); i++ {
		if ws[i].Text == "instead" && ws[i+1].Text == "of" {
			return i + 2
		}
	}
	return 0
}

// infinitiveOfThird is the verb of "drinks"; "" if it is none of the habit verbs.
func infinitiveOfThird(w string) string {
	stem := strings.TrimSuffix(w, "s")
	for _, v := range []string{stem, strings.TrimSuffix(stem, "e"), strings.TrimSuffix(stem, "ie") + "y"} {
		if habitVerbs.Has(v) && english.ThirdPerson(v) == w {
			return v
		}
	}
	return ""
}

// dietOf reads "vegan" and "on a keto diet".
func dietOf(ws english.Words) string {
	// A degree such as "strict" leaves the diet as it is.
	for len(ws) > 1 && (inAny(ws[0].Text, frontAdverbs, dietDegrees, english.Articles) || ws[0].Text == "on") {
		ws = ws[1:]
	}
	if len(ws) > 0 && diets.Has(ws[0].Text) &&
		(len(ws) == 1 || ws[1].Text == "diet" || ws[1].Text == "here" || english.Prepositions.Has(ws[1].Text)) {
		return ws[0].Text
	}
	return ""
}

// doseOf reads "take 50 mg of sertraline": the dose of a medicine, in its unit.
func doseOf(verb string, ws english.Words) reading {
	if verb != "take" || len(ws) < 3 || !english.StartsWithDigit(ws[0].Text) || !doseUnits.Has(ws[1].Text) {
		return reading{}
	}
	rest := ws[2:]
	if rest[0].Text == "of" {
		rest = rest[1:]
	}
	if len(rest) == 0 || ws.Has("and") {
		return reading{}
	}
	return reading{rest[0].Text + " number " + ws[1].Text, ws[0].Text}
}

// frequency reads "go to the gym 3 times a week": how often the speaker does something.
//
// The period is a part of the attribute. "8 times a month" may be as often as "twice a week", so that neither takes the
// place of the other one.
func (c *claim) frequency(ws english.Words) []Claim {
	if out := neverAgain(ws); out != nil {
		return out
	}
	if ws.At(0) != "i" && ws.At(0) != "we" || ws.Any(uncertain) || ws.Any(negations) ||
		strings.Contains(c.text, ",") {
		return nil // "once a week, and twice with the club"
	}
	who, ws := ws[0].Text, withoutAdverbs(ws[1:])
	for i := 1; i+2 < min(len(ws), maxRoutine+3); i++ {
		n, often := onceOrTwice[ws[i].Text], i+1
		if isNumber(ws[i].Text) && (ws[i+1].Text == "times" || ws[i+1].Text == "time") {
			n, often = ws[i].Text, i+2
		}
		if n == "" || ws.At(often) != "a" && ws.At(often) != "per" && ws.At(often) != "each" || often+1 >= len(ws) {
			continue
		}
		// Words behind the period bound it: "twice a week in summer".
		period, rest := ws[often+1], ws[often+2:]
		if !english.Periods.Has(period.Text) || english.Past(ws[0].Text) || isBe(ws[0].Text) ||
			len(withoutChange(append(english.Words{{}}, rest...))) > 1 {
			return nil
		}
		return []Claim{{
			Attribute: strings.Join([]string{"times a", period.Text, who, ws[:i].String()}, " "),
			Value:     n, Several: true, Changed: c.changed,
		}}
	}
	return nil
}

// neverAgain reads "I no longer go to the gym": however often it was done.
func neverAgain(ws english.Words) (out []Claim) {
	if len(ws) > maxRoutine || !ws.Any(endWords) {
		return nil
	}
	ended, ok := endedStatement(ws)
	if !ok || len(ended) < 3 || ended[0].Text != "i" && ended[0].Text != "we" || ended[1].Text != "go" {
		return nil
	}
	// The period is a part of the attribute, so that the end is told for each.
	what := withoutAdverbs(ended[1:])
	for _, period := range [...]string{"day", "week", "month", "year"} {
		attribute := strings.Join([]string{"times a", period, ended[0].Text, what.String()}, " ")
		out = append(out, Claim{Attribute: attribute, Ended: true})
	}
	return out
}

// onceOrTwice are the numbers that are told in one word.
var onceOrTwice = map[string]string{"once": "1", "twice": "2"}
