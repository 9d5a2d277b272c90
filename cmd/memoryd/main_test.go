package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// asMain makes the test binary run as memoryd, so that tests can start, stop
// and kill real processes of it.
const asMain = "MEMORYD_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(sweepIn); dir != "" {
		sweepOnly(dir)
		os.Exit(0)
	}
	if os.Getenv(asMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a running memoryd.
type process struct {
	cmd    *exec.Cmd
	url    string
	vertex string // the address of -vertex, if there is one
	said   string // what it wrote to stdout before it served
	logs   logged // what it wrote to stderr
}

// unhurried has memoryd wait as long as it may, since a slow machine takes longer than
// the defaults. A flag goes before it.
var unhurried = []string{"MEMORYD_QUEUE_TIME=1m", "MEMORYD_PRELOAD_TIMEOUT=30s"}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asMain+"=1"), unhurried...)
	return cmd
}

// start runs memoryd on a data directory and waits until it serves.
func start(t testing.TB, data string, args ...string) *process {
	t.Helper()
	return startWith(t, nil, data, args...)
}

// startWith is start with additions to the environment.
func startWith(t testing.TB, env []string, data string, args ...string) *process {
	t.Helper()
	return startAs(t, "serve", env, data, args...)
}

// startAs is startWith for a command that serves.
func startAs(t testing.TB, name string, env []string, data string, args ...string) *process {
	t.Helper()
	return serving(t, env, append([]string{name, "-data", data, "-listen", "127.0.0.1:0"}, args...)...)
}

// serving runs a command line that serves, with additions to the environment.
func serving(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: command(args...)}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.serve(t)
	return p
}

// serve starts the process and waits until it serves.
func (p *process) serve(t testing.TB) {
	t.Helper()
	p.cmd.Stderr = &p.logs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	lines := bufio.NewScanner(out)
	vertex := slices.Contains(p.cmd.Args, "-vertex")
	for p.url == "" || vertex && p.vertex == "" {
		if !lines.Scan() {
			p.cmd.Wait()
			t.Fatalf("memoryd did not start:\n%s", p.logs.String())
		}
		p.said += lines.Text() + "\n"
		if p.url == "" {
			_, p.url, _ = strings.Cut(lines.Text(), "serves ")
		}
		_, p.vertex, _ = strings.Cut(lines.Text(), "Google's services are served at ")
	}
	go io.Copy(io.Discard, out) // until the process ends
}

// kill ends the process without warning. It may have ended already.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// terminate asks the process to stop and returns its exit code.
func (p *process) terminate(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// call sends a request and decodes the answer. As clients do, it tries again while
// a memoryd is too busy or not ready, which on a slow machine may be at any time. Its
// error is one of the connection.
func call(method, url string, body, answer any) (int, error) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		code, err := callOnce(method, url, body, answer)
		if code != http.StatusServiceUnavailable || time.Now().After(end) {
			return code, err
		}
	}
}

// soon calls a function until it is true, for 30 s.
func soon(is func() bool) {
	for end := time.Now().Add(30 * time.Second); !is() && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
}

// sender is call or callOnce.
type sender func(method, url string, body, answer any) (int, error)

// callOnce is call for what may be refused.
func callOnce(method, url string, body, answer any) (int, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if raw, err = io.ReadAll(res.Body); err != nil {
		return 0, err
	}
	if answer != nil && res.StatusCode < 300 {
		if err := json.Unmarshal(raw, answer); err != nil {
			return 0, fmt.Errorf("%s %s: %w: %s", method, url, err, raw)
		}
	}
	return res.StatusCode, nil
}

func runFails(t *testing.T, want string, code int, args ...string) {
	t.Helper()
	fails(t, command(args...), want, code)
}

// fails is runFails for a command that the caller has made.
func fails(t *testing.T, cmd *exec.Cmd, want string, code int) {
	t.Helper()
	args := cmd.Args[1:]
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("memoryd %v: no failure:\n%s", args, out)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("memoryd %v: exit code %d, want %d", args, got, code)
	}
	if !strings.Contains(string(out), want) {
		t.Errorf("memoryd %v says:\n%s\nwant something with %q", args, out, want)
	}
}

