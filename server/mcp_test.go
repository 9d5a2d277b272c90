package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
)

const mcpPath = "/mcp/apps/app/users/ann"

// TestMCPPath checks that both paths lead to the same memory, and that the other
// methods are refused on both.
func TestMCPPath(t *testing.T) {
	a := start(t)
	a.mcp(mcpPath, toolCall("remember", map[string]any{"fact": "Ann collects stamps."}))
	search := toolCall("search_memory", map[string]any{"query": "stamps"})
	same(t, "the other path", a.mcp(scope+"/mcp", search), a.mcp(mcpPath, search))
	for _, method := range []string{"GET", "DELETE"} {
		if r := a.do(method, scope+"/mcp", nil); r.status != http.StatusMethodNotAllowed ||
			!strings.Contains(r.header.Get("Allow"), "POST") {
			t.Errorf("%s: %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
	if r := a.do("POST", "/v1/apps/app/users/%2e%2e/mcp", search); r.status != http.StatusBadRequest {
		t.Errorf("a user that is no id: %d", r.status)
	}
}

// rpc returns a JSON-RPC message of the Model Context Protocol.
func rpc(method string, params any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
}

// toolCall returns the message that calls a tool.
func toolCall(tool string, args map[string]any) map[string]any {
	return rpc("tools/call", map[string]any{"name": tool, "arguments": args})
}

var initialize = rpc("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
	"clientInfo": map[string]any{"name": "test", "version": "1"}})

// mcp sends a message and returns its result.
func (a *api) mcp(path string, message any, headers ...string) any {
	a.t.Helper()
	v := a.want(http.StatusOK, "POST", path, message, headers...)
	if at(v, "error") != nil {
		a.t.Fatalf("%s: %v", path, v)
	}
	return at(v, "result")
}

// TestMCPScope checks that the path of each request alone decides the scope: no
// session id and no argument of a client leads to another scope.
func TestMCPScope(t *testing.T) {
	a := start(t)
	const bob, elsewhere = "/mcp/apps/app/users/bob", "/mcp/apps/other/users/ann"
	res := a.do("POST", mcpPath, initialize)
	if res.status != http.StatusOK || res.header.Get("Mcp-Session-Id") != "" {
		t.Fatalf("initialize: %d %v", res.status, res.header)
	}
	a.mcp(mcpPath, toolCall("remember", map[string]any{"fact": "Ann collects stamps."}))
	uri := text(a.mcp(mcpPath, rpc("resources/list", map[string]any{})), "resources", 0, "uri")
	for _, session := range [][]string{nil, {"Mcp-Session-Id", "stolen"},
		{"Mcp-Session-Id", res.header.Get("X-Request-Id")}} {
		search := toolCall("search_memory", map[string]any{"query": "stamps"})
		found := a.mcp(mcpPath, search, session...)
		if got := text(found, "structuredContent", "memories", 0, "fact"); got != "Ann collects stamps." {
			t.Errorf("her own memory: %q", got)
		}
		for _, path := range []string{bob, elsewhere, "/mcp/apps/app/users/ann%20", "/mcp/apps/app/users/Ann"} {
			equal(t, path, at(a.mcp(path, search, session...), "structuredContent"), `{"memories":[],"confidence":0}`)
			equal(t, path, at(a.mcp(path, rpc("resources/list", map[string]any{}), session...), "resources"), `[]`)
			v := a.want(http.StatusOK, "POST", path, rpc("resources/read", map[string]any{"uri": uri}), session...)
			equal(t, path, at(v, "error", "code"), `-32002`)
		}
	}
	id := strings.TrimPrefix(uri, "memoryd://memories/")
	if at(a.mcp(bob, toolCall("forget", map[string]any{"id": id})), "isError") != true {
		t.Error("another user's memory is forgotten")
	}
	// Both paths name the same user.
	a.mcp("/mcp/apps/my%20app/users/ann@x.com", toolCall("remember", map[string]any{"fact": "Ann collects coins."}))
	found := a.mcp("/mcp/apps/my%20app/users/ann%40x.com", toolCall("load_memory", map[string]any{"query": "coins"}))
	equal(t, "by another spelling", at(found, "structuredContent", "memories", 0, "content", "parts"),
		`[{"text":"Ann collects coins."}]`)
	for _, path := range []string{"/mcp/apps/app/users/a%2Fb", "/mcp/apps/../users/ann", "/mcp/apps/app/users/%2E%2E",
		"/mcp/apps/app/users/" + strings.Repeat("x", memory.MaxID+1),
		mcpPath + "?userId=bob"} {
		if r := a.do("POST", path, initialize); r.status != http.StatusBadRequest && r.status != http.StatusNotFound {
			t.Errorf("%.60s: %d", path, r.status)
		}
	}
}

// TestMCPRequests checks that the checks of all routes hold here too: method,
// host, origin, size, and the line in the log.
func TestMCPRequests(t *testing.T) {
	var logs buffer
	a := start(t, logTo(&logs), func(s *setup) { s.server.MaxBody = 4096 })
	json := []string{"Content-Type", "application/json"}
	for _, method := range []string{"GET", "DELETE", "PUT", "HEAD"} {
		if r := a.do(method, mcpPath, nil); r.status != http.StatusMethodNotAllowed ||
			!strings.Contains(r.header.Get("Allow"), "POST") {
			t.Errorf("%s: %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
	for name, c := range map[string]struct {
		status  int
		body    any
		headers []string
	}{
		"another host":   {403, initialize, append([]string{"Host", "example.com"}, json...)},
		"another site":   {403, initialize, append([]string{"Sec-Fetch-Site", "cross-site"}, json...)},
		"too large":      {413, strings.Repeat(" ", 5000), json},
		"another type":   {200, initialize, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"nothing":        {400, "", json},
		"no JSON":        {400, `{"jsonrpc":`, json},
		"a batch":        {400, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, json},
		"deep":           {400, nested(2000), json},
		"no method":      {400, `{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, json},
		"another RPC":    {400, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, json},
		"old version":    {400, initialize, append([]string{"Mcp-Protocol-Version", "2000-01-01"}, json...)},
		"a notification": {202, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, json},
		"JSON alone":     {200, initialize, append([]string{"Accept", "application/json"}, json...)},
		"any type":       {200, initialize, append([]string{"Accept", "*/*"}, json...)},
	} {
		if r := a.do("POST", mcpPath, c.body, c.headers...); r.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, r.status, r.raw, c.status)
		}
	}
	if r := a.do("POST", mcpPath, initialize, json...); r.header.Get("Content-Type") != "application/json" ||
		r.header.Get("X-Request-Id") == "" {
		t.Errorf("headers %v", r.header)
	}
	if !strings.Contains(logs.String(), "path="+mcpPath+" status=413") {
		t.Errorf("the log has no line of a request:\n%s", logs.String())
	}
}

// TestMCPUnavailable checks that a client learns that a store is unavailable, but
// not its address, which only the log has.
func TestMCPUnavailable(t *testing.T) {
	f := &failing{}
	var logs buffer
	a := start(t, logTo(&logs), func(s *setup) { s.memories = f.wrap })
	f.fail(fmt.Errorf("%w: qdrant at secret:6334", memory.ErrUnavailable))
	json := []string{"Content-Type", "application/json"}
	for method, params := range map[string]any{"resources/list": map[string]any{},
		"resources/read": map[string]any{"uri": "memoryd://memories/x"},
		"tools/call":     map[string]any{"name": "search_memory", "arguments": map[string]any{"query": "x"}}} {
		r := a.do("POST", mcpPath, rpc(method, params), json...)
		if r.status != http.StatusOK || bytes.Contains(r.raw, []byte("secret")) ||
			!bytes.Contains(r.raw, []byte("later")) {
			t.Errorf("%s: %d %s", method, r.status, r.raw)
		}
	}
	// Package tools warns of the failed call; the lines of the two other requests
	// are errors.
	if got := logs.String(); strings.Count(got, "secret:6334") != 3 || strings.Count(got, "level=ERROR") != 2 {
		t.Errorf("the log does not have the reason once for each request:\n%s", got)
	}
}

// TestMCPPanic checks that a panic in a store becomes an internal error, and that
// the server goes on.
func TestMCPPanic(t *testing.T) {
	a := start(t, func(s *setup) {
		s.memories = func(m memory.Store) memory.Store { return panicking{m} }
	})
	r := a.do("POST", mcpPath, rpc("resources/list", map[string]any{}))
	if r.status != http.StatusOK || !bytes.Contains(r.raw, []byte("-32603")) {
		t.Errorf("%d %s", r.status, r.raw)
	}
	a.mcp(mcpPath, initialize)
}

type panicking struct{ memory.Store }

func (panicking) List(context.Context, memory.Scope, memory.List) (memory.Page, error) {
	panic("on purpose")
}

// TestMCPAnyHost checks that AnyHost holds for MCP: the library's own check of the
// host is off.
func TestMCPAnyHost(t *testing.T) {
	a := start(t, func(s *setup) { s.server = server.Options{AnyHost: true} })
	a.mcp(mcpPath, initialize, "Host", "memory.example.com")
}
