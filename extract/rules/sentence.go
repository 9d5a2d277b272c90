package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// sentence is a sentence and the judgement of the rules.
type sentence struct {
	text       string
	said       string        // the words of the turn, where text says the same more plainly; see plainly
	words      english.Words // all of them
	start, end int           // the bytes of text that make the fact
	topics     topics        // none: the sentence is not kept
	pastes     bool          // it announces pasted text
	question   bool          // it asks
	// leans is set where the sentence needs the one before it to be understood. A sentence that would be kept if its
	// pronouns were known has the topics told, and topics none.
	leans  bool
	told   topics
	weight int // see weight
	// subject are the words that the statement lacks before it: "I" of "adopted a cat".
	subject  english.Words
	corrects bool // it corrects something said before
	// several are the statements that the sentence makes, if it is taken apart.
	several []sentence
}

// read decides whether a sentence is kept, and under which topics.
func read(text string) sentence {
	s := sentence{text: text, words: english.Split(text)}
	ws := s.words
	if len(ws) == 0 || len(ws) > english.MaxSentenceWords {
		return s
	}
	lead := english.SkipLeads(ws)
	ws = ws.OfHousehold(lead)
	s.words = ws
	i, firm, remember := english.RememberRequest(ws, lead)
	r := requestAt(ws, lead, i, firm, remember)
	// "Remember: the answer is 42" hands over no text, and "Note this: translate the poem" does.
	if s.pastes = announcesPaste(text, ws) && !(r.colon && remember && !pasteVerbs.Has(ws.At(i))); s.pastes {
		return s
	}
	if inStory(ws) || quotesSpeaker(text) {
		return s
	}
	if i += english.SkipLeads(ws[i:]); i >= len(ws) {
		return s
	}
	question := strings.HasSuffix(strings.TrimRight(text, " )\"'”’!*_"), "?")
	s.question, r.question = question, question
	end := len(ws[:beforeNote(text, ws)].WithoutFillers())
	whole := i
	// An instruction is read whole: in "From now on, please…" no tail begins.
	if s.topics = directive(ws, i); s.topics != none {
		if question {
			i += english.Polite.Match(ws, i) // "Could you always answer in French?"
		}
	} else {
		if i >= end {
			return s
		}
		t := cutTail(ws[:end], i, question && !remember)
		if t.question {
			if s.behindQuestion(i, end); s.topics != none {
				s.takeApart(ws[whole:end], question, &r)
			}
			return s
		}
		end, remember = t.start, remember || t.remember
		r.asked, r.colon = remember, r.colon || t.remember
		if ofNow(ws[i:]) && !remember {
			return s
		}
		end = withoutRemarks(ws, i, end)
		first := i
		i, s.topics = findStatement(ws[:end], i)
		if hollow(ws[i:end], s.topics) || platitude(ws[i:end], s.topics) {
			s.topics = none
		}
		s.lean(first, i, end)
		if j, t := laterDirective(ws, first); s.topics == none && t != none {
			i, end, s.topics, s.leans = j, len(ws.WithoutFillers()), t, false
		}
		if s.topics == none && s.leans {
			i = first
		}
	}
	s.keep(i, end, &r)
	s.takeApart(ws[whole:end], question, &r)
	s.keepCorrection(question)
	s.withOrder()
	return s
}

// keepCorrection keeps a sentence that tells which value was wrong, though nothing else in it says what it is about:
// "actually, it's May 21, not May 12".
func (s *sentence) keepCorrection(question bool) {
	ws := s.words
	if s.topics != none || s.told != none || len(s.several) > 0 || question || len(ws) > 2*maxCorrection {
		return
	}
	// A day of the week or a bare number may be of anything that was spoken of: "actually, it's Thursday, not Friday".
	dated := slices.ContainsFunc(ws, func(w english.Word) bool { return english.StartsWithDigit(w.Text) }) &&
		(ws.Any(english.DateWords) || ws.Has("may") || ws.Has("march")) && !ws.Any(weekdays)
	if !dated && !ws.Has("said") && !ws.Has("wrote") && !ws.Has("typed") {
		return
	}
	if f := canonical.Of(s.text); f.CorrectsValue() && !secrets.Found(ws) {
		s.topics, s.leans = details, false
		s.start, s.end = s.words[0].Start, len(s.text)
	}
}

