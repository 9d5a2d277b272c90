package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// longSession makes a session of n events of so many bytes each.
func (a *api) longSession(id string, n, size int) {
	a.t.Helper()
	a.want(201, "POST", scope+"/sessions", request{"id": id})
	text := strings.Repeat("x", size)
	for i := range n {
		a.want(200, "POST", scope+"/sessions/"+id+"/events", request{"id": fmt.Sprint("e", i), "timestamp": 1700000000 + i,
			"content": text})
	}
}

// TestSessionInParts checks that a session of more events than are held at a time
// comes whole, or in pages where the request asks for them.
func TestSessionInParts(t *testing.T) {
	a := start(t)
	a.longSession("s", 7, 400_000)
	a.want(200, "PATCH", scope+"/sessions/s", `{"stateDelta": {"k": 1, "app:k": 2}}`)
	ids := []string{"e0", "e1", "e2", "e3", "e4", "e5", "e6"}
	whole := a.want(200, "GET", scope+"/sessions/s", nil)
	same(t, "events", each(list(whole, "events"), "id")[:7], ids)
	equal(t, "state", at(whole, "state"), `{"k": 1, "app:k": 2}`)
	same(t, "token", at(whole, "nextPageToken"), nil)
	same(t, "the last 5", each(list(a.want(200, "GET", scope+"/sessions/s?numRecentEvents=5", nil), "events"), "id")[:4],
		ids[3:])

	var got []string
	for token := ""; ; {
		page := a.want(200, "GET", scope+"/sessions/s?pageSize=3&state=false&pageToken="+url.QueryEscape(token), nil)
		if n := len(list(page, "events")); n > 3 || n == 0 {
			t.Fatalf("a page of 3 has %d events", n)
		}
		same(t, "state", at(page, "state"), nil)
		got = append(got, each(list(page, "events"), "id")...)
		if token = text(page, "nextPageToken"); token == "" {
			break
		}
	}
	same(t, "events of the pages", got[:7], ids)
	a.refused(400, "GET", scope+"/sessions/s?pageToken=x", nil, "pageToken")
	a.refused(400, "GET", scope+"/sessions/s?pageSize=0", nil, "pageSize")
	a.refused(400, "GET", scope+"/sessions/s?state=no", nil, "state")
}

// TestListInBytes checks that lists of sessions end after 8 MiB, of which each
// session repeats the state of its app, and that state=false leaves it out.
func TestListInBytes(t *testing.T) {
	a := start(t)
	for i := range 5 {
		a.want(201, "POST", scope+"/sessions", request{"id": fmt.Sprint("s", i)})
	}
	a.want(200, "PATCH", scope+"/sessions/s0", request{"stateDelta": map[string]string{"app:k": strings.Repeat("x", 3<<20)}})
	for _, path := range []string{scope + "/sessions", "/v1/apps/app/sessions"} {
		var got []string
		for token := ""; ; {
			r := a.do("GET", path+"?pageToken="+url.QueryEscape(token), nil)
			if r.status != 200 || len(r.raw) > 8<<20 {
				t.Fatalf("status %d, %d bytes", r.status, len(r.raw))
			}
			page, err := parse(r.raw)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, each(list(page, "sessions"), "id")...)
			if token = text(page, "nextPageToken"); token == "" {
				break
			}
		}
		same(t, path, got, []string{"s4", "s3", "s2", "s1", "s0"})
		page := a.want(200, "GET", path+"?state=false", nil)
		same(t, path+" without state", len(list(page, "sessions")), 5)
		same(t, "state", at(page, "sessions", 0, "state"), nil)
	}
}

// vanishing is a session store in which a session is deleted after its first page.
type vanishing struct{ ingest.Sessions }

func (v vanishing) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	if get.PageToken != "" {
		if err := v.Delete(ctx, key); err != nil {
			return nil, err
		}
	}
	return v.Sessions.Get(ctx, key, get)
}

// TestBrokenOff checks that a client can tell an answer that breaks off from a whole
// one.
func TestBrokenOff(t *testing.T) {
	a := start(t, func(s *setup) {
		s.sessions = func(of ingest.Sessions) ingest.Sessions { return vanishing{of} }
	})
	a.longSession("s", 4, 600_000)
	res, err := http.Get(a.url + scope + "/sessions/s")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes end with %v, want an unexpected end", len(raw), err)
	}
	a.refused(404, "GET", scope+"/sessions/s", nil)
}

