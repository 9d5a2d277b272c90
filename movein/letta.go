package movein

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// An agent file has one of two forms. The first one is one agent, with its blocks in
// core_memory. The second one has lists of all that belongs to one agent or more:
//
//	{"agents": [{"id": "agent-0", "name": …, "messages": [{"role", "content", "tool_calls",
//	  "created_at"}, …]}], "blocks": [{"id": "block-0", "label", "value"}, …], "tools": …,
//	  "files": …, "created_at": …}
//
// Ids such as agent-0 number the things of one file. A block of the second form has no time,
// and no user: Letta keeps one agent for each user. Archival memories are in neither form.

// lettaLists are the fields of an agent file that hold what is taken. The first form of
// the file is one agent, whose fields are those of lettaAgent. passages is no field of an
// agent file: an answer with archival memories, which these files leave out, can be read
// beside it.
var lettaLists = map[string]bool{"agents": true, "blocks": true, "passages": true}

// lettaAgent is an agent.
type lettaAgent struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Messages []json.RawMessage `json:"messages"`
	Blocks   []lettaBlock      `json:"core_memory"` // of the first form
}

// lettaBlock is a block of memory.
type lettaBlock struct {
	Label   string          `json:"label"`
	Value   string          `json:"value"`
	Updated json.RawMessage `json:"updated_at"`
}

