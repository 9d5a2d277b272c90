package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// logged collects the stderr of a process, and can be read while the process
// writes.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// host is a host of agents and the memoryd mcp that it has started.
type host struct {
	*sdk.ClientSession
	cmd  *exec.Cmd
	logs *logged
}

// hosted starts memoryd mcp as a host does.
func hosted(t testing.TB, args ...string) *host {
	t.Helper()
	h, err := tryHosted(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, h.logs)
	}
	return h
}

func tryHosted(t testing.TB, args ...string) (*host, error) {
	h := &host{cmd: command(append([]string{"mcp"}, args...)...), logs: &logged{}}
	h.cmd.Stderr = h.logs
	var err error
	h.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: h.cmd, TerminateDuration: time.Minute}, nil)
	if err == nil {
		t.Cleanup(func() { h.kill() })
	}
	return h, err
}

// kill ends it without warning.
func (h *host) kill() {
	h.cmd.Process.Kill()
	h.Close() // waits for it
}

// tool calls a tool and returns the text of the result, and whether it is a
// failure.
func (h *host) tool(t testing.TB, name string, args map[string]any) (string, bool) {
	t.Helper()
	res, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, h.logs)
	}
	return res.Content[0].(*sdk.TextContent).Text, res.IsError
}

// remember stores a fact, and checks that it is stored.
func (h *host) remember(t testing.TB, fact string) {
	t.Helper()
	if said, failed := h.tool(t, "remember", map[string]any{"fact": fact}); failed || !strings.Contains(said, fact) {
		t.Fatalf("remember: %s\n%s", said, h.logs)
	}
}

func (h *host) recalls(t testing.TB, query, fact string) {
	t.Helper()
	if said, failed := h.tool(t, "search_memory", map[string]any{"query": query}); failed || !strings.Contains(said, fact) {
		t.Fatalf("%q finds %s\n%s", query, said, h.logs)
	}
}

// freeAddress returns a loopback address that is free at the moment.
func freeAddress(t testing.TB) string {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	return on.Addr().String()
}

// Several hosts share one memory, whichever of their processes serves it. When
// that process leaves or is killed, another one takes over.
func TestMCPHandover(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*host) error{
		"closed": func(h *host) error { return h.Close() },
		"killed": func(h *host) error { h.kill(); return nil },
		"told to": func(h *host) error {
			defer h.Close()
			return h.cmd.Process.Signal(syscall.SIGTERM)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := freeAddress(t)
			flags := []string{"-data", t.TempDir(), "-listen", at, "-app", "notes", "-user", "ann"}
			var hosts [3]*host
			var starting sync.WaitGroup
			errs := make([]error, len(hosts))
			for i := range hosts { // at once
				starting.Go(func() { hosts[i], errs[i] = tryHosted(t, flags...) })
			}
			starting.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatalf("%v\n%s\n%s\n%s", err, hosts[0].logs, hosts[1].logs, hosts[2].logs)
			}
			facts := []string{"Ann has three brass clocks.", "Ann's brother Tom mends violins.", "Ann grows tomatoes in Porto."}
			for i, h := range hosts {
				h.remember(t, facts[i])
				hosts[(i+1)%len(hosts)].recalls(t, facts[i], facts[i])
			}
			// Other clients find the memory, too.
			if code, err := call("POST", "http://"+at+"/v1/apps/notes/users/ann/memories/search", map[string]any{"query": "brass clocks"}, nil); code != http.StatusOK || err != nil {
				t.Errorf("over HTTP: %d %v", code, err)
			}
			for i, h := range hosts[:2] {
				if err := leave(h); err != nil {
					t.Errorf("host %d: %v\n%s", i, err, h.logs)
				}
				for _, other := range hosts[i+1:] {
					for _, fact := range facts {
						other.recalls(t, fact, fact)
					}
				}
			}
			hosts[2].remember(t, "Ann collects stamps.")
		})
	}
}

// With -server, mcp is only a client of that memoryd: tools fail while it is
// not there, and work again once it is.
func TestMCPServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	at := strings.TrimPrefix(p.url, "http://")
	h := hosted(t, "-server", p.url, "-user", "ann", "-data", "/dev/null/nowhere")
	h.remember(t, "Ann collects stamps.")
	p.kill()
	if said, failed := h.tool(t, "load_memory", map[string]any{"query": "stamps"}); !failed || !strings.Contains(said, "memoryd at "+p.url+" cannot be reached") || !strings.Contains(said, "try again later") {
		t.Errorf("without a server: %v %s", failed, said)
	}
	var e *jsonrpc.Error
	if _, err := h.ListResources(t.Context(), nil); !errors.As(err, &e) || !strings.Contains(e.Message, "cannot be reached") {
		t.Errorf("without a server: %v", err)
	}
	start(t, data, "-listen", at)
	h.recalls(t, "stamps", "Ann collects stamps.")
	if err := h.Close(); err != nil {
		t.Errorf("%v\n%s", err, h.logs)
	}
	// It starts even if that memoryd is not there yet.
	absent := hosted(t, "-server", "http://"+freeAddress(t))
	if said, failed := absent.tool(t, "load_memory", map[string]any{"query": "stamps"}); !failed {
		t.Error(said)
	}
}

