package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Without the bridge, two facts about one attribute would miss each other if a table reads the one and weights the
// other: "And where are you based? Lyon." and "Nantes is home now". So each claim of a table about an attribute that
// is a slot is given once more, under the attribute of the slot.
//
// A value of the tables is one name in their spelling, and a value of weights is a set of words, so that "st anne" of
// a table is a part of "anne hospital st" and counts as the same. An end of one value by a table stays with the
// table. One of any value ends what weights have read, too. A claim of several values, such as an occupation, is
// loose: a newer one of its kind leaves it alone, and only a change ends it. A doubtful sentence is not bridged.

// bridged are the claims of tables as weights would have read them, so that either takes the place of the other.
func bridged(tabled []Claim) (out []Claim) {
	for i := range tabled {
		t := tabled[i]
		o, name := owner(""), t.Attribute
		slot := sameSlot.Of(name)
		for slot == "" {
			word, rest, ok := strings.Cut(name, " ")
			if !ok {
				break
			}
			name = rest
			slot = sameSlot.Of(name)
			o = owner(strings.TrimSpace(string(o) + " " + word))
		}
		if slot == "" || t.Narrow || strings.Contains(string(o), " ") {
			continue
		}
		cl := Claim{
			Attribute: o.attribute(heldAttribute + slot), Value: t.Value,
			Ended: t.Ended && t.Value == "", Several: true,
			Mild:    !t.Changed,
			Changed: !t.Ended && (t.Changed || !t.Several && tabledChange.Has(slot)),
			Loose:   t.Loose || t.Several, Held: true,
			Dated: t.Dated, Until: t.Until,
		}
		switch {
		case t.Ended && t.Value != "":
			continue
		case slot == "relation" && (t.Value == "divorced" || t.Value == "widowed"):
			cl.Value = "single"
		}
		if slot == "address" {
			cl.Value = digitsOf(t.Value)
		}
		out = append(out, cl)
	}
	return out
}

// digitsOf are the digits of s.
func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// bound adds the relation that "my wife" tells of.
func (c *claim) bound(out []Claim, all english.Words) []Claim {
	for i := range all {
		if w := all[i].Text; w != "my" && w != "our" {
			continue
		}
		if status := boundBy.Of(all.At(i + 1)); status != "" && !all.Any(negations) && !all.Any(bereft) {
			cl := Claim{Attribute: heldAttribute + "relation", Value: status, Several: true, Loose: true, Held: true}
			if !slices.ContainsFunc(out, func(x Claim) bool { return x.Attribute == cl.Attribute }) {
				return append(out, cl)
			}
		}
	}
	return out
}
