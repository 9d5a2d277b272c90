package server_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
)

// scraped is an answer of /metrics by series, as "name{labels}".
func (a *api) scraped() map[string]string {
	a.t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(a.do("GET", "/metrics", nil).raw)) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			out[line[:i]] = strings.TrimSpace(line[i+1:])
		}
	}
	return out
}

// has checks the values of series.
func has(t *testing.T, got map[string]string, want map[string]string) {
	t.Helper()
	for series, v := range want {
		if got[series] != v {
			t.Errorf("%s is %q, want %q", series, got[series], v)
		}
	}
}

// TestRequestMetrics checks that requests are counted by the patterns of their
// routes, and that no path, method, id or header of a client becomes a label.
func TestRequestMetrics(t *testing.T) {
	m := &failing{}
	a := start(t, func(s *setup) { s.memories = m.wrap; s.server.Version = "v1.2.3" })
	for i := range 20 {
		user := fmt.Sprintf("/v1/apps/app%d/users/secretuser%d", i, i)
		a.want(200, "GET", user+"/memories", nil)
		a.want(404, "GET", user+"/memories/secret", nil)
		a.do("GET", fmt.Sprintf("/secret%d", i), nil)
		a.do("PUT", user+"/memories", nil)
		a.do("SECRET", user+"/memories", nil)
		a.do("GET", user+"/memories?secret=1", nil)
		a.do("GET", user+"/sessions", nil, "Host", "secret.example")
	}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	m.fail(memory.Refuse(time.Second, "10.0.0.1: -secret- %s: -max-things sets how many", "-secret"))
	a.do("GET", scope+"/memories", nil)
	m.fail(nil)
	got := a.scraped()
	has(t, got, map[string]string{
		`memoryd_requests_total{code="200",method="GET",route="/v1/apps/:app/users/:user/memories"}`:         "20",
		`memoryd_requests_total{code="400",method="GET",route="/v1/apps/:app/users/:user/memories"}`:         "20",
		`memoryd_requests_total{code="429",method="GET",route="/v1/apps/:app/users/:user/memories"}`:         "1",
		`memoryd_requests_total{code="404",method="GET",route="/v1/apps/:app/users/:user/memories/:memory"}`: "20",
		`memoryd_requests_total{code="403",method="GET",route="/v1/apps/:app/users/:user/sessions"}`:         "20",
		`memoryd_requests_total{code="404",method="none",route="none"}`:                                      "20",
		`memoryd_requests_total{code="405",method="none",route="none"}`:                                      "40",
		`memoryd_request_seconds_count{method="GET",route="/v1/apps/:app/users/:user/memories"}`:             "41",
		`memoryd_requests_total{code="200",method="POST",route="/v1/apps/:app/users/:user/memories/ingest"}`: "1",
		`memoryd_request_seconds_count{method="POST",route="/v1/apps/:app/users/:user/memories/ingest"}`:     "", // it waited
		`memoryd_requests_running`: "1", // this one
		`memoryd_backlog_scopes`:   "0", `memoryd_backlog_oldest_seconds`: "0",
		`memoryd_watchers`: "0", `memoryd_watched_operations`: "0", `memoryd_watchers_refused_total`: "0",
	})
	series := 0
	for s := range got {
		if strings.Contains(s, "secret") && !strings.HasPrefix(s, `memoryd_refusals_total{flag="secret-"}`) {
			t.Errorf("a client's text is a label: %s", s)
		}
		if strings.HasPrefix(s, "memoryd_build_info{") && !strings.Contains(s, `version="v1.2.3"`) {
			t.Errorf("the build is %s", s)
		}
		series++
	}
	for range 3 {
		a.scraped()
	}
	if n := len(a.scraped()); n > series+20 { // those of the route /metrics itself
		t.Errorf("from %d to %d series", series, n)
	}
}

// TestBacklogMetrics checks that work that waits shows, with its age, and watchers
// while they watch; and that the other figures stay while the store is unavailable.
func TestBacklogMetrics(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	a.watch(text(op, "id"), func() {
		got := a.scraped()
		has(t, got, map[string]string{`memoryd_backlog_scopes`: "1", `memoryd_watchers`: "1",
			`memoryd_watched_operations`: "1"})
		if age := got["memoryd_backlog_oldest_seconds"]; !regexp.MustCompile(`^[0-9.e-]+$`).MatchString(age) || age == "0" {
			t.Errorf("the age is %q", age)
		}
		close(g.open)
	})
	a.want(200, "POST", scope+"/sessions/talk/memories?wait=true", nil)
	has(t, a.scraped(), map[string]string{`memoryd_backlog_scopes`: "0", `memoryd_backlog_oldest_seconds`: "0"})
}

// TestFigures checks that /metrics has the figures of the stores, and no others.
func TestFigures(t *testing.T) {
	a := start(t, func(s *setup) {
		s.server.Figures = server.Figures{
			"cache_hits_total": func() map[string]float64 { return server.One(7) },
			"store_failures_total": func() map[string]float64 {
				return map[string]float64{"sessions": 1, "memories": 2.5}
			},
			"unknown_things": func() map[string]float64 { return server.One(1) },
		}
	})
	got := a.scraped()
	has(t, got, map[string]string{`memoryd_cache_hits_total`: "7", `memoryd_store_failures_total{store="sessions"}`: "1",
		`memoryd_store_failures_total{store="memories"}`: "2.5", "memoryd_unknown_things": "", "memoryd_cache_bytes": ""})
	raw := string(a.do("GET", "/metrics", nil).raw)
	for _, line := range []string{"# TYPE memoryd_cache_hits_total counter", "# TYPE memoryd_watchers gauge"} {
		if !slices.Contains(strings.Split(raw, "\n"), line) {
			t.Errorf("lacks %q", line)
		}
	}
}

// TestRefusalMetrics checks that refusals are counted by the flag of their limit.
func TestRefusalMetrics(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor, s.ingest = g, ingest.Options{MaxWatchers: 1} })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	a.watch(text(op, "id"), func() {
		for range 3 {
			a.do("GET", "/v1/operations/"+text(op, "id"), nil, "Accept", "text/event-stream")
		}
		has(t, a.scraped(), map[string]string{`memoryd_refusals_total{flag="max-watchers"}`: "3",
			`memoryd_watchers_refused_total`: "3",
			`memoryd_requests_total{code="429",method="GET",route="/v1/operations/:operation"}`: "3"})
		close(g.open)
	})
}
