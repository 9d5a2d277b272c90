package canonical

import (
	"slices"
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/extract/english"
)

// minReachDigits is how many digits a number has at least that is read as that of a phone
// wherever it stands.
const minReachDigits = 7

// reached gives how the speaker is reached, wherever the number or the address stands in a
// fact that says so: "got a new sim, call me on 07700 900456".
func (c *claim) reached(all english.Words, changed bool) (out []Claim) {
	if !tellsReach(all) || all.Any(uncertainNouns) || all.Any(negations) || all.Any(numbered) {
		return nil
	}
	for _, w := range all {
		others := strings.HasSuffix(w.Text, "'s") || thirdPersons.Has(w.Text) ||
			possessives.Has(w.Text) && w.Text != "my" && w.Text != "our"
		if others || w.Text == "work" || w.Text == "office" ||
			relation(singular(w.Text)) != "" || kin.Has(singular(w.Text)) {
			return nil // "my mom's number", "she got a new number"
		}
	}
	for i := 0; i < len(all); i++ {
		for n := min(4, len(all)-i); n > 0; n-- {
			ws := all[i : i+n]
			if slices.ContainsFunc(ws, isWrittenDate) {
				continue
			}
			if n == 1 && strings.Contains(c.text[ws[0].Start:ws[0].End], "@") {
				if value := c.emailAddress(ws); value != "" {
					out = append(out, Claim{Attribute: "one email", Value: value, Changed: changed})
				}
			}
			if value := c.phoneNumber(ws); digits(value) >= minReachDigits {
				out = append(out, Claim{Attribute: "one phone", Value: value, Changed: changed})
				i += n - 1
				break
			}
		}
	}
	// Of two numbers the fact does not tell which one holds, so that none is read.
	if len(out) > 1 {
		return nil
	}
	return out
}

// isWrittenDate reports whether w is a date such as "2026-03-16", which has as many digits as a number.
func isWrittenDate(w english.Word) bool { return strings.Contains(w.Text, "-") && isDate(w.Text) }

// tellsReach reports whether ws tells how the speaker is reached. A number or an address that nothing
// ties to the speaker may be anybody's: "write an email to bob@example.com".
func tellsReach(ws english.Words) bool {
	for i, w := range ws {
		switch w.Text {
		case "me", "us":
			if i > 0 && reachVerbs.Has(ws[i-1].Text) {
				return true
			}
		case "my", "our", "new", "different":
			for _, noun := range ws[i+1 : min(i+4, len(ws))] {
				if reachNouns.Has(noun.Text) {
					return true
				}
			}
		}
	}
	return false
}

// digits counts the digits of s.
func digits(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// corrected gives the end of a value that is said to be wrong: "it's Elise, not Elisa".
func (c *claim) corrected(all english.Words) (out []Claim) {
	for i := 1; i+1 < len(all); i++ {
		// "Is not Ann" denies a statement, and corrects none.
		if all[i].Text != "not" || inAny(all[i-1].Text, english.Auxiliaries, beForms) || all[i-1].Text == "do" {
			continue
		}
		marked := stopsClause(all[i-1].Stop) || all[i-1].Text == "and"
		if !correcting.Found(all) && !all[:i].StartWith("it", "is") && !marked {
			continue
		}
		ws := all[i+1:]
		for len(ws) > 1 && (english.Articles.Has(ws[0].Text) || english.Prepositions.Has(ws[0].Text)) {
			ws = ws[1:]
		}
		for n := min(len(ws), maxObjectWords); n > 0; n-- {
			if !goesOn(ws[:n], ws[n:]) && !ws[:n].Any(english.Pronouns) && !ws[:n].Any(english.StopWords) {
				return []Claim{{Attribute: valueAttribute + ws[:n].String(), Value: held, Ended: true}}
			}
		}
	}
	return nil
}

// valueAttribute begins the attribute that a fact has for each of its values, so that a
// correction that names the value ends it.
const valueAttribute = "value "

// withValues adds the attributes of the values of claims.
func withValues(claims []Claim) []Claim {
	seen := map[string]bool{}
	for _, c := range claims {
		if c.Ended || c.Value == held || c.Value == "" || seen[c.Value] || c.Value == liked || c.Value == disliked ||
			maritalStatuses.Has(c.Value) || c.Value == "dating" {
			continue
		}
		seen[c.Value] = true
		claims = append(claims, Claim{Attribute: valueAttribute + c.Value, Value: held, Several: true, Loose: true})
	}
	return claims
}
