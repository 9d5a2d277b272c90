package english

import (
	"strings"
	"testing"
)

// A clause begins where a subject and its verb follow, or a verb behind "and"; the rest is a remark.
func TestClauses(t *testing.T) {
	for text, want := range map[string]string{
		"I live in Ghent above a bakery":                    "i live in ghent above a bakery",
		"I'm 34 and I live in Ghent":                        "i am 34 / i live in ghent",
		"I live in Ghent and work in Bruges":                "i live in ghent / +work in bruges",
		"I live in Ghent, which is old":                     "i live in ghent [which is old]",
		"I left because it was dull":                        "i left [because it was dull]",
		"I left because of you":                             "i left [because of you]",
		"Ann and I live in Ghent":                           "ann and i live in ghent",
		"I work for Siemens now, no contest":                "i work for siemens now [no contest]",
		"I moved out, the new flat has a garden":            "i moved out / the new flat has a garden",
		"I moved to Ghent, near the zoo, and the kids moan": "i moved to ghent [near the zoo and the kids moan]",
		"I hate running, always have":                       "i hate running [always have]",
		"My sister lives in Oslo and my brother in Rome":    "my sister lives in oslo and my brother in rome",
		"I like bread and butter":                           "i like bread and butter",
	} {
		ws := Split(text)
		var parts []string
		for _, c := range Clauses(ws) {
			s := ws[c.From:c.Core].String()
			if c.Core < c.To {
				s += " [" + ws[c.Core:c.To].String() + "]"
			}
			if c.Shared {
				s = "+" + s
			}
			parts = append(parts, s)
		}
		if got := strings.Join(parts, " / "); got != want {
			t.Errorf("%q has the clauses %q, want %q", text, got, want)
		}
	}
}
