package docs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testFrameworks runs the programs of frameworks.md, each said two things with a process
// each: the memory that they have in common is memoryd's.
func testFrameworks(t *testing.T, venv string) {
	prints := printed(t, "frameworks.md")
	here := t.TempDir()
	for file, sessions := range map[string][]string{
		"langgraph_store.py":           nil,
		"langgraph_thread.py":          nil,
		"langchain_history.py":         {"s1", "s2"},
		"agents_session.py":            {"s1", "s2"},
		"agent_framework_providers.py": {"s1", "s2"},
		"llamaindex_block.py":          {"s1", "s2"},
		"pydantic_ai_history.py":       {"s1", "s2"},
	} {
		env := append(serve(t), "OPENAI_BASE_URL="+scripted(t), "OPENAI_API_KEY=key",
			"OPENAI_AGENTS_DISABLE_TRACING=1")
		out := ""
		for i, said := range []string{"I live in Porto.", "Where do I live?"} {
			args := []string{filepath.Join(venv, "python"), absolute(t, filepath.Join("frameworks", file))}
			if sessions != nil {
				args = append(args, sessions[i])
			}
			out += run(t, here, env, append(args, said)...)
		}
		same(t, file, out, prints["docs/frameworks/"+file])
	}
}

// frameworkPrograms returns the programs of frameworks.md.
func frameworkPrograms(t *testing.T) (files []string) {
	t.Helper()
	names, err := os.ReadDir("frameworks")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		files = append(files, absolute(t, filepath.Join("frameworks", name.Name())))
	}
	return files
}

// scripted starts a fake of OpenAI's chat completions and responses. It answers a question
// with what it is told of the user: in a system message, by the user before, or by a tool that
// it calls first.
// To everything else it says "Noted.".
func scripted(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages, Input []map[string]any
			Tools           []struct{ Name string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Errorf("asked %s: %v", r.URL, err)
		}
		var answer map[string]any
		switch r.URL.Path {
		case "/chat/completions":
			answer = completion(in.Messages)
		case "/responses":
			answer = response(in.Input, len(in.Tools) > 0)
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil || answer == nil {
			t.Errorf("asked %s: %v", r.URL, err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func completion(messages []map[string]any) map[string]any {
	known, _ := messages[0]["content"].(string)
	asked, _ := messages[len(messages)-1]["content"].(string)
	text := "Noted."
	if len(messages) > 1 && messages[0]["role"] == "user" {
		known = "The user said:\n" + known
	}
	if _, about, ok := strings.Cut(known, "\n"); ok && strings.HasSuffix(asked, "?") {
		first, _, _ := strings.Cut(about, "\n")
		for _, before := range []string{"user) ", "user: "} { // in a line of a context, and of a preload
			if _, said, ok := strings.Cut(about, before); ok {
				first, _, _ = strings.Cut(said, "\n")
			}
		}
		text = "You told me: " + first
	}
	message := map[string]any{"role": "assistant", "content": text}
	return map[string]any{"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message}}}
}

func response(input []map[string]any, tools bool) map[string]any {
	last, text := input[len(input)-1], "Noted."
	asked, _ := last["content"].(string)
	var output map[string]any
	if tools && strings.HasSuffix(asked, "?") {
		output = map[string]any{"type": "function_call", "id": "f1", "call_id": "call-1", "name": "search_memory",
			"arguments": `{"query": "` + asked + `"}`, "status": "completed"}
	} else {
		if found, ok := last["output"].(string); ok {
			text = "You told me: " + foundFact(found)
		}
		part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}}
		output = map[string]any{"type": "message", "id": "m1", "role": "assistant", "status": "completed",
			"content": []any{part}}
	}
	return map[string]any{"id": "r1", "object": "response", "created_at": 1, "model": "gpt-5-mini", "status": "completed",
		"output": []any{output}, "parallel_tool_calls": false, "tool_choice": "auto", "tools": []any{}}
}

// foundFact returns the first memory in the answer of the tool that is no question, as the
// question has been said too, or the answer.
func foundFact(answer string) string {
	var found struct {
		Memories []struct{ Fact string }
	}
	if err := json.Unmarshal([]byte(answer), &found); err == nil {
		for _, m := range found.Memories {
			if !strings.HasSuffix(m.Fact, "?") {
				return m.Fact
			}
		}
	}
	return answer
}
