package adk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	adkmemory "google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// MemoryOptions configure NewMemoryService. The zero value is the default.
type MemoryOptions struct {
	// TopK bounds the memories that a search returns: 1 to 100. Defaults to 10.
	TopK int
	// Shared has searches find the shared knowledge of the app too, whatever its
	// configuration says. Without it the configuration decides.
	Shared bool
	// Timeout bounds a search. Defaults to 300 ms.
	Timeout time.Duration
	// SaveTimeout bounds SaveTurn, unless Wait is set. Defaults to 2 s.
	SaveTimeout time.Duration
	// Strict makes a search and SaveTurn return their errors, with which ADK fails
	// the turn. Without it the agent goes on without memories, and Log and OnError
	// get the error. An invalid search and the end of the caller's context are
	// returned in any case.
	Strict bool
	// Wait makes the calls that add to memory wait until the facts are made or have
	// failed. Without it facts follow in the background. Either way the turns are
	// stored when the call returns, and found by their words.
	Wait bool
	// Log gets the errors that are not returned. Defaults to slog.Default, because a
	// silent failure to remember is hard to find.
	Log *slog.Logger
	// OnError is called with each error that is not returned, for example to count
	// it. It may be called by many goroutines at once.
	OnError func(error)
}

// MemoryService is ADK's memory.Service over memoryd. It may be used by many
// goroutines at once.
type MemoryService struct {
	c    *client.Client
	opts MemoryOptions
}

var _ adkmemory.Service = (*MemoryService)(nil)

// NewMemoryService returns a service that stores memories in memoryd and searches
// them there.
func NewMemoryService(c *client.Client, opts *MemoryOptions) *MemoryService {
	m := &MemoryService{c: c}
	if opts != nil {
		m.opts = *opts
	}
	m.opts.TopK = min(max(cmp.Or(m.opts.TopK, 10), 1), maxTopK)
	m.opts.SaveTimeout = cmp.Or(m.opts.SaveTimeout, 2*time.Second)
	m.opts.Timeout = cmp.Or(m.opts.Timeout, 300*time.Millisecond)
	m.opts.Log = cmp.Or(m.opts.Log, slog.Default())
	return m
}

// maxQuery is memoryd's bound on a query, in bytes. ADK's preloadmemorytool sends
// the user's whole text.
const maxQuery = 16 << 10

// SearchMemory finds the memories of a user for a query, best first. A fact and its
// turn are one entry, the text of what no longer holds begins with "(until DATE)", and
// that of what a later statement may have ended with "(may have changed)".
// No text has characters that cannot be seen, since a model reads it. Memories is
// never nil. The CustomMetadata of an entry has its kind ("fact" or "turn"), its score
// (0 to 1) and, if set, its topics, its sessionId, the metadata of the client, and
// outdated: since when it no longer holds, and by, the ids of what holds instead; or
// newer, the ids of what may have ended it. That of the app's shared knowledge has
// shared, which is true, and the document that it is from.
func (m *MemoryService) SearchMemory(
	ctx context.Context,
	req *adkmemory.SearchRequest,
) (*adkmemory.SearchResponse, error) {
	if req == nil {
		return nil, missing("search memory")
	}
	scope := memory.Scope{App: req.AppName, User: req.UserID}
	if err := scope.Validate(); err != nil {
		return nil, err
	}
	out := &adkmemory.SearchResponse{Memories: []adkmemory.Entry{}}
	query := memory.Cut(strings.TrimSpace(req.Query), maxQuery)
	if query == "" {
		return out, nil
	}
	within, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	search := client.Search{Query: query, TopK: m.opts.TopK, Lines: true}
	if m.opts.Shared {
		search.Shared = &m.opts.Shared
	}
	found, err := m.c.User(req.AppName, req.UserID).Search(within, search)
	if err != nil {
		err = fmt.Errorf("search the memories of app %q, user %q, for at most %v: %w",
			req.AppName, req.UserID, m.opts.Timeout, err)
		if errors.Is(err, memory.ErrInvalid) {
			return out, err
		}
		return out, m.tolerate(ctx, err)
	}
	for _, match := range found {
		out.Memories = append(out.Memories, entry(scope, match))
	}
	return out, nil
}

