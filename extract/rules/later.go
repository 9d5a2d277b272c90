package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// A statement may stand behind other words of its sentence: "That's great, we have a dog too", "Gift idea: mum works
// nights", "What can I cook, I'm vegan". So may an instruction: "My screen is small, so keep your answers short".

// findStatement looks for a statement at ws[i], or else in a later clause of the sentence: where it starts, and its
// topics.
func findStatement(ws english.Words, i int) (int, topics) {
	t := statement(ws[i:])
	if t != none || hypothetical.Found(ws[i:]) || conditions.Match(ws, i) > 0 {
		return i, t
	}
	// "Don't want to talk of it, but I lost my job" and "End of an era, we sold the car" ask for nothing.
	if imperative(ws[i].Text) && ws.At(i+1) != "not" && ws.At(i+1) != "of" {
		return behindRequest(ws, i)
	}
	for j := i + 1; j < len(ws); j++ {
		if !joint(ws[j-1]) && !leadLabel(ws[i:j]) || said(ws[i:j]) {
			continue
		}
		k := j + english.SkipLeads(ws[j:])
		if k < len(ws) && ws[j-1].Stop != 0 && likesWhatPrecedes(ws[i:k], ws[k:]) {
			return i, preference
		}
		if k < len(ws) && (j > i+1 && speakerWords.Has(ws[k].Text) || ws[j-1].Stop != 0 && beginsLater(ws, i, k)) {
			if t := statement(ws[k:]); t != none {
				from := i + markedStart(ws[i:j-1]) // behind "ugh,"
				switch pair := ws[k].Text == "i" && ws[j-1].Text == "and" && ws[j-1].Stop == 0; {
				case canonical.Bounds(ws[from:k]), // "For work, my email is…"
					canonical.Corrects(ws[from:k]),                  // "I was wrong: my flight is…"
					conditions.Match(ws, from) > 0,                  // "The pay is low; if they raise it, I stay"
					whenever(ws[from:k]),                            // "On days when my back hurts, I swim"
					pair && from < j-1 && halfSubject(ws[from:j-1]): // "My band and I split up"
					return from, t
				}
				return k, t
			}
		}
	}
	return i, none
}

// whenever reports whether ws, before a statement, says on which occasions it holds: "on days when my back hurts,".
func whenever(ws english.Words) bool {
	return english.Prepositions.Has(ws[0].Text) && ws[:min(len(ws), maxPairSubject+1)].Has("when")
}

// markedStart is where the last part of ws begins, behind a mark before its last word: at "for" of "ugh, for work,".
func markedStart(ws english.Words) (start int) {
	for i := 1; i < len(ws); i++ {
		if ws[i-1].Stop != 0 && ws[i-1].Stop != '\'' {
			start = i
		}
	}
	return start
}

// maxPairSubject bounds the words of half a subject: "my first husband".
const maxPairSubject = 4

// halfSubject reports whether ws, before "and I", are the other half of the subject: "my band". A clause has a verb.
func halfSubject(ws english.Words) bool {
	return (ws[0].Text == "my" || ws[0].Text == "our") && len(ws) <= maxPairSubject && !finite(ws) &&
		!ws.Any(english.Prepositions) && !slices.ContainsFunc(ws, func(w english.Word) bool { return w.Stop != 0 })
}

// likesWhatPrecedes reports whether rest says how the speaker likes what a request before it names: "No olives on it, I
// can't stand them", "Put some jazz on, I enjoy it again". Other words before it are talk: "Nice recipe, I love it".
func likesWhatPrecedes(request, rest english.Words) bool {
	first := request[0].Text
	if !speakerWords.Has(rest[0].Text) || first != "no" && first != "put" && first != "play" && first != "skip" &&
		first != "leave" && first != "add" && first != "drop" || request.Content() == 0 {
		return false
	}
	told, _ := standIn(rest)
	return told != nil && statement(told)&preference != none
}

// beginsLater reports whether a statement without the speaker as its subject may begin at ws[k], in a sentence that
// begins at i.
func beginsLater(ws english.Words, i, k int) bool {
	w := ws[k].Text
	switch {
	case speakerWords.Has(w), bareOwned.Has(w), w == "there", strings.HasSuffix(w, "'s"),
		ws.At(k+1) == "and" && ws.At(k+2) == "i" && ws[k].Stop == 0, reachPhrases.Match(ws, k) > 0:
		return true
	}
	when := clauseOpeners.Has(w) && w != "as" && speakerWords.Has(ws.At(k+1)) || opensFor(ws[k:]) ||
		ws[k:].StartWith("it", "is", "just") || ws[k:].StartWith("it", "is", "only")
	if when || elidedAdverbs.Has(w) && beginsEvent(ws.At(k+1)) || english.StartsWithDigit(w) {
		return true // "Last box unpacked, finally settled in Braga", "Weird one, since I had flu I hate tea"
	}
	for j := k + 1; ws[k].Upper && j+1 < min(len(ws), k+8) && ws[j].Stop == 0; j++ {
		if ws[j].Text == "and" && ws[j+1].Text == "i" { // "Ruben from the club and I"
			return true
		}
	}
	// "End of an era, sold the caravan": the words before have no verb of which this may be an object.
	return events.Has(w) && !finite(ws[i:k]) && ws[k-1].Stop == ','
}

