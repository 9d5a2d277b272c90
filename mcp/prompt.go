package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/tools"
)

// preloadPrompt is the only prompt. It has the name of the tool that it calls.
var preloadPrompt = &sdk.Prompt{
	Name:        tools.PreloadMemory,
	Title:       "Ask with memory",
	Description: "Puts what is remembered about a question in front of it.",
	Arguments: []*sdk.PromptArgument{
		{Name: "query", Title: "Question", Description: "What you want to say.", Required: true},
	},
}

// getPrompt returns two messages: a block of the memories that match the query,
// and the query. The block is left out if nothing matches.
func (s *service) getPrompt(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	p := r.Params
	for name := range p.Arguments {
		if name != "query" {
			return nil, invalidParams("prompt %s: unknown argument %.60q: want query only", p.Name, name)
		}
	}
	query := p.Arguments["query"]
	if query == "" {
		return nil, invalidParams("prompt %s: arguments.query is missing", p.Name)
	}
	found, err := s.preload(ctx, query)
	if err != nil {
		return nil, s.protocolError(ctx, "prompts/get", err)
	}
	out := &sdk.GetPromptResult{Description: preloadPrompt.Description}
	for _, text := range []string{found.Text, legible.Text(query)} {
		if text != "" {
			message := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}}
			out.Messages = append(out.Messages, message)
		}
	}
	return out, nil
}

// preload calls preload_memory.
func (s *service) preload(ctx context.Context, query string) (found tools.Preloaded, err error) {
	args, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return found, err
	}
	raw, err := s.bank.CallTool(ctx, tools.PreloadMemory, args)
	if err != nil {
		return found, err
	}
	err = json.Unmarshal(raw, &found)
	return found, err
}
