package telemetry_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/memoryd/memoryd/internal/otlptest"
	"github.com/memoryd/memoryd/internal/telemetry"
)

// logs are lines that several goroutines write.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// begin starts to send to an endpoint. The end of the test closes.
func begin(t *testing.T, o telemetry.Options) (*telemetry.Telemetry, *logs) {
	t.Helper()
	l := &logs{}
	o.Log, o.Version = slog.New(slog.NewTextHandler(l, nil)), "v1"
	sends, err := telemetry.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sends.Close() })
	return sends, l
}

func span(t *testing.T, sends *telemetry.Telemetry, name string) {
	t.Helper()
	_, s := sends.Tracer().Start(t.Context(), name)
	s.End()
}

// No endpoint: nothing is sent, and all calls are allowed.
func TestOff(t *testing.T) {
	var off *telemetry.Telemetry
	if off.Tracer() != nil || off.Close() != nil {
		t.Error("nothing has a tracer, or cannot be closed")
	}
}

// Close sends what waits: spans and metrics, with the headers, below the path of the
// endpoint. Variables of the environment neither send it elsewhere nor add to it, except
// attributes of the resource.
func TestSends(t *testing.T) {
	elsewhere, c := otlptest.Start(t), otlptest.Start(t)
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": elsewhere.URL, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": elsewhere.URL,
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": elsewhere.URL, "OTEL_EXPORTER_OTLP_HEADERS": "other=1",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_TRACES_SAMPLER": "always_off",
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nonexistent",
	} {
		t.Setenv(name, value)
	}
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "memoryd_things_total"}, []string{"kind"})
	registry.MustRegister(counter)
	counter.WithLabelValues("good").Add(7)
	sends, l := begin(t, telemetry.Options{Endpoint: c.URL + "/base/", Headers: map[string]string{"X-Key": "secret"},
		Traces: true, Ratio: 1, Metrics: registry})
	telemetry.Unhurried(sends)
	span(t, sends, "one")
	if err := sends.Close(); err != nil {
		t.Fatal(err, l)
	}
	spans := c.Spans()
	if len(spans) != 1 || spans[0].Name != "one" {
		t.Fatalf("%d spans arrive: %s", len(spans), l)
	}
	about := spans[0].Resource
	if about["service.name"].GetStringValue() != "memoryd" || about["service.version"].GetStringValue() != "v1" ||
		about["deployment.environment.name"].GetStringValue() != "test" {
		t.Errorf("the resource is %v", about)
	}
	sum := c.Metrics()["memoryd_things_total"].GetSum()
	if sum == nil || !sum.IsMonotonic || sum.DataPoints[0].GetAsDouble() != 7 ||
		sum.DataPoints[0].Attributes[0].Value.GetStringValue() != "good" {
		t.Errorf("the metric is %v", sum)
	}
	for _, h := range c.Headers() {
		if h.Get("X-Key") != "secret" || h.Get("Other") != "" || h.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the headers are %v", h)
		}
	}
	if n := len(elsewhere.Headers()); n != 0 {
		t.Errorf("%d exports go where the environment says", n)
	}
}

// A share of the traces is sent. A caller that has decided is followed.
func TestRatio(t *testing.T) {
	c := otlptest.Start(t)
	sends, l := begin(t, telemetry.Options{Endpoint: c.URL, Traces: true, Ratio: 0.25})
	telemetry.Unhurried(sends)
	const n = 1000 // fits into the queue
	for range n {
		span(t, sends, "one")
	}
	if err := sends.Close(); err != nil {
		t.Fatal(err, l)
	}
	// 250 with a deviation of 14: a miss by 8 of those never happens.
	if got := len(c.Spans()); got < 140 || got > 360 {
		t.Errorf("%d of %d traces are sent", got, n)
	}
}

// Collectors that refuse, fail, redirect or hang hold up no span and no Close for long.
// The log has a line for each signal, without the headers. After Close nothing goes on.
func TestBadCollectors(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	elsewhere := otlptest.Start(t)
	hangs := make(chan struct{})
	var servers []*httptest.Server
	t.Cleanup(func() { // once all cases are over
		ended(t) // while a collector still hangs
		close(hangs)
		for _, c := range servers {
			c.Close()
		}
		if n := len(elsewhere.Headers()); n != 0 {
			t.Errorf("%d exports go where the collector says", n)
		}
	})
	for name, answer := range map[string]http.HandlerFunc{
		"refuses": nil,
		"fails": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no room for "+r.Header.Get("X-Key"), http.StatusInternalServerError)
		},
		"is busy": func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusServiceUnavailable) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"hangs": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
			select {
			case <-hangs:
			case <-r.Context().Done():
			}
		},
		"talks nonsense": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.Write(bytes.Repeat([]byte{0xff}, 1000))
		},
	} {
		endpoint := "http://" + gone.Addr().String()
		if answer != nil {
			c := httptest.NewServer(answer)
			servers, endpoint = append(servers, c), c.URL
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sends, l := begin(t, telemetry.Options{Endpoint: endpoint, Headers: map[string]string{"X-Key": "the secret"},
				Traces: true, Ratio: 1, Metrics: prometheus.NewRegistry()})
			began := time.Now()
			for i := range 20_000 { // ten times as many as wait in the queue
				span(t, sends, fmt.Sprint(i))
			}
			_ = sends.Close()
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it takes %v", took)
			}
			said := l.String()
			if n := strings.Count(said, "does not take traces"); n > 1 || n == 0 && name != "hangs" && name != "is busy" {
				t.Errorf("%d lines:\n%s", n, said)
			}
			if strings.Contains(said, "the secret") {
				t.Errorf("the log shows a header:\n%s", said)
			}
		})
	}
}

// ended waits until nothing of OpenTelemetry is at work.
func ended(t *testing.T) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := slices.DeleteFunc(strings.Split(string(stacks), "\n\n"), func(s string) bool {
			return !strings.Contains(s, "go.opentelemetry.io/otel")
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("still at work:\n%s", strings.Join(left, "\n\n"))
			return
		}
	}
}
