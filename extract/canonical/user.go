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
