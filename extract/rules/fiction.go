package rules

import (
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// People say what is not so: in irony, in games and stories, in songs. This file finds the marks of it.

// ironic reports whether a turn says that it means the contrary: "/s" at its end, "yeah right", a song's notes.
func ironic(text string, ws english.Words) bool {
	end := strings.TrimRight(text, " .!?)")
	if strings.HasSuffix(end, "/s") && (len(end) == 2 || end[len(end)-3] == ' ' || end[len(end)-3] == '\n') ||
		strings.ContainsAny(text, "♪♫🙄") {
		return true
	}
	for i := range ws {
		n := ironies.Match(ws, i)
		if n == 0 {
			continue
		}
		last, next := ws[i+n-1], ws.At(i+n)
		if last.Stop != 0 || next == "" || next == "because" || next == "like" || next == "as" {
			return true // but not "yeah right now I live in Rome"
		}
	}
	return false
}

// jest reports whether a sentence says that something was a jest, and whether that is all it says, so that the sentence
// before it was the jest.
func jest(ws english.Words) (said, alone bool) {
	if len(ws) == 1 && ws[0].Text == "kidding" {
		return true, true
	}
	for i := range ws {
		n := jests.Match(ws, i)
		if n == 0 || ws.At(i-1) == "not" {
			continue
		}
		if next := ws.At(i + n); next == "about" || next == "because" {
			continue // "I was just kidding about the dog" says which
		}
		heavy, _ := weight(ws[:i])
		return true, heavy == 0 || i == 0
	}
	return false, false
}

// playing reports whether a sentence opens a game of roles, so that the rest of its turn is part of it.
func playing(ws english.Words) bool { return rolePlay.Found(ws) }

// inStory reports whether a sentence is set in a story: "In my novel, I have three brothers".
func inStory(ws english.Words) bool {
	for i := range ws {
		if n := stories.Match(ws, i); n > 0 && (ws[i+n-1].Stop != 0 || i+n < len(ws) && storyGoesOn.Has(ws[i+n].Text)) {
			return true
		}
	}
	return false
}

// quotesSpeaker reports whether the first person is inside quotation marks, where it is somebody else.
func quotesSpeaker(text string) bool {
	if !strings.ContainsAny(text, `"“”„«»`) {
		return false
	}
	// A space before a first mark keeps the part before it, though it is empty.
	parts := strings.FieldsFunc(" "+text, func(r rune) bool { return strings.ContainsRune(`"“”„«»`, r) })
	for i, part := range parts {
		if inside := i%2 == 1; inside && english.Split(part).Any(firstPerson) {
			return true
		}
	}
	return false
}

// inside reports whether a sentence that begins at a place of a text goes on with a quotation that was opened
// before: of `News! "I hate Rome", she said.` the sentence begins behind the mark. A mark without another one, such as
// that of inches, opens none. Places must not go back.
func (q *quotations) inside(at int) bool {
	for ; q.read < at; q.read++ {
		q.count(q.read, &q.before)
	}
	if q.all.plain%2 == 0 && q.before.plain%2 == 1 {
		return true
	}
	return q.before.opened > q.before.closed && q.all.closed > q.before.closed
}

// quotations counts the quotation marks of a text once, however many of its sentences are asked for.
type quotations struct {
	text        string
	read        int // the bytes that before counts
	before, all marks
}

// marks are how many quotation marks there are of each kind.
type marks struct{ plain, opened, closed int }

// quotationsOf makes the counts of a text.
func quotationsOf(text string) quotations {
	q := quotations{text: text}
	for i := range len(text) {
		q.count(i, &q.all)
	}
	return q
}

// count adds the mark at a byte of the text, if there is one.
func (q *quotations) count(i int, m *marks) {
	switch rest := q.text[i:]; {
	case rest[0] == '"':
		m.plain++
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "«"):
		m.opened++
	case strings.HasPrefix(rest, "”"), strings.HasPrefix(rest, "»"):
		m.closed++
	}
}

// speakerLine is a line of a talk that was pasted: "Anna: I moved to Oslo".
var speakerLine = regexp.MustCompile(`(?m)^[ \t>*-]*(` + speakerName + `(?: ` + speakerName + `)?)\**: ` +
	`.*\b(?:I|I'm|my|we|you)\b`)

const speakerName = `\p{Lu}[\p{L}.'-]{0,20}`

// transcript reports whether a text is a talk that was pasted: two who speak take lines, and none of them is the user.
// One line is enough where the text begins with a given name: "Anna: I'm pregnant!"
func transcript(text string) bool {
	first := ""
	for _, m := range speakerLine.FindAllStringSubmatch(text, maxSpeakerLines) {
		name := m[1]
		if ws := english.Lex(name); labelNoun(ws) || newsLabels.Has(ws.At(0)) || labels.Match(ws, 0) > 0 {
			continue
		}
		if first == "" {
			first = name
		}
		if canonical.IsGivenName(strings.ToLower(name)) && strings.HasPrefix(text, name) {
			return true
		}
		if name != first {
			return true
		}
	}
	return false
}

// maxSpeakerLines bounds the lines that are looked at.
const maxSpeakerLines = 20
