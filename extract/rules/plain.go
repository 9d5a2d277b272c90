package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// Some sentences have the words of a plain statement in another order, or a word that stands for one of their own:
// "It's hazelnuts my son is allergic to", "You have the wrong birthday, mine is on 19 July". They are read as the plain
// statement, which is the fact too, so that what is said of the same thing later is seen to be of it.

// readPlain reads text as the plain statement that it stands for, where that gives a fact by itself, or as it is.
func readPlain(text string) sentence {
	s := read(text)
	if len(s.words) < 4 || s.question || secrets.Found(s.words) {
		return s // a plainer reading may lack the word that tells a secret
	}
	plain, ok := plainly(text, s.words)
	if !ok && (s.topics == none || s.start > s.words[min(english.SkipLeads(s.words), len(s.words)-1)].Start) {
		// A remark behind its subject cuts a statement: "I, a born walker, sold my car".
		plain, ok = canonical.WithoutRemarks(text)
	}
	if !ok {
		return s.known()
	}
	// A reading that needs another sentence, or gives nothing, is no better than the words as they were said.
	p := read(plain)
	if p.leans || p.topics == none && len(p.several) == 0 {
		return s
	}
	p.said = text
	return p
}

// known is s, kept in its own words where no rule keeps it but the keys of facts know other words for it, which a rule
// keeps: "Ford employs me as a welder" tells what "I work as a welder at Ford" does.
func (s sentence) known() sentence {
	if s.topics != none || s.told != none || len(s.several) > 0 || secrets.Found(s.words) {
		return s
	}
	plain, ok := canonical.Plainly(s.text)
	if !ok {
		return s
	}
	// Words before the part that is told in other words may veto it: "I doubt they let me go", "if they let me go".
	first, as := s.words[min(english.SkipLeads(s.words), len(s.words)-1):], english.Split(plain)
	as = as[min(english.SkipLeads(as), len(as)):]
	if first.At(0) == as.At(0) && first.At(1) == as.At(1) || s.words.Any(vetoing) || s.words.Any(attributing) ||
		imperative(first.At(0)) || inStory(s.words) || quotesSpeaker(s.text) {
		return s
	}
	p := read(plain)
	if p.topics == none || p.leans || p.question || len(p.several) > 0 {
		return s
	}
	// The fact is what was said, without what leads up to it.
	from := min(english.SkipLeads(s.words), len(s.words)-1)
	last := s.words[len(s.words.WithoutFillers())-1]
	s.topics, s.leans, s.start, s.end = p.topics, false, s.words[from].Start, last.End
	return s
}

var (
	vetoing     = tables.Words("vetoing")
	attributing = tables.Words("attributing")
)

// plainForms read the forms of sentences that stand for a plain statement, each from a word on.
var plainForms = []func(text string, ws english.Words, i int) (string, bool){
	ownOne, theirsAlone, theirOwn, theirDoing, cleft, freeRelative, fronted, mealOf,
	wrongValue, meantFor, newValue, setTo, totalled, leftOver, reset, toldFirst, countedThings, toldLast, timeFirst,
	asValue, wrongNamed, correctionOf, scratched, framed, framedLast, reasonTold, insteadFirst, othersMoved,
}

// plainly is text as a plain statement. It reports whether text says it in another way.
func plainly(text string, ws english.Words) (string, bool) {
	// Each form may begin with the sentence, or behind a mark: "Sorry, it's hazelnuts …".
	for i := range ws {
		if i > 0 && ws[i-1].Text != "so" && (ws[i-1].Stop == 0 || !joint(ws[i-1])) {
			continue
		}
		k := i + english.SkipLeads(ws[i:])
		if ws.At(k) == "please" {
			k++
		}
		for _, read := range plainForms {
			if plain, ok := read(text, ws, k); ok {
				return plain, true
			}
		}
	}
	return "", false
}

