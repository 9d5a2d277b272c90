package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// The tables of frames.txt that say how to find the predicate of a clause and its slots.
var (
	ladder           = frameTables.Words("ladder")
	ladderPhrases    = frameTables.Phrases("ladder-phrases")
	enders           = frameTables.Phrases("enders")
	uncertain        = frameTables.Words("uncertain")
	noWild           = frameTables.Words("no-wild")
	bounds           = frameTables.Words("bounds")
	links            = frameTables.Words("links")
	demises          = compileList("demises")
	charms           = compileList("charms")
	repels           = compileList("repels")
	dwellings        = frameTables.Words("dwellings")
	spanning         = frameTables.Words("spanning")
	outings          = frameTables.Words("outings")
	sideJobs         = frameTables.Words("side-jobs")
	bindsCouple      = frameTables.Words("binds-couple")
	reachVerbs       = frameTables.Words("reach-verbs")
	reachNouns       = frameTables.Words("reach-nouns")
	numbered         = frameTables.Words("numbered")
	transports       = frameTables.Variants("transports")
	products         = frameTables.Variants("products")
	later            = frameTables.Words("later")
	denials          = frameTables.Words("denials")
	openEnds         = frameTables.Words("open-ends")
	dependent        = frameTables.Words("dependent")
	relating         = frameTables.Words("relating")
	noHabits         = frameTables.Words("no-habits")
	fields           = frameTables.Words("fields")
	tradeEnds        = frameTables.Words("trade-ends")
	notTrades        = frameTables.Words("not-trades")
	shiftTimes       = frameTables.Words("shift-times")
	phraseEnds       = frameTables.Words("phrase-ends")
	kin              = frameTables.Words("kin")
	served           = frameTables.Words("served")
	fromNow          = frameTables.Words("from-now")
	fixed            = frameTables.Words("fixed")
	oneAhead         = frameTables.Words("one-ahead")
	children         = frameTables.Words("children")
	unborn           = frameTables.Words("unborn")
	smokes           = frameTables.Words("smokes")
	softwareManagers = frameTables.Words("software-managers")
	feastLinks       = frameTables.Words("feast-links")
	onlyOne          = frameTables.Words("only-one")
	payUnits         = frameTables.Words("pay-units")
	routines         = frameTables.Variants("routines")
	namedStates      = frameTables.Words("named-states")
	births           = frameTables.Words("births")
)

// slots are the values that a match of a frame has read, by the name of the slot. A thing
// has several names.
type slots map[string][]string

// match reads ws by the tokens of a frame, and gives the values and the number of words.
func (c *claim) match(tokens []token, ws english.Words) (slots, int, bool) {
	if len(tokens) == 0 {
		return slots{}, 0, true
	}
	t, rest := tokens[0], tokens[1:]
	switch {
	case t.wild:
		// The fewest words first: a pronoun or a denial among them would be of another clause.
		for n := 0; n <= min(maxWild, len(ws)); n++ {
			if n > 0 && inAny(ws[n-1].Text, negations, english.Pronouns, noWild) {
				break
			}
			if s, k, ok := c.match(rest, ws[n:]); ok {
				return s, n + k, true
			}
		}
		return nil, 0, false
	case t.slot != "":
		// The most words first: "New York" before "New".
		for n := min(len(ws), maxSlotWords); n > 0; n-- {
			values := c.slot(t.slot, ws[:n], ws[n:])
			if len(values) == 0 {
				continue
			}
			if s, k, ok := c.match(rest, ws[n:]); ok {
				s[t.slot] = values
				return s, n + k, true
			}
		}
	case len(ws) > 0 && t.has(ws[0].Text):
		if s, k, ok := c.match(rest, ws[1:]); ok {
			return s, 1 + k, true
		}
	}
	if t.optional {
		return c.match(rest, ws)
	}
	return nil, 0, false
}

// maxSlotWords bounds the words of a slot.
const maxSlotWords = 5

// has reports whether w is a form of one of the words of the token.
func (t *token) has(w string) bool {
	for _, word := range t.words {
		if w == word || inflections[w][word] != 0 {
			return true
		}
	}
	return false
}

// field reads a field of work. The last word counts: "hotel marketing". "It" is one in capitals alone.
func (c *claim) field(ws, rest english.Words) string {
	last := ws[len(ws)-1]
	if !fields.Has(last.Text) || last.Text == "it" && !c.capital(last) || ws.Any(negations) ||
		len(rest) > 0 && fields.Has(rest[0].Text) || len(ws) > 3 {
		return ""
	}
	return ws.String()
}