// lettaMessage is a message of an agent.
type lettaMessage struct {
	Role    string          `json:"role"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"` // a text or a list of parts
	Text    string          `json:"text"`    // of earlier files
	Created json.RawMessage `json:"created_at"`
	Calls   []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// lettaPassage is an archival memory.
type lettaPassage struct {
	ID       string          `json:"id"`
	Text     *string         `json:"text"`
	Created  json.RawMessage `json:"created_at"`
	Tags     []string        `json:"tags"`
	Metadata memory.Metadata `json:"metadata"`
}

// lettaReader reads one agent file.
type lettaReader struct {
	*sink
	file   string
	blocks []lettaBlock // that have no time of their own wait until the end of the file
	places []string
	latest time.Time // of the messages
	made   json.RawMessage
}

// maxBlocks bounds the blocks of one file.
const maxBlocks = 10_000

// readLetta reads agent files, and lists of archival memories.
func readLetta(_ context.Context, s *sink, files []string) error {
	for _, file := range files {
		f, text, _, err := s.open(file, 0)
		if err != nil {
			return err
		}
		r := &lettaReader{sink: s, file: file}
		err = newStream(text).each(lettaLists, r.item,
			func(name string, raw json.RawMessage) {
				if name == "created_at" {
					r.made = raw
				}
			})
		if err != nil {
			err = in(file, "", err)
		} else {
			err = r.rest()
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

// item takes an agent, a block or an archival memory.
func (r *lettaReader) item(i item) error {
	place := r.file + ": " + i.place()
	leave := func(err error) error {
		r.report.leave(badItem, place, err.Error())
		return nil
	}
	if i.list == "blocks" {
		var b lettaBlock
		if err := object(i.raw, &b); err != nil {
			return leave(err)
		}
		return r.wait(place, b)
	}
	// An archival memory has a text of its own, which no agent has.
	var p lettaPassage
	if object(i.raw, &p) == nil && p.Text != nil {
		return r.passage(place, p)
	}
	var a lettaAgent
	if err := object(i.raw, &a); err != nil {
		return leave(err)
	}
	if i.list == "" && a.Messages == nil && a.Blocks == nil {
		return leave(fmt.Errorf("%w: it is neither an agent nor an archival memory", memory.ErrInvalid))
	}
	return r.agent(place, a)
}

// wait keeps a block until the end of the file.
func (r *lettaReader) wait(place string, b lettaBlock) error {
	if len(r.blocks) == maxBlocks {
		return fmt.Errorf("%w: %s: more than %d blocks", memory.ErrInvalid, place, maxBlocks)
	}
	r.blocks, r.places = append(r.blocks, b), append(r.places, place)
	return nil
}

// agent takes the conversation of an agent. Files number agents and messages, so their ids
// say nothing beyond the file, and agents of one name are common: the time of its first
// message tells an agent from all others. Every file of an agent begins with that message, so
// a later file leads to the same session. An event is named by its words.
func (r *lettaReader) agent(place string, a lettaAgent) error {
	for n, b := range a.Blocks {
		if err := r.wait(fmt.Sprintf("%s.core_memory[%d]", place, n), b); err != nil {
			return err
		}
	}
	id := r.derive("session", a.Name, a.ID, r.begun(a).UTC().Format(time.RFC3339Nano))
	key := sessionstore.Key{Scope: r.scope("", ""), ID: id}
	c := r.begin(place, key, about{name: a.Name})
	for n, raw := range a.Messages {
		place := fmt.Sprintf("%s.messages[%d]", place, n)
		var m lettaMessage
		if err := object(raw, &m); err != nil {
			r.report.leave(badEvent, place, err.Error())
			continue
		}
		at, err := readTime("created_at", m.Created, r.opts.Zone)
		if err != nil || at.IsZero() {
			r.report.leave(badEvent, place, "it has no good created_at")
			continue
		}
		if at.After(r.latest) {
			r.latest = at
		}
		reason, text := m.read()
		if reason != "" {
			r.report.leave(reason, place, "")
			continue
		}
		speaker := speech("", m.Role, m.Name, text, at)
		if speaker.role == "model" {
			speaker.author = a.Name
		}
		if err := c.message(place, speaker); err != nil {
			return err
		}
	}
	return c.end()
}

// begun returns the earliest time of an agent's messages, of the system's too; zero if none
// has a good one, so that none is taken.
func (r *lettaReader) begun(a lettaAgent) (first time.Time) {
	for _, raw := range a.Messages {
		var m lettaMessage
		if object(raw, &m) != nil {
			continue
		}
		at, err := readTime("created_at", m.Created, r.opts.Zone)
		if err == nil && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// read returns what was said in a message, or why it is not taken.
func (m *lettaMessage) read() (reason, text string) {
	var said []string
	for _, call := range m.Calls { // early agents speak by calling send_message
		var args struct {
			Message string `json:"message"`
		}
		if call.Function.Name == "send_message" && json.Unmarshal([]byte(call.Function.Arguments), &args) == nil {
			said = append(said, args.Message)
		}
	}
	switch {
	case len(said) > 0:
		return "", strings.Join(said, "\n")
	case m.Role == "tool" || m.Role == "function" || m.Role == "approval" || len(m.Calls) > 0:
		return ofTools, ""
	case m.Role == "system":
		return ofSystem, ""
	}
	text, thought := m.text()
	if text == "" && thought {
		return ofReasoning, ""
	}
	if m.Role != "user" {
		return "", text
	}
	// Letta packs the words of the user into an object, and gives its own messages the same role.
	var packed struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	// Logins, heartbeats and alerts are such objects too, of other types.
	if json.Unmarshal([]byte(text), &packed) == nil && packed.Type != "" {
		if packed.Type != "user_message" {
			return ofSystem, ""
		}
		text = packed.Message
	}
	return "", text
}

// text returns the text of the content, and whether there is reasoning in it.
func (m *lettaMessage) text() (text string, thought bool) {
	if json.Unmarshal(m.Content, &text) == nil && text != "" {
		return text, false
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return m.Text, false
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" && p.Text != "" {
			texts = append(texts, p.Text)
		}
		thought = thought || strings.Contains(p.Type, "reasoning")
	}
	return strings.Join(texts, "\n"), thought
}

// passage takes an archival memory.
func (r *lettaReader) passage(place string, p lettaPassage) error {
	at, err := readTime("created_at", p.Created, r.opts.Zone)
	if err != nil || at.IsZero() {
		r.report.leave(badMemory, place, "it has no good created_at")
		return nil
	}
	return r.fact(place, fact{scope: r.scope("", ""), id: p.ID, text: *p.Text, topics: p.Tags, at: at,
		trust: memory.TrustAgent, metadata: p.Metadata})
}

// rest takes the blocks, now that the time of the file is known.
func (r *lettaReader) rest() error {
	made, err := readTime("created_at", r.made, r.opts.Zone)
	if err != nil || made.IsZero() {
		made = r.latest
	}
	for i, b := range r.blocks {
		place := r.places[i]
		if b.Label == "persona" {
			r.report.leave("blocks that describe the agent, and not its user", place, "")
			continue
		}
		at, err := readTime("created_at", b.Updated, r.opts.Zone)
		if err != nil || at.IsZero() {
			at = made
		}
		if at.IsZero() {
			r.report.leave(badMemory, place, "neither it nor the file has a time")
			continue
		}
		label, err := json.Marshal(b.Label)
		if err != nil {
			return err
		}
		// The words are part of the id: a block that has changed since is another fact.
		f := fact{scope: r.scope("", ""), id: b.Label + "\x00" + b.Value, text: b.Value, at: at,
			trust: memory.TrustAgent, metadata: memory.Metadata{"label": label}}
		if err := r.fact(place, f); err != nil {
			return err
		}
	}
	return nil
}
