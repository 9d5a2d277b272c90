package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/memoryd/memoryd/extract/english"
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
	if strings.Contains(fact, "?") || len(fact) > english.MaxSentenceBytes {
		return "", "", false
	}
	text := norm.NFKC.String(strings.ToValidUTF8(fact, ""))
	ws := english.Lex(text)
	c := claim{text: text, words: thin(ws)}
	if len(c.words) < 2 || len(c.words) > 20 {
		return "", "", false
	}
	slot, value = c.manner()
	for _, w := range ws {
		if doubtful.Has(w.Text) && slot == "" {
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
	words english.Words
}

// said reads "I …", "My sister …" and "My sister's favorite color …".
func (c *claim) said() (string, string) {
	ws := c.words
	if k := frontTime(ws); k > 0 {
		ws = ws[k:]
	}
	switch ws.At(0) {
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
	if len(ws) > 2 && elder.Has(ws[0].Text) {
		age, ws = ws[0].Text+" ", ws[1:]
	}
	if len(ws) < 3 {
		return "", ""
	}
	if of, ok := strings.CutSuffix(ws[0].Text, "'s"); ok && age == "" {
		if rel := relation(of); rel != "" {
			return c.attribute(rel+" ", ws[1:])
		}
		return "", ""
	}
	rel := relation(ws[0].Text)
	if rel == "" {
		if age != "" {
			return "", ""
		}
		return c.attribute("", ws)
	}
	if ws[1].Text == "is" {
		rest := ws[2:]
		if rest[0].Text == "called" || rest[0].Text == "named" {
			rest = rest[1:]
		} else if !persons.Has(rel) || age != "" {
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
	if r := relationNames.Of(w); r != "" {
		return r
	}
	if persons.Has(w) || kin.Has(w) {
		return w
	}
	return ""
}

// predicate reads what follows "I" or "my sister"; owner is "" or ends in a
// blank.
func (c *claim) predicate(owner string, ws english.Words) (string, string) {
	speaker := owner == ""
	ws, been := withoutPerfect(ws)
	if len(ws) < 2 {
		return "", ""
	}
	switch v := ws[0].Text; {
	case been && v != "living" && v != "lived" && v != "working" && v != "worked", !been && (v == "lived" || v == "worked"):
		return "", "" // the past
	case v == "live" || v == "lives" || v == "living" || v == "lived" || v == "reside" || v == "resides":
		since, open := untilNow(ws)
		if ws.At(1) == "in" && (open || !been) {
			return c.home(owner, since[min(2, len(since)):], c.words[0].Text == "we") // "We live in Interesting Times"
		}
	case v == "moved" || v == "relocated":
		return c.moved(owner, cutRecent(ws))
	case v == "work" || v == "works" || v == "working" || v == "worked":
		since, open := untilNow(ws)
		if !open && been {
			return "", ""
		}
		return c.work(owner, since[1:])
	case v == "started" && (ws.At(1) == "working" || ws.At(1) == "work"):
		return c.work(owner, cutRecent(ws)[min(2, len(cutRecent(ws))):])
	case v == "joined":
		if ws = cutRecent(ws); asTrade(ws) > 0 {
			return c.work(owner, append(english.Words{{Text: "at"}}, ws[1:]...))
		}
	case v == "turned" && len(cutRecent(ws)) == 2 && (speaker || persons.Has(strings.TrimSpace(owner))):
		return c.age(owner, cutRecent(ws)[1:])
	case v == "got" && unions.Has(cutRecent(ws).At(1)):
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
func withoutPerfect(ws english.Words) (english.Words, bool) {
	switch v := ws.At(0); {
	case (v == "have" || v == "has") && ws.At(1) == "been":
		return ws[2:], true
	case v == "have" || v == "has":
		return ws[1:], true
	case (v == "am" || v == "are" || v == "is") && (ws.At(1) == "living" || ws.At(1) == "working"):
		return ws[1:], false
	}
	return ws, false
}

// untilNow cuts a span that reaches the present: "since 2019", "for 5 years".
// It reports whether there was one.
func untilNow(ws english.Words) (english.Words, bool) {
	for i := 1; i < len(ws); i++ {
		rest := ws[i+1:]
		if ws[i].Text == "since" && len(rest) > 0 && len(rest) < 7 && sinceTime.MatchString(rest.String()) {
			return ws[:i], true
		}
		if ws[i].Text == "for" && span.MatchString(rest.String()) {
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
func cutRecent(ws english.Words) english.Words {
	for i := max(1, len(ws)-8); i < len(ws); i++ {
		if recentStart.Has(ws[i].Text) && recently.MatchString(ws[i:].String()) {
			return ws[:i]
		}
	}
	return ws
}

// frontTime is how many words of a recent time ws begins with.
func frontTime(ws english.Words) int {
	for k := 1; k < min(len(ws), 8); k++ {
		if w := ws[k].Text; w == "i" || w == "we" || w == "my" {
			if recently.MatchString(ws[:k].String()) {
				return k
			}
			return 0
		}
	}
	return 0
}

// moved reads "moved to Lisbon". People move to other things than towns, so
// the town must be one that is known.
func (c *claim) moved(owner string, ws english.Words) (string, string) {
	i := 1
	if ws.At(i) == "back" {
		i++
	}
	if ws.At(i) == "from" {
		for i++; i < len(ws) && ws[i].Text != "to"; i++ {
			if !c.capital(ws[i]) || i > 5 {
				return "", ""
			}
		}
	}
	if ws.At(i) != "to" {
		return "", ""
	}
	return c.home(owner, ws[i+1:], true)
}

// home reads the name of a town or country; known asks that it be in the table.
func (c *claim) home(owner string, ws english.Words, known bool) (string, string) {
	if len(ws) == 0 || len(ws) > 7 {
		return "", ""
	}
	article := ws[0].Text == "the"
	if article {
		ws = ws[1:]
	} else {
		before := strings.TrimRight(c.text[:ws[0].Start], " ")
		article = strings.HasSuffix(strings.ToLower(before), " the")
	}
	town := ws
	for i := range ws {
		if ws[i].Stop != 0 && i+1 < len(ws) {
			if ws[i].Stop != ',' || i+4 < len(ws) {
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
	if n := len(town) - 1; n > 0 && (regions.Has(town[n].Text) || countries.Has(town[n].Text)) && !longCountries.Has(town.String()) && !halves.Has(town[0].Text) {
		town = town[:n] // "Portland Maine"
	}
	place := town.String()
	if short := placeNames.Of(place); short != "" {
		place = short
	}
	switch {
	case (countries.Has(place) || longCountries.Has(place)) && len(town) == len(ws):
		return owner + "home country", place
	case article, regions.Has(place):
		return "", ""
	case cities.Has(place), longCities.Match(town, 0) == len(town):
		return owner + "home", place
	case known || len(town) > 4 || halves.Has(town[0].Text) || programs.Has(town[0].Text):
		return "", ""
	}
	for i, w := range town {
		if !c.capital(w) && (i == 0 || !placeParts.Has(w.Text)) || english.TaskWords.Has(w.Text) || english.DateWords.Has(w.Text) || english.StartsWithDigit(w.Text) {
			return "", ""
		}
	}
	if placeSuffix.Has(town[len(town)-1].Text) {
		return "", ""
	}
	return owner + "home", place
}

// work reads "at Acme" or "as a nurse".
func (c *claim) work(owner string, ws english.Words) (string, string) {
	switch ws.At(0) {
	case "as":
		if rest := withoutArticle(ws[1:]); len(rest) > 0 && len(rest) < 4 {
			return owner + "occupation", trades.Of(rest[len(rest)-1].Text)
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
func asTrade(ws english.Words) int {
	for i := max(1, len(ws)-5); i+1 < len(ws); i++ {
		if ws[i].Text == "as" && trades.Of(ws[len(ws)-1].Text) != "" {
			return i
		}
	}
	return 0
}

// firm is the name of a company: capitals throughout.
func (c *claim) firm(ws english.Words) string {
	if len(ws) > 1 && firmForms.Has(ws[len(ws)-1].Text) {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 || len(ws) > 4 || english.DateWords.Has(ws[0].Text) || english.WeakDateWords.Has(ws[0].Text) || noFirms.Has(ws[0].Text) || relation(ws[0].Text) != "" || countries.Has(ws[0].Text) || cities.Has(ws.String()) {
		return ""
	}
	for i, w := range ws {
		if !c.capital(w) && !(i > 0 && w.Text == "of") || w.Stop != 0 && i+1 < len(ws) || strings.HasSuffix(w.Text, "'s") && i+1 < len(ws) {
			return ""
		}
	}
	return ws.String()
}

// state reads what follows "am": an age, a marital status, a trade, a height.
func (c *claim) state(owner string, ws english.Words) (string, string) {
	for len(ws) > 1 && (ws[0].Text == "happily" || ws[0].Text == "newly" || ws[0].Text == "officially" || ws[0].Text == "now") {
		ws = ws[1:]
	}
	if len(ws) == 0 {
		return "", ""
	}
	switch n := len(ws); {
	case unions.Has(ws[0].Text):
		return c.union(owner, ws)
	case n > 2 && ws[n-2].Text == "by" && (ws[n-1].Text == "profession" || ws[n-1].Text == "trade"):
		return c.work(owner, append(english.Words{{Text: "as"}}, ws[:n-2]...))
	case n > 2 && ws[n-1].Text == "tall":
		return c.measure(owner+"height ", ws[:n-1])
	case owner == "" || persons.Has(strings.TrimSpace(owner)):
		return c.age(owner, ws)
	}
	return "", ""
}

// age reads "34", "34 years old".
func (c *claim) age(owner string, ws english.Words) (string, string) {
	n := ws[0].Text
	years := len(ws) == 1 || ageTails.Has(ws[1:].String())
	if !years || n != "100" && !isAge(n) || strings.Contains(c.text, "'"+n) || english.StartsWithDigit(n) && n[0] == '0' || len(n) == 1 && len(ws) == 1 {
		return "", ""
	}
	return owner + "age", n
}

// union reads "married", "married to Tom".
func (c *claim) union(owner string, ws english.Words) (string, string) {
	if len(ws) > 1 && (ws.At(1) != "to" && ws.At(1) != "from" || c.name(ws[2:]) == "") {
		return "", ""
	}
	return owner + "marital status", ws[0].Text
}

// measure reads "180 cm": the unit is part of the slot.
func (c *claim) measure(slot string, ws english.Words) (string, string) {
	text := strings.Fields(ws.String())
	if len(text) == 1 {
		i := strings.IndexFunc(text[0], unicode.IsLetter)
		if i <= 0 {
			return "", ""
		}
		text = []string{text[0][:i], text[0][i:]}
	}
	if unit := ""; len(text) == 2 && english.StartsWithDigit(text[0]) && english.EndsWithDigit(text[0]) {
		if unit = measures.Of(text[1]); unit != "" {
			return slot + unit, text[0]
		}
	}
	return "", ""
}

// attribute reads "name is Ann", "favorite color is green", after "my" or "my
// sister's".
func (c *claim) attribute(owner string, ws english.Words) (string, string) {
	k := 1
	for k < len(ws) && k < 6 && ws[k].Text != "is" && ws[k].Text != "are" {
		if ws[k-1].Stop != 0 && ws[k-1].Stop != '\'' {
			return "", ""
		}
		k++
	}
	if k+1 >= len(ws) || ws[k].Text != "is" && ws[k].Text != "are" {
		return "", ""
	}
	noun, rest, plural := ws[:k].String(), ws[k+1:], ws[k].Text == "are"
	switch own := owner == "" || persons.Has(strings.TrimSpace(owner)); {
	case plural:
		if noun == "pronouns" && pronounForms.MatchString(rest.String()) {
			return owner + noun, rest.String()
		}
	case ws[0].Text == "favorite" || ws[0].Text == "least" && ws.At(1) == "favorite":
		return c.favorite(owner, noun, rest)
	case noun == "name" && (own || pets.Has(strings.TrimSpace(owner))):
		return owner + "name", c.name(rest)
	case nameKinds.Has(noun) && own && len(rest) < 5:
		return owner + noun, c.properName(rest)
	case noun == "birthday" || noun == "birthdate" || noun == "date of birth" || noun == "birth date":
		return owner + "birthday", monthAndDay(rest)
	case (noun == "anniversary" || noun == "wedding anniversary") && own:
		return owner + "anniversary", monthAndDay(rest)
	case own && (numbered.Of(noun) != "" || mailed.Of(noun) != ""):
		return c.contact(owner, noun, rest)
	case own && (noun == "height" || noun == "weight"):
		return c.measure(owner+noun+" ", rest)
	case own && (noun == "employer" || noun == "employer's name"):
		return owner + "employer", c.firm(rest)
	case own && (noun == "job" || noun == "profession" || noun == "occupation"):
		if rest[0].Text == "being" {
			rest = rest[1:]
		}
		return c.work(owner, append(english.Words{{Text: "as"}}, rest...))
	case own && singleNouns.Of(noun) != "" && (!capitalNouns.Has(noun) || c.capital(rest[0])) && !strings.HasSuffix(rest[0].Text, "ing"):
		return owner + singleNouns.Of(noun), c.plainValue(rest, 4)
	case own && noun == "hometown":
		return owner + noun, c.town(rest)
	}
	return "", ""
}

// town is the name of a town that ws is.
func (c *claim) town(ws english.Words) string {
	if slot, value := c.home("", ws, false); slot == "home" {
		return value
	}
	return ""
}

// favorite reads the value of "favorite color", and of those nouns only whose
// values can be told from a remark ("My favorite show is back").
func (c *claim) favorite(owner, noun string, ws english.Words) (string, string) {
	head := noun[strings.LastIndexByte(noun, ' ')+1:]
	of := strings.Fields(noun)
	for _, w := range of[:len(of)-1] {
		if w != "favorite" && (ranks.Has(w) || english.Deictic.Has(w) && w != "least" || english.Prepositions.Has(w)) {
			return "", ""
		}
	}
	value := c.plainValue(ws, 5)
	switch last := ws[len(ws)-1]; {
	case value == "" || len(of) < 2:
		return "", ""
	case head == "color":
		if !colors.Has(last.Text) {
			return "", ""
		}
	case namedTastes.Has(head):
		if !c.capital(ws[0]) && !english.StartsWithDigit(ws[0].Text) && ws[0].Text != "the" {
			return "", ""
		}
		if len(ws) == 1 && english.States.Has(ws[0].Text) {
			return "", ""
		}
	case !commonTastes.Has(head), strings.HasSuffix(last.Text, "ing") && head != "sport" && len(ws) == 1:
		return "", ""
	}
	return owner + noun, value
}

// favored reads "Green is my favorite color".
func (c *claim) favored() (string, string) {
	ws := c.words
	for i := 1; i+3 < len(ws) && i < 6; i++ {
		if ws[i].Text == "is" && (ws[i+1].Text == "my") && ws[i+2].Text == "favorite" {
			if english.Deictic.Has(ws[0].Text) || english.Articles.Has(ws[0].Text) || possessives.Has(ws[0].Text) || len(ws)-i > 6 {
				return "", ""
			}
			return c.favorite("", ws[i+2:].String(), ws[:i])
		}
	}
	return "", ""
}

// plainValue is a value of at most n words that is a noun's name and no remark;
// "" if it may be anything else.
func (c *claim) plainValue(ws english.Words, n int) string {
	if len(ws) == 0 || len(ws) > n {
		return ""
	}
	first := ws[0].Text
	if len(ws) > 1 && english.Articles.Has(first) {
		first = ws[1].Text
	}
	if remarks.Has(first) || english.Moods.Has(first) || english.Evaluative.Has(first) && len(ws) < 3 || english.Prepositions.Has(first) || english.Deictic.Has(first) || english.Auxiliaries.Has(first) || c.gerund(ws) || english.Past(first) && len(ws) == 1 || english.Participles.Has(first) {
		return ""
	}
	var out []string
	for i, w := range ws {
		switch {
		case remarks.Has(w.Text) && !c.capital(w), bounding.Has(w.Text) && w.Text != "there" && !c.capital(w), negations.Has(w.Text), possessives.Has(w.Text), english.Deictic.Has(w.Text) && !c.capital(w), w.Stop != 0 && i+1 < len(ws) && w.Stop != '\'' && w.Stop != '"' && w.Stop != ':':
			return ""
		case english.Prepositions.Has(w.Text) && w.Text != "of" && !c.capital(ws[i-1]):
			return ""
		case i == 0 && english.Articles.Has(w.Text) && len(ws) > 1 && english.WordRune(rune(ws[1].Text[0])):
			continue
		}
		out = append(out, singular(w.Text))
	}
	return strings.Join(out, " ")
}

// gerund reports whether ws begins with a participle that goes on: "coming to
// town", but not "running".
func (c *claim) gerund(ws english.Words) bool {
	return strings.HasSuffix(ws[0].Text, "ing") && len(ws) > 1 && !c.capital(ws[0]) && english.Prepositions.Has(ws[1].Text)
}

// singular folds plurals of values, where to take two for one costs little.
func singular(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") {
		return w[:len(w)-1]
	}
	return w
}

// name is the first name in ws, if ws is a person's or a pet's name.
func (c *claim) name(ws english.Words) string {
	full := c.properName(ws)
	first, rest, more := strings.Cut(full, " ")
	if more && titles.Has(first) {
		return first + " " + rest
	}
	return first
}

// properName is a name in full: capitals, and no people, role or day.
func (c *claim) properName(ws english.Words) string {
	if len(ws) == 0 || len(ws) > 4 {
		return ""
	}
	for i, w := range ws {
		switch {
		case w.Stop != 0 && i+1 < len(ws) && w.Stop != '.', strings.HasSuffix(w.Text, "'s"), english.States.Has(w.Text) || peoples.Has(w.Text) || english.DateWords.Has(w.Text) && len(ws) == 1 && !nameDays.Has(w.Text), english.Auxiliaries.Has(w.Text) && w.Text != "will":
			return ""
		case !c.capital(w) && !placeParts.Has(w.Text) || !w.Upper && len(w.Text) > 2 && c.capital(w) && !mixed(c.text[w.Start:w.End]):
			return ""
		case placeParts.Has(w.Text) && (i == 0 || i+1 == len(ws)), english.StartsWithDigit(w.Text), roles.Has(w.Text):
			return ""
		}
	}
	return ws.String()
}

// mixed reports whether s has small letters.
func mixed(s string) bool { return strings.IndexFunc(s, unicode.IsLower) >= 0 }

// capital reports whether w is written with a capital.
func (c *claim) capital(w english.Word) bool {
	r, _ := utf8.DecodeRuneInString(c.text[w.Start:w.End])
	return unicode.IsUpper(r)
}

// contact reads addresses: digits of a telephone, an e-mail address, a place
// with a house number.
func (c *claim) contact(owner, noun string, ws english.Words) (string, string) {
	text := strings.TrimRight(c.text[ws[0].Start:], " .!")
	if kind := mailed.Of(noun); kind != "" {
		if len(ws) == 1 && strings.Count(text, "@") == 1 {
			return owner + kind, strings.ToLower(text)
		}
		return "", ""
	}
	if numbered.Of(noun) == "address" {
		if !strings.ContainsAny(text, "0123456789") || len(ws) < 2 || len(ws) > 10 || c.plainValue(ws[:1], 1) == "" {
			return "", ""
		}
		for i := range ws { // the town may be said or not
			if ws[i].Stop == ',' {
				ws = ws[:i+1]
				break
			}
		}
		return owner + "address", ws.String()
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
	return owner + numbered.Of(noun), digits
}

// monthAndDay reads "3 May", "May 3rd, 1990", "on the 3rd of May".
func monthAndDay(ws english.Words) string {
	month, day := "", ""
	for _, w := range ws {
		n := strings.TrimRight(w.Text, "stndrh")
		switch {
		case w.Text == "on" || w.Text == "the" || w.Text == "of":
		case monthNumbers.Of(w.Text) != "" && month == "":
			month = monthNumbers.Of(w.Text)
		case english.StartsWithDigit(n) && len(n) < 3 && english.EndsWithDigit(n) && day == "":
			day = strings.TrimPrefix(n, "0")
		case len(w.Text) == 4 && english.StartsWithDigit(w.Text) && english.EndsWithDigit(w.Text):
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
func withoutArticle(ws english.Words) english.Words {
	if len(ws) > 0 && (ws[0].Text == "a" || ws[0].Text == "an" || ws[0].Text == "the") {
		return ws[1:]
	}
	return ws
}

// manner reads what the agent is told for all its answers: how to address the
// speaker, in which language to answer, in which units.
func (c *claim) manner() (string, string) {
	ws, standing := c.words, false
	for {
		n := english.Lasting.Match(ws, 0)
		if n == 0 {
			if n = english.Polite.Match(ws, 0); n == 0 && ws.At(0) == "always" {
				n = 1
			}
			standing = standing || ws.At(0) == "always" || n > 0 && ws[0].Text == "please"
		} else {
			standing = true
		}
		if n == 0 || n >= len(ws) {
			break
		}
		ws = ws[n:]
	}
	for i := 1; i < len(ws); i++ {
		if n := english.Lasting.Match(ws, i); n > 0 && i+n == len(ws) {
			ws, standing = ws[:i], true
		}
	}
	n := 0
	switch {
	case ws.StartWith("call", "me"):
		n = 2
	case ws.StartWith("address", "me", "as"):
		n = 3
	case ws.StartWith("refer", "to", "me", "as"):
		n = 4
	case ws.At(0) == "use":
		return units(ws[1:])
	default:
		return answerLanguage(ws, standing)
	}
	if rest := ws[n:]; len(rest) > 0 && len(rest) < 4 && !english.NotNames.Has(rest[0].Text) {
		if name := c.properName(rest); name != "" {
			return "form of address", name
		}
		if w := rest[0].Text; standing && len(rest) == 1 && !english.Evaluative.Has(w) && !english.Moods.Has(w) && !english.StopWords.Has(w) && !english.DateWords.Has(w) && !remarks.Has(w) && !strings.Contains(w, "-") {
			return "form of address", w
		}
	}
	return "", ""
}

// answerLanguage reads "answer me in French".
func answerLanguage(ws english.Words, standing bool) (string, string) {
	switch ws.At(0) {
	case "answer", "reply", "respond", "speak", "talk":
	case "write":
		if !standing {
			return "", ""
		}
	default:
		return "", ""
	}
	i := 1
	for ; i < len(ws) && ws[i].Text != "in"; i++ {
		if w := ws[i].Text; w != "to" && w != "me" && w != "us" && w != "only" && w != "always" {
			return "", ""
		}
	}
	ws = ws[min(i+1, len(ws)):]
	if n := len(ws); n > 0 && (ws[n-1].Text == "only" || ws[n-1].Text == "always") {
		ws = ws[:n-1]
	}
	if n := len(ws); n == 1 && languages.Has(ws[0].Text) || n == 2 && variants.Has(ws[0].Text) && languages.Has(ws[1].Text) {
		return "language of answers", ws[n-1].Text
	}
	return "", ""
}

// units reads "metric units", "the metric system", "Celsius".
func units(ws english.Words) (string, string) {
	ws = withoutArticle(ws)
	system := ws.At(0)
	switch {
	case (system == "metric" || system == "imperial") && (len(ws) == 1 || len(ws) == 2 && unitNouns.Has(ws[1].Text)):
		return "units", system
	case (system == "celsius" || system == "fahrenheit") && len(ws) == 1:
		return "temperature unit", system
	}
	return "", ""
}