// calledName is a name by which somebody goes. "I go by tram" has none.
func (c *claim) calledName(ws english.Words) string {
	if transports.Of(ws[0].Text) != "" {
		return ""
	}
	return c.firstName(ws)
}

// slot reads ws as the value of a slot, which rest follows.
func (c *claim) slot(name string, ws, rest english.Words) []string {
	switch name {
	case "place", "town":
		if goesOn(ws, rest) || english.StopWords.Has(ws[len(ws)-1].Text) {
			return nil
		}
		return one(c.placeName(ws, name == "town"))
	case "company":
		if goesOn(ws, rest) {
			return nil
		}
		value := c.company(ws)
		if value == "" && c.unnamed(ws) {
			value = ws[0].Text
		}
		return one(value)
	case "name":
		return one(c.calledName(ws))
	case "years":
		// "35 pages" is no age, and "my 35th birthday" is.
		if goesOn(ws, rest) && rest[0].Text != "birthday" {
			return nil
		}
		return one(years(ws))
	case "job":
		return one(tradeOf(ws, rest, false))
	case "trade":
		return one(tradeOf(ws, rest, true))
	case "title":
		if rest.At(0) == "of" || tradeOf(ws, rest, false) == "" {
			return nil // "head of the quiz team"
		}
		return one(withoutArticle(ws).String())
	case "field":
		return one(c.field(ws, rest))
	case "bare":
		if english.Articles.Has(ws[0].Text) || possessives.Has(ws[0].Text) {
			return nil
		}
	case "thing", "other":
		if len(ws) > 1 && endsInIng(ws[0].Text) && english.Articles.Has(ws[1].Text) {
			return nil // "finished reading a novel"
		}
	default:
		return one(c.plainSlot(name, ws, rest))
	}
	// "My old car" may be one that had been replaced before.
	if ws.Has("old") {
		return nil
	}
	return c.thingNames(ws, rest)
}

// plainSlot reads a slot whose value has a form of its own: a number, a date, an address.
func (c *claim) plainSlot(name string, ws, rest english.Words) string {
	switch name {
	case "number":
		unit := ws[1:]
		if rest.At(0) == "of" || unit.Any(modifierStarts) || unit.Any(english.Prepositions) ||
			unit.Any(english.Articles) {
			return "" // "3 goats behind the house", "3 boxes of books"
		}
		return numberOf(ws)
	case "noun", "year", "grade", "color", "shift", "shifts", "business":
		return c.wordSlot(name, ws, rest)
	case "transport":
		if len(ws) != 1 {
			return ""
		}
		return transports.Of(ws[0].Text)
	case "product":
		return productOf(ws)
	case "date":
		return dateOf(ws, rest)
	case "phone":
		return c.phoneNumber(ws)
	case "email":
		return c.emailAddress(ws)
	case "maker", "provider":
		if !goesOn(ws, rest) {
			return c.firm(ws, name == "maker")
		}
	case "given":
		if givenNames.Has(ws[0].Text) {
			return c.firstName(ws)
		}
	case "pay":
		if n := numberOf(ws[:1]); len(n) > 3 && len(ws) == 1 && (payUnits.Has(rest.At(0)) || !goesOn(ws, rest)) {
			return n // "on 53k", but not "on 3 pills"
		}
	case "school":
		if !goesOn(ws, rest) {
			return c.schoolName(ws)
		}
	case "address":
		if goesOn(ws, rest) || !english.StartsWithDigit(ws[0].Text) {
			return ""
		}
		return c.streetAddress(ws)
	}
	return ""
}

// wordSlot reads a slot whose value is one word of a kind: a year, the number of a grade, a color, a time of work.
func (c *claim) wordSlot(name string, ws, rest english.Words) string {
	w := ws[0].Text
	switch {
	case len(ws) != 1:
	case name == "noun" && !c.capital(ws[0]) && !english.StopWords.Has(w):
		return singular(w) // a name may follow: "renamed the puppy Waffles"
	case name == "year" && isYear(w):
		return w
	case name == "grade":
		if n := ordinals.Of(w); n != "" {
			return n
		}
		if n := strings.TrimRight(w, "stndrh"); isNumber(n) && len(n) < 3 {
			return n
		}
	case name == "color" && colors.Has(w) && !goesOn(ws, rest):
		return w
	case name == "business" && businesses.Has(w):
		return w
	case name == "shift" && shiftTimes.Has(w):
		return w
	case name == "shifts" && rest.At(0) != "on" && w != singular(w) && shiftTimes.Has(singular(w)) &&
		(!goesOn(ws, rest) || rest[0].Text == "to"):
		return singular(w)
	}
	return ""
}