// maxText bounds the text of one entry, in bytes. A turn may be a whole document,
// and several of them more than a model reads. The id leads to the whole text.
const maxText = 4 << 10

// maxTopK is memoryd's bound on topK.
const maxTopK = 100

// tolerate returns an error if Strict is set or the caller's context has ended.
// Otherwise it passes the error to Log and OnError.
func (m *MemoryService) tolerate(ctx context.Context, err error) error {
	if m.opts.Strict || ctx.Err() != nil {
		return err
	}
	m.opts.Log.WarnContext(ctx, "the agent goes on without memory", "err", err)
	if m.opts.OnError != nil {
		m.opts.OnError(err)
	}
	return nil
}

// entry converts a memory into ADK's type.
func entry(scope memory.Scope, match memory.Match) adkmemory.Entry {
	mem := &match.Memory
	role := genai.Role(genai.RoleModel)
	if mem.Kind.Statement() && !mem.Shared || mem.Author == "user" || mem.Author == scope.User {
		role = genai.RoleUser
	}
	about := map[string]any{"kind": string(mem.Kind), "score": match.Score}
	if mem.Shared {
		about["shared"] = true
	}
	if p := mem.Source.Passage; p != nil {
		about["document"] = map[string]any{"id": legible.Line(p.Document), "title": legible.Line(p.Title),
			"uri": legible.Line(p.URI), "headings": shown(p.Headings), "passage": p.Number}
	}
	if p := mem.Profile; p != nil {
		about["schemaId"], about["field"] = legible.Line(p.SchemaID), legible.Line(p.Field)
		about["value"] = values(memory.Metadata{"value": p.Value})["value"]
	}
	if len(mem.Topics) > 0 {
		about["topics"] = shown(mem.Topics)
	}
	if mem.Source.SessionID != "" && !mem.Shared {
		about["sessionId"] = legible.Line(mem.Source.SessionID)
	}
	if len(mem.Metadata) > 0 {
		about["metadata"] = values(mem.Metadata)
	}
	if match.Outdated != nil {
		about["outdated"] = map[string]any{"since": match.Outdated.Since, "by": match.Outdated.By}
	}
	if len(match.Newer) > 0 {
		about["newer"] = match.Newer
	}
	text := match.Line
	if len(text) > maxText {
		text = memory.Cut(text, maxText) + "…"
	}
	// ADK's preloadmemorytool writes memories between the tags of a block and does
	// not escape them. A memory must not end the block it is in, nor begin an entry of it,
	// which is a line "author: text".
	text = strings.ReplaceAll(legible.EscapeTags(text), "\n", "\n  ")
	return adkmemory.Entry{
		ID:             mem.ID,
		Content:        genai.NewContentFromText(text, role),
		Author:         legible.EscapeTags(legible.Line(mem.Author)),
		Timestamp:      mem.Local(mem.Timestamp),
		CustomMetadata: about,
	}
}

// values decodes metadata.
func values(metadata memory.Metadata) map[string]any {
	out := make(map[string]any, len(metadata))
	for k, raw := range metadata {
		var v any
		if json.Unmarshal(raw, &v) == nil { // memoryd stores valid JSON only
			out[legible.Line(k)] = shown(v)
		}
	}
	return out
}

// shown returns a value with its texts as a model may see them.
func shown(v any) any {
	switch v := v.(type) {
	case string:
		return legible.Text(v)
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = legible.Line(v[i])
		}
		return out
	case []any:
		for i := range v {
			v[i] = shown(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[legible.Line(name)] = shown(value)
		}
		return out
	}
	return v
}

