package canonical

import (
	"slices"

	"github.com/memoryd/memoryd/extract/english"
)

// "Together" and "with" tell of a couple as well as of a band, of relatives and of people in one room, so that a person
// with a name or a word for a partner must be there, and nothing that tells of a place or an hour.

// ofCouple reports whether a frame tells of the speaker and a partner.
func (f *frame) ofCouple() bool {
	return f.attribute == "marital status" || f.attribute == partnerAttribute
}

// mayPair reports whether ws, before "and I", may be the speaker's partner: "Dan", "my wife". A first husband is the
// partner no longer.
func mayPair(ws english.Words) bool {
	switch {
	case len(ws) == 0:
		return false
	case len(ws) > 1 && (ws[0].Text == "my" || ws[0].Text == "our"):
		return couple.Of(relation(ws[1].Text)) != ""
	}
	return ws[0].Upper && !english.Articles.Has(ws[0].Text) && relation(ws[0].Text) == "" && !kin.Has(ws[0].Text)
}

// partsAtPlace reports whether people part for a while: "split up at the airport", but not "at the end of May".
func partsAtPlace(ws english.Words) bool {
	for i := 0; i+1 < len(ws); i++ {
		if ws[i].Text != "at" {
			continue
		}
		noun := ws[i+1].Text
		if english.Articles.Has(noun) {
			noun = ws.At(i + 2)
		}
		if !inAny(noun, english.DateWords, english.Periods, partsOfTime) && !english.StartsWithDigit(noun) {
			return true
		}
	}
	return false
}

// stayCouple reports whether what follows a couple leaves them one: nothing, or since when.
func stayCouple(ws english.Words) bool {
	return len(ws) == 0 || afterCouple.Has(ws[0].Text) && !atHour(ws) || english.StartsWithDigit(ws[0].Text)
}

// atHour reports whether ws says since when, and that is no day: "since noon".
func atHour(ws english.Words) bool {
	next := ws.At(1)
	return ws[0].Text == "since" && !inAny(next, english.DateWords, seasons) && !english.StartsWithDigit(next) &&
		next != "last" && next != "then" && !inAny(next, english.Pronouns, english.Articles)
}

// withoutCouple is claims without those that tell of a couple.
func withoutCouple(claims []Claim) []Claim {
	return slices.DeleteFunc(claims, func(c Claim) bool {
		return c.Attribute == "marital status" || c.Attribute == partnerAttribute
	})
}

// meets reports whether a frame of a couple tells rather of people at one place: "we're together now at the airport",
// "Tom and I are together since noon", "I'm with Tom now, he is fixing my bike".
func (v *verbPhrase) meets(f *frame, rest english.Words) bool {
	if !f.ofCouple() {
		return false
	}
	has := func(w string) bool {
		return slices.ContainsFunc(f.tokens, func(t token) bool { return slices.Contains(t.words, w) })
	}
	if f.event && slices.Contains(f.tokens[0].words, "be") && has("with") {
		return !v.last || len(rest) > 0 && !namesSpan(rest)
	}
	if !has("together") || f.event || len(rest) == 0 || v.negated || v.ended {
		return false
	}
	first := rest[0].Text
	return !namesSpan(rest) && !english.DateWords.Has(first) && !isYear(first) && !english.StartsWithDigit(first) &&
		first != "last"
}

// wedded adds that a wedding is no longer to come once the speaker got married.
func wedded(claims []Claim, all english.Words) []Claim {
	if all.Has("before") || isApart(all) {
		return claims // an earlier marriage leaves the wedding where it is
	}
	for _, cl := range claims {
		if cl.Attribute == "marital status" && cl.Value == "married" && !cl.Loose && !cl.Ended &&
			(all.Has("got") || all.At(1) == "married") {
			return append(claims, Claim{Attribute: "wedding time", Ended: true})
		}
	}
	return claims
}