// firm is ws as a company that somebody is with: one that only those who work there are with ("I'm with Siemens"), or
// else one that has customers ("I'm with Vodafone") or that no table has.
func (c *claim) firm(ws english.Words, maker bool) string {
	value := c.company(ws)
	last := ws[len(ws)-1].Text
	employs := companies.Has(value) && !served.Has(value) || len(ws) > 1 && employing.Has(last)
	if givenNames.Has(ws[0].Text) || maker != employs {
		return ""
	}
	return value
}

// productOf is the kind and the name of a product that ws names, with what tells its model:
// "phone: iphone 12".
func productOf(ws english.Words) string {
	for n := min(len(ws), maxObjectWords); n > 0; n-- {
		kind := products.Of(ws[:n].String())
		if kind == "" {
			continue
		}
		for _, w := range ws[n:] {
			if !english.StartsWithDigit(w.Text) && !w.Upper {
				return ""
			}
		}
		return kind + ": " + ws.String()
	}
	return ""
}

// productKind is the kind of a product: "phone" of "my phone is an iphone 12". A number may stand behind the name, if
// the fact names the kind.
func productKind(name string, all english.Words) string {
	if kind := products.Of(name); kind != "" {
		return kind
	}
	if model := lastWord(name); english.StartsWithDigit(model) {
		// "My camera is an iPhone 14" leaves the phone.
		if kind := products.Of(strings.TrimSuffix(name, " "+model)); all.Has(kind) {
			return kind
		}
	}
	return ""
}

// goesOn reports whether the noun phrase ws goes on in rest.
func goesOn(ws, rest english.Words) bool {
	daily := english.Articles.Has(rest.At(0)) && english.Periods.Has(rest.At(1)) // "50 mg of sertraline a day"
	return len(rest) > 0 && ws[len(ws)-1].Stop == 0 && !ends(rest[0]) && !daily && !placed(rest)
}

// placed reports whether ws begins with where the thing before it is: "moored in Split" behind "a boat".
func placed(ws english.Words) bool {
	return strings.HasSuffix(ws.At(0), "ed") && english.Past(ws.At(0)) && english.Prepositions.Has(ws.At(1))
}

// one is a list of a value, empty for none.
func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// placeName is ws as a town or a country; in a text without capitals also a word that no
// table has.
//
// With known, it may be something else that people move to ("I moved to Linux"), so that
// either the tables have it, or the fact speaks of a dwelling.
func (c *claim) placeName(ws english.Words, known bool) string {
	known = known && !c.dwells()
	if r := c.home(ws, known); r.ok() {
		return r.value
	}
	if !known && c.unnamed(ws) && !placeSuffix.Has(ws[0].Text) {
		return ws[0].Text
	}
	return ""
}

// dwells reports whether the fact speaks of a dwelling.
func (c *claim) dwells() bool { return c.dwelling }

// unnamed reports whether ws may be a name in a text without capitals: one word that the
// tables do not have.
func (c *claim) unnamed(ws english.Words) bool {
	if len(ws) != 1 || strings.ToLower(c.text) != c.text || len(ws[0].Text) < 4 {
		return false
	}
	w := ws[0].Text
	known := inAny(w, english.StopWords, english.DateWords, english.WeakDateWords, english.Periods, english.Evaluative,
		english.Moods, english.PresentVerbs, notPlaces, english.Prepositions, fields, english.OwnNouns)
	return !known && !strings.HasSuffix(w, "ing") &&
		!english.StartsWithDigit(w) && relation(w) == "" && occupations.Of(w) == "" && !bounds.Has(w) &&
		!english.Past(w) // "settled in confused"
}

// years reads "34", "34 years old" and "40th".
func years(ws english.Words) string {
	n := strings.TrimRight(ws[0].Text, "stndrh")
	if len(ws) > 1 && !ageTails.Has(ws[1:].String()) || !isNumber(n) || len(n) > 2 || n[0] == '0' {
		return ""
	}
	return n
}

