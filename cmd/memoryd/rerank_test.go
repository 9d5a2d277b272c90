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

// prefers is a script that rates memories with a word as relevant, and no
// others.
func prefers(word string) modeltest.Script {
	return func(r modeltest.Request) modeltest.Reply {
		scores := []map[string]int{}
		for raw := range strings.Lines(r.Data) {
			var in struct {
				N      int
				Memory string
			}
			if json.Unmarshal([]byte(raw), &in) == nil && strings.Contains(in.Memory, word) {
				scores = append(scores, map[string]int{"n": in.N, "relevance": 10})
			}
		}
		raw, _ := json.Marshal(map[string]any{"scores": scores})
		return modeltest.Reply{Text: string(raw), Input: 100, Output: 20}
	}
}

// explained searches for the instrument that a sister plays.
func explained(t *testing.T, p *process) []memory.Match {
	t.Helper()
	var found struct{ Memories []memory.Match }
	code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "What does my sister play?", "kinds": []string{"turn"}, "explain": true}, &found)
	if code != 200 || err != nil || len(found.Memories) != 3 {
		t.Fatalf("%d, %v, %+v", code, err, found)
	}
	return found.Memories
}

// The whole program works with a reranker of each provider: the memory that the
// model prefers comes first, and the explanation says so. Only searches call
// it. While it is unavailable, the answers are those of a memoryd without one,
// and readiness shows it.
func TestReranker(t *testing.T) {
	t.Parallel()
	models := map[string]string{"gemini": "gemini", "openai": "openai:gpt-4.1-mini", "ollama": "openai:llama3"}
	for name, with := range providers(t, prefers("cello")) {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := startWith(t, with.env, data, "-reranker", models[name], "-log-level", "debug")
			say(t, p, "s1", "e1", "My sister would play with me.", 1, "true")
			say(t, p, "s2", "e2", "She took her cello along, my sister.", 2, "true")
			say(t, p, "s3", "e3", "My sister plays all day.", 3, "true")
			if asked := with.server.Requests(); len(asked) > 0 {
				t.Errorf("asked %d times before a search, first with %q", len(asked), asked[0].Data)
			}
			var first memory.Match
			var part memory.Part
			searches := 0
			soon(func() bool { // a search goes without a model that is late
				searches++
				first = explained(t, p)[0]
				part = first.Explain.Parts[len(first.Explain.Parts)-1]
				return part.Name == "reranker"
			})
			if first.Memory.Source.SessionID != "s2" || part.Name != "reranker" || part.Value != 1 {
				t.Errorf("the first is %+v, for %+v", first.Memory, part)
			}
			asked := with.server.Requests()
			if len(asked) == 0 || len(asked) > searches || asked[0].Schema == nil || !strings.HasPrefix(asked[0].Data, `{"question":"What does my sister play?"}`) || strings.Contains(asked[0].System, "cello") {
				t.Errorf("asked %+v", asked)
			}
			var ready map[string]string
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["reranker"] != "ok" {
				t.Errorf("readiness %d, %v, %v", code, err, ready)
			}

			with.server.Close()
			without := explained(t, p)
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["reranker"] != "failing" {
				t.Errorf("readiness while it is unavailable %d, %v, %v", code, err, ready)
			}
			p.terminate(t)
			for _, want := range []string{"reranker=" + strings.Split(models[name], ":")[0] + ":", "msg=reranked", "search without the reranker"} {
				if !strings.Contains(p.logs.String(), want) {
					t.Errorf("%s is not in the log:\n%s", want, p.logs.String())
				}
			}
			modeltest.NoKey(t, p.logs.String()+fmt.Sprint(first, ready))

			p = start(t, data)
			if diff := cmp.Diff(explained(t, p), without); diff != "" {
				t.Errorf("found (-without +while it is unavailable):\n%s", diff)
			}
			p.terminate(t)
			if !strings.Contains(p.logs.String(), "reranker=none") {
				t.Errorf("that there is none is not in the log:\n%s", p.logs.String())
			}
		})
	}
}

// goats has the form of LoCoMo's data.
const goats = `[{"sample_id": "one",
 "conversation": {
  "session_1": [
   {"dia_id": "D1:1", "speaker": "Ann", "text": "I have a goat called Ferdinand."},
   {"dia_id": "D1:2", "speaker": "Ann", "text": "I have a goat called Balthasar."}],
  "session_1_date_time": "1:56 pm on 8 May, 2024"},
 "qa": [{"question": "What is the goat called?", "evidence": ["D1:2"], "category": 4}]}]`

// An evaluation searches with the reranker and names it. One without a key is
// refused at once.
func TestEvalReranker(t *testing.T) {
	file := locomo(t, goats)
	for word, recall := range map[string]string{"Ferdinand": "0", "Balthasar": "1"} {
		server := modeltest.NewGemini(t, prefers(word))
		for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
			t.Setenv(name, server.Getenv(name))
		}
		out, errs, err := evaluate(t, "locomo", file, "-reranker", "gemini")
		want := `(?m)facts of rules, reranker gemini:gemini-\S+: (?s:.*)^single-hop +1 +` + recall + `\.000 `
		if err != nil || errs != "" || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is preferred: %v, stderr %q, want %s:\n%s", word, err, errs, want, out)
		}
	}
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	if _, _, err := evaluate(t, "locomo", file, "-reranker", "openai:gpt-4.1-mini"); exitCode(err) != 1 || !strings.Contains(err.Error(), "-reranker openai:gpt-4.1-mini: ") || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}
