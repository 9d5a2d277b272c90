package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Install shows what it will write, asks, leaves a copy, and writes a command that starts
// memoryd by its absolute path; uninstall takes it out.
func TestMCPInstall(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte("{} // mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(answer string, args ...string) (string, error) {
		t.Helper()
		c, rest, err := find(append([]string{"mcp"}, args...))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = c.execute(t.Context(), rest, streams{io.NopCloser(strings.NewReader(answer)), &out, &out})
		return out.String(), err
	}
	install := []string{"install", "cursor", "-file", file, "-user", "ann", "-key-file", "key"}
	for _, answer := range []string{"", "n\n", "what\n"} {
		said, err := do(answer, install...)
		if err == nil || !strings.Contains(err.Error(), "give -yes") || !strings.Contains(said, file) || !strings.Contains(said, `"ann"`) {
			t.Errorf("%q: %v\n%s", answer, err, said)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "{} // mine\n" {
		t.Errorf("without an answer the file is %s, %v", text, err)
	}
	if said, err := do("Y\n", install...); err != nil || !strings.Contains(said, "restart Cursor") || !strings.Contains(said, file+".memoryd-backup-1") {
		t.Errorf("%v\n%s", err, said)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	key, err := filepath.Abs("key")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	for _, want := range []string{program, `"-app",`, `"ann"`, key, "// mine"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, no %s in\n%s", err, want, text)
		}
	}
	if said, err := do("", install...); err != nil || !strings.Contains(said, "nothing is changed") {
		t.Errorf("a second time: %v\n%s", err, said)
	}
	if said, err := do("", "uninstall", "cursor", "-file", file, "-yes"); err != nil || !strings.Contains(said, "done") {
		t.Errorf("%v\n%s", err, said)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "memoryd") {
		t.Errorf("%v, after uninstall\n%s", err, text)
	}
	for _, args := range [][]string{{"install"}, {"install", "emacs"}, {"install", "zed", "-user", "a/b"}, {"install", "zed", "-user", "a", "-name", " "}, {"install", "zed", "-user", "a", "-name", "a\nb"}} {
		if _, err := do("", args...); exitCode(err) != 2 {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A program of go run is gone when a host wants to start it.
func TestLasting(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]bool{
		"/tmp/go-build1234567890/b001/exe/memoryd": false,
		"/var/folders/a/T/go-build99/b001/exe/x":   false,
		"/home/ann/go/bin/memoryd":                 true,
		"/tmp/go-build1/b001/memoryd.test":         true,
		"/home/ann/go-builder/exe/memoryd":         true,
	} {
		if err := lasting(program); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "go install") {
			t.Errorf("%s: %v", program, err)
		}
	}
}
