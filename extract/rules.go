package extract

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

// maxFacts is how many facts one turn may give. Nobody says more about
// themselves in one message; a pasted document does.
const maxFacts = 20

// Rules finds facts without a model, by the form of English sentences: what
// the user says of themselves and theirs, asks to be remembered, or tells the
// agent to do from now on. It would rather miss a statement than keep small
// talk, and it gives nothing for other languages. The same turns always give
// the same facts. It is safe for concurrent use.
type Rules struct{}

// NewRules makes the extractor.
func NewRules() *Rules { return &Rules{} }

// Name is "rules".
func (r *Rules) Name() string { return "rules" }

// Budget implements Extractor: any number of tokens will do.
func (r *Rules) Budget() int { return 0 }

// Extract gives each kept sentence of the user's turns as one fact, in order:
// in the speaker's own words, less the lead-in ("By the way,"), with dates
// beside the words that mean them ("yesterday (2023-05-07)"). A relative date
// is counted from its turn's own time. The only error is ctx's.
func (r *Rules) Extract(ctx context.Context, b Batch) (Found, error) {
	var out Found
	for i := range b.Turns {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		if b.Turns[i].User {
			out.Facts = r.appendTurn(out.Facts, &b.Turns[i])
		}
	}
	return out, nil
}

// Consolidate implements Extractor. Callers compare facts by their canonical
// forms, whatever found them, and the rules have nothing to add.
func (r *Rules) Consolidate(_ context.Context, c Comparison, _ bool) (Consolidated, error) {
	return Consolidated{Verdicts: createAll(c)}, nil
}

func (r *Rules) appendTurn(facts []Fact, t *Turn) []Fact {
	if injects(t.Text) {
		return facts
	}
	first := len(facts)
	for _, quote := range english.Sentences(t.Text) {
		s := read(quote)
		if s.pastes {
			break // what follows is material for a task, not the user's own words
		}
		_, forget := canonical.ForgetRequest(quote)
		if s.topics == 0 && !forget || !utf8.ValidString(quote) {
			continue
		}
		f := Fact{SessionID: t.SessionID, Text: quote, Author: t.Author, Timestamp: t.Timestamp, EventIDs: []string{t.EventID}, Quote: quote, Forget: forget}
		if !forget {
			f.Topics = s.topics.names()
			f.Text, f.ValidFrom = resolve(&s, t.Timestamp)
		}
		facts = append(facts, f)
		if len(facts)-first == maxFacts {
			break
		}
	}
	return facts
}

// topics is a set of memory's topics.
type topics uint8

const (
	personal topics = 1 << iota
	preference
	details
	instruction
)

// names gives the topics in a fixed order.
func (t topics) names() []string {
	var out []string
	for i, n := range []string{memory.TopicPersonalInfo, memory.TopicPreferences, memory.TopicDetails, memory.TopicInstructions} {
		if t&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// sentence is a sentence and what the rules make of it.
type sentence struct {
	text       string
	words      english.Words // all of them
	start, end int           // the bytes of text that make the fact
	topics     topics        // none: not kept
	pastes     bool          // it announces pasted text
}

// read decides whether a sentence is kept, and as what.
func read(text string) sentence {
	s := sentence{text: text, words: english.Split(text)}
	ws := s.words
	if len(ws) == 0 || len(ws) > english.MaxSentenceWords {
		return s
	}
	if s.pastes = announcesPaste(text, ws); s.pastes {
		return s
	}
	question := strings.HasSuffix(strings.TrimRight(text, " )\"'”’!*_"), "?")
	i := english.SkipLeads(ws)
	next, firm, remember := english.RememberRequest(ws, i)
	i = next + english.SkipLeads(ws[next:])
	if i >= len(ws) {
		return s
	}
	end, tailAsks := len(ws), false
	// An instruction is read whole: in "From now on, please…" no tail begins.
	if s.topics = directive(ws, i); s.topics == 0 {
		open := false
		end, tailAsks, open = cutTail(ws, i, question && !remember)
		if open {
			return s
		}
		i, s.topics = clauseStatement(ws[:end], i)
	} else if question {
		i += english.Polite.Match(ws, i) // "Could you always answer in French?"
	}
	kept := ws[i:end]
	switch {
	case s.topics != 0 && (remember || tailAsks):
		s.topics |= instruction
	case firm && kept.Content() > 1 && !english.QuestionWords.Has(kept[0].Text):
		s.topics = instruction
	}
	if s.topics&instruction == 0 && secrets.Found(ws) {
		s.topics = 0
	}
	s.start, s.end = kept[0].Start, kept[len(kept)-1].End
	if end == len(ws) && !question { // "Could you remember that I'm diabetic?" leaves a statement
		s.end = trimEnd(text, s.end)
	}
	return s
}

// clauseStatement looks for a statement at ws[i], or else in a later clause of
// the sentence ("That's great, we have a dog too"): where it starts, and its topics.
func clauseStatement(ws english.Words, i int) (int, topics) {
	t := statement(ws[i:])
	if t != 0 || imperative(ws[i].Text) || hypothetical.Found(ws[i:]) {
		return i, t
	}
	for j := i + 2; j < len(ws); j++ {
		if w := ws[j].Text; w != "i" && w != "we" && w != "my" && w != "our" {
			continue
		}
		before := ws[j-1]
		if before.Stop == 0 && before.Text != "and" && before.Text != "but" || before.Stop != 0 && !strings.ContainsRune(",;–—-", before.Stop) {
			continue // not at a joint, or behind a quotation mark
		}
		if t := statement(ws[j:]); t != 0 {
			return j, t
		}
	}
	return i, 0
}

// imperative reports whether a sentence that starts with w hands over work or
// a make-believe; what it says in the first person is not the user's own.
func imperative(w string) bool {
	return pasteVerbs.Has(w) || english.AgentVerbs.Has(w) || w == "if" || w == "imagine" || w == "suppose" || w == "pretend" || w == "let" || w == "assume" || english.QuestionWords.Has(w)
}

// trimEnd is the end of text without the emoji and blanks behind its last
// mark; from is where its last word ends.
func trimEnd(text string, from int) int {
	return from + len(strings.TrimRightFunc(text[from:], func(r rune) bool {
		return !unicode.IsPunct(r) && !unicode.IsSymbol(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == utf8.RuneError
	}))
}

// capitalized is s with a capital at its front, and one blank between words.
func capitalized(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// resolve writes out the fact of s as said at a time, with dates beside the words that mean them, and gives the first
// day that it speaks of. The day is zero if it speaks of none.
func resolve(s *sentence, at time.Time) (string, time.Time) {
	if !dates.Possible(s.words) {
		return capitalized(s.text[s.start:s.end]), time.Time{}
	}
	var b strings.Builder
	var from time.Time
	done := s.start
	for _, e := range dates.Find(s.text[:s.end], s.words, s.start, at) {
		b.WriteString(s.text[done:e.End])
		b.WriteString(e.Note)
		done = e.End
		if from.IsZero() {
			from = e.Period.From
		}
	}
	b.WriteString(s.text[done:s.end])
	return capitalized(b.String()), from
}
