package canonical

import (
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// ForgetRequests gives the canonical texts of the statements that a user's text
// asks to forget; see [ForgetRequest].
func ForgetRequests(text string) (statements []string) {
	if !mayRequestForgetting(text) {
		return nil
	}
	for _, s := range english.Sentences(text) {
		if statement, ok := ForgetRequest(s); ok {
			statements = append(statements, statement)
		}
	}
	return statements
}

// ForgetTarget is the canonical text of the statement that a fact marked as a
// request to forget is about. The rules give such a fact the words of the
// request, and a model gives it the statement; ForgetTarget takes both.
func ForgetTarget(fact string) string {
	if statement, ok := ForgetRequest(fact); ok {
		return statement
	}
	return Text(fact)
}

// ForgetRequest reads one sentence of a user as a request to forget a statement,
// and gives the statement's canonical text: "Please forget that I like tea". It
// reads only requests that repeat a statement about the speaker, or about people
// and things of the speaker's, after "that". "Forget what I said about tea" names
// a subject and no statement.
func ForgetRequest(sentence string) (statement string, ok bool) {
	if !mayRequestForgetting(sentence) {
		return "", false
	}
	ws := english.Lex(Normalize(sentence))
	if len(ws) > english.MaxSentenceWords {
		return "", false
	}
	i := english.SkipLeads(ws)
	for n := english.Polite.Match(ws, i); n > 0; n = english.Polite.Match(ws, i) {
		i += n
	}
	n := forgetting.Match(ws, i)
	if n == 0 {
		return "", false
	}
	ws = ws[i+n:]
	ws = ws[saidBefore.Match(ws, 0):]
	for ws.At(len(ws)-1) == "please" {
		ws = ws[:len(ws)-1]
	}
	if len(ws) < 3 || !isSpeaker(ws[0].Text) || !isOneStatement(ws) {
		return "", false
	}
	return Text(ws.String()), true
}

// mayRequestForgetting is a cheap first look, which most texts do not pass: a text
// without any of forgettingWords has no request. A text that is not all ASCII may
// have such a word in another form, so it passes.
func mayRequestForgetting(text string) bool {
	if !isASCII(text) {
		return true
	}
	text = strings.ToLower(text)
	for _, w := range forgettingWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// forgettingWords has the longest word of each phrase that asks to forget.
var forgettingWords = forgetting.Longest()

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isSpeaker reports whether w begins a statement about the speaker or theirs.
func isSpeaker(w string) bool { return w == "i" || w == "we" || w == "my" || w == "our" }

// isOneStatement reports whether ws has a verb near its beginning, and neither
// completes an idiom ("Forget that I asked") nor holds several statements.
func isOneStatement(ws english.Words) bool {
	verb := false
	for i, w := range ws {
		last := i+1 == len(ws)
		if w.Text == "?" || forgetIdioms.Has(w.Text) {
			return false
		}
		if !last && w.Stop != 0 && strings.ContainsRune(",;:?!–—", w.Stop) {
			return false
		}
		if !last && (w.Text == "but" || (w.Text == "and" || w.Text == "or") && clauseStarts.Has(ws[i+1].Text)) {
			return false
		}
		verb = verb || i > 0 && i < 5 && mayBeVerb(w.Text)
	}
	return verb
}

// mayBeVerb reports whether w may be the finite verb of a statement.
func mayBeVerb(w string) bool {
	return english.Auxiliaries.Has(w) || english.PresentVerbs.Has(strings.TrimSuffix(w, "s")) ||
		english.Likings.Has(w) || english.Past(w) || w == "do"
}
