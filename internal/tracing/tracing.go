// Package tracing writes the traces of memoryd. A span is one step of a request or of a
// batch. The context of a step that is traced has the tracer, so that each package
// begins spans of its own without knowing who reads them. Without a tracer all of it
// does nothing, and allocates nothing.
//
// No span has text that a user said, the name of a user or a session, or the text of an
// error, unless the content is asked for. Content adds events, queries and prompts.
package tracing

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/memory"
)

// Tracer begins traces. A nil Tracer begins none.
type Tracer struct {
	tracer  trace.Tracer
	content bool
}

// New makes a Tracer; nil if tracer is nil. content says that spans have what was said,
// asked and answered.
func New(tracer trace.Tracer, content bool) *Tracer {
	if tracer == nil {
		return nil
	}
	return &Tracer{tracer, content}
}

// key is the key of the *Tracer in the context of a step that is traced.
type key struct{}

// Span is one step that is traced. A nil Span is of a step that is not.
type Span struct {
	span    trace.Span
	content bool
}

// begin begins a span. Steps within one that is not sampled begin none.
func (t *Tracer) begin(ctx context.Context, name string, kind trace.SpanKind, opts ...trace.SpanStartOption) (
	context.Context, *Span) {
	ctx, span := t.tracer.Start(ctx, name, append(opts, trace.WithSpanKind(kind))...)
	if !span.IsRecording() {
		span.End()
		return context.WithValue(ctx, key{}, (*Tracer)(nil)), nil
	}
	return context.WithValue(ctx, key{}, t), &Span{span, t.content}
}

// Start begins a step within the one that ctx is of. The caller ends it.
func Start(ctx context.Context, name string) (context.Context, *Span) {
	return start(ctx, name, trace.SpanKindInternal)
}

func start(ctx context.Context, name string, kind trace.SpanKind) (context.Context, *Span) {
	t, _ := ctx.Value(key{}).(*Tracer)
	if t == nil {
		return ctx, nil
	}
	return t.begin(ctx, name, kind)
}

// Serve begins the span of a request over HTTP, which continues the trace that its
// header names. route is the pattern that the path matched.
func (t *Tracer) Serve(ctx context.Context, header http.Header, method, route string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	ctx, span := t.begin(ctx, method+" "+route, trace.SpanKindServer)
	span.String("http.request.method", method)
	span.String("http.route", route)
	return ctx, span
}

// Answered tells the status of the answer to a request. It does not end the span.
func (s *Span) Answered(status int) {
	if s == nil {
		return
	}
	s.Int("http.response.status_code", status)
	if status >= 500 {
		s.span.SetStatus(codes.Error, "")
		s.String("error.type", strconv.Itoa(status))
	}
}

// Work begins the span of work that a request has left behind, in the trace of that
// request, which parent names as a traceparent; a trace of its own if parent is "".
func (t *Tracer) Work(ctx context.Context, name, parent string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return t.begin(within(ctx, parent), name, trace.SpanKindConsumer)
}

// header is the name of a traceparent, as its library has it.
const header = "traceparent"

func within(ctx context.Context, parent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: parent})
}

// Link says that the step is also one of the trace that parent names as a traceparent.
func (s *Span) Link(parent string) {
	if s == nil {
		return
	}
	if other := trace.SpanContextFromContext(within(context.Background(), parent)); other.IsValid() {
		s.span.AddLink(trace.Link{SpanContext: other})
	}
}

// Parent returns the traceparent of the step that ctx is of; "" if there is no trace.
func Parent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Log returns the arguments of a log line that name the trace which ctx is of; none if
// there is no trace.
func Log(ctx context.Context) []any {
	if in := trace.SpanContextFromContext(ctx); in.IsValid() {
		return []any{"trace_id", in.TraceID().String(), "span_id", in.SpanID().String()}
	}
	return nil
}

// String adds an attribute, which must hold no content and name no user.
func (s *Span) String(name, value string) {
	if s != nil {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// Int adds an attribute.
func (s *Span) Int(name string, value int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(name, value))
	}
}

// Content adds an attribute that holds content, if the content is asked for.
func (s *Span) Content(name string, values func() []string) {
	if s != nil && s.content {
		s.span.SetAttributes(attribute.StringSlice(name, values()))
	}
}

// End ends the step. Of an error it tells the kind alone, as the text may hold content.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
		s.String("error.type", kind(err))
	}
	s.span.End()
}

// kind is a word for an error, of a small set.
func kind(err error) string {
	for _, k := range []struct {
		err  error
		word string
	}{
		{context.Canceled, "canceled"}, {context.DeadlineExceeded, "timeout"},
		{memory.ErrInvalid, "invalid"}, {memory.ErrNotFound, "not_found"}, {memory.ErrExists, "exists"},
		{memory.ErrAborted, "aborted"}, {memory.ErrUnavailable, "unavailable"}, {memory.ErrExhausted, "exhausted"},
	} {
		if errors.Is(err, k.err) {
			return k.word
		}
	}
	return "_OTHER"
}
