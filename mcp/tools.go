package mcp

import (
	"bytes"
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

// callMethod is the method that calls a tool.
const callMethod = "tools/call"

// outcome is what came of a call of a tool.
type outcome struct {
	text       string
	structured json.RawMessage // the same; nil if the call has failed
	failed     bool
}

// sorry is the outcome of a call that was not done, in words that a model can do
// something with.
func sorry(words string) *outcome { return &outcome{text: words, failed: true} }

func (o *outcome) result() *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: o.text}}, IsError: o.failed}
	if o.structured != nil {
		out.StructuredContent = o.structured
	}
	return out
}

// callTool calls a tool. A malformed call is an error of the protocol. What a
// model can do something about, because a value is out of range or a memory is
// away, is an outcome that says so. Results come as text too, for clients that
// know no structured ones.
func (s *service) callTool(ctx context.Context, name string, args json.RawMessage) (out *outcome, err error) {
	defer s.recovered(callMethod, &err)
	tool, err := find(name)
	if err != nil {
		return nil, err
	}
	if err := tool.Check(args); err != nil {
		return nil, refused("%v", err)
	}
	raw, err := s.bank.CallTool(ctx, tool.Name, args)
	switch {
	case err == nil:
		if words := failure(raw); words != "" {
			return sorry(words), nil
		}
		return &outcome{text: string(raw), structured: raw}, nil
	case ctx.Err() != nil: // nobody is left to read it
	case away(err):
		return sorry(fmt.Sprintf("%v: go on without the memory, or try again later", err)), nil
	case errors.Is(err, memory.ErrInvalid), errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrAborted):
		return sorry(err.Error()), nil
	}
	return nil, s.failed(ctx, callMethod, err)
}

// failure is what a result says of a tool that could not do what it was asked:
// "error" is all that it has then. Other results are not read to their end.
func failure(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	if name, err := dec.Token(); err != nil || name != "error" {
		return ""
	}
	said, err := dec.Token()
	if err != nil {
		return ""
	}
	words, _ := said.(string)
	return words
}
