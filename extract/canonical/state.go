package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// No table has all the things that people tell the state of: a commute, a wifi password, an office, a bedtime. "My
// commute is 15 minutes" and "my commute is now an hour" are about one of them, as the noun is the same, both tell it
// in a value of one kind, and the later one says that it is so now.
//
// Values of two kinds may hold at once: "my car is a hybrid now" leaves "my car is a Golf". A feature, such as "red" or
// "too small", is of no kind. People and pets are many things at once, so that what they are is no state.

// How a clause is read:
//
//   - The thing stands behind "my" or "our", or has an owner with a name: "Tom's commute is…". "The office" is the
//     speaker's only where the clause tells of a change. "The weather is cold" tells of none.
//   - The verb is a form of "be", or one by which a state becomes another one: "has moved to", "went up to".
//   - The value is an amount with what it measures, a time of day, a name or a code, or a place with a name. "Red",
//     "too small" and "on the market" are none, since they may hold beside any of these.
//   - A word such as "now" or "since Monday" tells that the state is a new one. Without it a statement ends no other:
//     "my commute is an hour" may be said of one bad day.
//
// The claims are loose, so that what a fact is worth does not hang on them.

// stateAttribute begins the attribute of a thing whose state is told, which ends in the kind of its value.
const stateAttribute = "state of "

var (
	unitKinds   = frameTables.Variants("unit-kinds")
	becomes     = frameTables.Phrases("becomes")
	stateCues   = frameTables.Phrases("state-cues")
	groupNouns  = frameTables.Words("group-nouns")
	naming      = frameTables.Words("naming")
	noStateOf   = frameTables.Words("no-state-of")
	clockWords  = frameTables.Words("clock-words")
	spotLinks   = frameTables.Words("spot-links")
	valueVerbs  = frameTables.Words("value-verbs")
	comparative = frameTables.Words("comparative")
)

// An owner that is a person makes no state of theirs: what "my sister" is now leaves what she is else. "My sister's
// rent" would be one, but few tell it twice.

// maxStateNoun bounds the words of the thing: "wifi password for guests".
const maxStateNoun = 6

// The speaker may have told before that they drink wine, have it with dinner, or chose it over beer. "No more wine for
// me" ends all three, so each attribute with the name of the thing ends.

// noMore reads "no more wine for me", which ends each habit with the thing. Of people and pets it ends none: it says
// that others will not come.
func (c *claim) noMore(ws english.Words) (out []Claim) {
	if !ws.StartWith("no", "more") {
		return nil
	}
	for k := 3; k+1 < min(len(ws), maxObjectWords+3); k++ {
		if ws[k].Text != "for" || ws[k+1].Text != "me" && ws[k+1].Text != "us" {
			continue
		}
		one := singular(ws[k-1].Text)
		if len(ws) > k+2 && !stopsClause(ws[k+1].Stop) || countable.Has(one) || manyOf.Has(one) || relation(one) != "" {
			return nil // "no more wine for me tonight"
		}
		for _, name := range c.thingNames(ws[2:k], nil) {
			for _, attribute := range []string{"habit of ", "has ", choiceAttribute} {
				out = append(out, Claim{Attribute: attribute + name, Value: held, Ended: true})
			}
		}
		return out
	}
	return nil
}

// states reads "my commute is now an hour". "The" is the speaker's where the clause tells of a change.
func (c *claim) states(ws english.Words) []Claim {
	ws = fromOwn(ws[openingTime(ws):])
	if set := c.setState(ws); set != nil {
		return set
	}
	changed, from := c.changed || stateCues.Found(ws) || c.fact.StartWith("with", "the", "new"), 1
	switch w := ws.At(0); {
	case len(ws) < 3, ws.Any(uncertain), ws.Any(negations), c.fact.Any(occasions):
		return nil
	case strings.HasSuffix(w, "'s") && ws[0].Upper, w == "rent" || w == "bedtime": // "rent is 845 now"
		from = 0
	case w != "my" && w != "our" && w != "the":
		return nil
	}
	for k := from + 1; k < min(len(ws)-1, from+maxStateNoun); k++ {
		n := becomes.Match(ws, k)
		changes := n > 0
		if !changes && (isBe(ws[k].Text) || valueVerbs.Has(ws[k].Text)) {
			n = 1
		}
		if n == 0 && !stopsClause(ws[k-1].Stop) {
			continue
		}
		name, isNew := stateNoun(ws[from:k])
		kind, value := c.stateValue(ws[min(k+n, len(ws)):])
		changed = changed || changes || isNew
		if name == "" || n == 0 || ws[0].Text == "the" && !changed {
			return nil
		}
		own := ws[0].Text == "my" && !ofSomebody(ws[from:k]) // "my husband's bank" is his
		if out := knownState(name, ws[k+n:], changed && own); out != nil {
			out[0].Changed, out[0].Several = changed, !changed
			return out
		}
		if kind == "" {
			return nil
		}
		if kind == "amount dose" {
			value = numberOf(skipToValue("number", ws[k+n:]))
			return []Claim{{Attribute: "dose of " + name, Value: value, Several: true, Changed: changed}}
		}
		return []Claim{{
			Attribute: stateAttribute + name + " " + kind, Value: value, Several: true, Loose: true,
			Changed: changed,
		}}
	}
	return nil
}

