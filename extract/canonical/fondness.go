package canonical

import (
	"slices"

	"github.com/memoryd/memoryd/extract/english"
)

// People tell of a taste with a verb of liking, and also of how they came to it ("I've grown to hate running"), with a
// noun ("I'm an opera fan"), or of what did it to them ("that soup put me off celery"). All are one taste.

var (
	degreeWords  = tables.Words("degree-words")
	tasteTurns   = tables.Words("taste-turns")
	fanNouns     = tables.Words("fan-nouns")
	fanWords     = tables.Words("fan-words")
	perceived    = tables.Words("perceived")
	personKinds  = tables.Variants("person-kinds")
	becomingKind = tables.Phrases("becoming-kind")
	favoriteBe   = tables.Phrases("favorite-be")
)

// withoutDegree is ws, the words behind "I", without words such as "quite" before what is liked: "am so over K-pop".
func withoutDegree(ws english.Words) english.Words {
	n := min(len(ws), maxTurn)
	kept := slices.DeleteFunc(slices.Clone(ws[:n]), func(w english.Word) bool { return degreeWords.Has(w.Text) })
	return append(kept, ws[n:]...)
}

// maxTurn bounds the words of a phrase of taste that are read for its degree.
const maxTurn = 5

// turnedTaste reads "have grown to hate": how somebody came to a taste, and gives it with the number of its words.
func turnedTaste(ws english.Words) (value string, n int) {
	if ws.At(0) == "have" {
		n++
	}
	if !tasteTurns.Has(ws.At(n)) || ws.At(n+1) != "to" {
		return "", 0
	}
	// Behind "to" stands any verb of taste.
	n += 2
	if k := likePhrases.Match(ws, n); k > 0 {
		return liked, n + k
	}
	if k := dislikePhrases.Match(ws, n); k > 0 {
		return disliked, n + k
	}
	return "", 0
}

// fan reads "am a huge opera fan" and "have become a jazz lover": what somebody is a fan of, and whether they are one.
// A bound behind it leaves none.
func fan(ws english.Words) (value, what string) {
	value = liked
	switch {
	case isBe(ws.At(0)), ws.At(0) == "became", ws.At(0) == "become":
		ws = ws[1:]
	case ws.At(0) == "have" && (ws.At(1) == "become" || ws.At(1) == "turned") && len(ws) > 2:
		ws = ws[2:]
	default:
		return "", ""
	}
	for len(ws) > 2 && inAny(ws[0].Text, negations, fanWords, english.Articles, frontAdverbs) || ws.At(0) == "no" {
		if negations.Has(ws[0].Text) {
			value = disliked
		}
		if ws = ws[1:]; len(ws) == 0 {
			return "", ""
		}
	}
	// The noun ends the phrase, so that "an opera fan club" is none.
	for i := 1; i < min(len(ws), maxFan); i++ {
		if fanNouns.Has(ws[i].Text) && ws[i-1].Stop == 0 && !english.Articles.Has(ws[i-1].Text) {
			if rest := withoutChange(ws[i:]); len(rest) == 1 || stopsClause(ws[i].Stop) {
				return value, wholeObject(ws[:i])
			}
			break
		}
	}
	return "", ""
}

// maxFan bounds the words of what somebody is a fan of: "science fiction".
const maxFan = 4

// putOff reads "that soup put me off celery".
func putOff(ws english.Words) string {
	for i := 1; i+3 < len(ws); i++ {
		v := ws[i].Text
		turns := v == "put" || v == "puts" || v == "turned"
		if !turns || ws[i+1].Text != "me" || ws.Any(uncertain) || ws.Any(negations) {
			continue
		}
		rest := withoutDegree(ws[i+2:])
		if rest.At(0) == "right" || rest.At(0) == "completely" {
			rest = rest[1:]
		}
		if rest.At(0) == "off" && len(rest) > 1 {
			return wholeObject(withoutChange(rest[1:]))
		}
	}
	return ""
}

// charming reads what the speaker thinks of a subject with a capital, which may be taken for a person: "Cilantro has
// grown on me".
func (c *claim) charming(ws english.Words) []Claim {
	if !ws[0].Upper || tellsOfSpeaker(ws[0].Text) || ws[0].Stop != 0 {
		return nil
	}
	return slices.DeleteFunc(c.befallen(ws), func(c Claim) bool { return c.Value != liked && c.Value != disliked })
}

// withoutPerception is a subject without "the smell of" before the thing.
func withoutPerception(ws english.Words) english.Words {
	if len(ws) > 3 && ws[0].Text == "the" && perceived.Has(ws[1].Text) && ws[2].Text == "of" {
		return ws[3:]
	}
	return ws
}

// personOf reads "am a morning person" and "have become a cat person". People may be both, so that only a change ends
// what they said before.
func (c *claim) personOf(o owner, ws english.Words) []Claim {
	ws = withoutDegree(withoutAdverbs(ws))
	n := becomingKind.Match(ws, 0)
	changed := c.changed || n > 0 && !isBe(ws[0].Text)
	if n == 0 || ws.Any(negations) {
		return nil
	}
	rest := withoutArticle(withoutChange(ws[n:]))
	// "A night owl" and "an early bird" are persons too.
	kind, value := "", ""
	switch rest.At(1) {
	case "person", "lover", "owl", "bird":
		value = rest[0].Text
		kind = personKinds.Of(value)
	}
	if kind == "" || len(rest) > 2 && rest[2].Text != "than" && !stopsClause(rest[1].Stop) {
		return nil
	}
	if value == "early" {
		value = "morning"
	}
	return []Claim{{Attribute: o.attribute("person of " + kind), Value: value, Several: true, Changed: changed}}
}

// A team is told by a verb or by a noun: "I support Arsenal", "my favorite team is Arsenal". Both are one attribute, so
// that a switch to another team ends either.

// teamAttribute is that of the noun "favorite team".
const teamAttribute = "favorite team"

// team reads "I support Arsenal", "I now support Chelsea" and "I no longer support Arsenal". Who supports a team may
// support one of another sport, or a cause, so that it ends no other one.
func (c *claim) team(all english.Words) []Claim {
	ws := withoutAdverbs(all)
	ended := ws.StartWith("i", "no", "longer")
	if ended {
		ws = append(ws[:1:1], ws[3:]...)
	}
	// "I now support Chelsea"
	if ws.At(1) == "now" {
		ws = append(ws[:1:1], ws[2:]...)
	}
	if !ws.StartWith("i", "support") || len(ws) < 3 {
		return nil
	}
	value := withoutChange(ws[1:])[1:]
	if !c.properThing(value) || len(value) > maxNounValueWords {
		return nil
	}
	return []Claim{{
		Attribute: teamAttribute, Value: withoutArticle(value).String(), Ended: ended, Several: !ended,
	}}
}
