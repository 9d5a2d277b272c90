package movein

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// conversations.json is a list of conversations. The messages of one are a tree, as a
// question that was edited and an answer that was asked for again begin new branches:
//
//	{"conversation_id", "title", "create_time", "update_time", "current_node": "ID", "mapping":
//	  {"ID": {"parent": "ID", "children": ["ID", …], "message": {"id", "author": {"role"},
//	    "create_time", "content": {"content_type", "parts"}, "recipient", "metadata"}}}}
//
// Times are seconds since 1970. current_node is the last message of the branch that is
// shown. A part is a text, or an object for an image or for speech with its text.

// A packed file may unpack to so many times its size, once it has more than safeBytes.
// Conversations pack to a tenth or so; the worst that deflate can do is a thousandth.
const (
	maxRatio  = 100
	safeBytes = 64 << 20
)

// errBomb is the error of a packed file that unpacks to too much.
var errBomb = fmt.Errorf("it unpacks to more than %d times its size", maxRatio)

// chatNode is a node of the tree of a conversation.
type chatNode struct {
	Message  *chatMessage `json:"message"`
	Parent   string       `json:"parent"`
	Children []string     `json:"children"`
}

// chatMessage is a message of a node.
type chatMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	Time    json.RawMessage `json:"create_time"`
	Content struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Recipient string `json:"recipient"`
	Metadata  struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// chat is one conversation. Its mapping is read node by node, so that a node of another
// form costs no other one.
type chat struct {
	ID      string                     `json:"id"`
	OtherID string                     `json:"conversation_id"`
	Title   string                     `json:"title"`
	Created json.RawMessage            `json:"create_time"`
	Updated json.RawMessage            `json:"update_time"`
	Current string                     `json:"current_node"`
	Mapping map[string]json.RawMessage `json:"mapping"`
}

