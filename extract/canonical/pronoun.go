package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A second clause of a fact often names what the first one is about by a pronoun: "my neighbor taught me to fry okra
// and now I adore it", "my landlord put the rent up and it's 1,050 a month now". The readers of statements know things
// by their names alone.
//
// A pronoun is read only where one thing may be meant: the noun that ends the clause before it, for a taste, and the
// one noun of the clause that has an amount, for a number.

var (
	amountNouns = tables.Words("amount-nouns")
	tryingVerbs = tables.Words("trying-verbs")
	phoneTalk   = tables.Words("phone-talk")
	theirNouns  = tables.Words("their-nouns")
)

// In doubt the pronoun stays, and the clause says nothing: a wrong noun would end what is true.

// resolved is ws with the nouns in the place of such pronouns. It reads one pronoun of a fact, as more of them are
// mostly of a story.
func resolved(ws english.Words) english.Words {
	for i := 2; i+1 < len(ws); i++ {
		if !links.Has(ws[i].Text) && !stopsClause(ws[i-1].Stop) {
			continue
		}
		clause := ws[i:]
		for len(clause) > 2 && (links.Has(clause[0].Text) || changeWords.Has(clause[0].Text)) {
			clause = clause[1:]
		}
		if whose := ownerOf(ws[:i], clause); whose != "" {
			my := english.Word{Text: "my", Start: clause[0].Start, End: clause[0].Start}
			theirs := clause[0]
			theirs.Text = whose
			return slices.Concat(ws[:len(ws)-len(clause)], english.Words{my, theirs}, clause[1:])
		}
		if noun := amountNoun(ws[:i]); noun >= 0 && clause[0].Text == "it" && isBe(clause.At(1)) &&
			len(clause) > 2 && english.StartsWithDigit(clause[2].Text) {
			my := english.Word{Text: "my", Start: clause[0].Start, End: clause[0].Start}
			it := clause[0]
			it.Text = ws[noun].Text
			return slices.Concat(ws[:len(ws)-len(clause)], english.Words{my, it}, clause[1:])
		}
		pays := clause[0].Text == "i" || clause[0].Text == "we"
		pays = pays && clause.At(1) == "pay" && english.StartsWithDigit(clause.At(2))
		if noun := amountNoun(ws[:i]); noun >= 0 && pays {
			at := len(ws) - len(clause) + 3
			of := english.Words{{Text: "for"}, {Text: ws[noun].Text}}
			for k := range of {
				of[k].Start, of[k].End = ws[at-1].End, ws[at-1].End
			}
			return slices.Concat(ws[:at], of, ws[at:])
		}
		if noun := countedNoun(ws[:i]); noun != "" && isNumber(clause[len(clause)-1].Text) && downTo(clause) {
			number := clause[len(clause)-1]
			it := english.Word{Text: noun, Start: number.End, End: number.End, Stop: number.Stop}
			number.Stop = 0
			return append(slices.Clone(ws[:len(ws)-1]), number, it)
		}
		last := len(clause) - 1
		for last > 0 && changeWords.Has(clause[last].Text) {
			last--
		}
		it := clause[last]
		if clause[0].Text != "i" || it.Text != "it" && it.Text != "them" || last > maxTastePronoun ||
			tasteOf(clause[1:]) == 0 {
			continue
		}
		if noun := lastNoun(ws[:i]); noun >= 0 {
			it.Text = ws[noun].Text
			return slices.Concat(ws[:len(ws)-len(clause)], clause[:last], english.Words{it}, clause[last+1:])
		}
	}
	return ws
}

// ownerOf is "mom's" for "her" of "my mom changed providers and her number is 555 0163 now": the one person of the
// speaker's whom the clause before tells of. clause begins with the pronoun.
func ownerOf(ws, clause english.Words) string {
	w := clause[0].Text
	if w != "her" && w != "his" || len(clause) < 4 || !isBe(clause[2].Text) || !theirNouns.Has(clause[1].Text) ||
		ws.At(0) != "my" || relation(ws.At(1)) == "" {
		return ""
	}
	// Any other noun may be of another person, or of a shop that has a number.
	for _, w := range ws[2:] {
		if !phoneTalk.Has(w.Text) {
			return "" // "my mom hired a cleaner and her number is"
		}
	}
	return ws[1].Text + "'s"
}

// maxTastePronoun bounds the words of a taste up to its pronoun: "I can not stand it".
const maxTastePronoun = 6

// downTo reports whether a clause of the speaker's that ends in a number tells how many are left: "we are down to
// eight".
func downTo(ws english.Words) bool {
	own := ws[0].Text == "i" || ws[0].Text == "we"
	return own && len(ws) > 3 && ws[len(ws)-2].Text == "to" && (ws.Has("down") || ws.Has("up")) ||
		own && ws[1].Text == "have" // "so now we have four"
}

// countedNoun is what somebody has several of, of which ws counts some: "hens" of "a fox took three of the hens".
func countedNoun(ws english.Words) string {
	for i := 1; i+2 < len(ws); i++ {
		own := ws[i+1].Text == "the" || ws[i+1].Text == "my" || ws[i+1].Text == "our"
		if noun := ws[i+2].Text; ws[i].Text == "of" && own && singular(noun) != noun && themeStem(noun) != "" {
			return noun
		}
	}
	return ""
}

// amountNoun is where the one noun that has an amount stands in ws; -1 if there is none or more than one.
func amountNoun(ws english.Words) int {
	at := -1
	if ws.Has("i") || ws.Has("we") {
		return -1 // "I put the rent up for my tenant"
	}
	for i, w := range ws {
		one := singular(w.Text)
		other := (relation(one) != "" || kin.Has(one)) && !officials.Has(w.Text) || thirdPersons.Has(w.Text) ||
			possessives.Has(w.Text) && w.Text != "my" && w.Text != "our"
		if other || strings.HasSuffix(w.Text, "'s") {
			return -1 // "my mom's landlord put the rent up"
		}
		if amountNouns.Has(w.Text) && inAny(ws.At(i-1), english.Articles, possessives) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// lastNoun is where the object that ends ws stands, of a verb by which people come to like something: "okra" of "taught
// me to fry okra". Of other verbs it may be anything else: "moved to Rome", "bought a guitar", "replaced okra".
func lastNoun(ws english.Words) int {
	last := len(ws) - 1
	if last < 2 || themeStem(ws[last].Text) == "" || ws[last].Upper || english.StartsWithDigit(ws[last].Text) {
		return -1
	}
	if !tryingVerbs.Has(ws[last-1].Text) {
		return -1
	}
	return last
}
