package canonical

import (
	"regexp"

	"github.com/memoryd/memoryd/extract/english"
)

// maxNounWords bounds the name of an attribute: "least favorite programming
// language".
const maxNounWords = 6

// nounRule reads the value of an attribute that a noun names: "My birthday is 3
// May". The table attribute-nouns gives the nouns of each attribute.
type nounRule struct {
	attribute string
	owners    func(o owner) bool // whose attribute is read
	// read gives the value, or "" if the words are none. A rule without read is
	// that of a measure, whose unit joins the attribute.
	read    func(c *claim, ws english.Words) string
	example string // "fact = attribute: value"
}

// nounRules are the rules of attributes that a noun names. No attribute has two.
var nounRules = []nounRule{
	{"name", hasName, (*claim).firstName, "My dog's name is Rex = dog name: rex"},
	{"first name", owner.isOne, (*claim).properName, "My first name is Ann = first name: ann"},
	{"full name", owner.isOne, (*claim).properName, "My full name is Ann Lee = full name: ann lee"},
	{"last name", owner.isOne, (*claim).properName, "My last name is Lee = last name: lee"},
	{"surname", owner.isOne, (*claim).properName, "My surname is Lee = surname: lee"},
	{"middle name", owner.isOne, (*claim).properName, "My middle name is Jane = middle name: jane"},
	{"maiden name", owner.isOne, (*claim).properName, "My maiden name is Lee = maiden name: lee"},
	{"birthday", anyone, monthAndDay, "My sister's birthday is 3 May = sister birthday: 5 3"},
	{"anniversary", owner.isOne, monthAndDay, "Our anniversary is on May 3rd = anniversary: 5 3"},
	{"phone", owner.isOne, (*claim).phoneNumber, "My phone number is 555 123 45 = phone: 55512345"},
	{"mobile", owner.isOne, (*claim).phoneNumber, "My cell is 555 123 45 = mobile: 55512345"},
	{"work phone", owner.isOne, (*claim).phoneNumber, "My work number is 555 123 45 = work phone: 55512345"},
	{"address", owner.isOne, (*claim).streetAddress, "My address is 12 High Street = address: 12 high street"},
	{"email", owner.isOne, (*claim).emailAddress, "My email is a@b.c = email: a@b.c"},
	{"work email", owner.isOne, (*claim).emailAddress, "My work email is a@b.c = work email: a@b.c"},
	{"personal email", owner.isOne, (*claim).emailAddress, "My private email is a@b.c = personal email: a@b.c"},
	{"height", owner.isOne, nil, "My height is 180 cm = height cm: 180"},
	{"weight", owner.isOne, nil, "My weight is 80 kg = weight kg: 80"},
	{"employer", owner.isOne, (*claim).company, "My employer is Acme = employer: acme"},
	{"occupation", owner.isOne, (*claim).job, "My job is being a nurse = occupation: nurse"},
	{"timezone", owner.isOne, (*claim).capitalNoun, "My time zone is CET = timezone: cet"},
	{"birthplace", owner.isOne, (*claim).capitalNoun, "My birthplace is Porto = birthplace: porto"},
	{"native language", owner.isOne, (*claim).capitalNoun, "My native language is Dutch = native language: dutch"},
	{"star sign", owner.isOne, (*claim).capitalNoun, "My zodiac sign is Leo = star sign: leo"},
	{"shoe size", owner.isOne, (*claim).commonNoun, "My shoe size is 42 = shoe size: 42"},
	{"ring size", owner.isOne, (*claim).commonNoun, "My ring size is 12 = ring size: 12"},
	{"eye color", owner.isOne, (*claim).commonNoun, "My eye color is green = eye color: green"},
	{"hair color", owner.isOne, (*claim).commonNoun, "My hair color is brown = hair color: brown"},
	{"religion", owner.isOne, (*claim).commonNoun, "My religion is Islam = religion: islam"},
	{"zip code", owner.isOne, (*claim).commonNoun, "My postcode is 1234 = zip code: 1234"},
	{"hometown", owner.isOne, (*claim).town, "My hometown is Porto = hometown: porto"},
}

var nounRulesByAttribute = func() map[string]nounRule {
	out := map[string]nounRule{}
	for _, rule := range nounRules {
		out[rule.attribute] = rule
	}
	return out
}()

func anyone(owner) bool { return true }

// hasName reports whether the name of o tells of one being: that of "my sister"
// does not.
func hasName(o owner) bool { return o.isOne() || pets.Has(string(o)) }

// verbAt is where "is" or "are" stands after the noun that ws begins with; 0 if a
// mark ends the noun before, or nothing follows the verb.
func verbAt(ws english.Words) int {
	for k := 1; k+1 < len(ws) && k <= maxNounWords; k++ {
		if w := ws[k].Text; w == "is" || w == "are" {
			return k
		}
		if stop := ws[k-1].Stop; stop != 0 && stop != '\'' {
			return 0
		}
	}
	return 0
}

