package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/tools"
)

// declared are the tools as the protocol has them. The schemas are written out
// once.
var declared = sync.OnceValue(func() (out []*sdk.Tool) {
	no := false
	for _, t := range tools.All() {
		title := titleOf(t.Name)
		out = append(out, &sdk.Tool{
			Name: t.Name, Title: title, Description: t.Description, InputSchema: written(t.Parameters), OutputSchema: written(t.Result),
			Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive,
				IdempotentHint: t.Idempotent, OpenWorldHint: &no},
		})
	}
	return out
})

// titleOf is load_memory as "Load memory".
func titleOf(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func written(schema any) json.RawMessage {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // a schema of package tools
	}
	return raw
}

// find gives the tool of a name, of those that models are told of.
func find(name string) (*tools.Tool, error) {
	var names []string
	for _, t := range tools.All() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, refused("there is no tool %.60q: there are %s", name, strings.Join(names, ", "))
}

// callTool calls a tool. A malformed call is an error of the protocol. What a
// model can do something about, because a value is out of range or a memory is
// away, is a result that says so.
func (s *service) callTool(ctx context.Context, p *sdk.CallToolParamsRaw) (sdk.Result, error) {
	tool, err := find(p.Name)
	if err != nil {
		return nil, err
	}
	if err := tool.Check(p.Arguments); err != nil {
		return nil, refused("%v", err)
	}
	raw, err := s.bank.CallTool(ctx, tool.Name, p.Arguments)
	switch {
	case err == nil:
		return resultOf(raw), nil
	case ctx.Err() != nil: // nobody is left to read it
	case away(err):
		return sorry(fmt.Sprintf("%v: go on without the memory, or try again later", err)), nil
	case errors.Is(err, memory.ErrInvalid), errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrAborted):
		return sorry(err.Error()), nil
	}
	return nil, s.failed(ctx, "tools/call", err)
}

// sorry is the result of a call that was not done.
func sorry(words string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: words}}}
}

// resultOf is the result of a tool, and the same as text for clients that know
// no structured results.
func resultOf(raw json.RawMessage) *sdk.CallToolResult {
	var not struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(raw, &not) == nil && not.Error != "" {
		return sorry(not.Error)
	}
	return &sdk.CallToolResult{StructuredContent: raw, Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}}
}
