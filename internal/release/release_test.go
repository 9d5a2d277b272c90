package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hello is built in place of memoryd.
const hello = "./internal/release/testdata/hello"

// An archive for this platform has a binary that tells its version, and the same
// bytes when it is built again.
func TestRelease(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test unpacks an archive for Linux or macOS")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git, for the time of the commit")
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	var archives [2][]byte
	name := "memoryd_1.2.3-test_" + runtime.GOOS + "_" + runtime.GOARCH
	for i := range archives {
		out := filepath.Join(t.TempDir(), "dist")
		if err := run(t.Context(), []string{"-version", "v1.2.3-test", "-out", out, "-platforms", platform}, hello); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(filepath.Join(out, name+".tar.gz")); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(out, checksums))
		sum := sha256.Sum256(archives[i])
		if want := hex.EncodeToString(sum[:]) + "  " + name + ".tar.gz\n"; err != nil || string(sums) != want {
			t.Errorf("checksums %q, %v, want %q", sums, err, want)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("built again, the archive is another")
	}

	z, err := gzip.NewReader(bytes.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	binary := filepath.Join(t.TempDir(), "memoryd")
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, head.Name)
		if head.Name != name+"/memoryd" {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(binary, content, os.FileMode(head.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(names, " "), name+"/memoryd "+name+"/LICENSE "+name+"/README.md"; got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	said, err := exec.Command(binary).Output()
	if want := "memoryd v1.2.3-test\n"; err != nil || string(said) != want {
		t.Errorf("version: %v, %q, want %q", err, said, want)
	}
}

// The linker ignores a name that does not exist: memoryd must have the variable
// that a release sets.
func TestReleaseVariable(t *testing.T) {
	source, err := os.ReadFile("../../cmd/memoryd/version.go")
	if err != nil || !strings.Contains(string(source), "\nvar release string\n") {
		t.Errorf("cmd/memoryd/version.go has no variable release: %v", err)
	}
}

func TestReleaseRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"want one such as v0.1.0":             {"-version", "0.1.0"},
		"it is not empty":                     {"-version", "v0.1.0", "-out", full},
		"want a platform such as linux/amd64": {"-version", "v0.1.0", "-out", filepath.Join(full, "dist"), "-platforms", "linux"},
	} {
		if err := run(t.Context(), args, hello); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want an error that says %q", args, err, says)
		}
	}
}
