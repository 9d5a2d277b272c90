package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
)

// A resource is named by a URI: one of these prefixes and a value, such as an id. The URI
// has no app and no user, because the connection decides the scope. The value is in the
// path, not in the host, since clients change hosts to lower case.
const (
	memoryPrefix  = "memoryd://memories/" // and the id of a memory
	sessionPrefix = "memoryd://sessions/" // and the id of a session
	contextPrefix = "memoryd://context/"  // and the words of a question
)

// mimeType is the type of a memory and of a session: JSON as the HTTP API has it, without
// characters that cannot be seen.
const mimeType = "application/json"

// resourceTemplates are all kinds of resources.
var resourceTemplates = []*sdk.ResourceTemplate{{
	URITemplate: memoryPrefix + "{id}",
	Name:        "memory",
	Title:       "A memory",
	MIMEType:    mimeType,
	Description: "One memory by its id, as tools give it: what was said, by whom, when and in which conversation.",
}, {
	URITemplate: sessionPrefix + "{id}",
	Name:        "session",
	Title:       "A conversation",
	MIMEType:    mimeType,
	Description: "What was said in one conversation, oldest first, by its id, which tools give as sessionId: " +
		"the latest turns, of those that are remembered.",
}, {
	URITemplate: contextPrefix + "{query}",
	Name:        "context",
	Title:       "What is remembered of a question",
	MIMEType:    "text/plain",
	Description: "A block of the memories that help to answer a question, for a prompt.",
}}

// listResources returns a page of memories, newest first. The cursor is the
// store's page token.
func (s *service) listResources(ctx context.Context, p *sdk.ListResourcesParams) (sdk.Result, error) {
	list := memory.List{}
	if p != nil {
		list.PageToken = p.Cursor
	}
	page, err := s.bank.Memories(ctx, list)
	if err != nil {
		return nil, s.protocolError(ctx, "resources/list", err)
	}
	out := &sdk.ListResourcesResult{
		Resources: make([]*sdk.Resource, len(page.Memories)), NextCursor: page.NextPageToken, Cacheable: private,
	}
	for i := range page.Memories {
		out.Resources[i] = resourceOf(&page.Memories[i])
	}
	return out, nil
}

func resourceOf(m *memory.Memory) *sdk.Resource {
	by := ""
	if author := legible.Line(m.Author); author != "" {
		by = ", by " + author
	}
	return &sdk.Resource{
		URI: uriOf(memoryPrefix, m.ID), Name: legible.Line(m.ID), Title: titleLine(m.Fact), MIMEType: mimeType,
		Description: fmt.Sprintf("%s%s, %s", m.Kind, by, m.Local(m.Timestamp).Format(time.DateOnly)),
		Annotations: &sdk.Annotations{LastModified: m.UpdateTime.UTC().Format(time.RFC3339)},
	}
}

// uriOf returns the URI of a resource. It escapes the value as a URI template expands
// {id} (RFC 6570): all but letters, digits and -._~. QueryEscape does the same,
// except that it writes a blank as a plus sign.
func uriOf(prefix, value string) string {
	return prefix + strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// partsOf returns the prefix and the value of a URI, or a protocol error if it is not one
// of a resource.
func partsOf(r *sdk.ReadResourceRequest) (prefix, value string, err error) {
	for _, prefix := range []string{memoryPrefix, sessionPrefix, contextPrefix} {
		escaped, ok := strings.CutPrefix(r.Params.URI, prefix)
		if !ok {
			continue
		}
		value, err := url.PathUnescape(escaped)
		if err != nil || !utf8.ValidString(value) || strings.TrimSpace(value) == "" ||
			prefix != contextPrefix && memory.ValidateID("resource", value) != nil {
			break
		}
		return prefix, value, nil
	}
	return "", "", noResource(r)
}

// titleLine returns text as one line of about 80 bytes at most, for lists that a
// host shows.
func titleLine(text string) string {
	const maxBytes = 80
	line := legible.Line(text)
	if len(line) <= maxBytes {
		return line
	}
	return strings.TrimSpace(memory.Cut(line, maxBytes)) + "…"
}

// readResource returns one resource. One of another scope is not found, as if it did not
// exist.
func (s *service) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	prefix, value, err := partsOf(r)
	if err != nil {
		return nil, err
	}
	contents := &sdk.ResourceContents{URI: r.Params.URI, MIMEType: mimeType}
	switch prefix {
	case memoryPrefix:
		contents.Text, err = s.readMemory(ctx, value)
	case sessionPrefix:
		contents.Text, err = s.readSession(ctx, value)
	case contextPrefix:
		contents.MIMEType = "text/plain"
		contents.Text, err = s.readContext(ctx, value)
	}
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return nil, noResource(r)
	case err != nil:
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// readMemory returns a memory as JSON.
func (s *service) readMemory(ctx context.Context, id string) (string, error) {
	m, err := s.bank.Memory(ctx, id)
	if err == nil && m.State.Hidden() {
		err = memory.ErrNotFound // a model reads what is quarantined in no way
	}
	if err != nil {
		return "", err
	}
	return shownJSON(m)
}

// maxTurns is how many turns of a session are read: a host puts them all in front of a
// model.
const maxTurns = 200

// readSession returns the latest turns of a session as JSON. They are read as memories and
// not as events, which would show what was forgotten and what is quarantined. A session
// without any is not found.
func (s *service) readSession(ctx context.Context, id string) (string, error) {
	list := memory.List{PageSize: maxTurns}
	list.Kinds, list.SessionID = []memory.Kind{memory.KindTurn}, id
	page, err := s.bank.Memories(ctx, list)
	if err == nil && len(page.Memories) == 0 {
		err = memory.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	slices.Reverse(page.Memories) // lists begin with the latest
	return shownJSON(struct {
		ID    string          `json:"id"`
		Turns []memory.Memory `json:"turns"`
		// Earlier is set if there are earlier turns, which are left out.
		Earlier bool `json:"earlier,omitzero"`
	}{id, page.Memories, page.NextPageToken != ""})
}

// readContext returns the block that the prompt has.
func (s *service) readContext(ctx context.Context, query string) (string, error) {
	found, err := s.preload(ctx, query)
	if err == nil && found.Text == "" {
		return "Nothing was found in memory.", nil // some clients take an empty text for none
	}
	return found.Text, err
}

// shownJSON returns the JSON of v with its texts as a model may see them.
func shownJSON(v any) (string, error) {
	text, err := strict.Encode(v)
	if err == nil {
		text, err = strict.MapText(text, legible.Text)
	}
	return string(text), err
}
