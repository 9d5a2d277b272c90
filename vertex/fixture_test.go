package vertex_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/vertex"
	"github.com/memoryd/memoryd/vertex/vertexgrpc"
	"github.com/memoryd/memoryd/vertex/vertexrest"
)

// gate lets calls in by the server of a Bank, as the command does.
type gate struct{ server *server.Server }

func (g gate) Enter(ctx context.Context, in vertex.Entry) (context.Context, string, func(error), error) {
	return g.server.Enter(ctx, server.Call{Method: in.Method, Protocol: in.Protocol, App: in.App, Takes: in.Takes,
		Request: in.Request, Bytes: in.Bytes, Read: in.Read, Shown: server.ShownKey(in.Request)})
}

func (g gate) Describe(err error, id string) (code int, status, message string) {
	return server.Describe(err, id)
}

// fixture is a memoryd that serves both protocols.
type fixture struct {
	t    testing.TB
	bank *memoryd.Bank
	rest http.Handler
	grpc *grpc.Server
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bank.Close(); err != nil {
			t.Error(err)
		}
	})
	p := bank.Parts()
	service := vertex.New(p.Ingest, p.Retriever, gate{p.Server}, nil)
	return &fixture{t, bank, vertexrest.New(service, nil), vertexgrpc.New(service)}
}

// call makes a request of REST, with a key if there is one.
func (f *fixture) call(key, method, path, body string) (code int, answer string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	f.rest.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Result().Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return w.Code, strings.TrimSpace(string(raw))
}

// must makes a request that succeeds.
func (f *fixture) must(method, path, body string) string {
	f.t.Helper()
	return f.mustAs("", method, path, body)
}

// mustAs makes a request with a key that succeeds.
func (f *fixture) mustAs(key, method, path, body string) string {
	f.t.Helper()
	code, answer := f.call(key, method, path, body)
	if code != http.StatusOK {
		f.t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	return answer
}
