package canonical

import (
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// ofUser matches the beginning of a statement about the user, as models write
// it, with at most one adverb before the verb.
var ofUser = regexp.MustCompile(`(?s)^(?:[Tt]he )?[Uu]ser(?:` +
	`(['’]s) +|` +
	` +((?:no longer|never|always|now|currently|also|really) +)?([a-z'’]+)` +
	`)(.*)$`)

// withoutSubject matches the beginning of a statement that names no subject, as models write it for a tool: "Lives in
// Porto", "No longer works at Acme".
var withoutSubject = regexp.MustCompile(`(?s)^((?:(?:[Nn]o longer|[Nn]ever|[Aa]lways|[Nn]ow|[Cc]urrently|[Aa]lso|` +
	`[Rr]eally|[Uu]sually|[Rr]ecently|[Jj]ust) +)*)([A-Za-z'’-]+)((?:[ .,].*)?)$`)

// firstPerson is a statement about the user as the user would say it. Any other
// fact, and one whose verb is not known, stays as it is.
func firstPerson(fact string) string {
	m := ofUser.FindStringSubmatch(fact)
	if m == nil {
		return fact
	}
	possessive, adverb, verb, rest := m[1], m[2], m[3], m[4]
	if possessive != "" {
		return "My " + rest
	}
	verb = firstPersonVerb(strings.ReplaceAll(verb, "’", "'"))
	if verb == "" {
		return fact
	}
	return "I " + adverb + verb + rest
}

// firstPersonVerb is the verb of "the user" after "I"; "" if it is not known.
func firstPersonVerb(v string) string {
	if first := firstPersonForms.Of(v); first != "" {
		return first
	}
	if english.Past(v) {
		return v
	}
	for _, base := range []string{
		strings.TrimSuffix(v, "s"), strings.TrimSuffix(v, "es"), strings.TrimSuffix(v, "ies") + "y",
	} {
		if english.ThirdPerson(base) == v {
			return base
		}
	}
	return ""
}

// withUser is a fact without a subject as a statement of the user's. A fact that begins with another word than a verb
// in the third person or in the past, a lasting state or an attribute that people have stays as it is, as does one that
// does not look English. Only what is compared changes, and never the text of a fact.
func withUser(fact string) string {
	if said := withSubject(fact); said != fact && english.Probable(english.Lex(said)) {
		return said
	}
	return fact
}

// withSubject puts "I" or "my" before a fact without a subject.
func withSubject(fact string) string {
	m := withoutSubject.FindStringSubmatch(fact)
	if m == nil {
		return fact
	}
	adverbs, word, rest := strings.ToLower(m[1]), strings.ToLower(strings.ReplaceAll(m[2], "’", "'")), m[3]
	next := english.Lex(rest).At(0)
	if adverbs == "" {
		if noun, value, ok := ownAttribute(fact); ok {
			return "My " + noun + " is " + value
		}
	}
	switch {
	case word == "born":
		return "I was " + adverbs + word + rest
	case (english.States.Has(word) || givenStates.Has(word)) &&
		(next == "" || english.Prepositions.Has(next) || next == "and"):
		return "I am " + adverbs + word + rest // but not "Vegan restaurants are nice"
	case word == "quit" && endsInIng(next) && !english.AgentVerbs.Has(english.Infinitive(next)):
		return "I " + adverbs + word + rest // but not "Quit calling me sir"
	case ordersToo.Has(word), asksFirst(word, next):
		return fact // "Read me a story", "Is the door open"
	case givenNames.Has(word), personVerbs.Has(next), english.Auxiliaries.Has(next), word == "will":
		return fact // "Rose lives in Porto", "Will moved to Porto", "French is spoken there"
	case word == "was" && !inAny(next, english.Articles, english.Prepositions):
		return fact // "Was sie mag"
	}
	if verb := firstPersonVerb(word); verb != "" {
		return "I " + adverbs + verb + rest
	}
	return fact
}

// asksFirst reports whether a fact begins like a question, with an auxiliary and a subject behind it.
func asksFirst(word, next string) bool {
	return english.Auxiliaries.Has(word) &&
		(english.Pronouns.Has(next) || next == "the" || english.Deictic.Has(next) || possessives.Has(next))
}

// ownAttribute reads "Birthday is 3 May": an attribute that people have, and its value.
func ownAttribute(fact string) (noun, value string, ok bool) {
	noun, value, ok = strings.Cut(fact, " is ")
	ws := english.Lex(noun)
	if !ok || len(ws) == 0 || len(ws) > maxNounWords {
		return "", "", false
	}
	own := ownAttributes.Match(ws, 0) == len(ws) || ws[0].Text == "favorite" && len(ws) > 1
	return uncapitalized(noun), value, own
}

// uncapitalized is a noun as it stands within a sentence.
func uncapitalized(s string) string { return strings.ToLower(s[:1]) + s[1:] }