// ownOne reads "mine" at i as "my" and the noun of which the words before it have another's or a wrong one: "You have
// the wrong birthday, mine is on 19 July", "Her birthday is in May, mine is in July".
func ownOne(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "mine" || ws.At(i+1) != "is" && ws.At(i+1) != "are" {
		return "", false
	}
	// The nearest noun counts, as the words in between are of it.
	for j := i - 2; j >= 0; j-- {
		w, noun := ws[j].Text, ws[j+1]
		another := w == "wrong" || w == "your" || ownersBefore.Has(w) || strings.HasSuffix(w, "'s")
		if another && !english.StopWords.Has(noun.Text) && ws[j].Stop == 0 {
			return text[:ws[i].Start] + "my " + text[noun.Start:noun.End] + text[ws[i].End:], true
		}
	}
	return "", false
}

// theirsAlone reads "my mum's is" at i as "my mum's" and the noun of which the words before it have a wrong one: "I
// mixed up the birthdays, my mum's is 18 May".
func theirsAlone(text string, ws english.Words, i int) (string, bool) {
	owner := i + 1
	if i < 3 || ws.At(i) != "my" || owner+2 >= len(ws) || ws[owner+1].Text != "is" {
		return "", false
	}
	who, owns := strings.CutSuffix(ws[owner].Text, "'s")
	if !owns || !persons.Has(who) || !canonical.Corrects(ws[:i]) && !ws[:i].Has("mixed") {
		return "", false
	}
	for j := i - 1; j > 0; j-- {
		if one := strings.TrimSuffix(ws[j].Text, "s"); traits.Has(ws[j].Text) || traits.Has(one) {
			return text[:ws[owner].End] + " " + one + text[ws[owner].End:], true
		}
	}
	return "", false
}

// theirOwn reads "her" at i as the one person whom the words before it name: "I told you the wrong day for
// mum, her birthday is on 19 November".
func theirOwn(text string, ws english.Words, i int) (string, bool) {
	w := ws.At(i)
	if i == 0 || w != "her" && w != "his" {
		return "", false
	}
	noun := i + 1
	if !traits.Has(ws.At(noun)) {
		noun++
	}
	if !traits.Has(ws.At(noun)) || ws.At(noun+1) != "is" && ws.At(noun+1) != "are" {
		return "", false
	}
	person := namedLast(text, ws[:i], w)
	if person == "" || !canonical.Corrects(ws[:i]) {
		return "", false
	}
	return text[:ws[i].Start] + person + "'s" + text[ws[i].End:], true
}

// theirDoing reads "he" at i as the one person who gave news, of which the clause before tells nothing else: "Emeka
// rang yesterday, he's moved to Stavanger". In "mom called about the doctor, he's moved" it is somebody else.
func theirDoing(text string, ws english.Words, i int) (string, bool) {
	w := ws.At(i)
	if i < 2 || i+3 > len(ws) || w != "he" && w != "she" || ws[i-1].Stop != ',' {
		return "", false
	}
	call := 1
	for call < i && !callPast.Has(ws[call].Text) {
		call++
	}
	for _, when := range ws[min(call+1, i):i] {
		if !english.DateWords.Has(when.Text) && !english.Periods.Has(when.Text) && !english.Adverbs.Has(when.Text) &&
			when.Text != "this" && when.Text != "last" {
			return "", false
		}
	}
	if call == i || call > 2 {
		return "", false
	}
	person := namedLast(text, ws[:call], w)
	if first := ws[0]; call == 1 && first.Upper && !english.StopWords.Has(first.Text) && !persons.Has(first.Text) {
		person = text[first.Start:first.End] // any first word has a capital, and a call comes from somebody
	}
	if person == "" {
		return "", false
	}
	verb := ws[i+1]
	word := verb.Text
	if word == "is" && english.Past(ws[i+2].Text) {
		word = "has" // "he's moved"
	}
	return capitalized(person + " " + word + text[verb.End:]), true
}

