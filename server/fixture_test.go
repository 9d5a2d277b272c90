package server_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/access/guard"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/openapitest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// setup configures a server before it starts.
type setup struct {
	path      string // of the database
	extractor extract.Extractor
	sessions  func(ingest.Sessions) ingest.Sessions // wraps the real store
	memories  func(memory.Store) memory.Store       // wraps the real store
	ingest    ingest.Options
	server    server.Options
	// madeUp says that the stores answer what none does: the document need not have it.
	madeUp bool
}

// api is a running server and a client of it.
type api struct {
	t      testing.TB
	server *server.Server
	url    string
	addr   string
}

// start serves a database of its own over real HTTP, with ingestion running,
// until the test ends. All requests and answers are checked against /openapi.json.
func start(t testing.TB, choose ...func(*setup)) *api {
	t.Helper()
	var hs *httptest.Server // its requests end before ingestion does
	madeUp := false
	srv := build(t, func() { hs.Close() }, append(choose, func(s *setup) { madeUp = s.madeUp })...)
	var h http.Handler = srv
	if _, measured := t.(*testing.B); !measured && !madeUp {
		h = openapitest.Checked(t, srv)
	}
	hs = httptest.NewServer(h)
	return &api{t: t, server: srv, url: hs.URL, addr: hs.Listener.Addr().String()}
}

// build makes a server over a database of its own, with ingestion running, until
// the test ends. Then it calls end after it has stopped the server.
func build(t testing.TB, end func(), choose ...func(*setup)) *server.Server {
	t.Helper()
	s := setup{extractor: rules.New(), path: filepath.Join(t.TempDir(), "memoryd.db")}
	for _, f := range choose {
		f(&s)
	}
	// A slow machine takes longer than the defaults.
	s.server.QueueTime = cmp.Or(s.server.QueueTime, time.Minute)
	s.server.PreloadTimeout = cmp.Or(s.server.PreloadTimeout, time.Minute)
	s.server.RememberWait = cmp.Or(s.server.RememberWait, time.Minute)
	db, err := sqlitedb.Open(s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	sqlSessions, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	model := embed.Builtin{}.Model()
	stored := sqlitestore.Model{Embedder: model.Name, Dimension: model.Dimension, Analyzer: analyzer.Name}
	sqlMemories, err := sqlitestore.New(db, stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sessions ingest.Sessions = sqlSessions
	if s.sessions != nil {
		sessions = s.sessions(sessions)
	}
	var memories memory.Store = sqlMemories
	if s.memories != nil {
		memories = s.memories(memories)
	}
	if s.sessions == nil && s.memories == nil { // as memoryd runs with one file
		s.ingest.Together = assembly.Together(sqlSessions, sqlMemories)
	}
	sessions, memories, s.ingest.Together = guard.Sessions(sessions), guard.Memories(memories), guard.Together(s.ingest.Together)
	var srv *server.Server
	s.ingest.Account = func(ctx context.Context, a ingest.Accounted) error { return srv.Account(ctx, a) }
	service := ingest.New(sessions, memories, embed.Builtin{}, s.extractor, &s.ingest)
	sessions = service.Sessions()
	if s.server.Checks == nil {
		s.server.Checks = map[string]func(context.Context) error{"sessions": db.Check, "memories": db.Check}
	}
	if s.server.Keys == nil {
		s.server.Keys = sqlSessions
	}
	if s.server.Audit.To == nil {
		s.server.Audit.To = sqlSessions
	}
	srv = server.New(sessions, memories, service, retrieve.New(memories, embed.Builtin{}, &retrieve.Options{Zone: s.ingest.Zone}),
		&s.server)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() { service.Run(ctx); close(ran) }()
	t.Cleanup(func() {
		srv.Stop()
		end()
		cancel()
		<-ran
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// with returns the same server for a subtest.
func (a *api) with(t testing.TB) *api {
	b := *a
	b.t = t
	return &b
}

// reply is the whole answer to a request.
type reply struct {
	status int
	header http.Header
	raw    []byte
}

// do sends a request. A string or bytes are sent unchanged, any other body as
// JSON; nil is no body. The path is sent unchanged.
func (a *api) do(method, path string, body any, headers ...string) reply {
	a.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		var err error
		if raw, err = json.Marshal(b); err != nil {
			a.t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, a.url, bytes.NewReader(raw))
	if err != nil {
		a.t.Fatal(err)
	}
	if req.URL.Opaque = path; strings.HasPrefix(path, "//") {
		return a.socket(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
			method, path, a.addr, len(raw), raw))
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header[http.CanonicalHeaderKey(headers[i])] = []string{headers[i+1]}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatalf("%s %.200s: %v", method, path, err)
	}
	return a.read(res)
}

// socket sends text over a connection of its own and reads one answer.
func (a *api) socket(text string) reply {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		a.t.Fatal(err)
	}
	method, _, _ := strings.Cut(text, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		a.t.Fatalf("%.100q: %v", text, err)
	}
	return a.read(res)
}

func (a *api) read(res *http.Response) reply {
	a.t.Helper()
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, raw}
}

// want sends a request, checks the status, and returns the JSON of the answer.
// Numbers are json.Number, so that no digit is lost.
func (a *api) want(status int, method, path string, body any, headers ...string) any {
	a.t.Helper()
	r := a.do(method, path, body, headers...)
	if r.status != status {
		a.t.Fatalf("%s %.200s %.200v: status %d, want %d: %.400s", method, path, body, r.status, status, r.raw)
	}
	if len(r.raw) == 0 {
		return nil
	}
	v, err := parse(r.raw)
	if err != nil {
		a.t.Fatalf("%s %.200s: the answer is not JSON: %v: %.400s", method, path, err, r.raw)
	}
	if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		a.t.Errorf("%s %.200s: Content-Type %q", method, path, got)
	}
	checkTimes(a.t, v)
	return v
}

func parse(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = fmt.Errorf("there is more after the JSON value")
	}
	return v, err
}