// noun reads "name is Ann" and "favorite color is green", which follow "my" or
// "my sister's".
func (c *claim) noun(o owner, ws english.Words) reading {
	k := verbAt(ws)
	noun, rest := ws[:k], ws[min(k+1, len(ws)):]
	if k == 0 {
		for k = 1; k < min(len(ws), maxNounWords); k++ {
			if n := becoming.Match(ws, k); n > 0 && k+n < len(ws) {
				noun, rest = ws[:k], ws[k+n:]
				break
			}
		}
	}
	if len(noun) == 0 {
		return reading{}
	}
	if ws[k].Text == "are" {
		return pronouns(noun, rest).of(o)
	}
	if noun[0].Text == "favorite" || noun.StartWith("least", "favorite") {
		return c.favorite(noun, rest).of(o)
	}
	rule, ok := nounRulesByAttribute[attributeNouns.Of(noun.String())]
	if !ok || !rule.owners(o) {
		return reading{}
	}
	if rule.read == nil {
		if n := reaching.Match(rest, 0); n > 0 && n < len(rest) { // "is down to 81 kg"
			rest = rest[n:]
		}
		return measured(rule.attribute, rest).of(o)
	}
	return reading{rule.attribute, rule.read(c, rest)}.of(o)
}

// pronounForms matches the pronouns that people go by: "she/her", "they them".
var pronounForms = regexp.MustCompile(`^(?:he|him|his|she|her|hers|they|them|theirs|ze|zir|xe|xem|[ /])+$`)

// pronouns reads "pronouns are she/her".
func pronouns(noun, ws english.Words) reading {
	if text := ws.String(); noun.String() == "pronouns" && pronounForms.MatchString(text) {
		return reading{"pronouns", text}
	}
	return reading{}
}

// job reads "a nurse" and "being a nurse".
func (c *claim) job(ws english.Words) string {
	if ws[0].Text == "being" {
		ws = ws[1:]
	}
	return occupation(ws).value
}

// tasteRules say which values a favorite may have, by the last word of its noun,
// so that no remark is read as a value ("My favorite show is back").
var tasteRules = []struct {
	heads   func(head string) bool
	accepts func(c *claim, head string, value english.Words) bool
	example string // "fact = attribute: value"
}{
	{isColorNoun, isColor, "My favorite color is dark green = favorite color: dark green"},
	{namedTastes.Has, isNamed, "My favorite book is Dune = favorite book: dune"},
	{commonTastes.Has, isThing, "My favorite food is pizza = favorite food: pizza"},
}

// favorite reads the value of "favorite color".
func (c *claim) favorite(noun, ws english.Words) reading {
	last := len(noun) - 1
	for _, w := range noun[:last] {
		one := w.Text == "favorite" || w.Text == "least"
		if !one && inAny(w.Text, favoriteQualifiers, english.Deictic, english.Prepositions) {
			return reading{} // one of several: "my second favorite color"
		}
	}
	head := noun[last].Text
	for _, rule := range tasteRules {
		if last > 0 && rule.heads(head) {
			if !rule.accepts(c, head, ws) {
				return reading{}
			}
			return reading{noun.String(), c.plainValue(ws, maxValueWords)}
		}
	}
	return reading{}
}

func isColorNoun(head string) bool { return head == "color" }

func isColor(_ *claim, _ string, value english.Words) bool {
	return colors.Has(value.At(len(value) - 1))
}

// isNamed reports whether value looks like a name: a capital, a number, or "the",
// and no people alone ("My favorite band is German").
func isNamed(c *claim, _ string, value english.Words) bool {
	first := value[0]
	if len(value) == 1 && english.States.Has(first.Text) {
		return false
	}
	return c.capital(first) || english.StartsWithDigit(first.Text) || first.Text == "the"
}

// isThing reports whether value is no activity: only a favorite sport is one.
func isThing(_ *claim, head string, value english.Words) bool {
	return len(value) > 1 || head == "sport" || !endsInIng(value[0].Text)
}

const (
	maxValueWords    = 5 // of a favorite
	maxFavoriteWords = 6 // of "is my favorite programming language"
)

// favoriteAtEnd reads "Green is my favorite color".
func (c *claim) favoriteAtEnd() reading {
	ws := c.words
	for i := 1; i+2 < len(ws) && i <= maxValueWords; i++ {
		n := favoriteBe.Match(ws, i)
		if n == 0 || i+n >= len(ws) {
			continue
		}
		if inAny(ws[0].Text, english.Deictic, english.Articles, possessives) || len(ws)-i-n+3 > maxFavoriteWords {
			return reading{}
		}
		// "Favorite" is the last word of the phrase, and the first of the noun.
		return c.favorite(ws[i+n-1:], ws[:i])
	}
	return reading{}
}

// forSomebody reports whether ws says that a thing before it is for somebody else: "a new phone for my mom".
func forSomebody(ws english.Words) bool {
	if ws.At(0) != "for" || len(ws) < 2 {
		return false
	}
	who := ws[1]
	mine := possessives.Has(who.Text) && (relation(ws.At(2)) != "" || persons.Has(ws.At(2)))
	return mine || thirdPersons.Has(who.Text) || who.Upper && givenNames.Has(who.Text)
}
