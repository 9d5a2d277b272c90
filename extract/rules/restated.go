package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Some sentences name a thing of the speaker's and the value that is right, in the words of a correction or an order:
// "I typed my birthday wrong, it's on 8 June", "Replace my emergency contact with Dev". They are read as the plain
// statement "My birthday is on 8 June". Its noun and its value are words of the sentence.

var (
	mistakes  = tables.Words("mistakes")
	resetting = tables.Words("resetting")
	gaining   = tables.Words("gaining")
	losing    = tables.Words("losing")
	issuers   = tables.Words("issuers")
	given     = tables.Words("given")
	tellings  = tables.Words("tellings")
)

// A reading that is wrong would put words into the speaker's mouth. So each form wants a noun of which people have one,
// such as a number or a birthday, or a count of things of the speaker's, and a value that has the form of one.

// maxOwned bounds the words of such a thing: "work phone number".
const maxOwned = 4

// ownedTrait is where the noun phrase ends which begins at i with "my" or "our", if its last noun names what has one
// value at a time; 0 if there is none.
func ownedTrait(ws english.Words, i int) int {
	if w := ws.At(i); w != "my" && w != "our" {
		return 0
	}
	end := 0
	for j := i + 1; j < min(len(ws), i+1+maxOwned) && !english.StopWords.Has(ws[j].Text); j++ {
		if ofOne(ws[j].Text) {
			end = j + 1
		}
		if ws[j].Stop != 0 && !strings.ContainsRune("'’", ws[j].Stop) {
			break
		}
	}
	return end
}

// wrongValue reads "I typed my birthday wrong, it's on 8 June", from "I", as "Actually, my birthday is on 8 June".
func wrongValue(text string, ws english.Words, i int) (string, bool) {
	if ws.At(i) != "i" || !mistakes.Has(ws.At(i+1)) {
		return "", false
	}
	// "The wrong birthday" names it without an owner, and "my birthday wrong" has the word behind it.
	first := i + 2
	if ws.At(first) == "you" {
		first++
	}
	wrong := ws.At(first) == "the" && ws.At(first+1) == "wrong"
	if k := first + 3; wrong && ws.At(k) == "for" && ownedTrait(ws, k+1) > 0 { // "the wrong date for my birthday"
		end := ownedTrait(ws, k+1)
		return valueOfWrong(text, ws, i, text[ws[k+1].Start:ws[end-1].End], end, true)
	}
	end := ownedTrait(ws, first)
	if wrong && traits.Has(ws.At(first+2)) {
		end = first + 3
	}
	if end == 0 || wrong && end < len(ws) && ws[end-1].Stop == 0 {
		return "", false // "the wrong birthday for my mum"
	}
	thing := text[ws[first].Start:ws[end-1].End]
	if wrong {
		thing = "my " + text[ws[first+2].Start:ws[end-1].End] // "I gave you the wrong birthday"
	}
	return valueOfWrong(text, ws, i, thing, end, wrong)
}

// valueOfWrong is the statement of what a thing is, of which the value told before is wrong, and which ends before the
// word at end.
func valueOfWrong(text string, ws english.Words, i int, thing string, end int, wrong bool) (string, bool) {
	k := end
	if w := ws.At(k); !wrong && (w == "wrong" || w == "incorrectly" || w == "wrongly") {
		wrong, k = true, k+1
	}
	for k < len(ws) && (ws[k-1].Stop == 0 || ws[k].Text == "sorry") { // "wrong last time", "sorry: it's on 8 June"
		k++
	}
	value := k + 2
	for affirms(ws.At(value)) {
		value++
	}
	if ws.At(value) == "not" || ws.At(value) == "never" {
		return "", false
	}
	is := ws.At(k+1) == "is" || ws.At(k+1) == "falls"
	if !wrong || ws.At(k) != "it" || !is || value >= len(ws) || english.StopWords.Has(ws.At(value)) &&
		!english.Prepositions.Has(ws.At(value)) && ws.At(value) != "the" {
		return "", false
	}
	return begun(text[:ws[i].Start], "actually, "+thing+" is "+text[ws[value].Start:]), true
}

