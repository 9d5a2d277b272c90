package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Requests of routes below /v1 and /mcp are traced, refused ones too, by the pattern of
// their route. Probes and paths without a route are not. Spans have the app, and no
// other word of the client's, nor of an error.
func TestTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	var log strings.Builder
	a := start(t, func(s *setup) {
		s.server.Tracer, s.ingest.Tracer = tracer, tracer
		s.server.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	const trace = "0af7651916cd43dd8448eb211c80319c"
	const user = "/v1/apps/the-app/users/private-user"
	for _, c := range []struct {
		method, path, body string
		status             int
		name               string // of the span; "" for none
	}{
		{"GET", "/livez", "", 200, ""}, {"GET", "/readyz", "", 200, ""}, {"GET", "/metrics", "", 200, ""}, {"GET", "/", "", 200, ""},
		{"GET", "/v1/private", "", 404, ""}, {"GET", user + "/private/path", "", 404, ""}, {"PRIVATE", user + "/memories", "", 405, ""},
		{"GET", "/v1/tools", "", 200, "GET /v1/tools"},
		{"GET", user + "/memories", "", 200, "GET /v1/apps/:app/users/:user/memories"},
		{"GET", user + "/memories/private-memory?private=word", "", 400, "GET /v1/apps/:app/users/:user/memories/:memory"},
		{"POST", user + "/memories/search", `{"query": "private query", "topK": -1}`, 400, "POST /v1/apps/:app/users/:user/memories/search"},
		{"POST", user + "/memories/search", `{"query": "private query"}`, 200, "POST /v1/apps/:app/users/:user/memories/search"},
		{"POST", user + "/tools/search_memory", `{"args": {"query": "private query"}}`, 200, "POST /v1/apps/:app/users/:user/tools/:tool"},
	} {
		before := len(recorder.Ended())
		got := a.do(c.method, c.path, c.body, "Traceparent", "00-"+trace+"-b7ad6b7169203331-01", "Tracestate", "private=state", "Baggage", "private=word")
		if got.status != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, got.status, got.raw, c.status)
		}
		a.server.Wait()
		ended := recorder.Ended()[before:]
		if c.name == "" {
			if len(ended) > 0 {
				t.Errorf("%s %s has the span %s", c.method, c.path, ended[0].Name())
			}
			continue
		}
		if len(ended) == 0 {
			t.Errorf("%s %s has no span", c.method, c.path)
			continue
		}
		s := ended[len(ended)-1]
		attributes := map[attribute.Key]any{}
		for _, kv := range s.Attributes() {
			attributes[kv.Key] = kv.Value.AsInterface()
		}
		want := map[attribute.Key]any{"http.request.method": c.method, "http.route": strings.TrimPrefix(c.name, c.method+" "),
			"http.response.status_code": int64(c.status)}
		if strings.HasPrefix(c.path, user) {
			want["memoryd.app"] = "the-app"
		}
		if diff := cmp.Diff(want, attributes); s.Name() != c.name || diff != "" {
			t.Errorf("%s %s is %s (-want +got):\n%s", c.method, c.path, s.Name(), diff)
		}
		for _, s := range ended {
			if all := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status()); strings.Contains(all, "private") {
				t.Errorf("a span shows what the client sent: %s", all)
			}
			if s.SpanContext().TraceID().String() != trace {
				t.Errorf("%s is in trace %s", s.Name(), s.SpanContext().TraceID())
			}
		}
	}
	if !strings.Contains(log.String(), "trace_id="+trace+" span_id=") {
		t.Errorf("the log names no trace:\n%s", log.String())
	}
}

// BenchmarkTrace measures a request that does little, without traces, and with traces
// that are and are not sampled.
func BenchmarkTrace(b *testing.B) {
	for name, opts := range map[string][]sdktrace.TracerProviderOption{
		"off":         nil,
		"on":          {sdktrace.WithSampler(sdktrace.AlwaysSample())},
		"not sampled": {sdktrace.WithSampler(sdktrace.NeverSample())},
	} {
		b.Run(name, func(b *testing.B) {
			srv := build(b, func() {}, func(s *setup) {
				if opts != nil {
					s.server.Tracer = sdktrace.NewTracerProvider(opts...).Tracer("test")
				}
			})
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("GET", "http://127.0.0.1/v1/apps/a/users/u/memories/none", nil)
				w := httptest.NewRecorder()
				if srv.ServeHTTP(w, r); w.Code != http.StatusNotFound {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
