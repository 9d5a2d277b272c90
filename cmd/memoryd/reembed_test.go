package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/reembed"
)

// gate is an embedding server that works while it is open.
type gate struct {
	*modeltest.Server
	left  atomic.Int64 // texts it takes until it is closed
	taken atomic.Int64
}

// newGate returns a closed gate, and the environment that points memoryd to it.
func newGate(t *testing.T, start func(testing.TB, modeltest.Script) *modeltest.Server) (*gate, []string) {
	g := &gate{}
	g.Server = start(t, func(r modeltest.Request) modeltest.Reply {
		if r.Texts[0] == "memoryd" || strings.HasSuffix(r.Texts[0], "?") { // it only looks, or asks
			return modeltest.Reply{}
		}
		if slices.ContainsFunc(r.Texts, func(text string) bool { return strings.Contains(text, "unspeakable") }) {
			return modeltest.Reply{Status: 400}
		}
		if g.left.Load() < int64(len(r.Texts)) {
			return modeltest.Reply{Status: 503}
		}
		g.left.Add(-int64(len(r.Texts)))
		g.taken.Add(int64(len(r.Texts)))
		return modeltest.Reply{}
	})
	var env []string
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"} {
		if v := g.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return g, env
}

const wide = 1 << 40

// readiness returns the answer of /readyz.
func readiness(t *testing.T, p *process) map[string]string {
	t.Helper()
	out := map[string]string{}
	if code, err := call("GET", p.url+"/readyz", nil, &out); code != 200 || err != nil {
		t.Fatal(code, err, p.logs.String())
	}
	return out
}

