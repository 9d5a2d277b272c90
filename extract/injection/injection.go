// Package injection tells text that tries to instruct an agent from text that informs
// it. It looks at what such an order is made of, in many languages: whom it addresses,
// a verb that sets something aside, gives something away or keeps something, and what
// that is about. Of sentences that no rule finds a learned judge decides, by weights of
// their words; train has the program that learns them. All takes time in proportion to the
// length of a text.
//
// A user's words about how to be answered are an instruction, which an agent follows.
// So the user's own words are held back only if they are turned against the owner of the
// agent: against its instructions, its prompt and its safety. What a document, a tool or
// an agent brings, and what a user pastes, may not give orders at all.
package injection

import (
	"crypto/sha256"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/memoryd/memoryd/memory"
)

// The reasons for which a text is held back, as Memory.Reason has them.
const (
	Overrides = "it tells the agent to set its instructions aside"
	Reveals   = "it asks for the instructions of the agent"
	Addresses = "it speaks to the agent and gives it an order"
	Standing  = "it gives the agent an order about later answers"
	Persists  = "it tells the agent what to keep in memory"
	Conceals  = "it tells the agent to hide something from the user"
	Sends     = "it tells the agent to give data away"
	Deletes   = "it tells the agent to delete memories"
	Marks     = "it has marks that part the prompts of models"
	Roles     = "it gives the agent another role"
	Unsafe    = "it tells the agent to turn its safety off"
	Learned   = "it reads like an order to the agent"
)

// encoded is put before the reason if the order was in a text that had to be decoded.
const encoded = "encoded: "

// Check returns why a text from a source is held back; "" if it is not.
func Check(text string, from memory.Trust) (reason string) {
	if len(text) < longText {
		return judged(text, from)
	}
	key := checked{sha256.Sum256([]byte(text)), from}
	reason, ok := reasons.Get(key)
	if !ok {
		reason = judged(text, from)
		reasons.Add(key, reason)
	}
	return reason
}

// Reasons of the long texts that were checked last: ingestion asks some four times on its way, and such a text may take
// a second.
const longText = 1 << 10

var reasons, _ = lru.New[checked, string](4096) // some 500 kB; New fails for a size of 0 alone

// checked is a text that was checked, by its hash, and its source.
type checked struct {
	hash [sha256.Size]byte
	from memory.Trust
}

// judged is Check of a text that was not checked lately.
func judged(text string, from memory.Trust) (reason string) {
	return check(text, from, func(s *sentence, folded string) string {
		if reason := byRules(s, folded); reason != "" && !(doubtful[reason] && s.plain(folded)) {
			return reason
		}
		if s.judge(folded) {
			return Learned
		}
		return ""
	})
}

// ByRules is Check without the learned judge, which also lets pass some of what rules find.
func ByRules(text string, from memory.Trust) (reason string) { return check(text, from, byRules) }

// byRules is what the rules say of a sentence.
func byRules(s *sentence, _ string) string {
	if s.window || s.classes&signs == 0 {
		return ""
	}
	return s.check()
}

// judging tells why a sentence or a window is held back; "" if it is not.
type judging func(s *sentence, folded string) string

// check judges a text, part by part.
func check(text string, from memory.Trust, by judging) (reason string) {
	if hasPromptMarks(text) {
		return Marks
	}
	if from.Source() == memory.TrustUser {
		own, pasted := parts(text)
		for _, p := range pasted {
			if reason := checkText(p, memory.TrustExternal, by); reason != "" {
				return reason
			}
		}
		return checkText(own, memory.TrustUser, by)
	}
	return checkText(withoutMentions(text), from, by)
}

// checkText checks a text that is all from one source, and what is encoded in it.
func checkText(text string, from memory.Trust, by judging) string {
	if reason := checkPlain(text, from, by); reason != "" {
		return reason
	}
	if at := headerEnd(text); at >= 0 && from != memory.TrustUser {
		if reason := checkPlain(addressee+text[at:], from, by); reason != "" {
			return reason
		}
	}
	if from == memory.TrustUser {
		from = memory.TrustExternal // the user did not write it letter by letter
	}
	for _, hidden := range decoded(text) {
		if reason := checkPlain(hidden, from, by); reason != "" {
			return encoded + reason
		}
	}
	return ""
}

// addressee is put before the words of what passes for a message of the system.
const addressee = "\nassistant: "

