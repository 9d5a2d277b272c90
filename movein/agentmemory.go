package movein

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The server has no export. What people save are answers of its API:
//
//	GET /v1/working-memory/ID         one object: session_id, user_id, namespace, messages,
//	                                  memories, data, context, created_at, updated_at
//	POST /v1/long-term-memory/search  {"memories": […], "total": …, "next_offset": …}
//	GET /v1/long-term-memory/ID       one memory: id, text, user_id, namespace, session_id,
//	                                  memory_type, topics, entities, event_date, created_at, …
//
// A namespace keeps the data of applications apart, which is what an app does here.
// context is the summary of messages that the server has dropped from the session.

// amsItem is an answer of agent-memory-server: the working memory of a session, a page of
// memories, or one memory.
type amsItem struct {
	Session   string                     `json:"session_id"`
	User      string                     `json:"user_id"`
	Namespace string                     `json:"namespace"`
	Messages  []json.RawMessage          `json:"messages"`
	Memories  []json.RawMessage          `json:"memories"`
	Data      map[string]json.RawMessage `json:"data"`
	Context   string                     `json:"context"`
	Created   json.RawMessage            `json:"created_at"`
	Updated   json.RawMessage            `json:"updated_at"`
	Text      *string                    `json:"text"`
}

// amsMessage is a message of a working memory.
type amsMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Created json.RawMessage `json:"created_at"`
}

