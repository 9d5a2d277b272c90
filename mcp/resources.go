package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/memory"
)

// A memory's URI is memoryd://memories/ID, whoever's it is: the connection says
// that. The id is in the path, which clients leave as it is.
const memories = "memoryd://memories/"

// mimeType is of a memory as the HTTP API gives it.
const mimeType = "application/json"

var template = &sdk.ResourceTemplate{URITemplate: memories + "{id}", Name: "memory", Title: "A memory", MIMEType: mimeType,
	Description: "One memory by its id, as tools give it: what was said, by whom, when and in which conversation."}

// listResources gives a page of memories, newest first. The cursor is the
// store's page token.
func (s *service) listResources(ctx context.Context, p *sdk.ListResourcesParams) (sdk.Result, error) {
	list := memory.List{}
	if p != nil {
		list.PageToken = p.Cursor
	}
	page, err := s.bank.Memories(ctx, list)
	if err != nil {
		return nil, s.failed(ctx, "resources/list", err)
	}
	out := &sdk.ListResourcesResult{Resources: make([]*sdk.Resource, len(page.Memories)), NextCursor: page.NextPageToken, Cacheable: private}
	for i := range page.Memories {
		out.Resources[i] = resourceOf(&page.Memories[i])
	}
	return out, nil
}

func resourceOf(m *memory.Memory) *sdk.Resource {
	by := ""
	if m.Author != "" {
		by = ", by " + m.Author
	}
	return &sdk.Resource{URI: uriOf(m.ID), Name: m.ID, Title: short(m.Fact), MIMEType: mimeType,
		Description: fmt.Sprintf("%s%s, %s", m.Kind, by, m.Timestamp.UTC().Format(time.DateOnly)),
		Annotations: &sdk.Annotations{LastModified: m.UpdateTime.UTC().Format(time.RFC3339)}}
}

// uriOf is the URI of a memory, as its template has it.
func uriOf(id string) string {
	return memories + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// idOf is the id in a URI. One that names no memory is an error of the protocol.
func idOf(r *sdk.ReadResourceRequest) (string, error) {
	escaped, ours := strings.CutPrefix(r.Params.URI, memories)
	id, err := url.PathUnescape(escaped)
	if !ours || err != nil || memory.ValidateID("memory", id) != nil {
		return "", unknown(r)
	}
	return id, nil
}

// short is a text on one line of at most some 80 bytes.
func short(text string) string {
	const most = 80
	line := strings.Join(strings.Fields(text), " ")
	if len(line) <= most {
		return line
	}
	return strings.TrimSpace(memory.Cut(line, most)) + "…"
}

// readResource gives one memory. Whether another scope has it makes no
// difference.
func (s *service) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	m, err := s.bank.Memory(ctx, id)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return nil, unknown(r)
	case err != nil:
		return nil, s.failed(ctx, "resources/read", err)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, s.failed(ctx, "resources/read", err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: mimeType, Text: strings.TrimSuffix(text.String(), "\n")}}}, nil
}

// codeNotFound is the code for a resource that is not there, until [stateless].
const codeNotFound = -32002

func unknown(r *sdk.ReadResourceRequest) error {
	e := &jsonrpc.Error{Code: sdk.CodeResourceNotFound, Message: fmt.Sprintf("there is no resource %.300q: resources/list has those there are", r.Params.URI)}
	if r.ProtocolVersion() < stateless {
		e.Code = codeNotFound
	}
	return e
}
