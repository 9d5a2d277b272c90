package english

import "strings"

// People put words before what they say. A fact's text does without them; its quote keeps them.

// maxLeads is how many lead-ins are skipped: more than people pile up. The bound keeps rows of "ha ha ha" cheap.
const maxLeads = 8

// SkipLeads is the index of the first word after all that leads into the statement.
func SkipLeads(ws Words) int {
	i := 0
	for range maxLeads {
		next := i + leads.Match(ws, i)
		if next == i {
			next = i + announcement(ws, i)
		}
		if next == i {
			next = skipSoft(ws, i)
		}
		if next == i || next >= len(ws) {
			break
		}
		i = next
	}
	return i
}

// skipSoft is the index after a soft lead at ws[i] and the name it addresses; i if there is none.
func skipSoft(ws Words, i int) int {
	if i+1 >= len(ws) || !softLeads.Has(ws[i].Text) || ws[i].Text == "no" && ws[i+1].Text == "one" && ws[i].Stop == 0 {
		return i
	}
	if end := addressEnd(ws, i); end > 0 {
		return end
	}
	if next := ws[i+1].Text; ws[i].Stop != 0 || statementStarts.Has(next) || softLeads.Has(next) {
		return i + 1
	}
	return i
}

// addressEnd is the index after "Hey Ann," and "Thanks, Ann," at ws[i], which end in a mark after at most two words
// of name; 0 if there is no such thing.
func addressEnd(ws Words, i int) int {
	if !addressLeads.Has(ws[i].Text) {
		return 0
	}
	for j := i + 1; j < len(ws) && j <= i+2; j++ {
		if statementStarts.Has(ws[j].Text) {
			return 0
		}
		if ws[j].Upper && ws[j].Stop != 0 && !strings.ContainsRune("'\"”’", ws[j].Stop) { // no title: "Oh, "Suits" is"
			return j + 1
		}
	}
	return 0
}

// RememberRequest finds a request to remember at ws[i]. It gives the index of the words behind it. A firm request holds
// for any words; another one holds for a statement only, since "Remember the milk" may be talk. Without a request, next
// is i and ok is false.
func RememberRequest(ws Words, i int) (next int, firm, ok bool) {
	for j := i; ; {
		if n := rememberFirmly.Match(ws, j); n > 0 {
			if after := ws.At(j + n); reminisced.Has(after) && after != "the" && after != "our" {
				return i, false, false
			}
			return j + n, true, true
		}
		if Reminders.Match(ws, j) > 0 {
			return i, false, false
		}
		if n := rememberIfStatement.Match(ws, j); n > 0 {
			if reminisces(ws, j, j+n) {
				return i, false, false
			}
			return j + n, false, true
		}
		n := Polite.Match(ws, j)
		if n == 0 {
			return i, false, false
		}
		j += n
	}
}

// reminisces reports whether a request ws[i:next] to remember or not to forget goes on with a memory shared. A mark
// behind it sets off a statement, and "the" and "our" may begin one: "Remember the code is 4711".
func reminisces(ws Words, i, next int) bool {
	after := ws.At(next)
	recalls := ws[i:next].Has("remember") || ws[i:next].Has("forget")
	if !recalls || ws[next-1].Stop != 0 || !reminisced.Has(after) {
		return false
	}
	return after != "the" && after != "our" || reminisced.Has(ws.At(next+1)) || !states(ws[next:])
}

// states reports whether a noun phrase at the front of ws is said to be or have something now.
func states(ws Words) bool {
	for i := 1; i < min(len(ws), maxStated); i++ {
		w := ws[i].Text
		switch {
		case ws[i-1].Stop != 0 && ws[i-1].Stop != '\'', Pronouns.Has(w), Deictic.Has(w), Past(w):
			return false
		case i > 1 && (Auxiliaries.Has(w) || presentOf(w)):
			return true
		}
	}
	return false
}

// presentOf reports whether w may be a verb in the third person, or of several: "closes", "go".
func presentOf(w string) bool {
	for _, cut := range []string{"", "s", "es"} {
		if stem, ok := strings.CutSuffix(w, cut); ok && PresentVerbs.Has(stem) {
			return true
		}
	}
	return false
}

// maxStated bounds the words up to the verb of such a statement.
const maxStated = 8
