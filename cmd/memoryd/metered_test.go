package main

import (
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
)

// generated counts the calls of a model that generates.
func generated(s *modeltest.Server) (n int) {
	for _, r := range s.Requests() {
		if r.Kind == "generate" {
			n++
		}
	}
	return n
}

// An app that has had its calls of a day calls no model: what it says is stored and
// found, the rules find facts of it, the operation waits and says why, and searches go on
// without a reranker. Another app goes on. Two memoryd on one Redis count together, also
// after a restart.
func TestModelQuota(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, value string }{{"-app-model-calls", "1"}, {"-app-model-tokens", "100"},
		{"-user-model-calls", "1"}} {
		t.Run(c.flag, func(t *testing.T) {
			if left := time.Until(time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)); left < 5*time.Minute {
				t.Skip("the day of UTC ends, and another begins with new calls")
			}
			l := &listener{}
			with := providers(t, l.answer)["openai"]
			args := []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t), "-embedder", "builtin",
				"-extractor-fallback", "rules", "-reranker", "openai:gpt-4.1-mini", c.flag, c.value}
			one, two := with.start(t, t.TempDir(), args...), with.start(t, t.TempDir(), args...)
			if first := say(t, one, "s1", "e1", "I live in Lisbon.", 1, "true"); !first.Done {
				t.Fatalf("%+v", first)
			}
			calls := generated(with.server) // a model is asked twice, if it does not know a parameter
			for i, p := range []*process{one, two, with.start(t, t.TempDir(), args...)} {
				waits := say(t, p, "s2", "e2", "My cat is called Tom.", 2, "false")
				for end := time.Now().Add(30 * time.Second); waits.Metadata.LastError == ""; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("memoryd %d: the operation is %+v", i, waits)
					}
					if code, err := call("GET", p.url+"/v1/operations/"+waits.ID, nil, &waits); code != 200 || err != nil {
						t.Fatal(code, err)
					}
				}
				if waits.Done || waits.Metadata.State == "FAILED" || !strings.Contains(waits.Metadata.LastError, c.flag) ||
					!strings.Contains(waits.Metadata.LastError, "T00:00:00Z") {
					t.Errorf("memoryd %d: the operation is %+v", i, waits)
				}
				for _, kind := range []string{"turn", "fact"} {
					var found struct{ Memories []memory.Match }
					code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "cat called Tom",
						"kinds": []string{kind}}, &found)
					if code != 200 || err != nil || len(found.Memories) == 0 || !strings.Contains(found.Memories[0].Memory.Fact, "Tom") {
						t.Errorf("memoryd %d: search of %ss: %d, %v, %+v", i, kind, code, err, found)
					}
				}
			}
			if n := generated(with.server); n != calls {
				t.Errorf("the model was called %d times more", n-calls)
			}
			code, err := call("POST", one.url+"/v1/apps/b/users/u/memories/ingest?wait=true", map[string]any{"sessionId": "s",
				"events": []any{map[string]any{"content": "My dog is called Kim."}}}, nil)
			if n := generated(with.server); code != 200 || err != nil || n == calls {
				t.Errorf("another app: %d, %v, the model was called %d times more", code, err, n-calls)
			}
			body := map[string]any{"sessionId": "s3", "events": []any{map[string]any{"content": "My cat is called Tom."}}}
			if code, err := call("POST", one.url+"/v1/apps/a/users/u/memories/dryRun", body, nil); code != 429 || err != nil {
				t.Errorf("dry run: %d, %v", code, err)
			}
			var ready map[string]string
			if code, err := call("GET", one.url+"/readyz", nil, &ready); code != 200 || err != nil || ready["extractor"] != "ok" {
				t.Errorf("readiness %d, %v, %v", code, err, ready)
			}
		})
	}
}
