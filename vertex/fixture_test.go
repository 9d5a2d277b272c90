package vertex_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/redissession"
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

func (g gate) EraseApp(ctx context.Context, app string) error {
	_, err := g.server.EraseApp(ctx, app)
	return err
}

func (g gate) Authenticate(ctx context.Context, in vertex.Entry) (vertex.Room, error) {
	return g.server.Authenticate(ctx, server.Call{Method: in.Method, Protocol: in.Protocol, Request: in.Request,
		Shown: server.ShownKey(in.Request)})
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
	return serve(t, bank, nil)
}

// serve serves a bank over both protocols. Where opts sets no Wait, a call waits for its
// memories however slow the machine is.
func serve(t testing.TB, bank *memoryd.Bank, opts *vertex.Options) *fixture {
	var o vertex.Options
	if opts != nil {
		o = *opts
	}
	o.Wait = cmp.Or(o.Wait, time.Minute)
	p := bank.Parts()
	service := vertex.New(p.Ingest, p.Retriever, gate{p.Server}, &o)
	return &fixture{t, bank, vertexrest.New(service, nil), vertexgrpc.New(service)}
}

// newScaledFixture is a fixture over Redis and Qdrant.
func newScaledFixture(t testing.TB) *fixture {
	t.Helper()
	sessions, err := redissession.Open(t.Context(), redistest.Start(t).URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sessions.Close() })
	memories, err := qdrantstore.Open(t.Context(), qdranttest.Start(t).URL(t), memoryd.ModelOf(embed.Builtin{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memories.Close() })
	return running(t, memoryd.New(sessions, memories, nil), nil)
}

// running serves a bank that makes memories until the end of the test.
func running(t testing.TB, bank *memoryd.Bank, opts *vertex.Options) *fixture {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan struct{})
	go func() { bank.Run(ctx); close(ran) }()
	t.Cleanup(func() {
		bank.Stop()
		stop()
		<-ran
	})
	return serve(t, bank, opts)
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
