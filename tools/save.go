package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	New       int    `json:"new"` // messages that were not saved before
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
	key := sessionstore.Key{Scope: scope, ID: strings.TrimSpace(args.SessionID)}
	switch {
	case key.ID == "": // the same call is the same session, as its answer may have been lost
		key.ID = savedPrefix + nameOf(events)
	case !strings.HasPrefix(key.ID, savedPrefix):
		key.ID = savedPrefix + key.ID
	}
	if err := memory.ValidateID("session", key.ID); err != nil {
		return saved{}, fmt.Errorf("args.sessionId: %w", err)
	}
	before, err := b.before(ctx, key)
	if err != nil {
		return saved{}, err
	}
	added := identify(before, events, now)
	op, err := b.ingest.Ingest(ctx, key, events, ingest.RequestOptions{})
	if err != nil {
		return saved{}, err
	}
	out := saved{Status: stored, SessionID: key.ID, New: added}
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

// savedNamespace is that of the ids of saved events; any fixed UUID would do.
var savedNamespace = uuid.MustParse("6d656d6f-7279-5d01-8000-736176656463")

// placeOf reads the place of a saved event in its conversation, from 1 on, out of its id:
// told times may order events otherwise. 0 if another writer has chosen the id.
func placeOf(id string) (place int) {
	if _, err := fmt.Sscanf(id, savedPrefix+"%d-", &place); err != nil {
		return 0
	}
	return place
}

// idAfter is the id of e behind the event of another id, "" for none. It derives from that
// id, and so from all the words before: calls that find the same conversation and save the
// same messages, be it at once, give them the same ids, and the same words later another one.
func idAfter(id string, e *sessionstore.Event) string {
	derived := uuid.NewSHA1(savedNamespace, []byte(id+"\x00"+wordsOf(e)))
	return fmt.Sprintf("%s%d-%s", savedPrefix, placeOf(id)+1, derived)
}

// wordsOf is who said e and its words. Hosts and models change line breaks and blanks when
// they relay a text.
func wordsOf(e *sessionstore.Event) string {
	return e.Content.Role + "\x00" + strings.Join(strings.Fields(e.Text()), " ")
}

func sameWords(a, b sessionstore.Event) bool { return wordsOf(&a) == wordsOf(&b) }

// nameOf is an id for a conversation that nothing but its events names.
func nameOf(events []sessionstore.Event) string {
	id := ""
	for i := range events {
		id = idAfter(id, &events[i])
	}
	return id[strings.Index(id[len(savedPrefix):], "-")+len(savedPrefix)+1:]
}

// before reads the latest events of a conversation in the order in which they were saved, so
// many as a call can repeat. None if it is new.
func (b *Toolbox) before(ctx context.Context, key sessionstore.Key) ([]sessionstore.Event, error) {
	got, err := b.ingest.Sessions().Get(ctx, key, sessionstore.Get{NumRecent: maxMessages, NoState: true})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(got.Events, func(a, b sessionstore.Event) int {
		return cmp.Compare(placeOf(a.ID), placeOf(b.ID))
	})
	return got.Events, nil
}

// saidBefore returns those events of a conversation that a call begins with: the longest end
// of the conversation, as a host sends all of it again, its last part or nothing of it. More
// than one event may be the beginning of it too, as of a call that comes again late.
func saidBefore(before, call []sessionstore.Event) []sessionstore.Event {
	for i := range before {
		n := min(len(call), len(before)-i)
		known := before[i : i+n]
		if i+n < len(before) && (i > 0 || n < 2) {
			continue
		}
		if slices.EqualFunc(known, call[:n], sameWords) {
			return known
		}
	}
	return nil
}

// identify gives the events of a call their ids and times. Those that were said before
// become the events that are stored, which a store takes once. It returns how many are new.
func identify(before, call []sessionstore.Event, now time.Time) int {
	times := timesOf(call, now)
	n := copy(call, saidBefore(before, call))
	id := ""
	switch {
	case n > 0:
		id = call[n-1].ID
	case len(before) > 0:
		id = before[len(before)-1].ID
	}
	for i := n; i < len(call); i++ {
		id = idAfter(id, &call[i])
		call[i] = call[i].Stored(func() string { return id }, times[i])
	}
	return len(call) - n
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
