package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/tools"
)

// toolsBody is the tools as models' APIs take them.
type toolsBody struct {
	// FunctionDeclarations are in Gemini's form.
	FunctionDeclarations []function `json:"functionDeclarations"`
	// Tools are in that of OpenAI's chat completions.
	Tools []openAITool `json:"tools"`
	// Instructions, by tool, belong in the system instruction of an agent that
	// has the tool.
	Instructions map[string]string `json:"instructions"`
}

type openAITool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

func (s *Server) listTools(c echo.Context) error {
	out := toolsBody{Instructions: map[string]string{}}
	for _, t := range tools.All() {
		var gemini any
		raw, err := json.Marshal(t.Parameters)
		if err == nil {
			err = json.Unmarshal(raw, &gemini)
		}
		if err != nil {
			return err
		}
		out.FunctionDeclarations = append(out.FunctionDeclarations, function{t.Name, t.Description, geminiSchema(gemini)})
		out.Tools = append(out.Tools, openAITool{"function", function{t.Name, t.Description, json.RawMessage(raw)}})
		if t.Instruction != "" {
			out.Instructions[t.Name] = t.Instruction
		}
	}
	return answer(c, http.StatusOK, out)
}

// geminiSchema is a JSON schema as Gemini's Schema, which has OpenAPI's words:
// types are in capitals, and it has no additionalProperties.
func geminiSchema(schema any) any {
	switch s := schema.(type) {
	case map[string]any:
		delete(s, "additionalProperties")
		if t, ok := s["type"].(string); ok {
			s["type"] = strings.ToUpper(t)
		}
		geminiSchema(s["items"])
		properties, _ := s["properties"].(map[string]any)
		for _, p := range properties {
			geminiSchema(p)
		}
	}
	return schema
}

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
	if err := body(c, &req); err != nil {
		return err
	}
	if err := owned(scope, req.App, req.User); err != nil {
		return err
	}
	result, err := s.tools.Call(c.Request().Context(), scope, name, req.Args)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Result json.RawMessage `json:"result"`
	}{result})
}

// render fills a template in with a session's state.
func (s *Server) render(c echo.Context, key sessionstore.Key) error {
	var req struct {
		Template *string `json:"template"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	if req.Template == nil {
		return invalid("template is missing")
	}
	session, err := s.sessions.Get(c.Request().Context(), key, sessionstore.Get{NumRecent: 0})
	if err != nil {
		return err
	}
	text, err := sessionstore.Render(*req.Template, session.State, nil)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Text string `json:"text"`
	}{text})
}
