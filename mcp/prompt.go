package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/tools"
)

var preload = &sdk.Prompt{Name: tools.PreloadMemory, Title: "Ask with memory",
	Description: "Puts what is remembered about a question in front of it.",
	Arguments:   []*sdk.PromptArgument{{Name: "query", Title: "Question", Description: "What you want to say.", Required: true}}}

// getPrompt gives what is remembered of a query as a block, if anything is, and
// then the query.
func (s *service) getPrompt(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	p := r.Params
	for name := range p.Arguments {
		if name != "query" {
			return nil, refused("prompt %s: arguments: there is no %.60q: it takes query", p.Name, name)
		}
	}
	query := p.Arguments["query"]
	if query == "" {
		return nil, refused("prompt %s: arguments.query is missing: it takes query", p.Name)
	}
	args, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return nil, s.failed(ctx, "prompts/get", err)
	}
	raw, err := s.bank.CallTool(ctx, tools.PreloadMemory, args)
	if err != nil {
		return nil, s.failed(ctx, "prompts/get", err)
	}
	var found tools.Preloaded
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, s.failed(ctx, "prompts/get", err)
	}
	out := &sdk.GetPromptResult{Description: preload.Description}
	for _, text := range []string{found.Text, query} {
		if text != "" {
			out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}})
		}
	}
	return out, nil
}