// beforeNote is the end of the words before a note in square brackets that ends the text: a picture, a sound.
func beforeNote(text string, ws english.Words) int {
	if at := strings.LastIndexByte(text, '['); at > 0 && strings.HasSuffix(strings.TrimRight(text, " .!"), "]") {
		for i := range ws {
			if ws[i].Start > at {
				return i
			}
		}
	}
	return len(ws)
}

// lean finds out whether the statement ws[i:end], or else all from first on, needs the sentence before it.
func (s *sentence) lean(first, i, end int) {
	s.weight, _ = weight(s.words[i:end])
	if s.topics != none {
		s.leans = leansOn(s.words[i:end])
		return
	}
	if first >= end || s.question || s.words[first].Text == "be" { // "Be honest, what does it cost"
		return
	}
	told, points := standIn(s.words[first:end])
	lacks := newClause(s.words[first:end]).lacksSubject()
	if lacks {
		told = join(spoken("my", known), s.words[first:end])
	}
	if told == nil {
		return
	}
	if n, _ := weight(s.words[first:end]); n < 2 || s.words[first:end].Any(addressee) {
		return
	}
	t := statement(told)
	switch {
	case lacks, points && leansOn(s.words[first:end]):
		s.told, s.leans = t, true
	case points && (!leaning.Has(s.words[first].Text) || contentNoun(s.words.At(first+1)) || s.namesIt(first, end)):
		s.topics = t // "I'm doing kickboxing and it gives me energy", "This week has been hard for me"
	case points:
	case s.words[first:end].Any(firstPerson): // "This necklace is from my grandmother"
		s.topics = t
	}
}

// namesIt reports whether the words from i to end say who or what somebody of the speaker's is: "It's Tom in the room
// next to mine now".
func (s *sentence) namesIt(i, end int) bool {
	return s.words.At(i) == "it" && i+2 < end && s.words[i+2].Upper && s.words[i:end].Any(firstPerson)
}

// judges reports whether a sentence only judges what it points at: "It is great to be a part of this".
func (s *sentence) judges() bool {
	ws := s.words[min(english.SkipLeads(s.words), len(s.words)):]
	c := clause{words: ws}
	if i, _ := c.skipAdverbs(2); len(ws) > 1 && english.Auxiliaries.Has(ws[1].Text) {
		for degree.Has(c.at(i)) || english.Articles.Has(c.at(i)) || c.at(i) == "been" {
			i++
		}
		return english.Evaluative.Has(c.at(i)) || english.Moods.Has(c.at(i)) || generic.Has(c.at(i))
	}
	return false
}

// tells reports whether a sentence that was not kept gives another one something to lean on.
func (s *sentence) tells() bool {
	if len(s.words) == 0 || s.question || imperative(s.words[0].Text) || s.words.Any(addressee) ||
		hypothetical.Found(s.words) {
		return false
	}
	ws := s.words[english.SkipLeads(s.words):]
	n, _ := weight(ws)
	thanks := ws.At(0) == "for" || greetings.Has(ws.At(0)) && ws.At(0) != "there" // "Cheers for the map"
	return n > 1 && len(ws) > 1 && !thanks
}

// keep takes the words from i to end as the fact, where topics or a request to remember call for it.
func (s *sentence) keep(i, end int, r *request) {
	if end < len(s.words) {
		end = i + len(withoutLinkLast(s.words[i:end]))
	}
	kept := s.words[i:end]
	switch {
	case s.topics != none && r.asked:
		s.topics |= instruction
	case s.topics != none:
	case r.takes(kept):
		s.topics, s.leans = instruction, false
	}
	if s.topics&instruction == 0 && secrets.Found(s.words) {
		s.topics, s.told, s.leans = none, none, false // nor does a secret join the fact before it
	}
	s.start, s.end = withQuote(s.text, kept[0].Start), kept[len(kept)-1].End
	// "Could you remember that I'm diabetic?" leaves a statement.
	if end == len(s.words) && !s.question && s.end < len(s.text) {
		s.end = trimEnd(s.text, s.end)
	}
}

