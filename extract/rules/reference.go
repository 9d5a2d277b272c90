package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
)

// A word such as "it", "there" or "those places" points back. A fact is worth reading only if the words before it in
// the same fact say what it means. Where they do not, the sentence before may: see lean.go.

// references are the words of a fact under judgement.
type references struct {
	english.Words
	from int // words before it are of the sentence before and are not judged
}

// leansOn reports whether a statement points at something that none of its words before says.
func leansOn(ws english.Words) bool { return dangling(nil, ws) >= 0 }

// dangling is the index of the first word of ws that points at something which neither context nor the words of ws
// before it say; -1 if there is none.
func dangling(context, ws english.Words) int {
	r := references{append(context[:len(context):len(context)], ws...), len(context)}
	for i := r.from; i < len(r.Words); i++ {
		if r.danglesAt(i) {
			return i - r.from
		}
	}
	return -1
}

// danglesAt reports whether the word at i points at something that is not said before.
func (r references) danglesAt(i int) bool {
	switch w := r.At(i); w {
	case "it", "its", "itself":
		return !r.emptyIt(i) && !r.before(i, r.thing)
	case "there":
		return !r.emptyThere(i) && !r.before(i, r.place)
	case "this":
		return r.endsPhrase(i) && !r.introduces(i) && !r.before(i, r.thing) && !r.dated()
	case "that":
		return !r.conjunction(i) && r.that(i)
	case "those", "these":
		return r.those(i)
	case "the":
		return r.shown(i) && !r.dated()
	case "such":
		next := r.At(i + 1)
		return strings.HasSuffix(next, "s") && len(next) > 3 && !r.saidBefore(i, next)
	case "any", "some":
		return r.amount(i) && !r.before(i, r.noun)
	case "latter", "former":
		return r.At(i-1) == "the" && r.endsPhrase(i)
	case "ones", "one":
		return r.picks(i) && r.endsPhrase(i) && !r.before(i, r.noun)
	}
	return r.personDangles(i)
}

// amount reports whether "some" or "any" at i stands for a noun: "I had some last week", but neither "some of my
// friends" nor "any longer".
func (r references) amount(i int) bool {
	next := r.At(i + 1)
	adverb := strings.HasSuffix(next, "ly") && !english.OwnNouns.Has(next)
	return next == "" || r.Words[i].Stop != 0 || english.Prepositions.Has(next) && next != "of" && next != "around" ||
		english.Articles.Has(next) || tailJoints.Has(next) || adverb
}

// picks reports whether "one" or "ones" at i is one of several things: "that one", "another one".
func (r references) picks(i int) bool {
	switch r.At(i - 1) {
	case "that", "another", "this", "been", "first":
		return true
	case "last":
		return !english.Periods.Has(r.At(i + 1))
	}
	return r.At(i) == "ones"
}

// personDangles reports whether the word at i is a pronoun of persons who are not named before.
func (r references) personDangles(i int) bool {
	switch r.At(i) {
	case "him":
		return !r.shared() && !r.before(i, func(k int) bool { return r.person(k) && !r.subjectOf(k, i) })
	case "them":
		return !r.shared() && !r.before(i, func(k int) bool { return r.plural(k) && !r.subjectOf(k, i) })
	case "he", "she":
		return !r.shared() && !r.chained(i) && !r.before(i, r.person) && !r.before(i, r.single)
	case "her", "his", "hers", "himself", "herself":
		return !r.shared() && !r.chained(i) && !r.before(i, r.person)
	case "they":
		return !r.inCharge(i) && !r.before(i, r.plural)
	case "their", "theirs", "themselves":
		return !r.before(i, r.plural)
	}
	return false
}

// afterwards reports whether the phrase at i only says when: "after those lessons, I loved skiing".
func (r references) afterwards(i int) bool {
	switch r.At(i - 1) {
	case "after", "before", "since", "during", "despite", "until":
		return true
	}
	return r.At(i-1) == "of" && r.At(i-2) == "one" // "one of those alarm buttons"
}

// conjunction reports whether "that" at i points at nothing: "I know that…", "a dog that barks", "This is my wife".
func (r references) conjunction(i int) bool {
	before, next := r.At(i-1), r.At(i+1)
	joined := i > 0 && r.Words[i-1].Stop == 0
	switch {
	case r.introduces(i), r.afterwards(i), next == "wrong": // "I had that wrong"
		return true
	case selfPointing.Has(next) && !english.Prepositions.Has(next):
		return r.Words[i].Stop == 0
	case beforeThat.Has(before):
		return !r.endsPhrase(i) || r.verbWithin(i+1, 8)
	case !joined:
		return false
	case english.Evaluative.Has(before), english.Moods.Has(before): // "proud that", "the best that"
		return true
	case r.noun(i-3) && speakerWords.Has(r.At(i-2)): // "a company I like that needs me"
		return true
	}
	subject := english.Pronouns.Has(next) || speakerWords.Has(next) || english.Articles.Has(next) ||
		addressee.Has(next) || next == "he" || next == "she" || next == "they" || next == "there"
	relative := r.endsPhrase(i) && r.noun(i-1) && next != "" && r.Words[i].Stop == 0
	return subject || relative // "the book that I wrote", "a dog that barks"
}

