package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// runs runs a command that must succeed, and returns its output.
func runs(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("memoryd %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// A move from the embedded file to Redis and Qdrant, and back, loses nothing:
// sessions, state, memories, their history, and unfinished work.
func TestMove(t *testing.T) {
	t.Parallel()
	dir, data, back := t.TempDir(), t.TempDir(), t.TempDir()
	redis := redistest.Start(t).URL()
	qdrant := qdranttest.Start(t).URL(t)
	remote := []string{"-data", dir, "-sessions", redis, "-memories", qdrant}

	p := start(t, data)
	for u := range killUsers {
		sendAll(t, p, userPieces(u)[:40])
	}
	scope := p.url + "/v1/apps/kill/users/u0"
	want := contents(t, p.url)
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/sessions", map[string]any{"id": "live", "state": map[string]any{"k": 1, "user:k": []any{1.5}, "app:k": nil}, "events": []any{map[string]any{"id": "e1", "content": "<b>&amp;"}}}},
		{"POST", "/sessions", map[string]any{"id": "empty"}},
		{"PATCH", "/memories/" + want.Memories["/v1/apps/kill/users/u0"][0].ID, map[string]any{"fact": "Corrected."}},
		{"DELETE", "/memories/" + want.Memories["/v1/apps/kill/users/u0"][1].ID, nil},
	} {
		if code, err := call(c.method, scope+c.path, c.body, nil); err != nil || code >= 300 {
			t.Fatal(c, code, err)
		}
	}
	config := map[string]any{"person": "THIRD", "triggers": map[string]any{"events": 1}}
	if code, err := call("PUT", p.url+"/v1/apps/kill/config", config, nil); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	changed := want.Memories["/v1/apps/kill/users/u0"][0].ID
	all := func(p *process) any {
		var out []any
		for _, path := range []string{"/users/u0/sessions/live", "/users/u0/sessions", "/config", "/users/u0/memories/" + changed + "/revisions"} {
			var v any
			if code, err := call("GET", p.url+"/v1/apps/kill"+path, nil, &v); err != nil || code != 200 {
				t.Fatal(path, code, err)
			}
			out = append(out, v)
		}
		return []any{contents(t, p.url), out}
	}
	before := all(p)
	// The last requests before the end leave unfinished work.
	sendAll(t, p, userPieces(1)[40:44])
	p.terminate(t)

	first, second, third := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "third")
	said := runs(t, "export", "-data", data, first)
	if !strings.Contains(said, "sha256") || !strings.Contains(said, "14 sessions") {
		t.Errorf("export says %s", said)
	}
	runFails(t, "is there already", 1, "export", "-data", data, first)
	for i, want := range []string{"of the memories were new", " 0 of the memories were new"} {
		if said := runs(t, append(append([]string{"import"}, remote...), first)...); !strings.Contains(said, want) {
			t.Errorf("import %d says %s", i, said)
		}
	}
	p = start(t, dir, remote[2:]...)
	if diff := gocmp.Diff(before, all(p), gocmp.FilterPath(afterExport, gocmp.Ignore())); diff != "" {
		t.Errorf("(-embedded +in Redis and Qdrant):\n%s", diff)
	}
	moved := all(p)
	p.terminate(t)

	runs(t, append(append([]string{"export"}, remote...), second)...)
	runs(t, "import", "-data", back, second)
	runs(t, "export", "-data", back, third)
	p = start(t, back)
	if diff := gocmp.Diff(moved, all(p)); diff != "" {
		t.Errorf("(-in Redis and Qdrant +back):\n%s", diff)
	}
	if a, b := sorted(t, second), sorted(t, third); a != b {
		t.Errorf("an export, and one of what it was imported into, differ:\n%s", gocmp.Diff(a, b))
	}
}

// afterExport reports whether the last requests before the export changed a
// part.
func afterExport(p gocmp.Path) bool {
	for _, step := range p {
		if k, ok := step.(gocmp.MapIndex); ok && strings.Contains(k.Key().String(), "users/u1") {
			return true
		}
	}
	return false
}

// sorted returns the lines of an export in one order, without its end: stores
// export memories in any order.
func sorted(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for l := range bytes.Lines(raw) {
		if s := string(l); !strings.HasPrefix(s, `{"end"`) {
			counts[s]++
		}
	}
	out := new(strings.Builder)
	for _, l := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "%d %s", counts[l], l)
	}
	return out.String()
}

