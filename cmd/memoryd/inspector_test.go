package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The Model Context Protocol's own inspector is a client of it that is not
// written in Go, nor by us. It asks for Node 22.19, and works with 20; where
// there is none of these it gets one of its own.
const (
	inspectorPackage = "@modelcontextprotocol/inspector@2.12.0"
	inspectorMain    = "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"
	inspectorNode    = 20
	nodePackage      = "node@22.23.3"
)

// withoutClient ends a test for which a client is missing: tests are the poorer,
// unless MEMORYD_TEST_CLIENTS=1 says that all clients must be there.
func withoutClient(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("MEMORYD_TEST_CLIENTS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// inspector installs the inspector, once for all runs of tests, and gives the
// command line that it begins with.
func inspector(t *testing.T) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		withoutClient(t, "node is not installed, which the inspector runs on: %v", err)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		withoutClient(t, "npm is not installed, which the inspector comes with: %v", err)
	}
	said, err := exec.Command(node, "--version").Output()
	if err != nil {
		withoutClient(t, "node --version: %v", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(said), "v"), ".")
	packages := []string{inspectorPackage}
	if n, err := strconv.Atoi(major); err != nil || n < inspectorNode {
		packages = append(packages, nodePackage)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "memoryd-test", strings.NewReplacer("/", "_", "@", "_").Replace(strings.Join(packages, "+")))
	if _, err := os.Stat(filepath.Join(dir, inspectorMain)); err != nil {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		fresh, err := os.MkdirTemp(filepath.Dir(dir), "new-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(fresh)
		out, err := exec.Command(npm, append([]string{"install", "--no-audit", "--no-fund", "--prefix", fresh}, packages...)...).CombinedOutput()
		if err != nil {
			withoutClient(t, "npm cannot install the inspector: %v\n%s", err, out)
		}
		if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) { // another run was faster
			t.Fatal(err)
		}
	}
	if len(packages) > 1 {
		node = filepath.Join(dir, "node_modules", "node", "bin", "node")
	}
	return []string{node, filepath.Join(dir, inspectorMain), "--format", "json", "--quiet"}
}

// A client that we have not written finds all that there is, by both versions of
// the protocol and on both transports.
func TestInspector(t *testing.T) {
	t.Parallel()
	begin := inspector(t)
	for _, era := range []string{"legacy", "modern"} {
		t.Run("http/"+era, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir())
			inspect(t, func(args ...string) *exec.Cmd {
				line := slices.Concat(begin, []string{"--protocol-era", era, "--transport", "http", "--server-url", p.url + "/mcp/apps/notes/users/ann%40x.com"}, args)
				return exec.Command(line[0], line[1:]...)
			})
		})
		t.Run("stdio/"+era, func(t *testing.T) {
			t.Parallel()
			data, at := t.TempDir(), freeAddress(t)
			inspect(t, func(args ...string) *exec.Cmd {
				line := slices.Concat(begin, []string{"--protocol-era", era, "-e", asMain + "=1"}, args,
					[]string{"--", os.Args[0], "mcp", "-data", data, "-listen", at, "-app", "notes", "-user", "ann@x.com"})
				return exec.Command(line[0], line[1:]...)
			})
		})
	}
}

func inspect(t *testing.T, inspector func(args ...string) *exec.Cmd) {
	home := t.TempDir()
	run := func(args ...string) (string, string, error) {
		cmd := inspector(args...)
		cmd.Env = append(os.Environ(), "HOME="+home)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		return out.String(), errs.String(), err
	}
	// ask gives the result of a method.
	ask := func(args ...string) string {
		t.Helper()
		out, errs, err := run(append([]string{"--method"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, errs)
		}
		return out
	}
	has := func(out string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("no %q in %s", w, out)
			}
		}
	}
	has(ask("tools/list", "--strict"), `"load_memory"`, `"search_memory"`, `"remember"`, `"forget"`, `"outputSchema"`, `"destructiveHint":true`)
	has(ask("tools/call", "--tool-name", "remember", "--tool-args-json", `{"fact":"Ann's daughter is allergic to peanuts."}`), `"structuredContent"`, "CREATED")
	has(ask("tools/call", "--tool-name", "search_memory", "--tool-args-json", `{"query":"Who is allergic to peanuts?","topK":3}`), "Ann's daughter is allergic to peanuts.")

	var list struct {
		Result struct{ Resources []struct{ URI, Title string } }
	}
	if err := json.Unmarshal([]byte(ask("resources/list")), &list); err != nil || len(list.Result.Resources) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	has(list.Result.Resources[0].Title, "allergic to peanuts")
	has(ask("resources/read", "--uri", list.Result.Resources[0].URI), "allergic to peanuts", `"application/json"`, `ann@x.com`)
	has(ask("resources/templates/list"), "memoryd://memories/{id}")
	has(ask("prompts/list"), `"preload_memory"`, `"required":true`)
	has(ask("prompts/get", "--prompt-name", "preload_memory", "--prompt-args", "query=Who is allergic?"), "PAST_CONVERSATIONS", "daughter", `"Who is allergic?"`)

	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"tools/call", "--tool-name", "nonsense"}, []string{"nonsense"}},
		{[]string{"tools/call", "--tool-name", "load_memory", "--tool-args-json", `{"query":"x","userId":"bob"}`}, []string{"there is no", "userId"}},
		{[]string{"tools/call", "--tool-name", "search_memory", "--tool-args-json", `{"query":"x","topK":0}`}, []string{"want 1 to 100"}},
		{[]string{"tools/call", "--tool-name", "forget", "--tool-args-json", `{"id":"none"}`}, []string{"no memory has this id"}},
		{[]string{"resources/read", "--uri", "memoryd://memories/none"}, []string{"there is no resource"}},
	} {
		out, errs, err := run(append([]string{"--method"}, c.args...)...)
		if err == nil {
			t.Errorf("%v is no failure", c.args)
		}
		has(out+errs, c.words...)
	}
}
