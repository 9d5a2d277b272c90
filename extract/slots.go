package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Slot reads a fact that gives a value to an attribute that has one value at a
// time: "I live in Porto" is ("home", "porto"). Two facts of one author with
// one slot and different values contradict each other, and the later holds.
// Values are equal if the texts are; that they differ in spelling only (case,
// plurals, "now") is folded, that one is a part of the other is not known.
//
// It promises to refuse what it does not read whole: a fact that says anything
// beside the value ("I live in Porto with Ann", "in summer") would be lost with
// it. Questions, wishes, plans, the past, negations, lists, temporary states
// and what may have several values are refused too.
//
// The slot begins with its owner where that is not the speaker: "sister home".
// "We" is the speaker's own for the home and for being married, and refused
// elsewhere. Countries have a slot of their own ("home country"), since one
// lives in Porto and in Portugal at once; regions and continents have none.
// A first name is all that a name counts by, "Ann" and "Ann Lee" being one.
func Slot(fact string) (slot, value string, ok bool) {
	if strings.Contains(fact, "?") || len(fact) > maxSentenceBytes {
		return "", "", false
	}
	text := norm.NFKC.String(strings.ToValidUTF8(fact, ""))
	ws := lex(text)
	c := claim{text: text, words: thin(ws)}
	if len(c.words) < 2 || len(c.words) > 20 {
		return "", "", false
	}
	slot, value = c.manner()
	for _, w := range ws {
		if doubtful[w.text] && slot == "" {
			return "", "", false
		}
	}
	if slot == "" || value == "" {
		slot, value = c.favored()
	}
	if slot == "" || value == "" {
		slot, value = c.said()
	}
	if slot != "" && value != "" {
		return slot, value, true
	}
	return "", "", false
}

// claim is a fact under reading, as its text and its words, thinned.
type claim struct {
	text  string
	words []word
}

// said reads "I …", "My sister …" and "My sister's favorite color …".
func (c *claim) said() (string, string) {
	ws := c.words
	if k := frontTime(ws); k > 0 {
		ws = ws[k:]
	}
	switch textAt(ws, 0) {
	case "i":
		return c.predicate("", ws[1:])
	case "we":
		if slot, value := c.predicate("", ws[1:]); slot == "home" || slot == "home country" || slot == "marital status" {
			return slot, value
		}
		return "", ""
	case "my", "our":
	default:
		return "", ""
	}
	ws = ws[1:]
	age := ""
	if len(ws) > 2 && elder[ws[0].text] {
		age, ws = ws[0].text+" ", ws[1:]
	}
	if len(ws) < 3 {
		return "", ""
	}
	if of, ok := strings.CutSuffix(ws[0].text, "'s"); ok && age == "" {
		if rel := relation(of); rel != "" {
			return c.attribute(rel+" ", ws[1:])
		}
		return "", ""
	}
	rel := relation(ws[0].text)
	if rel == "" {
		if age != "" {
			return "", ""
		}
		return c.attribute("", ws)
	}
	if ws[1].text == "is" {
		rest := ws[2:]
		if rest[0].text == "called" || rest[0].text == "named" {
			rest = rest[1:]
		} else if !persons[rel] || age != "" {
			return c.predicate(age+rel+" ", ws[1:])
		}
		if name := c.name(rest); name != "" {
			return age + rel + " name", name
		}
	}
	return c.predicate(age+rel+" ", ws[1:])
}

// relation is the one word for a relation; "" if w is none that is known.
func relation(w string) string {
	if r := relationNames[w]; r != "" {
		return r
	}
	if persons[w] || kin[w] {
		return w
	}
	return ""
}

// predicate reads what follows "I" or "my sister"; owner is "" or ends in a
// blank.
func (c *claim) predicate(owner string, ws []word) (string, string) {
	speaker := owner == ""
	ws, been := withoutPerfect(ws)
	if len(ws) < 2 {
		return "", ""
	}
	switch v := ws[0].text; {
	case been && v != "living" && v != "lived" && v != "working" && v != "worked", !been && (v == "lived" || v == "worked"):
		return "", "" // the past
	case v == "live" || v == "lives" || v == "living" || v == "lived" || v == "reside" || v == "resides":
		since, open := untilNow(ws)
		if textAt(ws, 1) == "in" && (open || !been) {
			return c.home(owner, since[min(2, len(since)):], c.words[0].text == "we") // "We live in Interesting Times"
		}
	case v == "moved" || v == "relocated":
		return c.moved(owner, cutRecent(ws))
	case v == "work" || v == "works" || v == "working" || v == "worked":
		since, open := untilNow(ws)
		if !open && been {
			return "", ""
		}
		return c.work(owner, since[1:])
	case v == "started" && (textAt(ws, 1) == "working" || textAt(ws, 1) == "work"):
		return c.work(owner, cutRecent(ws)[min(2, len(cutRecent(ws))):])
	case v == "joined":
		if ws = cutRecent(ws); asTrade(ws) > 0 {
			return c.work(owner, append([]word{{text: "at"}}, ws[1:]...))
		}
	case v == "turned" && len(cutRecent(ws)) == 2 && (speaker || persons[strings.TrimSpace(owner)]):
		return c.age(owner, cutRecent(ws)[1:])
	case v == "got" && unions[textAt(cutRecent(ws), 1)]:
		return c.union(owner, cutRecent(ws)[1:])
	case v == "weigh" || v == "weighs":
		return c.measure(owner+"weight ", ws[1:])
	case v == "am" || v == "are" || v == "is":
		return c.state(owner, ws[1:])
	case v == "prefer" || v == "use":
		if speaker {
			return units(ws[1:])
		}
	}
	return "", ""
}

