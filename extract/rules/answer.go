package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/english"
)

// Short answers stand alone only together with the question: "Any allergies?" "Just sesame." A question is worth it if
// the statement that it asks for would be one: "Do you have any allergies?" asks for "I have allergies".

// maxAnswer is how many words an answer has that is joined with its question. Longer ones mostly stand alone.
const maxAnswer = 16

// question is a question about the listener, who answers in the next turn.
type question struct {
	event string
	text  string
	words english.Words
}

// asked is the question that a turn ends with; nil if it ends with none.
func asked(t *extract.Turn) *question {
	end := strings.TrimRight(t.Text, " \n)\"'”’!*_")
	if !strings.HasSuffix(end, "?") {
		return nil
	}
	said := english.Sentences(end[max(0, len(end)-english.MaxSentenceBytes):])
	if len(said) == 0 || !utf8.ValidString(said[len(said)-1]) {
		return nil
	}
	q := question{event: t.EventID, text: strings.Join(strings.Fields(said[len(said)-1]), " ")}
	ws := english.Split(q.text)
	if len(ws) == 0 || len(ws) > maxAnswer || !strings.HasSuffix(q.text, "?") {
		return nil
	}
	i := english.SkipLeads(ws)
	q.text = capitalized(q.text[ws[i].Start:])
	q.words = ws[i:]
	return &q
}

// answered are the topics of an answer to q; none if its statement is not worth a fact.
func (q *question) answered(answer english.Words) topics {
	i := english.SkipLeads(answer)
	if len(answer) == 0 || len(answer) > maxAnswer ||
		noAnswers.Match(answer, i) > 0 || noAnswers.Match(answer, 0) > 0 || newClause(q.words).task ||
		phatic.Match(q.words, 0) > 0 || greets(answer) || q.passedOver(answer, i) {
		return none
	}
	if interjections.Has(answer[min(i, len(answer)-1)].Text) && len(answer) < i+2 && !noOrYes.Has(answer[0].Text) {
		return none // "Umm"
	}
	n, _ := weight(answer[i:])
	said := q.statement(answer)
	if len(said) == 0 || n == 0 && !noOrYes.Has(answer[0].Text) {
		return none
	}
	t := statement(said)
	if q.words.Content() == 0 {
		return none
	}
	told := q.words.Any(lifeQuestions) || q.open() && q.words.Has("did") && whole(answer[i:]) == 0
	if t == none && told && !said.Any(english.TalkVerbs) {
		t = details
	}
	return t
}

// open reports whether q asks for more than yes or no: "Which team do you play for?".
func (q *question) open() bool {
	first := q.words[0].Text
	if first == "so" || first == "and" || first == "oh" {
		first = q.words.At(1)
	}
	return english.QuestionWords.Has(first) && !english.Auxiliaries.Has(first)
}

// missed reports whether an answer is a sentence of its own that speaks of something else: it has a verb, and neither
// words of q nor a pronoun for what q asks after. "What's your name?" "Law fascinates me".
func (q *question) missed(answer english.Words) bool {
	if whole(answer) == 0 {
		return false
	}
	if answer.Any(addressee) && !answer.Any(firstPerson) {
		return true // "One day you will meet a nice one"
	}
	if q.shares(answer) {
		return false
	}
	first := answer.At(0)
	switch first {
	case "it", "he", "she", "they", "his", "her", "its", "their":
		ofYou := !q.open() && q.words.Any(addressee) || q.ofListener()
		return ofYou || appears.Has(answer.At(1))
	}
	verb := answer[whole(answer)].Text
	other := english.Modals.Has(verb) || english.Deictic.Has(first) || first == "there"
	return !q.words.Any(lifeQuestions) || other && !answer.Any(firstPerson)
}

// whole is where the verb of an answer stands that is a sentence of its own; 0 if it is none: "Since 2019", "Trying
// out new flavors".
func whole(answer english.Words) int {
	i, _ := (&clause{words: answer}).skipAdverbs(0)
	first := answer.At(i)
	if english.PresentVerbs.Has(first) || first == "have" {
		return 0 // "Have a dog called Rex"
	}
	if (english.Articles.Has(first) || demonstrative.Has(first)) && (answer.Has("me") || answer.Has("us")) {
		return 1 // "The law fascinates me": no table has all verbs
	}
	for k := 1; k < min(len(answer), maxSubject); k++ {
		w, before := answer[k].Text, answer[k-1]
		if clauseOpeners.Has(first) || before.Stop != 0 && before.Stop != '\'' {
			return 0
		}
		plural := strings.HasSuffix(before.Text, "s") && (english.PresentVerbs.Has(w) || appears.Has(w+"s"))
		mine := (before.Text == "i" || before.Text == "we") && k == 1
		if english.Past(w) && !english.Auxiliaries.Has(w) && english.Articles.Has(first) {
			continue // "a cat named Luna"
		}
		if finiteVerb(w) && !english.Articles.Has(before.Text) && !english.PresentVerbs.Has(w) || plural || mine ||
			english.Modals.Has(w) || w == "will" {
			return k
		}
	}
	return 0
}

