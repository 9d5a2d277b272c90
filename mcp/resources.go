package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
)

// uriPrefix and an id are the URI of a memory. The URI has no app and no user,
// because the connection decides the scope. The id is in the path, not in the
// host, since clients change hosts to lower case.
const uriPrefix = "memoryd://memories/"

// mimeType is the type of a resource: the JSON of a memory, as the HTTP API has
// it, without characters that cannot be seen.
const mimeType = "application/json"

var resourceTemplate = &sdk.ResourceTemplate{
	URITemplate: uriPrefix + "{id}",
	Name:        "memory",
	Title:       "A memory",
	MIMEType:    mimeType,
	Description: "One memory by its id, as tools give it: what was said, by whom, when and in which conversation.",
}

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
		URI: uriOf(m.ID), Name: legible.Line(m.ID), Title: titleLine(m.Fact), MIMEType: mimeType,
		Description: fmt.Sprintf("%s%s, %s", m.Kind, by, m.Local(m.Timestamp).Format(time.DateOnly)),
		Annotations: &sdk.Annotations{LastModified: m.UpdateTime.UTC().Format(time.RFC3339)},
	}
}

// uriOf returns the URI of a memory. It escapes the id as a URI template expands
// {id} (RFC 6570): all but letters, digits and -._~. QueryEscape does the same,
// except that it writes a blank as a plus sign.
func uriOf(id string) string {
	return uriPrefix + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// idOf returns the id in a URI, or a protocol error if the URI is not one of a
// memory.
func idOf(r *sdk.ReadResourceRequest) (string, error) {
	escaped, ours := strings.CutPrefix(r.Params.URI, uriPrefix)
	id, err := url.PathUnescape(escaped)
	if !ours || err != nil || memory.ValidateID("memory", id) != nil {
		return "", noResource(r)
	}
	return id, nil
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

// readResource returns one memory. A memory of another scope is not found, as if
// it did not exist.
func (s *service) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	m, err := s.bank.Memory(ctx, id)
	if err == nil && m.State.Hidden() {
		err = memory.ErrNotFound // a model reads what is quarantined in no way
	}
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return nil, noResource(r)
	case err != nil:
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	text, err := strict.Encode(m)
	if err == nil {
		text, err = strict.MapText(text, legible.Text)
	}
	if err != nil {
		return nil, s.protocolError(ctx, "resources/read", err)
	}
	contents := &sdk.ResourceContents{URI: r.Params.URI, MIMEType: mimeType, Text: string(text)}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}