// namedLast is the person with whom ws ends, as the speaker would name them, if the pronoun may stand for them; "" if
// it ends with none. Of a name it is not known.
func namedLast(text string, ws english.Words, pronoun string) string {
	last := len(ws) - 1
	w := ws[last]
	mine := last > 0 && (ws[last-1].Text == "my" || ws[last-1].Text == "our")
	female := pronoun == "she" || pronoun == "her"
	switch {
	case female && males.Has(w.Text), !female && females.Has(w.Text):
		return ""
	case persons.Has(w.Text) && (mine || bareOwned.Has(w.Text)):
		return "my " + text[w.Start:w.End]
	case last > 0 && w.Upper && !english.StopWords.Has(w.Text) && !english.DateWords.Has(w.Text):
		return text[w.Start:w.End]
	}
	return ""
}

// ofCorrected reads "He's allergic to sesame, not cashews" behind "I got that wrong about Tadeo" as said of Tadeo.
func (s *sentence) ofCorrected(before *sentence) bool {
	if s.behindMisstated(before) {
		return true
	}
	ws := before.words
	last := len(ws) - 1
	if last < 1 || ws[last-1].Text != "about" || !ws[last].Upper || !canonical.Corrects(ws) ||
		s.words.At(0) != "he" && s.words.At(0) != "she" || len(s.words) < 3 {
		return false
	}
	verb := s.words[1]
	// The sentence before names one person at its end, and says nothing else that a pronoun may stand for.
	p := read(before.text[ws[last].Start:ws[last].End] + " " + verb.Text + s.text[verb.End:])
	if p.topics == none || p.leans {
		return false
	}
	p.said, p.corrects = s.text, true
	*s = p
	return true
}

// mealOf reads "breakfast is porridge these days", from its first word, as "I have porridge for breakfast these days".
func mealOf(text string, ws english.Words, i int) (string, bool) {
	first := i
	if w := ws.At(first); w == "my" || w == "our" {
		first++
	}
	k := first + 1
	if k < len(ws) && ws[k:].StartWith("for", "me") {
		k += 2
	}
	meal := ws.At(first) == "breakfast" || ws.At(first) == "lunch" || ws.At(first) == "dinner"
	object := k + 1
	if object+1 >= len(ws) || !meal || ws[k].Text != "is" {
		return "", false
	}
	what := ws[object].Text
	if k == first+1 && !lasts(ws[object:]) || english.Evaluative.Has(what) || isCount(what) {
		return "", false // "Breakfast is a mess"
	}
	// What is eaten ends at a mark, or where it is said how long it has been so.
	end := object
	for end+1 < len(ws) && ws[end].Stop == 0 && !lasts(ws[end+1:min(end+2, len(ws))]) {
		end++
	}
	said := "I have " + text[ws[object].Start:ws[end].End] + " for " + ws[first].Text + text[ws[end].End:]
	return begun(text[:ws[i].Start], said), true
}

// lasts reports whether ws tells that something is so for some time: "these days", "every day".
func lasts(ws english.Words) bool {
	return ws.Has("these") || ws.Has("now") || ws.Has("nowadays") || ws.Has("every") ||
		ws.Has("usually") || ws.Has("always")
}

// cleft reads "it's hazelnuts my son is allergic to, not walnuts", from "it", as "my son is allergic to hazelnuts, not
// walnuts". The clause must end in a preposition or a verb of taste that lacks its object.
func cleft(text string, ws english.Words, i int) (string, bool) {
	object := i + 2
	if ws.At(i) != "it" || ws.At(i+1) != "is" && ws.At(i+1) != "was" || !definiteAt(ws, object) {
		return "", false
	}
	for k := object + 1; k < min(len(ws), object+maxPairSubject); k++ {
		if ws[k-1].Stop != 0 {
			return "", false
		}
		// "it's cashews that Mateo is allergic to"
		named := ws[k].Upper && ws[k-1].Text == "that" && ws.At(k+1) == "is" && !english.StopWords.Has(ws[k].Text)
		if !named && !speakerWords.Has(ws[k].Text) {
			continue
		}
		// A clause that has its object describes what was said before: "It's a dog my son walks it".
		end := lacking(ws, k)
		if end == 0 {
			return "", false
		}
		last := k - 1
		if ws[last].Text == "that" && last > object {
			last--
		}
		return reordered(text, ws, i, k, end, text[ws[object].Start:ws[last].End]), true
	}
	return "", false
}

