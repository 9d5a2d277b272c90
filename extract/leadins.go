package extract

import "github.com/memoryd/memoryd/extract/english"

// What people put before and after what they say. A fact's text does without
// it; its quote keeps it.

// cutTail finds where a request or question begins after the statement
// ("I'm vegan, what can I eat?"): the index of its first word, or len(ws).
// asked reports that the tail asks to remember the statement, open that the
// sentence is a question to its very start.
func cutTail(ws english.Words, from int, question bool) (end int, asked, open bool) {
	for i := from + 2; i < len(ws); i++ {
		joint := ws[i-1].Stop != 0 && ws[i-1].Stop != '\''
		first := i
		for first < len(ws) && (ws[first].Text == "and" || ws[first].Text == "so" || ws[first].Text == "but") {
			joint = true
			first++
		}
		if !joint || firmTails.Match(ws, first) == 0 && (!question || openTails.Match(ws, first) == 0) {
			continue
		}
		return i, rememberTails.Match(ws, first) >= len(ws)-first-2 && rememberTails.Match(ws, first) > 0, false
	}
	return len(ws), false, question
}
