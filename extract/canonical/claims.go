package canonical

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/memoryd/memoryd/extract/english"
)

// claimsOf reads what a fact says of attributes, and whether it makes several
// statements; see [Of].
func claimsOf(fact string) (claims []Claim, themes []theme, more bool) {
	if len(fact) > english.MaxSentenceBytes {
		return nil, nil, false
	}
	birth := bornNow(fact)
	claims, themes, more = claimsIn(fact)
	// The statement is the same without its remarks, so that themes of the whole stay.
	if bare := pared(fact); bare != fact {
		if again, told, parted := claimsIn(bare); firm(again) {
			if !firm(claims) {
				themes = told
			}
			claims, more = withPared(claims, again), more && parted
		}
	}
	if !more && !firm(claims) && !strings.Contains(fact, "?") {
		claims = append(claims, partly(fact)...)
	}
	claims = forPurposes(withApposed(claims, fact), fact)
	moved := slices.ContainsFunc(claims, func(c Claim) bool { return c.Attribute == "whereabouts" && c.Changed })
	for i := range claims {
		claims[i].event = moved && claims[i].Attribute == "home"
		claims[i].least = birth && strings.HasPrefix(claims[i].Attribute, "count ")
	}
	return claims, themes, more
}

// claimsIn are the claims of the words of a fact as they are.
func claimsIn(fact string) (claims []Claim, themes []theme, more bool) {
	fact = reworded(withoutReason(fact))
	claims, themes, more = wholeClaims(fact)
	claims, themes = withoutTails(fact, claims, themes)
	return claims, themes, more
}

// wholeClaims is claimsOf a fact with all its tails.
func wholeClaims(fact string) (claims []Claim, themes []theme, more bool) {
	text := norm.NFKC.String(strings.ToValidUTF8(fact, ""))
	text = inLaws.ReplaceAllString(text, "${1}inlaw") // one word, as other relations are
	if text = answer(text); text == "" {
		return nil, nil, false
	}
	said := resolved(folded(english.Lex(text).WithoutFillers().OfHousehold(0)))
	named, friend, kind := withoutAcquaintance(withNames(text, apposed(joinedChange(said))))
	all, begun := prepared(named)
	words := reduce(all)
	if len(words) < 2 || len(words) > english.MaxSentenceWords {
		return nil, nil, false
	}
	words = words[changeMarks.Match(words, 0):]
	if len(words) > 1 && isDate(words[0].Text) {
		words = words[1:] // "from today (2026-05-13)"
		if len(words) > 1 && words[0].Text == "on" {
			words = words[1:] // "from today (2026-05-13) on"
		}
	}
	list := withoutComments(statements(afterFrontTime(words)))
	from, paired := pairIn(all)
	apart := paired > 0 && !mayPair(all[from:paired-2])
	telling := 0
	for _, s := range list {
		c := &claim{text: text, friend: friend, words: s.words, changed: (begun || tellsChange(all)) && !besides(all)}
		found := c.read(all, s.several)
		if len(found) == 0 && s.core < len(s.words) { // "my address is 9 High Street, on the first floor"
			c.words = s.words[:s.core]
			found = c.read(all, true)
		}
		if apart {
			found = withoutCouple(found)
		}
		claims = append(claims, found...)
		if len(found) > 0 {
			telling++
		}
	}
	if r := (&claim{text: text}).afterDenial(words); r.ok() {
		claims, telling = append(claims, Claim{Attribute: r.attribute, Value: r.value}), 1
	}
	if name, side := mannerAllowed(words); telling == 0 && name != "" {
		claims, telling = append(claims, Claim{Attribute: name, Value: side}), 1
	}
	if telling == 0 && len(list) > 0 && !isConditional(words) { // "write long, detailed answers"
		rest, _ := withoutRequest(words)
		if r := answerLength(rest); r.ok() {
			claims, telling = append(claims, Claim{Attribute: r.attribute, Value: r.value}), 1
			list = list[:1]
		}
	}
	c := &claim{
		text: text, friend: friend, changed: (begun || tellsChange(all)) && !besides(all), begun: begun,
		reach: reachOf(said),
	}
	if strings.Contains(fact, "?") {
		return claims, nil, len(list) > 1
	}
	claims = withWork(wedded(claims, all), all)
	framed := withAlone(withSmoking(withDenied(c.framed(all)), all), all)
	claims = c.withInstead(withRank(withLastName(withFramed(claims, framed)), all), all)
	claims, themes = withValues(vetoed(claims, all)), c.themes(all)
	claims = c.reach.bound(bounded(sinceLately(claims, all), all))
	claims = c.withActivity(claims, themes, list, words, all)
	claims, themes = c.withOthers(claims, themes, all, kind)
	themes = append(themes, c.orders(all)...)
	for _, clause := range orderClauses(all) {
		if !all.Has("but") { // "I booked the flight, but they canceled it"
			claims = slices.Concat(claims, c.todo(clause), c.parted(clause), c.frequency(clause))
		}
	}
	return claims, themes, telling != 1 && several(list)
}