// A memoryd that already serves -listen is used, whatever its data.
func TestMCPJoins(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	h := hosted(t, "-listen", strings.TrimPrefix(p.url, "http://"), "-data", "/dev/null/nowhere", "-app", "a", "-user", "u")
	h.remember(t, "Ann collects stamps.")
	var found struct{ Memories []any }
	if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "stamps"}, &found); code != http.StatusOK || err != nil || len(found.Memories) == 0 {
		t.Errorf("%d %v %v", code, err, found)
	}
	if _, failed := h.tool(t, "search_memory", map[string]any{"query": strings.Repeat("word ", 1<<18)}); !failed {
		t.Error("a query of 1 MB is no failure")
	}
	var e *jsonrpc.Error
	if _, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: "nonsense"}); !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool: %v", err)
	}
	for name, args := range map[string]map[string]any{"load_memory": {"query": "x", "userId": "bob"}, "search_memory": {"query": 1}, "forget": {}} {
		if _, failed := h.tool(t, name, args); !failed {
			t.Errorf("%s takes wrong arguments", name)
		}
	}
	if err := h.Close(); err != nil {
		t.Errorf("%v\n%s", err, h.logs)
	}
	if n := strings.Count(h.logs.String(), "using the memoryd at "+strings.TrimPrefix(p.url, "http://")); n != 1 {
		t.Errorf("it says %d times whose memory it uses:\n%s", n, h.logs)
	}
}

// A supervisor logs once that it uses another memoryd.
func TestSupervisorTellsOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	var logs logged
	s := newSupervisor(&config{listen: strings.TrimPrefix(p.url, "http://")}, slog.New(slog.NewTextHandler(&logs, nil)), &logs)
	for range 2 {
		if err := s.ensure(t.Context(), t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(logs.String(), "using the memoryd"); n != 1 {
		t.Errorf("it says %d times whose memory it uses:\n%s", n, &logs)
	}
}

// stdout has nothing but the protocol, and the process exits with 0 when stdin
// ends.
func TestMCPOutput(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"closed":      func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
		"terminated":  func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) },
		"interrupted": func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command("mcp", "-data", ":memory:", "-listen", "127.0.0.1:0", "-log-level", "debug")
			var logs logged
			cmd.Stderr = &logs
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			lines := bufio.NewScanner(out)
			for i, m := range []string{
				`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"fact":"Ann sings."}}}`,
			} {
				if _, err := io.WriteString(in, m+"\n"); err != nil {
					t.Fatal(err)
				}
				var answer struct {
					JSONRPC string
					ID      *int
					Result  any
				}
				if !lines.Scan() || json.Unmarshal(lines.Bytes(), &answer) != nil || answer.JSONRPC != "2.0" || answer.ID == nil || *answer.ID != i || answer.Result == nil {
					t.Fatalf("answer %q\n%s", lines.Text(), &logs)
				}
			}
			if err := end(cmd, in); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				t.Errorf("stdout has %q", lines.Text())
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &logs)
			}
			if !strings.Contains(logs.String(), "memoryd serves http://127.0.0.1:") {
				t.Errorf("stderr does not say what is served:\n%s", &logs)
			}
			if strings.Contains(logs.String(), "using the memoryd") {
				t.Errorf("it uses another:\n%s", &logs)
			}
		})
	}
}

// A start that cannot have a memory is refused with an error that names the
// flag to change.
func TestMCPRefusals(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	start(t, used)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // closes what connects
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"user id \"a/b\" has a slash", 2, []string{"-user", "a/b"}},
		{"app id is empty", 2, []string{"-app", ""}},
		{"-server", 2, []string{"-server", "localhost:8080"}},
		{"memoryd help mcp", 2, []string{"more"}},
		{"unexpected argument", 2, []string{"more"}},
		{"not defined: -nonsense (memoryd help mcp", 2, []string{"-nonsense"}},
		{"(memoryd help mcp lists the flags)", 2, []string{"-listen", "0.0.0.0:0", "-data", ":memory:"}},
		{"-insecure", 2, []string{"-listen", "0.0.0.0:0", "-data", ":memory:"}},
		{"no port \"99999\"", 2, []string{"-listen", "127.0.0.1:99999"}},
		{"-data is empty", 2, []string{"-data="}},
		{"is no memoryd", 1, []string{"-listen", strings.TrimPrefix(other.URL, "http://"), "-data", ":memory:"}},
		{"name another address", 1, []string{"-listen", silent.Addr().String(), "-data", ":memory:"}},
		{"; nor does a memoryd answer at -listen", 1, []string{"-listen", freeAddress(t), "-data", used}},
		{"-data", 1, []string{"-listen", freeAddress(t), "-data", "/dev/null/nowhere"}},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			runFails(t, c.want, c.code, append([]string{"mcp"}, c.args...)...)
		})
	}
}
