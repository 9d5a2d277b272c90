package canonical

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// Wish is what a request to forget names. A request that cannot be understood for
// certain ("Forget what I said yesterday") has the zero Wish, which names nothing.
type Wish struct {
	// Statement is the canonical text of a statement: "Forget that I like tea".
	Statement string
	// Subjects are what somebody is to know nothing of: "Forget my salary", "Forget
	// what I said about my sister and her job".
	Subjects []Subject
	// Everything is "Delete everything you know about me".
	Everything bool
}

// Names reports whether the wish names something to forget.
func (w *Wish) Names() bool { return w.Statement != "" || len(w.Subjects) > 0 || w.Everything }

// Wishes gives what a user's text asks to forget; see [ForgetRequest].
func Wishes(text string) (wishes []Wish) {
	if !mayRequestForgetting(text) {
		return nil
	}
	for _, s := range english.Sentences(text) {
		if w, ok := ForgetRequest(s); ok && w.Names() {
			wishes = append(wishes, w)
		}
	}
	return wishes
}

// WishOf is the wish of a fact marked as a request to forget. The rules give such a
// fact the words of the request. A model gives it the statement, or the subject, or
// "everything"; WishOf takes all of these.
func WishOf(fact string) Wish {
	if w, ok := ForgetRequest(fact); ok {
		return w
	}
	ws := english.Lex(firstPerson(fact))
	if o, rest := openingOf(ws); o.all && len(rest) == 0 {
		return Wish{Everything: true}
	}
	if s, ok := subjectOf(ws, false); ok && !hasVerb(ws) {
		return Wish{Subjects: []Subject{s}}
	}
	return Wish{Statement: Text(fact)}
}

// ForgetRequest reads one sentence of a user as a request to forget. It reads
// requests that repeat a statement about the speaker, or about people and things of
// the speaker's ("Please forget that I like tea"), that name its subject ("Forget my
// salary", "Forget what I told you about tea"), and those to forget everything. In
// ordinary talk "forget the salad" and "forget about it" mean "never mind", and
// "delete my draft" is a task: these are no requests.
func ForgetRequest(sentence string) (w Wish, ok bool) {
	if !mayRequestForgetting(sentence) {
		return w, false
	}
	ws := english.Lex(Normalize(sentence))
	if len(ws) > english.MaxSentenceWords {
		return w, false
	}
	i := english.SkipLeads(ws)
	for n := english.Polite.Match(ws, i); n > 0; n = english.Polite.Match(ws, i) {
		i += n
	}
	if n := forgetting.Match(ws, i); n > 0 {
		if statement, ok := forgottenStatement(ws[i+n:]); ok {
			return Wish{Statement: statement}, true
		}
	}
	return wish(ws, i)
}

// forgottenStatement reads the statement behind "forget that".
func forgottenStatement(ws english.Words) (string, bool) {
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
var forgettingWords = slices.Concat(forgetting.Longest(), forgetVerbs.Longest(), eraseVerbs.Longest())

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasVerb reports whether ws may be a statement: "my sister's work" is none.
func hasVerb(ws english.Words) bool {
	for i := 1; i < len(ws); i++ {
		if mayBeVerb(ws[i].Text) && ws[i-1].Text != "my" && !strings.HasSuffix(ws[i-1].Text, "'s") {
			return true
		}
	}
	return false
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
