package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

// Entry is a memory in the shape of ADK's MemoryEntry.
type Entry struct {
	ID             string           `json:"id"`
	Content        Content          `json:"content"`
	Author         string           `json:"author,omitzero"`
	Timestamp      string           `json:"timestamp"`
	UTCOffset      memory.UTCOffset `json:"utcOffset,omitzero"`
	CustomMetadata memory.Metadata  `json:"customMetadata,omitempty"`
	Shared         bool             `json:"shared,omitzero"` // it is knowledge for all users of the app
}

// Content is text in the shape of the Gemini API.
type Content struct {
	Role  string `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one text of a Content.
type Part struct {
	Text string `json:"text"`
}

// maxText is how many tokens of one memory a model sees: a turn may be a whole
// document, and ten of them more than a model takes.
const maxText = 1000

// entriesOf returns matches in ADK's shape. The role of a fact is that of the user,
// whom it is about, and so is that of a turn of the user, whom ADK names "user".
func entriesOf(scope memory.Scope, query string, found []memory.Match) []Entry {
	out := make([]Entry, len(found))
	for i := range found {
		m := &found[i].Memory
		role := "model"
		if m.Kind.Statement() && !m.IsShared() || m.Author == "user" || m.Author == scope.User {
			role = "user"
		}
		out[i] = Entry{
			ID:             m.ID,
			Content:        Content{role, []Part{{cmp.Or(found[i].Line, retrieve.Shown(query, &found[i], maxText))}}},
			Author:         legible.EscapeTags(legible.Line(m.Author)),
			Timestamp:      sessionstore.FormatTime(m.Timestamp),
			UTCOffset:      m.UTCOffset,
			CustomMetadata: shownMetadata(m.Metadata),
			Shared:         m.IsShared(),
		}
	}
	return out
}

// shownMetadata returns metadata with its texts as a model may see them.
func shownMetadata(metadata memory.Metadata) memory.Metadata {
	if len(metadata) == 0 {
		return nil
	}
	out := memory.Metadata{}
	for name, value := range metadata {
		if raw, err := shown(value); err == nil { // stores keep valid JSON only
			out[legible.Line(name)] = raw
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
	Name:     LoadMemory,
	ReadOnly: true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args loadArgs) (loaded, error) {
	request := b.byDefault(ctx, scope, retrieve.Request{Query: args.Query, Lines: true})
	found, err := b.retriever.Search(ctx, scope, request)
	return loaded{entriesOf(scope, args.Query, found)}, err
})

// byDefault gives a request what the configuration of the app says of requests that do
// not say it themselves.
func (b *Toolbox) byDefault(ctx context.Context, scope memory.Scope, r retrieve.Request) retrieve.Request {
	config := b.ingest.Configs().Known(ctx, scope.App)
	r.TopK, r.MinScore = cmp.Or(r.TopK, config.Search.TopK), cmp.Or(r.MinScore, config.Search.MinScore)
	r.MinConfidence = cmp.Or(r.MinConfidence, config.Search.MinConfidence)
	r.Zone = cmp.Or(r.Zone, config.Zone())
	r.Shared = config.Search.Shared
	return r
}

type searchArgs struct {
	Query string        `json:"query"`
	TopK  *count        `json:"topK,omitzero"`
	Kinds []memory.Kind `json:"kinds,omitzero"`
	Since string        `json:"since,omitzero"`
	Until string        `json:"until,omitzero"`
}

type foundMemory struct {
	ID        string           `json:"id"`
	Kind      memory.Kind      `json:"kind"`
	Fact      string           `json:"fact"`
	Author    string           `json:"author,omitzero"`
	Timestamp string           `json:"timestamp"`
	UTCOffset memory.UTCOffset `json:"utcOffset,omitzero"`
	Score     float64          `json:"score"`
	Topics    []string         `json:"topics,omitempty"`
	SessionID string           `json:"sessionId,omitzero"`
	Outdated  *outdated        `json:"outdated,omitzero"`
	Newer     []string         `json:"newer,omitempty"`
	Shared    bool             `json:"shared,omitzero"`
	Source    string           `json:"source,omitzero"` // of shared knowledge: the document and the place in it
}

// outdated says until when a memory held, and which memories hold instead.
type outdated struct {
	Since string   `json:"since"`
	By    []string `json:"by"`
}

type searched struct {
	Memories   []foundMemory `json:"memories"`
	Confidence float64       `json:"confidence"`
}

var searchMemory = declare(Tool{
	Name:     "search_memory",
	ReadOnly: true, Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args searchArgs) (searched, error) {
	known := b.byDefault(ctx, scope, retrieve.Request{})
	req, err := args.request(cmp.Or(known.Zone, b.retriever.Zone()))
	if err != nil {
		return searched{}, err
	}
	req.Lines, req.MinScore, req.Zone, req.TopK = true, known.MinScore, known.Zone, cmp.Or(req.TopK, known.TopK)
	req.Shared = known.Shared
	req.MinConfidence = known.MinConfidence
	answer, err := b.retriever.Answer(ctx, scope, req)
	found := answer.Matches
	out := searched{make([]foundMemory, len(found)), answer.Confidence}
	for i := range found {
		m := &found[i].Memory
		out.Memories[i] = foundMemory{
			ID:        m.ID,
			Kind:      m.Kind,
			Fact:      found[i].Line,
			Author:    legible.EscapeTags(legible.Line(m.Author)),
			Timestamp: sessionstore.FormatTime(m.Timestamp),
			UTCOffset: m.UTCOffset,
			Score:     math.Round(found[i].Score*1000) / 1000,
			Topics:    m.Topics,
			SessionID: m.Source.SessionID,
			Outdated:  outdatedOf(&found[i]),
			Newer:     found[i].Newer,
			Shared:    m.IsShared(),
			Source:    retrieve.SharedSource(m),
		}
	}
	return out, err
})

func outdatedOf(m *memory.Match) *outdated {
	if m.Outdated == nil {
		return nil
	}
	return &outdated{sessionstore.FormatTime(m.Outdated.Since), m.Outdated.By}
}

func (a *searchArgs) request(zone *time.Location) (req retrieve.Request, err error) {
	req = retrieve.Request{Query: a.Query, Filter: memory.Filter{Kinds: slices.Clone(a.Kinds)}}
	if slices.Contains(a.Kinds, memory.KindFact) { // to a model the value of a profile is a fact too
		req.Filter.Kinds = append(req.Filter.Kinds, memory.KindProfile)
	}
	if a.TopK != nil {
		if req.TopK = int(*a.TopK); req.TopK < 1 || req.TopK > retrieve.MaxTopK {
			return req, invalid("args.topK: want 1 to %d, not %d", retrieve.MaxTopK, req.TopK)
		}
	}
	if req.Filter.Since, err = readTime("args.since", a.Since, zone, false); err != nil {
		return req, err
	}
	req.Filter.Until, err = readTime("args.until", a.Until, zone, true)
	return req, err
}

// readTime reads a time, or the beginning of a day in a zone, or its end; "" is the zero
// time.
func readTime(field, text string, zone *time.Location, end bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, text, zone)
	switch {
	case err != nil:
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			const want = "a day such as 2024-05-08 or a time such as 2024-05-08T13:56:00Z"
			return t, invalid("%s: want %s, not %.60q", field, want, text)
		}
	case end:
		t = t.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	t = sessionstore.Micros(t)
	return t, memory.ValidateTime(field, t)
}
