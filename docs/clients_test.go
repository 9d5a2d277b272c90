package docs_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/server"
)

// TestClients runs the programs of the pages, each language against a memoryd of
// its own. MEMORYD_TEST_CLIENTS=0 skips the test, and 1 makes a missing
// Python or package a failure. Without the variable they skip the test.
func TestClients(t *testing.T) {
	if os.Getenv("MEMORYD_TEST_CLIENTS") == "0" {
		t.Skip("MEMORYD_TEST_CLIENTS is 0")
	}
	venv := installPython(t, t.TempDir())
	t.Run("package", func(t *testing.T) { testPackage(t, venv) })
	t.Run("typescript", func(t *testing.T) { testTypeScript(t, venv) })
	t.Run("openapi", func(t *testing.T) { testLint(t, venv) })
	t.Run("kubernetes", func(t *testing.T) { testManifests(t, venv) })
	t.Run("image", func(t *testing.T) { testImage(t, venv) })
}

// testImage has public linters read the Dockerfile and docker-compose.yml.
func testImage(t *testing.T, venv string) {
	run(t, t.TempDir(), nil, filepath.Join(venv, "hadolint"), absolute(t, "../Dockerfile"))
	run(t, t.TempDir(), nil, filepath.Join(venv, "check-jsonschema"), "--builtin-schema", "vendor.compose-spec",
		absolute(t, "../docker-compose.yml"))
}

// kustomize is the version of the tool that builds the manifests.
const kustomize = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.2"

// testKustomize has kustomize build the manifests, and holds what it makes to the schemas.
func testKustomize(t *testing.T, venv string) {
	bin := t.TempDir()
	if _, err := try(t, bin, []string{"GOBIN=" + bin, "GOFLAGS="}, "go", "install", kustomize); err != nil {
		unavailable(t, err)
	}
	for _, dir := range []string{"shared", "embedded"} {
		built := run(t, bin, nil, filepath.Join(bin, "kustomize"), "build", absolute(t, "../deploy/kubernetes/"+dir))
		file := filepath.Join(bin, dir+".yaml")
		if err := os.WriteFile(file, []byte(built), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, bin, nil, filepath.Join(venv, "kubernetes-validate"), "--strict", file)
	}
}

// testManifests holds the manifests to the schemas of Kubernetes.
func testManifests(t *testing.T, venv string) {
	testKustomize(t, venv)
	files, err := filepath.Glob("../deploy/kubernetes/*/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			for _, name := range regexp.MustCompile(`(?m)^  - (\S+\.yaml)$`).FindAllStringSubmatch(read(t, file), -1) {
				read(t, filepath.Join(filepath.Dir(file), name[1]))
			}
			continue
		}
		run(t, t.TempDir(), nil, filepath.Join(venv, "kubernetes-validate"), "--strict", absolute(t, file))
	}
}

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s does not print the output that the page shows (-page +printed):\n%s", what, diff)
	}
}

// installPython makes a virtual environment with all that tests use from PyPI, and returns
// its directory of commands. MEMORYD_TEST_VENV names one that other tests use too.
func installPython(t *testing.T, dir string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		unavailable(t, err)
	}
	venv := cmp.Or(os.Getenv("MEMORYD_TEST_VENV"), filepath.Join(dir, "venv"))
	steps := [][]string{
		{filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries=3",
			"--constraint=" + absolute(t, "testdata/constraints.txt"), "--requirement=" + absolute(t, "testdata/requirements.txt")},
	}
	if _, err := os.Stat(venv); err != nil {
		steps = slices.Insert(steps, 0, []string{python, "-m", "venv", venv})
	}
	for _, args := range steps {
		if _, err := try(t, dir, nil, args...); err != nil {
			unavailable(t, err)
		}
	}
	return filepath.Join(venv, "bin")
}

// unavailable skips a test that lacks a program or package, or fails it if
// MEMORYD_TEST_CLIENTS is 1.
func unavailable(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("MEMORYD_TEST_CLIENTS") == "1" {
		t.Fatal(err)
	}
	t.Skipf(
		"needs python3 with venv, and the packages of docs/testdata/requirements.txt and typescript/package.json: %v",
		err,
	)
}

// serve starts a memoryd that ends with the test, and returns the variables with its URL
// and a key. It is an admin's, as listing the sessions of all users of an app takes one. It
// waits longer than by default, as a slow machine needs.
func serve(t *testing.T) (env []string) {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), ":memory:", &memoryd.Options{Server: server.Options{
		QueueTime: time.Minute, PreloadTimeout: time.Minute, RememberWait: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(bank)
	t.Cleanup(func() {
		s.Close()
		if err := bank.Close(); err != nil {
			t.Error(err)
		}
	})
	_, key, err := client.InProcess(bank).Keys("*").Create(t.Context(), client.NewKey{Can: []string{"read", "write", "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"MEMORYD_URL=" + s.URL, "MEMORYD_KEY=" + key}
}

// run runs a command that must succeed, and returns its output.
func run(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func try(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &log
	cmd.WaitDelay = 30 * time.Second // for processes that a command leaves running
	cmd.Env = append(
		append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "PYTHONDONTWRITEBYTECODE=1"),
		env...)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), cmp.Or(ctx.Err(), err), &out, &log)
	}
	return out.String(), nil
}

// model starts a fake of OpenAI's API. It searches memory for each question and
// answers with the first match.
func model(t *testing.T) string {
	type message struct {
		Role      string           `json:"role"`
		Content   string           `json:"content"`
		ToolCalls []map[string]any `json:"tool_calls,omitempty"`
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []message
			Tools    []struct {
				Type     string
				Function struct{ Name string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/chat/completions" ||
			len(in.Messages) == 0 ||
			len(in.Tools) == 0 {
			t.Errorf("asked %s: %+v, %v", r.URL, in, err)
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		last, out := in.Messages[len(in.Messages)-1], message{Role: "assistant"}
		if last.Role == "tool" {
			var found struct {
				Result struct {
					Memories []struct {
						Content struct{ Parts []struct{ Text string } }
					}
				}
			}
			if err := json.Unmarshal([]byte(last.Content), &found); err != nil || len(found.Result.Memories) == 0 {
				t.Errorf("the tool answered %s, %v", last.Content, err)
				http.Error(w, "no", http.StatusBadRequest)
				return
			}
			out.Content = "You told me: " + found.Result.Memories[0].Content.Parts[0].Text
		} else {
			args, err := json.Marshal(map[string]string{"query": last.Content})
			if err != nil {
				t.Error(err)
			}
			out.ToolCalls = []map[string]any{{"id": "call-1", "type": "function", "function": map[string]string{"name": in.Tools[0].Function.Name, "arguments": string(args)}}}
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": out}}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
