package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/server"
)

// page is the origin that the tests name.
const page = "https://app.example.com"

// preflight asks as a browser does before a page of an origin makes a call. It has no key.
func (a *api) preflight(origin, method, path string) reply {
	return a.do("OPTIONS", path, nil, "Origin", origin, "Sec-Fetch-Site", "cross-site",
		"Access-Control-Request-Method", method, "Access-Control-Request-Headers", "authorization,content-type")
}

// hasNoCORS fails if an answer has a header of CORS.
func (a *api) hasNoCORS(what string, r reply) {
	a.t.Helper()
	for name := range r.header {
		if strings.HasPrefix(name, "Access-Control-") {
			a.t.Errorf("%s: the answer has %s: %s", what, name, r.header.Get(name))
		}
	}
}

// A page of a named origin can call with a key. Its preflights need none; the calls do.
func TestCORS(t *testing.T) {
	a := start(t, func(s *setup) { s.server.Origins = []string{page, "http://localhost:5173"} })
	admin := a.admin()
	key := a.key(admin, "app", "ann", "read", "write")
	memories := "/v1/apps/app/users/ann/memories"
	call := func(origin string, headers ...string) reply {
		return a.do("POST", memories+"/search", `{"query": "x"}`,
			append(headers, "Origin", origin, "Sec-Fetch-Site", "cross-site", "Content-Type", "application/json")...)
	}
	for _, origin := range []string{page, "http://localhost:5173"} {
		for _, path := range []string{memories + "/search", "/v1/apps/app/users/bob/memories/search"} {
			r := a.preflight(origin, "POST", path)
			same(t, "status of the preflight", r.status, http.StatusNoContent)
			same(t, "origin", r.header.Get("Access-Control-Allow-Origin"), origin)
			for header, want := range map[string]string{"Access-Control-Allow-Methods": "POST",
				"Access-Control-Allow-Headers": "Authorization", "Access-Control-Max-Age": "600", "Vary": "Origin"} {
				if got := strings.Join(r.header.Values(header), ", "); !strings.Contains(got, want) {
					t.Errorf("%s of the preflight is %q: want %s in it", header, got, want)
				}
			}
		}
		with := call(origin, "Authorization", "Bearer "+key)
		same(t, "status of the call", with.status, http.StatusOK)
		without := call(origin)
		same(t, "status of a call without a key", without.status, http.StatusUnauthorized)
		foreign := a.do("GET", "/v1/apps/app/users/bob/memories", nil, "Origin", origin, "Authorization", "Bearer "+key)
		same(t, "status of a call for another user", foreign.status, http.StatusForbidden)
		for _, r := range []reply{with, without, foreign} { // a page reads errors too
			same(t, "origin", r.header.Get("Access-Control-Allow-Origin"), origin)
			if got := r.header.Get("Access-Control-Expose-Headers"); !strings.Contains(got, "Retry-After") {
				t.Errorf("the call exposes %q", got)
			}
			same(t, "credentials", r.header.Get("Access-Control-Allow-Credentials"), "")
		}
	}
	r := a.do("OPTIONS", memories, nil, "Origin", page, "Access-Control-Request-Method", "POST", "Host", "evil.com")
	same(t, "status for a foreign host", r.status, http.StatusForbidden)
}

// An origin that is not named gets no header, can change nothing, and is answered as without
// the option: also one that looks like a named one.
func TestCORSOfOthers(t *testing.T) {
	a := start(t, func(s *setup) { s.server.Origins = []string{page} })
	plain := start(t)
	for _, origin := range []string{"https://evil.com", "null", "http://app.example.com", page + ":8443", page + ".evil.com",
		"https://evil.com/" + page, "https://appXexample.com", strings.ToUpper(page), page + "/", ""} {
		r, want := a.preflight(origin, "POST", scope+"/memories"), plain.preflight(origin, "POST", scope+"/memories")
		a.hasNoCORS("a preflight of "+origin, r)
		same(t, "status of a preflight of "+origin, r.status, want.status)
		r = a.do("GET", scope+"/memories", nil, "Origin", origin)
		a.hasNoCORS("a call of "+origin, r)
		if origin == "" {
			continue // no browser sends it
		}
		a.unchanged(func() {
			r := a.do("POST", scope+"/memories", `{"fact": "planted"}`, "Origin", origin, "Sec-Fetch-Site", "cross-site")
			same(t, "status of a write of "+origin, r.status, http.StatusForbidden)
		})
	}
	r := a.do("OPTIONS", scope+"/memories", nil, "Origin", page)
	a.hasNoCORS("OPTIONS that is no preflight", r)
	same(t, "status of OPTIONS that is no preflight", r.status, plain.do("OPTIONS", scope+"/memories", nil).status)
}

func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://app.example.com": "https://app.example.com", "HTTPS://App.Example.com/": "https://app.example.com",
		"https://a:443": "https://a", "http://a:80": "http://a", "https://a:80": "https://a:80",
		"http://localhost:5173": "http://localhost:5173", "http://[::1]:80": "http://[::1]",
	} {
		got, err := server.Origin(text)
		if err != nil || got != want {
			t.Errorf("Origin(%q) is %q, %v: want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "null", "*", "https://*", "https://*.a", "a", "a:80", "//a", "ftp://a", "file:///a", "https://",
		"https://:80", "https://a:", "https://a:x", "https://a:70000", "https://a/b", "https://a?b", "https://a#b", "https://a?",
		"https://u:p@a", "https://ä.example", "https:a", "https://a b"} {
		if got, err := server.Origin(text); err == nil {
			t.Errorf("Origin(%q) is %q: want an error", text, got)
		}
	}
}
