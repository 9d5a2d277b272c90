// Package qdranttest gives tests a Qdrant: a real server if there is one, or
// else a stand-in in the process.
package qdranttest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
)

// version is that of the Qdrant that the stand-in was compared with.
const version = "1.18.3"

// Env names a running Qdrant for tests, as host:port of its gRPC interface.
const Env = "MEMORYD_TEST_QDRANT"

// Server is a Qdrant for tests.
type Server struct {
	Addr string // host:port of the gRPC interface
	Real bool   // it is a Qdrant, not a StandIn
	dir  string // of its files and its log, for one that Run starts
	env  []string
	cmd  *exec.Cmd
	fake *fake // of a StandIn
}

// Start gives the server that MEMORYD_TEST_QDRANT names, or else starts the
// qdrant on the PATH, in a temporary directory, until the test is over.
func Start(t testing.TB) *Server {
	t.Helper()
	if addr := os.Getenv(Env); addr != "" {
		return &Server{Addr: addr, Real: true}
	}
	if _, err := exec.LookPath("qdrant"); err == nil {
		return StartReal(t)
	}
	return StandIn(t, version)
}

// StartReal starts the qdrant on the PATH, with more of its environment
// variables; it skips the test if there is none.
func StartReal(t testing.TB, env ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("qdrant"); err != nil {
		t.Skip("no qdrant on the PATH")
	}
	dir, err := os.MkdirTemp("", "memoryd-qdrant-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Real: true, dir: dir, env: env, Addr: free(t)}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir)
	})
	s.Run(t)
	return s
}

// free gives an address that nothing listens on. Another process may take it
// before the server does; the test then fails to start one.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Run starts the server, again after Kill, and waits until it serves.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	httpPort := port
	for httpPort == port { // which is free too until the server starts
		_, httpPort, _ = net.SplitHostPort(free(t))
	}
	s.cmd = exec.Command("qdrant")
	s.cmd.Dir = s.dir
	s.cmd.Env = append(append(os.Environ(), "QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__GRPC_PORT="+port,
		"QDRANT__SERVICE__HTTP_PORT="+httpPort,
		"QDRANT__STORAGE__STORAGE_PATH="+filepath.Join(s.dir, "storage"),
		"QDRANT__STORAGE__SNAPSHOTS_PATH="+filepath.Join(s.dir, "snapshots"),
		"QDRANT__TELEMETRY_DISABLED=true", "QDRANT__LOG_LEVEL=WARN"), s.env...)
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", s.Addr)
		if err == nil {
			c.Close()
			return
		}
	}
	raw, _ := os.ReadFile(log.Name())
	t.Fatalf("qdrant does not serve:\n%s", raw)
}

// Files reports whether StartReal has started the server, so that Dir has its files.
func (s *Server) Files() bool { return s.dir != "" }

// Dir is the directory of the files of a server that StartReal has started.
func (s *Server) Dir() string { return filepath.Join(s.dir, "storage") }

// Kill ends the server at once, as a crash would. Its files stay.
func (s *Server) Kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.cmd = nil
	}
}

// Backup copies all data. The func that it returns brings that back, and whatever was
// written since is gone. It skips the test for a server that Start has not started.
func (s *Server) Backup(t testing.TB) (restore func()) {
	t.Helper()
	if s.fake != nil {
		copied := s.fake.copied()
		return func() { s.fake.replace(copied) }
	}
	if s.dir == "" {
		t.Skip("the files of this Qdrant cannot be copied")
	}
	storage, to := filepath.Join(s.dir, "storage"), filepath.Join(t.TempDir(), "storage")
	s.Kill()
	if err := os.CopyFS(to, os.DirFS(storage)); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
	return func() {
		t.Helper()
		s.Kill()
		if err := os.RemoveAll(storage); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(storage, os.DirFS(to)); err != nil {
			t.Fatal(err)
		}
		s.Run(t)
	}
}

// collections counts the names that URL gave in this process.
var collections atomic.Int64

// URL gives the URL of the server for -memories, with a collection name of its
// own. Its collections are deleted when the test is over.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d-%d", os.Getpid(), collections.Add(1))
	t.Cleanup(func() { s.drop(t, name) })
	return "qdrant://" + s.Addr + "?collection=" + name
}

// Client connects to the server.
func (s *Server) Client(t testing.TB) *qdrant.Client {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.Addr)
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	c, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: n, SkipCompatibilityCheck: true, PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// drop deletes the collections whose name begins with name.
func (s *Server) drop(t testing.TB, name string) {
	c := s.Client(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	all, err := c.ListCollections(ctx)
	if err != nil {
		return // it was killed
	}
	for _, n := range all {
		if len(n) > len(name) && n[:len(name)+1] == name+"-" {
			_ = c.DeleteCollection(ctx, n)
		}
	}
}