// Sessions whose memories were lost are refused with an error that says what to
// do. A rebuild makes the same memories again, also in another kind of store.
func TestRebuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := "sqlite:" + filepath.Join(dir, "sessions.db")
	was := start(t, dir, "-sessions", sessions)
	for u := range killUsers {
		sendAll(t, was, userPieces(u))
	}
	want := contents(t, was.url).settled()
	was.terminate(t)
	again := []string{"-data", dir, "-sessions", sessions, "-memories", qdranttest.Start(t).URL(t)}
	runFails(t, "memoryd rebuild", 1, append([]string{"serve", "-listen", "127.0.0.1:0"}, again...)...)
	if said := runs(t, append([]string{"rebuild"}, again...)...); !strings.Contains(said, fmt.Sprint(killUsers*killSessions, " sessions")) {
		t.Errorf("rebuild says %s", said)
	}
	runFails(t, "nothing to rebuild", 1, append([]string{"rebuild"}, again...)...)
	if diff := gocmp.Diff(want, contents(t, start(t, dir, again[2:]...).url).settled()); diff != "" {
		t.Errorf("(-lost +rebuilt):\n%s", diff)
	}
}

// An export of another analyzer is imported with the words of this one, and
// keeps its vectors.
func TestImportOtherWords(t *testing.T) {
	t.Parallel()
	dir, data, to := t.TempDir(), t.TempDir(), t.TempDir()
	p := start(t, data)
	sendAll(t, p, userPieces(0)[:4])
	p.terminate(t)
	file := filepath.Join(dir, "file")
	runs(t, "export", "-data", data, file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw = regexp.MustCompile(`"analyzer":"[^"]*"`).ReplaceAll(raw, []byte(`"analyzer":"of old"`))
	raw = regexp.MustCompile(`"terms":{[^}]*}`).ReplaceAll(raw, []byte(`"terms":{"old":1}`))
	end := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	sum := sha256.Sum256(raw[:end])
	raw = regexp.MustCompile(`"sha256":"[^"]*"`).ReplaceAll(raw, []byte(`"sha256":"`+hex.EncodeToString(sum[:])+`"`))
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	runs(t, "import", "-data", to, file)
	again := filepath.Join(dir, "again")
	runs(t, "export", "-data", to, again)
	runs(t, "export", "-data", data, filepath.Join(dir, "before"))
	if a, b := sorted(t, filepath.Join(dir, "before")), sorted(t, again); a != b {
		t.Errorf("the words are not as if they had been said here:\n%s", gocmp.Diff(a, b))
	}
}

// A file that is cut off, changed, or of another program is refused before
// anything is imported.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	p := start(t, data)
	sendAll(t, p, userPieces(0)[:4])
	p.terminate(t)
	good := filepath.Join(dir, "good")
	runs(t, "export", "-data", data, good)
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for want, spoilt := range map[string][]byte{
		"cut off":                     raw[:bytes.LastIndexByte(raw[:len(raw)-1], '\n')+1],
		"checksum":                    bytes.Replace(raw, []byte("painting"), []byte("paunting"), 1),
		"none of an export":           append([]byte("hello\n"), raw...),
		"does not begin":              raw[bytes.IndexByte(raw, '\n')+1:],
		"follows the end":             append(bytes.Clone(raw), raw...),
		"of format 2":                 bytes.Replace(raw, []byte(`"format":1`), []byte(`"format":2`), 1),
		"no such file":                nil,
		"line 2 is none of an export": bytes.Replace(raw, []byte("\n"), []byte("\n{\"new\":1}\n"), 1),
	} {
		file := filepath.Join(dir, "spoilt")
		os.Remove(file)
		if spoilt != nil {
			if err := os.WriteFile(file, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		to := filepath.Join(dir, "to")
		runFails(t, want, 1, "import", "-data", to, file)
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s: something was imported", want)
		}
	}
	bare := runs(t, "export", "-data", data, "-")
	if !strings.Contains(bare, "exported") || !strings.HasPrefix(bare, `{"memoryd"`) {
		t.Errorf("to stdout goes %.200s", bare)
	}
	runFails(t, "is a directory: name a file", 1, "import", "-data", data, dir)
	if pipe := filepath.Join(dir, "pipe"); exec.Command("mkfifo", pipe).Run() == nil { // not on every system
		runFails(t, "is a pipe: name a file", 1, "import", "-data", data, pipe)
	}
	runFails(t, "want one file", 2, "import", "-data", dir)
	runFails(t, "want one file", 2, "export", "a", "-data", dir, "b")
}
