package canonical

import "github.com/memoryd/memoryd/extract/english"

// An instruction sets one side of a manner of all answers: formal or casual, metric or imperial, short or long. People
// name the side in many words, and nearly always with one of a few verbs, so that the verb and the word of the side are
// enough: "be less formal with me", "so give me metric measurements from here on".

var (
	mannerVerbs   = themeTables.Words("manner-verbs")
	mannerSides   = themeTables.Variants("manner-sides")
	mannerTasks   = themeTables.Words("manner-tasks")
	mannerDenies  = themeTables.Words("manner-denies")
	mannerObjects = themeTables.Words("manner-objects")
)

// opposite are the sides that a denied one stands for: "don't be so formal".
var opposite = map[string]string{
	"formal": "casual", "casual": "formal", "short": "long", "long": "short", "emojis": "none", "bullets": "none",
}

// manners names the manner of each side.
var manners = map[string]string{
	"formal": "tone", "casual": "tone", "short": "length of answers", "long": "length of answers", "metric": "units",
	"imperial": "units", "celsius": "temperature unit", "fahrenheit": "temperature unit", "emojis": "emojis",
	"bullets": "bullets",
}

// maxManner bounds the words of an instruction about a manner. A longer one is about one text.
const maxManner = 16

// Manner reads an instruction that sets a manner of all answers, and gives its name and the side; "" if ws is none.
func Manner(ws english.Words) (name, side string) {
	ws, standing := withoutRequest(ws)
	standing = standing || ws.StartWith("do", "not") || ws.At(0) == "never"
	verb := 0
	for verb < len(ws) && (ws[verb].Text == "do" || ws[verb].Text == "always" || negations.Has(ws[verb].Text)) {
		verb++
	}
	wishes := ws.StartWith("i", "would", "like") || ws.StartWith("i", "would", "prefer") || ws.StartWith("i", "prefer")
	if len(ws) > maxManner || len(ws) < 2 || ws.Any(mannerTasks) || !wishes && !mannerVerbs.Has(ws.At(verb)) {
		return "", ""
	}
	name, side = mannerSide(ws, ws.Any(negations) || ws.Any(mannerDenies))
	if name == "" || !standing && !ws.Any(answerNouns) && !ws.Any(mannerObjects) && !setsAlone(ws.At(verb), name) {
		return "", ""
	}
	return name, side
}

// mannerSide finds the first side that ws names; the other one if it is denied.
func mannerSide(ws english.Words, denied bool) (name, side string) {
	for i := range ws {
		if english.StartsWithDigit(ws[i].Text) {
			return "", "" // "use 3 cups"
		}
		s := mannerSides.Of(ws[i].Text)
		if s == "" || side != "" {
			continue
		}
		name, side = manners[s], s
		if denied {
			side = opposite[s]
		}
		if next := ws.At(i + 1); side == "" || name == "units" && (next == "for" || next == "from") {
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
