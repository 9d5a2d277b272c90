package rules

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/english"
)

// sentence is a sentence and the judgement of the rules.
type sentence struct {
	text       string
	words      english.Words // all of them
	start, end int           // the bytes of text that make the fact
	topics     topics        // none: the sentence is not kept
	pastes     bool          // it announces pasted text
}

// read decides whether a sentence is kept, and under which topics.
func read(text string) sentence {
	s := sentence{text: text, words: english.Split(text)}
	ws := s.words
	if len(ws) == 0 || len(ws) > english.MaxSentenceWords {
		return s
	}
	if s.pastes = announcesPaste(text, ws); s.pastes {
		return s
	}
	i := english.SkipLeads(ws)
	i, firm, remember := english.RememberRequest(ws, i)
	if i += english.SkipLeads(ws[i:]); i >= len(ws) {
		return s
	}
	question := strings.HasSuffix(strings.TrimRight(text, " )\"'”’!*_"), "?")
	end := len(ws)
	// An instruction is read whole: in "From now on, please…" no tail begins.
	if s.topics = directive(ws, i); s.topics != none {
		if question {
			i += english.Polite.Match(ws, i) // "Could you always answer in French?"
		}
	} else {
		t := cutTail(ws, i, question && !remember)
		if t.question {
			return s
		}
		end, remember = t.start, remember || t.remember
		i, s.topics = findStatement(ws[:end], i)
	}
	s.keep(i, end, question, firm, remember)
	return s
}

// keep takes the words from i to end as the fact, where topics or a request to remember call for it.
func (s *sentence) keep(i, end int, question, firm, remember bool) {
	kept := s.words[i:end]
	switch {
	case s.topics != none && remember:
		s.topics |= instruction
	case firm && kept.Content() > 1 && !english.QuestionWords.Has(kept[0].Text):
		s.topics = instruction
	}
	if s.topics&instruction == 0 && secrets.Found(s.words) {
		s.topics = none
	}
	s.start, s.end = kept[0].Start, kept[len(kept)-1].End
	if end == len(s.words) && !question { // "Could you remember that I'm diabetic?" leaves a statement
		s.end = trimEnd(s.text, s.end)
	}
}

// findStatement looks for a statement at ws[i], or else in a later clause of the sentence ("That's great, we have a
// dog too"): where it starts, and its topics.
func findStatement(ws english.Words, i int) (int, topics) {
	t := statement(ws[i:])
	if t != none || imperative(ws[i].Text) || hypothetical.Found(ws[i:]) {
		return i, t
	}
	for j := i + 2; j < len(ws); j++ {
		if !speakerWords.Has(ws[j].Text) || !joint(ws[j-1]) {
			continue
		}
		if t := statement(ws[j:]); t != none {
			return j, t
		}
	}
	return i, none
}

// joint reports whether a clause may begin behind the word before it: not in the middle of one, and not behind a
// quotation mark.
func joint(before english.Word) bool {
	if before.Stop == 0 {
		return before.Text == "and" || before.Text == "but"
	}
	return strings.ContainsRune(",;–—-", before.Stop)
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