// signs are classes without which no rule finds anything.
const signs = order | rule | told | model | user | customer | secret | data | private | memoryOf | self | jail | dan |
	free | become | void | ask | pretend | decipher | replies | above | commands

// checkPlain checks a text as it stands, sentence by sentence and window by window.
func checkPlain(text string, from memory.Trust, by judging) (reason string) {
	sentences(text, from, func(s *sentence, folded string) bool {
		reason = by(s, folded)
		return reason == ""
	})
	return reason
}

// addressedFor is how many sentences the address of a model reaches, its own included, and the
// naming of its instructions.
const addressedFor = 3

// sentences calls see with each sentence of a text and its folded characters, and with the
// windows of which the learned judge needs a view of their own, until see returns false.
func sentences(text string, from memory.Trust, see func(s *sentence, folded string) bool) {
	folded := fold(text)
	words := wordsOf(folded)
	addressed := 0 // counts down the sentences after one that speaks to the model
	aimed := 0     // and those after one that names the instructions of the agent
	var before sentence
	first := 0 // where before begins
	var of *passage
	if from.Source() != memory.TrustUser && len(words) > 0 {
		of = newPassage(text, folded, words, from)
	}
	for begin, end := 0, 0; begin < len(words); begin = end {
		end = begin + 1
		for end < len(words) && words[end].starts != '.' && words[end].starts != '\n' {
			end++
		}
		s := sentence{words: words[begin:end], from: from, lead: leadOf(folded, words, begin), of: of, first: begin}
		for i := range s.words {
			s.classes |= s.words[i].class
		}
		if s.addresses() {
			addressed = addressedFor
		}
		if s.namesAgent() {
			aimed = addressedFor
		}
		s.addressed, s.aimed = addressed > 0, aimed > 0
		addressed, aimed = max(0, addressed-1), max(0, aimed-1)
		stop := func(end int) int {
			if end < len(words) {
				return words[end].at
			}
			return len(folded)
		}
		if !see(&s, folded[words[begin].at:stop(end)]) {
			return
		}
		if !s.slices(func(from, to int, part *sentence) bool {
			return see(part, folded[words[begin+from].at:stop(begin+to)])
		}) {
			return
		}
		if n := len(before.words) + len(s.words); len(before.words) > 0 && n <= maxPair {
			pair := sentence{words: words[first:end], from: from, lead: before.lead, window: true,
				classes: before.classes | s.classes, addressed: before.addressed || s.addressed,
				aimed: before.aimed || s.aimed, of: of, first: first}
			if !see(&pair, folded[words[first].at:stop(end)]) {
				return
			}
		}
		before, first = s, begin
	}
}

// Bounds of windows, in words. An order of one window is seen whatever stands around it.
const (
	// maxPair is how long two sentences are at most that are seen as one.
	maxPair = 60
	// long is how long a sentence is that is seen in parts as well. A part begins with a
	// clause and has as many more as make part words, but at most slice.
	long  = 16
	part  = 8
	slice = 24
)

// slices calls see with the parts of a long sentence, until see returns false, and
// reports whether it did not.
func (s *sentence) slices(see func(from, to int, part *sentence) bool) bool {
	n := len(s.words)
	if n <= long {
		return true
	}
	clause := func(i int) bool { return s.words[i].starts != 0 && s.words[i].starts != '\'' }
	for from, next := 0, 0; from < n; from = next {
		to := from + 1
		for to < n && to-from < slice && (to-from < part || !clause(to)) {
			to++
		}
		w := sentence{words: s.words[from:to], from: s.from, addressed: s.addressed, aimed: s.aimed, window: true,
			of: s.of, first: s.first + from}
		if from == 0 {
			w.lead = s.lead
		}
		for i := range w.words {
			w.classes |= w.words[i].class
		}
		if to-from >= part/2 && !see(from, to, &w) {
			return false
		}
		for next = from + 1; next < n && !clause(next) && next < from+slice/2; next++ {
		}
	}
	return true
}

// maxLead is how many signs before a sentence are looked at.
const maxLead = 6

// leadOf are the signs that stand right before the word at i: "<!--", "> [", "//". Those that
// end the sentence before are none: an order is the same behind another sentence.
func leadOf(folded string, words []word, i int) string {
	from := max(0, words[i].at-maxLead)
	if i > 0 {
		from = max(from, words[i-1].at+len(words[i-1].text))
	}
	return strings.Trim(folded[from:words[i].at], " \t\r\n.!?。！？।…,،;:")
}
