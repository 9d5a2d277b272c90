// Package injection tells text that tries to instruct an agent from text that informs
// it. It looks at what such an order is made of, in many languages: whom it addresses,
// a verb that sets something aside, gives something away or keeps something, and what
// that is about. It takes time in proportion to the length of a text.
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

// checkPlain checks a text as it stands.
func checkPlain(text string, from memory.Trust) string {
	words := wordsOf(fold(text))
	seen := class(0)
	for i := range words {
		seen |= words[i].class
	}
	if seen&signs == 0 {
		return ""
	}
	c := check{words: words, from: from}
	for from := 0; from < len(words); {
		to := from + 1
		for to < len(words) && words[to].starts != '.' && words[to].starts != '\n' {
			to++
		}
		if reason := c.sentence(from, to); reason != "" {
			return reason
		}
		from = to
	}
	return ""
}

// check is one text under check.
type check struct {
	words []word
	from  memory.Trust
	// addressed counts down the sentences after one that speaks to the model.
	addressed int
}

// addressedFor is how many sentences the address of a model reaches, its own included.
const addressedFor = 3

// sentence checks the words from one up to, not including, another.
func (c *check) sentence(from, to int) string {
	s := sentence{words: c.words[from:to], from: c.from}
	for i := range s.words {
		s.classes |= s.words[i].class
	}
	if s.addresses() {
		c.addressed = addressedFor
	}
	s.addressed = c.addressed > 0
	if c.addressed > 0 {
		c.addressed--
	}
	return s.check()
}
