package server_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// send sends a request to a server by HTTP/2.
func send(t *testing.T, hs *httptest.Server, method, path string, body io.Reader, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, hs.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := hs.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.ProtoMajor != 2 {
		t.Fatalf("%s %s was answered by %s", method, path, res.Proto)
	}
	return res.StatusCode, string(raw)
}

// byHTTP2 serves a server by HTTP/2.
func byHTTP2(t *testing.T, choose ...func(*setup)) *httptest.Server {
	var hs *httptest.Server
	srv := build(t, func() { hs.Close() }, choose...)
	hs = httptest.NewUnstartedServer(srv)
	hs.EnableHTTP2 = true
	hs.StartTLS()
	return hs
}

// HTTP/2, which comes with TLS, has the bounds of a body and the streams of HTTP/1.1.
func TestHTTP2(t *testing.T) {
	slow := byHTTP2(t, func(s *setup) { s.server.BodyTime = 200 * time.Millisecond })
	late, writer := io.Pipe()
	defer writer.Close()
	if status, raw := send(t, slow, "POST", scope+"/memories", late); status != 408 {
		t.Errorf("a body that does not come: status %d: %s", status, raw)
	}
	hs := byHTTP2(t, func(s *setup) { s.server.MaxBody = 1 << 20 })
	huge := bytes.NewReader(make([]byte, 2<<20))
	if status, raw := send(t, hs, "POST", scope+"/memories", struct{ io.Reader }{huge}); status != 413 {
		t.Errorf("a huge body: status %d: %s", status, raw)
	}
	_, operation := send(t, hs, "POST", scope+"/memories/ingest", strings.NewReader(`{"sessionId": "s", "events": [
		{"id": "e1", "content": "I adopted a cat."}]}`))
	v, err := parse([]byte(operation))
	if err != nil {
		t.Fatal(err)
	}
	status, stream := send(t, hs, "GET", "/v1/operations/"+text(v, "id"), nil, "Accept", "text/event-stream")
	if status != 200 || !strings.Contains(stream, `"done":true`) {
		t.Errorf("a stream: status %d: %s", status, stream)
	}
}