// freeRelative reads "what I'm allergic to is lupin", from "what", as "I'm allergic to lupin".
func freeRelative(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "what" || !speakerWords.Has(ws.At(i+1)) {
		return "", false
	}
	for end := i + 3; end+2 < len(ws) && end < i+maxOther; end++ {
		if ws[end-1].Stop != 0 && ws[end-1].Stop != '\'' {
			return "", false
		}
		if strands(ws[end].Text) && ws[end+1].Text == "is" && !english.Deictic.Has(ws[end+2].Text) {
			said := text[ws[i+1].Start:ws[end].End] + " " + text[ws[end+2].Start:]
			return begun(text[:ws[i].Start], said), true
		}
	}
	return "", false
}

// fronted reads "The desk I raved about in winter I have come to loathe", from its first word, as "I have come to
// loathe the desk I raved about in winter", and "Mushrooms I can't stand" as "I can't stand mushrooms".
func fronted(text string, ws english.Words, i int) (string, bool) {
	end := len(ws) - 1
	judges := english.Likings.Has(ws[end].Text) || toleranceVerbs.Has(ws[end].Text)
	if i > 0 || strings.HasSuffix(text, ":") || !judges {
		return "", false
	}
	inner, subject := 0, 0 // "I raved", "I have come"
	for k := 1; k < end; k++ {
		if ws[k].Text == "i" || ws[k].Text == "we" {
			inner, subject = subject, k
		}
	}
	switch first := ws[0].Text; {
	case subject == 0:
		return "", false
	case inner > 0: // the object has a clause of its own, and only one
		own := ws[inner+2 : max(subject, inner+2)]
		if first != "the" && first != "my" || inner >= maxPairSubject || own.Any(english.Articles) ||
			own.Any(english.Auxiliaries) || own.Any(tailJoints) || own.Has("or") || own.Has("that") {
			return "", false
		}
	case !isPlural(first) || english.StopWords.Has(first) || generic.Has(first) || subject > 1 ||
		!toleranceVerbs.Has(ws[end].Text) || !ws[subject:].Has("not"):
		return "", false
	}
	// The mark at the end stays there.
	object := uncapitalized(text[:ws[subject-1].End])
	return capitalized(text[ws[subject].Start:ws[end].End]+" "+object) + text[ws[end].End:], true
}

// definiteAt reports whether the phrase at i names something: "hazelnuts", but not "a game", "something", "not".
func definiteAt(ws english.Words, i int) bool {
	w := ws.At(i)
	return w != "" && w != "a" && w != "an" && (w == "the" || w == "my" || !english.StopWords.Has(w)) &&
		!english.Evaluative.Has(w)
}

// lacking is the index of the last word of the clause at k if that word lacks its object, or else 0.
func lacking(ws english.Words, k int) int {
	end := k
	for end+1 < len(ws) && (ws[end].Stop == 0 || ws[end].Stop == '\'') {
		end++
	}
	if end < k+2 || !strands(ws[end].Text) && !english.Likings.Has(ws[end].Text) {
		return 0
	}
	return end
}

// strands reports whether w is a preposition that may end a clause of which the object stands elsewhere.
func strands(w string) bool {
	return w == "to" || w == "of" || w == "from" || w == "with" || w == "at" || w == "on" || w == "into" || w == "for"
}

// reordered is text with the clause from k to end in place of the words from i on, and the object behind it.
func reordered(text string, ws english.Words, i, k, end int, object string) string {
	return begun(text[:ws[i].Start], text[ws[k].Start:ws[end].End]+" "+object+text[ws[end].End:])
}

// begun is what is said behind the words before it, with a capital where it begins the sentence.
func begun(before, said string) string {
	if strings.TrimSpace(before) == "" {
		return capitalized(said)
	}
	return before + said
}