// A user without a home directory is asked to name one for the data.
func TestNoHome(t *testing.T) {
	t.Parallel()
	homeless := func(args ...string) *exec.Cmd {
		cmd := command(args...)
		cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool {
			return slices.Contains([]string{"HOME", "XDG_DATA_HOME", "USERPROFILE", "home", "MEMORYD_DATA"}, strings.Split(e, "=")[0])
		})
		return cmd
	}
	for _, c := range []string{"serve", "mcp"} {
		fails(t, homeless(c, "-listen", "127.0.0.1:0"), "no home directory to keep the data in: name a directory with -data", 2)
	}
}

// A start that cannot work is refused with an error that names the mistake and
// what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.MkdirAll(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "memoryd.db"), bytes.Repeat([]byte("not a database. "), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(dir, "used")
	running := start(t, used)
	apart := filepath.Join(dir, "apart")
	start(t, apart).terminate(t)
	other := "sqlite:" + filepath.Join(dir, "other.db")
	one, two := "sqlite:"+filepath.Join(dir, "one.db"), "sqlite:"+filepath.Join(dir, "two.db")
	start(t, apart, "-sessions", one, "-memories", two).terminate(t)

	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"-insecure", 2, []string{"-listen", "0.0.0.0:0", "-data", dir}},
		{"-insecure", 2, []string{"-listen", ":0", "-data", dir}},
		{"host:port", 2, []string{"-listen", "nonsense", "-data", dir}},
		{"no port \"99999\": want 0 to 65535", 2, []string{"-listen", "127.0.0.1:99999", "-data", file}},
		{"no port \"-1\"", 2, []string{"-listen", "127.0.0.1:-1", "-data", file}},
		{"no port \"nonsense\"", 2, []string{"-listen", "127.0.0.1:nonsense", "-data", file}},
		{"use sqlite:FILE", 2, []string{"-sessions", "mysql://x", "-data", dir}},
		{"want builtin", 2, []string{"-embedder", "nonsense", "-data", dir}},
		{"want rules", 2, []string{"-extractor", "nonsense", "-data", dir}},
		{"want none, gemini:MODEL", 2, []string{"-reranker", "nonsense", "-data", dir}},
		{"want none, gemini:MODEL", 2, []string{"-expander", "nonsense", "-data", dir}},
		{"-reranker-matches 51: want 2 to 50", 2, []string{"-reranker-matches", "51", "-data", dir}},
		{"-reranker-matches 1: want 2 to 50", 2, []string{"-reranker-matches", "1", "-data", dir}},
		{"-preload-timeout 0s: want 1ms to 30s", 2, []string{"-preload-timeout", "0", "-data", dir}},
		{"want 1ms to 30s", 2, []string{"-preload-timeout", "1m", "-data", dir}},
		{"-preload-timeout", 2, []string{"-preload-timeout", "300", "-data", dir}},
		{"-time-zone: there is no time zone \"Mars/Olympus\"", 2, []string{"-time-zone", "Mars/Olympus", "-data", dir}},
		{"no time zone \"Local\"", 2, []string{"-time-zone", "Local", "-data", dir}},
		{"text or json", 2, []string{"-log-format", "xml", "-data", dir}},
		{"debug, info", 2, []string{"-log-level", "loud", "-data", dir}},
		{"flag provided but not defined: -nonsense", 2, []string{"-nonsense"}},
		{"unexpected argument", 2, []string{"serve", "more"}},
		{"no command \"nonsense\": want one of serve, mcp, demo, keys, vertex, export", 2, []string{"nonsense"}},
		{"vertex: want one of init, keys add, env, check", 2, []string{"vertex", "nonsense"}},
		{"version takes no arguments", 2, []string{"version", "more"}},
		{"unexpected argument", 2, []string{"demo", "more"}},
		{"want an address of loopback", 2, []string{"demo", "-serve", "-listen", "0.0.0.0:0"}},
		{"is not a memoryd database", 1, []string{"-listen", "127.0.0.1:0", "-data", foreign}},
		{"-data", 1, []string{"-listen", "127.0.0.1:0", "-data", file}},
		{"name another address", 1, []string{"-listen", strings.TrimPrefix(running.url, "http://"), "-data", filepath.Join(dir, "free")}},
		{"have their memories elsewhere", 1, []string{"-listen", "127.0.0.1:0", "-data", apart, "-memories", other}},
		{"exchanged", 1, []string{"-listen", "127.0.0.1:0", "-data", apart, "-sessions", two, "-memories", one}},
		{"name a file", 2, []string{"-data", apart, "-memories", "sqlite::memory:"}},
		{"write the path out", 2, []string{"-data", "~/memoryd"}},
		{"-data is empty", 2, []string{"-data="}},
		{"in use by another memoryd", 1, []string{"-listen", "127.0.0.1:0", "-data", used}},
	} {
		runFails(t, c.want, c.code, c.args...)
	}
	left, err := os.ReadFile(filepath.Join(foreign, "memoryd.db"))
	if err != nil || !bytes.HasPrefix(left, []byte("not a database. ")) {
		t.Errorf("the file of another program has changed: %v", err)
	}
}

