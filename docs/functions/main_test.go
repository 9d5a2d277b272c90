package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

// message is one of a request for a chat completion.
type message struct {
	Role, Content string
	ToolCallID    string `json:"tool_call_id"`
}

// scripted is a server that speaks as OpenAI's chat completions do. Its model
// looks up what it is asked, remembers what it is to remember, and says what its
// tools have answered.
func scripted(t *testing.T) openai.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []message
			Tools    []struct {
				Type     string
				Function struct {
					Name, Description string
					Parameters        struct {
						Type       string
						Properties map[string]struct{ Type any }
						Required   []string
					}
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/chat/completions" {
			t.Errorf("request to %s: %v", r.URL.Path, err)
		}
		declared := map[string]bool{}
		for _, tool := range in.Tools {
			f := tool.Function
			declared[f.Name] = tool.Type == "function" && f.Description != "" && f.Parameters.Type == "object" && len(f.Parameters.Required) > 0
			for _, name := range f.Parameters.Required {
				if f.Parameters.Properties[name].Type == nil {
					t.Errorf("%s: %s is required and not declared", f.Name, name)
				}
			}
		}
		answer := map[string]any{"role": "assistant"}
		call := func(name, argument, value string) {
			if !declared[name] {
				t.Errorf("the model is not told of %s", name)
			}
			arguments, err := json.Marshal(map[string]string{argument: value})
			if err != nil {
				t.Error(err)
			}
			answer["content"] = nil
			answer["tool_calls"] = []any{map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": name, "arguments": string(arguments)}}}
		}
		last := in.Messages[len(in.Messages)-1]
		fact, asked := strings.CutPrefix(last.Content, "Remember: ")
		switch {
		case last.Role == "tool" && last.ToolCallID == "call_1":
			answer["content"] = last.Content
		case asked:
			call("remember", "fact", fact)
		case strings.HasPrefix(last.Content, "Break"):
			call("load_memory", "user", "somebody else")
		case strings.HasSuffix(last.Content, "?"):
			call("load_memory", "query", last.Content)
		default:
			answer["content"] = "I see."
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "choices": []any{map[string]any{"message": answer}}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("key"))
}

// What was said in one conversation is known in the next, by a model that calls
// functions.
func TestTalk(t *testing.T) {
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bank.Close() })
	memory, model := client.InProcess(bank), scripted(t)
	for _, test := range []struct{ said, want string }{
		{"I moved to Porto and love the trams.", "I see."},
		{"Remember: I am allergic to peanuts.", "I am allergic to peanuts."},
		{"What do I love about Porto?", "love the trams"},
		{"What am I allergic to?", "allergic to peanuts"},
		{"Break", "user"},
	} {
		var out bytes.Buffer
		if err := talk(t.Context(), model, memory, strings.NewReader(test.said+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), test.want) {
			t.Errorf("to %q it says %s", test.said, fmt.Sprintf("%.500s", out.String()))
		}
	}
}
