package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/tools"
)

// toolsBody declares the tools in the forms that models' APIs take.
type toolsBody struct {
	// FunctionDeclarations is the form of Gemini's API.
	FunctionDeclarations []function `json:"functionDeclarations"`
	// Tools is the form of OpenAI's chat completions.
	Tools []openAITool `json:"tools"`
	// Instructions, by tool, belong in the system instruction of an agent that
	// has the tool.
	Instructions map[string]string `json:"instructions"`
}

type openAITool struct {
	Type     string   `json:"type"` // always "function"
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

// listTools answers GET /v1/tools. Code that runs these tools saves the turns itself, so
// those that are for hosts alone are left out.
func (s *Server) listTools(c echo.Context) error {
	out := toolsBody{Instructions: map[string]string{}}
	for _, t := range tools.All() {
		if t.ForHosts {
			continue
		}
		raw, err := json.Marshal(t.Parameters)
		if err != nil {
			return err
		}
		// geminiSchema changes its argument, so it gets a copy of its own.
		var gemini any
		if err := json.Unmarshal(raw, &gemini); err != nil {
			return err
		}
		out.FunctionDeclarations = append(out.FunctionDeclarations,
			function{t.Name, t.Description, geminiSchema(gemini)})
		out.Tools = append(out.Tools, openAITool{"function", function{t.Name, t.Description, json.RawMessage(raw)}})
		if t.Instruction != "" {
			out.Instructions[t.Name] = t.Instruction
		}
	}
	return sendJSON(c, http.StatusOK, out)
}

// geminiSchema changes a JSON schema into the Schema of Gemini's API, which is a
// part of OpenAPI's: types are in capitals, and there is no
// additionalProperties.
func geminiSchema(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	delete(s, "additionalProperties")
	if t, ok := s["type"].(string); ok {
		s["type"] = strings.ToUpper(t)
	}
	geminiSchema(s["items"])
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		geminiSchema(p)
	}
	return s
}

// callTool answers POST {scope}/tools/{name}. A name that is no id is not
// checked here: package tools answers it with the names that there are.
func (s *Server) callTool(c echo.Context, scope memory.Scope) error {
	name, err := url.PathUnescape(c.Param("tool"))
	if err != nil {
		return invalid("path: %v", err)
	}
	var req struct {
		App  string          `json:"appName"`
		User string          `json:"userId"`
		Args json.RawMessage `json:"args"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := checkScope(scope, req.App, req.User); err != nil {
		return err
	}
	if err := s.permit(c, scope, verbOf(name), name); err != nil {
		return err
	}
	result, share, err := s.toolResult(c.Request().Context(), scope, name, req.Args)
	if err != nil {
		return err
	}
	defer share.Release()
	out := newAnswer(c, http.StatusOK)
	out.within(int64(len(result)))
	out.text(`{"result":`)
	out.raw(result)
	out.text("}")
	return out.finish()
}

// verbOf returns the verb that a call of a tool takes. One that does not exist takes
// that of reading: the call says that there is none.
func verbOf(tool string) access.Verbs {
	if t, err := tools.Find(tool); err == nil && !t.ReadOnly {
		return access.Write
	}
	return access.Read
}

// toolResult calls a tool, with room to send its result. If that waits the tool is
// called again, so one that changes memories takes none: its result has the texts of
// the few memories that one fact has changed.
func (s *Server) toolResult(ctx context.Context, scope memory.Scope, name string, args json.RawMessage) (
	json.RawMessage, *inflight.Share, error) {
	if t, err := tools.Find(name); err != nil || !t.ReadOnly {
		result, err := s.tools.Call(ctx, scope, name, args)
		return result, nil, err
	}
	return foundWithRoom(ctx, s, scope, func() (json.RawMessage, error) {
		return s.tools.Call(ctx, scope, name, args)
	}, func(result *json.RawMessage) int64 { return int64(len(*result)) })
}
