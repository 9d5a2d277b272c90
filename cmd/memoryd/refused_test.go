package main

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// tree lists all files and directories under one, with a slash behind those of
// directories.
func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			path += "/"
		}
		paths = append(paths, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A start that is refused creates no directory, no file and no lock, whatever the
// reason.
func TestRefusedLeavesNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	dir := t.TempDir()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()

	used, apart, foreign := filepath.Join(dir, "used"), filepath.Join(dir, "apart"), filepath.Join(dir, "foreign")
	start(t, used).terminate(t)
	sessions, memories := "sqlite:"+filepath.Join(apart, "sessions.db"), "sqlite:"+filepath.Join(apart, "memories.db")
	start(t, apart, "-sessions", sessions, "-memories", memories).terminate(t)
	if err := os.MkdirAll(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "memoryd.db"), []byte(strings.Repeat("not a database. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	none, new := filepath.Join(dir, "none", "deeper"), "sqlite:"+filepath.Join(dir, "new", "new.db")
	before := tree(t, dir)

	for name, c := range map[string]struct {
		says string
		code int
		args []string
	}{
		"a wrong flag":              {"debug, info", 2, []string{"-data", none, "-log-level", "loud"}},
		"a model without a key":     {"OPENAI_API_KEY", 1, []string{"-data", none, "-embedder", "openai"}},
		"a port in use":             {"name another address", 1, []string{"-data", none, "-listen", busy.Addr().String()}},
		"a file of another program": {"not a memoryd database", 1, []string{"-data", foreign}},
		"no room for a directory":   {"name another place", 1, []string{"-data", filepath.Join(foreign, "memoryd.db", "deeper")}},
		"Redis away":                {"-sessions", 1, []string{"-data", none, "-sessions", "redis://127.0.0.1:1"}},
		"Qdrant away":               {"-memories", 1, []string{"-data", none, "-memories", "qdrant://127.0.0.1:1"}},
		"memories elsewhere":        {"have their memories elsewhere", 1, []string{"-sessions", sessions, "-memories", new}},
		"sessions elsewhere":        {"have their memories elsewhere", 1, []string{"-data", used, "-memories", new}},
		"exchanged":                 {"exchanged", 1, []string{"-sessions", memories, "-memories", new}},
	} {
		for _, command := range []string{"serve", "reembed", "mcp"} {
			args := append([]string{command, "-listen", "127.0.0.1:0"}, c.args...)
			if command == "mcp" && name == "a port in use" {
				continue // it waits for a memoryd there
			}
			runFails(t, c.says, c.code, args...)
			if diff := gocmp.Diff(before, tree(t, dir)); diff != "" {
				t.Fatalf("%s: %s left (-before +after):\n%s", name, command, diff)
			}
		}
	}
	for _, args := range [][]string{
		{"rebuild", "-data", none},
		{"export", "-data", none, filepath.Join(dir, "file")},
		{"import", "-data", none, filepath.Join(dir, "file")},
		{"export", "-sessions", sessions, "-memories", "sqlite:" + filepath.Join(used, "memoryd.db"), filepath.Join(dir, "file")},
	} {
		runFails(t, "", 1, args...)
		if diff := gocmp.Diff(before, tree(t, dir)); diff != "" {
			t.Fatalf("%v left (-before +after):\n%s", args, diff)
		}
	}
	start(t, used).terminate(t) // nor is anything left locked
}