// refused checks that serve refuses memories of another embedder, and names the
// command that moves them.
func refused(t *testing.T, env []string, data string, args ...string) {
	t.Helper()
	cmd := command(append([]string{"serve", "-data", data, "-listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "memoryd reembed") {
		t.Errorf("serve with another embedder: %v\n%s", err, out)
	}
}

// movedTo waits until a memoryd has moved all memories.
func movedTo(t *testing.T, p *process) {
	t.Helper()
	for readiness(t, p)["reembed"] != "" {
		time.Sleep(5 * time.Millisecond)
	}
}

// searched returns the facts that a search finds, each with the part of its
// score that its meaning has: 0 if the query or the memory has no vector.
func searched(t *testing.T, p *process, scope, query string) map[string]float64 {
	t.Helper()
	var found struct{ Memories []memory.Match }
	code, err := call("POST", p.url+scope+"/memories/search", map[string]any{"query": query, "explain": true}, &found)
	if code != 200 || err != nil {
		t.Fatal(code, err)
	}
	out := map[string]float64{}
	for _, m := range found.Memories {
		out[m.Memory.Fact] = 0
		for _, part := range m.Explain.Parts {
			if part.Name == "dense" {
				out[m.Memory.Fact] = part.Value
			}
		}
	}
	return out
}

// meant repeats a search until the facts with some words have a part of their score by
// meaning, for 30 s. A search goes without its vector where the embedder is slow.
func meant(t *testing.T, p *process, scope, query, words string, least float64) (found map[string]float64) {
	t.Helper()
	soon(func() bool {
		found = searched(t, p, scope, query)
		for fact, dense := range found {
			if strings.Contains(fact, words) && dense < least {
				return false
			}
		}
		return true
	})
	return found
}

// Memories move from one embedder to another while they are served. The process
// is killed on the way, serves them as they were, and goes on with the move.
// Nothing is lost or made again: memories, history, superseded and deleted
// memories, and memories of events that arrive meanwhile. Each memory is
// embedded once.
func TestReembed(t *testing.T) {
	t.Parallel()
	for name, places := range map[string]func(t *testing.T) []string{
		"embedded": func(*testing.T) []string { return nil },
		"shared": func(t *testing.T) []string {
			return []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, env := newGate(t, modeltest.NewOpenAI)
			data, at := t.TempDir(), places(t)
			now := append(slices.Clone(at), "-embedder", "openai", "-embedding-dimension", "64")
			p := start(t, data, at...)
			for u := range killUsers {
				sendAll(t, p, userPieces(u)[:40])
			}
			one, gone := changeSome(t, p)
			p.terminate(t)
			refused(t, env, data, now...)

			// The embedder is unavailable.
			p = startAs(t, "reembed", env, data, now...)
			if !strings.Contains(p.said, "moving the memories") || !regexp.MustCompile(`^0 of [0-9]+ memories moved`).MatchString(readiness(t, p)["reembed"]) {
				t.Errorf("it says %s%v", p.said, readiness(t, p))
			}
			const home = "/v1/apps/kill/users/u0"
			if found := searched(t, p, home, "Which colour do I love?"); len(found) == 0 {
				t.Error("nothing is found while the embedder is unavailable")
			}
			for u := range killUsers {
				sendAll(t, p, userPieces(u)[40:44])
			}
			before := everything(t, p, one, gone)
			total := countMemories(before)

			// It comes back, and the process is killed half way.
			g.left.Store(int64(total) / 2)
			for g.left.Load() >= 100 {
				time.Sleep(time.Millisecond)
			}
			p.kill()
			half := g.taken.Load()
			g.left.Store(0)
			refused(t, env, data, now...)
			p = start(t, data, at...)
			if diff := gocmp.Diff(before, everything(t, p, one, gone)); diff != "" {
				t.Errorf("served as it was, half way (-before +half way):\n%s", diff)
			}
			p.terminate(t)

			// It goes on, while it is searched.
			p = startAs(t, "reembed", env, data, now...)
			searching, stop := context.WithCancel(t.Context())
			var searchers sync.WaitGroup
			for u := range killUsers {
				searchers.Go(func() {
					for searching.Err() == nil {
						var found struct{ Memories []memory.Match }
						code, err := call("POST", fmt.Sprintf("%s/v1/apps/kill/users/u%d/memories/search", p.url, u), map[string]any{"query": "Which painting did I buy?"}, &found)
						if code != 200 || err != nil || len(found.Memories) != 10 {
							t.Errorf("a search meanwhile: %d, %v, %d memories", code, err, len(found.Memories))
							return
						}
					}
				})
			}
			g.left.Store(wide)
			movedTo(t, p)
			stop()
			searchers.Wait()
			if diff := gocmp.Diff(before, everything(t, p, one, gone)); diff != "" {
				t.Errorf("moved (-before +after):\n%s", diff)
			}
			// The kill may have interrupted one batch. Memories of another
			// batch, read before the last request, may have changed before it
			// was stored.
			if n := int(g.taken.Load()); n < total || n > total+200 || half == 0 {
				t.Errorf("%d texts were embedded for %d memories, %d of them before the kill", n, total, half)
			}
			if code := p.terminate(t); code != 0 {
				t.Errorf("exit code %d:\n%s", code, p.logs.String())
			}

			// From here on only the new embedder serves the memories.
			p = startWith(t, env, data, now...)
			if diff := gocmp.Diff(before, everything(t, p, one, gone)); diff != "" {
				t.Errorf("served with the new embedder (-before +after):\n%s", diff)
			}
			found := meant(t, p, home, "colour number love", "love the colour", 0.3)
			for fact, dense := range found {
				if strings.Contains(fact, "love the colour") && dense < 0.3 {
					t.Errorf("%q is not found by its meaning: %v", fact, dense)
				}
			}
			if len(found) == 0 {
				t.Error("nothing is found by the new embedder")
			}
			sendAll(t, p, userPieces(0)[44:48])
			p.terminate(t)
			refused(t, env, data, at...)
			p = startAs(t, "reembed", env, data, now...)
			if !strings.Contains(p.said, "nothing to move") || readiness(t, p)["reembed"] != "" {
				t.Errorf("it says %s%v", p.said, readiness(t, p))
			}
			p.terminate(t)
			modeltest.NoKey(t, p.logs.String()+p.said)
		})
	}
}

// changeSome edits one memory and deletes another.
func changeSome(t *testing.T, p *process) (edited, deleted string) {
	t.Helper()
	contents(t, p.url) // waits until all is done
	var page struct{ Memories []memory.Memory }
	const home = "/v1/apps/kill/users/u0"
	if code, err := call("GET", p.url+home+"/memories?kind=fact&pageSize=2", nil, &page); code != 200 || err != nil {
		t.Fatal(code, err)
	}
	edited, deleted = page.Memories[0].ID, page.Memories[1].ID
	for _, fact := range []string{"I keep bees.", "I keep bees and hens."} {
		if code, err := call("PATCH", p.url+home+"/memories/"+edited, map[string]any{"fact": fact, "metadata": map[string]any{"k": fact}}, nil); code != 200 || err != nil {
			t.Fatal(code, err)
		}
	}
	if code, err := call("DELETE", p.url+home+"/memories/"+deleted, nil, nil); code != 204 || err != nil {
		t.Fatal(code, err)
	}
	return edited, deleted
}

// everything is all that can be read: memories, superseded ones included, and
// the history of some.
func everything(t *testing.T, p *process, ids ...string) any {
	t.Helper()
	out := []any{contents(t, p.url)}
	for _, id := range ids {
		var v any
		if code, err := call("GET", p.url+"/v1/apps/kill/users/u0/memories/"+id+"/revisions", nil, &v); code != 200 || err != nil {
			t.Fatal(code, err)
		}
		out = append(out, v)
	}
	return out
}

func countMemories(all any) (n int) {
	for _, ms := range all.([]any)[0].(bank).Memories {
		n += len(ms)
	}
	return n
}

// A move that is half done is given up for a move to a third embedder, or for
// the embedder of before.
func TestReembedElsewhere(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T) string{
		"embedded": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "memories.db") },
		"shared":   func(t *testing.T) string { return qdranttest.Start(t).URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, env := newGate(t, modeltest.NewOpenAI)
			other, more := newGate(t, modeltest.NewGemini)
			env = append(env, more...)
			other.left.Store(wide)
			data := t.TempDir()
			at := []string{"-sessions", "sqlite:" + filepath.Join(data, "sessions.db"), "-memories", place(t)}
			p := start(t, data, at...)
			for u := range killUsers {
				sendAll(t, p, userPieces(u)[:20])
			}
			one, gone := changeSome(t, p)
			before := everything(t, p, one, gone)
			total := countMemories(before)
			p.terminate(t)
			half := func() {
				t.Helper()
				g.left.Store(150)
				p := startAs(t, "reembed", env, data, append(slices.Clone(at), "-embedder", "openai")...)
				for g.left.Load() >= 100 {
					time.Sleep(time.Millisecond)
				}
				p.kill()
				g.left.Store(0)
			}
			half()
			p = startAs(t, "reembed", env, data, at...) // stay with builtin
			if !strings.Contains(p.said, "nothing to move") {
				t.Errorf("it says %s", p.said)
			}
			p.kill()
			half()
			p = startAs(t, "reembed", env, data, append(slices.Clone(at), "-embedder", "gemini", "-embedding-dimension", "128")...)
			movedTo(t, p)
			if n := int(other.taken.Load()); n < total {
				t.Errorf("%d texts were embedded for %d memories", n, total)
			}
			p.terminate(t)
			p = startWith(t, env, data, append(slices.Clone(at), "-embedder", "gemini", "-embedding-dimension", "128")...)
			if diff := gocmp.Diff(before, everything(t, p, one, gone)); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// Memories of an embedder that this start does not have, and of another
// analyzer, are served by words until they have moved.
func TestReembedUnknown(t *testing.T) {
	t.Parallel()
	g, env := newGate(t, modeltest.NewOpenAI)
	data := t.TempDir()
	p := start(t, data)
	sendAll(t, p, userPieces(0)[:20])
	p.terminate(t)
	db, err := sqlitedb.Open(filepath.Join(data, "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`UPDATE memory_model SET embedder = 'of old', dimension = 256, analyzer = 'of old'`)
		return err
	}), db.Close()); err != nil {
		t.Fatal(err)
	}
	runFails(t, "memoryd reembed", 1, "serve", "-data", data, "-listen", "127.0.0.1:0")
	runFails(t, "memoryd reembed", 1, "export", "-data", data, filepath.Join(data, "export"))

	p = startAs(t, "reembed", env, data, "-embedder", "openai", "-embedding-dimension", "64")
	const home = "/v1/apps/kill/users/u0"
	sendAll(t, p, userPieces(0)[20:24])
	var given memory.Memory
	if code, err := call("POST", p.url+home+"/memories", map[string]any{"fact": "I play the zither."}, &given); code != 201 || err != nil {
		t.Fatal(code, err)
	}
	if found := searched(t, p, home, "Who plays the zither?"); len(found) == 0 || found["I play the zither."] != 0 {
		t.Errorf("while the embedder is unavailable: %v", found)
	}
	const refused = "I said something unspeakable." // by the embedder
	if code, err := call("POST", p.url+home+"/memories", map[string]any{"fact": refused}, nil); code != 201 || err != nil {
		t.Fatal(code, err)
	}
	g.left.Store(wide)
	movedTo(t, p)
	if found := meant(t, p, home, "play the zither", "I play the zither.", 0.01); found["I play the zither."] == 0 {
		t.Errorf("when it is back: %v", found)
	}
	found := searched(t, p, home, "something unspeakable")
	if dense, ok := found[refused]; !ok || dense != 0 {
		t.Errorf("a text that the embedder refuses: %v", found)
	}
	sendAll(t, p, userPieces(0)[24:28])
}