// TestHeld checks what the process holds of large answers to many clients that do not
// read on: that is bounded, however large the sessions are.
func TestHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes a session of 32 MB")
	}
	a := start(t, func(s *setup) { s.server.MaxAnswers = 16 << 20 })
	a.longSession("s", 32, 1_000_000)
	before := heldBytes()
	const clients = 40 // of which all together would be sent 1.3 GB
	for range clients {
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s/sessions/s HTTP/1.1\r\nHost: %s\r\n\r\n", scope, a.addr)
	}
	// One more client is served meanwhile, of another app.
	a.want(201, "POST", "/v1/apps/other/users/bob/sessions", `{"id": "s"}`)
	a.want(200, "GET", "/v1/apps/other/users/bob/sessions/s", nil)
	if now := heldBytes(); now > before+3*16<<20 {
		t.Errorf("%d MB are held, and %d MB were before", now>>20, before>>20)
	}
}

// heldBytes is how many bytes are reachable. A collection also counts what others
// allocate while it runs, so the least of some is taken.
func heldBytes() uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		least = min(least, m.HeapAlloc)
	}
	return least
}

// TestGrowingBody checks that a body of unknown length, which gets more room as it is
// read, does not wait for the room that it has itself.
func TestGrowingBody(t *testing.T) {
	a := start(t, func(s *setup) { s.server.MaxBodies = 64 << 20 })
	state := `{"id": "s", "state": {"k": "` + strings.Repeat("x", 12<<20) + `"}}`
	res, err := http.Post(a.url+scope+"/sessions", "application/json", io.MultiReader(strings.NewReader(state)))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	same(t, "status", res.StatusCode, 201)
}

// TestRefusedBodies checks that a body which is refused is not read on, and that
// usual clients see the refusal all the same.
func TestRefusedBodies(t *testing.T) {
	a := start(t, func(s *setup) { s.server.MaxBody = 100_000 })
	large := bytes.Repeat([]byte(" "), 8<<20)
	for path, want := range map[string][2]int{scope + "/memories": {413, 413}, "/v1/none": {413, 404}} {
		for i, body := range []io.Reader{bytes.NewReader(large), io.MultiReader(bytes.NewReader(large))} { // the second in chunks
			res, err := http.Post(a.url+path, "application/json", body)
			if err != nil {
				t.Errorf("POST %s: %v", path, err)
				continue
			}
			res.Body.Close()
			same(t, path, res.StatusCode, want[i])
		}
	}
	// A client that sends a body of 1 GB, as slowly as it likes, has its answer at
	// once, and the connection ends.
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s/memories HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000000000\r\n\r\n{", scope, a.addr)
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 413")) || !bytes.Contains(answer, []byte("-max-body")) ||
		!bytes.Contains(answer, []byte("Connection: close")) {
		t.Errorf("answer %.300s, error %v", answer, err)
	}
	a.refusedFor("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "@-", a.url+scope+"/memories")
	a.refusedFor("python3", "-c", `
import http.client, sys
body = sys.stdin.buffer.read()[:200_000] # it reads no answer before it has sent all
c = http.client.HTTPConnection(sys.argv[1])
c.request("POST", sys.argv[2], body)
print(c.getresponse().status, end="")`, a.addr, scope+"/memories")
}

// refusedFor checks that a program which sends its standard input prints 413.
func (a *api) refusedFor(name string, args ...string) {
	a.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		a.t.Logf("there is no %s", name)
		return
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = bytes.NewReader(bytes.Repeat([]byte(" "), 8<<20))
	if out, err := cmd.CombinedOutput(); string(out) != "413" {
		a.t.Errorf("%s prints %.300q, error %v; want 413", name, out, err)
	}
}

// TestSlowBody checks that a client which does not send its whole body in time is told
// so, and that the others are served.
func TestSlowBody(t *testing.T) {
	a := start(t, func(s *setup) { s.server.BodyTime = 200 * time.Millisecond })
	for _, head := range []string{"Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s/memories HTTP/1.1\r\nHost: %s\r\n%s", scope, a.addr, head)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checkError(reply{status: res.StatusCode, raw: raw, header: res.Header}); err != nil ||
			res.StatusCode != 408 || !res.Close || !bytes.Contains(raw, []byte("200ms")) {
			t.Errorf("status %d, %v, closed %v: %s", res.StatusCode, err, res.Close, raw)
		}
		if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
			t.Errorf("the connection goes on with %q, %v", rest, err)
		}
	}
}

