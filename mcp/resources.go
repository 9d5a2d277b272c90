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
	"unicode/utf8"

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
	return &sdk.Resource{URI: memories + url.PathEscape(m.ID), Name: m.ID, Title: short(m.Fact), MIMEType: mimeType,
		Description: fmt.Sprintf("%s%s, %s", m.Kind, by, m.Timestamp.UTC().Format(time.DateOnly)),
		Annotations: &sdk.Annotations{LastModified: m.UpdateTime.UTC().Format(time.RFC3339)}}
}

// short is a text on one line of at most some 80 bytes.
func short(text string) string {
	const most = 80
	line := strings.Join(strings.Fields(text), " ")
	if len(line) <= most {
		return line
	}
	end := most
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.TrimSpace(line[:end]) + "…"
}

// readResource gives one memory. Whether another scope has it makes no
// difference.
func (s *service) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (sdk.Result, error) {
	id, err := idOf(r.Params.URI)
	if err != nil {
		return nil, unknown(r)
	}
	m, err := s.bank.Memory(ctx, id)
	switch {
	case errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrInvalid):
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
	return &sdk.ReadResourceResult{Cacheable: private,
		Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: mimeType, Text: strings.TrimSuffix(text.String(), "\n")}}}, nil
}

func idOf(uri string) (string, error) {
	escaped, ok := strings.CutPrefix(uri, memories)
	if !ok {
		return "", memory.ErrInvalid
	}
	id, err := url.PathUnescape(escaped)
	if err != nil {
		return "", err
	}
	return id, memory.ValidateID("memory", id)
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