// If only the analyzer or the version of the lookup keys has changed, a start is
// refused, and a move keeps the vectors: no embedder is called. A fact from before
// the move is not stored again after it.
func TestReembedWordsAlone(t *testing.T) {
	t.Parallel()
	for name, column := range map[string]string{
		"analyzer": "analyzer = 'of old'", "keys": "keys = 'of old'", "no keys": "keys = ''",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, env := newGate(t, modeltest.NewOpenAI)
			g.left.Store(wide)
			data := t.TempDir()
			with := []string{"-embedder", "openai", "-embedding-dimension", "64"}
			p := startWith(t, env, data, with...)
			const home = "/v1/apps/kill/users/u0"
			say := func(session string) {
				t.Helper()
				event := map[string]any{"id": "e", "timestamp": "2024-01-01T08:00:00Z", "author": "user",
					"content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "I play the zither."}}}}
				body := map[string]any{"sessionId": session, "events": []any{event}}
				code, err := call("POST", p.url+home+"/memories/ingest?wait=true", body, nil)
				if code != 200 || err != nil {
					t.Fatal(code, err)
				}
			}
			say("before")
			p.terminate(t)
			db, err := sqlitedb.Open(filepath.Join(data, "memoryd.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
				_, err := tx.Exec(`UPDATE memory_model SET ` + column + `;
					UPDATE memories SET terms = CAST('{"old":1}' AS BLOB)`)
				return err
			}), db.Close()); err != nil {
				t.Fatal(err)
			}
			refused(t, env, data, with...)
			g.left.Store(0)
			taken := g.taken.Load()
			p = startAs(t, "reembed", env, data, with...)
			movedTo(t, p)
			if n := g.taken.Load() - taken; n != 0 {
				t.Errorf("%d texts were embedded", n)
			}
			g.left.Store(wide)
			if found := searched(t, p, home, "zither"); len(found) != 1 {
				t.Errorf("found %v", found)
			}
			say("after")
			var page struct{ Memories []memory.Memory }
			if code, err := call("GET", p.url+home+"/memories?kind=fact", nil, &page); code != 200 || err != nil {
				t.Fatal(code, err)
			}
			if len(page.Memories) != 1 {
				t.Errorf("%d facts hold: %v", len(page.Memories), page.Memories)
			}
		})
	}
}

