package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
)

// mcp answers one request of the Model Context Protocol, in the scope of its
// path. Whatever a client says of a session, nothing is left of another request.
func (s *Server) mcp(c echo.Context, scope memory.Scope) error {
	r := c.Request()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return err
		}
		return invalid("body: %v", err)
	}
	if bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) {
		return invalid("body: a batch of messages: send one a request") // of which all would be served at a time
	}
	mcp.Serve(c.Response(), r, raw, &bank{s, c, scope}, &mcp.Options{Version: s.opts.Version, Log: s.opts.Log.With("id", requestID(c))})
	if !c.Response().Committed { // its time was over first
		return r.Context().Err()
	}
	return nil
}

// bank is the memory of one scope, for one request.
type bank struct {
	s     *Server
	c     echo.Context
	scope memory.Scope
}

var _ mcp.Bank = (*bank)(nil)

func (b *bank) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, err := b.s.tools.Call(ctx, b.scope, name, args)
	return result, b.told(err)
}

func (b *bank) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	page, err := b.s.memories.List(ctx, b.scope, list)
	return page, b.told(err)
}

func (b *bank) Memory(ctx context.Context, id string) (memory.Memory, error) {
	m, err := b.s.ingest.Get(ctx, b.scope, id)
	return m, b.told(err)
}

// told is an error as clients are told of it: what is wrong with a store, and
// where that is, is for the log.
func (b *bank) told(err error) error {
	for _, kind := range []error{memory.ErrUnavailable, memory.ErrExhausted} {
		if errors.Is(err, kind) {
			b.s.opts.Log.Error("mcp", "id", requestID(b.c), "err", err)
			return fmt.Errorf("%w: %s", kind, detail(b.c, err).Message)
		}
	}
	return err
}
