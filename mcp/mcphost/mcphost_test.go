package mcphost_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"

	"github.com/memoryd/memoryd/mcp/mcphost"
	"github.com/memoryd/memoryd/memory"
)

// server is what is installed.
var server = mcphost.Server{Command: "/usr/bin/memoryd", Args: []string{"mcp", "-user", "ann & ben"}}

// stdio says of a server what the documentation of a host says: its fields, and those that
// it needs.
func stdio(needs string) string {
	return `{"type": "object", "required": [` + needs + `], "properties": {"type": {"const": "stdio"}, "command": {"type": "string", "minLength": 1},
		"args": {"type": "array", "items": {"type": "string"}}, "env": {"type": "object", "additionalProperties": {"type": "string"}}},
		"additionalProperties": false}`
}

// schemas are the configurations by the documentation of each host: the field that holds
// the servers, and what one of them has. Other fields of the file are the host's.
var schemas = map[string]string{
	"claude-desktop": `{"type": "object", "required": ["mcpServers"], "properties": {"mcpServers": {"type": "object", "additionalProperties": ` + stdio(`"command"`) + `}}}`,
	"claude-code":    `{"type": "object", "required": ["mcpServers"], "properties": {"mcpServers": {"type": "object", "additionalProperties": ` + stdio(`"command"`) + `}}}`,
	"cursor":         `{"type": "object", "required": ["mcpServers"], "properties": {"mcpServers": {"type": "object", "additionalProperties": ` + stdio(`"command"`) + `}}}`,
	"vscode":         `{"type": "object", "required": ["servers"], "properties": {"inputs": {"type": "array"}, "servers": {"type": "object", "additionalProperties": ` + stdio(`"type", "command"`) + `}}, "additionalProperties": false}`,
	"zed":            `{"type": "object", "required": ["context_servers"], "properties": {"context_servers": {"type": "object", "additionalProperties": ` + stdio(`"command", "args"`) + `}}}`,
	"gemini-cli":     `{"type": "object", "required": ["mcpServers"], "properties": {"mcpServers": {"type": "object", "propertyNames": {"pattern": "^[^_]+$"}, "additionalProperties": ` + stdio(`"command"`) + `}}}`,
}

// write writes a file, and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// read reads a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// install installs server as memory, and returns whether that changed anything.
func install(t *testing.T, name, path string) bool {
	t.Helper()
	h, err := mcphost.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Install(path, "memory", server)
	if err != nil {
		t.Fatal(err)
	}
	if c.Nothing() {
		return false
	}
	if _, err := c.Make(); err != nil {
		t.Fatal(err)
	}
	return true
}

