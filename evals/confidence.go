package evals

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// The kinds of questions that confidence is measured on.
const (
	answered   = "answered"      // turns of the conversation answer it
	unanswered = "unanswered"    // nothing does
	swapped    = "other speaker" // answered, but asked of the other speaker: nothing does
)

// Trial is one question and how confident the search was of its first match.
type Trial struct {
	Set, Conversation, Question string
	Kind                        string
	Right                       bool // the first match cites a turn that answers
	Names                       bool // it is answered, and asked of the other speaker too
	Score                       float64
	Confidence                  float64
	Signs                       []float64 // the values, in the order of retrieve.Signs
}

// Confidence asks all questions of a bank, those that nothing answers, and those about a
// fact of one of two speakers asked of the other.
func (b *Bank) Confidence(ctx context.Context) (out []Trial, err error) {
	r := b.retriever(Everything, nil)
	for i := range b.dataset.Conversations {
		c := &b.dataset.Conversations[i]
		a, z := c.speakers()
		ask := func(kind, text string, evidence []string) error {
			found, err := r.Answer(ctx, b.dataset.scope(c), retrieve.Request{Query: text, Explain: true})
			if err != nil {
				return fmt.Errorf("%s: %q: %w", c.Name, text, err)
			}
			t := Trial{Set: b.dataset.Name, Conversation: c.Name, Question: text, Kind: kind,
				Confidence: found.Confidence,
				Names:      kind == answered && asOther(text, a, z) != ""}
			for _, s := range found.Signs {
				t.Signs = append(t.Signs, s.Value)
			}
			if len(found.Matches) == 0 {
				t.Signs = make([]float64, len(retrieve.Signs()))
			} else {
				t.Score = found.Matches[0].Score
				for _, id := range found.Matches[0].Memory.Source.EventIDs {
					t.Right = t.Right || kind == answered && slices.Contains(evidence, id)
				}
			}
			out = append(out, t)
			return nil
		}
		for _, q := range c.Questions {
			kind := answered
			if q.Category == b.dataset.Apart {
				kind = unanswered
			}
			if err := ask(kind, q.Text, q.Evidence); err != nil {
				return nil, err
			}
			if other := asOther(q.Text, a, z); kind == answered && other != "" {
				if err := ask(swapped, other, nil); err != nil {
					return nil, err
				}
			}
		}
		for _, text := range c.Unanswered {
			if err := ask(unanswered, text, nil); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// speakers are the two people who talk; "" and "" if there are not two, or one of them is
// an agent.
func (c *Conversation) speakers() (string, string) {
	for _, s := range c.Sessions {
		if slices.ContainsFunc(s.Events, func(e sessionstore.Event) bool { return e.Content.Role != "user" }) {
			return "", ""
		}
	}
	names := c.people()
	if len(names) != 2 {
		return "", ""
	}
	return names[0], names[1]
}

// asOther returns a question with the other of two names; "" if it does not have just one
// of them.
func asOther(question, a, b string) string {
	switch hasA, hasB := strings.Contains(question, a), strings.Contains(question, b); {
	case a == "" || hasA == hasB:
		return ""
	case hasA:
		return strings.ReplaceAll(question, a, b)
	default:
		return strings.ReplaceAll(question, b, a)
	}
}
