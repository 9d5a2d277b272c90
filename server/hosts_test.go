package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
)

// TestHost checks that only loopback names are served, so that a web page whose
// DNS name resolves to 127.0.0.1 reads nothing.
func TestHost(t *testing.T) {
	a := start(t)
	for _, host := range []string{"localhost", "LOCALHOST:80", "localhost.", "127.0.0.1", "127.0.0.1:8080", "127.8.9.1",
		"[::1]", "[::1]:8080", a.addr} {
		if r := a.do("GET", scope+"/memories", nil, "Host", host); r.status != 200 {
			t.Errorf("Host %s: status %d: %s", host, r.status, r.raw)
		}
	}
	foreign := []string{
		"evil.com", "evil.com:8080", "localhost.evil.com", "127.0.0.1.evil.com", "localhost:80.evil.com", "10.0.0.1",
		"0.0.0.0", "[::]", "[::ffff:10.0.0.1]", "0x7f.1", "2130706433", "127.1", "xn--localhost",
	}
	for _, host := range foreign {
		for _, path := range []string{scope + "/memories", "/livez", "/nothing", "/"} {
			r := a.do("GET", path, nil, "Host", host)
			if _, err := checkError(r); err != nil || r.status != 403 {
				t.Errorf("Host %s, %s: status %d, %v", host, path, r.status, err)
			}
		}
	}
	a.unchanged(func() {
		if r := a.do("POST", scope+"/memories", `{"fact": "planted"}`, "Host", "evil.com"); r.status != 403 {
			t.Errorf("a foreign POST has status %d", r.status)
		}
	})
	absolute := "GET http://evil.com/livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	if r := a.socket(absolute); r.status != 403 {
		t.Errorf("a foreign absolute URI has status %d", r.status)
	}
	if r := a.socket("GET /livez HTTP/1.0\r\n\r\n"); r.status != 403 {
		t.Errorf("no Host at all has status %d", r.status)
	}
	open := start(t, func(s *setup) { s.server.AnyHost = true })
	for _, host := range append(foreign, "localhost") {
		if r := open.do("GET", scope+"/memories", nil, "Host", host); r.status != 200 {
			t.Errorf("AnyHost, Host %s: status %d", host, r.status)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "::1": true, "[::1]:1": true, "127.0.0.1:0": true,
		"": false, ":8080": false, "0.0.0.0:8080": false, "localhost:80:80": false, "local host": false} {
		same(t, host, server.Loopback(host), want)
	}
}

// TestCrossOrigin checks that pages of other sites cannot write. Browsers send
// Sec-Fetch-Site, older ones only Origin.
func TestCrossOrigin(t *testing.T) {
	a, fill := startFilled(t)
	a.unchanged(func() {
		for _, w := range bodyRoutes {
			for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
				{"Origin", "http://evil.com"}, {"Origin", "null"}, {"Origin", "https://localhost.evil.com"},
				{"Origin", "http://127.0.0.1:1"}} {
				r := a.do(w.method, fill(w.path), `{`+w.good+`}`, append(headers, "Content-Type", "text/plain")...)
				if _, err := checkError(r); err != nil || r.status != 403 {
					t.Errorf("%s %s with %v: status %d, %v", w.method, w.path, headers, r.status, err)
				}
			}
		}
		if r := a.do("DELETE", scope+"/sessions/s", nil, "Sec-Fetch-Site", "cross-site"); r.status != 403 {
			t.Errorf("DELETE: status %d", r.status)
		}
	})
	sameOrigin := [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Origin", a.url}, {}}
	for _, headers := range sameOrigin {
		if r := a.do("POST", scope+"/memories/search", `{"query": "x"}`, headers...); r.status != 200 {
			t.Errorf("with %v: status %d: %s", headers, r.status, r.raw)
		}
	}
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "http://evil.com"}} {
		r := a.do("GET", scope+"/memories", nil, headers...)
		for h := range r.header {
			if strings.HasPrefix(h, "Access-Control-") {
				t.Errorf("with %v the answer has %s, and the page can read it", headers, h)
			}
		}
	}
}

// TestHomePage checks that the commands on the page use the address that the
// browser asked.
func TestHomePage(t *testing.T) {
	a := start(t)
	r := a.do("GET", "/", nil)
	if r.status != 200 || !strings.Contains(string(r.raw), "curl -s http://"+a.addr+"/v1/") {
		t.Errorf("status %d: %s", r.status, r.raw)
	}
}

// TestHealth checks /livez, /readyz and the page: a failing store is named, and its
// reason is in the log once and not in the answer, except what is damaged.
func TestHealth(t *testing.T) {
	var sessions, memories toggledError
	var logs buffer
	a := start(t, logTo(&logs), func(s *setup) {
		s.server.Version = "v1.2.3"
		s.server.Checks = map[string]func(context.Context) error{
			"sessions": func(context.Context) error { return sessions.failure() },
			"memories": func(context.Context) error { return memories.failure() },
		}
	})
	if r := a.do("GET", "/livez", nil); r.status != 200 || strings.TrimSpace(string(r.raw)) != "ok" {
		t.Errorf("/livez: status %d: %s", r.status, r.raw)
	}
	equal(t, "/readyz", a.want(200, "GET", "/readyz", nil), `{"sessions": "ok", "memories": "ok"}`)
	sessions.fail(errors.New(secret))
	r := a.do("GET", "/readyz", nil)
	msg, err := checkError(r)
	if err != nil || r.status != 503 || !strings.Contains(msg, "sessions") || strings.Contains(msg, "memories") ||
		strings.Contains(msg, secret) {
		t.Errorf("/readyz without sessions: status %d, %v: %s", r.status, err, r.raw)
	}
	if n := strings.Count(logs.String(), secret); n != 1 {
		t.Errorf("the log has the reason %d times, want once:\n%s", n, logs.String())
	}
	memories.fail(errors.New("maintenance"))
	for range 10 { // the order of the names does not depend on the order of a map
		if msg, err := checkError(a.do("GET", "/readyz", nil)); err != nil ||
			!strings.Contains(msg, "memories, sessions") {
			t.Fatalf("/readyz without both: %v: %s", err, msg)
		}
	}
	if r := a.do("GET", "/livez", nil); r.status != 200 {
		t.Errorf("/livez with stores that fail: status %d", r.status)
	}
	sessions.fail(fmt.Errorf("%s: %w", secret, memory.Damaged("events of users are gone: run memoryd check")))
	if msg, err := checkError(a.do("GET", "/readyz", nil)); err != nil ||
		msg != "not ready: memories, sessions (events of users are gone: run memoryd check)" {
		t.Errorf("/readyz with damaged sessions: %v: %s", err, msg)
	}
	sessions.fail(nil)
	memories.fail(nil)
	a.want(200, "GET", "/readyz", nil)

	page := a.do("GET", "/", nil)
	if page.status != 200 || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(string(page.raw), "v1.2.3") || strings.Contains(string(page.raw), "{{") {
		t.Errorf("/: status %d: %s", page.status, page.raw)
	}
}
