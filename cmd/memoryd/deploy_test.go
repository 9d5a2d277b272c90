package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// deployed reads a file of the repository.
func deployed(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// secretFile writes a file with a secret, and returns its path.
func secretFile(t *testing.T, value string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Variables of memoryd, in docker-compose.yml and in the manifests.
var (
	composeVariable  = regexp.MustCompile(`(?m)^ +(MEMORYD_\w+): "?([^"#\n]*?)"? *(?:#.*)?$`)
	manifestVariable = regexp.MustCompile(`(?m)^ +- \{name: (MEMORYD_\w+), value: "?([^"}]*?)"?\}$`)
)

// The variables of docker-compose.yml start a memoryd that wants the bootstrap key. Its
// secrets are other ones here, and so are its stores.
func TestCompose(t *testing.T) {
	t.Parallel()
	text := deployed(t, "docker-compose.yml")
	admin := printed(t, "keys", "generate")
	files := map[string]string{
		"/run/secrets/sessions":  secretFile(t, redistest.Start(t).URL()+"\n"),
		"/run/secrets/memories":  secretFile(t, qdranttest.Start(t).URL(t)),
		"/run/secrets/bootstrap": secretFile(t, admin+"\n"),
	}
	var env []string // with values of the file
	for _, m := range composeVariable.FindAllStringSubmatch(text, -1) {
		env = append(env, m[1]+"="+m[2])
	}
	servesClosed(t, admin, env, files)
	for _, flag := range []string{"_FILE is set too", "want a file with one line"} {
		args := []string{"export", "-data", t.TempDir(), "-"}
		cmd := command(args...)
		cmd.Env = append(cmd.Env, "MEMORYD_SESSIONS_FILE="+secretFile(t, "a\nb"))
		if strings.HasPrefix(flag, "_FILE") {
			cmd.Env = append(cmd.Env, "MEMORYD_SESSIONS=redis://localhost")
		}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), flag) {
			t.Errorf("%s: %v %s", flag, err, out)
		}
	}
}

// servesClosed starts a memoryd with the variables of a deployment, and checks that it
// wants the bootstrap key. The values of paths replace those in the variables, and each
// must be there.
func servesClosed(t *testing.T, admin string, env []string, paths map[string]string) {
	t.Helper()
	for i, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if path, ok := paths[value]; ok {
			delete(paths, value)
			value = path
		}
		env[i] = name + "=" + strings.Replace(value, "0.0.0.0:8080", "0.0.0.0:0", 1)
	}
	if len(paths) > 0 || len(env) < 5 {
		t.Fatalf("read %q; paths that no variable names: %v", env, paths)
	}
	p := serving(t, env, "serve")
	url := "http://127.0.0.1" + p.url[strings.LastIndex(p.url, ":"):]
	if status, answer := keyed(t, admin, "GET", url+"/v1/apps/shop/keys", nil); status != 200 {
		t.Errorf("the bootstrap key: %d %s", status, answer)
	}
	for path, want := range map[string]int{"/v1/apps/shop/keys": 401, "/livez": 200, "/readyz": 200} {
		if status, _ := keyed(t, "", "GET", url+path, nil); status != want {
			t.Errorf("%s without a key: %d", path, status)
		}
	}
}

// The variables of the manifests start a memoryd that wants the bootstrap key, and answers
// the probes without one.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	admin := printed(t, "keys", "generate")
	for file, paths := range map[string]map[string]string{
		"shared/deployment.yaml": {"/etc/memoryd/sessions": secretFile(t, redistest.Start(t).URL()),
			"/etc/memoryd/memories": secretFile(t, qdranttest.Start(t).URL(t))},
		"embedded/statefulset.yaml": {"/data": t.TempDir()},
	} {
		text := deployed(t, "deploy/kubernetes/"+file)
		if !strings.Contains(text, "\n          args: [serve]\n") || strings.Count(text, "path: /livez") != 2 ||
			strings.Count(text, "path: /readyz") != 1 {
			t.Errorf("%s starts another command, or has other probes, than this test", file)
		}
		paths["/etc/memoryd/bootstrap"] = secretFile(t, admin)
		var env []string
		for _, m := range manifestVariable.FindAllStringSubmatch(text, -1) {
			env = append(env, m[1]+"="+m[2])
		}
		servesClosed(t, admin, env, paths)
	}
}

// The command line and the variables of the systemd unit start a memoryd, and the unit is
// one that systemd takes.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	text := deployed(t, "deploy/systemd/memoryd.service")
	if !strings.Contains(text, "\nExecStart=/usr/local/bin/memoryd serve\n") {
		t.Error("the unit starts another command than this test")
	}
	env := []string{"MEMORYD_LISTEN=127.0.0.1:0"}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Environment="); ok {
			env = append(env, strings.Replace(v, "/var/lib/memoryd", t.TempDir(), 1))
		}
	}
	serving(t, env, "serve")
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("needs systemd-analyze, of Debian's package systemd")
	}
	unit := filepath.Join(t.TempDir(), "memoryd.service")
	text = strings.ReplaceAll(text, "/usr/local/bin/memoryd", analyze) // a program that is there
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || strings.Contains(string(out),
		"memoryd.service:") {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}
