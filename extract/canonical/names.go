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
			beforeNames.Match(ws, i-2) == 2 && mayBeName(w) || beforeNames.Match(ws, i-3) == 3 && mayBeName(w) {
			ws[i].Upper = true
		}
		if i > 0 && titles.Has(ws[i-1].Text) && ws[i-1].Stop == 0 && mayBeName(w) { // "dr patel"
			ws[i-1].Upper, ws[i].Upper = true, true
		}
	}
	return ws
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
