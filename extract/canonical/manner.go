package canonical

import "github.com/memoryd/memoryd/extract/english"

// An instruction sets one side of a manner of all answers: formal or casual, metric or imperial, short or long. People
// name the side in many words, and nearly always with one of a few verbs, so that the verb and the word of the side are
// enough: "be less formal with me", "so give me metric measurements from here on".

var (
	mannerVerbs     = themeTables.Words("manner-verbs")
	mannerSides     = themeTables.Variants("manner-sides")
	mannerTasks     = themeTables.Words("manner-tasks")
	mannerDenies    = themeTables.Words("manner-denies")
	mannerObjects   = themeTables.Words("manner-objects")
	stopping        = themeTables.Phrases("stopping")
	textExtras      = themeTables.Words("text-extras")
	mannerWishes    = themeTables.Phrases("manner-wishes")
	allowing        = themeTables.Words("allowing")
	allowedEnds     = themeTables.Phrases("allowed-ends")
	taskLinks       = themeTables.Words("task-links")
	taskDeterminers = themeTables.Words("task-determiners")
	answerTimes     = themeTables.Words("answer-times")
	measureNouns    = themeTables.Words("measure-nouns")
	wholeWords      = themeTables.Words("whole-words")
)

// opposite are the sides that a denied one stands for: "don't be so formal".
var opposite = map[string]string{
	"formal": "casual", "casual": "formal", "short": "long", "long": "short", "emojis": "none", "bullets": "prose",
	"prose": "bullets",
}

// manners names the manner of each side.
var manners = map[string]string{
	"formal": "tone", "casual": "tone", "short": "length of answers", "long": "length of answers", "metric": "units",
	"imperial": "units", "celsius": "temperature unit", "fahrenheit": "temperature unit", "emojis": "emojis",
	"bullets": formatManner, "prose": formatManner,
}

const formatManner = "format of answers"

// maxManner bounds the words of an instruction about a manner. A longer one is about one text.
const maxManner = 16

// Manner reads an instruction that sets a manner of all answers, and gives its name and the side; "" if ws is none.
func Manner(ws english.Words) (name, side string) { return mannerOf(ws, lasts(ws)) }

// mannerOfFact is Manner of a fact: what is kept of "please answer me in bullet points" is about all answers.
func mannerOfFact(ws english.Words) (name, side string) {
	asks, _ := withoutRequest(ws)
	verb := asks.At(0)
	me := asks.At(1) == "me" || asks.At(1) == "to" && asks.At(2) == "me"
	return mannerOf(ws, lasts(ws) || me && (verb == "answer" || verb == "reply" || verb == "respond"))
}

// withoutContrast is ws up to the side that it does not want: "long answers" of "long answers, not short ones".
func withoutContrast(ws english.Words) english.Words {
	for i := 2; i+1 < len(ws); i++ {
		if ws[i].Text == "not" && stopsClause(ws[i-1].Stop) && !ws[:i].Any(negations) {
			return ws[:i]
		}
	}
	return ws
}

// mannerOf is Manner of an instruction that says, with lasting, to be about more than one text.
func mannerOf(ws english.Words, lasting bool) (name, side string) {
	ws = withoutContrast(ws)
	ws, standing := withoutRequest(ws)
	if name, side = mannerAllowed(ws); name != "" {
		return name, side
	}
	no, back := deniesSide(ws), bringsBack(ws)
	lasting = lasting || back
	standing = standing || back || ws.At(0) == "never" || stopping.Match(ws, 0) > 0
	verb := 0
	for verb < len(ws) && (ws[verb].Text == "do" || ws[verb].Text == "always" || negations.Has(ws[verb].Text)) {
		verb++
	}
	asks := mannerWishes.Match(ws, 0) > 0 || mannerVerbs.Has(ws.At(verb)) || no
	if len(ws) > maxManner || len(ws) < 2 || ws.Any(mannerTasks) || ofOneTask(ws) || !asks {
		return "", ""
	}
	name, side = mannerSide(ws, ws.Any(negations) || ws.Any(mannerDenies) || no)
	// "Please sum it up in bullet points" and "use emojis" may be about one text, however polite.
	if (name == formatManner || name == "emojis") && !lasting && !ws.Any(allAnswers) {
		return "", ""
	}
	if name == "units" {
		name += ofMeasure(ws)
	}
	if name == "" || !standing && !ws.Any(answerNouns) && !ws.Any(mannerObjects) && !setsAlone(ws.At(verb), name) {
		return "", ""
	}
	return name, side
}

// What is allowed with a bound, such as "in the group chat", says nothing of the answers to the speaker.

