package adk_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/genai"
)

// scripted is a model whose answers a function computes from its input.
type scripted func(given given) *genai.Content

func (scripted) Name() string { return "scripted" }

func (s scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: s(read(req)), TurnComplete: true}, nil)
	}
}

// given is the input of a model.
type given struct {
	system string // the instructions
	user   string // the last thing that the user has said
	tool   string // what the tool that was called last has answered, as JSON, if that is the last there is
}

func read(req *model.LLMRequest) given {
	var out given
	if req.Config != nil && req.Config.SystemInstruction != nil {
		out.system = textOf(req.Config.SystemInstruction)
	}
	for _, c := range req.Contents {
		out.tool = ""
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				raw, err := json.Marshal(p.FunctionResponse.Response)
				if err != nil {
					panic(err)
				}
				out.tool = string(raw)
			}
		}
		if text := textOf(c); c.Role == genai.RoleUser && text != "" {
			out.user = text
		}
	}
	return out
}

func textOf(c *genai.Content) string {
	var out []string
	for _, p := range c.Parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

func text(s string) *genai.Content { return genai.NewContentFromText(s, genai.RoleModel) }

func toolCall(name string, args map[string]any) *genai.Content {
	return genai.NewContentFromFunctionCall(name, args, genai.RoleModel)
}

// say runs a turn and returns the agent's answer.
func say(ctx context.Context, r *runner.Runner, user, session, words string) string {
	answer := ""
	for event, err := range r.Run(ctx, user, session, genai.NewContentFromText(words, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return "failed: " + err.Error()
		}
		if event.IsFinalResponse() && event.Content != nil {
			answer = textOf(event.Content)
		}
	}
	return answer
}
