package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// SaveConversation is the name of the tool that saves what a host and its user have said.
const SaveConversation = "save_conversation"

// speaker is who said a message, in the words of chat APIs.
type speaker string

// The speakers.
const (
	speakerUser      speaker = "user"
	speakerAssistant speaker = "assistant"
)

// saidMessage is a message of a conversation.
type saidMessage struct {
	Role      speaker `json:"role"`
	Text      string  `json:"text"`
	Author    string  `json:"author,omitzero"`
	Timestamp string  `json:"timestamp,omitzero"`
}

type saveArgs struct {
	Messages  []saidMessage `json:"messages"`
	SessionID string        `json:"sessionId,omitzero"`
}

type saved struct {
	Status    string `json:"status"` // stored, or held if a person has to review some of it
	SessionID string `json:"sessionId"`
}

// maxMessages bounds the messages of one call. A model writes each of them, so a longer list
// is not one that it means.
const maxMessages = 1000

// savedPrefix begins the ids of all sessions that the tool writes. A model relays the words,
// so it never writes into a session that code has made, which may be what an agent reads next.
const savedPrefix = "saved-"

// saveConversation is for hosts, which keep their conversations to themselves. An
// application that calls functions saves the turns itself, and a model that saved them too
// would double them.
var saveConversation = declare(Tool{
	Name:       SaveConversation,
	ForHosts:   true,
	Idempotent: true,
}, func(ctx context.Context, b *Toolbox, scope memory.Scope, args saveArgs) (saved, error) {
	if n := len(args.Messages); n == 0 || n > maxMessages {
		return saved{}, invalid("args.messages: want 1 to %d of them, not %d: save a longer conversation in several"+
			" calls with the same sessionId", maxMessages, n)
	}
	events, now := make([]sessionstore.Event, len(args.Messages)), time.Now()
	for i, m := range args.Messages {
		var err error
		if events[i], err = m.event(now); err != nil {
			return saved{}, fmt.Errorf("args.messages[%d]: %w", i, err)
		}
	}
	// Before ids are made of the words: one that derives from a secret would confirm a guess.
	events, err := b.ingest.Redactor().Events(ctx, scope.App, events)
	if err != nil {
		return saved{}, err
	}
	all := identify(events, now)
	key := sessionstore.Key{Scope: scope, ID: strings.TrimSpace(args.SessionID)}
	switch {
	case key.ID == "": // the same call is the same session, as its answer may have been lost
		key.ID = savedPrefix + all
	case !strings.HasPrefix(key.ID, savedPrefix):
		key.ID = savedPrefix + key.ID
	}
	if err := memory.ValidateID("session", key.ID); err != nil {
		return saved{}, fmt.Errorf("args.sessionId: %w", err)
	}
	op, err := b.ingest.Ingest(ctx, key, events, ingest.RequestOptions{})
	if err != nil {
		return saved{}, err
	}
	out := saved{Status: stored, SessionID: key.ID}
	if op.Quarantined {
		out.Status = held
	}
	return out, nil
})

// maxAhead is how far the clock of a host may be ahead. Models make times up, and a fact of
// the future would be hidden until then.
const maxAhead = 24 * time.Hour

// event makes an event without an id. It has the time that the message names, if it does.
func (m *saidMessage) event(now time.Time) (e sessionstore.Event, err error) {
	role := map[speaker]string{speakerUser: "user", speakerAssistant: "model"}[m.Role]
	switch {
	case role == "":
		return e, invalid("role: want %s or %s, not %.40q: leave out messages of the system and of tools",
			speakerUser, speakerAssistant, m.Role)
	case strings.TrimSpace(m.Text) == "":
		return e, invalid("text is empty")
	}
	doc := map[string]any{
		"author":  m.Author,
		"content": map[string]any{"role": role, "parts": []any{map[string]any{"text": m.Text}}},
		// It tells those who read the session that a model has relayed the words.
		"customMetadata": map[string]any{"savedBy": SaveConversation},
	}
	if strings.TrimSpace(m.Author) == "" {
		doc["author"] = string(m.Role)
	}
	if m.Timestamp != "" {
		doc["timestamp"] = m.Timestamp
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return e, err
	}
	if e, err = sessionstore.ParseEvent(raw); err == nil && e.Timestamp.After(now.Add(maxAhead)) {
		err = invalid("timestamp: %.60q is in the future: leave it out if the time is not known", m.Timestamp)
	}
	return e, err
}

// savedNamespace is that of the ids that identify derives; any fixed UUID would do.
var savedNamespace = uuid.MustParse("6d656d6f-7279-5d01-8000-736176656463")

// identify gives each event an id and, if it has none, a time, and returns an id for all of
// them together. The id of an event derives from who said it, its words, and how often they
// came before among these events: so a conversation that is saved again with more messages
// adds those alone, wherever it begins, and whatever times are told with it.
func identify(events []sessionstore.Event, now time.Time) (all string) {
	times := timesOf(events, now)
	said := map[string]int{}
	var ids strings.Builder
	for i := range events {
		e := &events[i]
		// Hosts and models change line breaks and blanks when they relay a text.
		words := e.Content.Role + "\x00" + strings.Join(strings.Fields(e.Text()), " ")
		id := uuid.NewSHA1(savedNamespace, fmt.Appendf(nil, "%s\x00%d", words, said[words])).String()
		said[words]++
		ids.WriteString(id)
		events[i] = e.Stored(func() string { return id }, times[i])
	}
	return uuid.NewSHA1(savedNamespace, []byte(ids.String())).String()
}

// timesOf returns a time for each event that has none, so that they stay in order: a
// microsecond after the one before or, of those at the beginning, before the first one that
// has a time. Without any the last one was said now.
func timesOf(events []sessionstore.Event, now time.Time) []time.Time {
	first := len(events) - 1 // that has a time, or else the last one
	for i := range events {
		if !events[i].Timestamp.IsZero() {
			first, now = i, events[i].Timestamp
			break
		}
	}
	out := make([]time.Time, len(events))
	for i := range events {
		switch at := events[i].Timestamp; {
		case i <= first:
			out[i] = now.Add(time.Duration(i-first) * time.Microsecond)
		case at.IsZero():
			out[i] = out[i-1].Add(time.Microsecond)
		default:
			out[i] = at
		}
	}
	return out
}
