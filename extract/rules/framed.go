package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// People lead up to what they tell with a clause to the listener, which says nothing of them: "If you need it, my
// number is…", "Before you suggest a car, you should know I have two kids", "Let me be honest: I hate running". What
// follows is read as if it stood alone.

var (
	frameOpeners = tables.Words("frame-openers")
	frameVerbs   = tables.Words("frame-verbs")
	listeners    = tables.Words("listeners")
	minding      = tables.Phrases("minding")
	footings     = tables.Words("footings")
	pretending   = tables.Words("pretending")
	askedOrTold  = tables.Words("told-to")
	openness     = tables.Phrases("openness")
	wondering    = tables.Phrases("wondering")
	movedTo      = tables.Words("moved-to")
	movings      = tables.Words("movings")
	stateVerbs   = tables.Words("state-verbs")
	readers      = tables.Words("readers")
	onceOnly     = tables.Words("once-only")
)

// framed reads "If you need it, my number is 555 0199", from its first word, as "My number is 555 0199".
func framed(text string, ws english.Words, i int) (string, bool) {
	if i > 0 || playing(ws) {
		return "", false
	}
	k := 1
	for k < len(ws) && unmarked(ws[k-1]) == 0 {
		k++
	}
	supposed := ws[:k].Any(pretending) || ws[0].Text == "let" && ws[:k].Has("say")
	if k == len(ws) || supposed || !isFrame(ws[:k]) {
		return "", false
	}
	start := k
	// "If I sound stressed, it's because my boss is Helen"
	if ws.At(start) == "it" && ws.At(start+1) == "is" && ws.At(start+2) == "because" {
		start += 3
	}
	// "…, you should know that I have two kids"
	n := minding.Match(ws, start)
	start += n
	if ws.At(start) == "that" && n > 0 {
		start++
	}
	if start+2 >= len(ws) || !ownStart(ws, start) {
		return "", false
	}
	return capitalized(text[ws[start].Start:]), true
}

// framedLast reads "My number is 555 0199 if you need it", from its first word, as "My number is 555 0199". What the
// speaker offers depends on the listener: "I can drive if you need it".
func framedLast(text string, ws english.Words, i int) (string, bool) {
	// What stands before the statement may bound it: "At the office, my number is 555 0199 if you need it".
	if i >= len(ws) || i > english.SkipLeads(ws) || !ownStart(ws, i) || playing(ws) || ws.Any(pretending) {
		return "", false
	}
	for k := len(ws) - 3; k >= i+3; k-- {
		from, who := k, k+1
		if ws.At(k) == "just" {
			from, who = k+1, k+2
		}
		if ws.At(from) == "in" && ws.At(from+1) == "case" {
			who++
		} else if w := ws.At(from); w != "if" && w != "should" {
			continue
		}
		// A state is the same for all who ask, and an act may be done for them.
		is := stateVerbs.Has(ws.At(i+1)) || possessive(ws.At(i)) && (ws[i:k].Has("is") || ws[i:k].Has("are"))
		bound := ws[i:k].Any(english.Modals) || ws[k-1].Text == "even" || ws[i:k].Has("only")
		if !is || bound || len(ws)-k > maxFrame || !readers.Has(ws.At(who)) || !wondering.Found(ws[from:]) {
			return "", false
		}
		// The purpose may bound the statement, so that it stays, as a remark: "if you need it in August".
		last := len(ws) - 1
		for last > from && wondering.Match(ws, last) == 0 {
			last--
		}
		switch n := wondering.Match(ws, last); {
		case last+n == len(ws):
			return capitalized(text[ws[i].Start:ws[k-1].End]) + ".", true
		case ws[k-1].Stop == 0:
			return capitalized(text[ws[i].Start:ws[k-1].End]) + "," + text[ws[k-1].End:], true
		}
		return "", false
	}
	return "", false
}

// possessive reports whether w is the speaker's "my" or "our".
func possessive(w string) bool { return w == "my" || w == "our" }

// ownStart reports whether a statement of the speaker's begins at i. A pronoun would need the clause before it.
func ownStart(ws english.Words, i int) bool {
	w := ws[i].Text
	return w == "i" || w == "we" || w == "my" || w == "our" || ws[i].Upper && !english.StopWords.Has(w)
}

