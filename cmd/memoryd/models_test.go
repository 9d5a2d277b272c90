package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/memory"
)

// provided is a server of one provider, and the flags and variables that point
// memoryd to it.
type provided struct {
	server *modeltest.Server
	env    []string
	args   []string
}

func (p *provided) start(t *testing.T, data string, more ...string) *process {
	return startWith(t, p.env, data, append(slices.Clone(p.args), more...)...)
}

func providers(t *testing.T, script modeltest.Script) map[string]*provided {
	out := map[string]*provided{
		"gemini": {server: modeltest.NewGemini(t, script), args: []string{"-extractor", "gemini", "-embedder", "gemini"}},
		"openai": {server: modeltest.NewOpenAI(t, script), args: []string{"-extractor", "openai", "-embedder", "openai"}},
		"ollama": {server: modeltest.NewCompatible(t, script), args: []string{"-extractor", "openai:llama3", "-embedder", "openai:nomic", "-embedding-dimension", "384"}},
	}
	for _, p := range out {
		for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"} {
			p.env = append(p.env, name+"="+p.server.Getenv(name))
		}
	}
	return out
}

// listener is a script that finds one fact in each event, in the words of the
// event, and treats all facts about where somebody lives as contradictory.
type listener struct {
	mu   sync.Mutex
	away bool
}

func (l *listener) set(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
}

func (l *listener) answer(r modeltest.Request) modeltest.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Kind == "embed" {
		return modeltest.Reply{}
	}
	if l.away {
		return modeltest.Reply{Status: 503}
	}
	type line struct {
		N            int
		Text, Memory string
		Fact, Author string
	}
	var facts, verdicts []map[string]any
	home := 0
	for raw := range strings.Lines(r.Data) {
		var in line
		if json.Unmarshal([]byte(raw), &in) != nil || in.N == 0 {
			continue
		}
		lives := strings.Contains(in.Memory+in.Fact, "lives in")
		switch {
		case in.Text != "":
			facts = append(facts, map[string]any{"fact": strings.Replace(in.Text, "I live", in.Author+" lives", 1), "topic": memory.TopicPersonalInfo, "events": []int{in.N},
				"quote": in.Text, "when": "", "confidence": 1, "forget": false})
		case in.Memory != "" && lives:
			home = in.N
		case in.Fact != "":
			against := []int{}
			if home > 0 && lives {
				against = append(against, home)
			}
			verdicts = append(verdicts, map[string]any{"fact": in.N, "action": "CREATE", "same": 0, "text": "", "against": against, "reason": "moved"})
		}
	}
	answer := map[string]any{"facts": append([]map[string]any{}, facts...)}
	if strings.Contains(r.System, "verdicts") {
		answer = map[string]any{"verdicts": append([]map[string]any{}, verdicts...)}
	}
	raw, _ := json.Marshal(answer)
	return modeltest.Reply{Text: string(raw), Input: 100, Output: 20}
}

type told struct {
	ID       string
	Done     bool
	Metadata struct {
		State        string
		LastError    string
		FactsDropped int
		Usage        *struct{ Calls, InputTokens, OutputTokens int }
	}
	Response struct {
		Memories []struct {
			Action, Reason string
			Memory         memory.Memory
		}
	}
}

func (o *told) changes() (out []string) {
	for _, m := range o.Response.Memories {
		out = append(out, m.Action+" "+m.Memory.Fact)
	}
	slices.Sort(out)
	return out
}

