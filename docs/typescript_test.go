package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// inAMinute are the commands of a page that begin with nothing and end with an agent
// that remembers, but for the one that builds memoryd.
var inAMinute = regexp.MustCompile(`(?m)^    ((?:npm|MEMORYD_BINARY=\S+ node) .*)$`)

// testTypeScript runs the commands and the programs of the page as they are typed, has the
// compiler read the package, and runs its own tests against a memoryd and others that they start.
func testTypeScript(t *testing.T, venv string) {
	dir := t.TempDir()
	at := filepath.Join(dir, "typescript")
	copyPackage(t, at)
	binary := filepath.Join(dir, "memoryd")
	run(t, "..", nil, "go", "build", "-o", binary, "./cmd/memoryd")
	path := "PATH=" + venv + string(filepath.ListSeparator) + os.Getenv("PATH")

	page := read(t, "typescript.md")
	prints := printed(t, "typescript.md")
	_, section, _ := strings.Cut(page, "## In a minute")
	section, _, _ = strings.Cut(section, "\n## ")
	told := ""
	for _, command := range inAMinute.FindAllStringSubmatch(section, -1) {
		out, err := try(t, dir, []string{path}, "sh", "-c", command[1])
		if err != nil {
			unavailable(t, err)
		}
		if !strings.HasPrefix(command[1], "npm") {
			told += out
		}
	}
	same(t, "remember.ts", told, prints["typescript/examples/remember.ts"])
	// A link to the folder would bring the frameworks of the package's own tests along.
	installed, err := filepath.Glob(filepath.Join(dir, "node_modules", "[^.]*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(installed) != 1 || filepath.Base(installed[0]) != "@memoryd" {
		t.Errorf("the commands of the page install %q: want @memoryd alone", installed)
	}

	env := append(serve(t), path, "MEMORYD_BINARY="+binary, "OPENAI_BASE_URL="+model(t), "OPENAI_API_KEY=key")
	// The date pins indirect dependencies.
	if _, err := try(t, at, env, filepath.Join(venv, "npm"), "install", "--before=2026-11-15", "--ignore-scripts",
		"--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=2"); err != nil {
		unavailable(t, err)
	}
	// tools.ts asks for what quickstart.ts has stored.
	for _, name := range []string{"quickstart", "tools", "adk", "ai", "langgraph", "langgraph-tools", "openai-agents",
		"openai-agents-tools"} {
		file := "typescript/examples/" + name + ".ts"
		same(t, file, run(t, dir, env, filepath.Join(venv, "node"), file), prints[file])
	}
	t.Run("checked", func(t *testing.T) {
		t.Run("tsc", func(t *testing.T) {
			t.Parallel()
			run(t, at, env, filepath.Join(venv, "npm"), "run", "check")
		})
		t.Run("node", func(t *testing.T) {
			t.Parallel()
			run(t, at, env, filepath.Join(venv, "npm"), "test")
		})
		t.Run("runtimes", func(t *testing.T) {
			t.Parallel()
			testRuntimes(t, at, append(env, "DENO_DIR="+t.TempDir(), "DENO_NO_UPDATE_CHECK=1"), venv)
		})
	})
}

// testRuntimes has Deno, Bun and the oldest Node that the package is for run the package's own
// tests that need no framework. All come from npm, and so does tsx: that Node reads no TypeScript.
// Tests of failures are left to the Node of today: they wait more than they run.
func testRuntimes(t *testing.T, at string, env []string, venv string) {
	dir := t.TempDir()
	if _, err := try(t, dir, env, filepath.Join(venv, "npm"), "install", "--no-audit", "--no-fund", "--no-package-lock",
		"--fetch-retries=2", "deno@2.9.6", "bun@1.4.5", "node@20.20.2", "tsx@4.23.15"); err != nil {
		unavailable(t, err)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	tests := []string{"./tests/calls.test.ts", "./tests/embedded.test.ts"}
	for _, args := range [][]string{
		{filepath.Join(bin, "deno"), "test", "-A", "--no-check", "--node-modules-dir=manual"},
		{filepath.Join(bin, "bun"), "test"},
		{filepath.Join(bin, "node"), "--import=" + filepath.Join(dir, "node_modules", "tsx", "dist", "loader.mjs"), "--test"},
	} {
		run(t, at, env, append(args, tests...)...)
	}
}