// maxStem is how many letters two forms of a word share: "motivate", "motivation".
const maxStem = 5

// shares reports whether an answer has a word of q, perhaps in another form.
func (q *question) shares(answer english.Words) bool {
	return slices.ContainsFunc(answer, func(w english.Word) bool {
		return !english.StopWords.Has(w.Text) && slices.ContainsFunc(q.words, func(of english.Word) bool {
			return strings.TrimSuffix(of.Text, "s") == strings.TrimSuffix(w.Text, "s") ||
				len(w.Text) > maxStem && strings.HasPrefix(of.Text, w.Text[:maxStem])
		})
	})
}

// ofListener reports whether q asks what the listener does, so that "it" in an answer is something else: "How do you
// find the books?". "What kind of tea do you drink?" asks after the tea.
func (q *question) ofListener() bool {
	for i := range q.words {
		if addressee.Has(q.words[i].Text) {
			return i < 3 && q.words[i].Text == "you"
		}
	}
	return false
}

// explains reports whether q says by itself what it asks, and what the words of s before end lean on. "Do you work
// there?" asks enough, and an "it" of the answer may be what is asked after.
func (q *question) explains(s *sentence, end int) bool {
	if d := dangling(nil, q.words); d >= 0 && q.words[d].Text != "there" {
		return false
	}
	if !s.leans {
		return true
	}
	n, _ := weight(q.words)
	d := dangling(q.words, s.words[:end])
	return n > 0 && (d < 0 || s.words[d].Text == "it")
}

// greets reports whether an answer only greets or cheers, perhaps with a name: "Hey Ann!".
func greets(answer english.Words) bool {
	if !greetings.Has(answer[0].Text) {
		return false
	}
	for i := range answer {
		if i > 0 && !greetings.Has(answer[i].Text) && !answer[i].Upper {
			return false
		}
	}
	return true
}

// passedOver reports whether an answer says nothing of what is asked; its statement begins at i. It is a "yes" to what
// wants more than that, or speaks of what the one who asks has said: "Kyoto sounds incredible!".
func (q *question) passedOver(answer english.Words, i int) bool {
	open := q.open()
	if yes.Has(answer[0].Text) && (open || q.words.Has("any")) {
		if open && whole(answer[i:]) > 0 && !q.shares(answer) {
			return true
		}
		if n, _ := weight(answer[max(i, 1):]); n == 0 {
			return true
		}
	}
	if answer.Any(firstPerson) || noOrYes.Has(answer[0].Text) {
		return false
	}
	if pointers.Has(answer[i].Text) {
		return true
	}
	c := clause{words: answer[i:]}
	if q.admires(answer[i:]) {
		return true
	}
	for j := 1; j < len(c.words) && !open; j++ {
		if appears.Has(c.at(j)) {
			return !english.Deictic.Has(c.at(0))
		}
	}
	return false
}

// admires reports whether an answer, of which no word is of the speaker, only praises something that q does not ask
// after: "Jazz can be so soulful!", "Lisbon or Porto both sound dreamy".
func (q *question) admires(answer english.Words) bool {
	k := whole(answer)
	for i := 1; k == 0 && i < len(answer); i++ {
		if answer[i-1].Text == "both" || answer[i-1].Text == "all" {
			k = i
		}
	}
	verb := answer.At(k)
	seems := appears.Has(verb) || appears.Has(verb+"s") || beForms.Has(verb)
	return english.Modals.Has(verb) && answer.At(k+1) == "be" ||
		seems && answer.Any(english.Evaluative) && !q.shares(answer)
}

// spoken makes words that were not said, for a statement that the rules are to judge.
func spoken(texts ...string) english.Words {
	out := make(english.Words, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// statement is what an answer says together with q, in the first person; nil if q asks for no such thing.
func (q *question) statement(answer english.Words) english.Words {
	ws := q.words
	for i := range ws {
		next := ws.At(i + 1)
		switch w := ws[i].Text; {
		case w == "any" && i == 0: // "Any allergies?"
			return join(spoken("i", "have"), ws[1:], answer)
		case w == "your" && i+1 < len(ws): // "When is your birthday?"
			return join(spoken("my"), ws[i+1:], spoken("is"), answer)
		case next != "you":
		case w == "did" && !q.open() && !ws.Any(lifeQuestions): // "Did you sleep well?"
			return nil
		case w == "do" || w == "did":
			return join(spoken("i"), ws[i+2:], answer)
		case w == "are" && ws.StartWith("how", "old"):
			return join(spoken("i", "am"), answer, spoken("old"))
		case w == "are":
			return join(spoken("i", "am"), ws[i+2:], answer)
		case w == "have", w == "can", w == "were":
			return join(spoken("i", w), ws[i+2:], answer)
		}
	}
	if len(ws) <= maxLabel && !ws.Any(english.Auxiliaries) && !english.QuestionWords.Has(ws[0].Text) { // "Age?"
		return join(spoken("my"), ws, spoken("is"), answer)
	}
	return nil
}

// join puts words one behind another.
func join(parts ...english.Words) english.Words {
	var out english.Words
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
