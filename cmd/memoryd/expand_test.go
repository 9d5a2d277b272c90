package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/memory"
)

// supposes is a script that answers every question with statements.
func supposes(statements ...string) modeltest.Script {
	raw, _ := json.Marshal(map[string]any{"statements": statements})
	return modeltest.Replies(modeltest.Reply{Text: string(raw), Input: 50, Output: 20})
}

// lookedUp searches for what somebody eats, with the fields of more.
func lookedUp(t *testing.T, p *process, more map[string]any) []memory.Match {
	t.Helper()
	body := map[string]any{"query": "What should dinner be without?", "kinds": []string{"turn"}, "explain": true}
	for name, value := range more {
		body[name] = value
	}
	var found struct{ Memories []memory.Match }
	code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", body, &found)
	if code != 200 || err != nil {
		t.Fatalf("%d, %v, %+v", code, err, found)
	}
	return found.Memories
}

// The whole program works with an expander of each provider: a search finds what the
// model guesses, and says by which guess. Only searches and contexts with one wording
// call it, and no tool. While it is unavailable, the answers are those of a memoryd
// without one, and readiness shows it.
func TestExpander(t *testing.T) {
	t.Parallel()
	models := map[string]string{"gemini": "gemini", "openai": "openai:gpt-4.1-mini", "ollama": "openai:llama3"}
	for name, with := range providers(t, supposes("I am allergic to peanuts.", "I like "+strings.Repeat("figs ", 500))) {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := startWith(t, with.env, data, "-expander", models[name], "-log-level", "debug")
			say(t, p, "s1", "e1", "Peanuts give me hives, an allergy.", 1, "true")
			say(t, p, "s2", "e2", "My dinner was late.", 2, "true")
			for path, body := range map[string]map[string]any{
				"tools/load_memory":    {"args": map[string]any{"query": "dinner"}},
				"tools/search_memory":  {"args": map[string]any{"query": "dinner"}},
				"tools/preload_memory": {"args": map[string]any{"query": "dinner"}},
				"memories/search":      {"query": "dinner", "queries": []string{"supper"}},
			} {
				if code, err := call("POST", p.url+"/v1/apps/a/users/u/"+path, body, nil); code != 200 || err != nil {
					t.Errorf("%s: %d, %v", path, code, err)
				}
			}
			if asked := with.server.Requests(); len(asked) > 0 {
				t.Errorf("asked %d times before a search, first with %q", len(asked), asked[0].Data)
			}
			var found []memory.Match
			searches := 0
			soon(func() bool { // a search goes without a model that is late
				searches++
				found = lookedUp(t, p, nil)
				return len(found) > 0 && found[0].Explain.Query == "I am allergic to peanuts."
			})
			if len(found) != 2 || found[0].Memory.Source.SessionID != "s1" ||
				found[0].Explain.Query != "I am allergic to peanuts." {
				t.Errorf("found %+v", found)
			}
			asked := with.server.Requests()
			if len(asked) == 0 || len(asked) > searches || asked[0].Schema == nil || strings.Contains(asked[0].System, "dinner") ||
				asked[0].Data != `{"question":"What should dinner be without?"}`+"\n" {
				t.Errorf("asked %+v", asked)
			}
			var block struct{ Text string }
			var code int
			var err error
			soon(func() bool {
				code, err = call("POST", p.url+"/v1/apps/a/users/u/memories/context",
					map[string]any{"query": "What should dinner be without?"}, &block)
				return strings.Contains(block.Text, "hives")
			})
			if code != 200 || err != nil || !strings.Contains(block.Text, "hives") {
				t.Errorf("%d, %v, %s", code, err, block.Text)
			}
			var ready map[string]string
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["expander"] != "ok" {
				t.Errorf("readiness %d, %v, %v", code, err, ready)
			}

			with.server.Close()
			without := lookedUp(t, p, nil)
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["expander"] != "failing" {
				t.Errorf("readiness while it is unavailable %d, %v, %v", code, err, ready)
			}
			p.terminate(t)
			for _, want := range []string{"expander=" + strings.Split(models[name], ":")[0] + ":", "msg=expanded",
				"search without the expander"} {
				if !strings.Contains(p.logs.String(), want) {
					t.Errorf("%s is not in the log:\n%s", want, p.logs.String())
				}
			}
			modeltest.NoKey(t, p.logs.String()+fmt.Sprint(found, ready))

			p = start(t, data)
			if diff := cmp.Diff(lookedUp(t, p, nil), without); diff != "" {
				t.Errorf("found (-without +while it is unavailable):\n%s", diff)
			}
			p.terminate(t)
			if !strings.Contains(p.logs.String(), "expander=none") {
				t.Errorf("that there is none is not in the log:\n%s", p.logs.String())
			}
		})
	}
}

// Answers that are no list of statements, and refusals, leave a search as it is.
func TestExpanderGarbage(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]modeltest.Reply{
		"prose":    {Text: "You should leave out the peanuts."},
		"fields":   {Text: `{"statements":{"n":1}}`},
		"numbers":  {Text: `{"statements":[1,null,[],{}]}`},
		"cut":      {Text: `{"statements":["I am all`, Finish: modeltest.Length},
		"huge":     {Text: `{"statements":["` + strings.Repeat("peanuts ", 200_000) + `"]}`},
		"refusal":  {Refusal: "no"},
		"an error": {Status: 400, Message: "bad"},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.NewOpenAI(t, modeltest.Replies(reply))
			env := []string{"OPENAI_API_KEY=" + modeltest.Key, "OPENAI_BASE_URL=" + server.URL()}
			p := startWith(t, env, t.TempDir(), "-expander", "openai:gpt-4.1-mini")
			say(t, p, "s1", "e1", "Peanuts give me hives, an allergy.", 1, "true")
			say(t, p, "s2", "e2", "My dinner was late.", 2, "true")
			want := lookedUp(t, p, map[string]any{"queries": []string{"What should dinner be without?"}})
			if diff := cmp.Diff(want, lookedUp(t, p, nil)); diff != "" {
				t.Errorf("found (-without +with):\n%s", diff)
			}
			if asked := server.Requests(); len(asked) == 0 {
				t.Error("not asked")
			}
			p.terminate(t)
		})
	}
}

// An evaluation searches with the expander and names it. One without a key is refused
// at once.
func TestEvalExpander(t *testing.T) {
	file := locomo(t, goats)
	for guess, recall := range map[string]string{"Ferdinand.": "0", "Balthasar.": "1"} {
		server := modeltest.NewGemini(t, supposes(guess))
		for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
			t.Setenv(name, server.Getenv(name))
		}
		out, errs, err := evaluate(t, "locomo", file, "-expander", "gemini")
		want := `(?m)facts of rules, expander gemini:gemini-\S+: (?s:.*)^single-hop +1 +` + recall + `\.000 `
		if err != nil || errs != "" || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the guess %s: %v, stderr %q, want %s:\n%s", guess, err, errs, want, out)
		}
	}
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	_, _, err := evaluate(t, "locomo", file, "-expander", "openai:gpt-4.1-mini")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "-expander openai:gpt-4.1-mini: ") ||
		!strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}
