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

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/tools"
)

// declared returns the tools as the protocol declares them. It encodes the
// schemas once for the process, not for each request.
var declared = sync.OnceValue(func() (out []*sdk.Tool) {
	openWorld := false // no tool reaches beyond the memory of one scope
	for _, t := range tools.All() {
		title := titleOf(t.Name)
		out = append(out, &sdk.Tool{
			Name: t.Name, Title: title, Description: t.Description,
			InputSchema: encodeSchema(t.Parameters), OutputSchema: encodeSchema(t.Result),
			Annotations: &sdk.ToolAnnotations{
				Title: title, ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive,
				IdempotentHint: t.Idempotent, OpenWorldHint: &openWorld,
			},
		})
	}
	return out
})

// titleOf returns the title of a tool: "Load memory" for load_memory.
func titleOf(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func encodeSchema(schema any) json.RawMessage {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // the schemas are constants of package tools
	}
	return raw
}

// findTool returns a tool that models may call. preload_memory is not one of
// them: it is the prompt.
func findTool(name string) (*tools.Tool, error) {
	var names []string
	for _, t := range tools.All() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, invalidParams("there is no tool %.60q: the tools are %s", name, strings.Join(names, ", "))
}

// callMethod is the method that calls a tool.
const callMethod = "tools/call"

// outcome is the answer to a call of a tool, for the model.
type outcome struct {
	text       string
	structured json.RawMessage // the same as JSON; nil if the call failed
	failed     bool
}

// toolError is the outcome of a call that failed. The message is for the model, so
// it says what to do next.
func toolError(message string) *outcome { return &outcome{text: legible.Text(message), failed: true} }

func (o *outcome) result() *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: o.text}}, IsError: o.failed}
	if o.structured != nil {
		out.StructuredContent = o.structured
	}
	return out
}

// callTool calls a tool. An unknown tool, or arguments that are not an object, are
// a protocol error, which the host handles. If an argument is wrong or the memory
// is unavailable, the model itself can do something about it, so the error is an
// outcome (SEP-1303 of the protocol). A result is text too, for clients that do not
// know structured results.
func (s *service) callTool(ctx context.Context, name string, args json.RawMessage) (out *outcome, err error) {
	defer s.recoverPanic(callMethod, &err)
	tool, err := findTool(name)
	if err != nil {
		return nil, err
	}
	if !isObject(args) {
		return nil, invalidParams("tool %s: want arguments that are an object", tool.Name)
	}
	if err := tool.Check(args); err != nil {
		return toolError(err.Error()), nil
	}
	raw, err := s.bank.CallTool(ctx, tool.Name, args)
	switch {
	case err == nil:
		if message := errorOf(raw); message != "" {
			return toolError(message), nil
		}
		return &outcome{text: string(raw), structured: raw}, nil
	case ctx.Err() != nil: // the client has disconnected, or the time is over
	case unavailable(err):
		return toolError(fmt.Sprintf("%v: go on without the memory, or try again later", err)), nil
	case errors.Is(err, memory.ErrInvalid), errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrAborted):
		return toolError(err.Error()), nil
	}
	return nil, s.protocolError(ctx, callMethod, err)
}

// isObject reports whether arguments are a JSON object, or absent.
func isObject(args json.RawMessage) bool {
	return len(args) == 0 || args[0] == '{' || string(args) == "null"
}

// errorOf returns the message of a result {"error": message}, "" for any other
// result. "error" is the only field of such a result, so the first field tells,
// and a long result is not parsed to its end.
func errorOf(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	if name, err := dec.Token(); err != nil || name != "error" {
		return ""
	}
	value, err := dec.Token()
	if err != nil {
		return ""
	}
	message, _ := value.(string)
	return message
}
