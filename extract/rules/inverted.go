package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People put what they tell before who it is of: "Java is the language I use at work", "7:30 is when I get up", "The
// bank I use is Monzo", "In the morning I drink tea". Each is read as the plain statement of the same words, of which
// the tables know more.

var (
	asking     = tables.Words("relatives")
	fronts     = tables.Phrases("fronts")
	helping    = tables.Words("helping")
	namedKinds = tables.Words("named-kinds")
	ownKinds   = tables.Words("own-kinds")
	// What "is" tells of these is what they are, and of others may be how they are.
	taughtKinds = tables.Words("taught-kinds")
	allergic    = tables.Words("allergic")
	usingVerbs  = tables.Words("using-verbs")
)

const (
	maxTold     = 7 // words of what is told: "a 50 mcg levothyroxine pill"
	maxRelative = 9 // words of the clause it is told in: "I'd like you to answer in"
)

// toldFirst reads "Java is the language I use at work", from what is told, as "I use Java at work", "7:30 is when I get
// up" as "I get up at 7:30", and "Three is how many rabbits we've got" as "We've got three rabbits".
func toldFirst(text string, ws english.Words, i int) (string, bool) {
	is := i
	for is < min(len(ws), i+maxTold+1) && ws[is].Text != "is" && ws[is].Text != "are" {
		told := ws[is]
		if unmarked(told) == 0 && is+1 < len(ws) && !english.Pronouns.Has(told.Text) && !asking.Has(told.Text) &&
			!english.Deictic.Has(told.Text) && told.Text != "there" && told.Text != "my" {
			is++
			continue
		}
		return "", false
	}
	if is == i || is+3 >= len(ws) || is == i+maxTold+1 || unmarked(ws[is]) != 0 {
		return "", false
	}
	if ws[is:].Has("ever") {
		return "", false // "80 kg is the most I've ever lifted"
	}
	relative, subject := is+1, is+2
	object, kind := text[ws[i].Start:ws[is-1].End], ws[relative].Text
	switch {
	case kind == "the" || kind == "one":
		// "The language", "the streaming service", "the one".
		for subject < min(len(ws), relative+5) && !speaks(ws, subject) {
			if unmarked(ws[subject-1]) != 0 || ws[subject].Text == "of" {
				return "", false
			}
			kind = ws[subject].Text
			subject++
		}
		if kind == "that" || kind == "which" || kind == "who" {
			kind = ws[subject-2].Text
		}
	case kind == "how" && ws.At(subject) == "many" && isCount(ws[is-1].Text) && subject+2 < len(ws):
		object += " " + text[ws[subject+1].Start:ws[subject+1].End]
		subject += 2
		kind = "many"
	case !asking.Has(kind):
		return "", false
	}
	if !speaks(ws, subject) || unmarked(ws[subject-1]) != 0 {
		return "", false
	}
	// A single word may be a name: "Radiohead is what I listen to".
	words := is > i+1 && !ws[i+1].Upper || isPlural(ws[i].Text) || kind == "many"
	if !namedKinds.Has(kind) && kind != "where" && words || english.Articles.Has(ws[i].Text) {
		object = uncapitalized(object)
	}
	said, end := completedBy(text, ws, subject, kind, object)
	if end == 0 {
		return "", false
	}
	return begun(text[:ws[i].Start], said+text[ws[end-1].End:]), true
}

// toldLast reads "The bank I use is Monzo", from "the", as "I use Monzo", and "The number of cats we have is one" as
// "We have one cats".
func toldLast(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "the" {
		return "", false
	}
	subject := i + 1
	for subject < min(len(ws), i+6) && !speaks(ws, subject) {
		if unmarked(ws[subject]) != 0 {
			return "", false
		}
		subject++
	}
	if !speaks(ws, subject) || subject == i+1 {
		return "", false
	}
	kind := ws[subject-1].Text
	if kind == "that" || kind == "which" || kind == "who" {
		kind = ws.At(subject - 2)
	}
	is := subject + 1
	for ; is < min(len(ws), subject+maxRelative) && ws[is].Text != "is" && ws[is].Text != "are"; is++ {
		if unmarked(ws[is]) != 0 {
			return "", false
		}
	}
	told := ws[min(is+1, len(ws)-1)]
	named := told.Upper || english.StartsWithDigit(told.Text) || isCount(told.Text)
	if !named && !taughtKinds.Has(kind) && !ownKinds.Has(kind) && !ws[subject:is].Any(allergic) || ws[subject:is].Has("ever") {
		return "", false // "The car I drive is red"
	}
	if is+1 >= len(ws) || ws.At(is) != "is" && ws.At(is) != "are" || english.Deictic.Has(ws[is+1].Text) ||
		english.Pronouns.Has(ws[is+1].Text) || asking.Has(ws[is+1].Text) || ws[is+1].Text == "not" ||
		ws[is+1].Text == "to" || english.Evaluative.Has(ws[is+1].Text) {
		return "", false
	}
	last := is + 1
	for last+1 < len(ws) && unmarked(ws[last]) == 0 && last < is+maxTold {
		last++
	}
	object := text[ws[is+1].Start:ws[last].End]
	if ws.At(i+1) == "number" && ws.At(i+2) == "of" {
		if !isCount(ws[is+1].Text) {
			return "", false
		}
		object = text[ws[is+1].Start:ws[is+1].End] + " " + text[ws[i+3].Start:ws[subject-1].End]
		kind = "many"
	}
	said, end := completedBy(text, ws[:is], subject, kind, object)
	if end == 0 {
		return "", false
	}
	return begun(text[:ws[i].Start], said+text[ws[last].End:]), true
}