// AddSessionToMemory adds a session to memory. Events that were added before are
// skipped, so it may be called again when the session has grown. If the session
// comes from NewSessionService of the same client, memoryd has it already: all its
// stored events are added, also those that this object does not show. The events
// of any other session are sent.
func (m *MemoryService) AddSessionToMemory(ctx context.Context, s session.Session) error {
	if s == nil {
		return fmt.Errorf("%w: add session to memory: the session is nil", memory.ErrInvalid)
	}
	if m.has(s) {
		return m.addStored(ctx, s)
	}
	return m.AddEventsToMemory(ctx, s.AppName(), s.UserID(), s.ID(), eventsOf(s))
}

// has reports whether s is stored in the memoryd of m.
func (m *MemoryService) has(s session.Session) bool {
	stored, ok := s.(*conversation)
	return ok && stored.c == m.c
}

// addStored makes memories of the new events of a stored session.
func (m *MemoryService) addStored(ctx context.Context, s session.Session) error {
	op, err := m.c.User(s.AppName(), s.UserID()).AddSession(ctx, s.ID(), m.opts.Wait)
	if err != nil {
		return err
	}
	return m.wait(ctx, op)
}

func eventsOf(s session.Session) []*session.Event {
	all := s.Events()
	if all == nil {
		return nil
	}
	return slices.Collect(all.All())
}

// Bounds on one request to memoryd: events, and bytes of events. memoryd accepts
// twice as many bytes by default.
const (
	maxEvents = 10_000
	maxBytes  = 16 << 20
)

// AddEventsToMemory adds events to memory as part of a session, which need not be
// stored in memoryd. Many events go in several requests. An event whose id memoryd
// has changes nothing; an event without an id is new each time. Partial events and
// inline bytes are left out.
func (m *MemoryService) AddEventsToMemory(
	ctx context.Context,
	app, user, sessionID string,
	events []*session.Event,
) error {
	if err := (sessionstore.Key{Scope: memory.Scope{App: app, User: user}, ID: sessionID}).Validate(); err != nil {
		return err
	}
	for batch, err := range batches(ctx, events) {
		if err != nil {
			return err
		}
		op, err := m.c.User(app, user).Ingest(ctx, sessionID, batch, m.opts.Wait)
		if err != nil {
			return err
		}
		if err := m.wait(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// batches yields the events in batches that fit a request. An error ends the
// sequence.
func batches(ctx context.Context, events []*session.Event) iter.Seq2[[]client.Event, error] {
	return func(yield func([]client.Event, error) bool) {
		var batch []client.Event
		size := 0
		for i, e := range events {
			if e == nil {
				yield(nil, fmt.Errorf("%w: add events to memory: events[%d] is nil", memory.ErrInvalid, i))
				return
			}
			if e.Partial {
				continue
			}
			_, event, err := toStore(ctx, withoutBytes(e))
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == maxEvents || len(batch) > 0 && size+len(event.Doc) > maxBytes {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, 0
			}
			batch, size = append(batch, event), size+len(event.Doc)
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// withoutBytes returns an event without its parts of inline bytes.
func withoutBytes(e *session.Event) *session.Event {
	if e.Content == nil || !slices.ContainsFunc(e.Content.Parts, hasBytes) {
		return e
	}
	out, content := *e, *e.Content
	content.Parts = slices.DeleteFunc(slices.Clone(content.Parts), hasBytes)
	out.Content = &content
	return &out
}

func hasBytes(p *genai.Part) bool { return p != nil && p.InlineData != nil }

// wait waits until an operation is done if Wait is set.
func (m *MemoryService) wait(ctx context.Context, op *client.Operation) error {
	if !m.opts.Wait {
		return nil
	}
	if !op.Done {
		for later, err := range m.c.Follow(ctx, op.ID) {
			if err != nil {
				return err
			}
			op = later
		}
	}
	if op.Error != nil {
		return fmt.Errorf("make the memories of session %q: %w", op.Metadata.SessionID, op.Error)
	}
	return nil
}
