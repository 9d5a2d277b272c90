package evals

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/sessionstore"
)

// OneSpeaker returns a dataset in which each person of a conversation has one of their own,
// with nothing but what that person said, as a user who talks to an assistant has.
// Questions whose evidence that person said alone keep it. Those whose evidence the other
// said are asked of this person instead, so that nothing answers them: they are the
// Unanswered, with those that had no answer before. Left out are questions with evidence
// of several, and those of the category Apart about what this person said: they ask it of
// the other, who is not there.
func OneSpeaker(d *Dataset) *Dataset {
	out := &Dataset{Name: d.Name, Categories: d.Categories, Pooled: d.Pooled}
	for i := range d.Conversations {
		c := &d.Conversations[i]
		for _, name := range c.people() {
			out.Conversations = append(out.Conversations, c.of(name, d.Apart))
		}
	}
	return out
}

// people are the authors of a conversation who are no agents, in the order in which they
// first speak.
func (c *Conversation) people() (out []string) {
	for _, s := range c.Sessions {
		for _, e := range s.Events {
			if e.Content.Role == "user" && !slices.Contains(out, e.Author) {
				out = append(out, e.Author)
			}
		}
	}
	return out
}

// of returns what one person said of a conversation, with the questions.
func (c *Conversation) of(name, apart string) Conversation {
	out := Conversation{Name: c.Name + ", " + name, Unanswered: slices.Clone(c.Unanswered)}
	for _, s := range c.Sessions {
		others := func(e sessionstore.Event) bool { return e.Author != name }
		s.Events = slices.DeleteFunc(slices.Clone(s.Events), others)
		if len(s.Events) > 0 {
			out.Sessions = append(out.Sessions, s)
		}
	}
	a, z := c.speakers()
	for _, q := range c.Questions {
		said := 0
		for _, id := range q.Evidence {
			if _, e := out.turn(id); e != nil {
				said++
			}
		}
		switch {
		case said == 0:
			text := q.Text
			if other := asOther(text, a, z); other != "" && !strings.Contains(text, name) {
				text = other
			}
			out.Unanswered = append(out.Unanswered, text)
		case said == len(q.Evidence) && q.Category != apart:
			out.Questions = append(out.Questions, q)
		}
	}
	return out
}
