// Package telemetry sends traces and metrics to a collector of OpenTelemetry, by OTLP
// over HTTP. It is the only user of OpenTelemetry's SDK. Requests and batches never wait
// for a collector: spans wait in a queue of bounded length, and are dropped when it is
// full.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sourcegraph/conc"
)

// Options of Start.
type Options struct {
	// Endpoint is the base URL of the collector, without /v1/traces and /v1/metrics.
	Endpoint string
	// Headers are sent with each export. Their values are secrets: no log shows them.
	Headers map[string]string
	Traces  bool
	// Ratio is the share of traces that are kept, 0 to 1, of those that no caller has
	// decided about.
	Ratio float64
	// Metrics are sent every minute. Nil sends none.
	Metrics prometheus.Gatherer
	Version string       // of memoryd
	Log     *slog.Logger // gets failures of exports, at a bounded rate
}

// Bounds of exports.
const (
	exportTime = 10 * time.Second // of one try
	// closeTime is how long Close waits for the last export. It is well within the grace
	// that a supervisor gives a process which it stops.
	closeTime = 5 * time.Second
	// maxAttribute is how many characters a span shows of a text, where it shows content.
	maxAttribute = 32 << 10
)

// Telemetry sends until Close. A nil one sends nothing.
type Telemetry struct {
	traces  *sdktrace.TracerProvider // nil without traces
	metrics *metric.MeterProvider    // nil without metrics
	// abort ends an export of traces that is on its way.
	abort     func(context.Context) error
	closeTime time.Duration // that Close waits
}

// Start begins to send. It calls no service before there is something to send.
func Start(o Options) (*Telemetry, error) {
	about, err := resource.Merge(resource.NewSchemaless(
		attribute.String("service.name", "memoryd"),
		attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", uuid.NewString()),
	), resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	base := strings.TrimRight(o.Endpoint, "/")
	// All options of the exporters are given, so that no variable of the environment
	// changes where data goes and what goes with it.
	client := &http.Client{Timeout: exportTime, Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
	ctx := context.Background()
	t := &Telemetry{closeTime: closeTime}
	if o.Traces {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"),
			otlptracehttp.WithHeaders(o.Headers), otlptracehttp.WithHTTPClient(client),
			otlptracehttp.WithTLSClientConfig(nil),
			otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		limits := sdktrace.NewSpanLimits()
		limits.AttributeValueLengthLimit = maxAttribute
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithRawSpanLimits(limits),
			sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
			sdktrace.WithBatcher(&watchedSpans{exporter, newWatch("traces", o)}))
		t.abort = exporter.Shutdown
	}
	if o.Metrics != nil {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"),
			otlpmetrichttp.WithHeaders(o.Headers), otlpmetrichttp.WithHTTPClient(client),
			otlpmetrichttp.WithTLSClientConfig(nil),
			otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("metrics: %w", err), t.Close())
		}
		t.metrics = metric.NewMeterProvider(metric.WithResource(about), metric.WithReader(metric.NewPeriodicReader(
			&watchedMetrics{exporter, newWatch("metrics", o)},
			metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(o.Metrics))))))
	}
	return t, nil
}

// errRedirect is the error of a collector that redirects: the headers hold secrets for
// the one that was named.
var errRedirect = errors.New("it redirects, which is not followed")

// Tracer begins the spans that are sent; nil if none are.
func (t *Telemetry) Tracer() trace.Tracer {
	if t == nil || t.traces == nil {
		return nil
	}
	return t.traces.Tracer("github.com/memoryd/memoryd")
}

// Close sends what waits, and the metrics a last time, for at most closeTime. It is
// called before the stores close, as metrics read them.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.closeTime)
	defer cancel()
	var closing conc.WaitGroup
	var errs [2]error
	if t.metrics != nil {
		closing.Go(func() { errs[0] = t.metrics.Shutdown(ctx) })
	}
	if t.traces != nil {
		closing.Go(func() { errs[1] = t.traces.Shutdown(ctx) })
	}
	closing.Wait()
	if t.abort != nil && ctx.Err() != nil {
		_ = t.abort(ctx) // the error says that the time is over
	}
	return errors.Join(errs[:]...)
}