// say ingests one event and returns the operation.
func say(t *testing.T, p *process, session, id, text string, at int, wait string) (op told) {
	t.Helper()
	code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/ingest?wait="+wait, map[string]any{"sessionId": session,
		"events": []any{map[string]any{"id": id, "author": "Ann", "timestamp": 1_700_000_000 + at, "content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}}}}}, &op)
	if err != nil || code >= 300 {
		t.Fatal(code, err, p.logs.String())
	}
	return op
}

// The whole program works with each provider: a model reads the events in one
// call, or in two if there are known facts to compare with. Contradicted facts
// are superseded, the operation has the cost, and the key shows up nowhere.
func TestModels(t *testing.T) {
	t.Parallel()
	l := &listener{}
	for name, with := range providers(t, l.answer) {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := with.start(t, data)
			var answers strings.Builder
			calls := func() (n int) {
				for _, r := range with.server.Requests() {
					if r.Kind == "generate" {
						n++
					}
				}
				return n
			}
			first := say(t, p, "s1", "e1", "I live in Lisbon.", 1, "true")
			if diff := cmp.Diff([]string{"CREATED Ann lives in Lisbon."}, first.changes()); diff != "" || first.Metadata.Usage == nil || first.Metadata.Usage.Calls != 1 || first.Metadata.Usage.InputTokens != 100 {
				t.Errorf("first: %d calls, %+v, changes (-want +got):\n%s", calls(), first.Metadata, diff)
			}
			var preview struct {
				Facts     []struct{ Fact, Quote string }
				Memories  []any
				Exchanges []struct{ System, Data, Answer string }
			}
			body := map[string]any{"sessionId": "s2", "events": []any{map[string]any{"id": "e2", "author": "Ann", "content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "I live in Porto."}}}}}}
			if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/dryRun", body, &preview); code != 200 || err != nil || len(preview.Facts) != 1 || len(preview.Memories) != 2 || len(preview.Exchanges) != 2 ||
				!strings.Contains(preview.Exchanges[1].Data, "Lisbon") {
				t.Errorf("dry run: %d, %v, %+v", code, err, preview)
			}
			before := calls()
			second := say(t, p, "s2", "e2", "I live in Porto.", 2, "true")
			if diff := cmp.Diff([]string{"CREATED Ann lives in Porto.", "UPDATED Ann lives in Lisbon."}, second.changes()); diff != "" || calls()-before != 2 || second.Metadata.Usage.Calls != 2 {
				t.Errorf("second: %d calls, %+v, changes (-want +got):\n%s", calls()-before, second.Metadata, diff)
			}
			for at, want := range map[int]string{1: "Ann lives in Lisbon.", 2: "Ann lives in Porto."} {
				var found struct{ Memories []memory.Match }
				code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "Where does Ann live?", "kinds": []string{"fact"}, "asOf": 1_700_000_000 + at}, &found)
				if err != nil || code != 200 || len(found.Memories) != 1 || found.Memories[0].Memory.Fact != want {
					t.Errorf("as of %d: %d, %v, %+v", at, code, err, found)
				}
			}
			var ready map[string]string
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["extractor"] != "ok" || ready["embedder"] != "ok" {
				t.Errorf("readiness %d, %v, %v", code, err, ready)
			}
			fmt.Fprintf(&answers, "%+v %+v %+v %+v", first, second, preview, ready)
			p.terminate(t)
			modeltest.NoKey(t, answers.String()+p.logs.String())
		})
	}
}

// While the model is unavailable, its turns are found by words, the rules find
// facts if -extractor-fallback allows it, the operation says why it waits, and
// readiness shows it. Once the model is back, its facts replace those of the
// rules.
func TestModelUnavailable(t *testing.T) {
	t.Parallel()
	l := &listener{}
	for name, with := range providers(t, l.answer) {
		t.Run(name, func(t *testing.T) {
			l.set(true)
			p := with.start(t, t.TempDir(), "-extractor-fallback", "rules")
			facts := func() (out []string) {
				var page struct{ Memories []memory.Memory }
				if code, err := call("GET", p.url+"/v1/apps/a/users/u/memories?kind=fact", nil, &page); code != 200 || err != nil {
					t.Fatal(code, err)
				}
				for _, m := range page.Memories {
					out = append(out, m.Fact)
				}
				return out
			}
			op := say(t, p, "s1", "e1", "By the way, I live in Lisbon.", 1, "false")
			var ops struct {
				Operations []struct {
					ID       string
					Metadata struct{ State, LastError string }
				}
			}
			for len(facts()) == 0 || ops.Operations[0].Metadata.LastError == "" {
				time.Sleep(20 * time.Millisecond)
				if code, err := call("GET", p.url+"/v1/apps/a/users/u/operations", nil, &ops); code != 200 || err != nil {
					t.Fatal(code, err)
				}
			}
			if diff := cmp.Diff([]string{"I live in Lisbon."}, facts()); diff != "" || op.Done {
				t.Errorf("while it is unavailable: %+v, facts (-want +got):\n%s", op, diff)
			}
			var ready map[string]string
			if code, err := call("GET", p.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["extractor"] != "failing" {
				t.Errorf("readiness %d, %v, %v", code, err, ready)
			}
			l.set(false)
			var done told
			for !done.Done {
				if code, err := call("POST", p.url+"/v1/apps/a/users/u/sessions/s1/memories?wait=true", nil, &done); code >= 300 || err != nil {
					t.Fatal(code, err)
				}
			}
			if diff := cmp.Diff([]string{"By the way, Ann lives in Lisbon."}, facts()); diff != "" {
				t.Errorf("when it is back, facts (-want +got):\n%s", diff)
			}
			p.terminate(t)
			modeltest.NoKey(t, p.logs.String())
			if !regexp.MustCompile(`503|unavailable`).MatchString(p.logs.String()) {
				t.Errorf("the log does not tell why:\n%s", p.logs.String())
			}
		})
	}
}