// withActivity adds the claims about an activity, and notes it in themes. Of several statements each may end one.
func (c *claim) withActivity(claims []Claim, themes []theme, list []statement, words, all english.Words) []Claim {
	if len(list) == 0 { // "I smoke while I wait"
		list = statements(cutAtDegree(afterFrontTime(words)))
	}
	if len(list) == 0 || c.reach.fleeting || takenUpAgain(all) {
		return claims
	}
	if len(list) > 1 { // "I quit smoking at Easter and gave the pipe away"
		for _, s := range list {
			ws := s.words
			told, _ := c.withActivities(nil, ws, wordsBetween(all, ws[0].Start, ws[len(ws)-1].End))
			claims = append(claims, slices.DeleteFunc(told, func(c Claim) bool { return !c.Ended })...)
		}
		return claims
	}
	ws := list[0].words
	claims, bounds := c.withActivities(claims, ws, wordsBetween(all, ws[0].Start, ws[len(ws)-1].End))
	for i := range themes {
		themes[i].acts = activityStem(claims)
		themes[i].loose = themes[i].loose || bounds > 0 && !(bounds == 1 && themes[i].hasBound())
	}
	return claims
}

// withOthers adds what is said under another name or in other words: of a relation by the name, and of "the club I
// support" by the verb. Kind is what the friend of c is.
func (c *claim) withOthers(claims []Claim, themes []theme, all english.Words, kind string) ([]Claim, []theme) {
	if o, name := c.namedRelation(all); name != "" {
		claims, themes = withName(claims, themes, o, name)
	}
	claims = append(claims, c.team(all)...)
	if c.friend != "" {
		tellWho(claims, themes, c.friend, kind)
	}
	own := ofRelative(c.text, all)
	if own == "" {
		own = c.newNamed(all)
	}
	if own != "" {
		again, _, _ := claimsOf(own)
		claims = withFramed(claims, again)
	}
	return claims, themes
}

// ofRelative is "I support Cork City" for "the club I support is Cork City", as people tell later what they support in
// that way; "" for any other fact. Of a verb such as "miss" the value says nothing that ends.
func ofRelative(text string, all english.Words) string {
	if first := all.At(0); first != "the" && first != "my" {
		return ""
	}
	for i := 2; i+3 < min(len(all), maxOpening); i++ {
		if all[i].Text != "i" {
			continue
		}
		at := i + 1
		if isBe(all[at].Text) {
			at++
		}
		base := all[at].Text
		if at > i+1 {
			base = habitOfIng(base)
		}
		value := all[min(at+2, len(all)):]
		for len(value) > 1 && (changeWords.Has(value[0].Text) || english.Articles.Has(value[0].Text)) {
			value = value[1:]
		}
		if !habitVerbs.Has(base) && !choiceVerbs.Has(base) || all.At(at+1) != "is" || len(value) == 0 ||
			!value[0].Upper || english.States.Has(value[0].Text) && len(value) == 1 && !languages.Has(value[0].Text) {
			return ""
		}
		return text[all[i].Start:all[at].End] + " " + text[all[at+2].Start:]
	}
	return ""
}

var inLaws = regexp.MustCompile(`(?i)\b(mother|father|sister|brother|son|daughter)[- ]in[- ]law\b`)

// tellWho notes who somebody with a name is: a friend or the like.
func tellWho(claims []Claim, themes []theme, name, kind string) {
	for i := range claims {
		if strings.HasPrefix(claims[i].Attribute, name+" ") {
			claims[i].who = kind
		}
	}
	for i := range themes {
		if string(themes[i].owner) == name {
			themes[i].who = kind
		}
	}
}

// apposed is ws with the words that tell who somebody is before the name: "my son Arlo is 11" of "Arlo, my son, is 11".
func apposed(ws english.Words) english.Words {
	if len(ws) < 5 || !ws[0].Upper || ws[0].Stop != ',' || ws[1].Text != "my" && ws[1].Text != "our" {
		return ws
	}
	_, n := relationAt(ws[1+1:])
	if n == 0 || 1+n >= len(ws)-1 || ws[1+n].Stop != ',' {
		return ws
	}
	out := append(slices.Clone(ws[1:2+n]), ws[0])
	out[n].Stop, out[n+1].Stop = 0, 0
	return append(out, ws[2+n:]...)
}

