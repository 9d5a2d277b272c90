package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People introduce themselves in lists: "- Name: Dana", "Name: Joy, Age: 33". Each field is a fact of its own.

// field is a line of a profile.
type field struct {
	start, end int    // the bytes of the sentence, from its label to the end of its value
	statement  string // "My name is Dana"
	topics     topics
}

// maxLabel is how many words a label has: "date of birth".
const maxLabel = 3

// fields are the fields of a sentence, none if it does not begin with one.
func fields(text string, ws english.Words) []field {
	var out []field
	for i := 0; i < len(ws); {
		n := label(ws, i)
		if n == 0 {
			return nil
		}
		end := i + n // where the next label begins
		for end < len(ws) && (label(ws, end) == 0 || !strings.ContainsRune(",;|/–-", ws[end-1].Stop)) {
			end++
		}
		if end == i+n {
			return nil // a label without a value is the form, and not yet filled
		}
		f := field{start: ws[i].Start, end: ws[end-1].End}
		value := text[ws[i+n].Start:f.end]
		name := strings.ToLower(text[f.start:ws[i+n-1].End])
		if f.topics = personal; labelsOfTaste.Match(ws, i) == n || ws[i].Text == "favorite" {
			f.topics = preference
		}
		verb := " is "
		if strings.HasSuffix(name, "s") && !singularLabels.Has(name) {
			verb = " are "
		}
		f.statement = "My " + name + verb + strings.Join(strings.Fields(value), " ")
		out = append(out, f)
		i = end
	}
	return out
}

// label is how many words the label of a field at ws[i] has; 0 if there is none.
func label(ws english.Words, i int) int {
	for n := 1; n <= maxLabel && i+n <= len(ws); n++ {
		switch last := ws[i+n-1]; {
		case last.Stop == ':':
			if labels.Match(ws, i) == n || labelsOfTaste.Match(ws, i) == n || ws[i].Text == "favorite" && n > 1 {
				return n
			}
			return 0
		case last.Stop != 0:
			return 0
		}
	}
	return 0
}

// introduces reports whether fields may follow a sentence: one that speaks of the speaker and hands over no work.
func introduces(ws english.Words) bool {
	return ws.Any(firstPerson) && !imperative(ws[0].Text)
}