// Each host gets a file by its schema, from nothing and beside what is there; a second
// time nothing changes; and uninstall brings back all else as it was.
func TestHosts(t *testing.T) {
	if len(schemas) != len(mcphost.Names()) {
		t.Fatalf("schemas of %d hosts, not %v", len(schemas), mcphost.Names())
	}
	for _, name := range mcphost.Names() {
		t.Run(name, func(t *testing.T) {
			var schema jsonschema.Schema
			if err := json.Unmarshal([]byte(schemas[name]), &schema); err != nil {
				t.Fatal(err)
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			h, err := mcphost.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			field := schema.Required[0]
			other := `"` + field + `": {"other": {"type": "stdio", "command": "x", "args": []}}`
			for before, back := range map[string]string{
				"": "{\n  \"" + field + "\": {}\n}\n", " \n": "{\n  \"" + field + "\": {}\n}\n", "{}": "{\n  \"" + field + "\": {}\n}",
				"{" + other + "}":     "{" + other + "}",
				"{\n\t" + other + "}": "{\n\t" + other + "}",
				"// mine\n{\n  /* these */ " + other + ", // here\n}\n": "// mine\n{\n  /* these */ " + other + ", // here\n}\n",
			} {
				path := write(t, before)
				if !install(t, name, path) {
					t.Errorf("%q: nothing has changed", before)
				}
				text := read(t, path)
				plain, err := hujson.Standardize([]byte(text))
				if err != nil {
					t.Fatalf("%v:\n%s", err, text)
				}
				var got any
				if err := json.Unmarshal(plain, &got); err != nil {
					t.Fatal(err)
				}
				if err := resolved.Validate(got); err != nil {
					t.Errorf("%v:\n%s", err, text)
				}
				servers := got.(map[string]any)[field].(map[string]any)
				args := []any{"mcp", "-user", "ann & ben"}
				if m := servers["memory"].(map[string]any); m["command"] != server.Command || !cmp.Equal(m["args"], any(args)) {
					t.Errorf("the server is %v", m)
				}
				if strings.Contains(before, "other") != (servers["other"] != nil) || !strings.Contains(text, "ann & ben") {
					t.Errorf("the file is now\n%s", text)
				}
				if install(t, name, path) {
					t.Error("a second time changes something")
				}
				c, err := h.Uninstall(path, "memory")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(back, string(c.After)); diff != "" {
					t.Errorf("after %q (-want +back):\n%s", before, diff)
				}
			}
		})
	}
}

// A file that cannot be changed is refused, and stays as it is.
func TestRefused(t *testing.T) {
	h, err := mcphost.Find("zed")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"a": 1`:                          "unexpected EOF",
		`{"a": 1} x`:                       "invalid character 'x'",
		`[1]`:                              "it is no object",
		`{"context_servers": [1]}`:         `"context_servers" is no object`,
		strings.Repeat("[", 100_000):       "it nests deeper",
		"{\"a\": \"\x00\"}":                "invalid literal",
		"\xff\xfe{":                        "invalid",
		`{"context_servers": {"memory":}}`: "invalid character '}'",
	} {
		path := write(t, text)
		for _, do := range []func() (*mcphost.Change, error){
			func() (*mcphost.Change, error) { return h.Install(path, "memory", server) },
			func() (*mcphost.Change, error) { return h.Uninstall(path, "memory") },
		} {
			if _, err := do(); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%.40q: %v, want %s", text, err, want)
			}
		}
		if got := read(t, path); got != text {
			t.Errorf("%.40q is %.40q now", text, got)
		}
	}
	if _, err := mcphost.Find("emacs"); err == nil || !strings.Contains(err.Error(), "claude-desktop, claude-code") {
		t.Error(err)
	}
}

// A server of another program is neither replaced nor taken out. One of memoryd keeps all
// that is not in its command line.
func TestOthersStay(t *testing.T) {
	h, err := mcphost.Find("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{`{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}`, `{"command": "memoryd"}`,
		`{"command": "/x/memoryd", "args": ["serve"]}`, `{"command": "mcp-memoryd", "args": ["mcp"]}`, `{"url": "http://x"}`, `1`, `null`, `[]`} {
		path := write(t, `{"mcpServers": {"memory": `+entry+`}}`)
		_, in := h.Install(path, "memory", server)
		_, out := h.Uninstall(path, "memory")
		for _, err := range []error{in, out} {
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "choose another -name") || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", entry, err)
			}
		}
		if c, err := h.Install(path, "other", server); err != nil || !strings.Contains(string(c.After), entry) {
			t.Errorf("%s beside another: %v", entry, err)
		}
	}
	path := write(t, `{"mcpServers": {"memory": {"env": {"A": "b"}, /* mine */ "command": "C:\\Go\\memoryd.exe", "args": ["mcp", "-user", "x"], "alwaysAllow": ["recall"]}}}`)
	c, err := h.Install(path, "memory", server)
	if err != nil || !c.Replaces || !strings.Contains(string(c.Entry), "alwaysAllow") {
		t.Fatal(c, err)
	}
	for _, want := range []string{`{"A": "b"}`, "/* mine */", `"/usr/bin/memoryd"`, `"ann & ben"`, `["recall"]`, `"type": "stdio"`} {
		if !strings.Contains(string(c.After), want) || strings.Contains(string(c.After), `"x"`) {
			t.Errorf("%s is not in\n%s", want, c.After)
		}
	}
	if _, err := c.Make(); err != nil || install(t, "claude-code", path) {
		t.Errorf("a second time changes something: %v", err)
	}
	if c, err = h.Uninstall(path, "memory"); err != nil || strings.Contains(string(c.After), "memoryd") {
		t.Error(c, err)
	}
}

// A file that begins with the mark of editors on Windows keeps it, and one of UTF-16 is
// refused. A pipe is refused before it is opened, as reading it would wait.
func TestForms(t *testing.T) {
	h, err := mcphost.Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "\ufeff{\"mcpServers\": {\"a\": {}}}\r\n")
	before := read(t, path)
	for _, change := range []func() (*mcphost.Change, error){
		func() (*mcphost.Change, error) { return h.Install(path, "memory", server) },
		func() (*mcphost.Change, error) { return h.Uninstall(path, "memory") },
	} {
		c, err := change()
		if err == nil {
			_, err = c.Make()
		}
		if err != nil || c.Nothing() || strings.Count(string(c.After), "\ufeff") != 1 || !strings.HasPrefix(string(c.After), "\ufeff{") {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	if after := read(t, path); after != before {
		t.Errorf("%q became %q", before, after)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	wrong := map[string]string{write(t, "\xff\xfe{\x00}\x00"): "it is UTF-16", t.TempDir(): "is no file", os.DevNull: "is no file"}
	if exec.Command("mkfifo", pipe).Run() == nil { // not on every system
		wrong[pipe] = "is no file"
	}
	for path, want := range wrong {
		_, in := h.Install(path, "memory", server)
		_, out := h.Uninstall(path, "memory")
		for _, err := range []error{in, out} {
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// A file is replaced as a whole: a copy lies beside it, its mode stays, a link stays a
// link, a read-only file stays, and so does one that another program has changed.
func TestMake(t *testing.T) {
	h, err := mcphost.Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "{}")
	link := filepath.Join(t.TempDir(), "deep", "mcp.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(path, link)); err != nil {
		t.Skip(err)
	}
	change := func() *mcphost.Change {
		t.Helper()
		c, err := h.Install(link, "memory", server)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := change()
	backup, err := c.Make()
	if err != nil || backup != path+".memoryd-backup-1" || read(t, backup) != "{}" {
		t.Error(backup, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
	if _, err := c.Make(); !errors.Is(err, memory.ErrAborted) {
		t.Errorf("a change of what is not there any longer: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers": {"memory": {"command": "/old/memoryd-1", "args": ["mcp"]}}}`), 0o640); err != nil {
		t.Fatal(err)
	}
	if c = change(); !c.Replaces {
		t.Error("it does not say that it replaces a server")
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Make(); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if backup, err := c.Make(); err != nil || backup != path+".memoryd-backup-2" {
		t.Error(backup, err)
	}
	if left, err := filepath.Glob(path + ".memoryd-*"); err != nil || len(left) != 2 {
		t.Error(left, err)
	}
	missing := filepath.Join(t.TempDir(), "a", "b.json")
	if c, err = h.Uninstall(missing, "memory"); err != nil || !c.Nothing() {
		t.Error(c, err)
	}
	if c, err = h.Install(missing, "memory", server); err != nil {
		t.Fatal(err)
	}
	if backup, err := c.Make(); err != nil || backup != "" || !strings.Contains(read(t, missing), "memoryd") {
		t.Error(backup, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Install(link, "memory", server); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a link to nothing: %v", err)
	}
}

// The places are those that the hosts document.
func TestPaths(t *testing.T) {
	env := map[string]string{}
	at := func(os, name string) string {
		t.Helper()
		h, err := mcphost.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(h.Path(mcphost.Machine{OS: os, Home: "/h", Getenv: func(name string) string { return env[name] }}))
	}
	for _, c := range [][3]string{
		{"darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "/h/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"linux", "claude-desktop", "/h/.config/Claude/claude_desktop_config.json"},
		{"linux", "claude-code", "/h/.claude.json"},
		{"windows", "cursor", "/h/.cursor/mcp.json"},
		{"darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"},
		{"linux", "vscode", "/h/.config/Code/User/mcp.json"},
		{"darwin", "zed", "/h/.config/zed/settings.json"},
		{"windows", "zed", "/h/AppData/Roaming/Zed/settings.json"},
		{"linux", "gemini-cli", "/h/.gemini/settings.json"},
	} {
		if got := at(c[0], c[1]); got != c[2] {
			t.Errorf("%s on %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
	env["XDG_CONFIG_HOME"], env["CLAUDE_CONFIG_DIR"], env["APPDATA"] = "/x", "/c", "/r"
	for _, c := range [][3]string{{"linux", "zed", "/x/zed/settings.json"}, {"linux", "claude-code", "/c/.claude.json"}, {"windows", "vscode", "/r/Code/User/mcp.json"}} {
		if got := at(c[0], c[1]); got != c[2] {
			t.Errorf("%s on %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// FuzzInstall has any text be a configuration: it is refused, or stays readable, and a
// second install changes nothing.
func FuzzInstall(f *testing.F) {
	for _, text := range []string{"{}", "// c\n{\"mcpServers\": {}, }", `{"mcpServers":{"memory":{"command":"x"},"memory":1}}`,
		`{"mcpServers":{"memory":{"command":"memoryd","args":["mcp"],"args":["mcp",],/**/}}}`, `{"mcpServers":{/**/}}`} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := mcphost.Find("cursor")
		if err != nil {
			t.Fatal(err)
		}
		c, err := h.Install(path, "memory", server)
		if err != nil {
			return
		}
		if err := os.WriteFile(path, c.After, 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := h.Install(path, "memory", server); err != nil || !again.Nothing() {
			t.Fatalf("%q became %q, and again %v", text, c.After, err)
		}
	})
}