// knownState is the claim that other statements make too: of a dose ("my sertraline dose went up to 100 mg"), or of
// what somebody uses ("my phone is a Pixel now").
func knownState(name string, value english.Words, own bool) []Claim {
	before, dosed := strings.CutSuffix(name, " dose")
	what, first := strings.CutPrefix(before, "dose ")
	if n := numberOf(skipToValue("number", value)); n != "" && (dosed || first) {
		return []Claim{{Attribute: "dose of " + what, Value: n}}
	}
	if kind, model, ok := strings.Cut(productOf(withoutCue(withoutArticle(value))), ": "); ok && own {
		return []Claim{{Attribute: "kind of " + kind, Value: model}}
	}
	return nil
}

// setState reads "I changed my handle to @hanna", "we moved our office to 75 High Street".
func (c *claim) setState(ws english.Words) []Claim {
	if w := ws.At(0); w != "i" && w != "we" && w != "they" || ws.Any(uncertain) || ws.Any(negations) {
		return nil
	}
	at := 1
	for at < len(ws) && (ws[at].Text == "have" || ws[at].Text == "had" || frontAdverbs.Has(ws[at].Text)) {
		at++
	}
	if naming.Has(ws.At(at)) && inAny(ws.At(at+1), english.Articles, possessives) {
		return c.renamed(ws[at:])
	}
	verb := ws.At(at)
	if !resets(verb) || !english.Past(verb) && !bothTenses(verb) || !possessedOr(ws.At(at+1)) {
		return nil
	}
	for k := at + 3; k+1 < min(len(ws), at+2+maxStateNoun) && !stopsClause(ws[k-1].Stop); k++ {
		if ws[k].Text != "to" && ws[k].Text != "into" {
			continue
		}
		name, _ := stateNoun(ws[at+2 : k])
		if kind, value := c.stateValue(ws[k+1:]); name != "" && kind != "" {
			return []Claim{{
				Attribute: stateAttribute + name + " " + kind, Value: value, Several: true, Loose: true, Changed: true,
			}}
		}
		return nil
	}
	return nil
}

// A name ends with its last capital, since reasons follow it without a mark: "Golden Loaf because of a letter".

// renamed reads "renamed the bakery Golden Loaf", from its verb on.
func (c *claim) renamed(ws english.Words) []Claim {
	for k := 3; k < min(len(ws), maxStateNoun) && !stopsClause(ws[k-1].Stop); k++ {
		if value := withoutCue(ws[k:min(len(ws), k+maxNameWords)]); ws[k].Upper && c.capital(value[0]) {
			for n := range value {
				if !value[n].Upper && n > 0 {
					value = value[:n]
					break
				}
			}
			name, _ := stateNoun(ws[2:k])
			if name == "" {
				return nil
			}
			return []Claim{{
				Attribute: stateAttribute + name + " name", Value: value.String(), Several: true, Loose: true,
				Changed: c.changed || ws[0].Text == "renamed" || ws[0].Text == "rebranded",
			}}
		}
	}
	return nil
}

// fromOwn is ws from a thing of the speaker's on, if words that only lead to it stand in front: "with the baby my
// bedtime is…".
func fromOwn(ws english.Words) english.Words {
	if w := ws.At(0); !english.Prepositions.Has(w) && w != "since" && w != "because" {
		return ws
	}
	for i := 2; i < min(len(ws)-2, maxOpening); i++ {
		w, before := ws[i].Text, ws[i-1].Text
		if (w == "my" || w == "our") && !inAny(before, english.Prepositions, english.Auxiliaries) &&
			!english.Past(before) && (isBe(ws.At(i+2)) || isBe(ws.At(i+3))) {
			return ws[i:]
		}
	}
	return ws
}

