package english

import "strings"

// Past reports whether w is the past form of a verb, or looks like one.
func Past(w string) bool {
	return irregularPast.Has(w) || len(w) > 3 && strings.HasSuffix(w, "ed") && !notPast.Has(w)
}

// knownVerb reports whether v is a verb that the tables have, in its plain form.
func knownVerb(v string) bool { return PresentVerbs.Has(v) || moreVerbs.Has(v) }

// Infinitive is the verb of a form in -ing; "" if it is not surely known.
func Infinitive(ing string) string {
	stem, ok := strings.CutSuffix(ing, "ing")
	if !ok || len(stem) < 2 {
		return ""
	}
	if last := len(stem) - 1; stem[last] == stem[last-1] && knownVerb(stem[:last]) {
		return stem[:last] // "running"
	}
	for _, v := range []string{stem, stem + "e"} {
		if knownVerb(v) {
			return v
		}
	}
	return ""
}

// ThirdPerson is the verb v after "my sister"; "" if v is not known.
func ThirdPerson(v string) string {
	switch {
	case v == "have":
		return "has"
	case v == "be" || !knownVerb(v) && !Likings.Has(v):
		return ""
	case strings.HasSuffix(v, "y") && len(v) > 1 && !strings.ContainsRune("aeiou", rune(v[len(v)-2])):
		return v[:len(v)-1] + "ies"
	case strings.HasSuffix(v, "s"), strings.HasSuffix(v, "x"), strings.HasSuffix(v, "sh"), strings.HasSuffix(v, "ch"),
		strings.HasSuffix(v, "o"):
		return v + "es"
	}
	return v + "s"
}
