package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPythonGenerated holds the generated files of the Python package to the OpenAPI
// document; -update writes them. Python's standard library is enough.
func TestPythonGenerated(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		unavailable(t, err)
	}
	_, raw := described(t)
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{python, absolute(t, "../python/generate.py"), file}
	if !*update {
		args = append(args, "--check")
	}
	run(t, t.TempDir(), nil, args...)
}

// testWheels builds what the page tells to build, and installs it. A platform wheel brings its
// memoryd along: embedded starts that with nothing on the PATH.
func testWheels(t *testing.T, python, binary string) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../python")); err != nil {
		t.Fatal(err)
	}
	build := []string{python, "-m", "build", "--no-isolation"} // with hatchling of the environment
	run(t, dir, nil, append(build, "--outdir=plain")...)
	for _, pattern := range []string{"*.tar.gz", "*-py3-none-any.whl"} {
		found, err := filepath.Glob(filepath.Join(dir, "plain", pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("build makes %v (%v): want one %s", found, err, pattern)
		}
		target := t.TempDir()
		run(t, dir, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
			"--no-build-isolation", "--target="+target, found[0])
		run(t, target, []string{"PYTHONPATH=" + target}, python, "-c",
			"import memoryd, sys; assert memoryd.__file__.startswith(sys.argv[1]), memoryd.__file__", target)
	}

	run(t, dir, []string{"MEMORYD_WHEEL_BINARY=" + binary}, append(build, "--wheel", "--outdir=platform")...)
	wheels, err := filepath.Glob(filepath.Join(dir, "platform", "*-py3-none-*.whl"))
	if err != nil || len(wheels) != 1 || strings.HasSuffix(wheels[0], "-any.whl") {
		t.Fatalf("build with a binary makes %v (%v): want one wheel, for this platform", wheels, err)
	}
	fresh := filepath.Join(t.TempDir(), "venv")
	run(t, dir, nil, python, "-m", "venv", "--without-pip", fresh)
	in := filepath.Join(fresh, "bin", "python")
	if _, err := try(t, dir, nil, python, "-m", "pip", "--python="+in, "install", "--quiet", "--disable-pip-version-check",
		"--retries=3", "--constraint="+absolute(t, "testdata/constraints.txt"), wheels[0]); err != nil {
		unavailable(t, err)
	}
	here, told := t.TempDir(), ""
	for _, said := range []string{"I live in Porto.", "Where do I live?"} {
		told += run(t, here, []string{"PATH=", "MEMORYD_BINARY="}, in, absolute(t, "python/remember.py"), said)
	}
	same(t, "remember.py with a platform wheel", told, printed(t, "python.md")["docs/python/remember.py"])
}

// testPackage installs the Python package, and has type checkers read it and the programs
// of its page, while its own tests run against a memoryd and start others.
func testPackage(t *testing.T, venv string) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../python")); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(venv, "python")
	run(t, dir, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--no-build-isolation", "--force-reinstall", ".")
	binary := filepath.Join(dir, "memoryd")
	run(t, "..", nil, "go", "build", "-o", binary, "./cmd/memoryd")

	t.Run("checked", func(t *testing.T) {
		programs, err := filepath.Glob(absolute(t, "python/*.py"))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, frameworkPrograms(t)...)
		t.Run("mypy", func(t *testing.T) {
			t.Parallel()
			run(t, dir, nil, append([]string{python, "-m", "mypy", "--no-incremental", "."}, programs...)...)
		})
		t.Run("pyright", func(t *testing.T) {
			t.Parallel()
			for at, what := range map[string][]string{
				dir: {"src", "tests"}, absolute(t, "python"): {"."}, absolute(t, "frameworks"): {"."}} {
				run(t, at, []string{"PYRIGHT_PYTHON_IGNORE_WARNINGS=1"},
					append([]string{python, "-m", "pyright", "--pythonpath", python}, what...)...)
			}
		})
		t.Run("tests", func(t *testing.T) {
			t.Parallel()
			run(t, dir, append(serve(t), "MEMORYD_BINARY="+binary), python, "-m", "pytest", "tests")
		})
		t.Run("wheels", func(t *testing.T) {
			t.Parallel()
			testWheels(t, python, binary)
		})
	})

	t.Run("frameworks", func(t *testing.T) { testFrameworks(t, venv) })

	prints := printed(t, "python.md")
	here := t.TempDir()
	for _, program := range []string{"quickstart.py", "recall.py", "knowledge.py"} {
		same(t, program, run(t, here, serve(t), python, absolute(t, "python/"+program)), prints["docs/python/"+program])
	}
	// Two processes, which have the data alone in common.
	env := []string{"MEMORYD_BINARY=" + binary}
	told := ""
	for _, said := range []string{"I live in Porto.", "Where do I live?"} {
		told += run(t, here, env, python, absolute(t, "python/remember.py"), said)
	}
	same(t, "remember.py", told, prints["docs/python/remember.py"])
}
