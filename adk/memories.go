package adk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	adkmemory "google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// MemoryOptions are what NewMemoryService lets one choose.
type MemoryOptions struct {
	// TopK is how many memories a search gives at most, up to 100. Defaults to 10.
	TopK int
	// Timeout is how long a search may take. Defaults to 300 ms.
	Timeout time.Duration
	// SaveTimeout is how long SaveTurn may take, unless it waits. Defaults to 2 s.
	SaveTimeout time.Duration
	// Strict has a search that fails or is late, and SaveTurn, return the error,
	// with which ADK fails the turn. Else the agent goes on without, and Log and
	// OnError are told. What is invalid about a search is always returned, and so
	// is the end of the caller's context.
	Strict bool
	// Wait has what adds to memory return when the facts are made, or could not
	// be. Else that goes on in the background; what was said is stored, and found
	// by its words, either way.
	Wait bool
	// Log is told what is not returned. Defaults to slog.Default, as an agent
	// that forgets without a word is hard to mend.
	Log *slog.Logger
	// OnError is called with what is not returned, such as to count it. It may be
	// called by many goroutines at once.
	OnError func(error)
}

// MemoryService is ADK's memory.Service over memoryd. It may be used by many
// goroutines at once.
type MemoryService struct {
	c    *client.Client
	opts MemoryOptions
}

var _ adkmemory.Service = (*MemoryService)(nil)

// NewMemoryService remembers, and searches, in memoryd.
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

// maxQuery is how long a query may be for memoryd, in bytes. A tool of ADK asks
// with all that the user has said.
const maxQuery = 16 << 10

// SearchMemory gives what is remembered of a user that has to do with a query,
// best first, and once where a fact is what was literally said. Memories is
// never nil. An entry's CustomMetadata tells its kind
// ("fact" or "turn"), its score (0 to 1) and, where it has them, its topics, the
// sessionId it is from, and the metadata that a client gave it.
func (m *MemoryService) SearchMemory(ctx context.Context, req *adkmemory.SearchRequest) (*adkmemory.SearchResponse, error) {
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
	found, err := m.c.User(req.AppName, req.UserID).Search(within, client.Search{Query: query, TopK: min(2*m.opts.TopK, maxTopK)})
	if err != nil {
		err = fmt.Errorf("search the memories of app %q, user %q, for at most %v: %w", req.AppName, req.UserID, m.opts.Timeout, err)
		if errors.Is(err, memory.ErrInvalid) {
			return out, err
		}
		return out, m.tolerate(ctx, err)
	}
	shown := map[string]bool{}
	for _, match := range found {
		if text := match.Memory.Fact; !shown[text] && len(out.Memories) < m.opts.TopK {
			shown[text] = true
			out.Memories = append(out.Memories, entry(scope, match))
		}
	}
	return out, nil
}

// maxText is how much of one memory an agent is shown, in bytes: a turn may be a
// whole document, and several of them more than a model takes. Its id leads to
// all of it.
const maxText = 4 << 10

// maxTopK is how many memories memoryd gives at most.
const maxTopK = 100

// fence is what ADK's preloadmemorytool has around memories, which it writes
// between as they are.
var fence = regexp.MustCompile(`(?i)<(\s*/?\s*PAST_CONVERSATIONS)`)

// tolerate gives back an error that the caller is to have, and else tells of it.
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

// entry is a memory as ADK has it.
func entry(scope memory.Scope, match memory.Match) adkmemory.Entry {
	mem := &match.Memory
	role := genai.Role(genai.RoleModel)
	if mem.Kind == memory.KindFact || mem.Author == "user" || mem.Author == scope.User {
		role = genai.RoleUser
	}
	about := map[string]any{"kind": string(mem.Kind), "score": match.Score}
	if len(mem.Topics) > 0 {
		about["topics"] = mem.Topics
	}
	if mem.Source.SessionID != "" {
		about["sessionId"] = mem.Source.SessionID
	}
	if len(mem.Metadata) > 0 {
		about["metadata"] = values(mem.Metadata)
	}
	text := mem.Fact
	if len(text) > maxText {
		text = memory.Cut(text, maxText) + "…"
	}
	text = fence.ReplaceAllString(text, "&lt;$1") // no memory is to end the block that it stands in
	return adkmemory.Entry{ID: mem.ID, Content: genai.NewContentFromText(text, role), Author: mem.Author, Timestamp: mem.Timestamp, CustomMetadata: about}
}

// values is metadata as Go has JSON.
func values(metadata memory.Metadata) map[string]any {
	out := make(map[string]any, len(metadata))
	for k, raw := range metadata {
		var v any
		if json.Unmarshal(raw, &v) == nil { // as memoryd has seen to
			out[k] = v
		}
	}
	return out
}

// AddSessionToMemory has a session remembered; what of it is remembered already
// is not again, so it may be called whenever there is more. A session that is in
// the same memoryd, because NewSessionService of the same client gave it, is
// asked for by its name, and all of it counts, also what this object does not
// show; one of another service is sent.
func (m *MemoryService) AddSessionToMemory(ctx context.Context, s session.Session) error {
	if s == nil {
		return fmt.Errorf("%w: add session to memory: the session is nil", memory.ErrInvalid)
	}
	if m.has(s) {
		return m.addStored(ctx, s)
	}
	return m.AddEventsToMemory(ctx, s.AppName(), s.UserID(), s.ID(), eventsOf(s))
}

// has reports whether s is in the memoryd that m is of.
func (m *MemoryService) has(s session.Session) bool {
	ours, ok := s.(*conversation)
	return ok && ours.c == m.c
}

// addStored asks for memories of what was appended to a session.
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

// A request to memoryd has at most so many events, and so many bytes of them:
// half of the bytes that it takes by default.
const (
	maxEvents = 10_000
	maxBytes  = 16 << 20
)

// AddEventsToMemory has events remembered, in several requests if they are many,
// as part of a session, which need not be in memoryd. Events that are there
// already, by their ids, change nothing; one without an id is new each time.
// Partial events are left out.
func (m *MemoryService) AddEventsToMemory(ctx context.Context, app, user, sessionID string, events []*session.Event) error {
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

// batches gives events as they are sent, so many that a request takes them. An
// error is the last that it gives.
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
			_, event, err := toStore(ctx, ofWords(e))
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

// ofWords is an event without the bytes that are in it.
func ofWords(e *session.Event) *session.Event {
	if e.Content == nil || !slices.ContainsFunc(e.Content.Parts, hasBytes) {
		return e
	}
	out, content := *e, *e.Content
	content.Parts = slices.DeleteFunc(slices.Clone(content.Parts), hasBytes)
	out.Content = &content
	return &out
}

func hasBytes(p *genai.Part) bool { return p != nil && p.InlineData != nil }

// wait waits until an operation is done, if that is wanted.
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