// withoutPerfect leaves "lived" or "living" of "have lived", "am living" and
// "have been living", and reports the perfect.
func withoutPerfect(ws []word) ([]word, bool) {
	switch v := textAt(ws, 0); {
	case (v == "have" || v == "has") && textAt(ws, 1) == "been":
		return ws[2:], true
	case v == "have" || v == "has":
		return ws[1:], true
	case (v == "am" || v == "are" || v == "is") && (textAt(ws, 1) == "living" || textAt(ws, 1) == "working"):
		return ws[1:], false
	}
	return ws, false
}

// untilNow cuts a span that reaches the present: "since 2019", "for 5 years".
// It reports whether there was one.
func untilNow(ws []word) ([]word, bool) {
	for i := 1; i < len(ws); i++ {
		rest := ws[i+1:]
		if ws[i].text == "since" && len(rest) > 0 && len(rest) < 7 && sinceTime.MatchString(joined(rest)) {
			return ws[:i], true
		}
		if ws[i].text == "for" && span.MatchString(joined(rest)) {
			return ws[:i], true
		}
	}
	return ws, false
}

var (
	sinceTime    = regexp.MustCompile(`^(?:early |late |mid |last )?(?:\d{4}|january|february|march|april|may|june|july|august|september|october|november|december|year|month|week|summer|winter|spring|autumn|fall|birth|childhood)(?: (?:\d{4}|week of|\d{4}-\d\d(?:-\d\d)?))*$`)
	pronounForms = regexp.MustCompile(`^(?:he|him|his|she|her|hers|they|them|theirs|ze|zir|xe|xem|[ /])+$`)
	span         = regexp.MustCompile(`^(?:about |around |almost |over |nearly )?(?:\d+|a|many|a few|several|ages) ?(?:years?|months?|weeks?)?$`)
	recently     = regexp.MustCompile(`^(?:yesterday|today|recently|last night|(?:a|one|\d|few|a few|couple of|a couple of) (?:days?|weeks?|months?) ago|the other day|` +
		`(?:last|this|over the|on|last) (?:week|weekend|month|morning|monday|tuesday|wednesday|thursday|friday|saturday|sunday))(?: (?:around )?(?:week of )?\d{4}-\d\d(?:-\d\d)?)?$`)
)

// cutRecent is ws without a time of the last weeks at its end. Longer ago,
// what happened may have been undone since.
func cutRecent(ws []word) []word {
	for i := max(1, len(ws)-8); i < len(ws); i++ {
		if recentStart[ws[i].text] && recently.MatchString(joined(ws[i:])) {
			return ws[:i]
		}
	}
	return ws
}

// frontTime is how many words of a recent time ws begins with.
func frontTime(ws []word) int {
	for k := 1; k < min(len(ws), 8); k++ {
		if w := ws[k].text; w == "i" || w == "we" || w == "my" {
			if recently.MatchString(joined(ws[:k])) {
				return k
			}
			return 0
		}
	}
	return 0
}

// moved reads "moved to Lisbon". People move to other things than towns, so
// the town must be one that is known.
func (c *claim) moved(owner string, ws []word) (string, string) {
	i := 1
	if textAt(ws, i) == "back" {
		i++
	}
	if textAt(ws, i) == "from" {
		for i++; i < len(ws) && ws[i].text != "to"; i++ {
			if !c.capital(ws[i]) || i > 5 {
				return "", ""
			}
		}
	}
	if textAt(ws, i) != "to" {
		return "", ""
	}
	return c.home(owner, ws[i+1:], true)
}

// home reads the name of a town or country; known asks that it be in the table.
func (c *claim) home(owner string, ws []word, known bool) (string, string) {
	if len(ws) == 0 || len(ws) > 7 {
		return "", ""
	}
	article := ws[0].text == "the"
	if article {
		ws = ws[1:]
	} else {
		before := strings.TrimRight(c.text[:ws[0].start], " ")
		article = strings.HasSuffix(strings.ToLower(before), " the")
	}
	town := ws
	for i := range ws {
		if ws[i].stop != 0 && i+1 < len(ws) {
			if ws[i].stop != ',' || i+4 < len(ws) {
				return "", ""
			}
			town = ws[:i+1]
			for _, w := range ws[i+1:] { // "Porto, Portugal"
				if !c.capital(w) {
					return "", ""
				}
			}
			break
		}
	}
	if n := len(town) - 1; n > 0 && (regions[town[n].text] || countries[town[n].text]) && !longCountries[joined(town)] && !halves[town[0].text] {
		town = town[:n] // "Portland Maine"
	}
	place := joined(town)
	if short := placeNames[place]; short != "" {
		place = short
	}
	switch {
	case (countries[place] || longCountries[place]) && len(town) == len(ws):
		return owner + "home country", place
	case article, regions[place]:
		return "", ""
	case cities[place], longCities.at(town, 0) == len(town):
		return owner + "home", place
	case known || len(town) > 4 || halves[town[0].text] || programs[town[0].text]:
		return "", ""
	}
	for i, w := range town {
		if !c.capital(w) && (i == 0 || !placeParts[w.text]) || taskWords[w.text] || dayNames[w.text] || digit(w.text, false) {
			return "", ""
		}
	}
	if placeSuffix[town[len(town)-1].text] {
		return "", ""
	}
	return owner + "home", place
}

