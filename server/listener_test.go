package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/server"
)

// careful checks the headers by which a browser handles an answer with care.
func careful(t *testing.T, what string, header http.Header) {
	t.Helper()
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s %q, want %q", what, name, got, want)
		}
	}
	policy := header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; frame-ancestors 'none'") {
		t.Errorf("%s: policy %q", what, policy)
	}
}

// TestErrorsOfHTTP checks that errors which net/http answers by itself have the
// form of all errors, and that nothing else is changed.
func TestErrorsOfHTTP(t *testing.T) {
	a := start(t)
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hs := &http.Server{Handler: a.server}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(server.Listener(on)) }()
	t.Cleanup(func() {
		hs.Close()
		<-served
	})
	a.addr = on.Addr().String()
	host := " HTTP/1.1\r\nHost: " + a.addr + "\r\n"
	post := "POST " + scope + "/memories" + host
	for name, c := range map[string]struct {
		request string
		status  int
		word    string
	}{
		"no HTTP":                    {"hello\r\n\r\n", 400, "HTTP/1.1"},
		"a bad escape":               {"GET /%zz" + host + "\r\n", 400, ""},
		"a bad escape in a scope":    {"GET /v1/apps/a%/users/b/sessions" + host + "\r\n", 400, ""},
		"a bad escape in a query":    {"GET " + scope + "/memories?kind=%zz" + host + "\r\n", 400, "query"},
		"no host":                    {"GET /livez HTTP/1.1\r\n\r\n", 400, "Host"},
		"two hosts":                  {"GET /livez" + host + "Host: b\r\n\r\n", 400, ""},
		"a bad host":                 {"GET /livez HTTP/1.1\r\nHost: a b/c\r\n\r\n", 400, "Host"},
		"a bad header":               {"GET /livez" + host + "a b: c\r\n\r\n", 400, "header"},
		"a header without a colon":   {"GET /livez" + host + "abc\r\n\r\n", 400, ""},
		"a header with a NUL":        {"GET /livez" + host + "a: \x00\r\n\r\n", 400, "header"},
		"a bad length":               {post + "Content-Length: x\r\n\r\n", 400, ""},
		"two lengths":                {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""},
		"a negative length":          {post + "Content-Length: -1\r\n\r\n", 400, ""},
		"a later version of HTTP":    {"GET /livez HTTP/3.0\r\nHost: a\r\n\r\n", 505, "version"},
		"headers that are too large": {"GET /livez" + host + "a: " + strings.Repeat("x", 1<<20+8192) + "\r\n\r\n", 431, "1 MiB"},
		"an expectation":             {post + "Expect: cake\r\nContent-Length: 2\r\n\r\n{}", 417, "100-continue"},
		"a transfer encoding":        {post + "Transfer-Encoding: gzip\r\n\r\n", 501, "chunked"},
		"two transfer encodings":     {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "chunked"},
		"an unknown method":          {"FETCH " + scope + "/memories" + host + "\r\n", 405, ""},
		"CONNECT":                    {"CONNECT " + scope + "/memories" + host + "\r\n", 405, ""},
		"TRACE":                      {"TRACE " + scope + "/memories" + host + "\r\n", 405, ""},
		"HTTP 2 without TLS":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403, "host"},
		"no such route":              {"GET /v1/nothing" + host + "\r\n", 404, ""},
		"a bad body":                 {post + "Content-Length: 1\r\n\r\n{", 400, "JSON"},
	} {
		r := a.socket(c.request)
		message, err := checkError(r)
		if err != nil || r.status != c.status || !strings.Contains(message, c.word) {
			t.Errorf("%s: %v: %d %s", name, err, r.status, r.raw)
		}
		if r.status == http.StatusMethodNotAllowed && !strings.Contains(r.header.Get("Allow"), "POST") {
			t.Errorf("%s: Allow %q", name, r.header.Get("Allow"))
		}
		careful(t, name, r.header)
	}
	// A body that looks like such an answer is not one. It comes in one write, after
	// the headers, and in many.
	fake := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	body := fmt.Sprintf(`{"fact": %q}`, fake)
	r := a.socket(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", post, len(body), body))
	if v, err := parse(r.raw); r.status != 201 || err != nil || text(v, "fact") != fake {
		t.Errorf("%d %s %v", r.status, r.raw, err)
	}
	r = a.socket("OPTIONS " + scope + "/memories" + host + "\r\n")
	if careful(t, "OPTIONS", r.header); r.status != 204 || !strings.Contains(r.header.Get("Allow"), "POST") {
		t.Errorf("OPTIONS: %d, Allow %q", r.status, r.header.Get("Allow"))
	}
	// A connection goes on after a good request, and HEAD has no body.
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, path := range []string{"/livez", "/v1/nothing"} {
		if _, err := io.WriteString(conn, "HEAD "+path+host+"\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, &http.Request{Method: "HEAD"})
		if err != nil {
			t.Fatal(err)
		}
		careful(t, "HEAD "+path, res.Header)
	}
}

// TestHeaders checks the headers of answers of every kind.
func TestHeaders(t *testing.T) {
	a := start(t)
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/v1/tools", scope + "/memories", "/nothing"} {
		r := a.do("GET", path, nil)
		careful(t, path, r.header)
		if styled := strings.Contains(r.header.Get("Content-Security-Policy"), "style-src"); styled != (path == "/") {
			t.Errorf("%s: policy %q", path, r.header.Get("Content-Security-Policy"))
		}
	}
	careful(t, "MCP", a.do("POST", mcpPath, initialize).header)
	careful(t, "a call", a.do("POST", mcpPath, toolCall("search_memory", map[string]any{"query": "x"})).header)
	careful(t, "a refused message", a.do("POST", mcpPath, "[]").header)
	operation := a.want(202, "POST", scope+"/memories/ingest", map[string]any{"sessionId": "s",
		"events": []any{map[string]any{"id": "e1", "content": "I adopted a cat."}}})
	careful(t, "a stream", a.do("GET", "/v1/operations/"+text(operation, "id"), nil, "Accept", "text/event-stream").header)
}
