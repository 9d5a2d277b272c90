package tracing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/gemini"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/openai"
)

// Calls of models have spans by the semantic conventions for generative AI, with their
// cost, one span for all tries. The service does not learn of the trace.
func TestCallsOfModels(t *testing.T) {
	type models struct {
		generator extract.Generator
		embedder  embed.Embedder
	}
	services := map[string]func(*testing.T, modeltest.Script) (*modeltest.Server, models){
		"openai": func(t *testing.T, script modeltest.Script) (*modeltest.Server, models) {
			s := modeltest.NewOpenAI(t, script)
			c, err := openai.New(&openai.Options{Getenv: s.Getenv, Wait: time.Microsecond})
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.Embedder("m", 384)
			if err != nil {
				t.Fatal(err)
			}
			return s, models{c.Generator("m"), e}
		},
		"gcp.gemini": func(t *testing.T, script modeltest.Script) (*modeltest.Server, models) {
			s := modeltest.NewGemini(t, script)
			c, err := gemini.New(&gemini.Options{Getenv: s.Getenv, Wait: time.Microsecond})
			if err != nil {
				t.Fatal(err)
			}
			e, err := c.Embedder("m", 384)
			if err != nil {
				t.Fatal(err)
			}
			return s, models{c.Generator("m"), e}
		},
	}
	prompt := extract.Prompt{System: "Find facts.", Data: "I moved to Porto.", MaxTokens: 1000,
		Schema: map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}, "required": []string{}}}
	for provider, open := range services {
		t.Run(provider, func(t *testing.T) {
			tracer, r := recorded(false)
			ctx, root := tracer.Work(t.Context(), "work", parent)
			s, m := open(t, modeltest.Replies(modeltest.Reply{Status: 503}, modeltest.Reply{Text: "{}", Input: 7, Output: 3},
				modeltest.Reply{}, modeltest.Reply{Status: 401}))
			if _, err := m.generator.Generate(ctx, prompt); err != nil {
				t.Fatal(err)
			}
			if _, err := m.embedder.Embed(ctx, embed.Document, []string{"Porto"}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.generator.Generate(ctx, prompt); err == nil {
				t.Fatal("a call without a key succeeds")
			}
			root.End(nil)
			for _, q := range s.Requests() {
				if h := q.Header.Get("Traceparent"); h != "" {
					t.Errorf("the service gets the trace %s", h)
				}
			}
			ended := r.Ended()
			if len(ended) != 4 {
				t.Fatalf("%d spans", len(ended))
			}
			for i, want := range []map[string]any{
				{"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": int64(7), "gen_ai.usage.output_tokens": int64(3),
					"gen_ai.output.type": "json", "gen_ai.request.max_tokens": int64(1000), "error.type": nil},
				{"gen_ai.operation.name": "embeddings", "gen_ai.embeddings.dimension.count": int64(384), "error.type": nil},
				{"gen_ai.operation.name": "chat", "error.type": "invalid", "gen_ai.usage.input_tokens": nil},
			} {
				got := attributes(ended[i])
				want["gen_ai.provider.name"], want["gen_ai.request.model"], want["server.address"] = provider, "m", "127.0.0.1"
				for name, value := range want {
					if got[name].AsInterface() != value {
						t.Errorf("%s: %s is %v, want %v", ended[i].Name(), name, got[name].AsInterface(), value)
					}
				}
				if ended[i].SpanContext().TraceID().String() != traceID || ended[i].Name() != fmt.Sprint(want["gen_ai.operation.name"], " m") {
					t.Errorf("%s is in trace %s", ended[i].Name(), ended[i].SpanContext().TraceID())
				}
			}
		})
	}
}