// deniesSide reads "no emojis in your replies" and "no more emojis". It leaves out "no offence, but …".
func deniesSide(ws english.Words) bool {
	return ws.At(0) == "no" && (ws.At(1) == "more" || mannerSides.Of(ws.At(1)) != "")
}

// bringsBack reads "bring the emojis back".
func bringsBack(ws english.Words) bool { return ws.At(0) == "bring" && ws.Has("back") }

// lasts reports whether an instruction says that it is about more than one text: "always", "from now on", "no more".
func lasts(ws english.Words) bool {
	return english.Lasting.Found(ws) || ws.Has("always") || ws.Has("never") || ws.Has("again") || ws.Has("anymore") ||
		stopping.Found(ws)
}

// mannerAllowed reads "Emojis are fine after all" and "Bullet points are okay again".
func mannerAllowed(ws english.Words) (name, side string) {
	for i := 1; i <= min(2, len(ws)-2); i++ {
		s := mannerSides.Of(ws[0].Text)
		if s == "" || ws[i].Text != "are" || ws[0].Stop != 0 || !allowing.Has(ws[i+1].Text) {
			continue
		}
		// "Bullets are fine" may be said of a text, so that a word such as "again" must tell of the answers.
		if rest := ws[i+2:]; len(rest) > 0 && allowedEnds.Match(rest, 0) == len(rest) {
			return manners[s], s
		}
	}
	return "", ""
}

// ofOneTask reports whether an instruction is about one text or for a time: "write detailed answers for the FAQ page",
// "give me long answers for the moment". "In your answers" and "for all questions" are about all of them.
func ofOneTask(ws english.Words) bool {
	for i := 1; i+1 < len(ws); i++ {
		if !taskLinks.Has(ws[i].Text) {
			continue
		}
		if !taskDeterminers.Has(ws[i+1].Text) {
			if namesTask(ws[i:]) {
				return true
			}
			continue
		}
		noun := singular(ws.At(i + 2))
		if ws[i].Text == "with" && mannerSides.Of(ws.At(i+2)) != "" || noun == "single" && ws.At(i+3) == "sentence" {
			continue // "stop with the lists", "answer in a single sentence"
		}
		if !answerNouns.Has(noun) && !answerTimes.Has(noun) && !answerNouns.Has(singular(ws.At(i+3))) {
			return true
		}
	}
	return false
}

// namesTask reports whether a link and what follows it name what an instruction is about: "with clients", "on slides",
// "to math questions". "With me", "in English" and "in short replies" name none.
func namesTask(ws english.Words) bool {
	next := ws[1].Text
	if inAny(next, english.Pronouns, languages, languageVariants, answerAdverbs, english.StopWords) ||
		ws[0].Text == "of" || ws[0].Text == "from" {
		return false
	}
	for i, w := range ws[1:min(len(ws), 4)] {
		if stopsClause(ws[i].Stop) {
			break // "to math questions (long story)"
		}
		noun := singular(w.Text)
		if answerNouns.Has(noun) || mannerSides.Of(w.Text) != "" || mannerObjects.Has(w.Text) ||
			answerTimes.Has(w.Text) && (i == 0 || ws[0].Text != "to") || shortAnswers.Has(w.Text) ||
			longAnswers.Has(w.Text) || textExtras.Has(w.Text) {
			return false
		}
	}
	return true
}

// ofMeasure is what tells the units of one measure from those of others: "give distances in miles".
func ofMeasure(ws english.Words) string {
	for _, w := range ws {
		if measureNouns.Has(w.Text) {
			return " of " + w.Text
		}
	}
	return ""
}

// mannerSide finds the first side that ws names; the other one if it is denied.
func mannerSide(ws english.Words, denied bool) (name, side string) {
	for i := range ws {
		if english.StartsWithDigit(ws[i].Text) {
			return "", "" // "use 3 cups"
		}
		s := mannerSides.Of(ws[i].Text)
		if next := ws.At(i + 1); ws[i].Text == "long" && answerNouns.Has(next) && singular(next) != next {
			s = "long" // elsewhere "long" says nothing of answers
		}
		if s == "" || side != "" || ws[i].Text == "sentences" && !wholeWords.Has(ws.At(i-1)) {
			continue
		}
		name, side = manners[s], s
		if denied {
			side = opposite[s]
		}
		next := ws.At(i + 1)
		ofThings := name == formatManner && next == "of" // "lists of names"
		if side == "" || ofThings || name == "units" && (next == "for" || next == "from") {
			return "", ""
		}
	}
	return name, side
}

// setsAlone reports whether a verb needs no word of all answers: "be informal", "use metric", "switch to imperial".
func setsAlone(verb, name string) bool {
	switch verb {
	case "be", "address":
		return name == "tone"
	case "use":
		return name != "length of answers"
	}
	return verb == "switch"
}
