package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// streamable makes the library answer each POST by itself, in JSON. The caller of
// Serve checks hosts and origins and bounds the body, so the library does not.
var streamable = sdk.StreamableHTTPOptions{
	Stateless:                  true,
	JSONResponse:               true,
	DisableLocalhostProtection: true,
	MaxRequestBodyBytes:        -1,
}

// Serve answers one request of streamable HTTP, whose body the caller has read.
// It ignores session ids. If the context of the request ends first, Serve may
// return without having written anything.
func Serve(w http.ResponseWriter, r *http.Request, body []byte, bank Bank, opts *Options) {
	s := newService(bank, opts)
	r = r.Clone(r.Context())
	// There is one form of messages and one of answers, so clients that name
	// other types, or none, are served too.
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.callDirectly(w, r, body) {
		return
	}
	out := &jsonErrors{ResponseWriter: w}
	if answer := malformed(body); answer != nil {
		out.refuse(http.StatusBadRequest, answer)
		return
	}
	server := s.server()
	server.AddReceivingMiddleware(endWith(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	getServer := func(*http.Request) *sdk.Server { return server }
	sdk.NewStreamableHTTPHandler(getServer, &streamable).ServeHTTP(out, r)
}

// jsonErrors writes as messages of JSON-RPC the errors that the library writes as
// plain text, such as that of an unknown version of the protocol.
type jsonErrors struct {
	http.ResponseWriter
	status int // of an error in plain text whose words are to come; otherwise 0
}

// WriteHeader implements http.ResponseWriter.
func (e *jsonErrors) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(e.Header().Get("Content-Type"), "text/plain") {
		e.status = status
		return
	}
	e.Header().Set("Cache-Control", "no-store")
	e.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (e *jsonErrors) Write(p []byte) (int, error) {
	e.Header().Set("Cache-Control", "no-store") // the library's value allows to keep it
	if e.status == 0 {
		return e.ResponseWriter.Write(p)
	}
	status := e.status
	e.status = 0
	e.refuse(status, refuse(nil, jsonrpc.CodeInvalidRequest, "%s", bytes.TrimSpace(p)))
	return len(p), nil
}

// Unwrap is for http.ResponseController.
func (e *jsonErrors) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// refuse writes an answer of its own.
func (e *jsonErrors) refuse(status int, answer *refusal) {
	e.Header().Del("Content-Length")
	e.Header().Set("Cache-Control", "no-store")
	e.Header().Set("Content-Type", "application/json")
	e.ResponseWriter.WriteHeader(status)
	_, _ = e.ResponseWriter.Write(answer.encode()) // it only fails if the client has disconnected
}

// Run serves one client that sends messages as lines of in and reads lines of
// out. A line that is not a message is answered -32700 or -32600, and the next one
// is read. Run returns nil when in or ctx ends.
func Run(ctx context.Context, bank Bank, opts *Options, in io.ReadCloser, out io.WriteCloser) error {
	server := New(bank, opts)
	server.AddReceivingMiddleware(endWith(ctx))
	to := &output{WriteCloser: out}
	err := server.Run(ctx, &sdk.IOTransport{Reader: newLines(in, to), Writer: to, MaxLineLength: -1})
	if ctx.Err() != nil {
		return nil // the caller ended it
	}
	return err
}

// endWith cancels a call when the context of its connection ends. The library
// gives handlers a context that does not end with the connection.
func endWith(connection context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(connection, cancel)()
			return next(ctx, method, req)
		}
	}
}
