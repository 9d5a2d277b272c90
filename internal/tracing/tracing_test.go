package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// recorded makes a tracer and returns what it has recorded.
func recorded(content bool, opts ...sdktrace.TracerProviderOption) (*tracing.Tracer, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(r))...)
	return tracing.New(provider.Tracer("test"), content), r
}

func attributes(s sdktrace.ReadOnlySpan) map[string]attribute.Value {
	out := map[string]attribute.Value{}
	for _, a := range s.Attributes() {
		out[string(a.Key)] = a.Value
	}
	return out
}

// all does all that a step does with its span.
func all(ctx context.Context, tracer *tracing.Tracer, header http.Header) {
	ctx, served := tracer.Serve(ctx, header, "POST", "/route")
	ctx, span := tracing.Start(ctx, "step")
	ctx, call := tracing.Model{Provider: "p", Name: "m", Address: "https://host"}.Call(ctx, tracing.Chat)
	call.Prompt("system", "data", 10)
	call.Answer("text", false, 1, 2, nil)
	call.End(nil)
	span.Int("n", 1)
	span.String("s", "t")
	span.Content("c", func() []string { return []string{"secret"} })
	span.Link(tracing.Parent(ctx))
	span.End(nil)
	served.Answered(200)
	served.End(nil)
}

// Without a tracer nothing is allocated.
func TestOff(t *testing.T) {
	if tracing.New(nil, true) != nil {
		t.Error("a tracer of nothing")
	}
	ctx := t.Context()
	header := http.Header{"Traceparent": {parent}}
	if n := testing.AllocsPerRun(100, func() { all(ctx, nil, header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if line := tracing.Log(ctx); line != nil {
		t.Errorf("a line of the log has %v", line)
	}
	if got := tracing.Parent(ctx); got != "" {
		t.Errorf("the parent is %q", got)
	}
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	parent  = "00-" + traceID + "-b7ad6b7169203331-01"
)

// A request continues its caller's trace, and so does the work that it leaves behind.
func TestOneTrace(t *testing.T) {
	tracer, r := recorded(false)
	ctx, served := tracer.Serve(t.Context(), http.Header{"Traceparent": {parent}}, "POST", "/v1/apps/:app")
	left := tracing.Parent(ctx)
	served.Answered(503)
	served.End(nil)
	_, work := tracer.Work(t.Context(), "work", left)
	work.Link("00-11111111111111111111111111111111-2222222222222222-01")
	work.Link("nonsense")
	work.Link("")
	work.End(fmt.Errorf("%w: private words", memory.ErrUnavailable))
	ended := r.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans", len(ended))
	}
	for _, s := range ended {
		if s.SpanContext().TraceID().String() != traceID || s.Status().Code != codes.Error || s.Status().Description != "" {
			t.Errorf("%s is in trace %s with status %+v", s.Name(), s.SpanContext().TraceID(), s.Status())
		}
	}
	request, worked := ended[0], ended[1]
	if request.Name() != "POST /v1/apps/:app" || request.SpanKind() != trace.SpanKindServer ||
		attributes(request)["error.type"].AsString() != "503" {
		t.Errorf("the request is %s, %v", request.Name(), request.Attributes())
	}
	if worked.Parent().SpanID() != request.SpanContext().SpanID() || worked.SpanKind() != trace.SpanKindConsumer ||
		attributes(worked)["error.type"].AsString() != "unavailable" || len(worked.Events()) != 0 || len(worked.Links()) != 1 {
		t.Errorf("the work has the parent %s, %v, links %v", worked.Parent().SpanID(), worked.Attributes(), worked.Links())
	}
}

// A trace that its caller or the sampler leaves out is left out whole, but has an id:
// the work that it leaves behind is left out too.
func TestNotSampled(t *testing.T) {
	for name, opts := range map[string][]sdktrace.TracerProviderOption{
		"by the caller":  nil,
		"by the sampler": {sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample()))},
	} {
		tracer, r := recorded(true, opts...)
		header := http.Header{}
		if opts == nil {
			header.Set("Traceparent", parent[:len(parent)-2]+"00")
		}
		ctx, served := tracer.Serve(t.Context(), header, "POST", "/")
		_, step := tracing.Start(ctx, "step")
		_, work := tracer.Work(t.Context(), "work", tracing.Parent(ctx))
		if served != nil || step != nil || work != nil || len(r.Started()) != 0 || tracing.Parent(ctx) == "" {
			t.Errorf("%s: %d spans, parent %q", name, len(r.Started()), tracing.Parent(ctx))
		}
		if len(tracing.Log(ctx)) != 4 {
			t.Errorf("%s: a line of the log has %v", name, tracing.Log(ctx))
		}
	}
}

// Spans show content only if it is asked for, and never the text of an error.
func TestContent(t *testing.T) {
	for _, content := range []bool{false, true} {
		tracer, r := recorded(content)
		ctx, root := tracer.Work(t.Context(), "work", "")
		_, call := tracing.Model{Provider: "openai", Name: "gpt", Address: "https://api.example.com"}.Call(ctx, tracing.Chat)
		call.Prompt("the instructions", "she said", 100)
		call.Answer("the answer", true, 7, 8, nil)
		call.End(nil)
		root.Content("memoryd.query", func() []string { return []string{"she asked"} })
		root.End(errors.New("she said"))
		shown := ""
		for _, s := range r.Ended() {
			shown += fmt.Sprint(s.Name(), s.Attributes(), s.Status(), s.Events())
		}
		for _, words := range []string{"the instructions", "she said", "the answer", "she asked"} {
			if got := strings.Contains(shown, words); got != content {
				t.Errorf("content %t: %q is shown: %t", content, words, got)
			}
		}
		got := attributes(r.Ended()[0])
		for name, want := range map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt",
			"gen_ai.request.max_tokens": int64(100), "gen_ai.usage.input_tokens": int64(7),
			"gen_ai.usage.output_tokens": int64(8), "server.address": "api.example.com", "server.port": int64(443),
		} {
			if got[name].AsInterface() != want {
				t.Errorf("%s is %v, want %v", name, got[name].AsInterface(), want)
			}
		}
		if s := r.Ended()[0]; s.Name() != "chat gpt" || s.SpanKind() != trace.SpanKindClient ||
			fmt.Sprint(got["gen_ai.response.finish_reasons"].AsStringSlice()) != "[length]" {
			t.Errorf("the call is %s, %v", s.Name(), got)
		}
		if kind := attributes(r.Ended()[1])["error.type"].AsString(); kind != "_OTHER" {
			t.Errorf("the error is %q", kind)
		}
	}
}

// BenchmarkStep is all that a request of three steps does for its trace.
func BenchmarkStep(b *testing.B) {
	on := tracing.New(sdktrace.NewTracerProvider().Tracer("test"), false)
	off := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer("test"), false)
	for name, tracer := range map[string]*tracing.Tracer{"off": nil, "on": on, "not sampled": off} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				all(context.Background(), tracer, nil)
			}
		})
	}
}
