package evals

import (
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Dataset is conversations, and questions about them with the turns that answer
// them.
type Dataset struct {
	Name          string // also the app that the memories are of
	Conversations []Conversation
	Categories    []string // of questions, in the order of a report
	// Pooled names the group of all questions except those of the category Apart,
	// if there is one. A single figure is that of this group.
	Pooled string
	Apart  string
}

// Conversation is all sessions of one user, with questions about them.
type Conversation struct {
	Name      string // also the user
	Sessions  []Session
	Questions []Question
	// Unanswered are questions that no turn answers.
	Unanswered []string
	pairs      []questionPair // that Pairs asks
	// Facts are those that came with the data, each of one session; see
	// [Dataset.Extractor].
	Facts []extract.Fact
}

// Question is one search. Its evidence is the ids of the events that answer it: at
// least one, each of the conversation, none twice.
type Question struct {
	Text     string
	Category string
	Evidence []string
}

// turn finds an event in the sessions of a conversation; nil if there is none.
func (c *Conversation) turn(id string) (session string, e *sessionstore.Event) {
	for i := range c.Sessions {
		s := &c.Sessions[i]
		if at := slices.IndexFunc(s.Events, func(e sessionstore.Event) bool { return e.ID == id }); at >= 0 {
			return s.ID, &s.Events[at]
		}
	}
	return "", nil
}

// events counts the events of all conversations.
func (d *Dataset) events() (n int) {
	for _, c := range d.Conversations {
		for _, s := range c.Sessions {
			n += len(s.Events)
		}
	}
	return n
}

// sessions counts the sessions of all conversations.
func (d *Dataset) sessions() (n int) {
	for _, c := range d.Conversations {
		n += len(c.Sessions)
	}
	return n
}

// questions counts the questions of all conversations.
func (d *Dataset) questions() (n int) {
	for _, c := range d.Conversations {
		n += len(c.Questions)
	}
	return n
}

// validate reports the first mistake in the data that would make figures wrong.
func (d *Dataset) validate() error {
	seen := map[string]bool{}
	for i := range d.Conversations {
		c := &d.Conversations[i]
		if err := d.scope(c).Validate(); err != nil {
			return fmt.Errorf("conversation %q: %w", c.Name, err)
		}
		if seen[c.Name] {
			return fmt.Errorf("conversation %q is there twice", c.Name)
		}
		seen[c.Name] = true
		for _, q := range c.Questions {
			if !slices.Contains(d.Categories, q.Category) {
				return fmt.Errorf("conversation %q: question %q: no category %q", c.Name, q.Text, q.Category)
			}
			for _, id := range q.Evidence {
				if _, e := c.turn(id); e == nil {
					return fmt.Errorf("conversation %q: question %q: its evidence %q is no event", c.Name, q.Text, id)
				}
			}
		}
	}
	if d.questions() == 0 {
		return fmt.Errorf("nothing is asked that has its answer in it")
	}
	return nil
}

// scope is the scope of a conversation's memories.
func (d *Dataset) scope(c *Conversation) memory.Scope {
	return memory.Scope{App: d.Name, User: c.Name}
}
