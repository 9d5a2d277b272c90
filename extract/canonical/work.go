package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// work reads "at Acme", "for Acme as a nurse" and "as a nurse".
func (c *claim) work(ws english.Words) reading {
	switch ws.At(0) {
	case "as":
		return occupation(ws[1:])
	case "at", "for":
		return c.employer(ws[1:])
	}
	return reading{}
}

// trade reads "am a nurse at Acme", "started as an apprentice electrician" and "am a
// ward manager now". Somebody may be a nurse and a writer, so that only a fact that
// tells of a change replaces another occupation.
func (c *claim) trade(o owner, ws english.Words, changed bool) []Claim {
	ws = withoutAdverbs(ws)
	if out := c.workingAt(o, ws); out != nil {
		return out
	}
	n := newTrades.Match(ws, 0)
	begins := n > 0
	changed = changed || begins
	if k := livings.Match(ws, 0); n == 0 && k > 0 {
		n = k
	}
	if n == 0 && isBe(ws.At(0)) {
		n = 1
	}
	if n == 0 || !o.isOne() {
		return nil
	}
	ws = withoutArticle(ws[n:])
	end, value := tradeEnd(ws), ""
	if end > 0 {
		value = occupations.Of(ws[end-1].Text)
	}
	if value == "" && (end == 0 || endsInIng(ws[0].Text) || ws.At(end) != "at") {
		return nil
	}
	if ws[:end].Any(english.Pronouns) || ws[:end].Any(negations) || ws[:end].Has("and") {
		return nil
	}
	var out []Claim
	if value != "" {
		// "A taxi driver for my kids", "a paramedic on weekends"
		rest := ws[end:]
		changed = changed && (begins || onlyTime(rest) || rest[0].Text == "at" || rest.StartWith("as", "of"))
		out = append(out, Claim{Attribute: o.attribute("occupation"), Value: value, Several: true, Changed: changed})
	}
	return append(out, c.employedAt(o, ws[end:])...)
}

// formerTrade reads "am a nurse" of what no longer holds. It reads no "nurse at Acme", as the speaker may be a nurse
// elsewhere.
//
// The text of a statement that ended is compared as a whole, too. This finds the trade where the earlier statement says
// more: "I'm a nurse on the night ward".
func (c *claim) formerTrade(o owner, ws english.Words) []Claim {
	if !isBe(ws.At(0)) || len(ws) != 3 || english.Lex(c.text).Any(english.Prepositions) {
		return nil // who is no pastry chef may be a chef, and who is none at Nando's one elsewhere
	}
	out := c.trade(o, ws, false)
	if len(out) != 1 {
		return nil
	}
	return out
}

// tradeEnd is the number of words of the trade that ws begins with, without what follows it: 1 of "nurse at Acme".
func tradeEnd(ws english.Words) (end int) {
	for end < len(ws) && end < maxNounWords && !english.Prepositions.Has(ws[end].Text) &&
		!modifierStarts.Has(ws[end].Text) && (end == 0 || ws[end-1].Stop == 0) {
		end++
	}
	return end
}

// post reads "teller at Santander" behind "work as". A frame reads the occupation. What is done at some times alone, or
// beside other work, ends no other employment: "I work as a DJ at Fabric on weekends".
func (c *claim) post(o owner, ws english.Words) []Claim {
	end := tradeEnd(ws)
	if end == 0 || ws[:end].Any(english.Pronouns) || ws[:end].Any(negations) || ws[:end].Has("and") {
		return nil
	}
	out := c.employedAt(o, ws[end:])
	if !holdsPost(ws, end) {
		for i := range out {
			out[i].Several = true
		}
		return out
	}
	trade := occupations.Of(ws[end-1].Text)
	if trade == "" {
		trade = ws[:end].String()
	}
	return append(out, Claim{Attribute: o.attribute(postAttribute), Value: trade, Several: true, Loose: true})
}

// postAttribute is of a post that somebody is paid for. Who works "as a teller" has one, which a dismissal ends in
// whatever words the work is told, and who "is a nurse" stays one.
const postAttribute = "paid post"

var (
	ownWork   = tables.Words("own-work")
	postVerbs = tables.Phrases("post-verbs")
)

// holdsPost reports whether ws, behind "work as", is one post with an employer: no work of one's own ("a freelance
// translator"), and none beside another one or at some times alone. end is the number of words of the trade.
func holdsPost(ws english.Words, end int) bool {
	for i, w := range ws {
		if inAny(w.Text, ownWork, sideJobs, bounds, boundingModifiers) || i >= end &&
			english.DateWords.Has(singular(w.Text)) {
			return false
		}
	}
	return true
}

// jobLost are the ends of what o has by an employment that is over; of a firm that is named, only the work there.
func jobLost(o owner, firm string) []Claim {
	out := []Claim{{Attribute: o.attribute("employer"), Value: firm, Ended: true}}
	if firm == "" {
		out = append(out, Claim{Attribute: o.attribute(postAttribute), Ended: true})
	}
	return out
}