// refused sends a request and checks the status, the form of the error and that
// its message contains all the words.
func (a *api) refused(status int, method, path string, body any, words ...string) {
	a.t.Helper()
	r := a.do(method, path, body)
	msg, err := checkError(r)
	if err != nil {
		a.t.Errorf("%s %.200s %.200v: %v", method, path, body, err)
		return
	}
	if r.status != status {
		a.t.Errorf("%s %.200s %.200v: status %d, want %d: %.400s", method, path, body, r.status, status, r.raw)
	}
	for _, w := range words {
		if !strings.Contains(msg, w) {
			a.t.Errorf("%s %.200s %.200v: the message does not name %q: %.400s", method, path, body, w, msg)
		}
	}
}

// statusNames has the status names that an error may have, by code.
var statusNames = map[int][]string{
	400: {"INVALID_ARGUMENT"},
	401: {"UNAUTHENTICATED"},
	403: {"PERMISSION_DENIED"},
	404: {"NOT_FOUND"},
	405: {"METHOD_NOT_ALLOWED"},
	409: {"ALREADY_EXISTS", "ABORTED"},
	408: {"REQUEST_TIMEOUT"},
	413: {"PAYLOAD_TOO_LARGE"},
	417: {"EXPECTATION_FAILED"},
	431: {"HEADERS_TOO_LARGE"},
	501: {"UNIMPLEMENTED"},
	505: {"HTTP_VERSION_NOT_SUPPORTED"},
	429: {"RESOURCE_EXHAUSTED"},
	500: {"INTERNAL"},
	503: {"UNAVAILABLE"},
}

