package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/memoryd/memoryd/memory"
)

// logEvery is the least time between two lines about one kind of export that fails.
const logEvery = time.Minute

// maxSaid is how many bytes a line has of an error, which may repeat an answer of the
// collector.
const maxSaid = 300

// watch logs how exports go. The SDK would hand their errors to a handler that all of
// the process shares.
type watch struct {
	what    string // is exported
	secrets []string
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex
	failed int // since the last line
	ok     bool
	logged time.Time
}

func newWatch(what string, o Options) *watch {
	w := &watch{what: what, log: o.Log, now: time.Now, ok: true}
	for _, value := range o.Headers {
		w.secrets = append(w.secrets, value)
	}
	return w
}

// saw notes the end of an export.
func (w *watch) saw(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		if !w.ok {
			w.log.Info("the collector takes "+w.what+" again", "failed", w.failed)
		}
		w.ok, w.failed = true, 0
		return
	}
	w.ok = false
	w.failed++
	if now := w.now(); w.logged.IsZero() || now.Sub(w.logged) >= logEvery {
		w.log.Warn("the collector does not take "+w.what+": those of the export are lost", "failed", w.failed,
			"err", w.clean(err.Error()))
		w.logged, w.failed = now, 0
	}
}

// clean makes a text fit for the log: on one line, short, and without secrets.
func (w *watch) clean(text string) string {
	for _, secret := range w.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[header]")
		}
	}
	return memory.Cut(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxSaid)
}

// watchedSpans exports spans. Its errors end in the log.
type watchedSpans struct {
	*otlptrace.Exporter
	*watch
}

// ExportSpans implements sdktrace.SpanExporter.
func (w *watchedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	w.saw(w.Exporter.ExportSpans(ctx, spans))
	return nil
}

// watchedMetrics exports metrics. Its errors end in the log.
type watchedMetrics struct {
	metric.Exporter
	*watch
}

// Export implements metric.Exporter.
func (w *watchedMetrics) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	w.saw(w.Exporter.Export(ctx, m))
	return nil
}