// workingAt reads "have a position at Acme", "am employed by Acme" and "run a bakery".
func (c *claim) workingAt(o owner, ws english.Words) []Claim {
	has := ws.At(0) == "have" || ws.At(0) == "has" || ws.At(0) == "got"
	if !o.isOne() || has && ws.Any(notYetJobs) { // "have a job interview at Acme"
		return nil
	}
	if n := workVerbs.Match(ws, 0); n > 0 {
		return c.employedAt(o, ws[n:])
	}
	if n := postVerbs.Match(ws, 0); n > 0 {
		return c.post(o, withoutArticle(ws[n:]))
	}
	if n := employedBy.Match(ws, 0); n > 0 {
		return c.employedAt(o, append(english.Words{{Text: "at"}}, ws[n:]...))
	}
	if running.Has(ws.At(0)) {
		for k := 2; k < min(len(ws), maxNounWords); k++ {
			if businesses.Has(ws[k].Text) && english.Articles.Has(ws[1].Text) {
				return []Claim{workplace(o, ws[2:k+1].String())}
			}
		}
	}
	return nil
}

// employedAt reads where o works, behind a trade or a verb: "at Acme", "in the sales
// team at a bank".
func (c *claim) employedAt(o owner, ws english.Words) []Claim {
	place := ""
	for i := 0; i+1 < len(ws); i++ {
		if at := ws[i].Text; at != "at" && at != "for" {
			continue
		}
		for k := min(len(ws), i+1+maxNounWords); k > i+1; k-- {
			if company := c.company(ws[i+1 : k]); company != "" {
				return []Claim{{Attribute: o.attribute("employer"), Value: company}}
			}
		}
		if place == "" && english.Articles.Has(ws[i+1].Text) {
			place = object(ws[i+1:])
		}
	}
	if place == "" {
		return nil
	}
	return []Claim{workplace(o, place)}
}

// withWork adds that who works somewhere now is not without a job any more.
func withWork(claims []Claim, all english.Words) []Claim {
	if all.Has("volunteer") {
		return claims
	}
	for _, cl := range claims {
		if cl.Attribute == "employer" && cl.Changed && !cl.Ended {
			return append(claims, Claim{Attribute: "employment", Value: "job", Changed: true})
		}
	}
	return claims
}

// workplace is the claim that o works at a place without a name: "a bank". It ends no
// other employer, since people also serve and help at places.
func workplace(o owner, place string) Claim {
	return Claim{Attribute: o.attribute("employer"), Value: place, Several: true}
}

// occupation reads "a nurse" and "head nurse": the last word counts.
func occupation(ws english.Words) reading {
	ws = withoutArticle(ws)
	if len(ws) == 0 || len(ws) > 3 {
		return reading{}
	}
	return reading{"occupation", occupations.Of(ws[len(ws)-1].Text)}
}

// employer reads "Acme" and "Acme as a nurse".
func (c *claim) employer(ws english.Words) reading {
	if k := tradeAt(ws); k > 0 {
		ws = ws[:k]
	}
	return reading{"employer", c.company(ws)}
}

// tradeAt is where "as a nurse" begins at the end of ws; 0 if it does not.
func tradeAt(ws english.Words) int {
	for i := max(1, len(ws)-5); i+1 < len(ws); i++ {
		if ws[i].Text == "as" && occupations.Of(ws[len(ws)-1].Text) != "" {
			return i
		}
	}
	return 0
}

// company is ws as the name of a company, without its legal form: capitals
// throughout, and no word that says where or when somebody works. Otherwise "".
func (c *claim) company(ws english.Words) string {
	if len(ws) > 1 && companyForms.Has(ws[len(ws)-1].Text) {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 || len(ws) > 4 {
		return ""
	}
	first := ws[0].Text
	if inAny(first, english.DateWords, english.WeakDateWords, notCompanies, countries) ||
		relation(first) != "" || cities.Has(ws.String()) {
		return ""
	}
	for i, w := range ws {
		last := i+1 == len(ws)
		if !c.capital(w) && (i == 0 || w.Text != "of") ||
			!last && (w.Stop != 0 || strings.HasSuffix(w.Text, "'s") && !c.capital(ws[i+1])) {
			return ""
		}
	}
	return ws.String()
}

// withoutArticle is ws without an article at its front.
func withoutArticle(ws english.Words) english.Words {
	if w := ws.At(0); w == "a" || w == "an" || w == "the" {
		return ws[1:]
	}
	return ws
}

// kindOfEmployer is the attribute of a workplace without a name: "a bank". Who works "at an insurance company now" may
// have told its name before, so that it takes the place of another kind alone.
const kindOfEmployer = "kind of employer"

// employerKind reads "work at an insurance company" as a workplace of a kind.
func (c *claim) employerKind(v *verbPhrase, f *frame, value string) []Claim {
	if f.attribute != "employer" || f.event || !worksAt(c.words, lastWord(value)) {
		return nil
	}
	// The claim stands beside that of the employer, which keeps all other comparisons.
	kind := v.owner.attribute(kindOfEmployer)
	return []Claim{{Attribute: kind, Value: value, Several: true, Changed: v.changed}}
}

// worksAt reports whether ws tells of a workplace of a kind, as "at a bank" and "for an insurance company" do. "In the
// office" is a part of one.
func worksAt(ws english.Words, kind string) bool {
	for i, w := range ws {
		if w.Text != "at" && w.Text != "for" || !english.Articles.Has(ws.At(i+1)) {
			continue
		}
		for _, noun := range ws[i+2 : min(len(ws), i+5)] {
			if noun.Text == kind {
				return kind != "office" && (workNouns.Has(kind) || workplaces.Has(kind))
			}
		}
	}
	return false
}
