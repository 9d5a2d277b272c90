// Package otlptest is a collector of OpenTelemetry for tests: a server of OTLP over HTTP
// that keeps what it gets.
package otlptest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it arrived, with its attributes by name and those of the resource.
type Span struct {
	*trace.Span
	Attributes map[string]*common.AnyValue
	Resource   map[string]*common.AnyValue
}

// Text is an attribute that is a string; "" if there is none.
func (s Span) Text(name string) string { return s.Attributes[name].GetStringValue() }

// Int is an attribute that is an integer; 0 if there is none.
func (s Span) Int(name string) int64 { return s.Attributes[name].GetIntValue() }

// Collector takes traces and metrics.
type Collector struct {
	URL string

	mu      sync.Mutex
	spans   []Span
	metrics map[string]*metrics.Metric
	raw     []byte
	headers []http.Header
	answer  http.HandlerFunc // in place of its own; nil for none
}

// Start starts a collector, which the end of the test stops.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{metrics: map[string]*metrics.Metric{}}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	c.URL = server.URL
	return c
}

// Answer has requests answered by a handler, and not kept; by the collector again if the
// handler is nil.
func (c *Collector) Answer(with http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = with
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := body(r)
	c.mu.Lock()
	answer := c.answer
	c.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	if err == nil {
		err = c.keep(r, raw)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// body reads the whole body, so that the end of the connection is noticed after it.
func body(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

func (c *Collector) keep(r *http.Request, raw []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, raw...)
	c.headers = append(c.headers, r.Header.Clone())
	if strings.HasSuffix(r.URL.Path, "/v1/metrics") {
		var got colmetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(raw, &got); err != nil {
			return err
		}
		for _, of := range got.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
		return nil
	}
	var got coltrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(raw, &got); err != nil {
		return err
	}
	for _, of := range got.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, Span{s, byName(s.Attributes), byName(of.Resource.Attributes)})
			}
		}
	}
	return nil
}

func byName(attributes []*common.KeyValue) map[string]*common.AnyValue {
	out := map[string]*common.AnyValue{}
	for _, a := range attributes {
		out[a.Key] = a.Value
	}
	return out
}

// Spans are those that have arrived so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span{}, c.spans...)
}

// Named waits until a span has arrived whose name begins so, and returns the first.
func (c *Collector) Named(t testing.TB, name string) Span {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all := c.Spans()
		for _, s := range all {
			if strings.HasPrefix(s.Name, name) {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no span %q arrives, but %d others", name, len(all))
		}
	}
}

// Metrics are the last of each name that have arrived.
func (c *Collector) Metrics() map[string]*metrics.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]*metrics.Metric{}
	for name, m := range c.metrics {
		out[name] = m
	}
	return out
}

// Raw are all bytes of the bodies that have arrived, unzipped.
func (c *Collector) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// Headers are those of the requests that have arrived.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]http.Header{}, c.headers...)
}