// stateNoun is the name of the thing whose state is told, in one order for "guest password" and "password for guests".
// It reports whether the words say that it is new. People, pets, and what somebody had before have none.
func stateNoun(ws english.Words) (name string, isNew bool) {
	var words []string
	if ws.Has("number") && ws.Has("of") {
		return "", false // "the number of my grandchildren" is a count
	}
	for _, w := range ws {
		one := singular(w.Text)
		switch {
		case w.Text == "new":
			isNew = true
		case inAny(w.Text, english.Prepositions, english.Articles, english.Adverbs, ownWords), w.Text == "usual":
		case inAny(one, noStateOf, manyOf, persons), inAny(w.Text, english.Pronouns, english.Auxiliaries),
			relation(one) != "", kin.Has(one), links.Has(w.Text), givenNames.Has(one):
			return "", false
		default:
			words = append(words, one)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " "), isNew
}

// stateValue is the value that ws begins with, and its kind: "amount time" and "15 minutes", "clock" and "7:30", "place
// at" and "75 harbour street", "name" and "kia".
func (c *claim) stateValue(ws english.Words) (kind, value string) {
	link := ""
	for len(ws) > 0 && (toValue.Has(ws[0].Text) || ws[0].Text == "in" || changeWords.Has(ws[0].Text)) {
		if w := ws[0].Text; english.Prepositions.Has(w) && w != "about" && w != "around" {
			link = w
		}
		ws = ws[1:]
	}
	if len(ws) == 0 {
		return "", ""
	}
	end := 0
	for end < min(len(ws), maxAddressWords) && (end == 0 || !stopsClause(ws[end-1].Stop)) {
		end++
	}
	ws = ws[:end]
	w := ws[0].Text
	if ws.Any(clockWords) || strings.Contains(w, ":") || strings.HasSuffix(w, "am") || strings.HasSuffix(w, "pm") {
		return "clock", withoutCue(ws).String()
	}
	thing := ws
	for len(thing) > 1 && (english.Articles.Has(thing[0].Text) || currencies.Has(thing[0].Text)) {
		thing = thing[1:]
	}
	if thing.Any(comparative) {
		return "", "" // "10 minutes late"
	}
	if english.StartsWithDigit(thing[0].Text) || unitKinds.Of(singular(thing[0].Text)) == "time" {
		return c.amountOf(thing, link, english.Articles.Has(w))
	}
	return c.nameOrPlace(thing, link, w)
}

// amountOf is a number with its unit, or an address, behind a link such as "at". A unit alone needs its article: "an
// hour".
func (c *claim) amountOf(ws english.Words, link string, article bool) (kind, value string) {
	unit := unitKinds.Of(singular(ws[0].Text))
	number := english.StartsWithDigit(ws[0].Text)
	if number && unit == "" {
		unit = unitKinds.Of(singular(ws.At(1)))
	}
	switch {
	case number && ws.At(1) == "over" && len(ws) > 2 && english.StartsWithDigit(ws[2].Text): // a blood pressure
		return "amount over", ws[:3].String()
	case number && unit == "" && len(ws) > 1 && c.capital(ws[1]) && !isDate(ws[0].Text):
		return "place at", withoutCue(ws).String() // "75 Harbour Street"
	case ws.Has("for"):
		return "", "" // "3,000 euros for food"
	case number && (link == "" || unit != "") && !isDate(ws[0].Text):
		return "amount " + unit, withoutCue(ws[:min(2, len(ws))]).String()
	case !number && article:
		return "amount " + unit, ws[0].Text
	}
	return "", ""
}

// nameOrPlace is a name, a code such as a password, or the place with a name behind "in" or "at".
func (c *claim) nameOrPlace(ws english.Words, link, article string) (kind, value string) {
	named := c.properThing(withoutCue(ws))
	switch {
	case link == "" && named && c.named(ws[:1]) == "":
		return "name", withoutCue(ws).String()
	case named && (link == "in" || link == "at"):
		return "place " + link, withoutCue(ws).String()
	case !named && spotLinks.Has(link) && english.Articles.Has(article):
		if spot := withoutCue(ws); len(spot) < 3 && len(c.thingNames(spot, nil)) > 0 {
			return "spot", singular(spot[len(spot)-1].Text) // "by the window", "in the basement"
		}
	case link == "" && len(ws) == 1 && strings.ContainsFunc(ws[0].Text, inCode):
		return "name", ws[0].Text
	}
	return "", ""
}

// inCode reports whether r is what codes and passwords have.
func inCode(r rune) bool { return r >= '0' && r <= '9' || r == '-' || r == '_' }

// withoutCue is ws up to a word that tells since when it is so: "75 Harbour Street now".
func withoutCue(ws english.Words) english.Words {
	for i := range ws {
		if w := ws[i].Text; i > 0 && (changeWords.Has(w) || stateCues.Match(ws, i) > 0 || w == "for" || w == "by" ||
			w == "from" || w == "on" || isDate(w)) {
			return ws[:i]
		}
	}
	return ws
}

// How many live together is told without a noun that could be counted: "there are five of us". What they share must be
// named in both statements, or be the home, as people are of many groups. People in one car are no group.

// household reads how many live in the speaker's home: "there are five of us in the flat", "we're four at home now".
func (c *claim) household(ws english.Words) []Claim {
	at := 0
	switch {
	case !isBe(ws.At(1)) || !isNumber(ws.At(2)):
		return nil
	case ws[0].Text == "there" && ws[3:].StartWith("of", "us"):
		at = 5
	case ws[0].Text == "there" && ws.At(3) == "people":
		at = 4
	case ws[0].Text == "we":
		at = 3
	default:
		return nil
	}
	rest := withoutCue(ws[at:])
	now := c.changed || len(rest) > 0 && changeWords.Has(rest[0].Text)
	of := "home"
	// "There are six of us" may be said of a firm.
	switch home := rest.Any(dwellings) || rest.Any(atHome); {
	case len(rest) > 2 && (rest[0].Text == "in" || rest[0].Text == "on") && groupNouns.Has(rest[2].Text):
		of = rest[2].Text // "six people in my team at work"
	case !home || len(rest) > 4 || ws.At(3) == "people":
		return nil
	}
	return []Claim{{Attribute: "members " + of, Value: ws[2].Text, Changed: now}}
}
