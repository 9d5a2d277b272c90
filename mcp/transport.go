package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"

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
	server := s.server()
	server.AddReceivingMiddleware(endWith(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	getServer := func(*http.Request) *sdk.Server { return server }
	sdk.NewStreamableHTTPHandler(getServer, &streamable).ServeHTTP(w, r)
}

// Run serves one client that sends messages as lines of in and reads lines of
// out. It returns nil when in or ctx ends.
func Run(ctx context.Context, bank Bank, opts *Options, in io.ReadCloser, out io.WriteCloser) error {
	server := New(bank, opts)
	server.AddReceivingMiddleware(endWith(ctx))
	err := server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
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
