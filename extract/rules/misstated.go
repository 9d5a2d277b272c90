package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Some corrections name the thing before the value, in a clause that says nothing else: "Sorry, wrong date for our
// anniversary, it's 19 June", "Scratch May 3 as my birthday. It's May 5". They are read as "Actually, our anniversary
// is 19 June".

var (
	dropping = tables.Words("dropping")
	asValues = tables.Words("as-values")
	moments  = tables.Words("value-nouns")
	earlier  = tables.Phrases("earlier")
	// Words before a noun that tell that it is of a person: "shoe size".
	ownPart = tables.Words("own-part")
)

// misstated are the forms that need the value which follows, be it in a sentence of its own.
var misstated = []func(text string, ws english.Words, i int) (string, bool){wrongNamed, correctionOf, scratched}

// wrongNamed reads "wrong date for our anniversary, it's 19 June", from "wrong".
func wrongNamed(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "wrong" {
		return "", false
	}
	noun, end := i+1, i+1 // the last word of what was wrong
	for end+1 < len(ws) && end < noun+maxOwned && unmarked(ws[end]) == 0 && !english.StopWords.Has(ws[end+1].Text) &&
		earlier.Match(ws, end+1) == 0 {
		end++
	}
	if end >= len(ws) || english.StopWords.Has(ws[noun].Text) && !moments.Has(ws[noun].Text) {
		return "", false
	}
	// "Wrong date for our anniversary", "wrong number of kids"
	if link := ws.At(end + 1); unmarked(ws[end]) == 0 && (link == "for" || link == "of") {
		owner, last := end+2, thingAt(ws, end+2)
		if last > 0 && moments.Has(ws[end].Text) && !persons.Has(ws[last].Text) {
			return corrected(text, ws, i, text[ws[owner].Start:ws[last].End], last)
		}
		last = nounAt(ws, owner)
		owned := last > 0 && (persons.Has(ws[last].Text) || english.OwnNouns.Has(ws[last].Text))
		if owned && ws[noun].Text == "number" {
			return countedAnew(text, ws, i, owner, last)
		}
		return "", false
	}
	// "Wrong number" is what somebody says who was called, and "wrong file name" is of a file.
	alone := noun == end && ws[noun].Text != "number" && ws[noun].Text != "name" && ws[noun].Text != "address"
	if !ofOne(ws[end].Text) || !alone && !ownPart.Has(ws[noun].Text) {
		return "", false
	}
	return corrected(text, ws, i, "my "+text[ws[noun].Start:ws[end].End], end)
}

// correctionOf reads "correction to my age: it's 54", from "correction".
func correctionOf(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i-1) == "correction" {
		i-- // leads end behind it
	}
	to := ws.At(i + 1)
	if ws.At(i) != "correction" || to != "to" && to != "on" && to != "of" && to != "for" {
		return "", false
	}
	last := thingAt(ws, i+2)
	if last == 0 {
		return "", false
	}
	return corrected(text, ws, i, text[ws[i+2].Start:ws[last].End], last)
}

// scratched reads "scratch three as the number of my siblings, it's four", from "scratch".
func scratched(text string, ws english.Words, i int) (string, bool) {
	if !dropping.Has(ws.At(i)) {
		return "", false
	}
	for k := i + 2; k < min(len(ws), i+maxOther) && unmarked(ws[k-1]) == 0; k++ {
		if ws[k].Text != "as" && ws[k].Text != "for" {
			continue // what was wrong: "March 14"
		}
		owner := k + 1
		if ws.At(owner) == "the" && ws.At(owner+2) == "of" { // "the number of my siblings"
			number := ws[owner+1].Text == "number"
			if last := thingAt(ws, owner+3); last > 0 && number {
				return countedAnew(text, ws, i, owner+4, last)
			}
			if owner += 3; !moments.Has(ws[owner-2].Text) {
				return "", false
			}
		}
		if last := thingAt(ws, owner); last > 0 {
			return corrected(text, ws, i, text[ws[owner].Start:ws[last].End], last)
		}
	}
	return "", false
}

// thingAt is the last word of a thing of the speaker's that begins at i: "our wedding anniversary"; 0 if none does.
func thingAt(ws english.Words, i int) int {
	if w := ws.At(i); w != "my" && w != "our" {
		return 0
	}
	return nounAt(ws, i+1)
}

// nounAt is the last word of the nouns at i; 0 if there are none.
func nounAt(ws english.Words, i int) int {
	last := 0
	for k := i; k < min(len(ws), i+maxOwned) && !english.StopWords.Has(ws[k].Text) && earlier.Match(ws, k) == 0; k++ {
		last = k
		if unmarked(ws[k]) != 0 {
			break
		}
	}
	return last
}

// valueBehind is where the value begins that is told behind the word at last: "it's 19 June", "mine is 43", "should be
// 43"; 0 if none is.
func valueBehind(ws english.Words, last int) int {
	k := last + 1
	k += earlier.Match(ws, k)
	if k >= len(ws) || k == last+1 && unmarked(ws[last]) == 0 || unmarked(ws[k-1]) == 0 {
		return 0
	}
	speaker := speaks(ws, k)
	if k = beingBehind(ws, k); k == 0 {
		return 0
	}
	if speaker && (ws.At(k) == "on" || ws.At(k) == "at") {
		k++ // "I'm on 555 0124"
	}
	if k >= len(ws) || english.Evaluative.Has(ws[k].Text) || english.Deictic.Has(ws[k].Text) {
		return 0
	}
	if speaker && !ws[k].Upper && !english.StartsWithDigit(ws[k].Text) && !isCount(ws[k].Text) {
		return 0 // "wrong nut, I'm allergic to cashews"
	}
	return k
}