// that judges "that" at i, which is no conjunction.
func (r references) that(i int) bool {
	before := r.At(i - 1)
	joined := i > 0 && r.Words[i-1].Stop == 0
	switch {
	case before == "make" || before == "made" || before == "let" || before == "see":
		return !r.before(i, r.thing)
	case r.endsPhrase(i):
		return !r.before(i, r.thing) && !r.dated()
	case english.Prepositions.Has(before), before == "to", !joined:
		heavy, _ := weight(r.Words[r.from:i])
		return !r.specified(i) && (heavy < 4 || !joined) // "…, and a squeeze of lime for that extra zing"
	case english.Past(before), english.PresentVerbs.Has(before), english.Likings.Has(before):
		more := r.At(i + 2)
		return (more == "and" || more == "but" || !r.verbWithin(i+2, 4)) && !r.specified(i) // "I read that book and…"
	case before == "have" || before == "has" || before == "had":
		return !r.specified(i) // "The sea has that effect on me"
	}
	return false
}

// those judges "those" and "these" at i.
func (r references) those(i int) bool {
	next := r.At(i + 1)
	switch {
	case r.At(i) == "these" && r.introduces(i), r.afterwards(i), selfPointing.Has(next) && r.Words[i].Stop == 0:
		return false
	case r.endsPhrase(i):
		return !r.before(i, func(k int) bool { return r.plural(k) && !r.person(k) })
	case r.At(i) == "these" && (bringsIn.Has(r.At(i-1)) || r.At(i-1) == "all"):
		return false // "I made these cups"
	case r.At(i) == "these" && i > 0 && !english.Prepositions.Has(r.At(i-1)) && !strings.HasSuffix(r.At(i-1), "ing"):
		more := r.At(i + 2) // "I know these old songs"
		return more == "" || r.Words[i+1].Stop != 0 || english.StopWords.Has(more) && !r.specified(i)
	}
	return !r.specified(i)
}

// specified reports whether the phrase that begins with "that" or "those" at i says by itself what it means: "that trip
// to England", "those friends I met in Rome", or in a sentence with a date. It does too if its noun is said before, or
// is a time.
func (r references) specified(i int) bool {
	for j := i + 1; j < min(len(r.Words), i+5); j++ {
		w, n := r.At(j), r.At(j+1)
		if r.saidBefore(i, w) || contentNoun(w) || contentNoun(n) && english.Evaluative.Has(w) || w == "times" ||
			w == "past" || w == "last" {
			return true
		}
		switch n {
		case "i", "we", "my", "who", "which", "that", "to", "from", "of", "about", "in", "with", "called", "named":
			return r.Words[j].Stop == 0 && j+2 < len(r.Words) && !english.Pronouns.Has(r.At(j+2))
		}
		if english.StopWords.Has(n) && !english.Evaluative.Has(n) || r.Words[j].Stop != 0 {
			break
		}
	}
	return r.dated()
}

// shown reports whether "the" at i is of a work, or a part of one, that only the talk before names: "the ending", "the
// book". With a name in the fact, with another work before it or with words behind it that say which, it needs no talk.
func (r references) shown(i int) bool {
	if !worksShown.Has(r.At(i+1)) || r.played(i) || strings.ContainsRune("\"“'", r.Words[i+1].Stop) {
		return false // a title follows
	}
	after := r.At(i + 2)
	whole := after == "" || r.Words[i+1].Stop != 0 || english.Auxiliaries.Has(after) || english.Past(after) ||
		english.Adverbs.Has(after) || tailJoints.Has(after) || after == "the" || after == "it" ||
		speakerWords.Has(after) && after != "i" && after != "we"
	known := r.before(i, func(k int) bool { return worksShown.Has(strings.TrimSuffix(r.At(k), "'s")) })
	return whole && !known && !r.named()
}

// played reports whether "the game" at i is a sport's, and no one in particular: "ahead of the game".
func (r references) played(i int) bool {
	return r.At(i+1) == "game" && (english.Prepositions.Has(r.At(i-1)) || r.At(i-1) == "into")
}

// named reports whether the words have a name, or a number, that is no day's.
func (r references) named() bool {
	for i := 1; i < len(r.Words); i++ {
		w := r.Words[i]
		if w.Upper && !english.StopWords.Has(w.Text) && !english.DateWords.Has(w.Text) && !r.vocative(i) {
			return true
		}
	}
	return false
}

// dated reports whether the speaker does something on a day: "I took that picture last year". Such a fact says enough.
func (r references) dated() bool {
	ws := r.Words[r.from:]
	if len(ws) == 0 || ws[0].Text != "i" && ws[0].Text != "we" {
		return false
	}
	return dates.Named(ws) || ws.Has("since") || ws.Any(smallNumbers)
}

// shared reports whether the words tell of a day that the speaker had with somebody, who need not be named then: "We
// took him to the care home on Saturday".
func (r references) shared() bool {
	ws := r.Words[r.from:]
	return ws.Any(firstPerson) && dates.Named(ws)
}

// chained reports whether the sentence before has the same pronoun as the one at i, or another case of it.
func (r references) chained(i int) bool {
	male := strings.HasPrefix(r.At(i), "h") && !strings.HasPrefix(r.At(i), "her")
	for k := range min(i, r.from) {
		switch r.At(k) {
		case "he", "him", "his":
			if male {
				return true
			}
		case "she", "her":
			if !male {
				return true
			}
		}
	}
	return false
}

// inCharge reports whether "they" at i are those who decide for the speaker, named or not: "they moved me to the
// night shift".
func (r references) inCharge(i int) bool {
	j := r.skipAdverbs(i + 1)
	if r.At(j) == "have" {
		j = r.skipAdverbs(j + 1)
	}
	heavy, _ := weight(r.Words[r.from:]) // "they put me to sleep" says little
	return (changes.Has(r.At(j)) || decisions.Has(r.At(j))) && firstPerson.Has(r.At(j+1)) && heavy > 2
}
