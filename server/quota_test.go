package server_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
)

// TestQuotas checks that a request beyond a quota is refused by name before it is served,
// with the time of the next one, that others go on, and that it is counted.
func TestQuotas(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	limits := quota.Limits{UserRate: 0.02}
	a := start(t, func(s *setup) {
		s.server.Quotas = quota.New(limits, &quota.Options{Now: func() time.Time { return now }})
	})
	a.want(201, "POST", scope+"/memories", `{"fact": "The cat is called Tom."}`)
	for _, path := range []string{"/memories", "/memories/none", "/sessions", "/operations"} {
		message, err := checkError(a.do("GET", scope+path, nil))
		if err != nil || !strings.Contains(message, "-user-rate") || !strings.Contains(message, "0.02") {
			t.Errorf("%s: %q, %v", path, message, err)
		}
	}
	mcp := a.do("POST", "/mcp"+strings.TrimPrefix(scope, "/v1"), `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	same(t, "MCP", mcp.status, 429)
	same(t, "Retry-After", mcp.header.Get("Retry-After"), "50")
	a.want(200, "GET", scope+"2/memories", nil)
	for range 3 {
		a.want(200, "GET", "/readyz", nil)
		a.want(200, "GET", "/v1/tools", nil)
		a.do("GET", "/v1/apps/%2F/users/%2F/memories", nil)
	}
	has(t, a.scraped(), map[string]string{`memoryd_refusals_total{flag="user-rate"}`: "5",
		`memoryd_refusals_total{flag="app-rate"}`: "0"})
}

// TestQuotaInFlight checks that a request gives its place back when it ends, well or not,
// and that a stream takes none.
func TestQuotaInFlight(t *testing.T) {
	m := &failing{}
	a := start(t, func(s *setup) {
		s.memories = m.wrap
		s.server.Quotas = quota.New(quota.Limits{UserRequests: 1}, nil)
	})
	for range 3 {
		a.want(200, "GET", scope+"/memories", nil)
		a.want(404, "GET", scope+"/memories/none", nil)
		m.fail(memory.ErrUnavailable)
		a.refused(503, "GET", scope+"/memories", nil)
		m.fail(nil)
	}
}

// TestQuotaOfKey checks that each key has its own quota, whatever the user in the path,
// and that the owner has none.
func TestQuotaOfKey(t *testing.T) {
	srv := build(t, func() {}, func(s *setup) {
		s.server.Quotas = quota.New(quota.Limits{KeyRate: quota.MinRate}, nil)
	})
	get := func(p *access.Principal, path string) int {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r.WithContext(access.With(r.Context(), p)))
		return w.Code
	}
	for _, id := range []string{"key:a", "key:b", "jwt:a"} {
		p := &access.Principal{ID: id, App: "app", Can: access.Read}
		same(t, id+": the first", get(p, scope+"/memories"), 200)
		same(t, id+": of another user", get(p, scope+"2/memories"), 429)
		same(t, id+": without an app", get(p, "/v1/tools"), 429)
		same(t, id+": a scope that it may not use", get(p, "/v1/apps/other/users/ann/memories"), 403)
		same(t, id+": an open route", get(p, "/livez"), 200)
	}
	for range 3 {
		same(t, "the owner", get(access.Owner, scope+"/memories"), 200)
	}
}
