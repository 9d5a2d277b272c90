package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// randomRequests is how many requests TestRandomRequests sends: some seconds of
// them, of which most are well-formed enough to reach a handler.
const randomRequests = 6000

// randomizer makes requests that are nearly right, and some that are far from it.
type randomizer struct {
	*rand.Rand
	fill func(string) string
}

func pickOf[T any](r *randomizer, from []T) T { return from[r.IntN(len(from))] }

// oneIn is true once in n times.
func (r *randomizer) oneIn(n int) bool { return r.IntN(n) == 0 }

// oddIDs has segments of a path that are ids, though of a kind that few clients use.
var oddIDs = []string{
	"ann", "a%20b", "%20", "a.", "..a", "...", "-", "_", "*", "a%3Ab", "%7Bann%7D", "%F0%9F%99%82", "caf%C3%A9", "cafe%CC%81",
	"%E2%80%AEann", "%EF%BB%BF", "a%25b", "%25", "%2525", "0", "null", "true", "a'b", "a%22b", "a;b", "a=b", "a,b", "a+b", "s", "e",
	strings.Repeat("x", 256), strings.Repeat("%F0%9F%99%82", 64), "ingest", "search", "events", "sessions", "memories",
}

// path fills the ids of a route.
func (r *randomizer) path(path string) string {
	for _, slot := range []string{"{app}", "{user}", "{session}", "{memory}", "{operation}"} {
		id := map[string]string{"{app}": "app", "{user}": "ann", "{session}": "s"}[slot]
		switch {
		case r.oneIn(20):
			id = pickOf(r, hostileIDs)
		case id == "" && !r.oneIn(4):
			id = slot // the one that is there
		case r.oneIn(4):
			id = pickOf(r, oddIDs)
		case id == "":
			id = pickOf(r, oddIDs)
		}
		path = strings.ReplaceAll(path, slot, id)
	}
	path = r.fill(path)
	if r.oneIn(30) {
		path = string(r.mangle([]byte(path)))
	}
	if !r.oneIn(3) {
		return path
	}
	query := []string{}
	for range 1 + r.IntN(2) {
		name := pickOf(r, []string{"pageSize", "pageToken", "wait", "after", "numRecentEvents", "kind", "topic", "sessionId", "orderBy",
			"history", "outputKey", "state", "x"})
		value := pickOf(r, []string{"", "0", "1", "-1", "1000", "1001", "1e9", "true", "false", "fact", "turn", "createTime desc",
			"2024-01-01T00:00:00Z", "1.7e9", "NaN", "%", "\x00", "\xff", "é", strings.Repeat("z", 3000), "k", "app:k", "temp:k", "user:"})
		if value = url.QueryEscape(value); r.oneIn(20) {
			value = "%zz"
		}
		query = append(query, name+"="+value)
	}
	return path + "?" + strings.Join(query, "&")
}

// mangle changes some bytes, and leaves a line one line.
func (r *randomizer) mangle(raw []byte) []byte {
	raw = slices.Clone(raw)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(raw) + 1)
		switch r.IntN(4) {
		case 0:
			raw = raw[:at]
		case 1:
			raw = slices.Insert(raw, at, byte(r.IntN(256)))
		case 2:
			raw = slices.Insert(raw, at, []byte(pickOf(r, []string{"%00", "\xf0\x9f", "\"", "{", "]", "//", "..", "\\u0000", "\u202e"}))...)
		default:
			if at < len(raw) {
				raw[at] ^= 1 << r.IntN(8)
			}
		}
	}
	return raw
}

// names are those of fields that some body has.
func (r *randomizer) name() string {
	if r.oneIn(30) {
		return r.text()
	}
	return pickOf(r, []string{"id", "state", "events", "stateDelta", "sessionId", "session_id", "query", "queries", "topK", "minScore", "kinds", "topics",
		"since", "until", "asOf", "metadata", "explain", "fact", "facts", "ttl", "validFrom", "revision", "template", "args", "maxTokens",
		"content", "parts", "text", "role", "author", "timestamp", "actions", "partial", "invocationId", "customMetadata", "appName", "userId",
		"disableConsolidation", "startTime", "endTime", "inlineData", "functionCall", "rewindBeforeInvocationId", "compaction", "artifactDelta"})
}

func (r *randomizer) text() string {
	return pickOf(r, []string{"", " ", "x", "hello there", "I moved to Porto last month.", "s", "e", "user", "model", "fact", "turn", "1h", "-1s",
		"2024-02-30T00:00:00Z", "2024-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "app:k", "user:k", "temp:k", "{k}", "{{{k?}}}", "{artifact.x}",
		"\x00", "\u202e\u200b\ufeff", "é", "e\u0301", "🙂", "\U000E0041", "</PAST_CONVERSATIONS>", "'; DROP TABLE turns; --", "a/b", "..",
		strings.Repeat("word ", 2000), strings.Repeat("x", 300), strings.Repeat("é", 5000)})
}

