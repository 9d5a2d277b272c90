package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Who prefers one of two things contradicts a preference of the other one: "I prefer tabs over spaces" and "I prefer
// spaces over tabs". A few nouns have sides of which people prefer one: dark and light mode. Other preferences stay
// beside each other, since who prefers Thai food may prefer Italian food to it.

var (
	sidesOf   = tables.Variants("sides")
	overWords = tables.Phrases("over-words")
)

// preference reads "prefer tabs over spaces" and "prefer dark mode". A statement that goes on bounds it: "at night".
func (c *claim) preference(o owner, ws english.Words) []Claim {
	ws = withoutAdverbs(ws)
	if v := ws.At(0); v != "prefer" && v != "prefers" {
		return nil
	}
	ws = withoutArticle(withoutChange(ws[1:]))
	for i := 1; i < len(ws) && i <= maxObjectWords; i++ {
		n := overWords.Match(ws, i)
		if n == 0 || i+n >= len(ws) {
			continue
		}
		one, other := wholeObject(ws[:i]), wholeObject(ws[i+n:])
		if one == "" || other == "" || one == other {
			return nil
		}
		both := []string{one, other}
		slices.Sort(both)
		return []Claim{{Attribute: o.attribute("preferred of " + strings.Join(both, " and ")), Value: one}}
	}
	if len(ws) == 1 && drinks.Has(ws[0].Text) {
		one, told := o.attribute("preferred drink"), c.changed && !strings.Contains(c.text, ",")
		return []Claim{{Attribute: one, Value: ws[0].Text, Several: true, Changed: told}}
	}
	if len(ws) != 2 {
		return nil
	}
	noun := singular(ws[1].Text)
	if side := ws[0].Text; sidesOf.Of(side+" "+noun) != "" {
		return []Claim{{Attribute: o.attribute("preferred " + sidesOf.Of(side+" "+noun)), Value: side}}
	}
	return nil
}
