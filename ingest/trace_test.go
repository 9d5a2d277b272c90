package ingest_test

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/sessionstore"
)

// A batch that serves several requests is in the trace of the oldest, and has links to
// the others that wait for its session, and to no other.
func TestBatchOfSeveralTraces(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	b := newBench(t, parts{opts: ingest.Options{Tracer: tracer}})
	var traces []string // of the requests for the session "s"
	request := func(session, id string, n int) {
		ctx, span := tracer.Start(t.Context(), "request")
		defer span.End()
		if _, err := b.service.Ingest(ctx, key(session), []sessionstore.Event{event(t, id, n, "I like figs.")}, ingest.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		if session == "s" {
			traces = append(traces, span.SpanContext().TraceID().String())
		}
	}
	request("s", "e1", 1)
	request("other", "e1", 1)
	request("s", "e2", 2)
	request("s", "e3", 3)
	untraced := b.ingest("s", event(t, "e4", 4, "I like tea."))
	stop := b.run()
	b.succeeds(untraced)
	stop()
	found := false
	for _, s := range recorder.Ended() {
		if s.Name() != "make memories" || s.SpanContext().TraceID().String() != traces[0] {
			continue
		}
		found = true
		links := map[string]bool{}
		for _, l := range s.Links() {
			links[l.SpanContext.TraceID().String()] = true
		}
		if len(s.Links()) != 2 || !links[traces[1]] || !links[traces[2]] {
			t.Errorf("the batch has links to %v, want %v", links, traces[1:])
		}
	}
	if !found {
		t.Error("no batch is in the trace of the oldest request")
	}
}