// amsMemory is a long-term memory.
type amsMemory struct {
	ID        string                     `json:"id"`
	Text      string                     `json:"text"`
	Session   string                     `json:"session_id"`
	User      string                     `json:"user_id"`
	Namespace string                     `json:"namespace"`
	Created   json.RawMessage            `json:"created_at"`
	Updated   json.RawMessage            `json:"updated_at"`
	Event     json.RawMessage            `json:"event_date"`
	Topics    []string                   `json:"topics"`
	Type      string                     `json:"memory_type"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	// These become metadata.
	Entities  json.RawMessage `json:"entities"`
	From      json.RawMessage `json:"extracted_from"`
	Pinned    bool            `json:"pinned"`
	place     string
	createdAt time.Time
}

// amsReader takes the items of agent-memory-server. A message of a session can be in its
// working memory, and beside it as a memory of its own that outlives it. So a first pass
// collects those memories, and a second one takes the sessions.
type amsReader struct {
	*sink
	copies map[sessionstore.Key][]amsMemory
	size   int // of the texts in copies
}

// maxCopies is how many bytes of messages wait for the working memory of their session.
const maxCopies = 256 << 20

// readAgentMemory reads answers of the API: GET /v1/working-memory/ID and POST
// /v1/long-term-memory/search, one after another or in a list.
func readAgentMemory(_ context.Context, s *sink, files []string) error {
	r := &amsReader{sink: s, copies: map[sessionstore.Key][]amsMemory{}}
	// A bar that ran twice to its end would promise too much after the first time.
	progress := s.opts.Progress
	s.opts.Progress = nil // the second pass tells of it
	if err := r.each(files, r.collect); err != nil {
		return err
	}
	s.opts.Progress = progress
	if err := r.each(files, r.take); err != nil {
		return err
	}
	// What is left are sessions whose working memory has expired, or is in no file. Their
	// order is the same each time, so that the archive is.
	keys := slices.SortedFunc(maps.Keys(r.copies), func(a, b sessionstore.Key) int {
		return strings.Compare(a.App+"\x00"+a.User+"\x00"+a.ID, b.App+"\x00"+b.User+"\x00"+b.ID)
	})
	for _, key := range keys {
		c := r.begin(r.copies[key][0].place, key, about{})
		if err := r.rest(c); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with each item of the files. it is nil for one of another form.
func (r *amsReader) each(files []string, do func(string, *amsItem, json.RawMessage) error) error {
	for _, file := range files {
		f, text, _, err := r.open(file, 0)
		if err != nil {
			return err
		}
		err = newStream(text).each(nil, func(i item) error {
			it := &amsItem{}
			if object(i.raw, it) != nil {
				it = nil
			}
			return do(file+": "+i.place(), it, i.raw)
		}, nil)
		if err != nil {
			err = in(file, "", err)
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// memories calls do with each memory of an item. A memory of a working memory that names no
// user or namespace is of those of its session.
func (r *amsReader) memories(place string, it *amsItem, raw json.RawMessage,
	do func(string, *amsItem, json.RawMessage) error) error {
	if it.Text != nil {
		return do(place, it, raw)
	}
	for i, raw := range it.Memories {
		if err := do(fmt.Sprintf("%s.memories[%d]", place, i), it, raw); err != nil {
			return err
		}
	}
	return nil
}

// collect keeps the memories that are messages.
func (r *amsReader) collect(place string, it *amsItem, raw json.RawMessage) error {
	if it == nil {
		return nil // the second pass tells of it
	}
	return r.memories(place, it, raw, func(place string, of *amsItem, raw json.RawMessage) error {
		var m amsMemory
		if object(raw, &m) != nil || m.Type != "message" || m.Session == "" {
			return nil
		}
		// The time is read now, as the message must not wait if it cannot be taken.
		var err error
		if m.createdAt, err = readTime("created_at", m.Created, r.opts.Zone); err != nil || m.createdAt.IsZero() {
			r.report.leave(badEvent, place, "it has no good created_at")
			return nil
		}
		if r.size += len(m.Text) + len(place); r.size > maxCopies {
			return fmt.Errorf("%w: %s: memories of the type message have more than %d MiB:"+
				" import fewer files at a time", memory.ErrInvalid, place, maxCopies>>20)
		}
		m.place = place
		owner := r.scope(cmp.Or(m.Namespace, of.Namespace), cmp.Or(m.User, of.User))
		key := sessionstore.Key{Scope: owner, ID: m.Session}
		r.copies[key] = append(r.copies[key], m)
		return nil
	})
}

// take takes an item.
func (r *amsReader) take(place string, it *amsItem, raw json.RawMessage) error {
	if it == nil || it.Text == nil && it.Memories == nil && it.Session == "" {
		r.report.leave(badItem, place, fmt.Sprintf("it begins %.60q", raw))
		return nil
	}
	if it.Session != "" && it.Text == nil {
		if err := r.session(place, it); err != nil {
			return err
		}
	}
	return r.memories(place, it, raw, r.memory)
}

// session takes the working memory of a session. Its data and the summary of messages that
// it no longer has become state.
func (r *amsReader) session(place string, it *amsItem) error {
	of := about{state: sessionstore.State{}}
	for name, raw := range it.Data {
		of.state[name] = raw
	}
	if it.Context != "" {
		raw, err := json.Marshal(it.Context)
		if err != nil {
			return err
		}
		of.state["context"] = raw
	}
	of.created, _ = readTime("created_at", it.Created, r.opts.Zone)
	of.updated, _ = readTime("updated_at", it.Updated, r.opts.Zone)
	key := sessionstore.Key{Scope: r.scope(it.Namespace, it.User), ID: it.Session}
	c := r.begin(place, key, of)
	for i, raw := range it.Messages {
		place := fmt.Sprintf("%s.messages[%d]", place, i)
		var m amsMessage
		if err := object(raw, &m); err != nil {
			r.report.leave(badEvent, place, err.Error())
			continue
		}
		at, err := readTime("created_at", m.Created, r.opts.Zone)
		if err == nil && at.IsZero() {
			at = of.updated
		}
		if err != nil || at.IsZero() {
			r.report.leave(badEvent, place, "it has no good created_at")
			continue
		}
		if err := c.message(place, speech(m.ID, m.Role, "", m.Content, at)); err != nil {
			return err
		}
	}
	return r.rest(c)
}

// rest adds the messages that a session has as memories alone, and ends it.
func (r *amsReader) rest(c *session) error {
	copies := r.copies[c.key]
	delete(r.copies, c.key)
	for _, m := range copies {
		if c.ids[m.ID] {
			continue // it came with the working memory
		}
		// The server writes such a memory as the role, a colon and the words.
		role, text, ok := strings.Cut(m.Text, ": ")
		if !ok {
			role, text = "user", m.Text
		}
		if err := c.message(m.place, speech(m.ID, role, "", text, m.createdAt)); err != nil {
			return err
		}
	}
	return c.end()
}

// memory takes a long-term memory.
func (r *amsReader) memory(place string, of *amsItem, raw json.RawMessage) error {
	var m amsMemory
	if err := object(raw, &m); err != nil {
		r.report.leave(badItem, place, err.Error())
		return nil
	}
	if m.Type == "message" && m.Session != "" {
		return nil // it is an event of its session
	}
	f := fact{scope: r.scope(cmp.Or(m.Namespace, of.Namespace), cmp.Or(m.User, of.User)), id: m.ID, text: m.Text,
		topics: m.Topics, trust: memory.TrustAgent, metadata: memory.Metadata{}}
	var err error
	if f.at, err = readTime("created_at", m.Created, r.opts.Zone); err == nil && f.at.IsZero() {
		err = fmt.Errorf("%w: it has no created_at", memory.ErrInvalid)
	}
	if err == nil {
		f.updated, err = readTime("updated_at", m.Updated, r.opts.Zone)
	}
	if err == nil {
		f.validFrom, err = readTime("event_date", m.Event, r.opts.Zone)
	}
	if err != nil {
		r.report.leave(badMemory, place, err.Error())
		return nil
	}
	// The server's own fields come after the metadata of the client, and win.
	maps.Copy(f.metadata, m.Metadata)
	for name, raw := range map[string]json.RawMessage{"entities": m.Entities, "extracted_from": m.From} {
		if len(raw) > 0 && string(raw) != "null" && string(raw) != "[]" {
			f.metadata[name] = raw
		}
	}
	for name, value := range map[string]string{"memory_type": m.Type, "session_id": m.Session} {
		if raw, err := json.Marshal(value); err == nil && value != "" {
			f.metadata[name] = raw
		}
	}
	if m.Pinned {
		f.metadata["pinned"] = json.RawMessage("true")
	}
	return r.fact(place, f)
}
