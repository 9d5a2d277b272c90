package tracing

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// The operations of models, as the semantic conventions for generative AI name them.
const (
	Chat       = "chat"
	Embeddings = "embeddings"
)

// Model is a model of a service.
type Model struct {
	Provider string // as the semantic conventions for generative AI name it
	Name     string
	Address  string // scheme and host of the service
}

// Call begins the span of a call of a model, its tries together, by the semantic
// conventions for generative AI.
func (m Model) Call(ctx context.Context, operation string) (context.Context, *Span) {
	ctx, s := start(ctx, operation, trace.SpanKindClient)
	if s == nil {
		return ctx, nil
	}
	s.span.SetName(operation + " " + m.Name)
	s.String("gen_ai.operation.name", operation)
	s.String("gen_ai.provider.name", m.Provider)
	s.String("gen_ai.request.model", m.Name)
	if u, err := url.Parse(m.Address); err == nil {
		s.String("server.address", u.Hostname())
		port, known := map[string]int{"http": 80, "https": 443}[u.Scheme]
		if n, err := strconv.Atoi(u.Port()); err == nil {
			port, known = n, true
		}
		if known {
			s.Int("server.port", port)
		}
	}
	return ctx, s
}

// part and message are the forms of messages in the semantic conventions.
type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

type message struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

// Prompt tells what a model is asked: content, but for the most tokens of the answer.
func (s *Span) Prompt(system, data string, maxTokens int) {
	if s == nil {
		return
	}
	s.String("gen_ai.output.type", "json")
	if maxTokens > 0 {
		s.Int("gen_ai.request.max_tokens", maxTokens)
	}
	s.asJSON("gen_ai.system_instructions", []part{{"text", system}})
	s.asJSON("gen_ai.input.messages", []message{{Role: "user", Parts: []part{{"text", data}}}})
}

// Answer tells what a model has answered, which is content, and what that cost. cut says
// that the answer reached the limit on its tokens, and err why there is none: a refusal
// may cost tokens all the same.
func (s *Span) Answer(text string, cut bool, inputTokens, outputTokens int, err error) {
	if s == nil {
		return
	}
	if inputTokens+outputTokens > 0 {
		s.Int("gen_ai.usage.input_tokens", inputTokens)
		s.Int("gen_ai.usage.output_tokens", outputTokens)
	}
	if err != nil {
		return
	}
	finish := "stop"
	if cut {
		finish = "length"
	}
	s.span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{finish}))
	s.asJSON("gen_ai.output.messages",
		[]message{{Role: "assistant", Parts: []part{{"text", text}}, FinishReason: finish}})
}

// asJSON adds an attribute that holds content.
func (s *Span) asJSON(name string, v any) {
	if !s.content {
		return
	}
	raw, err := json.Marshal(v)
	if err == nil {
		s.String(name, string(raw))
	}
}
