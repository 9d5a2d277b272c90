package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPythonGeneratesTypeScript holds the generated files of the package for TypeScript to the
// OpenAPI document; -update writes them. Python's standard library is enough.
func TestPythonGeneratesTypeScript(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		unavailable(t, err)
	}
	_, raw := described(t)
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{python, absolute(t, "../typescript/generate.py"), file}
	if !*update {
		args = append(args, "--check")
	}
	run(t, t.TempDir(), nil, args...)
}

// copyPackage copies the package for TypeScript without what npm and tsc have made in it.
func copyPackage(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir("../typescript", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" || d.Name() == "dist" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, strings.TrimPrefix(file, filepath.FromSlash("../typescript")))
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testTypeScriptPackage has the compiler read the package, and runs its own tests against
// a memoryd and others that they start.
func testTypeScriptPackage(t *testing.T, venv string) {
	dir := t.TempDir()
	copyPackage(t, filepath.Join(dir, "typescript"))
	binary := filepath.Join(dir, "memoryd")
	run(t, "..", nil, "go", "build", "-o", binary, "./cmd/memoryd")
	env := append(serve(t), "PATH="+venv+string(filepath.ListSeparator)+os.Getenv("PATH"), "MEMORYD_BINARY="+binary)

	at := filepath.Join(dir, "typescript")
	// The date pins indirect dependencies.
	if _, err := try(t, at, env, filepath.Join(venv, "npm"), "install", "--before=2026-11-15", "--ignore-scripts",
		"--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=2"); err != nil {
		unavailable(t, err)
	}
	run(t, at, env, filepath.Join(venv, "npm"), "run", "prepare")
	run(t, at, env, filepath.Join(venv, "npm"), "run", "check")
	run(t, at, env, filepath.Join(venv, "npm"), "test")
}