// readChatGPT reads conversations.json, alone or in the export as it comes.
func readChatGPT(_ context.Context, s *sink, files []string) error {
	for _, file := range files {
		f, r, begins, err := s.open(file, 4)
		if err != nil {
			return err
		}
		if string(begins) != "PK\x03\x04" {
			err = s.chats(file, r)
		} else {
			err = s.packed(file)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// packed reads the conversations in an export, which are in one file or in several, such
// as conversations-001.json.
func (s *sink) packed(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", memory.ErrInvalid, file, err)
	}
	defer z.Close()
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	// The sizes that the archive states are not believed: what comes out of all entries together
	// is counted, as many of them may share the same bytes of the file.
	left := max(safeBytes, maxRatio*info.Size())
	found := false
	for _, entry := range z.File {
		name := path.Base(entry.Name)
		if !strings.HasPrefix(name, "conversations") || path.Ext(name) != ".json" {
			continue
		}
		found = true
		r, err := entry.Open()
		if err != nil {
			return fmt.Errorf("%w: %s: %.100q: %w", memory.ErrInvalid, file, entry.Name, err)
		}
		// Anyone names an entry, and the name is shown on a terminal.
		err = s.chats(fmt.Sprintf("%s: %.100q", file, entry.Name), &unpacked{counted{r, s.opts.Progress}, &left})
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%w: %s: there is no conversations.json in it", memory.ErrInvalid, file)
	}
	return nil
}

// unpacked fails once more was unpacked than is sensible.
type unpacked struct {
	r    io.Reader
	left *int64 // of the whole archive
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if *u.left -= int64(n); *u.left < 0 {
		return 0, errBomb
	}
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) {
		err = fmt.Errorf("%w: %w", errShape, err)
	}
	return n, err
}

// chats reads a list of conversations.
func (s *sink) chats(file string, r io.Reader) error {
	err := newStream(r).each(nil, func(i item) error { return s.chat(file+": "+i.place(), i.raw) }, nil)
	if errors.Is(err, errBomb) {
		return fmt.Errorf("%w: %s: %w", memory.ErrInvalid, file, err)
	}
	if err != nil {
		return in(file, "", err)
	}
	return nil
}

// chat takes one conversation: the branch that is shown.
func (s *sink) chat(place string, raw json.RawMessage) error {
	var c chat
	err := object(raw, &c)
	if err == nil && c.Mapping == nil {
		err = errors.New("it has no mapping")
	}
	if err != nil {
		s.report.leave(badItem, place, err.Error())
		return nil
	}
	id := c.OtherID
	if id == "" {
		id = c.ID
	}
	// A wrong time of the conversation costs nothing but that time.
	created, _ := readTime("create_time", c.Created, time.UTC)
	updated, _ := readTime("update_time", c.Updated, time.UTC)
	// The file is of one account, and names it nowhere.
	key := sessionstore.Key{Scope: s.scope("", ""), ID: id}
	to := s.begin(place, key, about{name: c.Title, created: created, updated: updated})
	branch, others := c.branch()
	for range others {
		s.report.leave("messages of branches that are not shown: edited questions and other answers", place, "")
	}
	last := created
	for _, node := range branch {
		m := node.Message
		at, err := readTime("create_time", m.Time, time.UTC)
		if err != nil || at.IsZero() {
			at = last // a message without a time follows the one before
		}
		last = at
		// What a person could not read in the conversation is not said in it.
		reason, text := m.read()
		switch {
		case reason != "":
			s.report.leave(reason, place, m.Content.Type)
		case at.IsZero():
			s.report.leave(badEvent, place, "neither it nor the conversation has a time")
		default:
			speaker := speech(m.ID, m.Author.Role, m.Author.Name, text, at)
			if speaker.role == "model" {
				speaker.author = "ChatGPT"
			}
			if err := to.message(place, speaker); err != nil {
				return err
			}
		}
	}
	return to.end()
}

// branch returns the nodes with messages that are shown, from the first on, and how many
// messages are in other branches. Without a current node it is the branch of the latest
// children. A tree with a circle in it ends where it meets itself.
func (c *chat) branch() (shown []*chatNode, others int) {
	nodes := map[string]*chatNode{}
	messages := 0
	for id, raw := range c.Mapping {
		var n chatNode
		if object(raw, &n) != nil {
			n = chatNode{} // a node of another form says nothing
			var only struct{ Parent string }
			if json.Unmarshal(raw, &only) == nil {
				n.Parent = only.Parent
			}
		}
		if nodes[id] = &n; n.Message != nil {
			messages++
		}
	}
	met := map[string]bool{}
	at := c.Current
	if nodes[at] == nil {
		at = c.leaf(nodes)
	}
	for node := nodes[at]; node != nil && !met[at]; node = nodes[at] {
		met[at] = true
		if node.Message != nil {
			shown = append(shown, node)
		}
		at = node.Parent
	}
	slices.Reverse(shown)
	return shown, messages - len(shown)
}

// leaf returns the end of the branch of the last children.
func (c *chat) leaf(nodes map[string]*chatNode) string {
	at, met := "", map[string]bool{}
	for _, id := range sorted(nodes) {
		if nodes[nodes[id].Parent] == nil { // a root
			at = id
			break
		}
	}
	for !met[at] && nodes[at] != nil && len(nodes[at].Children) > 0 {
		met[at] = true
		next := nodes[at].Children[len(nodes[at].Children)-1]
		if nodes[next] == nil {
			break
		}
		at = next
	}
	return at
}

// sorted returns the names of a map in order, so that the result is the same each time.
func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// read returns the text of a message, or why it is not taken.
func (m *chatMessage) read() (reason, text string) {
	switch role := m.Author.Role; {
	case role == "tool":
		return ofTools, ""
	case role == "system" || m.Metadata.Hidden:
		return ofSystem, ""
	case role == "assistant" && m.Recipient != "" && m.Recipient != "all":
		return ofTools, ""
	case m.Content.Type == "thoughts" || m.Content.Type == "reasoning_recap":
		return ofReasoning, ""
	case m.Content.Type != "text" && m.Content.Type != "multimodal_text":
		return "content that is no text", ""
	}
	var texts []string
	for _, raw := range m.Content.Parts {
		var text string
		var part struct {
			Text string `json:"text"` // of speech
		}
		if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &part) == nil {
			text = part.Text
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 && len(m.Content.Parts) > 0 && m.Content.Type == "multimodal_text" {
		return "content that is no text", ""
	}
	return "", strings.Join(texts, "\n")
}
