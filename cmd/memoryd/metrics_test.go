package main

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/server"
)

// scraped returns an answer of /metrics.
func (p *process) scraped(t *testing.T) string {
	t.Helper()
	res, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	return string(raw)
}

// embeddedOnly are the metrics of the embedded file.
var embeddedOnly = regexp.MustCompile(`^memoryd_(writes?|write|rows|files)_`)

// lacking returns the lines that are not in what /metrics tells after one operation.
func lacking(told string) []string {
	lines := strings.Split(told, "\n")
	return slices.DeleteFunc([]string{`memoryd_operations_total{state="SUCCEEDED"} 1`, `memoryd_ready{check="sessions"} 1`,
		`memoryd_store_failures_total{store="sessions"} 0`, `memoryd_store_failures_total{store="memories"} 0`,
		`memoryd_batches_total{outcome="done"} 1`, `memoryd_refusals_total{flag="queue-time"} 0`, `memoryd_events_total 1`,
		`memoryd_backlog_scopes 0`, `memoryd_watchers_limit 1`},
		func(line string) bool { return slices.Contains(lines, line) })
}

// Every metric that the server knows has a part that fills it, as soon as each kind
// of request was made. The metrics of the embedded file are missing without one.
func TestEveryMetricIsFilled(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"embedded": nil,
		"servers":  {"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, t.TempDir(), append(args, "-max-watchers", "1")...)
			user := p.url + "/v1/apps/a/users/ann"
			var op struct{ ID string }
			said := map[string]any{"sessionId": "s", "events": []any{map[string]any{"content": "I love figs.", "author": "user"}}}
			for _, c := range []struct {
				url  string
				body any
			}{
				{user + "/memories/ingest?wait=true", said},
				{user + "/memories/search", map[string]any{"query": "figs"}},
				{user + "/tools/preload_memory", map[string]any{"args": map[string]any{"query": "figs"}}},
			} {
				if code, err := call("POST", c.url, c.body, &op); err != nil || code != 200 {
					t.Fatal(c.url, code, err)
				}
			}
			// An operation is counted behind the answer that it is done.
			var told string
			soon(func() bool {
				told = p.scraped(t)
				return len(lacking(told)) == 0
			})
			for metric := range server.Metrics() {
				there := strings.Contains(told, "\n# TYPE "+metric+" ")
				want := args == nil || !embeddedOnly.MatchString(metric)
				if there != want {
					t.Errorf("%s is there: %t, want %t", metric, there, want)
				}
			}
			for _, m := range regexp.MustCompile(`memoryd_refusals_total{flag="([^"]*)"}`).FindAllStringSubmatch(told, -1) {
				if serveFlags(&config{}).Lookup(m[1]) == nil {
					t.Errorf("%s names no flag", m[0])
				}
			}
			for _, line := range lacking(told) {
				t.Errorf("lacks %s", line)
			}
		})
	}
}