// Only the built-in embedder, and those of services that a flag names, are used
// as the former embedder.
func TestFormerEmbedderIsNamed(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("GEMINI_API_KEY", "none")
	openai := memory.Model{Embedder: "openai:nomic", Dimension: 384, Analyzer: "of old"}
	for _, c := range []struct {
		was                 memory.Model
		embedder, extractor string
		want                bool
	}{
		{openai, "builtin", "rules", false},
		{openai, "gemini", "rules", false},
		{openai, "openai:other", "rules", true},
		{openai, "builtin", "openai:gpt", true},
		{memory.Model{Embedder: "openai:text-embedding-3-small", Dimension: 9999}, "openai:other", "rules", false},
		{memory.Model{Embedder: "of old", Dimension: 256}, "openai:other", "rules", false},
		{memoryd.ModelOf(embed.Builtin{}), "openai:other", "rules", true},
	} {
		now, err := newEmbedder(c.embedder, 100)
		if err != nil {
			t.Fatal(err)
		}
		e := formerEmbedder(&config{embedder: c.embedder, extractor: c.extractor}, c.was, now, slog.New(slog.DiscardHandler))
		if m := e.Model(); m.Name != c.was.Embedder || m.Dimension != c.was.Dimension {
			t.Errorf("%+v: its model is %+v", c, m)
		}
		if got := e.(*reembed.Former).Known(); got != c.want {
			t.Errorf("%+v: it is asked: %v", c, got)
		}
	}
}