// meantFor reads "I meant the 27th of September for our anniversary", from "I" or from what was meant, as "Our
// anniversary is the 27th of September", and "I meant Dundee when I said my brother lives in Perth" as "My brother
// lives in Dundee".
func meantFor(text string, ws english.Words, i int) (string, bool) {
	value := i // leads end behind "I meant"
	if ws[i:].StartWith("i", "meant") {
		value = i + 2
	} else if i < 2 || ws[i-1].Text != "meant" {
		return "", false
	}
	for k := value + 1; k+2 < min(len(ws), value+maxOther); k++ {
		meant := text[ws[value].Start:ws[k-1].End]
		if ws[k].Text == "when" && ws[k+1].Text == "i" && tellings.Has(ws.At(k+2)) {
			said := k + 3
			for w := ws.At(said); w == "you" || w == "that"; w = ws.At(said) {
				said++
			}
			return saidWrong(text, text[:from(ws, i)], ws[min(said, len(ws)):], meant)
		}
		if ws[k].Text == "when" {
			return gaveWrong(text, text[:from(ws, i)], ws, k, meant)
		}
		owner := ws[k+1].Text
		own := owner == "my" || owner == "our"
		if ws[k].Text != "for" || !own && owner != "the" {
			continue
		}
		// A person is no value, and a value has a number, or a capital where the thing is the speaker's own: "no harm
		// for my sister", "Spanish for my sister".
		if persons.Has(ws.At(k+2)) || !slices.ContainsFunc(ws[value:k], func(w english.Word) bool {
			return own && w.Upper || english.StartsWithDigit(w.Text)
		}) {
			return "", false
		}
		end := k + 1
		for end+1 < len(ws) && ws[end].Stop == 0 {
			end++
		}
		said := "actually, " + text[ws[k+1].Start:ws[end].End] + " is " + meant
		return begun(text[:from(ws, i)], said+text[ws[end].End:]), true
	}
	return "", false
}

// from is where the words "I meant" begin in the text, of which i is the first or the one behind them.
func from(ws english.Words, i int) int {
	if ws[i].Text == "i" {
		return ws[i].Start
	}
	return ws[i-2].Start
}

// saidWrong is the statement ws, behind the words before it, with what was meant in the place of what it says behind
// its last preposition.
func saidWrong(text, before string, ws english.Words, meant string) (string, bool) {
	for k := len(ws) - 2; k > 1; k-- {
		if at := ws[k].Text; at == "in" || at == "at" || at == "to" || at == "on" || at == "is" || at == "for" {
			if ws[k+1].Stop != 0 && k+2 < len(ws) {
				return "", false // more follows than the wrong value
			}
			said := "actually, " + text[ws[0].Start:ws[k].End] + " " + meant
			return begun(before, said+text[ws[len(ws)-1].End:]), true
		}
	}
	return "", false
}

// newValue reads "They gave me a new extension, 4820" and "I got a new number, it's 555 0199", from the subject on,
// as "My extension is 4820 now".
func newValue(text string, ws english.Words, i int) (string, bool) {
	k := cameTo(ws, i)
	another := ws.At(k+1) == "new" || ws.At(k+1) == "different"
	if k == 0 || ws.At(k) != "a" || !another {
		return "", false
	}
	end := k + 3
	for end < min(len(ws), k+2+maxOwned) && !ofOne(ws[end-1].Text) {
		end++
	}
	if end >= len(ws) || !ofOne(ws[end-1].Text) || ws[end-1].Stop != ',' && ws[end-1].Stop != ':' {
		return "", false
	}
	value := end
	if ws.At(value) == "it" && ws.At(value+1) == "is" {
		value += 2
	}
	if value >= len(ws) || !english.StartsWithDigit(ws[value].Text) && !strings.Contains(ws[value].Text, "@") {
		return "", false
	}
	last := value
	for last+1 < len(ws) && ws[last].Stop == 0 && english.StartsWithDigit(ws[last+1].Text) {
		last++
	}
	said := "my " + text[ws[k+2].Start:ws[end-1].End] + " is " + text[ws[value].Start:ws[last].End] + " now"
	before := text[:ws[i].Start]
	if english.Prepositions.Has(ws[0].Text) || ws[0].Text == "because" {
		before = "" // "Because of the spam calls, I got a new number, it's …"
	}
	return begun(before, said+text[ws[last].End:]), true
}