// isFrame reports whether a clause before a statement only leads up to it.
func isFrame(ws english.Words) bool {
	first := ws[0].Text
	switch {
	// "Let me be honest", "let's start with the fixed costs"
	case first == "let" && (ws.At(1) == "me" || ws.At(1) == "us"):
		return openness.Match(ws, 2) > 0
	// "You asked about my family"
	case first == "you":
		return ws.StartWith("you", "asked", "about") || ws.At(1) == "will" && askedOrTold.Has(ws.At(2))
	// "As a baseline for the plan"
	case first == "as" && english.Articles.Has(ws.At(1)):
		return footings.Has(ws.At(2)) && !ws.Any(firstPerson)
	case ws.Any(pretending) || ws.Any(attributing):
		return false
	// "If you cook, I eat" is bound to the cooking, and "if you need it, …" to nothing.
	case first == "if" || first == "in":
		return ws.Any(listeners) && wondering.Found(ws)
	case frameOpeners.Has(first):
		return ws.At(1) == "you" && ws.Any(frameVerbs)
	}
	// "I can say it out loud at last:"
	said := ws.Has("i") && ws.Any(askedOrTold) && !ws.Has("asked")
	return ws[len(ws)-1].Stop == ':' && len(ws) < maxFrame && said && !names(ws[1:])
}

// maxFrame bounds the words of a clause that announces a statement.
const maxFrame = 12

// names reports whether a word but "I" has a capital.
func names(ws english.Words) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool { return w.Upper && w.Text != "i" })
}

// reasonTold reads "Traveling light is no option, since I have two kids", from its first word, as "I have two kids":
// where nothing before the reason is the speaker's, the reason is what is told of them.
func reasonTold(text string, ws english.Words, i int) (string, bool) {
	if i > 0 || ws[0].Text == "i" || ws[0].Text == "we" {
		return "", false
	}
	for k := 3; k+2 < len(ws); k++ {
		if w := ws[k].Text; unmarked(ws[k-1]) != ',' || w != "since" && w != "because" {
			continue
		}
		if imperative(ws[0].Text) || inStory(ws) || ws[:k].Any(pretending) || ws[:k].Any(makeBelieve) ||
			ws[:k].Any(english.Pronouns) || ws[:k].Any(attributing) {
			return "", false
		}
		named := ws[k+1].Upper && ws[k+1].Text != "i" // of somebody else, of whom the words before may be too
		if ws[:k].Any(firstPerson) || ws[:k].Any(addressee) || !ownStart(ws, k+1) || named {
			return "", false
		}
		return capitalized(text[ws[k+1].Start:]), true
	}
	return "", false
}

// insteadFirst reads "Instead of the Volvo I drive a Dacia now", from its first word, as "I drive a Dacia now instead
// of the Volvo".
func insteadFirst(text string, ws english.Words, i int) (string, bool) {
	if i > 0 || !ws.StartWith("instead", "of") {
		return "", false
	}
	k := 3
	for k < min(len(ws), maxTold) && !speaks(ws, k) {
		k++
	}
	if !speaks(ws, k) || k+2 >= len(ws) {
		return "", false
	}
	end := k + 1
	for end < len(ws) && unmarked(ws[end-1]) == 0 {
		end++
	}
	if end < len(ws) && ws[k:end].Content() < 2 {
		return "", false // "Instead of Rome we live, as you know, in Berlin"
	}
	said := text[ws[k].Start:ws[end-1].End] + " " + uncapitalized(text[ws[0].Start:ws[k-1].End])
	return capitalized(said) + text[ws[end-1].End:], true
}

// An order would be lost behind a statement that has a key of its own.

// withOrder parts an order behind "so" from the statement before it, which is kept too: "I read on my phone, so please
// keep your answers short".
func (s *sentence) withOrder() {
	ws := s.words
	if s.question || s.topics&instruction != 0 || len(s.several) > 1 || ws.Any(attributing) {
		return
	}
	for j := 4; j+1 < len(ws); j++ {
		if ws[j-1].Text != "so" || unmarked(ws[j-2]) == 0 || ws[:j].Has("if") {
			continue
		}
		k := j + english.SkipLeads(ws[j:])
		if ws.At(k) == "please" && k+2 < len(ws) {
			k++
		}
		t := directive(ws, k)
		if t == none {
			continue // a statement behind "so" is taken apart elsewhere
		}
		order := sentence{
			text: s.text, words: ws, start: ws[k].Start, end: len(strings.TrimRight(s.text, " ")), topics: t,
		}
		switch {
		case len(s.several) == 1:
			s.several = append(s.several, order)
		case s.topics == none || s.leans:
			s.topics, s.leans, s.start, s.end = t, false, order.start, order.end
		default:
			first := *s
			first.end = ws[j-2].End
			s.several = []sentence{first, order}
		}
		return
	}
}
