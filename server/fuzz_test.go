package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// inMemory makes the server store nothing, so that fuzzing does not wait for the
// disk.
func inMemory(s *setup) { s.path = sqlitedb.Memory }

// serve answers one request without a network.
func (a *api) serve(req *http.Request) reply {
	w := httptest.NewRecorder()
	a.server.ServeHTTP(w, req)
	return reply{w.Code, w.Result().Header, w.Body.Bytes()}
}

// checkAnswer checks what holds for the answer to any request: no fault of the
// server, and the form of errors and of JSON.
func checkAnswer(t *testing.T, what string, r reply) {
	t.Helper()
	switch {
	case r.status >= 500:
		t.Errorf("%s: status %d: %.300s", what, r.status, r.raw)
	case r.status >= 400:
		if _, err := checkError(r); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case r.status == 204:
	case strings.HasPrefix(r.header.Get("Content-Type"), "application/json"):
		if _, err := parse(r.raw); err != nil {
			t.Errorf("%s: status %d and no JSON: %v: %.300q", what, r.status, err, r.raw)
		}
	case len(r.raw) == 0:
		t.Errorf("%s: status %d and nothing else", what, r.status)
	}
}

// FuzzBody sends bytes to every route that takes a body.
func FuzzBody(f *testing.F) {
	for i, w := range bodyRoutes {
		f.Add(uint8(i), []byte(`{`+w.good+`}`))
		for field, values := range w.bad {
			f.Add(uint8(i), []byte(fmt.Sprintf(`{%q: %s}`, field, values[0])))
		}
	}
	for _, seed := range []string{``, `null`, `[]`, `"x"`, `1e999`, `{"a":{"a":`, `{"id":"\ud800"}`, "\xff",
		`{"events":[{"content":"x","actions":{"stateDelta":{"k":1}}}]}`,
		`{"events":[{"content":{"role":"user","parts":[{"text":"My name is Ann."},{"inlineData":{"data":"eA=="}}]},
			"timestamp":1.7e9}],"sessionId":"s"}`,
		`{"query":"x","topK":5,"minScore":0.5,"kinds":["fact"],"since":"2024-01-01T00:00:00Z","metadata":{"a":1},
			"explain":true}`,
		`{"fact":"x","ttl":"1h","topics":["a"],"validFrom":0,"metadata":{"a":{"b":null}}}`} {
		for i := range bodyRoutes {
			f.Add(uint8(i), []byte(seed))
		}
	}
	a, fill := startFilled(f, inMemory)
	f.Fuzz(func(t *testing.T, route uint8, body []byte) {
		w := bodyRoutes[int(route)%len(bodyRoutes)]
		r := a.serve(httptest.NewRequest(w.method, "http://localhost"+fill(w.path), bytes.NewReader(body)))
		checkAnswer(t, fmt.Sprintf("%s %s %.200q", w.method, w.path, body), r)
		if r.status < 300 {
			// After a write everything can still be read and searched.
			get := func(path string) *http.Request {
				return httptest.NewRequest("GET", "http://localhost"+scope+path, nil)
			}
			checkAnswer(t, "the session", a.serve(get("/sessions/s?numRecentEvents=3")))
			checkAnswer(t, "the memories", a.serve(get("/memories?pageSize=3")))
			query := strings.NewReader(`{"query": "name", "explain": true}`)
			search := httptest.NewRequest("POST", "http://localhost"+scope+"/memories/search", query)
			checkAnswer(t, "a search", a.serve(search))
		}
	})
}

// FuzzPath sends requests with any method, path and query.
func FuzzPath(f *testing.F) {
	a, fill := startFilled(f, inMemory)
	fine := strings.NewReplacer("{app}", "app", "{user}", "ann")
	for _, r := range routes {
		f.Add(r.method, fill(fine.Replace(r.path)))
		for _, id := range hostileIDs {
			f.Add(r.method, fill(fine.Replace(strings.Replace(r.path, "{user}", id, 1))))
		}
	}
	for _, path := range []string{
		"/", "//", "*", "/livez", "/readyz", "/%ff", "/v1/%", "/?a;b", "http://localhost/livez", "http://evil.com/",
		scope + "/memories?pageSize=1&pageToken=eyJ9", scope + "/memories?orderBy=createTime+asc&topic=%00",
		scope + "/sessions/s?after=1e999&numRecentEvents=-0", scope + "/sessions?pageToken=zz",
	} {
		f.Add("GET", path)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		if method == "CONNECT" || method == "HEAD" { // their answers have no body
			return
		}
		// net/http parses the request as from the wire. What it refuses never
		// reaches the server.
		wire := method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
		req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
		if err != nil {
			return
		}
		r := a.serve(req)
		if method == "OPTIONS" && r.status == 204 {
			return
		}
		checkAnswer(t, fmt.Sprintf("%q %.300q", method, path), r)
	})
}
