package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// "I bike to work unless it rains" and "I rent a room in Porto while I study" say nothing of the rest of the time, so
// they end nothing. But they give way themselves: to "I don't bike to work anymore", and to "I live in Rome now".

var (
	timesStart = tables.Words("times-start")
	spansStart = tables.Phrases("spans-start")
	neededFor  = tables.Phrases("needed-for")
	behindName = tables.Words("behind-name")
)

// partly are the claims of what a fact tells for a time, or at times, of which nothing else has been read. Those of
// what is so at times give way to an end alone: who drives a van whenever it rains may drive a car now as well.
func partly(fact string) []Claim {
	ws := english.Lex(fact)
	if len(ws) > english.MaxSentenceWords || !isSpeaker(ws.At(0)) {
		return nil
	}
	for i := minStatement; i+1 < min(len(ws), maxTailStart); i++ {
		span := spansStart.Match(ws, i+1) > 0
		if !span && !timesStart.Has(ws[i+1].Text) || ws[i].Stop != 0 && ws[i].Stop != ',' {
			continue
		}
		if w := ws[i+1].Text; (w == "mostly" || w == "mainly") && (isBe(ws[1].Text) || i+3 >= len(ws)) {
			continue // "I'm vegetarian mostly"
		}
		if core := ws[:i+1]; core.Any(tailDoubts) || core.Any(negations) || hasHappened(core) {
			return nil
		}
		claims, _, _ := wholeClaims(fact[:ws[i].End])
		claims = slices.DeleteFunc(claims, func(c Claim) bool { return c.Ended || c.Loose || c.Several && span })
		for k := range claims {
			c := &claims[k]
			c.Loose, c.Changed, c.part, c.span = true, false, !span, span
		}
		return claims
	}
	return nil
}

// withInstead adds what somebody no longer does: "I take the tram to work instead of biking" ends "I bike to work". The
// verb alone says too little, so what is before "instead" tells where.
func (c *claim) withInstead(claims []Claim, all english.Words) []Claim {
	start := max(0, slices.IndexFunc(all, func(w english.Word) bool { return w.Text == "i" || w.Text == "we" }))
	verb := all.At(start + 1)
	does := english.PresentVerbs.Has(verb) && !wantingVerbs.Has(verb) && verb != "plan"
	bounded := isConditional(all) || narrows(all[start:]) || all.Any(timesStart)
	if !c.changed || start > 2 || !does || bounded || all.Any(negations) || all.Any(english.Modals) {
		return claims // "I had tea instead of driving", "on Mondays I take the bus instead of biking"
	}
	for i := 3; i+2 < len(all); i++ {
		if all[i].Text != "instead" || all[i+1].Text != "of" {
			continue
		}
		verb, rest := habitOfIng(all[i+2].Text), all[i+3:]
		if verb == "" {
			return claims
		}
		if len(rest) == 0 || !opensObject(rest[0].Text) {
			rest = all[i-2 : i]
			if rest[0].Text != "to" {
				return claims
			}
		}
		again, _, _ := wholeClaims("I no longer " + verb + " " + rest.String())
		return append(claims, slices.DeleteFunc(again, func(c Claim) bool { return !c.Ended })...)
	}
	return claims
}

// opensObject reports whether w may follow a verb as what it is about.
func opensObject(w string) bool {
	return inAny(w, english.Articles, possessives) || !english.StopWords.Has(w)
}

// withApposed adds that somebody has what they name behind a kind of thing: "I have a motorbike, an old Ducati".
func withApposed(claims []Claim, fact string) []Claim {
	ws := english.Lex(fact)
	for i := 3; i+2 < min(len(ws), maxTailStart); i++ {
		if ws[i].Stop != ',' || ws[0].Text != "i" && ws[0].Text != "we" || !isArticle(ws[i+1].Text) ||
			!isArticle(ws[i-1].Text) {
			continue
		}
		end := i + 2
		for end < min(len(ws), i+6) && !ws[end].Upper {
			end++
		}
		for end < len(ws) && ws[end].Upper && ws[end-1].Stop == 0 {
			end++
		}
		who := persons.Has(ws[i].Text) || relation(ws[i].Text) != ""
		if named := ws[end-1]; who || !named.Upper || end < len(ws) && !behindName.Has(ws[end].Text) {
			return claims // "a friend, a Ford driver"
		}
		again, _, _ := wholeClaims(fact[:ws[i-1].Start] + fact[ws[i+1].Start:ws[end-1].End])
		for _, c := range again {
			if !c.Ended && strings.HasPrefix(c.Attribute, "has ") {
				c.Loose = true
				claims = append(claims, c)
			}
		}
		return claims
	}
	return claims
}

// isArticle reports whether w is "a" or "an".
func isArticle(w string) bool { return w == "a" || w == "an" }

// forPurposes are claims of a fact that may hold for one purpose alone, and then end nothing: "my email is ann@uni.edu,
// if you need it for a form".
func forPurposes(claims []Claim, fact string) []Claim {
	ws := english.Lex(fact)
	for i := minStatement; i < len(ws); i++ {
		if n := neededFor.Match(ws, i); n == 0 || i+n == len(ws) {
			continue
		}
		for k := range claims {
			claims[k].span = !claims[k].Ended
		}
		break
	}
	return claims
}
