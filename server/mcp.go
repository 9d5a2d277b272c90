package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
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
	bank := &scopeBank{server: s, scope: scope, requestID: requestID(c)}
	log := s.opts.Log.With("id", bank.requestID)
	mcp.Serve(c.Response(), c.Request(), raw, bank, &mcp.Options{Version: s.opts.Version, Log: log})
	if !c.Response().Committed { // the time of the request ended before there was an answer
		return c.Request().Context().Err()
	}
	return bank.hidden()
}

// scopeBank gives package mcp the memory of one scope during one request.
type scopeBank struct {
	server    *Server
	scope     memory.Scope
	requestID string

	mu      sync.Mutex
	reasons []error
}

var _ mcp.Bank = (*scopeBank)(nil)

// CallTool implements mcp.Bank.
func (b *scopeBank) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, err := b.server.tools.Call(ctx, b.scope, name, args)
	return result, b.public(err)
}

// Memories implements mcp.Bank.
func (b *scopeBank) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	page, err := b.server.memories.List(ctx, b.scope, list)
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