// opensFor reports whether ws begins with a time, a place or an event before a statement of the speaker's: "after a
// month in Hanoi I love coriander", "since the baby came we eat early", "on Tuesdays I swim".
func opensFor(ws english.Words) bool {
	w := ws[0].Text
	// "Like I said" and "because I" lead into no statement of their own.
	opens := english.Prepositions.Has(w) || clauseOpeners.Has(w)
	if !opens || w == "as" || w == "of" || w == "like" || w == "because" {
		return false
	}
	for i := 2; i < min(len(ws), maxOpens); i++ {
		if ws[i].Text == "i" || ws[i].Text == "we" {
			return ws[i-1].Stop == 0 && !tailJoints.Has(ws[i-1].Text) && !english.QuestionWords.Has(ws[i-1].Text) &&
				ws[i-1].Text != "that"
		}
		if ws[i-1].Stop != 0 {
			return false
		}
	}
	return false
}

const maxOpens = 8 // words before the speaker

// maxLeadLabel is how many words a label before a statement has: "Allergy info". Longer words before a colon are a
// sentence of their own, which rules read as such.
const maxLeadLabel = 5

// leadLabel reports whether ws is a label, with its colon, before a statement of the speaker's own. What follows words
// of saying, of a text or of a task is hardly that, nor what follows one word that may be a name: "Anna: I'm
// pregnant!".
func leadLabel(ws english.Words) bool {
	if len(ws) == 1 && !labelNoun(ws) && !newsLabels.Has(ws[0].Text) {
		return false
	}
	return len(ws) <= maxLeadLabel && ws[len(ws)-1].Stop == ':' && !ws.Any(textLabels) && !ws.Any(english.TaskWords) &&
		!ws.Any(pasteVerbs) && !ws.Any(reporting) && !ws.Any(makeBelieve) && !ws.Any(denials) // "Not true: I'm vegan"
}

// joint reports whether a clause may begin behind the word before it: not in the middle of one, and not behind a
// quotation mark.
func joint(before english.Word) bool {
	if before.Stop == 0 {
		return before.Text == "and" || before.Text == "but"
	}
	return strings.ContainsRune(",;–—-", before.Stop)
}

// behindRequest looks for a statement behind a question or a request that begins at ws[i]: "What can I cook, I'm
// vegan", "Help me choose, my budget is 300 euros". It must be of the kind that lasts, as much else there is part of
// the request; and a request to write or say something may go on with the text.
func behindRequest(ws english.Words, i int) (int, topics) {
	first := i + english.Polite.Match(ws, i)
	if pasteVerbs.Has(ws.At(first)) || makeBelieve.Has(ws.At(first)) {
		return i, none
	}
	for j := i + 2; j < len(ws); j++ {
		if reporting.Has(ws[j-1].Text) || ws[j-1].Text == "that" || ws[j-1].Text == "if" {
			break
		}
		reason := reasons.Has(ws[j-1].Text)
		if !reason && (ws[j-1].Stop == 0 || !joint(ws[j-1])) {
			continue
		}
		k := j + english.SkipLeads(ws[j:])
		if ws[i:j].Any(wordings) || ws[i:j].Any(textLabels) && !ownTrait(ws[k:]) {
			break // "Which is correct, I have a dog or I've a dog?", "Tell me a joke, I'm a pirate"
		}
		if k >= len(ws) || !speakerWords.Has(ws[k].Text) && reachPhrases.Match(ws, k) == 0 {
			continue
		}
		if !reason && likesWhatPrecedes(ws[i:k], ws[k:]) {
			return i, preference
		}
		if t := statement(ws[k:]); t&(personal|preference) != none || t != none && claims(ws[k:]) {
			return k, t
		}
	}
	return i, none
}

// ownTrait reports whether ws begins with a trait of the speaker's and its value, which is no text to work on: "Sign
// the letter please, my surname is Lee".
func ownTrait(ws english.Words) bool {
	return ws.At(0) == "my" && traits.Has(ws.At(1)) && ws.At(2) == "is"
}

// claims reports whether a statement makes a claim that a later one may end. Such a claim is worth a fact even where
// it is told by the way.
func claims(ws english.Words) bool {
	form := canonical.OfWords(ws.String())
	return form.Telling()
}

// behindQuestion reads the statement behind a question that ends with a question mark, between word i and end.
func (s *sentence) behindQuestion(i, end int) {
	if !imperative(s.words[i].Text) {
		return
	}
	var k int
	if k, s.topics = behindRequest(s.words[:end], i); s.topics != none {
		s.keep(k, end, &request{})
	}
}

// laterDirective looks for an instruction in a later clause of the sentence: where it begins, and its topics.
func laterDirective(ws english.Words, i int) (int, topics) {
	if pasteVerbs.Has(ws[i].Text) || makeBelieve.Has(ws[i].Text) || ws[i:].Has("if") {
		return i, none
	}
	for j := i + 2; j < len(ws); j++ {
		if reporting.Has(ws[j-1].Text) {
			break // "My boss told me: never call me Bob"
		}
		begins := ws[j-1].Text == "so" && ws[j-1].Stop == 0
		if !begins && !joint(ws[j-1]) {
			continue
		}
		if k := j + english.SkipLeads(ws[j:]); k < len(ws) {
			if t := directive(ws, k); t != none {
				return k, t
			}
		}
	}
	return i, none
}
