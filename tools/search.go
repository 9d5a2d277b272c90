package tools

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// Entry is a memory as ADK has it, a MemoryEntry.
type Entry struct {
	ID             string          `json:"id"`
	Content        Content         `json:"content"`
	Author         string          `json:"author,omitzero"`
	Timestamp      string          `json:"timestamp"`
	CustomMetadata memory.Metadata `json:"customMetadata,omitempty"`
}

// Content is words as a model's API has them.
type Content struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one text of a Content.
type Part struct {
	Text string `json:"text"`
}

// maxText is how many tokens of one memory a model is shown: a turn may be a whole
// document, and ten of them more than a model takes.
const maxText = 1000

// entriesOf gives what was found as ADK has it. ADK's own user is "user"; what
// nobody is named for was stated about the user.
func entriesOf(scope memory.Scope, query string, found []memory.Match) []Entry {
	out := make([]Entry, len(found))
	for i := range found {
		m := &found[i].Memory
		role := "model"
		if m.Kind == memory.KindFact || m.Author == "user" || m.Author == scope.User {
			role = "user"
		}
		out[i] = Entry{
			ID:             m.ID,
			Content:        Content{role, []Part{{retrieve.Passage(query, m.Fact, maxText)}}},
			Author:         m.Author,
			Timestamp:      sessionstore.FormatTime(m.Timestamp),
			CustomMetadata: m.Metadata,
		}
	}
	return out
}

// LoadMemory is the name of ADK's tool that searches memory.
const LoadMemory = "load_memory"

type loadArgs struct {
	Query string `json:"query"`
}

type loaded struct {
	Memories []Entry `json:"memories"`
}

var loadMemory = declare(Tool{
	Name: LoadMemory,
	Description: "Looks up what is remembered of this user from earlier conversations. Call it before you answer whatever may depend on what was said before: " +
		"the user's life, preferences and plans, people they named, what was agreed. Ask one thing at a time, in full words; if nothing fits, ask once more in other words. " +
		"Gives memories, best first: statements about the user and literal turns of past conversations, each with its author and time. " +
		"Of a long text the passage that fits best is given. What is not among them is not known: do not make it up.",
	Instruction: "You remember earlier conversations with this user. When an answer may depend on them, call load_memory with a query first; do not claim that you cannot remember before you have looked.",
	ReadOnly:    true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args loadArgs) (loaded, error) {
	found, err := b.retriever.Search(ctx, scope, retrieve.Request{Query: args.Query, TopK: 2 * retrieve.DefaultTopK})
	return loaded{entriesOf(scope, args.Query, distinct(found, retrieve.DefaultTopK))}, err
})

// distinct are the first n of what was found that do not say the very same: a
// fact is often what was literally said.
func distinct(found []memory.Match, n int) []memory.Match {
	shown := map[string]bool{}
	found = slices.DeleteFunc(found, func(m memory.Match) bool {
		again := shown[m.Memory.Fact]
		shown[m.Memory.Fact] = true
		return again
	})
	return found[:min(n, len(found))]
}

type searchArgs struct {
	Query string        `json:"query"`
	TopK  *count        `json:"topK,omitzero"`
	Kinds []memory.Kind `json:"kinds,omitzero"`
	Since string        `json:"since,omitzero"`
	Until string        `json:"until,omitzero"`
}

type foundMemory struct {
	ID        string      `json:"id"`
	Kind      memory.Kind `json:"kind"`
	Fact      string      `json:"fact"`
	Author    string      `json:"author,omitzero"`
	Timestamp string      `json:"timestamp"`
	Score     float64     `json:"score"`
	Topics    []string    `json:"topics,omitempty"`
	SessionID string      `json:"sessionId,omitzero"`
}

type searched struct {
	Memories []foundMemory `json:"memories"`
}

var searchMemory = declare(Tool{
	Name: "search_memory",
	Description: "Searches what is remembered of this user, with more choice than load_memory: how many memories, of which kind, and from which time. " +
		"Use it for questions about a time (last May, since the move), to go through many memories, or to find the id of one that forget is to delete. " +
		"Gives memories, best first, each with its id, kind, text, author, time and a score from 0 to 1.",
	ReadOnly: true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args searchArgs) (searched, error) {
	req, err := args.request()
	if err != nil {
		return searched{}, err
	}
	found, err := b.retriever.Search(ctx, scope, req)
	out := searched{make([]foundMemory, len(found))}
	for i := range found {
		m := &found[i].Memory
		out.Memories[i] = foundMemory{
			ID:        m.ID,
			Kind:      m.Kind,
			Fact:      retrieve.Passage(args.Query, m.Fact, maxText),
			Author:    m.Author,
			Timestamp: sessionstore.FormatTime(m.Timestamp),
			Score:     math.Round(found[i].Score*1000) / 1000,
			Topics:    m.Topics,
			SessionID: m.Source.SessionID,
		}
	}
	return out, err
})

func (a *searchArgs) request() (req retrieve.Request, err error) {
	req = retrieve.Request{Query: a.Query, Filter: memory.Filter{Kinds: a.Kinds}}
	if a.TopK != nil {
		if req.TopK = int(*a.TopK); req.TopK < 1 || req.TopK > retrieve.MaxTopK {
			return req, invalid("args.topK: want 1 to %d, not %d", retrieve.MaxTopK, req.TopK)
		}
	}
	if req.Filter.Since, err = readTime("args.since", a.Since, 0); err != nil {
		return req, err
	}
	req.Filter.Until, err = readTime("args.until", a.Until, 24*time.Hour-time.Microsecond)
	return req, err
}

// readTime reads a time, or a day in UTC and how far into it; "" is none.
func readTime(field, text string, into time.Duration) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err == nil {
		t = t.Add(into)
	} else if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return t, invalid("%s: want a day such as 2024-05-08 or a time such as 2024-05-08T13:56:00Z, not %.60q", field, text)
	}
	t = sessionstore.Micros(t)
	return t, memory.ValidateTime(field, t)
}