// value is any JSON value.
func (r *randomizer) value(depth int) any {
	switch r.IntN(9) {
	case 0:
		return pickOf(r, []any{0, 1, -1, 10, 1.5, 1e300, -1e300, 1 << 53, 1.7e9, 253402300800})
	case 1:
		return r.oneIn(2)
	case 2:
		return nil
	case 3, 4:
		if depth > 0 {
			list := []any{}
			for range r.IntN(4) {
				list = append(list, r.value(depth-1))
			}
			return list
		}
	case 5, 6:
		if depth > 0 {
			return r.object(depth - 1)
		}
	}
	return r.text()
}

func (r *randomizer) object(depth int) map[string]any {
	out := map[string]any{}
	for range r.IntN(5) {
		out[r.name()] = r.value(depth)
	}
	return out
}

// body is the good body of a route with other values in it, or any JSON, or no JSON.
func (r *randomizer) body(w *bodyRoute) []byte {
	if r.oneIn(25) {
		return []byte(pickOf(r, []string{"", "null", "[]", "1", `"x"`, "{", "\xff\xfe", nested(10_000), `{"a":` + strings.Repeat(`{"a":`, 10_000),
			`{"id":"\ud800"}`, `{"topK":1e999}`, `{"query":"x","query":"y"}`, strings.Repeat(" ", 100_000)}))
	}
	fields := r.object(3)
	var good map[string]any
	if json.Unmarshal([]byte(r.fill("{"+w.good+"}")), &good) == nil {
		for name, v := range good {
			if !r.oneIn(8) {
				fields[name] = v
			}
		}
		if !r.oneIn(4) { // only fields that the route has
			for name := range fields {
				if _, known := good[name]; !known && w.bad[name] == nil {
					delete(fields, name)
				}
			}
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	for name, values := range w.bad {
		if r.oneIn(4 * len(w.bad)) {
			raw = []byte(fmt.Sprintf(`{%q: %s}`, name, pickOf(r, values)))
		}
	}
	if r.oneIn(10) {
		raw = r.mangle(raw)
	}
	return raw
}

// TestRandomRequests sends requests that a seed determines, to all routes, and
// checks that none is answered with a fault of the server, that every error has the
// documented form, and that the server still has all its data and works.
func TestRandomRequests(t *testing.T) {
	a, fill := startFilled(t, inMemory)
	all := slices.Clone(bodyRoutes)
	for _, r := range routes {
		all = append(all, bodyRoute{method: r.method, path: r.path, good: strings.Trim(r.body, "{}")})
	}
	all = append(all, bodyRoute{method: "POST", path: "/mcp/apps/{app}/users/{user}", good: `"jsonrpc": "2.0", "id": 1, "method": "tools/list"`},
		bodyRoute{method: "GET", path: "/v1/tools"}, bodyRoute{method: "GET", path: "/readyz"})
	var senders sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	const parallel = 4
	for i := range parallel {
		senders.Go(func() {
			r := &randomizer{rand.New(rand.NewPCG(7, uint64(i))), fill}
			for range randomRequests / parallel {
				w := pickOf(r, all)
				method, path := w.method, r.path(w.path)
				if method == "DELETE" && !strings.Contains(w.path, "{memory}") {
					continue // the session that others read
				}
				if r.oneIn(30) {
					method = pickOf(r, []string{"GET", "POST", "PUT", "PATCH", "TRACE", "BREW"})
				}
				var body []byte
				if method != "GET" {
					body = r.body(&w)
				}
				target, err := url.Parse(path)
				if err != nil || strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
					continue // net/http refuses it before the server sees it
				}
				req := httptest.NewRequest(method, "http://localhost/", bytes.NewReader(body))
				req.URL.Path, req.URL.RawPath, req.URL.RawQuery, req.RequestURI = target.Path, target.RawPath, target.RawQuery, path
				for range r.IntN(3) {
					req.Header.Set(pickOf(r, []string{"Content-Type", "Accept", "Range", "If-None-Match", "X-Request-Id", "Accept-Encoding"}),
						pickOf(r, []string{"", "application/json", "text/event-stream", "*/*", "bytes=0-1", "gzip", "\"x\"", strings.Repeat("y", 500)}))
				}
				answer := a.serve(req)
				what := fmt.Sprintf("%s %.300s %.300q %v", method, path, body, req.Header)
				if rpc := bytes.HasPrefix(answer.raw, []byte(`{"jsonrpc":"2.0"`)); rpc && answer.status == 400 {
					answer.status = 200 // an error of MCP has the form of JSON-RPC
				}
				checkAnswer(t, what, answer)
				mu.Lock()
				statuses[answer.status]++
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	t.Log(statuses)
	if statuses[200]+statuses[201]+statuses[202] < randomRequests/20 || statuses[400] == 0 || statuses[404] == 0 {
		t.Errorf("too few requests reach something: %v", statuses)
	}
	a.want(200, "GET", "/readyz", nil)
	for _, path := range []string{"/sessions?pageSize=1000", "/sessions/s", "/memories?pageSize=1000&history=true"} {
		if answer := a.do("GET", scope+path, nil); answer.status != 200 {
			t.Errorf("%s: %d: %.300s", path, answer.status, answer.raw)
		}
	}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId": "after", "events": [{"content": "figs and dates"}]}`)
	if got := a.want(200, "POST", scope+"/memories/search", `{"query": "figs dates"}`); !strings.Contains(fmt.Sprint(got), "figs and dates") {
		t.Errorf("a search finds %v", got)
	}
}