// tradeOf reads what somebody does: "a nurse", "head baker". With told, the words before it
// say that it is one.
func tradeOf(ws, rest english.Words, told bool) string {
	article := english.Articles.Has(ws[0].Text)
	if article {
		ws = ws[1:]
	}
	if len(ws) == 0 || len(ws) > 4 || goesOn(ws, rest) {
		return ""
	}
	for _, w := range ws {
		// Work has a name of nouns and adjectives alone: "head of sales" is none that is compared.
		if inAny(w.Text, english.Pronouns, english.Prepositions, negations, english.Deictic, possessives,
			english.Auxiliaries, links) || english.StartsWithDigit(w.Text) {
			return ""
		}
	}
	last := singular(ws[len(ws)-1].Text)
	// "I'm Tanner" gives a name, "I'm in Denver" a town, and "I'm stronger" compares.
	named := slices.ContainsFunc(ws, func(w english.Word) bool { return w.Upper })
	if cities.Has(last) || !told && named && occupations.Of(last) == "" {
		return ""
	}
	if kind := occupations.Of(last); kind != "" {
		return kind
	}
	if told && !inAny(last, english.States, english.Evaluative, english.StopWords) || fields.Has(last) {
		return ws.String()
	}
	if !article && len(ws) == 1 || notTrades.Has(last) || relation(last) != "" ||
		inAny(last, english.States, english.Evaluative, english.Moods) {
		return ""
	}
	for n := 2; n <= min(len(last), maxTradeEnd); n++ {
		if end := last[len(last)-n:]; tradeEnds.Has(end) && (len(last) > n+1 || n > 3) {
			return ws.String()
		}
	}
	return ""
}

// maxTradeEnd is the length of the longest of tradeEnds, in bytes.
const maxTradeEnd = 9

// ends reports whether no noun phrase goes on at w.
func ends(w english.Word) bool {
	return inAny(w.Text, english.Prepositions, modifierStarts, links, english.Adverbs, english.Auxiliaries,
		boundingModifiers, english.DateWords, english.Periods, phraseEnds)
}

// headOf is a thing without determiners, amounts and the words that only describe it:
// "coffee" of "two cups of coffee".
func headOf(ws english.Words) english.Words {
	for len(ws) > 1 && (inAny(ws[0].Text, english.Articles, possessives, quantities) ||
		english.StartsWithDigit(ws[0].Text)) {
		ws = ws[1:]
	}
	if len(ws) > 2 && ws[1].Text == "of" && (servings.Has(ws[0].Text) || quantities.Has(ws[0].Text)) {
		ws = ws[2:]
	}
	for len(ws) > 1 && (describing.Has(ws[0].Text) && !(ws[0].Upper && ws[1].Upper) || quantities.Has(ws[0].Text)) {
		ws = ws[1:]
	}
	return ws
}

// thingNames are the names of a thing: "ford focus" and "focus" of "my old Ford Focus".
func (c *claim) thingNames(ws, rest english.Words) (out []string) {
	if goesOn(ws, rest) {
		return nil
	}
	if ws = headOf(ws); len(ws) > maxObjectWords || len(ws) > 1 && changeWords.Has(ws[len(ws)-1].Text) {
		return nil // "ramipril now"
	}
	if len(ws) > 1 && placed(append(ws[len(ws)-1:len(ws):len(ws)], rest...)) {
		return nil
	}
	var words []string
	for i, w := range ws {
		if inAny(w.Text, english.Pronouns, negations, possessives, links, english.Deictic, english.Auxiliaries,
			english.Prepositions, english.Articles, particles, phraseEnds) || i == 0 && english.Adverbs.Has(w.Text) ||
			!startsWithWord(w.Text) {
			return nil
		}
		words = append(words, singular(w.Text))
	}
	first, last := words[0], words[len(words)-1]
	if endsInIng(last) && len(rest) > 0 && english.Prepositions.Has(rest[0].Text) { // "going to choir"
		return nil
	}
	if relating.Has(last) || inAny(last, english.DateWords, english.Periods, maritalStatuses) {
		return nil
	}
	// The whole name comes first: of the others, one that is too short may be of another thing.
	out = append(out, strings.Join(words, " "))
	apart := ws[0].Start < ws[len(ws)-1].Start                                   // and not "House-warming"
	if len(words) > 1 && apart && c.capital(ws[0]) && c.capital(ws[len(ws)-1]) { // of a name each part
		out = append(out, first, last)
	} else if len(words) > 1 && english.StartsWithDigit(last) { // "iphone 12"
		out = append(out, first)
	}
	return out
}