// work reads "at Acme" or "as a nurse".
func (c *claim) work(owner string, ws []word) (string, string) {
	switch textAt(ws, 0) {
	case "as":
		if rest := withoutArticle(ws[1:]); len(rest) > 0 && len(rest) < 4 {
			return owner + "occupation", trades[rest[len(rest)-1].text]
		}
		return "", ""
	case "at", "for":
	default:
		return "", ""
	}
	ws = ws[1:]
	if k := asTrade(ws); k > 0 {
		ws = ws[:k]
	}
	return owner + "employer", c.firm(ws)
}

// asTrade is where ws ends in "as a nurse"; 0 if it does not.
func asTrade(ws []word) int {
	for i := max(1, len(ws)-5); i+1 < len(ws); i++ {
		if ws[i].text == "as" && trades[ws[len(ws)-1].text] != "" {
			return i
		}
	}
	return 0
}

// firm is the name of a company: capitals throughout.
func (c *claim) firm(ws []word) string {
	if len(ws) > 1 && firmForms[ws[len(ws)-1].text] {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 || len(ws) > 4 || dayNames[ws[0].text] || todayNames[ws[0].text] || noFirms[ws[0].text] || relation(ws[0].text) != "" || countries[ws[0].text] || cities[joined(ws)] {
		return ""
	}
	for i, w := range ws {
		if !c.capital(w) && !(i > 0 && w.text == "of") || w.stop != 0 && i+1 < len(ws) || strings.HasSuffix(w.text, "'s") && i+1 < len(ws) {
			return ""
		}
	}
	return joined(ws)
}

// state reads what follows "am": an age, a marital status, a trade, a height.
func (c *claim) state(owner string, ws []word) (string, string) {
	for len(ws) > 1 && (ws[0].text == "happily" || ws[0].text == "newly" || ws[0].text == "officially" || ws[0].text == "now") {
		ws = ws[1:]
	}
	if len(ws) == 0 {
		return "", ""
	}
	switch n := len(ws); {
	case unions[ws[0].text]:
		return c.union(owner, ws)
	case n > 2 && ws[n-2].text == "by" && (ws[n-1].text == "profession" || ws[n-1].text == "trade"):
		return c.work(owner, append([]word{{text: "as"}}, ws[:n-2]...))
	case n > 2 && ws[n-1].text == "tall":
		return c.measure(owner+"height ", ws[:n-1])
	case owner == "" || persons[strings.TrimSpace(owner)]:
		return c.age(owner, ws)
	}
	return "", ""
}

// age reads "34", "34 years old".
func (c *claim) age(owner string, ws []word) (string, string) {
	n := ws[0].text
	years := len(ws) == 1 || ageTails[joined(ws[1:])]
	if !years || n != "100" && !isAge(n) || strings.Contains(c.text, "'"+n) || digit(n, false) && n[0] == '0' || len(n) == 1 && len(ws) == 1 {
		return "", ""
	}
	return owner + "age", n
}

// union reads "married", "married to Tom".
func (c *claim) union(owner string, ws []word) (string, string) {
	if len(ws) > 1 && (textAt(ws, 1) != "to" && textAt(ws, 1) != "from" || c.name(ws[2:]) == "") {
		return "", ""
	}
	return owner + "marital status", ws[0].text
}

// measure reads "180 cm": the unit is part of the slot.
func (c *claim) measure(slot string, ws []word) (string, string) {
	text := strings.Fields(joined(ws))
	if len(text) == 1 {
		i := strings.IndexFunc(text[0], unicode.IsLetter)
		if i <= 0 {
			return "", ""
		}
		text = []string{text[0][:i], text[0][i:]}
	}
	if unit := ""; len(text) == 2 && digit(text[0], false) && digit(text[0], true) {
		if unit = measures[text[1]]; unit != "" {
			return slot + unit, text[0]
		}
	}
	return "", ""
}

// attribute reads "name is Ann", "favorite color is green", after "my" or "my
// sister's".
func (c *claim) attribute(owner string, ws []word) (string, string) {
	k := 1
	for k < len(ws) && k < 6 && ws[k].text != "is" && ws[k].text != "are" {
		if ws[k-1].stop != 0 && ws[k-1].stop != '\'' {
			return "", ""
		}
		k++
	}
	if k+1 >= len(ws) || ws[k].text != "is" && ws[k].text != "are" {
		return "", ""
	}
	noun, rest, plural := joined(ws[:k]), ws[k+1:], ws[k].text == "are"
	switch own := owner == "" || persons[strings.TrimSpace(owner)]; {
	case plural:
		if noun == "pronouns" && pronounForms.MatchString(joined(rest)) {
			return owner + noun, joined(rest)
		}
	case ws[0].text == "favorite" || ws[0].text == "least" && textAt(ws, 1) == "favorite":
		return c.favorite(owner, noun, rest)
	case noun == "name" && (own || pets[strings.TrimSpace(owner)]):
		return owner + "name", c.name(rest)
	case nameKinds[noun] && own && len(rest) < 5:
		return owner + noun, c.properName(rest)
	case noun == "birthday" || noun == "birthdate" || noun == "date of birth" || noun == "birth date":
		return owner + "birthday", monthAndDay(rest)
	case (noun == "anniversary" || noun == "wedding anniversary") && own:
		return owner + "anniversary", monthAndDay(rest)
	case own && (numbered[noun] != "" || mailed[noun] != ""):
		return c.contact(owner, noun, rest)
	case own && (noun == "height" || noun == "weight"):
		return c.measure(owner+noun+" ", rest)
	case own && (noun == "employer" || noun == "employer's name"):
		return owner + "employer", c.firm(rest)
	case own && (noun == "job" || noun == "profession" || noun == "occupation"):
		if rest[0].text == "being" {
			rest = rest[1:]
		}
		return c.work(owner, append([]word{{text: "as"}}, rest...))
	case own && singleNouns[noun] != "" && (!capitalNouns[noun] || c.capital(rest[0])) && !strings.HasSuffix(rest[0].text, "ing"):
		return owner + singleNouns[noun], c.plainValue(rest, 4)
	case own && noun == "hometown":
		return owner + noun, c.town(rest)
	}
	return "", ""
}

// town is the name of a town that ws is.
func (c *claim) town(ws []word) string {
	if slot, value := c.home("", ws, false); slot == "home" {
		return value
	}
	return ""
}

// favorite reads the value of "favorite color", and of those nouns only whose
// values can be told from a remark ("My favorite show is back").
func (c *claim) favorite(owner, noun string, ws []word) (string, string) {
	head := noun[strings.LastIndexByte(noun, ' ')+1:]
	of := strings.Fields(noun)
	for _, w := range of[:len(of)-1] {
		if w != "favorite" && (ranks[w] || deictic[w] && w != "least" || prepositions[w]) {
			return "", ""
		}
	}
	value := c.plainValue(ws, 5)
	switch last := ws[len(ws)-1]; {
	case value == "" || len(of) < 2:
		return "", ""
	case head == "color":
		if !colors[last.text] {
			return "", ""
		}
	case namedTastes[head]:
		if !c.capital(ws[0]) && !digit(ws[0].text, false) && ws[0].text != "the" {
			return "", ""
		}
		if len(ws) == 1 && states[ws[0].text] {
			return "", ""
		}
	case !commonTastes[head], strings.HasSuffix(last.text, "ing") && head != "sport" && len(ws) == 1:
		return "", ""
	}
	return owner + noun, value
}

// favored reads "Green is my favorite color".
func (c *claim) favored() (string, string) {
	ws := c.words
	for i := 1; i+3 < len(ws) && i < 6; i++ {
		if ws[i].text == "is" && (ws[i+1].text == "my") && ws[i+2].text == "favorite" {
			if deictic[ws[0].text] || articles[ws[0].text] || possessives[ws[0].text] || len(ws)-i > 6 {
				return "", ""
			}
			return c.favorite("", joined(ws[i+2:]), ws[:i])
		}
	}
	return "", ""
}

// plainValue is a value of at most n words that is a noun's name and no remark;
// "" if it may be anything else.
func (c *claim) plainValue(ws []word, n int) string {
	if len(ws) == 0 || len(ws) > n {
		return ""
	}
	first := ws[0].text
	if len(ws) > 1 && articles[first] {
		first = ws[1].text
	}
	if remarks[first] || moods[first] || evaluative[first] && len(ws) < 3 || prepositions[first] || deictic[first] || auxiliaries[first] || c.gerund(ws) || pastVerb(first) && len(ws) == 1 || participles[first] {
		return ""
	}
	var out []string
	for i, w := range ws {
		switch {
		case remarks[w.text] && !c.capital(w), bounding[w.text] && w.text != "there" && !c.capital(w), negations[w.text], possessives[w.text], deictic[w.text] && !c.capital(w), w.stop != 0 && i+1 < len(ws) && w.stop != '\'' && w.stop != '"' && w.stop != ':':
			return ""
		case prepositions[w.text] && w.text != "of" && !c.capital(ws[i-1]):
			return ""
		case i == 0 && articles[w.text] && len(ws) > 1 && wordRune(rune(ws[1].text[0])):
			continue
		}
		out = append(out, singular(w.text))
	}
	return strings.Join(out, " ")
}

// gerund reports whether ws begins with a participle that goes on: "coming to
// town", but not "running".
func (c *claim) gerund(ws []word) bool {
	return strings.HasSuffix(ws[0].text, "ing") && len(ws) > 1 && !c.capital(ws[0]) && prepositions[ws[1].text]
}

// singular folds plurals of values, where to take two for one costs little.
func singular(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") {
		return w[:len(w)-1]
	}
	return w
}

