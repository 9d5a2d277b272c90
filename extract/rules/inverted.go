package rules

import (
	"slices"
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
	guarded     = tables.Words("guarded")
)

const (
	maxTold     = 7 // words of what is told: "a 50 mcg levothyroxine pill"
	maxRelative = 9 // words of the clause it is told in: "I'd like you to answer in"
)

// toldFirst reads "Java is the language I use at work", from what is told, as "I use Java at work", "7:30 is when I get
// up" as "I get up at 7:30", and "Three is how many rabbits we've got" as "We've got three rabbits".
func toldFirst(text string, ws english.Words, i int) (string, bool) {
	is := endOfTold(ws, i)
	// "80 kg is the most I've ever lifted", "1234 is what I use as a PIN"
	if is == 0 || ws[is:].Has("ever") || ws.Any(guarded) {
		return "", false
	}
	object := text[ws[i].Start:ws[is-1].End]
	if ws[is].Start < ws[is-1].End { // "Java's the language I use" shares its bytes
		object = strings.TrimRight(strings.TrimSuffix(object, "s"), "'’")
	}
	subject, kind := relativeAt(ws, is+1)
	if kind == "many" {
		if !isCount(ws[is-1].Text) {
			return "", false
		}
		object += " " + text[ws[subject-1].Start:ws[subject-1].End]
	}
	if kind == "" || !speaks(ws, subject) || unmarked(ws[subject-1]) != 0 {
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

// endOfTold is where "is" stands behind what is told at i; 0 if nothing is that a clause of the speaker's may lack.
func endOfTold(ws english.Words, i int) int {
	for k := i; k < min(len(ws)-3, i+maxTold+1); k++ {
		w := ws[k]
		if (w.Text == "is" || w.Text == "are") && k > i && unmarked(w) == 0 {
			return k
		}
		if unmarked(w) != 0 || english.Pronouns.Has(w.Text) || asking.Has(w.Text) || english.Deictic.Has(w.Text) ||
			w.Text == "there" || w.Text == "my" || w.Text == "or" || w.Text == "not" || english.Adverbs.Has(w.Text) ||
			finiteVerb(w.Text) || attributing.Has(w.Text) || vetoing.Has(w.Text) || strings.HasSuffix(w.Text, "'s") {
			return 0 // "Ann says Paris is where I live"
		}
	}
	return 0
}

// relativeAt reads the words at i, behind "is", up to the subject of the clause that lacks what is told: "the
// language", "what", "how many rabbits", which is of the kind "many". The kind is "" if they are none of these.
func relativeAt(ws english.Words, i int) (subject int, kind string) {
	subject, kind = i+1, ws[i].Text
	switch {
	case kind == "how" && ws.At(subject) == "many" && subject+2 < len(ws):
		return subject + 2, "many"
	case asking.Has(kind):
		return subject, kind
	case kind != "the" && kind != "one":
		return 0, ""
	}
	// "The language", "the streaming service", "the one".
	for subject < min(len(ws), i+5) && !speaks(ws, subject) {
		if unmarked(ws[subject-1]) != 0 || ws[subject].Text == "of" {
			return 0, ""
		}
		kind = ws[subject].Text
		subject++
	}
	// "The language that I use"
	if kind == "that" || kind == "which" || kind == "who" {
		kind = ws[subject-2].Text
	}
	return subject, kind
}

// toldLast reads "The bank I use is Monzo", from "the", as "I use Monzo", and "The number of cats we have is two" as
// "We have two cats".
func toldLast(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "the" || ws.Any(guarded) {
		return "", false
	}
	subject, kind := relativeAt(ws, i)
	if kind == "" || !speaks(ws, subject) || subject == i+1 || unmarked(ws[subject-1]) != 0 {
		return "", false
	}
	is := subject + 1
	for is < min(len(ws)-1, subject+maxRelative) && ws[is].Text != "is" && ws[is].Text != "are" &&
		unmarked(ws[is]) == 0 {
		is++
	}
	if is+1 >= len(ws) || !tellsObject(ws, subject, is, kind) {
		return "", false
	}
	last := is + 1
	for last+1 < len(ws) && unmarked(ws[last]) == 0 && last < is+maxTold {
		last++
	}
	object := text[ws[is+1].Start:ws[last].End]
	said, end := completedBy(text, ws[:is], subject, kind, object)
	if end == 0 {
		return "", false
	}
	return begun(text[:ws[i].Start], said+text[ws[last].End:]), true
}

// countedThings reads "The number of cars we own is two", from "the", as "We own two cars".
func countedThings(text string, ws english.Words, i int) (string, bool) {
	if i+3 >= len(ws) || !ws[i:].StartWith("the", "number", "of") {
		return "", false
	}
	subject := i + 4
	for subject < min(len(ws), i+8) && !speaks(ws, subject) {
		subject++
	}
	is := subject + 1
	for is < min(len(ws)-1, subject+maxRelative) && ws[is].Text != "is" && unmarked(ws[is]) == 0 {
		is++
	}
	if of := ws[i+3].Text; of == "the" || of == "my" || ws[subject:min(is, len(ws))].Has("not") {
		return "", false // "the number of the bus I take is two"
	}
	if is+1 >= len(ws) || !speaks(ws, subject) || ws[is].Text != "is" || !isCount(ws[is+1].Text) ||
		ws[is+1].Text == "one" || is+2 < len(ws) && unmarked(ws[is+1]) == 0 && ws[is+2].Text != "in" {
		return "", false // "one cats"
	}
	things := text[ws[is+1].Start:ws[is+1].End] + " " + text[ws[i+3].Start:ws[subject-1].End]
	said, end := completedBy(text, ws[:is], subject, "many", things)
	if end == 0 {
		return "", false
	}
	return begun(text[:ws[i].Start], said+text[ws[is+1].End:]), true
}

// tellsObject reports whether what stands behind "is" is the object of the clause before, and not how that is: "The
// car I drive is red".
func tellsObject(ws english.Words, subject, is int, kind string) bool {
	told, clause := ws[is+1], ws[subject:is]
	named := told.Upper || english.StartsWithDigit(told.Text) || isCount(told.Text)
	if ws[is].Text != "is" && ws[is].Text != "are" || clause.Has("ever") || clause.Has("not") ||
		strings.HasSuffix(told.Text, "ing") && !taughtKinds.Has(kind) || // "the boss I have is leaving"
		!named && !taughtKinds.Has(kind) && !ownKinds.Has(kind) && !clause.Any(allergic) {
		return false
	}
	return !english.Deictic.Has(told.Text) && !english.Pronouns.Has(told.Text) && !asking.Has(told.Text) &&
		!english.Evaluative.Has(told.Text) && told.Text != "not" && told.Text != "to"
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
	for verb < end-1 && (helping.Has(ws[verb].Text) || english.Adverbs.Has(ws[verb].Text)) {
		verb++
	}
	switch {
	case verb >= end, ws[verb].Text == "do", ws[verb].Text == "call", ws[verb].Text == "not",
		kind == "how" && ws[verb].Text != "eat": // "Asking questions is how we grow"
		return "", 0
	case ws.At(verb+1) == "best" || ws.At(verb+1) == "most":
		if v := ws[verb].Text; v != "like" && v != "love" && v != "enjoy" && v != "adore" {
			break // "the app I use most", "the food I hate most"
		}
		// "The color I like best for walls" is not the favorite one.
		if asking.Has(kind) || kind == "one" || kind == "many" || verb+2 != end {
			return "", 0
		}
		return "My favorite " + nounBefore(text, ws, k, kind) + " is " + object, end
	case ownKinds.Has(kind):
		if !hasOne(ws, k, verb, end) {
			return "", 0
		}
		return "My " + nounBefore(text, ws, k, kind) + " is " + object, end
	}
	object, at := placed(ws, verb, end, kind, object)
	if at == 0 {
		return "", 0
	}
	said = text[ws[k].Start:ws[at-1].End] + " " + object
	if at < end {
		said += text[ws[at-1].End:ws[end-1].End]
	}
	return said, end
}

// hasOne reports whether the clause from k to end says that the speaker has a thing of which people have one, and
// bounds it to nothing: "the bank I use", but not "the bank I left" nor "the doctor I see for my back".
func hasOne(ws english.Words, k, verb, end int) bool {
	if !usingVerbs.Has(ws[verb].Text) || verb != k+1 && ws[verb-1].Text != "have" {
		return false
	}
	return end == verb+1 || end == verb+2 && strands(ws[end-1].Text)
}

// placed is an object with the preposition that its kind wants, and where in the clause it comes; 0 for nowhere.
func placed(ws english.Words, verb, end int, kind, object string) (said string, at int) {
	switch {
	case kind == "when":
		if !english.StartsWithDigit(object) || strings.Contains(object, "th ") {
			return "", 0
		}
		return "at " + object, end
	case kind == "where" && strands(ws[end-1].Text):
		return object, end
	case kind == "where":
		place := placeOf(ws[verb].Text, object)
		if place == "" || end > verb+1 && !lasts(ws[verb+1:end]) {
			return "", 0 // "Lisbon is where I live in the winter"
		}
		return place + " " + object, verb + 1
	}
	at = verb + 1
	for j := verb + 1; j < min(end, verb+4); j++ {
		if (strands(ws[j].Text) || ws[j].Text == "in") && (j+1 == end || closes(ws[j+1].Text)) {
			at = j + 1
		}
	}
	if at < end && !closes(ws[at].Text) {
		return "", 0 // it has an object
	}
	return object, at
}

// nounBefore is the noun phrase of a kind that ends before a clause at k: "best friend" of "the best friend that I
// have".
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

// Nobody says which place it is by the verb alone, so that only a few verbs are read.

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

// A time before the subject hides the statement from tables that begin with it.

// timeFirst reads "In the morning I drink tea", from "in", as "I drink tea in the morning", and "For coding I use Vim"
// as "I use Vim for coding".
func timeFirst(text string, ws english.Words, i int) (string, bool) {
	n := fronts.Match(ws, i)
	if n == 0 && ws.At(i) == "for" && speaks(ws, i+2) {
		n = 2
	}
	k := i + n
	if n == 0 || !speaks(ws, k) || i > english.SkipLeads(ws) || unmarked(ws[k-1]) != 0 && unmarked(ws[k-1]) != ',' {
		return "", false
	}
	end := k + 1
	for end < len(ws) && unmarked(ws[end-1]) == 0 && !tailJoints.Has(ws[end].Text) && !clauseOpeners.Has(ws[end].Text) {
		end++
	}
	if end < k+3 || end < len(ws) && unmarked(ws[end-1]) == 0 {
		return "", false // "at work I hate my boss and my sister"
	}
	// Behind the clause it bounds the same verb as before it.
	front := uncapitalized(text[ws[i].Start:ws[k-1].End])
	return begun(text[:ws[i].Start], text[ws[k].Start:ws[end-1].End]+" "+front+text[ws[end-1].End:]), true
}

// othersMoved reads "The airline moved our Lisbon flight to 21 May", from its first word, as "Our Lisbon flight was
// moved to 21 May": the speaker has the flight. Any other word before the verb may take that back.
func othersMoved(text string, ws english.Words, i int) (string, bool) {
	if i > 0 || len(ws) < 5 || ws.Any(vetoing) || ws.Any(attributing) || slices.ContainsFunc(ws[:len(ws)-1], marked) {
		return "", false
	}
	v := 1
	switch ws[0].Text {
	case "they":
	case "the", "my", "our":
		for v < min(len(ws), maxMover) && unmovedNoun(ws[v].Text) {
			v++
		}
		if v == 1 || persons.Has(ws[v-1].Text) && ws[0].Text == "the" {
			return "", false
		}
	default:
		return "", false
	}
	if w := ws.At(v); w == "has" || w == "have" {
		v++
	}
	thing := v + 1
	if thing+2 >= len(ws) || !movings.Has(ws[v].Text) {
		return "", false
	}
	owner, official := ws[thing].Text, ws[0].Text == "they" || ws[0].Text == "the"
	if owner != "our" && owner != "my" && !(owner == "the" && official) {
		return "", false
	}
	end := thing + 1
	for end < len(ws) && unmovedNoun(ws[end].Text) {
		end++
	}
	// "The appointment" may be one of several, and "this week" of a meeting is one of them.
	if end < thing+3 || end == len(ws) || !movedTo.Has(ws[end].Text) || !plannedThing(ws[thing:end]) ||
		ws[end:].Any(onceOnly) {
		return "", false
	}
	return capitalized(text[ws[thing].Start:ws[end-1].End]) + " was " + ws[v].Text + text[ws[end-1].End:], true
}

// unmovedNoun reports whether w may be a noun of who moves a thing, or of that thing.
func unmovedNoun(w string) bool {
	return !english.StopWords.Has(w) && !movings.Has(w) && !movedTo.Has(w) && !strings.HasSuffix(w, "ly") &&
		!english.Adverbs.Has(w)
}

// marked reports whether a mark parts a sentence behind w.
func marked(w english.Word) bool { return w.Stop != 0 && w.Stop != '\'' && w.Stop != '.' }

// maxMover bounds the words up to the verb of somebody who moves a thing.
const maxMover = 5
