package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/tools"
)

// mcp answers POST /mcp/apps/{app}/users/{user} and POST {scope}/mcp: one message
// of the Model Context Protocol. The path alone chooses the scope. The server keeps nothing
// between requests, whatever session id a client sends.
func (s *Server) mcp(c echo.Context, scope memory.Scope) error {
	raw, err := readBody(c)
	if err != nil {
		return err
	}
	if err := takeElements(c, raw); err != nil {
		return err
	}
	verbs, what := mcpVerb(raw)
	if err := s.permit(c, scope, verbs, what); err != nil {
		return err
	}
	bank := &scopeBank{server: s, scope: scope, requestID: requestID(c),
		control: http.NewResponseController(c.Response())}
	defer bank.release()
	log := s.opts.Log.With("id", bank.requestID)
	mcp.Serve(c.Response(), c.Request(), raw, bank, &mcp.Options{Version: s.opts.Version, Log: log})
	if !c.Response().Committed { // the time of the request ended before there was an answer
		return c.Request().Context().Err()
	}
	return bank.hidden()
}

// mcpVerb returns the verb that a message takes, and what it calls: no verb to shake
// hands and to list tools.
// Whatever package mcp makes of a message that is ambiguous, the guard holds it to this
// verb.
func mcpVerb(raw []byte) (verbs access.Verbs, what string) {
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal(raw, &message) // package mcp says what is malformed
	switch {
	case message.Method == "tools/call":
		if t, err := tools.Find(message.Params.Name); err == nil {
			what = t.Name
		}
		return verbOf(message.Params.Name), what
	case strings.HasPrefix(message.Method, "resources/"), message.Method == "prompts/get":
		return access.Read, message.Method
	}
	return 0, ""
}

// scopeBank gives package mcp the memory of one scope during one request.
type scopeBank struct {
	server    *Server
	scope     memory.Scope
	requestID string
	control   *http.ResponseController

	mu      sync.Mutex
	shares  []*inflight.Share // of the answer
	reasons []error
}

var _ mcp.Bank = (*scopeBank)(nil)

// CallTool implements mcp.Bank.
func (b *scopeBank) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, share, err := b.server.toolResult(ctx, b.scope, name, args)
	if err == nil {
		b.send(share, int64(len(result)))
	}
	return result, b.public(err)
}

// send keeps the room of a part of the answer until the answer is sent, and gives the
// client time to read it.
func (b *scopeBank) send(share *inflight.Share, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shares = append(b.shares, share)
	writeWithin(b.control, bytes)
}

// release gives back the room of the answer.
func (b *scopeBank) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.shares {
		s.Release()
	}
}

// Memories implements mcp.Bank. The page has room while it is read and until the answer
// is sent. Of each memory the answer has a line.
func (b *scopeBank) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	share, err := b.server.answers.Take(ctx, b.scope, memory.MaxListBytes, roomTime)
	if err != nil {
		return memory.Page{}, b.public(err)
	}
	page, err := b.server.memories.List(ctx, b.scope, list)
	var bytes int64
	for i := range page.Memories {
		bytes += page.Memories[i].Bytes()
	}
	share.Shrink(bytes)
	b.send(share, bytes)
	return page, b.public(err)
}

// Memory implements mcp.Bank.
func (b *scopeBank) Memory(ctx context.Context, id string) (memory.Memory, error) {
	m, err := b.server.ingest.Get(ctx, b.scope, id)
	return m, b.public(err)
}

// public returns err in words that a client may see. Package mcp shows clients
// the message of an unavailable store, which may name its address. public
// replaces that message and keeps the original for the log. A memory.Refusal is
// for clients to read.
func (b *scopeBank) public(err error) error {
	if refusal := (*memory.Refusal)(nil); errors.As(err, &refusal) {
		return refusal
	}
	for _, kind := range []error{memory.ErrUnavailable, memory.ErrExhausted} {
		if errors.Is(err, kind) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.reasons = append(b.reasons, err)
			return fmt.Errorf("%w: %s", kind, describe(err, b.requestID).Message)
		}
	}
	return err
}

// hidden returns the errors that public replaced. The handler returns them after
// its answer is sent, so that they only reach the log.
func (b *scopeBank) hidden() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.reasons...)
}