// Several memoryd share one store: two move the memories and change over at the
// end, and a third one knows nothing of the move. Its writes before the end
// move too, its writes after that fail and are retried elsewhere, and it still
// finds the old memories.
func TestReembedShared(t *testing.T) {
	t.Parallel()
	g, env := newGate(t, modeltest.NewOpenAI)
	at := []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
	now := append(slices.Clone(at), "-embedder", "openai", "-embedding-dimension", "64")
	const home = "/v1/apps/kill/users/u0"
	given := func(send sender, p *process, fact string) int {
		code, err := send("POST", p.url+home+"/memories", map[string]any{"fact": fact}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	old := start(t, t.TempDir(), at...)
	for u := range killUsers {
		sendAll(t, old, userPieces(u)[:20])
	}
	before := everything(t, old)
	var movers []*process
	for range 2 {
		movers = append(movers, startAs(t, "reembed", env, t.TempDir(), now...))
	}
	if code := given(call, old, "I keep bees."); code != 201 {
		t.Fatal(code)
	}
	g.left.Store(wide)
	for _, p := range movers {
		movedTo(t, p)
	}
	if n, total := int(g.taken.Load()), countMemories(before)+1; n < total || n >= 2*total {
		t.Errorf("%d texts were embedded for %d memories", n, total)
	}
	if found := meant(t, movers[1], home, "keep bees", "I keep bees.", 0.5); found["I keep bees."] < 0.5 {
		t.Errorf("a write through the other memoryd: %v", found)
	}

	if code := given(callOnce, old, "I keep hens."); code != 503 {
		t.Errorf("a write by one that has not turned: %d", code)
	}
	if found := searched(t, old, home, "bees"); len(found) == 0 {
		t.Error("one that has not turned finds nothing")
	}
	sendAll(t, old, userPieces(1)[20:24])
	if code := given(call, movers[0], "I keep geese."); code != 201 {
		t.Errorf("a write by one that has turned: %d", code)
	}
	old.terminate(t)
	want := countMemories(before)
	if got := countMemories(everything(t, movers[1])); got <= want+2 {
		t.Errorf("%d memories were %d before: the waiting work was not done", got, want)
	}
	for _, p := range movers {
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d:\n%s", code, p.logs.String())
		}
	}
}