// ofOne reports whether a noun names what somebody has one of.
func ofOne(noun string) bool { return traits.Has(noun) || noted.Has(noun) }

// cameTo is where it begins what the speaker came to: behind "I got", "they gave me" and "the bank has given us"; 0 if
// the words at i tell of nothing of the kind. What others come to, and what a friend gives, is theirs.
func cameTo(ws english.Words, i int) int {
	k := i + 1
	whose := ws.At(i) == "my" || ws.At(i) == "the"
	if whose {
		k++
	}
	giver := issuers.Has(ws.At(k-1)) && (whose || ws.At(i) == "they" || ws.At(i) == "it")
	for english.Adverbs.Has(ws.At(k)) || (ws.At(k) == "has" || ws.At(k) == "have") && given.Has(ws.At(k+1)) {
		k++
	}
	switch to := ws.At(k + 1); {
	case !given.Has(ws.At(k)):
		return 0
	case giver && (to == "me" || to == "us"):
		return k + 2
	case ws.At(i) == "i" || ws.At(i) == "we":
		return k + 1
	}
	return 0
}

// setTo reads "Replace my emergency contact with Dev" and "Change my address to 5 Elm Road", from the verb, as "My
// address is 5 Elm Road now". Without a value that can be told from a file's, it may be an order about a text.
func setTo(text string, ws english.Words, i int) (string, bool) {
	link := "to"
	if ws.At(i) == "replace" {
		link = "with"
	} else if !resetting.Has(ws.At(i)) {
		return "", false
	}
	end := ownedTrait(ws, i+1)
	// Words of a condition or a time make it a change for a while.
	if ws.Has("while") || ws.Has("until") || ws.Has("when") {
		return "", false
	}
	if end == 0 || ws.At(end) != link || end+1 >= len(ws) || ws[end:].Any(english.TaskWords) {
		return "", false
	}
	if ws[end-1].Text == "name" {
		return "", false // it may be one of a game or of a file
	}
	value := ws[end+1]
	if !value.Upper && !english.StartsWithDigit(value.Text) && value.Text != "my" {
		return "", false
	}
	// "Now" stands behind the value and before a mark: "my contact is Dev now, on 555 0176".
	last := end + 1
	for last+1 < len(ws) && (ws[last].Stop == 0 || ws[last].Stop == '\'') {
		last++
		if english.Prepositions.Has(ws[last].Text) || clauseOpeners.Has(ws[last].Text) {
			return "", false // "Change my number to 7 in the poem"
		}
	}
	said := text[ws[i+1].Start:ws[end-1].End] + " is " + text[value.Start:ws[last].End] + " now" + text[ws[last].End:]
	return begun(text[:ws[i].Start], said), true
}

// totalled reads "that's 4 tattoos now" and "that makes 4 tattoos", behind what came to the others, as "I have 4
// tattoos now".
func totalled(text string, ws english.Words, i int) (string, bool) {
	counts := i + 2
	is := (ws.At(i) == "that" || ws.At(i) == "which") && ws.At(i+1) == "is"
	makes := (ws.At(i) == "that" || ws.At(i) == "which") && ws.At(i+1) == "makes"
	// Somebody else's are not counted: "I heard my neighbor got another cat, that's 6 cats now".
	before := ws[min(english.SkipLeads(ws), i):i]
	gains := len(before) > 0 && gaining.Has(before[0].Text)
	for k := range before {
		gains = gains || k > 0 && gaining.Has(before[k].Text) && speakerWords.Has(before[k-1].Text)
	}
	more := gains && (before.Has("another") || before.Has("second") || before.Has("third") || before.Has("new"))
	if counts+1 >= len(ws) || !is && !makes || !more || !isCount(ws[counts].Text) || !isPlural(ws[counts+1].Text) {
		return "", false
	}
	end := counts + 2
	now := ws.At(end) == "now"
	if now {
		end++
	}
	if is && !now || end < len(ws) && ws[end-1].Stop == 0 {
		return "", false
	}
	things := text[ws[counts].Start:ws[counts+1].End]
	return text[:ws[i].Start] + "I have " + things + " now" + text[ws[end-1].End:], true
}

