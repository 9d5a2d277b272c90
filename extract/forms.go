package extract

import (
	"context"
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Form is what the rules compare of a fact.
type Form struct {
	Gist        string // see Gist
	Slot, Value string // see Slot; "" if it has none
	Ends        string // the gist that it ends, see Ends; "" if it ends none
}

// FormOf reads a fact. What it states of "the user" it has in common with what
// the user states: "User lives in Porto" is read as "I live in Porto".
func FormOf(fact string) Form {
	fact = asUser(fact)
	f := Form{Gist: Gist(fact)}
	f.Slot, f.Value, _ = Slot(fact)
	f.Ends, _ = Ends(fact)
	return f
}

// Excludes reports whether two facts of one author cannot both hold at a time:
// they give one attribute two values, or one says that the other holds no more.
func (f *Form) Excludes(o *Form) bool {
	return f.Slot != "" && f.Slot == o.Slot && f.Value != o.Value || f.Ends != "" && f.Ends == o.Gist || o.Ends != "" && o.Ends == f.Gist
}

// Consolidate implements Extractor. All that the rules can tell of two facts is
// in their forms, whoever found them, so there is nothing to add.
func (r *Rules) Consolidate(_ context.Context, c Comparison, _ bool) (Consolidated, error) {
	return Consolidated{Verdicts: createAll(c)}, nil
}

// ofUser reads how models begin what they state of the user, with up to one
// adverb before the verb.
var ofUser = regexp.MustCompile(`(?s)^(?:[Tt]he )?[Uu]ser(?:(['’]s) +| +((?:no longer|never|always|now|currently|also|really) +)?([a-z'’]+))(.*)$`)

// asUser is a fact as the user would state it, or as it is if it does not begin
// with the user and a verb that is known.
func asUser(fact string) string {
	m := ofUser.FindStringSubmatch(fact)
	if m == nil {
		return fact
	}
	if m[1] != "" {
		return "My " + m[4]
	}
	verb := firstPerson(strings.ReplaceAll(m[3], "’", "'"))
	if verb == "" {
		return fact
	}
	return "I " + m[2] + verb + m[4]
}

// firstPerson is the verb of "the user" after "I"; "" if it is not known.
func firstPerson(v string) string {
	switch v {
	case "is":
		return "am"
	case "isn't":
		return "am not"
	case "has":
		return "have"
	case "hasn't":
		return "have not"
	case "does":
		return "do"
	case "doesn't":
		return "do not"
	case "was", "wasn't", "had", "did", "didn't", "can", "can't", "cannot", "will", "won't", "would":
		return v
	}
	if english.Past(v) {
		return v
	}
	for _, base := range []string{strings.TrimSuffix(v, "s"), strings.TrimSuffix(v, "es"), strings.TrimSuffix(v, "ies") + "y"} {
		if english.ThirdPerson(base) == v {
			return base
		}
	}
	return ""
}