// speaks reports whether a clause of the speaker's begins at i.
func speaks(ws english.Words, i int) bool { return ws.At(i) == "i" || ws.At(i) == "we" }

// unmarked is the mark behind a word, 0 for an apostrophe.
func unmarked(w english.Word) rune {
	if w.Stop == '\'' || w.Stop == '’' {
		return 0
	}
	return w.Stop
}

// completedBy is the clause that begins at k with its object, which it lacks, up to the word at end; end is 0 if it
// lacks none. The object is of a kind: "language", "what", "when".
func completedBy(text string, ws english.Words, k int, kind, object string) (said string, end int) {
	end = k + 1
	for end < len(ws) && unmarked(ws[end-1]) == 0 && end < k+maxRelative && !tailJoints.Has(ws[end].Text) {
		end++
	}
	verb := k + 1
	if kind == "how" && ws.At(verb) != "eat" {
		return "", 0 // "Asking questions is how we grow"
	}
	for verb < end-1 && (helping.Has(ws[verb].Text) || english.Adverbs.Has(ws[verb].Text)) {
		verb++
	}
	if verb >= end || ws[verb].Text == "do" || ws[verb].Text == "call" || ws[verb].Text == "not" {
		return "", 0
	}
	if english.Likings.Has(ws[verb].Text) && (ws.At(verb+1) == "best" || ws.At(verb+1) == "most") {
		// "The color I like best for walls" is not the favorite one.
		if asking.Has(kind) || kind == "one" || verb+2 != end {
			return "", 0
		}
		return "My favorite " + nounBefore(text, ws, k, kind) + " is " + object, end
	}
	if ownKinds.Has(kind) {
		// "The bank I left", "the doctor I see for my back"
		if !usingVerbs.Has(ws[verb].Text) || verb != k+1 && ws[verb-1].Text != "have" || end > verb+2 ||
			end == verb+2 && !strands(ws[end-1].Text) {
			return "", 0
		}
		return "My " + nounBefore(text, ws, k, kind) + " is " + object, end
	}
	at := verb + 1 // where the object comes
	switch kind {
	case "when":
		object = "at " + object
		if !english.StartsWithDigit(strings.TrimPrefix(object, "at ")) || strings.Contains(object, "th ") {
			return "", 0
		}
		at = end
	case "where":
		if !strands(ws[end-1].Text) {
			place := placeOf(ws[verb].Text, object)
			if place == "" || end > verb+1 && !lasts(ws[verb+1:end]) {
				return "", 0 // "Lisbon is where I live in the winter"
			}
			object = place + " " + object
		} else {
			at = end
		}
	default:
		for j := verb + 1; j < min(end, verb+4); j++ {
			if (strands(ws[j].Text) || ws[j].Text == "in") && (j+1 == end || closes(ws[j+1].Text)) {
				at = j + 1
			}
		}
		if at < end && !closes(ws[at].Text) {
			return "", 0 // it has an object
		}
	}
	said = text[ws[k].Start:ws[at-1].End] + " " + object
	if at < end {
		said += text[ws[at-1].End:ws[end-1].End]
	}
	return said, end
}

// nounBefore is the noun phrase of a kind that ends before a clause at k: "best friend" of "the best friend that I have".
func nounBefore(text string, ws english.Words, k int, kind string) string {
	last := k - 1
	for ws[last].Text != kind {
		last--
	}
	first := last
	for first > 0 && ws[first-1].Text != "the" && ws[first-1].Text != "is" && ws[first-1].Text != "are" {
		first--
	}
	return text[ws[first].Start:ws[last].End]
}

// closes reports whether a clause has no object before w: "every day", "at work", "most".
func closes(w string) bool {
	return english.Prepositions.Has(w) || english.DateWords.Has(w) || english.Adverbs.Has(w) || w == "every" ||
		w == "these" || w == "most" || w == "best"
}

// placeOf is the preposition before a place where somebody does something; "" if the verb tells of none.
func placeOf(verb, place string) string {
	switch verb {
	case "live", "living", "stay", "reside":
		if english.StartsWithDigit(place) {
			return "at"
		}
		return "in"
	case "work", "train", "study", "studying", "bank", "shop", "exercise":
		return "at"
	case "going", "go", "moving", "flying", "traveling", "travelling", "heading":
		return "to"
	}
	return ""
}

// timeFirst reads "In the morning I drink tea", from "in", as "I drink tea in the morning", and "For coding I use Vim"
// as "I use Vim for coding".
func timeFirst(text string, ws english.Words, i int) (string, bool) {
	n := fronts.Match(ws, i)
	if n == 0 && ws.At(i) == "for" && speaks(ws, i+2) {
		n = 2
	}
	k := i + n
	if n == 0 || !speaks(ws, k) || i > 0 || unmarked(ws[k-1]) != 0 && unmarked(ws[k-1]) != ',' {
		return "", false
	}
	end := k + 1
	for end < len(ws) && unmarked(ws[end-1]) == 0 && !tailJoints.Has(ws[end].Text) && !clauseOpeners.Has(ws[end].Text) {
		end++
	}
	if end < k+3 {
		return "", false
	}
	front := uncapitalized(text[ws[i].Start:ws[k-1].End])
	return begun(text[:ws[i].Start], text[ws[k].Start:ws[end-1].End]+" "+front+text[ws[end-1].End:]), true
}
