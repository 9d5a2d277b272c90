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
	clauses, told := marked(all), false
	var said english.Words // the clauses that tell of the number: "give it to the clinic if they ask" is another one
	for _, ws := range clauses {
		reaches := tellsReach(ws)
		told = told || reaches
		if reaches || slices.ContainsFunc(ws, func(w english.Word) bool { return english.StartsWithDigit(w.Text) }) {
			said = append(said, ws...)
		}
	}
	if !told || uncertainReach(said) || !c.reachesSpeaker(all) || said.Any(negations) || said.Any(numbered) {
		return nil
	}
	changed = changed || becoming.Found(all)
	for _, w := range said {
		others := strings.HasSuffix(w.Text, "'s") || thirdPersons.Has(w.Text) ||
			possessives.Has(w.Text) && w.Text != "my" && w.Text != "our"
		if others || w.Text == "work" || w.Text == "office" || relation(singular(w.Text)) != "" ||
			kin.Has(singular(w.Text)) {
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

// uncertainReach reports whether ws may tell of no number that holds: "if I get a new number". In "people should ring
// me on", others are asked to use one that does.
func uncertainReach(ws english.Words) bool {
	for i, w := range ws {
		asked := w.Text == "should" && reachVerbs.Has(ws.At(i+1))
		if uncertainNouns.Has(w.Text) && !asked {
			return true
		}
	}
	return false
}

// reachesSpeaker reports whether the first number or address of a fact is the speaker's by the words before it, or by
// those right behind it: "0470 11 22 33 is my number". Behind it may follow anything: "…, which amuses my family".
func (c *claim) reachesSpeaker(all english.Words) bool {
	at := slices.IndexFunc(all, func(w english.Word) bool {
		return english.StartsWithDigit(w.Text) || strings.Contains(c.text[w.Start:w.End], "@")
	})
	if at < 0 {
		at = len(all)
	}
	for i, w := range all {
		if own := speakersOwn.Has(w.Text) || w.Text == "i"; own && (i < at || isBe(all.At(i-1)) || w.Text == "me") {
			return true
		}
	}
	return false
}

// marked are the parts of ws between its marks.
func marked(ws english.Words) (out []english.Words) {
	start := 0
	for i := range ws {
		if i+1 == len(ws) || stopsClause(ws[i].Stop) {
			out = append(out, ws[start:i+1])
			start = i + 1
		}
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
				if reachNouns.Has(noun.Text) || noun.Text == "address" && strings.Contains(ws.String(), "@") {
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

// corrected gives the end of a value that is said to be wrong: "it's Elise, not Elisa", "I meant cashews when I said
// peanuts".
func (c *claim) corrected(all english.Words) (out []Claim) {
	for i := range all {
		if n := misspoken.Match(all, i); n > 0 && i+n < len(all) && correctsAt(all, i, n) {
			return c.wrongValue(lastOfStatement(all[i+n:]))
		}
		// "Is not Ann" denies a statement, and corrects none.
		if i == 0 || i+1 == len(all) || all[i].Text != "not" || inAny(all[i-1].Text, english.Auxiliaries, beForms) ||
			all[i-1].Text == "do" {
			continue
		}
		said := all[min(i, english.SkipLeads(all)):i]
		// "It's Friday, not Monday, that the choir sings" names another thing than the one before.
		if rest := all[i+1:]; tellsWrong(all, said) && !rest.Has("that") && !rest.Has("when") && !rest.Has("where") {
			wrong := all[i+1:]
			if at := slices.IndexFunc(wrong, func(w english.Word) bool { return w.Text == "one" }); at > 0 {
				wrong = slices.Clone(wrong) // "the Swedish embassy, not the Swiss one"
				wrong[at].Text = all[i-1].Text
			}
			// "It's oat milk, not milk" tells of a thing, and ends no allergy.
			return slices.DeleteFunc(c.wrongValue(wrong), func(w Claim) bool {
				return strings.HasPrefix(w.Attribute, allergyValue) && !all[:i].Has("meant")
			})
		}
	}
	return nil
}

// maxSaid bounds the words of what is right in a correction: "it's Elise".
const maxSaid = 4

// tellsWrong reports whether words before "not" begin a correction of the speaker's: "it is Elise", or "actually my bus
// leaves at nine". "That's Braga, not Porto" may tell of a picture, "it's three cups, not two" of a recipe, and "Tom
// works at Bosch, not Acme" of somebody else.
func tellsWrong(all, said english.Words) bool {
	if said.Has("who") || said.Has("which") || said.Has("that") && said.At(0) != "that" && !said.Has("mixed") {
		return false
	}
	if correcting.Found(all) {
		w := said.At(0)
		ours := w == "i" || w == "we" || w == "my" || w == "our" || w == "it"
		return len(said) < maxSaid || ours || said.Has("meant") || said.Has("name")
	}
	return said.StartWith("it", "is") && len(said) < maxSaid+1 &&
		!(english.StartsWithDigit(said.At(2)) && len(said) > 3)
}

// correctsAt reports whether "I said" at all[i], of n words, is what was wrong: the fact says what was meant instead.
func correctsAt(all english.Words, i, n int) bool {
	for k := range all {
		// "I meant it when I said peanuts" stands by what was said.
		if all[k].Text == "meant" && (k < i || k >= i+n) && !inAny(all.At(k+1), english.Pronouns, english.Articles) &&
			all.At(k+1) != "every" {
			return true
		}
	}
	// "Actually, cashews when I said peanuts" has lost its "I meant".
	says := func(w english.Word) bool { return english.Past(w.Text) || isBe(w.Text) || w.Text == "i" }
	return correcting.Found(all) && i <= maxObjectWords && all[i].Text == "when" && !all[:i].Any(english.Pronouns) &&
		!slices.ContainsFunc(all[:i], says)
}

// lastOfStatement is ws from its value on, where it begins with the statement that was wrong: "peanuts" of "Emma is
// allergic to peanuts, I meant…".
func lastOfStatement(ws english.Words) english.Words {
	start, verb := 0, false
	for i := 0; i+1 < len(ws); i++ {
		if w := ws[i].Text; isBe(w) || verb && english.Prepositions.Has(w) {
			start, verb = i+1, true
		}
		if stopsClause(ws[i].Stop) {
			break
		}
	}
	return ws[start:]
}

// A claim may have a value as it is written, in the singular, or as a day and a month, and the correction knows nothing
// of the attribute that it corrects.

// wrongValue is the end of the value that ws begins with, in each form that claims have of it.
func (c *claim) wrongValue(ws english.Words) (out []Claim) {
	for len(ws) > 1 && (english.Articles.Has(ws[0].Text) || english.Prepositions.Has(ws[0].Text)) {
		ws = ws[1:]
	}
	for k := range ws {
		if isWrittenDate(ws[k]) || k > 0 && (stopsClause(ws[k-1].Stop) || ws[k].Text == "but" || ws[k].Text == "i") {
			ws = ws[:k]
			break
		}
	}
	for n := min(len(ws), maxObjectWords); n > 0; n-- {
		v := ws[:n]
		dated := n > 1 && v[0].Text == "may" && english.StartsWithDigit(v[1].Text)
		if goesOn(v, ws[n:]) || v.Any(english.Pronouns) || v.Any(english.StopWords) && !dated {
			continue
		}
		var forms []string
		for _, value := range []string{v.String(), monthAndDay(c, v), c.plainValue(v, maxValueWords)} {
			if value != "" && !slices.Contains(forms, value) {
				forms = append(forms, value)
				out = append(out, Claim{Attribute: valueAttribute + value, Value: held, Ended: true},
					Claim{Attribute: allergyValue + value, Value: held, Ended: true})
			}
		}
		return out
	}
	return nil
}

// CorrectsValue reports whether f tells that a value was wrong, which is all that it may say: "I meant cashews when I
// said peanuts".
func (f *Form) CorrectsValue() bool {
	return slices.ContainsFunc(f.Claims, func(c Claim) bool {
		return c.Ended && strings.HasPrefix(c.Attribute, valueAttribute)
	})
}

// valueAttribute begins the attribute that a fact has for each of its values, so that a
// correction that names the value ends it.
const valueAttribute = "value "

// allergyValue begins the attribute of what somebody is allergic to, which a correction ends only if it says "I meant".
const allergyValue = "allergy value "

// withRank adds the rank of the speaker's occupation: an analyst stays one who was junior and is promoted to lead
// analyst.
func withRank(claims []Claim, all english.Words) []Claim {
	for _, c := range claims {
		if c.Attribute != "occupation" || c.Ended {
			continue
		}
		for i := range all {
			rank := ranks.Of(all[i].Text)
			works := occupations.Of(all.At(i+1)) != "" || occupations.Of(all.At(i+2)) != ""
			if rank == "" && occupations.Of(all.At(i+1)) != "" && all[i].Text == "to" && all[:i].Has("promoted") {
				rank = fullRank
			}
			if rank != "" && works {
				c.Attribute, c.Value, c.Several = "occupation rank "+c.Value, rank, true
				return append(claims, c)
			}
		}
	}
	return claims
}

// fullRank is the rank after a promotion that names none: an assistant manager "got promoted to manager".
const fullRank = "full"

// withValues adds the attributes of the values of claims.
func withValues(claims []Claim) []Claim {
	seen := map[string]bool{}
	for _, c := range claims {
		if _, what, found := strings.Cut(c.Attribute, "has allergy to "); found && !c.Ended {
			claims = append(claims, Claim{Attribute: allergyValue + what, Value: held, Several: true, Loose: true})
		}
		if c.Ended || c.Value == held || c.Value == "" || seen[c.Value] || c.Value == liked || c.Value == disliked ||
			maritalStatuses.Has(c.Value) || c.Value == "dating" || c.Attribute == "employment" ||
			strings.HasPrefix(c.Attribute, lackAttribute) ||
			strings.HasPrefix(c.Attribute, doingAttribute) || yesNo.Has(c.Attribute) {
			continue
		}
		seen[c.Value] = true
		claims = append(claims, Claim{Attribute: valueAttribute + c.Value, Value: held, Several: true, Loose: true})
	}
	return claims
}