// withName adds what is said of a relation whose name is told under that name, by which later facts may speak of them.
func withName(claims []Claim, themes []theme, o owner, name string) ([]Claim, []theme) {
	for i, cl := range claims {
		if rest, ok := strings.CutPrefix(cl.Attribute, string(o)+" "); ok {
			claims[i].who = name
			cl.Attribute, cl.who = name+" "+rest, string(o)
			claims = append(claims, cl)
		}
	}
	for i, t := range themes {
		if t.owner == o {
			themes[i].who = name
			t.owner, t.who = owner(name), string(o)
			themes = append(themes, t)
		}
	}
	return claims, themes
}

// several reports whether a fact makes more than one statement. One that leans on another by a pronoun says nothing
// without it: "We have two cars, and both stand on the street".
func several(list []statement) bool {
	n := 0
	for i, s := range list {
		if i == 0 || !s.words[:min(len(s.words), maxLeaning)].Any(leaning) {
			n++
		}
	}
	return n > 1
}

// maxLeaning is how many words of a statement are looked at for a pronoun that leans.
const maxLeaning = 4

// read gives the claims of one statement. With several, a list follows it, so that
// it does not end with one of the things that people have or like.
func (c *claim) read(all english.Words, several bool) []Claim {
	if len(c.words) < 2 || len(c.words) > maxClaimWords {
		return nil
	}
	if out := c.withdrawnManner(); out != nil {
		return out
	}
	if name, side := mannerOfFact(c.words); name != "" {
		out := []Claim{{Attribute: name, Value: side}}
		if name == "emojis" || name == formatManner {
			out = append(out, c.instruction()...)
		}
		return out
	}
	if r := c.directive(); r.ok() {
		return []Claim{{Attribute: r.attribute, Value: r.value}}
	}
	if out := c.instruction(); out != nil {
		return out
	}
	if name, side := mannerOf(c.words, true); name == "emojis" || name == formatManner {
		// "Use emojis", if kept, is about all answers.
		return []Claim{{Attribute: name, Value: side, Several: true, Loose: true}}
	}
	c.words = withoutAny(withoutTimeWithin(withoutNow(reduceOnce(c.words))))
	if len(c.words) == 0 {
		return nil // "now now, full"
	}
	said := wordsBetween(all, c.words[0].Start, c.words[len(c.words)-1].End)
	found := append(c.endings(), c.taste(c.words)...)
	if len(found) == 0 && !c.doubts(said) {
		found = c.assertions(c.changed)
		for i := range found {
			found[i].Changed = found[i].Changed || c.changed && !found[i].Ended && !found[i].Several
		}
	}
	if o, predicate := c.subjectOf(c.words); len(predicate) > 0 {
		found = append(found, c.food(o, predicate)...)
	}
	found = append(found, c.usual(c.words)...)
	if several {
		found = slices.DeleteFunc(found, func(c Claim) bool { return !c.Ended && c.Listed() })
	}
	return found
}

// withoutAny leaves "no longer drink alcohol" of "no longer drink any alcohol".
func withoutAny(ws english.Words) english.Words {
	var out english.Words
	for i, w := range ws {
		if next := ws.At(i + 1); w.Text != "any" || next == "more" || next == "longer" || next == "" {
			out = append(out, w)
		}
	}
	return out
}

// doubts reports whether a word makes the clause uncertain or past. "Was" and
// "instead of" do not where they tell of a change.
func (c *claim) doubts(said english.Words) bool {
	change := becoming.Found(c.words) || newJobs.Found(c.words)
	for i, w := range said {
		switch {
		case !doubtful.Has(w.Text):
		case (w.Text == "was" || w.Text == "were") && change, w.Text == "instead" && said.At(i+1) == "of":
		default:
			return true
		}
	}
	return false
}

// wordsBetween are the words of the text from one byte up to another.
func wordsBetween(ws english.Words, from, to int) english.Words {
	i, _ := slices.BinarySearchFunc(ws, from, func(w english.Word, at int) int { return cmp.Compare(w.Start, at) })
	k, _ := slices.BinarySearchFunc(ws, to, func(w english.Word, at int) int { return cmp.Compare(w.Start, at) })
	return ws[min(i, k):k]
}