// name is the first name in ws, if ws is a person's or a pet's name.
func (c *claim) name(ws []word) string {
	full := c.properName(ws)
	first, rest, more := strings.Cut(full, " ")
	if more && titles[first] {
		return first + " " + rest
	}
	return first
}

// properName is a name in full: capitals, and no people, role or day.
func (c *claim) properName(ws []word) string {
	if len(ws) == 0 || len(ws) > 4 {
		return ""
	}
	for i, w := range ws {
		switch {
		case w.stop != 0 && i+1 < len(ws) && w.stop != '.', strings.HasSuffix(w.text, "'s"), states[w.text] || peoples[w.text] || dayNames[w.text] && len(ws) == 1 && !nameDays[w.text], auxiliaries[w.text] && w.text != "will":
			return ""
		case !c.capital(w) && !placeParts[w.text] || !w.upper && len(w.text) > 2 && c.capital(w) && !mixed(c.text[w.start:w.end]):
			return ""
		case placeParts[w.text] && (i == 0 || i+1 == len(ws)), digit(w.text, false), roles[w.text]:
			return ""
		}
	}
	return joined(ws)
}

// mixed reports whether s has small letters.
func mixed(s string) bool { return strings.IndexFunc(s, unicode.IsLower) >= 0 }

// capital reports whether w is written with a capital.
func (c *claim) capital(w word) bool {
	r, _ := utf8.DecodeRuneInString(c.text[w.start:w.end])
	return unicode.IsUpper(r)
}