// TestElements checks that a body of very many elements, which take far more memory than
// its bytes, is refused by the room that it would need.
func TestElements(t *testing.T) {
	a := start(t, func(s *setup) { s.server.MaxBodies = 8 << 20 })
	many := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", 100_000), ",") }
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	for path, body := range map[string]string{
		scope + "/memories/ingest": `{"facts": [` + many("{}") + `]}`,
		scope + "/memories/search": `{"query": "x", "topics": [` + many(`""`) + `]}`,
		scope + "/memories":        `{"fact": "x", "metadata": {` + strings.Join(names, ",") + `}}`,
		scope + "/tools/remember":  `{"args": {"fact": "x", "topics": [` + many(`""`) + `]}}`,
		scope + "/mcp":             `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": [` + many("{}") + `]}}`,
	} {
		a.refused(413, "POST", path, body, "-max-bodies", "elements")
	}
	a.want(201, "POST", scope+"/sessions", `{"id": "s", "state": {"k": [`+strings.Repeat("1,", 50_000)+`1]}}`)
}

// TestStateLimit checks that a state beyond its limit is refused in words.
func TestStateLimit(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	for _, prefix := range []string{"", "user:", "app:", "temp:"} {
		delta := request{"stateDelta": map[string]string{prefix + "k": strings.Repeat("x", sessionstore.DefaultMaxState)}}
		a.refused(400, "PATCH", scope+"/sessions/s", delta, "-max-state")
	}
	equal(t, "state", at(a.want(200, "GET", scope+"/sessions/s", nil), "state"), `{}`)
}

// TestRevisionPages checks that revisions come in pages.
func TestRevisionPages(t *testing.T) {
	a := start(t)
	id := text(a.want(201, "POST", scope+"/memories", `{"fact": "fact 0"}`), "id")
	for i := range 4 {
		a.want(200, "PATCH", scope+"/memories/"+id, request{"fact": fmt.Sprint("fact ", i+1)})
	}
	var got []string
	for token := ""; ; {
		page := a.want(200, "GET", scope+"/memories/"+id+"/revisions?pageSize=2&pageToken="+token, nil)
		got = append(got, each(list(page, "revisions"), "fact")...)
		if token = text(page, "nextPageToken"); token == "" {
			break
		}
	}
	same(t, "facts", got, []string{"fact 4", "fact 3", "fact 2", "fact 1", "fact 0"})
	for _, bad := range []string{"pageToken=x", "pageToken=1", "pageToken=-1", "pageSize=0"} {
		a.refused(400, "GET", scope+"/memories/"+id+"/revisions?"+bad, nil, bad[:4])
	}
}

// TestCreatedWithState checks that the answers with new sessions do not hold the state
// that all of them share at once, for clients that do not read on.
func TestCreatedWithState(t *testing.T) {
	var store ingest.Sessions
	a := start(t, func(s *setup) {
		s.server.MaxAnswers = 16 << 20
		s.sessions = func(real ingest.Sessions) ingest.Sessions { store = real; return real }
	})
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	for i := range 8 {
		a.want(200, "PATCH", scope+"/sessions/s", request{"stateDelta": map[string]string{
			fmt.Sprint("app:k", i): strings.Repeat("x", 1<<20)}})
	}
	made := a.want(201, "POST", scope+"/sessions", `{"id": "whole", "state": {"k": 1}, "events": [{"id": "e"}]}`)
	same(t, "the answer", made, a.want(200, "GET", scope+"/sessions/whole", nil))
	before := heldBytes()
	for i := range 30 { // all together would be sent 240 MB
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := fmt.Sprintf(`{"id": "n%d"}`, i)
		fmt.Fprintf(conn, "POST %s/sessions HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", scope, a.addr,
			len(body), body)
	}
	for made := 0; made < 2+30; { // those that have no room for an answer wait
		page, err := store.List(t.Context(), memory.Scope{App: "app", User: "ann"},
			sessionstore.List{PageSize: 100, NoState: true})
		if err != nil {
			t.Fatal(err)
		}
		made = len(page.Sessions)
		time.Sleep(10 * time.Millisecond)
	}
	if now := heldBytes(); now > before+3*16<<20 {
		t.Fatalf("%d MB are held, and %d MB were before", now>>20, before>>20)
	}
}
