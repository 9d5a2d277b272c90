package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// Shared knowledge goes with an export into other stores and to another embedder: facts,
// documents with their passages, histories, and the searches of users that find both. A
// check finds no fault in any of them, and an import that is repeated changes nothing.
func TestSharedKnowledgeMoves(t *testing.T) {
	t.Parallel()
	const app = "/v1/apps/shop"
	dir, data, back := t.TempDir(), t.TempDir(), t.TempDir()
	remote := []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
	p := start(t, data)
	do := func(p *process, method, path string, body any) (answer map[string]any) {
		t.Helper()
		if code, err := call(method, p.url+app+path, body, &answer); err != nil || code >= 300 {
			t.Fatal(method, path, code, err)
		}
		return answer
	}
	fact := do(p, "POST", "/memories", map[string]any{"fact": "Returns are free for 30 days.", "topics": []string{"RETURNS"}})
	gone := do(p, "POST", "/memories", map[string]any{"fact": "Returns cost 5 euros."})
	do(p, "PATCH", "/memories/"+fact["id"].(string), map[string]any{"fact": "Returns are free for 60 days."})
	if code, err := call("DELETE", p.url+app+"/memories/"+gone["id"].(string), nil, nil); err != nil || code != 204 {
		t.Fatal(code, err)
	}
	do(p, "POST", "/documents", map[string]any{"id": "manual", "title": "Manual", "text": "# Hats\n\n" +
		strings.Repeat("A hat is returned in its box. ", 90) + "\n\n# Shoes\n\nShoes are returned dry."})
	do(p, "POST", "/users/ann/memories", map[string]any{"fact": "I bought a green hat in May."})
	all := func(p *process) []any {
		return []any{do(p, "GET", "/memories?history=true", nil), do(p, "GET", "/documents", nil),
			do(p, "GET", "/memories/"+fact["id"].(string)+"/revisions", nil),
			do(p, "GET", "/memories?sessionId=manual", nil), do(p, "GET", "/users/ann/memories", nil)}
	}
	found := func(p *process, query string) (out []string) {
		answer := do(p, "POST", "/users/ann/memories/search", map[string]any{"query": query, "shared": true, "topK": 20})
		for _, m := range answer["memories"].([]any) {
			m := m.(map[string]any)["memory"].(map[string]any)
			if m["shared"] == true {
				out = append(out, m["fact"].(string))
			}
		}
		return out
	}
	want, hats := all(p), found(p, "How is a hat returned?")
	if len(hats) < 3 || len(want[0].(map[string]any)["memories"].([]any)) < 4 {
		t.Fatalf("%q is found among %v", hats, want[0])
	}
	p.terminate(t)
	healthy := func(args ...string) {
		t.Helper()
		if said := runs(t, append([]string{"check"}, args...)...); !strings.Contains(said, "no fault was found") {
			t.Errorf("check %v says %s", args, said)
		}
	}
	same := func(p *process, where string) {
		t.Helper()
		if diff := gocmp.Diff(want, all(p)); diff != "" {
			t.Errorf("%s (-before +there):\n%s", where, diff)
		}
		if diff := gocmp.Diff(hats, found(p, "How is a hat returned?")); diff != "" {
			t.Errorf("%s: found (-before +there):\n%s", where, diff)
		}
	}
	healthy("-data", data)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	runs(t, "export", "-data", data, first)
	for range 2 {
		runs(t, append(append([]string{"import", "-data", dir}, remote...), first)...)
	}
	healthy(append([]string{"-data", dir}, remote...)...)
	p = start(t, dir, remote...)
	same(p, "in Redis and Qdrant")
	p.terminate(t)
	runs(t, append(append([]string{"export", "-data", dir}, remote...), second)...)
	if a, b := sorted(t, first), sorted(t, second); a != b {
		t.Errorf("an export, and one of what it was imported into, differ:\n%s", gocmp.Diff(a, b))
	}
	runs(t, "import", "-data", back, second)
	healthy("-data", back)

	g, env := newGate(t, modeltest.NewOpenAI)
	g.left.Store(wide)
	with := []string{"-embedder", "openai", "-embedding-dimension", "64"}
	for data, where := range map[string][]string{back: nil, dir: remote} {
		args := append(slices.Clone(where), with...)
		p := startAs(t, "reembed", env, data, args...)
		movedTo(t, p)
		if diff := gocmp.Diff(want, all(p)); diff != "" {
			t.Errorf("%v, another embedder (-before +there):\n%s", where, diff)
		}
		if n := len(found(p, "How is a hat returned?")); n < len(hats) {
			t.Errorf("%v, another embedder: %d are found, want %d", where, n, len(hats))
		}
		p.terminate(t)
		cmd := command(append([]string{"check", "-data", data}, args...)...)
		cmd.Env = append(cmd.Env, env...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "no fault was found") {
			t.Errorf("check: %v\n%s", err, out)
		}
	}
}