// affirms reports whether w is an adverb that denies nothing.
func affirms(w string) bool { return english.Adverbs.Has(w) && w != "not" && w != "never" }

// beingBehind is where it goes on behind "it is", "mine should be", "the right one is" at k; 0 without such words.
func beingBehind(ws english.Words, k int) int {
	switch ws[k].Text {
	case "it", "mine", "i", "we":
		k++
	case "the":
		if ws.At(k+1) != "right" {
			return 0
		}
		k += 3
	default:
		return 0
	}
	for affirms(ws.At(k)) || ws.At(k) == "should" {
		k++
	}
	switch ws.At(k) {
	case "is", "be", "am", "are":
	default:
		return 0
	}
	for k++; affirms(ws.At(k)); k++ {
	}
	if ws.At(k) == "not" || ws.At(k) == "never" {
		return 0 // "it's not 19 June"
	}
	return k
}

// corrected is "actually, my age is 54", where the value stands behind the word at last.
func corrected(text string, ws english.Words, i int, thing string, last int) (string, bool) {
	value := valueBehind(ws, last)
	if value == 0 {
		return "", false
	}
	// A number and a street is more than the number of a house.
	if strings.HasSuffix(thing, " house number") && value+1 < len(ws) && unmarked(ws[value]) == 0 {
		thing = "my address" // "it's 29 Maple Street"
	}
	is := " is "
	if weekdays.Has(ws[value].Text) {
		is = " is on "
	}
	return begun(text[:ws[i].Start], "actually, "+thing+is+text[ws[value].Start:]), true
}

// countedAnew is "actually, I have four siblings", where the count stands behind the things from first to last.
func countedAnew(text string, ws english.Words, i, first, last int) (string, bool) {
	value := valueBehind(ws, last)
	if value == 0 || !isCount(ws[value].Text) {
		return "", false
	}
	things := text[ws[first].Start:ws[last].End]
	return begun(text[:ws[i].Start], "actually, I have "+text[ws[value].Start:ws[value].End]+" "+things), true
}

// asValue reads "Put 555 0199 as my phone number" and "Use 79 kg as my weight from now on", from the verb, as "My phone
// number is 555 0199 now".
func asValue(text string, ws english.Words, i int) (string, bool) {
	if !asValues.Has(ws.At(i)) || ws.Has("while") || ws.Has("until") || ws.Any(english.TaskWords) {
		return "", false
	}
	for k := i + 2; k < min(len(ws), i+maxOther) && unmarked(ws[k-1]) == 0; k++ {
		end := ownedTrait(ws, k+1)
		if ws[k].Text != "as" || end == 0 {
			continue
		}
		// "Put 25 as my age in the story" is about the story.
		rest := ws[end:]
		if rest.StartWith("from", "now", "on") {
			rest = rest[3:]
		}
		for len(rest) > 0 && (rest[0].Text == "please" || rest[0].Text == "now") {
			rest = rest[1:]
		}
		if len(rest) > 0 || ws[i:k].Has("not") || ws[i:k].Has("or") {
			return "", false
		}
		// "Put 19 June instead of 9 June as our anniversary"
		value := ws[i+1 : k]
		if at := slices.IndexFunc(value, func(w english.Word) bool { return w.Text == "instead" }); at > 0 {
			value = value[:at]
		}
		first := value[0]
		if !first.Upper && !english.StartsWithDigit(first.Text) || value.Any(english.Prepositions) {
			return "", false
		}
		said := text[ws[k+1].Start:ws[end-1].End] + " is " + text[first.Start:value[len(value)-1].End] + " now"
		return begun(text[:ws[i].Start], said+"."), true
	}
	return "", false
}

// gaveWrong reads "July 9 when I gave you June 9 as our anniversary", from "when", behind what was meant, as "Actually,
// our anniversary is July 9".
func gaveWrong(text, before string, ws english.Words, k int, meant string) (string, bool) {
	if ws.At(k+1) != "i" || ws.At(k+2) != "gave" && ws.At(k+2) != "put" {
		return "", false
	}
	for j := k + 3; j < min(len(ws), k+maxOther+3); j++ {
		if ws[j].Text != "as" && ws[j].Text != "for" {
			continue
		}
		if last := thingAt(ws, j+1); last > 0 {
			said := "actually, " + text[ws[j+1].Start:ws[last].End] + " is " + meant
			return begun(before, said+text[ws[last].End:]), true
		}
	}
	return "", false
}

// behindMisstated reads "It's May 5" behind "Scratch May 3 as my birthday" as what is right.
func (s *sentence) behindMisstated(before *sentence) bool {
	if len(before.words) == 0 || len(before.words) > 2*maxOther || len(s.words) < 2 {
		return false
	}
	text := strings.TrimRight(before.text, ".! ") + ", " + s.text
	ws := english.Split(text)
	// The sentence before may begin with "Sorry,".
	for i := range before.words {
		for _, read := range misstated {
			plain, ok := read(text, ws, i)
			if !ok || i > 0 && unmarked(ws[i-1]) == 0 {
				continue
			}
			// The sentence before says nothing else, so that the fact is of this one alone.
			if p := readPlain(plain[max(strings.LastIndex(plain, "actually, "), 0):]); p.topics != none && !p.leans {
				p.said, p.corrects = s.text, true
				*s = p
				return true
			}
		}
	}
	return false
}
