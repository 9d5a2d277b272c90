// Package clients runs clients of Google's services, as their makers have released them, against
// memoryd. It is a module of its own: memoryd does not depend on them.
package clients

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
	"google.golang.org/adk/v2/session/vertexai"
)

// builds is where the tests have built memoryd, once.
var builds struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(builds.dir) // it is of this run
	os.Exit(code)
}

// built is the program, built once for all tests.
func built(t *testing.T) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if builds.dir == "" {
		dir, err := os.MkdirTemp("", "memoryd-clients")
		if err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", dir, "./cmd/memoryd")
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		builds.dir = dir
	}
	return filepath.Join(builds.dir, "memoryd")
}

// memoryd starts a memoryd, and returns the address for clients and the directory of
// its certificates.
func memoryd(t *testing.T, more ...string) (address, dir string) {
	t.Helper()
	program, data := built(t), t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-listen", "127.0.0.1:0", "-data", data, "-log-level", "error",
		"-vertex", "127.0.0.1:0", "-vertex-tokens", "127.0.0.1:0")
	cmd.Args = append(cmd.Args, more...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it ends because it was told to
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "Google's services are served at https://"); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return after, filepath.Join(data, "vertex")
		}
	}
	t.Fatal("memoryd has not begun to serve")
	return "", ""
}

// proxy takes connections to any host and leads them to an address, as the proxy of a company does:
// the names that clients compute resolve nowhere here.
func proxy(t *testing.T, to string) string {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hs := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		up, err := net.Dial("tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(w, "no way there", http.StatusBadGateway)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			_ = up.Close()
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(up, conn)
			_ = up.Close()
		}()
		_, _ = io.Copy(conn, up)
		_ = conn.Close()
	})}
	go func() { _ = hs.Serve(on) }()
	t.Cleanup(func() { _ = hs.Close() })
	return "http://" + on.Addr().String()
}

// Go's libraries read the proxy and the authorities once a process, so its clients share a memoryd.
func TestGo(t *testing.T) {
	address, dir := memoryd(t)
	asGo(t, address, dir)
	t.Run("sessions", sessionsOfADK)
	t.Run("memories", memoriesOfADK)
}

// asGo sets the environment of Go's clients, as memoryd vertex env does, and leads them to an address.
func asGo(t *testing.T, address, dir string) {
	t.Helper()
	for name, value := range map[string]string{
		"SSL_CERT_FILE":                  filepath.Join(dir, "ca.pem"),
		"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(dir, "credentials-go.json"),
		"GOOGLE_CLOUD_UNIVERSE_DOMAIN":   "memoryd.internal",
		"HTTPS_PROXY":                    proxy(t, address), "NO_PROXY": "", "no_proxy": "", "https_proxy": "",
	} {
		t.Setenv(name, value)
	}
}

// adk-go's own suite of session services passes through its own client, by configuration alone:
// with ids of its own, and with those of the server.
func sessionsOfADK(t *testing.T) {
	var engine atomic.Int64 // each part of the suite wants an empty service
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprintf("own ids %v", own), func(t *testing.T) {
			opts := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: own,
				ProvidesServerAssignedEventID: true, AppName: "1"}
			sessiontestsuite.RunServiceTests(t, opts, func(t *testing.T) session.Service {
				s, err := vertexai.NewSessionService(t.Context(), vertexai.VertexAIServiceConfig{
					ProjectID: "p", Location: "memoryd", ReasoningEngine: fmt.Sprint(engine.Add(1))})
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}
