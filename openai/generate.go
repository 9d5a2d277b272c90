package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/internal/tracing"
)

// DefaultModel is a small one of the current generation.
const DefaultModel = "gpt-5.4-mini"

// thinkingRoom is added to the token limit of an answer from a model that thinks,
// because its thoughts count there. It is an estimate, several times what a little
// thinking about a question of this kind takes.
const thinkingRoom = 4096

// dialect is the part of the API that a service takes. Services that speak the API
// know more or less of it. A Generator finds out when a service refuses a request,
// and remembers it.
type dialect struct {
	jsonObject    bool // response_format is json_object, and the schema is in the instructions
	maxTokens     bool // max_tokens rather than max_completion_tokens
	noEffort      bool // without reasoning_effort
	noTemperature bool // without temperature
}

// Generator implements extract.Generator.
type Generator struct {
	client *Client
	model  string
	caller remote.Caller

	mu      sync.Mutex
	dialect dialect
}

var _ extract.Generator = (*Generator)(nil)

// thinks matches OpenAI's models that think before they answer: the o-series, and
// all from gpt-5 on. They take no temperature.
var thinks = regexp.MustCompile(`(^|/)(o\d|gpt-([5-9]|\d\d))`)

// Generator returns the generator of a model. The empty name is DefaultModel.
func (c *Client) Generator(model string) *Generator {
	if model == "" {
		model = DefaultModel
	}
	g := &Generator{client: c, model: model, caller: c.callerOf(model, remote.GenerateTimeout)}
	// OpenAI's models that think know max_completion_tokens alone. Ollama and others
	// know max_tokens alone and ignore the other, which would leave an answer without
	// a limit. Services that want the other refuse this one.
	g.dialect.maxTokens = !c.official
	g.dialect.noTemperature = thinks.MatchString(model)
	g.dialect.noEffort = !g.dialect.noTemperature
	return g
}

// Model implements extract.Generator.
func (g *Generator) Model() string { return g.caller.Name }

// Generate implements extract.Generator. The answer has the usage of a refusal, too.
func (g *Generator) Generate(ctx context.Context, p extract.Prompt) (a extract.Answer, err error) {
	ctx, span := g.caller.Span(ctx, tracing.Chat)
	defer func() {
		span.Answer(a.Text, a.Cut, a.InputTokens, a.OutputTokens, err)
		span.End(err)
	}()
	span.Prompt(p.System, p.Data, p.MaxTokens)
	g.mu.Lock()
	d := g.dialect
	g.mu.Unlock()
	tried := map[dialect]bool{}
	for {
		tried[d] = true
		resp, err := g.ask(ctx, p, d)
		if err == nil {
			g.mu.Lock()
			g.dialect = d
			g.mu.Unlock()
			return g.read(resp)
		}
		e := (*remote.Error)(nil)
		if !errors.As(err, &e) {
			return extract.Answer{}, err
		}
		if e.Refused {
			return extract.Answer{}, g.refusal(e.Message)
		}
		if d = d.without(e); tried[d] {
			return extract.Answer{}, err
		}
	}
}

// without returns a dialect that avoids what the service refuses, or d itself if e
// does not tell that.
func (d dialect) without(e *remote.Error) dialect {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return d
	}
	text := e.Param + " " + e.Message
	names := func(word string) bool { return strings.Contains(text, word) }
	switch {
	case names("Invalid schema"): // the service knows the format; an error in the schema should be seen
	case !d.jsonObject && (names("response_format") || names("json_schema")):
		d.jsonObject = true
	case d.maxTokens && names("max_tokens"), !d.maxTokens && names("max_completion_tokens"):
		d.maxTokens = !d.maxTokens
	case !d.noEffort && names("reasoning_effort"):
		d.noEffort = true
	case !d.noTemperature && names("temperature"):
		d.noTemperature = true
	}
	return d
}

func (g *Generator) ask(ctx context.Context, p extract.Prompt, d dialect) (*chatAnswer, error) {
	request, err := g.request(p, d)
	if err != nil {
		return nil, err
	}
	return remote.Do(ctx, &g.caller, func(ctx context.Context) (*chatAnswer, error) {
		answer := new(chatAnswer)
		if err := g.client.post(ctx, "/chat/completions", request, answer); err != nil {
			return nil, err
		}
		if len(answer.Choices) == 0 {
			return nil, g.caller.Faulty("its answer has no choices")
		}
		return answer, nil
	})
}

// request writes a prompt in a dialect.
func (g *Generator) request(p extract.Prompt, d dialect) (*chatRequest, error) {
	request := &chatRequest{Model: g.model}
	system := p.System
	if d.jsonObject {
		schema, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, g.caller.Invalid("the schema: %v", err)
		}
		const ask = "Answer with one JSON object that fits this JSON Schema, and with nothing else:"
		system = strings.TrimSpace(system + "\n\n" + ask + "\n" + string(schema))
		request.ResponseFormat.Type = "json_object"
	} else {
		request.ResponseFormat.Type = "json_schema"
		request.ResponseFormat.JSONSchema = &jsonSchema{Name: "answer", Strict: true, Schema: p.Schema}
	}
	if system != "" {
		request.Messages = append(request.Messages, message{"system", system})
	}
	request.Messages = append(request.Messages, message{"user", p.Data})
	limit := p.MaxTokens
	if thinks.MatchString(g.model) {
		limit += thinkingRoom
	}
	switch {
	case p.MaxTokens == 0:
	case d.maxTokens:
		request.MaxTokens = limit
	default:
		request.MaxCompletionTokens = limit
	}
	if !d.noTemperature {
		request.Temperature = new(0.0)
	}
	if !d.noEffort {
		request.ReasoningEffort = "low" // the lowest that all but a few models know
	}
	return request, nil
}

// read finds the answer in the first choice.
func (g *Generator) read(resp *chatAnswer) (a extract.Answer, err error) {
	a.Calls = 1
	a.InputTokens, a.OutputTokens = int(resp.Usage.PromptTokens), int(resp.Usage.CompletionTokens)
	choice := resp.Choices[0]
	switch {
	case choice.FinishReason == "content_filter":
		return a, g.refusal("content_filter")
	case choice.Message.Refusal != "":
		return a, g.refusal(string(choice.Message.Refusal))
	}
	a.Text, a.Cut = string(choice.Message.Content), choice.FinishReason == "length"
	return a, nil
}

func (g *Generator) refusal(reason string) error {
	return fmt.Errorf("%s: %s: %w", g.caller.Name, g.caller.Clean(reason), extract.ErrRefused)
}
