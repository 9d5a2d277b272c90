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
	if hasPromptMarks(text) {
		return Marks
	}
	if from.Source() == memory.TrustUser {
		own, pasted := parts(text)
		for _, p := range pasted {
			if reason := checkText(p, memory.TrustExternal); reason != "" {
				return reason
			}
		}
		return checkText(own, memory.TrustUser)
	}
	return checkText(text, from)
}

// checkText checks a text that is all from one source, and what is encoded in it.
func checkText(text string, from memory.Trust) string {
	if reason := checkPlain(text, from); reason != "" {
		return reason
	}
	if at := headerEnd(text); at >= 0 && from != memory.TrustUser {
		if reason := checkPlain(addressee+text[at:], from); reason != "" {
			return reason
		}
	}
	if from == memory.TrustUser {
		from = memory.TrustExternal // the user did not write it letter by letter
	}
	for _, hidden := range decoded(text) {
		if reason := checkPlain(hidden, from); reason != "" {
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

// checkPlain checks a text as it stands: sentence by sentence, by the rules and then by
// the learned judge.
func checkPlain(text string, from memory.Trust) string {
	reason := ""
	sentences(text, from, func(s *sentence, folded string) bool {
		if s.classes&signs != 0 {
			reason = s.check()
		}
		if reason == "" && s.judge(folded) {
			reason = Learned
		}
		return reason == ""
	})
	return reason
}

// addressedFor is how many sentences the address of a model reaches, its own included.
const addressedFor = 3

// sentences calls see with each sentence of a text and its folded characters, until see
// returns false.
func sentences(text string, from memory.Trust, see func(s *sentence, folded string) bool) {
	folded := fold(text)
	words := wordsOf(folded)
	addressed := 0 // counts down the sentences after one that speaks to the model
	for begin, end := 0, 0; begin < len(words); begin = end {
		end = begin + 1
		for end < len(words) && words[end].starts != '.' && words[end].starts != '\n' {
			end++
		}
		s := sentence{words: words[begin:end], from: from}
		for i := range s.words {
			s.classes |= s.words[i].class
		}
		if s.addresses() {
			addressed = addressedFor
		}
		s.addressed = addressed > 0
		addressed = max(0, addressed-1)
		stop := len(folded)
		if end < len(words) {
			stop = words[end].at
		}
		if !see(&s, folded[words[begin].at:stop]) {
			return
		}
	}
}
