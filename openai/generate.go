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
)

// DefaultModel is a small one of the current generation.
const DefaultModel = "gpt-5.4-mini"

// thinkingRoom is how many tokens are added to what an answer of a model that
// thinks may have: what it thinks counts there. An estimate, several times what
// little thinking of a question of this kind takes.
const thinkingRoom = 4096

// manner is how a model is asked. Services that speak this API know more or less
// of it; what one does not take shows when it is asked, and is remembered.
type manner struct {
	object    bool // the schema is told in words, and only that JSON is wanted is set
	maxTokens bool // max_tokens rather than max_completion_tokens
	noEffort  bool // reasoning_effort is left out
	noDegree  bool // temperature is left out
}

// Generator implements extract.Generator.
type Generator struct {
	client *Client
	model  string
	caller remote.Caller

	mu     sync.Mutex
	manner manner
}

var _ extract.Generator = (*Generator)(nil)

// thinks finds OpenAI's models that think before they answer: the o-series, and
// all from gpt-5 on. They take no temperature.
var thinks = regexp.MustCompile(`(^|/)(o\d|gpt-([5-9]|\d\d))`)

// Generator is a model that answers. The empty name is DefaultModel.
func (c *Client) Generator(model string) *Generator {
	if model == "" {
		model = DefaultModel
	}
	g := &Generator{client: c, model: model, caller: c.of(model, remote.GenerateTimeout)}
	// OpenAI's models that think know max_completion_tokens alone. Ollama and
	// others know max_tokens alone, and take no notice of the other, so that an
	// answer had no bound; those that want the other say so.
	g.manner.maxTokens = !c.official
	g.manner.noDegree = thinks.MatchString(model)
	g.manner.noEffort = !g.manner.noDegree
	return g
}

// Model implements extract.Generator.
func (g *Generator) Model() string { return g.caller.Name }

// Generate implements extract.Generator. A refusal comes with what it has cost.
func (g *Generator) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	g.mu.Lock()
	m := g.manner
	g.mu.Unlock()
	asked := map[manner]bool{}
	for {
		asked[m] = true
		resp, err := g.ask(ctx, p, m)
		if err == nil {
			g.mu.Lock()
			g.manner = m
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
		if m = m.without(e); asked[m] {
			return extract.Answer{}, err
		}
	}
}

// without is a manner that avoids what the service has not taken; m itself if
// that is not known.
func (m manner) without(e *remote.Error) manner {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return m
	}
	text := e.Param + " " + e.Message
	names := func(word string) bool { return strings.Contains(text, word) }
	switch {
	case names("Invalid schema"): // the format is known, and a fault of ours should be seen
	case !m.object && (names("response_format") || names("json_schema")):
		m.object = true
	case m.maxTokens && names("max_tokens"), !m.maxTokens && names("max_completion_tokens"):
		m.maxTokens = !m.maxTokens
	case !m.noEffort && names("reasoning_effort"):
		m.noEffort = true
	case !m.noDegree && names("temperature"):
		m.noDegree = true
	}
	return m
}

func (g *Generator) ask(ctx context.Context, p extract.Prompt, m manner) (*chatAnswer, error) {
	request := chatRequest{Model: g.model}
	system := p.System
	if m.object {
		schema, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, g.caller.Invalid("the schema: %v", err)
		}
		system = strings.TrimSpace(
			system + "\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n" + string(
				schema,
			),
		)
		request.ResponseFormat.Type = "json_object"
	} else {
		request.ResponseFormat = responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{Name: "answer", Strict: true, Schema: p.Schema}}
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
	case m.maxTokens:
		request.MaxTokens = limit
	default:
		request.MaxCompletionTokens = limit
	}
	if !m.noDegree {
		request.Temperature = new(float64)
	}
	if !m.noEffort {
		request.ReasoningEffort = "low" // the lowest that all but a few know
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

// read finds the answer in what the model says.
func (g *Generator) read(resp *chatAnswer) (a extract.Answer, err error) {
	a.Usage = extract.Usage{
		Calls:        1,
		InputTokens:  int(resp.Usage.PromptTokens),
		OutputTokens: int(resp.Usage.CompletionTokens),
	}
	choice := resp.Choices[0]
	switch {
	case choice.FinishReason == "content_filter":
		return a, g.refusal("content_filter")
	case choice.Message.Refusal != "":
		return a, g.refusal(choice.Message.Refusal)
	}
	a.Text, a.Cut = choice.Message.Content, choice.FinishReason == "length"
	return a, nil
}

func (g *Generator) refusal(why string) error {
	return fmt.Errorf("%s: %s: %w", g.caller.Name, g.caller.Clean(why), extract.ErrRefused)
}