// checkError checks the form that every error has.
func checkError(r reply) (message string, err error) {
	if r.status < 400 {
		return "", fmt.Errorf("status %d is no error: %.400s", r.status, r.raw)
	}
	var body map[string]map[string]any
	if err := json.Unmarshal(r.raw, &body); err != nil {
		return "", fmt.Errorf("status %d: the error is not JSON: %v: %.400q", r.status, err, r.raw)
	}
	e := body["error"]
	message, _ = e["message"].(string)
	known := false
	for _, s := range statusNames[r.status] {
		known = known || e["status"] == s
	}
	switch {
	case len(body) != 1 || len(e) != 3:
		err = fmt.Errorf("want {error: {code, status, message}} and nothing else: %.400s", r.raw)
	case e["code"] != float64(r.status):
		err = fmt.Errorf("code is %v, the HTTP status %d", e["code"], r.status)
	case !known:
		err = fmt.Errorf("status %v does not go with %d", e["status"], r.status)
	case strings.TrimSpace(message) == "" || len(message) > 2000:
		err = fmt.Errorf("message has %d bytes: %.100q", len(message), message)
	case !strings.HasPrefix(r.header.Get("Content-Type"), "application/json"):
		err = fmt.Errorf("Content-Type is %q", r.header.Get("Content-Type"))
	case r.header.Get("X-Request-Id") == "":
		err = fmt.Errorf("there is no X-Request-Id")
	case (r.status == 503 || r.status == 429) != (r.header.Get("Retry-After") != ""):
		err = fmt.Errorf("Retry-After %q with status %d", r.header.Get("Retry-After"), r.status)
	}
	return message, err
}

var (
	timeForm   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)
	timeFields = map[string]bool{
		"timestamp": true, "createTime": true, "updateTime": true, "expireTime": true, "validFrom": true,
		"validTo": true, "lastUpdateTime": true,
	}
)

// checkTimes checks that every time in an answer is RFC 3339, UTC, to the
// microsecond.
func checkTimes(t testing.TB, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if s, ok := x.(string); timeFields[k] && (!ok || !timeForm.MatchString(s)) {
				t.Errorf("%s is %v, want the form 2024-05-08T13:56:00.000000Z", k, x)
			}
			checkTimes(t, x)
		}
	case []any:
		for _, x := range v {
			checkTimes(t, x)
		}
	}
}

// at returns the value at a path of names and indexes in JSON; nil if there is
// none.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// text returns the string at a path; "" if there is none.
func text(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

// list returns the list at a path; nil if there is none.
func list(v any, path ...any) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// each returns one field of every element of a list.
func each(l []any, path ...any) []string {
	out := []string{}
	for _, x := range l {
		out = append(out, text(x, path...))
	}
	return out
}

// equal reports a difference between an answer and the expected JSON.
func equal(t testing.TB, what string, got any, want string) {
	t.Helper()
	w, err := parse([]byte(want))
	if err != nil {
		t.Fatalf("%s: the expectation is not JSON: %v", what, err)
	}
	same(t, what, got, w)
}

// same reports a difference between two values.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // cmp takes twice the time for each level of nesting
		return
	}
	t.Errorf("%s differs (-want +got):\n%.3000s", what, gocmp.Diff(want, got))
}

// scope is the path of the scope that most tests use.
const scope = "/v1/apps/app/users/ann"

// talk returns a conversation in which the rules find facts.
func talk(t testing.TB) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("testdata/talk.json")
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// contents returns all that a client can read in the scope: sessions with their
// events, memories, and the ids of operations. It leaves out the state of
// operations, which changes while they run.
func (a *api) contents(headers ...string) any {
	a.t.Helper()
	out := map[string]any{}
	all := a.want(200, "GET", "/v1/apps/app/sessions?pageSize=1000", nil, headers...)
	for _, s := range list(all, "sessions") {
		path := "/v1/apps/app/users/" + text(s, "userId") + "/sessions/" + url.PathEscape(text(s, "id"))
		out[path] = a.want(200, "GET", path, nil, headers...)
	}
	out["memories"] = a.want(200, "GET", scope+"/memories?pageSize=1000", nil, headers...)
	out["operations"] = each(list(a.want(200, "GET", scope+"/operations?pageSize=1000", nil, headers...), "operations"), "id")
	return out
}

// gate is an extractor that waits until open is closed.
type gate struct {
	extract.Extractor
	open chan struct{}
}

func newGate() *gate { return &gate{rules.New(), make(chan struct{})} }

func (g *gate) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	select {
	case <-g.open:
		return g.Extractor.Extract(ctx, b)
	case <-ctx.Done():
		return extract.Found{}, ctx.Err()
	}
}

// logTo makes the server log to w.
func logTo(w io.Writer) func(*setup) {
	return func(s *setup) { s.server.Log = slog.New(slog.NewTextHandler(w, nil)) }
}
