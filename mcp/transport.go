package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// streamable answers each POST by itself, in JSON. Which hosts and origins may
// ask, and how large a body may be, is for whoever routes requests here.
var streamable = sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1}

// Serve answers one request of streamable HTTP, whose body was read. It knows no
// sessions: the id of one is not looked at. It may return without having written
// anything when the request's context is over.
func Serve(w http.ResponseWriter, r *http.Request, body []byte, bank Bank, opts *Options) {
	s := newService(bank, opts)
	r = r.Clone(r.Context())
	r.Header.Set("Content-Type", "application/json") // whatever they say: there is one form of questions, and one of answers
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.direct(w, r, body) {
		return
	}
	server := s.server()
	server.AddReceivingMiddleware(until(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &streamable).ServeHTTP(w, r)
}

// Run serves one client, whose messages are lines of in and out, until in ends
// or ctx is over.
func Run(ctx context.Context, bank Bank, opts *Options, in io.ReadCloser, out io.WriteCloser) error {
	server := New(bank, opts)
	server.AddReceivingMiddleware(until(ctx))
	err := server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if ctx.Err() != nil {
		return nil // as it was told to
	}
	return err
}

// until gives up calls when the context of their connection is over, which the
// library takes from them.
func until(connection context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(connection, cancel)()
			return next(ctx, method, req)
		}
	}
}