// withoutLinkLast is a clause without "and" and a remark at its end, which lead to the next: "I'm single and,
// honestly,".
func withoutLinkLast(ws english.Words) english.Words {
	for n := len(ws); n > 2; n = len(ws) {
		switch {
		case partLinks.Has(ws[n-1].Text):
			ws = ws[:n-1]
		case partLinks.Has(ws[n-2].Text) && ws[n-2].Stop == ',':
			ws = ws[:n-2]
		default:
			return ws
		}
	}
	return ws
}

// imperative reports whether a sentence that starts with w hands over work or a make-believe; what it says in the
// first person is not the user's own.
func imperative(w string) bool {
	return pasteVerbs.Has(w) || english.AgentVerbs.Has(w) || makeBelieve.Has(w) || english.QuestionWords.Has(w)
}

// tail is a request or question behind a statement: "I'm vegan, what can I eat?"
type tail struct {
	start    int  // the index of its first word, or the number of words if there is none
	remember bool // it asks to remember the statement
	question bool // the sentence is a question from its start, and has no statement
}

// cutTail finds the tail of ws, of which the statement begins at from. In a question more words begin a tail.
func cutTail(ws english.Words, from int, question bool) tail {
	for i := from + 2; i < len(ws); i++ {
		first := i
		for tailJoints.Has(ws.At(first)) {
			first++
		}
		stop := ws[i-1].Stop
		if first == i && (stop == 0 || stop == '\'') {
			continue
		}
		if ws[min(first, len(ws)-1)].Text == "please" && ws[min(first, len(ws)-1)].Stop == ',' {
			continue // "Recipe for two please, we got engaged"
		}
		if firmTails.Match(ws, first) > 0 || question && openTails.Match(ws, first) > 0 {
			n := rememberTails.Match(ws, first)
			return tail{start: i, remember: n > 0 && n >= len(ws)-first-2}
		}
	}
	return tail{start: len(ws), question: question}
}

// trimEnd is the end of text without the emoji and blanks behind its last mark; from is where its last word ends.
func trimEnd(text string, from int) int {
	return from + len(strings.TrimRightFunc(text[from:], func(r rune) bool {
		return !unicode.IsPunct(r) && !unicode.IsSymbol(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) ||
			r == utf8.RuneError
	}))
}

// withBracket is the end of the words between start and end with the bracket behind them that closes one of theirs, as
// in "My key is [REDACTED:key]": without it the mark of what was taken out would be none.
func withBracket(text string, start, end int) int {
	words := text[start:end]
	if end < len(text) && text[end] == ']' && strings.LastIndexByte(words, '[') > strings.LastIndexByte(words, ']') {
		end++
	}
	return end
}

// withQuote is start, or where the quotation mark before it is, if that opens a quotation which ends behind start, or
// the sign of a currency: "“Friends” is on my list", "£950 goes to my landlord every month".
func withQuote(text string, start int) int {
	before := text[:start]
	switch {
	case strings.HasSuffix(before, "$"), strings.HasSuffix(before, "£"), strings.HasSuffix(before, "€"):
		_, sign := utf8.DecodeLastRuneInString(before)
		return start - sign
	case strings.HasSuffix(before, "“") && strings.Contains(text[start:], "”"):
		return start - len("“")
	case strings.HasSuffix(before, `"`) && strings.Count(before, `"`)%2 == 1 && strings.Contains(text[start:], `"`):
		return start - 1
	}
	return start
}

// announcesPaste reports whether a sentence hands over a text to work on, which then follows: "Translate this to
// German:", "Here is my draft:".
func announcesPaste(text string, ws english.Words) bool {
	head := ws[:min(len(ws), 12)] // longer sentences tell a story before they come to a text
	colon := strings.HasSuffix(strings.TrimRight(text, " *_"), ":")
	if head.Any(pasteVerbs) {
		return colon || below.MatchString(text)
	}
	return colon && head.Any(english.TaskWords)
}

// below finds words that point at a text that follows.
var below = regexp.MustCompile(`(?i)\b(?:the following|below|this (?:text|e-?mail|paragraph|message|letter|sentence|` +
	`passage|article|story|poem|essay|code|snippet))\b|:\s`)
