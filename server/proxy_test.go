package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// logged is what the log of a request says of its client, without a network.
func logged(t *testing.T, srv http.Handler, logs *buffer, remote string, header http.Header) string {
	t.Helper()
	before := len(logs.String())
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/livez", nil)
	r.RemoteAddr = remote
	r.Header = header
	srv.ServeHTTP(httptest.NewRecorder(), r)
	for line := range strings.Lines(logs.String()[before:]) {
		var entry struct{ Msg, From string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Msg == "request" {
			return entry.From
		}
	}
	t.Fatal("the request is not in the log")
	return ""
}

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// The log has the address of the client. A proxy is believed only if it is trusted, and
// then only what trusted proxies have appended.
func TestClientAddress(t *testing.T) {
	var logs buffer
	srv := build(t, func() {}, func(s *setup) {
		s.server.Log = slog.New(slog.NewJSONHandler(&logs, nil))
		s.server.TrustedProxies = prefixes("10.0.0.0/8", "fd00::/8")
	})
	const peer = "10.0.0.1:4000"
	for name, c := range map[string]struct {
		remote  string
		headers []string // of X-Forwarded-For
		want    string
	}{
		"no proxy":                   {"192.0.2.7:4000", nil, "192.0.2.7"},
		"not trusted":                {"192.0.2.7:4000", []string{"203.0.113.9"}, "192.0.2.7"},
		"trusted, without a header":  {peer, nil, "10.0.0.1"},
		"trusted":                    {peer, []string{"203.0.113.9"}, "203.0.113.9"},
		"trusted, IPv6":              {"[fd00::5]:4000", []string{"2001:db8::9"}, "2001:db8::9"},
		"a zone":                     {"[fd00::5%eth0]:4000", []string{"203.0.113.9"}, "203.0.113.9"},
		"IPv4 within IPv6":           {"[::ffff:10.0.0.1]:4000", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"spoofed":                    {peer, []string{"127.0.0.1, 8.8.8.8, 203.0.113.9"}, "203.0.113.9"},
		"spoofed, in two headers":    {peer, []string{"8.8.8.8", "203.0.113.9"}, "203.0.113.9"},
		"two proxies":                {peer, []string{"203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"spoofed before two proxies": {peer, []string{"10.0.0.3, 203.0.113.9,10.0.0.2"}, "203.0.113.9"},
		"proxies alone":              {peer, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"ports":                      {peer, []string{"203.0.113.9:1234"}, "203.0.113.9"},
		"an IPv6 port":               {peer, []string{"[2001:db8::9]:1234"}, "2001:db8::9"},
		"brackets":                   {peer, []string{"[2001:db8::9]"}, "2001:db8::9"},
		"a name":                     {peer, []string{"203.0.113.9, evil"}, "10.0.0.1"},
		"a name behind a proxy":      {peer, []string{"203.0.113.9, unknown, 10.0.0.2"}, "10.0.0.2"},
		"nothing":                    {peer, []string{""}, "10.0.0.1"},
		"commas":                     {peer, []string{strings.Repeat(",", 60_000)}, "10.0.0.1"},
		"no network":                 {"", []string{"203.0.113.9"}, ""},
		"a socket":                   {"@", []string{"203.0.113.9"}, ""},
	} {
		got := logged(t, srv, &logs, c.remote, http.Header{"X-Forwarded-For": c.headers,
			"Forwarded": {"for=198.51.100.1"}, "X-Real-Ip": {"198.51.100.2"}})
		if got != c.want {
			t.Errorf("%s: from %q, want %q", name, got, c.want)
		}
	}
}

// TestHosts checks the names of -host: a page whose own name resolves to this server is
// not served.
func TestHosts(t *testing.T) {
	a := start(t, func(s *setup) { s.server.Hosts = []string{"memory.example.com", "2001:db8::7"} })
	for host, want := range map[string]int{
		"memory.example.com": 200, "MEMORY.example.com:8443": 200, "memory.example.com.": 200, "localhost": 200,
		"127.0.0.1:1": 200, "[2001:db8::7]:80": 200,
		"evil.com": 403, "memory.example.com.evil.com": 403, "xmemory.example.com": 403, "example.com": 403,
		"memory.example.com:x": 403, "[::]": 403, "10.0.0.1": 403,
	} {
		if r := a.do("GET", scope+"/memories", nil, "Host", host); r.status != want {
			t.Errorf("Host %s: status %d, want %d", host, r.status, want)
		}
	}
	// Probes ask by the address that they have reached.
	srv := build(t, func() {}, func(s *setup) { s.server.Hosts = []string{"memory.example.com"} })
	for host, want := range map[string]int{"10.1.2.3:8080": 200, "10.1.2.4:8080": 403, "evil.com": 403} {
		local := context.WithValue(t.Context(), http.LocalAddrContextKey, fake("10.1.2.3:8080"))
		r := httptest.NewRequestWithContext(local, "GET", "http://"+host+"/livez", nil)
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %s at 10.1.2.3: status %d, want %d", host, w.Code, want)
		}
	}
}

// fake is an address.
type fake string

func (fake) Network() string  { return "tcp" }
func (f fake) String() string { return string(f) }

// A trusted proxy says which host and scheme the client has asked for; nobody else does.
func TestForwardedHost(t *testing.T) {
	for _, c := range []struct {
		trusted   []netip.Prefix
		host      string
		forwarded string
		want      int
	}{
		{nil, "localhost", "evil.com", 200},
		{nil, "evil.com", "localhost", 403},
		{prefixes("127.0.0.0/8"), "backend", "memory.example.com", 200},
		{prefixes("127.0.0.0/8"), "backend", "", 403},
		{prefixes("127.0.0.0/8"), "localhost", "evil.com", 403},
		{prefixes("127.0.0.0/8"), "localhost", "memory.example.com, evil.com", 403},
		{prefixes("10.0.0.0/8"), "backend", "memory.example.com", 403},
	} {
		a := start(t, func(s *setup) {
			s.server.TrustedProxies, s.server.Hosts = c.trusted, []string{"memory.example.com"}
		})
		headers := []string{"Host", c.host, "X-Forwarded-Proto", "https"}
		if c.forwarded != "" {
			headers = append(headers, "X-Forwarded-Host", c.forwarded)
		}
		r := a.do("GET", "/", nil, headers...)
		if r.status != c.want {
			t.Errorf("%+v: status %d", c, r.status)
		}
		at := fmt.Sprintf("curl -s http://%s/v1", c.host)
		if c.trusted != nil {
			at = "curl -s https://memory.example.com/v1"
		}
		if r.status == 200 && !strings.Contains(string(r.raw), at) {
			t.Errorf("%+v: the page does not have %s:\n%s", c, at, r.raw)
		}
	}
	// A page of the proxy's own name is not one of another site.
	a := start(t, func(s *setup) {
		s.server.TrustedProxies, s.server.Hosts = prefixes("127.0.0.0/8"), []string{"memory.example.com"}
	})
	for origin, want := range map[string]int{"https://memory.example.com": 200, "https://evil.com": 403} {
		r := a.do("POST", scope+"/memories/search", `{"query": "x"}`, "Host", "backend", "Origin", origin,
			"X-Forwarded-Host", "memory.example.com")
		if r.status != want {
			t.Errorf("Origin %s: status %d, want %d", origin, r.status, want)
		}
	}
}