// contact reads addresses: digits of a telephone, an e-mail address, a place
// with a house number.
func (c *claim) contact(owner, noun string, ws []word) (string, string) {
	text := strings.TrimRight(c.text[ws[0].start:], " .!")
	if kind := mailed[noun]; kind != "" {
		if len(ws) == 1 && strings.Count(text, "@") == 1 {
			return owner + kind, strings.ToLower(text)
		}
		return "", ""
	}
	if numbered[noun] == "address" {
		if !strings.ContainsAny(text, "0123456789") || len(ws) < 2 || len(ws) > 10 || c.plainValue(ws[:1], 1) == "" {
			return "", ""
		}
		for i := range ws { // the town may be said or not
			if ws[i].stop == ',' {
				ws = ws[:i+1]
				break
			}
		}
		return owner + "address", joined(ws)
	}
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
	if len(digits) < 5 || strings.Trim(text, "0123456789+-–/(). ") != "" {
		return "", ""
	}
	return owner + numbered[noun], digits
}

// monthAndDay reads "3 May", "May 3rd, 1990", "on the 3rd of May".
func monthAndDay(ws []word) string {
	month, day := "", ""
	for _, w := range ws {
		n := strings.TrimRight(w.text, "stndrh")
		switch {
		case w.text == "on" || w.text == "the" || w.text == "of":
		case monthNumbers[w.text] != "" && month == "":
			month = monthNumbers[w.text]
		case digit(n, false) && len(n) < 3 && digit(n, true) && day == "":
			day = strings.TrimPrefix(n, "0")
		case len(w.text) == 4 && digit(w.text, false) && digit(w.text, true):
		default:
			return ""
		}
	}
	if month == "" || day == "" {
		return ""
	}
	return month + " " + day
}

// withoutArticle is ws without an article at its front.
func withoutArticle(ws []word) []word {
	if len(ws) > 0 && (ws[0].text == "a" || ws[0].text == "an" || ws[0].text == "the") {
		return ws[1:]
	}
	return ws
}

// manner reads what the agent is told for all its answers: how to address the
// speaker, in which language to answer, in which units.
func (c *claim) manner() (string, string) {
	ws, standing := c.words, false
	for {
		n := lasting.at(ws, 0)
		if n == 0 {
			if n = polite.at(ws, 0); n == 0 && textAt(ws, 0) == "always" {
				n = 1
			}
			standing = standing || textAt(ws, 0) == "always" || n > 0 && ws[0].text == "please"
		} else {
			standing = true
		}
		if n == 0 || n >= len(ws) {
			break
		}
		ws = ws[n:]
	}
	for i := 1; i < len(ws); i++ {
		if n := lasting.at(ws, i); n > 0 && i+n == len(ws) {
			ws, standing = ws[:i], true
		}
	}
	n := 0
	switch {
	case hasPhrase(ws, []string{"call", "me"}):
		n = 2
	case hasPhrase(ws, []string{"address", "me", "as"}):
		n = 3
	case hasPhrase(ws, []string{"refer", "to", "me", "as"}):
		n = 4
	case textAt(ws, 0) == "use":
		return units(ws[1:])
	default:
		return answerLanguage(ws, standing)
	}
	if rest := ws[n:]; len(rest) > 0 && len(rest) < 4 && !notNames[rest[0].text] {
		if name := c.properName(rest); name != "" {
			return "form of address", name
		}
		if w := rest[0].text; standing && len(rest) == 1 && !evaluative[w] && !moods[w] && !empty[w] && !dayNames[w] && !remarks[w] && !strings.Contains(w, "-") {
			return "form of address", w
		}
	}
	return "", ""
}

