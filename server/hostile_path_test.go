package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// routes has all routes with a scope or an operation. {app}, {user}, {session},
// {memory} and {operation} stand for ids.
var routes = []struct{ method, path, body string }{
	{"GET", "/v1/apps/{app}/sessions", ""},
	{"POST", "/v1/apps/{app}/users/{user}/sessions", "{}"},
	{"GET", "/v1/apps/{app}/users/{user}/sessions", ""},
	{"GET", "/v1/apps/{app}/users/{user}/sessions/{session}", ""},
	{"PATCH", "/v1/apps/{app}/users/{user}/sessions/{session}", `{"stateDelta": {}}`},
	{"DELETE", "/v1/apps/{app}/users/{user}/sessions/{session}", ""},
	{"POST", "/v1/apps/{app}/users/{user}/sessions/{session}/events", `{"events": []}`},
	{"POST", "/v1/apps/{app}/users/{user}/sessions/{session}/memories", "{}"},
	{"GET", "/v1/apps/{app}/users/{user}/counts", ""},
	{"POST", "/v1/apps/{app}/users/{user}/memories/ingest", `{"sessionId": "s", "events": []}`},
	{"POST", "/v1/apps/{app}/users/{user}/memories/search", `{"query": "x"}`},
	{"POST", "/v1/apps/{app}/users/{user}/memories/context", `{"query": "x"}`},
	{"POST", "/v1/apps/{app}/users/{user}/memories", `{"fact": "x"}`},
	{"GET", "/v1/apps/{app}/users/{user}/memories", ""},
	{"GET", "/v1/apps/{app}/users/{user}/memories/{memory}", ""},
	{"PATCH", "/v1/apps/{app}/users/{user}/memories/{memory}", `{"fact": "x"}`},
	{"DELETE", "/v1/apps/{app}/users/{user}/memories/{memory}", ""},
	{"GET", "/v1/apps/{app}/users/{user}/memories/{memory}/revisions", ""},
	{"POST", "/v1/apps/{app}/users/{user}/memories/{memory}/rollback", `{"revision": 1}`},
	{"POST", "/v1/apps/{app}/users/{user}/memories/dryRun", `{"sessionId": "s", "events": []}`},
	{"POST", "/v1/apps/{app}/users/{user}/sessions/{session}/render", `{"template": "x"}`},
	{"POST", "/v1/apps/{app}/users/{user}/tools/load_memory", `{"args": {"query": "x"}}`},
	{"GET", "/v1/apps/{app}/users/{user}/operations", ""},
	{"GET", "/v1/operations/{operation}", ""},
	{"POST", "/v1/operations/{operation}/retry", ""},
	{"POST", "/v1/operations/{operation}/confirm", ""},
	{"POST", "/v1/operations/{operation}/rollback", `{"dryRun": true}`},
}

// hostileIDs has segments of a path that are not ids.
var hostileIDs = []string{
	"", ".", "..", "%2e", "%2E%2e", "%2f", "a%2Fb", "%2f..%2f..%2fetc", "%00", "a%00b", "%0a",
	"%0d%0aX-Header:%20x", "%1b", "%7f", "%c2%85", "%ff", "%c0%ae", "%ed%a0%80", "%f4%90%80%80",
	strings.Repeat("x", 257), strings.Repeat("x", 10_000), strings.Repeat("%C3%A9", 129),
}

// TestHostileIDsInPaths checks that no route accepts a malformed id.
func TestHostileIDsInPaths(t *testing.T) {
	a, fill := startFilled(t)
	fine := strings.NewReplacer("{app}", "app", "{user}", "ann")
	a.unchanged(func() {
		for _, r := range routes {
			for _, slot := range []string{"{app}", "{user}", "{session}", "{memory}"} {
				if !strings.Contains(r.path, slot) {
					continue
				}
				for _, id := range hostileIDs {
					path := fill(fine.Replace(strings.Replace(r.path, slot, id, 1)))
					if r.method == "POST" && path == scope+"/sessions/" || id == "" && (strings.HasSuffix(path, "/")) {
						continue // an unknown route, see TestUnknownRoutes
					}
					a.refused(400, r.method, path, r.body)
				}
			}
		}
	})
}

// TestUnknownRoutes checks that every path without a route answers 404, also one
// that escapes or doubles slashes.
func TestUnknownRoutes(t *testing.T) {
	a, _ := startFilled(t)
	a.unchanged(func() {
		for _, path := range []string{
			"/v1", "/v1/", "/v2/apps/app/sessions", "/v1/apps/", "/v1/apps/app/",
			"/v1/apps/app/users/", "/v1/apps/app/users/ann/", "/v1/apps/app/users/ann/x",
			"/v1/apps/app/users/ann/sessions/s/%ff", "/v1//apps/app/sessions", "/V1/apps/app/sessions",
			"/v1/apps/app/Sessions", "/v1/operations", "/v1/%ff%fe", "/nothing", "/favicon.ico", "/index.html", "/console", "/console/app.js",
			"/.git/config", "/livez/", "/readyz/x", "/livez%2f", "//", "//livez", "/./livez", "/../livez",
			"/%2e%2e/livez", "/%00", "/%ff", "/\u00e9", "/" + strings.Repeat("x", 100_000),
			"/" + strings.Repeat("a/", 10_000), scope + "/sessions/s/", scope + "/sessions/s/events/e",
			scope + "/sessions/s/memories/x", scope + "/memories/x/revisions/1",
		} {
			a.refused(404, "GET", path, nil)
		}
		for _, path := range []string{scope + "/sessions/", scope + "/memories/", "/v1/apps/app/sessions/"} {
			// Either answer is right: an unknown route or an empty id.
			r := a.do("GET", path, nil)
			if _, err := checkError(r); err != nil || r.status != 404 && r.status != 400 {
				t.Errorf("%s: status %d, %v", path, r.status, err)
			}
		}
	})
}

