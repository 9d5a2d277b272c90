package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A user who asks for something to be remembered has it remembered as it is said, though no rule knows the statement:
// "Remember: the wifi code is 1234". The plainer the request, the less the statement has to tell by itself, since
// "Remember, practice makes perfect" is a saying and "Keep in mind that the API is slow" is about the task at hand.

// request is a request to remember.
type request struct {
	asked bool // "Remember that…", "…, please remember that"
	firm  bool // it holds for any words: "Remember that…"
	colon bool // a colon sets off what to remember
	note  bool // it asks to heed something rather than to remember it: "Keep in mind that…", "For the record, …"
	// question says that a question mark ends the sentence, so that only a firm request is one.
	question bool
}

// requestAt reads the words ws[lead:next] before a statement, of which RememberRequest has told the rest. A lead-in
// such as "For the record" asks for a note alone.
func requestAt(ws english.Words, lead, next int, firm, asked bool) request {
	r := request{asked: asked, firm: firm, note: ws[lead:next].Any(noteWords)}
	if next > 0 {
		r.colon = ws[next-1].Stop == ':'
	}
	if !asked {
		r.note = recordLeads.Found(ws[:next])
	}
	return r
}

// takes reports whether the request makes a fact of ws, of which no rule knows the topic.
func (r *request) takes(ws english.Words) bool {
	return r.firm && ws.Content() > 1 && !english.QuestionWords.Has(ws.At(0)) || r.covers(ws)
}

// covers reports whether ws, of which no rule knows the topic, is a statement that the request holds for.
func (r *request) covers(ws english.Words) bool {
	first := ws.At(0)
	speaker := firstPerson.Has(first)
	switch {
	case r.question, !r.asked && !r.note, ws.Content() < 2, ws.Any(addressee), hypothetical.Found(ws):
		return false
	case !speaker && (english.Deictic.Has(first) || english.Pronouns.Has(first)):
		return false
	case imperative(first), english.PresentVerbs.Has(first), first == "to", first == "not":
		return false
	}
	c := newClause(ws)
	if r.note && aboutTask(ws) {
		return false
	}
	verb := predicateAt(ws)
	switch {
	case verb == 0: // "Remember: locker code 77", but not "Remember: milk, 12 eggs"
		last := ws[len(ws)-1]
		value := english.StartsWithDigit(last.Text) || c.timed
		return r.colon && value && !listed(ws) && (ws.Content() > 2 || !r.note)
	case ws[verb+1:].Content() == 0:
		return false
	}
	return r.colon || r.definite(c, verb)
}

// predicateAt is where the predicate of ws begins behind a subject of a few words; 0 if there is none.
func predicateAt(ws english.Words) int {
	named := english.Articles.Has(ws[0].Text) || firstPerson.Has(ws[0].Text) || ws[0].Upper
	for i := 1; i < min(len(ws), maxNamed); i++ {
		if stop := ws[i-1].Stop; stop != 0 && stop != '\'' {
			return 0 // a list
		}
		w, next := ws[i].Text, ws.At(i+1)
		third := named && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "'s") &&
			(english.Prepositions.Has(next) || english.Articles.Has(next) || english.Adverbs.Has(next))
		if finiteVerb(w) || third && !english.StopWords.Has(w) { // "the shop closes at five"
			return i
		}
	}
	return 0
}

// aboutTask reports whether ws has words of the task at hand. The code of a door is none.
func aboutTask(ws english.Words) bool {
	for i, w := range ws {
		door := w.Text == "code" && i > 0 && !english.StopWords.Has(ws[i-1].Text)
		if english.TaskWords.Has(w.Text) && !door {
			return true
		}
	}
	return false
}

// listed reports whether a comma parts ws, as in a list.
func listed(ws english.Words) bool {
	for _, w := range ws[:len(ws)-1] {
		if w.Stop == ',' {
			return true
		}
	}
	return false
}

// maxNamed bounds the words of the subject of a statement to remember: "the spare key of the blue shed".
const maxNamed = 8

// definite reports whether a statement tells of something definite that holds now: a number, a day, a name, the
// speaker's own, or the state of one thing. verb is where its predicate begins.
func (r *request) definite(c *clause, verb int) bool {
	ws := c.words
	w := ws[verb].Text
	number, name := false, false
	for i := range ws {
		number = number || english.StartsWithDigit(ws[i].Text)
		name = name || ws[i].Upper && ws.At(i-1) != "the" && ws[i].Text != "i" && !english.StopWords.Has(ws[i].Text)
	}
	past := english.Past(w) || w == "was" || w == "were" || w == "had"
	switch {
	case ws.Any(english.Evaluative), ws.Has("always"), ws.Has("never"):
		return false
	case c.timed, number:
		return true
	case past, strings.HasSuffix(ws.At(verb+1), "ing"), verb > 1 && ws[0].Text == "the" && ws[1].Upper:
		return false // "Remember the Titans is a film"
	case name, firstPerson.Has(ws[0].Text) && c.mine(0):
		return true
	}
	state := ws[0].Text == "the" && (w == "is" || w == "are")
	return state && (!r.note || english.Prepositions.Has(ws.At(verb+1)))
}