// answerLanguage reads "answer me in French".
func answerLanguage(ws []word, standing bool) (string, string) {
	switch textAt(ws, 0) {
	case "answer", "reply", "respond", "speak", "talk":
	case "write":
		if !standing {
			return "", ""
		}
	default:
		return "", ""
	}
	i := 1
	for ; i < len(ws) && ws[i].text != "in"; i++ {
		if w := ws[i].text; w != "to" && w != "me" && w != "us" && w != "only" && w != "always" {
			return "", ""
		}
	}
	ws = ws[min(i+1, len(ws)):]
	if n := len(ws); n > 0 && (ws[n-1].text == "only" || ws[n-1].text == "always") {
		ws = ws[:n-1]
	}
	if n := len(ws); n == 1 && languages[ws[0].text] || n == 2 && variants[ws[0].text] && languages[ws[1].text] {
		return "language of answers", ws[n-1].text
	}
	return "", ""
}

// units reads "metric units", "the metric system", "Celsius".
func units(ws []word) (string, string) {
	ws = withoutArticle(ws)
	system := textAt(ws, 0)
	switch {
	case (system == "metric" || system == "imperial") && (len(ws) == 1 || len(ws) == 2 && unitNouns[ws[1].text]):
		return "units", system
	case (system == "celsius" || system == "fahrenheit") && len(ws) == 1:
		return "temperature unit", system
	}
	return "", ""
}

