package extract

import (
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// Gist is the key under which two facts say the same in nearly the same words.
// Beyond [Normalize] it folds, in English sentences, contractions, lead-ins
// ("Note that"), politeness, intensifiers, articles where they say nothing,
// number words, the spellings of Britain and America, and the forms that say
// that something ended ("I stopped smoking", "I don't smoke any more").
//
// It promises that facts of different meaning keep different gists, so far as
// Normalize keeps them apart, and that facts equal under Normalize have one
// gist. It does not promise to find every paraphrase: order, negation, tense,
// number, names and time words all count, and where a word might mean
// something, it stays. Words that depend on when they are said ("today") are
// compared as words. A text that does not look English is only normalized.
func Gist(fact string) string {
	n := Normalize(fact)
	ws := english.Lex(n)
	if len(ws) > english.MaxSentenceWords || !english.Probable(ws) {
		return n
	}
	ws = thin(ws)
	if positive, ok := ceased(ws); ok && len(cutRecent(ws)) == len(ws) {
		return "no longer " + Gist(positive.String())
	}
	return ws.String()
}

// Ends reads a fact that says that something holds no more, and gives the gist
// of the statement that it ends: "I no longer eat meat" ends what Gist gives
// for "I eat meat". It promises that the positive statement is formed surely;
// where more is said ("I stopped smoking for a month", "I don't eat much meat
// any more") it refuses. What somebody "used to" do is not read: it may be a
// story of old times.
func Ends(fact string) (what string, ok bool) {
	if strings.Contains(fact, "?") {
		return "", false
	}
	ws := english.Lex(Normalize(fact))
	if len(ws) > english.MaxSentenceWords || !english.Probable(ws) {
		return "", false
	}
	positive, ok := ceased(cutRecent(thin(ws)))
	if !ok {
		return "", false
	}
	return Gist(positive.String()), true
}

// Forgets reads one sentence of a user ([Rules] splits turns into them) as a
// request to forget a statement, and gives the statement's gist: "Please
// forget that I like tea". It reads only the forms that repeat the statement
// after "that"; "Forget what I said about tea" names a subject and no
// statement, and is refused, as is everything that does not speak of the
// speaker or theirs.
func Forgets(text string) (what string, ok bool) {
	if !mayForget(text) {
		return "", false
	}
	ws := english.Lex(Normalize(text))
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
	for len(ws) > 0 && ws[len(ws)-1].Text == "please" {
		ws = ws[:len(ws)-1]
	}
	if len(ws) < 3 || ws[0].Text != "i" && ws[0].Text != "we" && ws[0].Text != "my" && ws[0].Text != "our" || !forgettable(ws) {
		return "", false
	}
	return Gist(ws.String()), true
}

// mayForget is false of most texts that ask for nothing to be forgotten: those
// without a word of a phrase that does. Reading them closely would take longer.
// What is not all ASCII may have such a word in another form.
func mayForget(text string) bool {
	if !ascii(text) {
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

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// forgettable reports whether ws is one statement, not an idiom ("Forget that
// I asked") and not the first of several.
func forgettable(ws english.Words) bool {
	verb := false
	for i, w := range ws {
		switch {
		case w.Stop != 0 && i+1 < len(ws) && strings.ContainsRune(",;:?!–—", w.Stop), spoken.Has(w.Text), w.Text == "?":
			return false
		case (w.Text == "and" || w.Text == "or" || w.Text == "but") && i+1 < len(ws) && (clauseStarts.Has(ws[i+1].Text) || w.Text == "but"):
			return false
		}
		v := strings.TrimSuffix(w.Text, "s")
		verb = verb || i > 0 && i < 5 && (english.Auxiliaries.Has(w.Text) || english.PresentVerbs.Has(v) || english.Likings.Has(w.Text) || english.Past(w.Text) || w.Text == "do")
	}
	return verb
}

var (
	forgettingWords = forgetting.Longest()
)

// withoutLead is ws without what leads into the statement. A lead that weighs
// on it ("Hopefully") stays, with all before it.
func withoutLead(ws english.Words) english.Words {
	i := english.SkipLeads(ws)
	next, _, _ := english.RememberRequest(ws, i)
	next += english.SkipLeads(ws[next:])
	for _, w := range ws[:next] {
		if weighty.Has(w.Text) {
			return ws
		}
	}
	if len(ws)-next < 3 || english.QuestionWords.Has(ws[next].Text) {
		return ws // "You know how to cook"
	}
	return ws[next:]
}

// thin is ws without its lead and without the words that change nothing, the
// rest in one of the forms that mean the same. One filler may hide another
// ("I just really like it"), so it looks twice.
func thin(ws english.Words) english.Words { return thinOnce(thinOnce(withoutLead(ws))) }

// thinOnce is one look of thin.
func thinOnce(ws english.Words) english.Words {
	out := make(english.Words, 0, len(ws))
	negated, liked := false, false
	prev := ""
	for i := 0; i < len(ws); {
		n := 0
		if !negated {
			n = filler(ws, i, prev, liked)
		}
		if n == 0 {
			n = hollow(ws, i, prev)
		}
		if n > 0 {
			i += n
			if len(out) > 0 && i <= len(ws) && ws[i-1].Stop != 0 && out[len(out)-1].Stop == 0 {
				out[len(out)-1].Stop = ws[i-1].Stop
			}
			continue
		}
		w := ws[i]
		negated = negated || negations.Has(w.Text)
		if base := english.Infinitive(w.Text); base != "" && english.Likings.Has(prev) && (len(out) < 2 || out[len(out)-2].Text != "would") {
			out = append(out, english.Word{Text: "to", Start: w.Start, End: w.Start}) // "I like swimming" is "I like to swim"
			w.Text = base
		}
		liked = liked || english.Likings.Has(w.Text)
		if w.Text == "any" && i+2 == len(ws) && ws[i+1].Text == "more" {
			w.Text, i = "anymore", i+1
		}
		out = append(out, w)
		prev = w.Text
		i++
	}
	return out
}

// filler is how many words at ws[i] only stress what is said. Behind a
// negation they are what is denied ("I don't really like it"); there they are
// not asked for.
func filler(ws english.Words, i int, prev string, liked bool) int {
	next, last := "", i+1 == len(ws)
	if !last {
		next = ws[i+1].Text
	}
	switch w := ws[i].Text; w {
	case "really", "actually", "honestly", "literally", "definitely", "certainly", "also", "currently":
		if !last {
			return 1
		}
	case "absolutely", "truly", "totally":
		if english.Likings.Has(next) {
			return 1
		}
	case "still":
		if !last && !stillNouns.Has(next) && !stillVerbs.Has(prev) {
			return 1
		}
	case "very":
		if next == "much" && (i+2 == len(ws) && liked || i+2 < len(ws) && english.Likings.Has(ws[i+2].Text)) {
			return 2
		}
		if english.Moods.Has(next) || english.Evaluative.Has(next) && next != "best" && next != "first" {
			return 1
		}
	case "so":
		switch {
		case next == "much" && i+2 == len(ws) && liked:
			return 2
		case english.Likings.Has(next), beForms.Has(prev) && (english.Moods.Has(next) || english.Evaluative.Has(next)) && !result(ws[i:]):
			return 1
		}
	case "a":
		if next == "lot" && i+2 == len(ws) && liked {
			return 2
		}
	case "just":
		if english.Past(next) || english.Participles.Has(next) || english.Likings.Has(next) {
			return 1
		}
	case "too":
		if last && i > 1 {
			return 1
		}
	case "as":
		if next == "well" && i+2 == len(ws) {
			return 2
		}
	case "now":
		if last && !timeLeads.Has(prev) && !contrasted(ws[:i]) || !last && (beForms.Has(prev) || prev == "i" || prev == "we") {
			return 1
		}
	}
	return 0
}

// result reports whether a clause of result may follow: "so tired that…".
func result(ws english.Words) bool {
	for _, w := range ws[:min(len(ws), 6)] {
		if w.Text == "that" || w.Text == "as" || w.Text == "i" {
			return true
		}
	}
	return false
}

// contrasted reports whether "now" stands against another time.
func contrasted(ws english.Words) bool {
	for i, w := range ws {
		if w.Text == "but" || w.Text == "used" || w.Text == "was" || w.Text == "were" || i > 0 && w.Text == "not" {
			return true
		}
	}
	return false
}

// hollow is how many words at ws[i] are grammar without meaning, negated or not.
func hollow(ws english.Words, i int, prev string) int {
	next := ""
	if i+1 < len(ws) {
		next = ws[i+1].Text
	}
	switch w := ws[i].Text; {
	case w == "please" && (i == 0 || next == "") && prev != "to":
		return 1
	case (w == "a" || w == "an") && (beForms.Has(prev) || prev == "as" || prev == "became") && !amounts.Has(next) && next != "" && english.WordRune(rune(next[0])):
		return 1
	case w == "the" && (prev == "in" || prev == "at") && !singled.Has(next) && next != "":
		return 1
	case (w == "have" || w == "has") && !english.Modals.Has(prev) && completed.Has(next):
		return 1 // "I have moved" is "I moved"
	case (w == "have" || w == "has") && next == "just" && i+2 < len(ws) && completed.Has(ws[i+2].Text):
		return 2
	case w == "got" && (prev == "have" || prev == "has") && (english.Articles.Has(next) || english.StartsWithDigit(next)):
		return 1
	}
	return 0
}

// ceased reads ws, thinned, as saying that something holds no more: the words
// of the statement that it ends.
func ceased(ws english.Words) (english.Words, bool) {
	n := subjectEnd(ws)
	if n == 0 {
		return nil, false
	}
	subject, rest, denied := ws[:n:n], ws[n:], false
	switch last := len(rest) - 1; {
	case rest.At(last) == "anymore":
		rest, denied = rest[:last], true
	case rest.At(last) == "longer" && rest.At(last-1) == "any":
		rest, denied = rest[:last-1], true
	}
	switch v := rest.At(2); {
	case !whole(rest):
		return nil, false
	case denied:
		return negative(subject, rest)
	case rest.At(0) == "no" && rest.At(1) == "longer":
		if v == "" || v == "to" || english.Auxiliaries.Has(v) && v != "have" && v != "has" || strings.HasSuffix(v, "ing") {
			return nil, false
		}
		return append(subject, rest[2:]...), true
	case lastingForms.Has(rest.At(0)) && rest.At(1) == "no" && v == "longer" && len(rest) > 3:
		return append(append(subject, rest[0]), rest[3:]...), true
	}
	return stoppedDoing(subject, rest, n > 1)
}

// negative turns "do not eat meat" into "eat meat".
func negative(subject, rest english.Words) (english.Words, bool) {
	if len(rest) < 3 || rest[1].Text != "not" || english.Adverbs.Has(rest[2].Text) {
		return nil, false
	}
	verb := rest[2]
	switch aux := rest[0].Text; {
	case (aux == "do" || aux == "does") && (english.TalkVerbs.Has(verb.Text) && !english.Likings.Has(verb.Text)):
		return nil, false
	case aux == "do":
		return append(subject, rest[2:]...), true
	case aux == "does":
		if verb.Text = english.ThirdPerson(verb.Text); verb.Text == "" {
			return nil, false
		}
		return append(append(subject, verb), rest[3:]...), true
	case lastingForms.Has(aux) && (aux != "can" || len(rest) > 3):
		return append(append(subject, rest[0]), rest[2:]...), true
	}
	return nil, false
}

// stoppedDoing turns "stopped eating meat" into "eat meat", and "quit my job
// at Acme" into "work at Acme".
func stoppedDoing(subject, rest english.Words, third bool) (english.Words, bool) {
	n := 1
	if w := rest.At(0); w == "have" || w == "has" {
		rest = rest[1:]
	}
	switch {
	case rest.At(0) == "stopped", rest.At(0) == "quit":
	case (rest.At(0) == "gave" || rest.At(0) == "given") && rest.At(1) == "up":
		n = 2
	case rest.At(0) == "left" && rest.At(1) == "my":
	default:
		return nil, false
	}
	verb := english.Word{Text: english.Infinitive(rest.At(n))}
	rest = rest[n:]
	if rest.StartWith("my", "job", "at") && len(rest) > 3 && n == 1 {
		verb.Text = "work"
		if rest = rest[1:]; rest[2:].Any(english.Prepositions) {
			return nil, false // "to travel"
		}
	} else if verb.Text == "be" {
		return nil, false
	}
	if third && verb.Text != "" {
		verb.Text = english.ThirdPerson(verb.Text)
	}
	if verb.Text == "" {
		return nil, false
	}
	return append(append(subject, verb), rest[1:]...), true
}

// subjectEnd is where the subject ends that the speaker is, or that is theirs
// and one; 0 if there is no such subject.
func subjectEnd(ws english.Words) int {
	switch ws.At(0) {
	case "i", "we":
		return 1
	case "my", "our":
		for k := 2; k < min(len(ws), 4); k++ {
			if w := ws[k].Text; english.Auxiliaries.Has(w) || w == "no" || w == "stopped" || w == "quit" {
				if strings.HasSuffix(ws[k-1].Text, "s") {
					return 0
				}
				return k
			}
		}
	}
	return 0
}

// whole reports whether nothing in ws bounds, repeats or joins the statement,
// or points outside it.
func whole(ws english.Words) bool {
	for i, w := range ws {
		year := len(w.Text) == 4 && (w.Text[:2] == "19" || w.Text[:2] == "20")
		if year || bounding.Has(w.Text) || english.Pronouns.Has(w.Text) || english.DateWords.Has(w.Text) || w.Text == "for" && (i+1 == len(ws) || amountStarts.Has(ws[i+1].Text) || english.StartsWithDigit(ws[i+1].Text)) ||
			i+1 < len(ws) && w.Stop != 0 && w.Stop != '\'' && w.Stop != '"' {
			return false
		}
	}
	return true
}

// Forgotten gives the gists of what a text asks to be forgotten; see Forgets.
func Forgotten(text string) (out []string) {
	if !mayForget(text) {
		return nil
	}
	for _, s := range english.Sentences(text) {
		if what, ok := Forgets(s); ok {
			out = append(out, what)
		}
	}
	return out
}

// ToForget is the gist of what the text of a Fact with Forget asks to be
// forgotten: the rules give the request itself, a model the statement.
func ToForget(text string) string {
	if what, ok := Forgets(text); ok {
		return what
	}
	return Gist(text)
}