// readied runs ready until it succeeds, for 30 s, and returns what it says.
func readied(t *testing.T, args ...string) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		out, err := command(append([]string{"ready"}, args...)...).CombinedOutput()
		if err == nil {
			return string(out)
		}
		if time.Now().After(end) {
			t.Fatalf("ready %q: %v: %s", args, err, out)
		}
	}
}

// ready succeeds for a memoryd that runs, and fails for one that does not.
func TestReady(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	addr := strings.TrimPrefix(p.url, "http://")
	if said := readied(t, "-listen", addr); !strings.Contains(said, "memories") {
		t.Errorf("ready: %s", said)
	}
	p.kill()
	runFails(t, "refused", 1, "ready", "-listen", addr)
	runFails(t, "unexpected argument", 2, "ready", "now")
}

// An environment variable sets a flag that the command line leaves out.
func TestEnvironment(t *testing.T) {
	t.Setenv("MEMORYD_LOG_LEVEL", "loud")
	runFails(t, "debug, info", 2, "-data", t.TempDir(), "-listen", "127.0.0.1:0")
	start(t, t.TempDir(), "-log-level", "warn")
}

// A flag of bench has a variable that other commands do not read.
func TestOwnVariable(t *testing.T) {
	t.Setenv("MEMORYD_RATE", "many")
	t.Setenv("MEMORYD_BENCH_RATE", "2.5")
	cfg, _, err := benchCommand().parse(nil)
	if err != nil || cfg.bench.opts.Rate != 2.5 {
		t.Errorf("the rate is %v, %v", cfg.bench.opts.Rate, err)
	}
	if cfg, _, err = benchCommand().parse([]string{"-rate", "3"}); err != nil || cfg.bench.opts.Rate != 3 {
		t.Errorf("the rate is %v, %v", cfg.bench.opts.Rate, err)
	}
	t.Setenv("MEMORYD_BENCH_RATE", "many")
	runFails(t, "MEMORYD_BENCH_RATE, for -rate", 2, "bench")
	if _, _, err := checkCommand().parse([]string{"-data", t.TempDir()}); err != nil {
		t.Error(err)
	}
}

// memoryd exits with 0 when it is asked to stop, and the next one has the
// stored data.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	event := map[string]any{"id": "e1", "author": "user", "content": "I live in Porto."}
	if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/ingest", map[string]any{"sessionId": "s", "events": []any{event}}, nil); code != 202 || err != nil {
		t.Fatal(code, err)
	}
	if code := p.terminate(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.logs.String())
	}
	p = start(t, data)
	var found struct {
		Memories []struct{ Memory struct{ Fact string } }
	}
	if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "Porto"}, &found); code != 200 || err != nil {
		t.Fatal(code, err)
	}
	if len(found.Memories) == 0 || found.Memories[0].Memory.Fact != "I live in Porto." {
		t.Errorf("after a restart the search finds %+v", found)
	}
}

// The demo runs to its end, within 80 columns.
func TestDemo(t *testing.T) {
	t.Parallel()
	out, err := command("demo").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	for _, want := range []string{"14 events", "allergic to peanuts", "opened again", "survived the restart"} {
		if !strings.Contains(text, want) {
			t.Errorf("the demo does not say %q:\n%s", want, text)
		}
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("line of %d columns: %s", n, line)
		}
	}
}

// The demo keeps to its own directory, whatever the environment names.
func TestDemoLeavesOthersAlone(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mine.db")
	t.Setenv("MEMORYD_SESSIONS", "sqlite:"+mine)
	t.Setenv("MEMORYD_MEMORIES", "sqlite:"+mine)
	if out, err := command("demo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("the demo wrote into the user's own file")
	}
}

// A demo whose output cannot be written ends with an error and leaves nothing
// behind.
func TestDemoUnread(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd := command("demo")
	cmd.Stdout = w
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the demo ends with %v, want exit code 1", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
