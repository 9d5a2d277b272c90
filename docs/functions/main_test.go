package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

// sent is one message of a request for a chat completion.
type sent struct {
	Role, Content string
	ToolCallID    string `json:"tool_call_id"`
}

// scripted is a server that speaks as OpenAI's chat completions do. Its model
// looks up what it is asked, remembers what it is to remember, and says what its
// tools have answered.
func scripted(t *testing.T) openai.Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []sent
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
			declared[f.Name] = tool.Type == "function" && f.Description != "" && f.Parameters.Type == "object" &&
				len(f.Parameters.Required) > 0
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
			answer["tool_calls"] = []any{
				map[string]any{
					"id":       "call_1",
					"type":     "function",
					"function": map[string]any{"name": name, "arguments": string(arguments)},
				},
			}
		}
		if first := in.Messages[0]; first.Role != "system" ||
			!strings.Contains(first.Content, "call load_memory first") {
			t.Errorf("the model is not told when to look: %s: %s", first.Role, first.Content)
		}
		last := in.Messages[len(in.Messages)-1]
		choices := []any{map[string]any{"message": answer}}
		fact, asked := strings.CutPrefix(last.Content, "Remember: ")
		switch {
		case slices.ContainsFunc(in.Messages, func(m sent) bool { return m.Content == "Go on and on" }):
			call("load_memory", "query", "more")
		case last.Content == "Say nothing":
			choices = []any{}
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
		if err := json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "choices": choices}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("key"))
}

// empty is a memoryd of its own.
func empty(t *testing.T) *client.Client {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bank.Close() })
	return client.InProcess(bank)
}

// A model knows in one conversation what was said in the one before, because it calls
// functions.
func TestTalk(t *testing.T) {
	memory, model := empty(t), scripted(t)
	for _, test := range []struct{ said, want string }{
		{"I moved to Porto and love the trams.", "I see."},
		{"Remember: I am allergic to peanuts.", "I am allergic to peanuts."},
		{"What do I love about Porto?", "love the trams"},
		{"What am I allergic to?", "allergic to peanuts"},
		{"Break", `{"error":`},
		{strings.Repeat("word ", 190_000), "I see."},
	} {
		var out bytes.Buffer
		if err := talk(t.Context(), model, memory, strings.NewReader(test.said+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), test.want) {
			t.Errorf("to %.100q it says %s", test.said, fmt.Sprintf("%.500s", out.String()))
		}
	}
}

// Empty lines are not turns.
func TestEmptyLines(t *testing.T) {
	var out bytes.Buffer
	if err := talk(t.Context(), scripted(t), empty(t), strings.NewReader("\n \nHello.\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "> > > I see.\n> "; got != want {
		t.Errorf("it writes %q, want %q", got, want)
	}
}

// A chat that cannot go on ends with an error that says why.
func TestTalkFails(t *testing.T) {
	for said, want := range map[string]string{
		"Say nothing":                    "no choices",
		"Go on and on":                   "10 times",
		strings.Repeat("word ", 1<<20/4): bufio.ErrTooLong.Error(),
	} {
		err := talk(t.Context(), scripted(t), empty(t), strings.NewReader(said+"\n"), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %.20q: %v, want %q", said, err, want)
		}
	}
}
