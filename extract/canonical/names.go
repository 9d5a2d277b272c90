package canonical

import (
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/extract/english"
)

// Many people write no capitals, by which the rules know names: "i live in berlin with anna". In a text without any,
// a word counts as a name if it is a common one, or stands where mostly names do and is no common word.

// withNames gives words of a text without capitals those that names have.
func withNames(text string, ws english.Words) english.Words {
	if hasCapitals(text) {
		return ws
	}
	for i := range ws {
		w := ws[i].Text
		if givenNames.Has(w) || companies.Has(w) || cities.Has(w) || countries.Has(w) ||
			(kinBefore(ws, i) || beforeNames.Match(ws, i-2) == 2 || beforeNames.Match(ws, i-3) == 3) && mayBeName(w) {
			ws[i].Upper = true
		}
		if i > 0 && titles.Has(ws[i-1].Text) && ws[i-1].Stop == 0 && mayBeName(w) && inflections[w] == nil &&
			!english.Past(w) { // "dr patel", but not "my doctor put"
			ws[i-1].Upper, ws[i].Upper = true, true
		}
	}
	return ws
}

// kinBefore reports whether ws[i] stands between "my son" or the like and a verb, where people have names: "my son
// jonah is six". A noun behind a pet is mostly its food or its bed.
func kinBefore(ws english.Words, i int) bool {
	if i < 2 || i+2 >= len(ws) || ws[i-2].Text != "my" || ws[i-1].Stop != 0 || ws[i].Stop != 0 {
		return false
	}
	kin, next := ws[i-1].Text, ws[i+1].Text
	return (relation(kin) != "" && !pets.Has(kin) || acquaintances.Has(kin)) && (isBe(next) || personVerbs.Has(next)) &&
		ws[i].Text != "in"
}

// withoutAcquaintance is ws with the name alone of a subject such as "my friend Lotte", the name and what they are.
// People have many friends, cousins and neighbors, so that the relation does not tell which one it is.
func withoutAcquaintance(ws english.Words) (rest english.Words, name, kind string) {
	at := 1
	for at < 3 && (relationAdjectives.Has(ws.At(at)) || friendAdjectives.Has(ws.At(at))) {
		at++
	}
	if first := ws.At(0); first != "my" && first != "our" || !acquaintances.Has(ws.At(at)) || len(ws) < at+4 {
		return ws, "", ""
	}
	who := ws[at+1]
	verb := ws[at+2].Text
	tells := isBe(verb) || pastBe.Has(verb) || personVerbs.Has(verb) || english.Auxiliaries.Has(verb) ||
		english.Past(verb) || inflections[verb] != nil || ladder.Has(verb)
	if !who.Upper || who.Stop != 0 || ws[at].Stop != 0 || !tells || strings.HasSuffix(who.Text, "'s") ||
		inAny(who.Text, english.StopWords, english.DateWords) {
		return ws, "", ""
	}
	return ws[at+1:], who.Text, ws[at].Text
}

// hasCapitals reports whether a word of text other than "I" and the first begins with a capital.
func hasCapitals(text string) bool {
	for i, w := range strings.Fields(text) {
		w = strings.TrimLeftFunc(w, unicode.IsPunct)
		if i > 0 && w != "" && unicode.IsUpper([]rune(w)[0]) && w != "I" && !strings.HasPrefix(w, "I'") &&
			!strings.HasPrefix(w, "I’") {
			return true
		}
	}
	return false
}

// mayBeName reports whether w has no meaning that the tables know.
func mayBeName(w string) bool {
	return !inAny(w, english.StopWords, english.Adverbs, english.Evaluative, english.Moods, english.States,
		english.Prepositions, english.NotNames, english.Periods, english.DateWords, english.WeakDateWords,
		english.OwnNouns, english.TaskWords, english.PresentVerbs, notCompanies, notPlaces, regions, notNamed) &&
		!english.StartsWithDigit(w) && relation(w) == "" && occupations.Of(w) == "" && !strings.HasSuffix(w, "ing")
}