var (
	// doubtful words anywhere make a claim less than sure, or one of several.
	doubtful = words(`not never no if wish maybe perhaps probably might would could should want wants hope hopes plan plans think guess used almost nearly also too another other second both either
		temporarily sometimes usually often mostly mainly partly part-time soon going until till except instead formerly previously once was were pretend imagine suppose supposed assume half
		or but because although though unless whether than lol joking kidding`)
	recentStart = words("yesterday today recently last a one 2 3 4 5 6 7 8 9 few couple the this over on")

	// relationNames are the other words for one relation.
	relationNames = map[string]string{"mother": "mom", "mommy": "mom", "mama": "mom", "father": "dad", "daddy": "dad", "papa": "dad", "bf": "boyfriend", "gf": "girlfriend",
		"fiancé": "fiance", "fiancée": "fiance", "fiancee": "fiance"}
	// persons are those one has one of; kin those that may be several, of whom
	// "my sister" still means one.
	persons = words("wife husband spouse partner fiance boyfriend girlfriend mom dad boss manager supervisor doctor gp dentist therapist landlord landlady")
	kin     = words("sister brother son daughter twin grandma grandmother grandpa grandfather dog cat puppy kitten parrot rabbit hamster horse tortoise")
	pets    = words("dog cat puppy kitten parrot rabbit hamster horse tortoise")
	elder   = words("older elder younger big little twin eldest oldest youngest")
	unions  = words("married single divorced engaged widowed separated")

	nameKinds = set{"first name": true, "full name": true, "last name": true, "surname": true, "middle name": true, "maiden name": true}
	numbered  = map[string]string{"phone": "phone", "phone number": "phone", "telephone number": "phone", "mobile": "mobile", "mobile number": "mobile", "cell": "mobile", "cell number": "mobile",
		"cell phone number": "mobile", "work number": "work phone", "work phone": "work phone", "address": "address", "home address": "address"}
	mailed = map[string]string{"email": "email", "e mail": "email", "email address": "email", "e mail address": "email", "work email": "work email", "work email address": "work email",
		"personal email": "personal email", "private email": "personal email"}
	singleNouns = map[string]string{"timezone": "timezone", "time zone": "timezone", "birthplace": "birthplace", "place of birth": "birthplace", "native language": "native language",
		"mother tongue": "native language", "shoe size": "shoe size", "ring size": "ring size", "star sign": "star sign", "zodiac sign": "star sign",
		"eye color": "eye color", "hair color": "hair color", "religion": "religion", "zip code": "zip code", "postcode": "zip code", "postal code": "zip code"}
	capitalNouns = set{"timezone": true, "time zone": true, "birthplace": true, "place of birth": true, "native language": true, "mother tongue": true,
		"star sign": true, "zodiac sign": true}
	measures = map[string]string{"cm": "cm", "centimeters": "cm", "m": "m", "meters": "m", "feet": "ft", "ft": "ft", "kg": "kg", "kilos": "kg", "kilograms": "kg", "lb": "lb", "lbs": "lb", "pounds": "lb"}
	ageTails = set{"years old": true, "year old": true, "years": true, "yo": true, "years of age": true}

	// trades are occupations that one has one of, by kind: an engineer who says
	// "developer" has not changed.
	trades = map[string]string{"nurse": "nurse", "teacher": "teacher", "doctor": "doctor", "physician": "doctor", "surgeon": "doctor", "lawyer": "lawyer", "attorney": "lawyer", "solicitor": "lawyer",
		"plumber": "plumber", "electrician": "electrician", "carpenter": "carpenter", "joiner": "carpenter", "chef": "cook", "cook": "cook", "baker": "baker", "barista": "barista", "waiter": "waiter",
		"waitress": "waiter", "accountant": "accountant", "bookkeeper": "accountant", "engineer": "engineer", "developer": "engineer", "programmer": "engineer", "dentist": "dentist", "pharmacist": "pharmacist",
		"veterinarian": "vet", "vet": "vet", "pilot": "pilot", "firefighter": "firefighter", "librarian": "librarian", "journalist": "journalist", "reporter": "journalist", "architect": "architect",
		"mechanic": "mechanic", "hairdresser": "hairdresser", "butcher": "butcher", "paramedic": "paramedic", "physiotherapist": "physiotherapist", "psychologist": "psychologist",
		"electrical engineer": "engineer", "farmer": "farmer", "gardener": "gardener", "cashier": "cashier", "receptionist": "receptionist", "midwife": "midwife"}

	colors = words("red orange yellow green blue purple violet pink brown black white gray turquoise teal cyan magenta maroon navy beige gold silver indigo lavender lilac mauve crimson scarlet burgundy olive mint coral salmon peach ivory cream khaki aqua")
	// commonTastes have values that are common nouns, namedTastes names.
	commonTastes = words(`food dish meal drink beverage cuisine fruit vegetable dessert snack breakfast cheese cake pizza pasta topping flavor animal sport season month day weekday holiday number flower tree plant
		tea coffee beer wine cocktail instrument subject genre herb spice nut candy`)
	namedTastes = words(`book author writer novel poet poem movie film show series song band artist singer musician album composer painter team club player athlete game city country language editor ide framework
		actor actress director character superhero podcast restaurant cafe brand opera play musical magazine newspaper comic`)
	ranks   = words("first second third other new current old next former previous childhood all-time all time part thing way one of to")
	remarks = words(`today tomorrow yesterday free extinct best worst closed open over back broken gone canceled cancelled out up down off old new cheap expensive nearby close far near late early famous popular hot cold spicy sweet vegan healthy dirty clean empty
		full dead alive sick ill here there always just still really about going coming getting being like when what how where why who that which it he she they i you we my your to changing changed mine yours everything
		anything nothing something none all available unavailable unknown irrelevant important secret private public missing lost stolen different same wrong right correct true false so too very pretty quite kind sort
		either variable long short big small tall easy hard and or`)
	possessives = words("my your his her its our their")
	titles      = words("dr doctor mr mrs ms miss prof professor sir")
	roles       = words("god ok right head chief director manager leader ceo cto cfo coo vp president captain owner founder leo virgo aries taurus gemini libra scorpio sagittarius capricorn aquarius pisces")
	nameDays    = words("april may june august")
	peoples     = words(`african asian european arab arabic basque catalan cuban jamaican moroccan kurdish persian afghan estonian latvian lithuanian slovak slovenian croatian serbian bosnian albanian bulgarian ukrainian
		georgian armenian icelandic maltese syrian lebanese iraqi tunisian algerian ethiopian somali sudanese bangladeshi nepali malaysian singaporean taiwanese peruvian ecuadorian venezuelan bolivian uruguayan
		roman sicilian bavarian parisian londoner berliner texan californian republican democrat mormon protestant sikh deaf latino latina hispanic scandinavian native`)

	languages = words(`english french german spanish italian portuguese dutch polish swedish norwegian danish finnish russian ukrainian turkish arabic hebrew hindi japanese chinese mandarin cantonese korean greek czech
		hungarian romanian vietnamese thai indonesian catalan latin bulgarian croatian serbian slovak slovenian estonian latvian lithuanian persian urdu bengali tamil`)
	variants  = words("british american brazilian european mexican simple plain swiss austrian canadian australian traditional simplified mandarin")
	unitNouns = words("unit units system measurements measures")

	monthNumbers = map[string]string{"january": "1", "jan": "1", "february": "2", "feb": "2", "march": "3", "mar": "3", "april": "4", "apr": "4", "may": "5", "june": "6", "jun": "6", "july": "7", "jul": "7",
		"august": "8", "aug": "8", "september": "9", "sep": "9", "sept": "9", "october": "10", "oct": "10", "november": "11", "nov": "11", "december": "12", "dec": "12"}

	firmForms   = words("inc ltd llc gmbh corp corporation plc co ag")
	noFirms     = words("christmas easter god free home peace work school university college night noon santa uni myself america europe")
	placeParts  = words("de la do da del di du des of the upon am an der van von sur le les los las el san")
	placeSuffix = words("street avenue road lane hall house apartments tower towers dorm dormitory building square block campus county valley coast region province state area district")
	placeNames  = map[string]string{"nyc": "new york", "new york city": "new york", "ny": "new york", "sf": "san francisco", "lisboa": "lisbon", "oporto": "porto", "münchen": "munich", "köln": "cologne", "wien": "vienna", "roma": "rome",
		"usa": "us", "united states": "us", "united states of america": "us", "america": "us", "states": "us", "u.s": "us", "uk": "uk", "united kingdom": "uk", "u.k": "uk", "great britain": "uk", "britain": "uk",
		"holland": "netherlands", "czechia": "czech republic"}
	countries = words(`afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh barbados belarus belgium belize benin bhutan bolivia botswana brazil brunei
		bulgaria cambodia cameroon canada chile china colombia croatia cuba cyprus denmark ecuador egypt eritrea estonia ethiopia fiji finland france gabon gambia germany ghana greece greenland grenada guyana haiti
		honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania
		madagascar malawi malaysia maldives mali malta mauritius mexico moldova mongolia montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan panama paraguay
		peru philippines poland portugal qatar romania russia rwanda senegal serbia slovakia slovenia somalia spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand togo tunisia turkey
		turkmenistan uganda uk ukraine uruguay us uzbekistan venezuela vietnam yemen zambia zimbabwe`)
	longCountries = set{"new zealand": true, "south africa": true, "south korea": true, "saudi arabia": true, "sri lanka": true, "costa rica": true, "czech republic": true, "united arab emirates": true, "el salvador": true,
		"puerto rico": true, "dominican republic": true}
	// regions overlap with countries and towns, so that living in one says
	// nothing against living in another.
	regions = words(`europe asia africa oceania scandinavia england scotland wales bavaria saxony hesse tuscany sicily lombardy sardinia corsica algarve alentejo madeira azores catalonia andalusia galicia brittany
		normandy provence flanders wallonia crimea transylvania alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana iowa kansas kentucky louisiana
		maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming ontario quebec
		alberta manitoba saskatchewan yukon queensland victoria tasmania manhattan brooklyn queens bronx midwest kerala punjab gujarat suburbia cornwall devon kent essex sussex yorkshire surrey tyrol siberia
		patagonia kashmir bali okinawa hokkaido java sumatra hell heaven paradise fear`)
	// halves begin the names of regions and of quarters.
	halves   = words("north south east west northern southern eastern western central middle upper lower inner outer downtown uptown upstate greater latin little new")
	programs = words("windows linux macos emacs vim excel slack discord zoom photoshop chrome notion outlook jira teams facebook instagram twitter minecraft chinatown middle-earth narnia")
	cities   = words(`london paris berlin madrid rome lisbon porto barcelona valencia seville bilbao milan naples turin florence venice bologna genoa munich hamburg cologne frankfurt stuttgart leipzig dresden dortmund
		hanover bremen nuremberg bonn vienna graz salzburg innsbruck zurich geneva basel bern lausanne amsterdam rotterdam utrecht eindhoven groningen brussels antwerp ghent bruges leuven luxembourg copenhagen aarhus
		stockholm gothenburg malmö oslo bergen trondheim helsinki tampere reykjavik dublin cork galway belfast edinburgh glasgow aberdeen cardiff manchester liverpool leeds sheffield bristol birmingham newcastle
		nottingham oxford cambridge brighton york warsaw krakow gdansk wroclaw poznan prague brno budapest bratislava ljubljana zagreb belgrade sarajevo skopje sofia bucharest athens thessaloniki istanbul ankara izmir
		moscow kyiv kiev lviv odessa minsk riga vilnius tallinn tartu lyon marseille toulouse bordeaux nantes lille strasbourg nice montpellier grenoble braga coimbra faro aveiro leiria braganza setúbal
		boston chicago seattle portland denver austin dallas houston atlanta miami orlando tampa philadelphia pittsburgh baltimore detroit cleveland columbus cincinnati minneapolis milwaukee nashville memphis
		charlotte raleigh phoenix tucson sacramento oakland toronto montreal vancouver ottawa calgary edmonton winnipeg halifax sydney melbourne brisbane perth adelaide canberra hobart auckland wellington christchurch
		tokyo osaka kyoto nagoya sapporo fukuoka seoul busan beijing shanghai shenzhen guangzhou chengdu taipei singapore bangkok hanoi jakarta manila mumbai delhi bangalore bengaluru chennai hyderabad kolkata pune
		karachi lahore dhaka colombo kathmandu dubai doha riyadh beirut amman cairo alexandria casablanca marrakesh tunis lagos accra nairobi kampala johannesburg durban pretoria havana bogota bogotá medellín medellin
		lima quito santiago montevideo brasília curitiba recife salvador`)
	longCities = phraseTable("new york", "new haven", "new delhi", "little rock", "los angeles", "san francisco", "san diego", "san antonio", "las vegas", "new orleans", "mexico city", "buenos aires", "são paulo", "sao paulo", "rio de janeiro", "hong kong",
		"kuala lumpur", "ho chi minh city", "tel aviv", "cape town", "the hague", "st petersburg", "salt lake city", "kansas city", "abu dhabi", "addis ababa", "porto alegre", "santa fe", "santa monica")
)