// TestWrongMethods checks that another method on a known path answers 405 with the
// methods that it takes.
func TestWrongMethods(t *testing.T) {
	a, fill := startFilled(t)
	known := map[string]string{"/": "GET", "/livez": "GET", "/readyz": "GET"}
	for _, r := range routes {
		known[r.path] += " " + r.method
	}
	fine := strings.NewReplacer("{app}", "app", "{user}", "ann")
	verbs := []string{"ingest", "search", "context", "dryRun"}
	a.unchanged(func() {
		for path, methods := range known {
			for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "BREW"} {
				// For a method without a route of its own, the last segment is
				// the id of a memory.
				last := path[strings.LastIndex(path, "/")+1:]
				if strings.Contains(methods, m) || slices.Contains(verbs, last) {
					continue
				}
				r := a.do(m, fill(fine.Replace(path)), "{}")
				if _, err := checkError(r); err != nil || r.status != 405 {
					t.Errorf("%s %s: status %d, %v", m, path, r.status, err)
				}
				for _, want := range strings.Fields(methods) {
					if !strings.Contains(r.header.Get("Allow"), want) {
						t.Errorf("%s %s: Allow is %q", m, path, r.header.Get("Allow"))
					}
				}
			}
		}
	})
	if r := a.do("OPTIONS", scope+"/memories", nil); r.status != 204 ||
		r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS: status %d, %v", r.status, r.header)
	}
}

// TestHostileQueries checks that unknown parameters and malformed query strings
// are refused, not ignored.
func TestHostileQueries(t *testing.T) {
	a, fill := startFilled(t)
	fine := strings.NewReplacer("{app}", "app", "{user}", "ann")
	for _, r := range routes {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			a := a.with(t)
			a.unchanged(func() {
				path := fill(fine.Replace(r.path))
				a.refused(400, r.method, path+"?surplus=1", r.body, "surplus")
				a.refused(400, r.method, path+"?%00=%ff", r.body)
				a.refused(400, r.method, path+"?%zz", r.body)
				a.refused(400, r.method, path+"?a=1;b=2", r.body)
			})
		})
	}
	lists := []string{"/v1/apps/app/sessions", scope + "/sessions", scope + "/memories", scope + "/operations"}
	for _, path := range lists {
		for _, bad := range []string{
			"pageSize=0", "pageSize=-1", "pageSize=1001", "pageSize=1000000000", "pageSize=1e2", "pageSize=a",
			"pageSize=%00", "pageSize=9223372036854775808", "pageToken=%00", "pageToken=%ff", "pageToken=-1",
			"pageToken=0", "pageToken=!", "pageToken=" + strings.Repeat("z", 5000), "pageToken=%F0%9F%99%82",
		} {
			name, _, _ := strings.Cut(bad, "=")
			a.refused(400, "GET", path+"?"+bad, nil, name)
		}
		a.want(200, "GET", path+"?pageSize=1000", nil)
		a.want(200, "GET", path+"?pageSize=&pageToken=", nil)
	}
}

// TestOddRequests sends requests that HTTP allows and clients rarely send.
func TestOddRequests(t *testing.T) {
	a, _ := startFilled(t)
	head := "Host: " + a.addr + "\r\nConnection: close\r\n"
	post := "POST " + scope + "/memories HTTP/1.1\r\n" + head
	const fact = "Content-Length: 13\r\n\r\n{\"fact\": \"x\"}"
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"an absolute URI":        {"GET http://" + a.addr + "/livez HTTP/1.1\r\n" + head + "\r\n", 200},
		"HTTP/1.0":               {"GET /livez HTTP/1.0\r\nHost: " + a.addr + "\r\n\r\n", 200},
		"a body in chunks":       {post + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"fac\r\n8\r\nt\": \"x\"}\r\n0\r\n\r\n", 201},
		"a body cut short":       {post + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"fac\r\nnonsense\r\n", 400},
		"a compressed body":      {post + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\x08\x00\x00", 400},
		"a body on GET":          {"GET /livez HTTP/1.1\r\n" + head + "Content-Length: 1\r\n\r\nx", 200},
		"no Content-Type":        {post + fact, 201},
		"another Content-Type":   {post + "Content-Type: text/plain\r\n" + fact, 201},
		"a method override":      {"POST " + scope + "/sessions/s HTTP/1.1\r\n" + head + "X-HTTP-Method-Override: DELETE\r\nContent-Length: 0\r\n\r\n", 405},
		"a fragment in the path": {"GET /livez#x HTTP/1.1\r\n" + head + "\r\n", 404},
	} {
		if r := a.socket(c.request); r.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, r.status, c.status, r.raw)
		}
	}
	if r := a.do("POST", scope+"/memories", `{"fact": "x"}`, "Expect", "100-continue"); r.status != 201 {
		t.Errorf("Expect: status %d: %s", r.status, r.raw)
	}
	if n := strings.Count(fmt.Sprint(a.contents()), "fact:x"); n != 4 {
		t.Errorf("%d memories are stored, want 4", n)
	}
}
