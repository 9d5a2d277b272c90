package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
)

// invalidParams returns a protocol error: the request cannot be served as it is.
// Hosts show models such errors too, so their words are as models may see them.
func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: legible.Text(fmt.Sprintf(format, args...))}
}

// internalError is the answer to every request that ends in a fault.
var internalError = &jsonrpc.Error{
	Code: jsonrpc.CodeInternalError, Message: "internal error (memoryd's log has the reason)",
}

// codeNotFound is the code of an unknown resource before stateless, which has
// another one.
const codeNotFound = -32002

// noResource returns the protocol error for a URI that names no resource of the
// scope.
func noResource(r *sdk.ReadResourceRequest) error {
	const words = "there is no resource %.300q: resources/list has memories, and resources/templates/list all forms"
	e := &jsonrpc.Error{Code: sdk.CodeResourceNotFound, Message: legible.Text(fmt.Sprintf(words, r.Params.URI))}
	if r.ProtocolVersion() < stateless {
		e.Code = codeNotFound
	}
	return e
}

// unavailable reports whether err is one of a memory that may answer the same
// request later.
func unavailable(err error) bool {
	return errors.Is(err, memory.ErrUnavailable) || errors.Is(err, memory.ErrExhausted)
}

// protocolError returns the protocol error that a client gets for an error of the
// bank. A fault goes into the log here, because its message ends here: the client
// gets internalError.
func (s *service) protocolError(ctx context.Context, method string, err error) error {
	switch {
	case ctx.Err() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request was canceled"}
	case errors.Is(err, memory.ErrInvalid):
		return invalidParams("%v", err)
	case unavailable(err):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	s.opts.Log.Error("request failed", "method", method, "err", err)
	return internalError
}

// recoverPanic turns a panic into a fault. The library calls handlers in
// goroutines of its own, where a panic would end the process.
func (s *service) recoverPanic(method string, err *error) {
	if v := recover(); v != nil {
		s.opts.Log.Error("panic", "method", method, "err", v, "stack", string(debug.Stack()))
		*err = internalError
	}
}