// assertions are the values that the fact gives to attributes.
func (c *claim) assertions(changed bool) (out []Claim) {
	whole := c.words
	defer func() { c.words = whole }()
	o, predicate := c.subjectOf(whole)
	for _, v := range withoutModifiers(whole, tellsEvent(predicate)) {
		c.words = v.words
		r := c.favoriteAtEnd()
		if !r.ok() {
			r = c.statement()
		}
		if !r.ok() {
			r = c.newJob()
		}
		if r.ok() {
			turned := predicate.At(0) == "turned" // an age that is told as an event is the latest one
			felt := homeFor(c.words) && !c.changed
			told := Claim{Attribute: r.attribute, Value: r.value, Changed: turned, Several: felt}
			out = append(out, v.dates([]Claim{told})...)
			if kind, ok := strings.CutSuffix(r.attribute, " name"); ok && pets.Has(kind) {
				out = append(out, Claim{Attribute: beingAttribute + r.value, Value: held})
			}
			break
		}
	}
	c.words = whole
	if len(predicate) > 0 {
		habits := c.habits(o, predicate)
		out = append(append(out, habits...), ofKinds(habits)...)
		out = append(out, c.having(o, predicate, changed)...)
		out = append(out, c.rate(o, predicate)...)
		out = append(out, c.citizenship(o, predicate)...)
		out = append(out, c.trade(o, predicate, changed)...)
		out = append(out, c.preference(o, predicate)...)
		out = append(out, c.personOf(o, predicate)...)
	}
	out = append(out, c.partner()...)
	out = append(out, c.favoriteThing()...)
	out = append(out, c.ages(o, predicate)...)
	if ws, ok := c.announced(); ok {
		if r := c.possession(ws); r.ok() {
			return append(out, Claim{Attribute: r.attribute, Value: r.value})
		}
		return append(out, c.thingIs(ws[:len(ws)-1], ws[len(ws)-1:], true)...)
	}
	if len(out) == 0 {
		out = append(out, c.thing(changed)...)
	}
	return append(out, c.newThing()...)
}

// endings are the attributes that the fact ends.
func (c *claim) endings() []Claim {
	_, predicate := c.subjectOf(c.words)
	for _, v := range withoutModifiers(c.words, tellsEvent(predicate)) {
		o, predicate := c.subjectOf(v.words)
		out := c.lost(v.words)
		if out == nil {
			out = c.leftBy(v.words)
		}
		if len(predicate) > 0 && out == nil {
			out = c.denied(v.words, predicate)
		}
		if len(predicate) > 0 && out == nil {
			out = c.leaving(o, withoutAdverbs(predicate))
		}
		if out != nil {
			return v.dates(out)
		}
	}
	return nil
}

// usedTo reads "used to live in Rome": what held before, as ended.
func (c *claim) usedTo(ws, predicate english.Words) []Claim {
	if !predicate.StartWith("used", "to") || len(predicate) < 4 {
		return nil
	}
	before := slices.Concat(ws[:len(ws)-len(predicate)], predicate[2:])
	return c.claimsBefore(before)
}

// claimsBefore are the claims of a statement that no longer holds, as ended.
func (c *claim) claimsBefore(ws english.Words) (out []Claim) {
	before := &claim{text: c.text, friend: c.friend, words: ws}
	if r := before.statement(); r.ok() {
		out = append(out, Claim{Attribute: r.attribute, Value: r.value})
	}
	if o, p := before.subjectOf(ws); len(p) > 0 {
		out = append(out, before.habits(o, p)...)
		out = append(out, before.having(o, p, false)...)
		out = append(out, before.formerTrade(o, p)...)
	}
	out = append(out, before.taste(ws)...)
	return asEnded(slices.DeleteFunc(out, func(c Claim) bool { return c.Ended }))
}

// denied reads "no longer work at Acme", "do not drink coffee anymore" and
// "stopped smoking": the claims of the statement that ended, as ended.
func (c *claim) denied(ws, predicate english.Words) []Claim {
	if out := c.usedTo(ws, predicate); out != nil {
		return out
	}
	ended, ok := endedStatement(ws)
	if !ok {
		return nil
	}
	return c.claimsBefore(ended)
}

// asEnded are claims as ended.
func asEnded(claims []Claim) []Claim {
	for i := range claims {
		claims[i].Ended, claims[i].Changed = true, false
	}
	return claims
}

// namedRelation reads "my daughter Freya", who may be called by her name later.
func (c *claim) namedRelation(all english.Words) (o owner, name string) {
	for i := 0; i+2 < len(all); i++ {
		if w := all[i].Text; w != "my" && w != "our" {
			continue
		}
		if o, n := relationAt(all[i+1:]); o != "" && i+1+n < len(all) {
			if next := all[i+1+n]; next.Upper && all[i+n].Stop == 0 && !english.StopWords.Has(next.Text) {
				return o, next.Text
			}
			lead := i > 0 && english.SkipLeads(all[:i]) == i // "Actually, my horse is…"
			if i > 0 && all[i-1].Upper && all[i-1].Stop == ',' && !lead && !english.Adverbs.Has(all[i-1].Text) {
				return o, all[i-1].Text
			}
		}
	}
	return "", ""
}