// leftOver reads "I have four left", behind a part of several things, as "I have four hens left": "A fox took one of
// the hens, so I have four left", "I'm down to four".
func leftOver(text string, ws english.Words, i int) (string, bool) {
	// "I have four left", "I only have four left", "we're down to four".
	count := i + 2
	if w := ws.At(i + 1); w == "only" || w == "just" || w == "now" {
		count++
	}
	has := ws.At(count-1) == "have" && (ws.At(count+1) == "left" || ws.At(count+1) == "now" || count+1 == len(ws))
	if ws[min(i+1, len(ws)):].StartWith("am", "down", "to") || ws[min(i+1, len(ws)):].StartWith("are", "down", "to") {
		count, has = i+4, true
	}
	if w := ws.At(i); i < 5 || w != "i" && w != "we" || !has || count >= len(ws) || !isCount(ws[count].Text) ||
		count+2 < len(ws) && ws[count+1].Stop == 0 || count+1 < len(ws) && ws.At(count+1) != "left" &&
		ws.At(count+1) != "now" && ws[count].Stop == 0 {
		return "", false
	}
	if !ws[:i].Any(losing) {
		return oneMore(text, ws, i, count) // none of "I walked one of the dogs"
	}
	for j := i - 1; j > 2; j-- {
		part := ws[j-1].Text == "the" || ws[j-1].Text == "my" || ws[j-1].Text == "our"
		if part && ws[j-2].Text == "of" && isPlural(ws[j].Text) && (isCount(ws[j-3].Text) || ws[j-3].Text == "some") {
			return text[:ws[count].End] + " " + text[ws[j].Start:ws[j].End] + text[ws[count].End:], true
		}
	}
	return "", false
}

// oneMore reads "I have two now", behind another thing of a kind, as "I have two cats now": "I adopted another cat".
func oneMore(text string, ws english.Words, i, count int) (string, bool) {
	for j := i - 1; j > 1; j-- {
		// The noun must end the phrase, and make its plural with "s": not "another black cat" nor "another puppy".
		noun := ws[j].Text
		plain := english.OwnNouns.Has(noun) && !strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "s") &&
			noun != "child"
		ends := ws[j].Stop != 0 || english.Prepositions.Has(ws[j+1].Text) || tailJoints.Has(ws[j+1].Text)
		gains := gaining.Has(ws.At(j-2)) && speakerWords.Has(ws.At(j-3))
		if ws[j-1].Text == "another" && plain && ends && gains && ws.At(count) != "one" {
			return text[:ws[count].End] + " " + text[ws[j].Start:ws[j].End] + "s" + text[ws[count].End:], true
		}
	}
	return "", false
}

// reset reads "Move my tablet reminder to 9:30" and "Make the tablets reminder 9:30 instead of 8", from the verb, as
// "Remind me about my tablets at 9:30 instead of 8".
func reset(text string, ws english.Words, i int) (string, bool) {
	owner := ws.At(i + 1)
	if !resetting.Has(ws.At(i)) && ws.At(i) != "move" && ws.At(i) != "push" && ws.At(i) != "make" ||
		owner != "my" && owner != "the" && owner != "our" {
		return "", false
	}
	for k := i + 3; k < min(len(ws), i+5); k++ {
		if ws[k].Text != "reminder" && ws[k].Text != "reminders" {
			continue
		}
		value := k + 1
		for j := value; j < min(len(ws), value+maxOther) && ws.At(i) != "make"; j++ {
			if ws[j].Text == "to" || ws[j].Text == "for" {
				value = j + 1
			}
		}
		// A day of the week, or a time of day.
		at := " at "
		if value < len(ws) && weekdays.Has(strings.TrimSuffix(ws[value].Text, "s")) {
			at = " on "
		} else if value >= len(ws) || !english.StartsWithDigit(ws[value].Text) && ws[value].Text != "noon" {
			return "", false
		}
		unit := strings.TrimSuffix(ws.At(value+1), "s")
		if english.Periods.Has(unit) || unit == "minute" || unit == "hour" {
			return "", false // "10 minutes before"
		}
		said := "remind me about my " + text[ws[i+2].Start:ws[k-1].End] + at + text[ws[value].Start:]
		return begun(text[:ws[i].Start], said), true
	}
	return "", false
}
