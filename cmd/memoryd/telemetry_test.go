package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/memoryd/memoryd/internal/otlptest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
)

// traced sends a request within the caller's trace.
func traced(t *testing.T, url, body string) {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode >= 300 {
		t.Fatal(url, res.Status)
	}
}

// quicker sends spans soon.
const quicker = "OTEL_BSP_SCHEDULE_DELAY=100" // milliseconds

// One trace leads from the POST to the stored memory, where one process takes the
// request and another one makes the memories. It shows no text and no name of a user.
func TestOneTraceOverProcesses(t *testing.T) {
	t.Parallel()
	c := otlptest.Start(t)
	called, release := make(chan struct{}, 100), make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		called <- struct{}{}
		<-release
		http.Error(w, `{"error": {"message": "no"}}`, http.StatusBadRequest)
	}))
	t.Cleanup(model.Close)
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	stores := []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t),
		"-otlp-endpoint", c.URL, "-log-format", "json"}
	taker := startWith(t, []string{"OPENAI_BASE_URL=" + model.URL}, t.TempDir(),
		append(stores, "-extractor", "openai:hanging-model", "-workers", "1")...)
	maker := startWith(t, []string{quicker}, t.TempDir(), stores...)
	const body = `{"sessionId": "chat-77aa", "events": [{"author": "user", "content": "I adore marzipan from Luebeck."}]}`
	// The only worker of the taker waits for its model from the first batch on that the
	// maker does not take before it.
	busy := false
	for user := 0; !busy && user < 1000; user++ {
		url := fmt.Sprintf("%s/v1/apps/shop/users/u-5e1f-%d/memories/ingest", taker.url, user)
		if code, err := call("POST", url, json.RawMessage(body), nil); code != 202 || err != nil {
			t.Fatal(code, err)
		}
		select {
		case <-called:
			busy = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	if !busy {
		t.Fatal("the taker works on nothing")
	}
	const scope = "/v1/apps/shop/users/u-5e1f"
	traced(t, taker.url+scope+"/memories/ingest?wait=true", body)
	traced(t, maker.url+scope+"/memories/search", `{"query": "Which marzipan does she adore?"}`)
	end()
	for _, p := range []*process{taker, maker} {
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	checkTrace(t, c.Spans())
	checkTold(t, c.Spans())
	for _, words := range []string{"marzipan", "Luebeck", "adore", "u-5e1f", "chat-77aa"} {
		if strings.Contains(c.Raw(), words) {
			t.Errorf("the collector gets %q", words)
		}
	}
	if !strings.Contains(taker.logs.String(), `"trace_id":"`+callersTrace+`"`) {
		t.Errorf("the log does not name the trace:\n%s", taker.logs.String())
	}
	asked := c.Named(t, "chat hanging-model")
	if asked.Text("gen_ai.provider.name") != "openai" || asked.Text("error.type") != "invalid" {
		t.Errorf("the call of the model is %v", asked)
	}
}

// checkTrace fails the test unless the spans of the caller's trace are each within
// another one, from the caller's to the writes of memories, and of two processes.
func checkTrace(t *testing.T, all []otlptest.Span) {
	t.Helper()
	spans := map[string]otlptest.Span{} // by id
	for _, s := range all {
		if fmt.Sprintf("%x", s.TraceId) == callersTrace {
			spans[string(s.SpanId)] = s
		}
	}
	by := map[string]string{} // the process of each path
	for _, s := range spans {
		path, top := "", s
		for at, ok := s, true; ok; at, ok = spans[string(at.ParentSpanId)] {
			path, top = "/"+at.Name+path, at
		}
		if fmt.Sprintf("%x", top.ParentSpanId) != callersSpan {
			t.Errorf("%s has a parent that is not there", path)
		}
		by[path] = s.Resource["service.instance.id"].GetStringValue()
	}
	const post = "/POST /v1/apps/:app/users/:user/memories/ingest"
	const made = post + "/make memories"
	const search = "/POST /v1/apps/:app/users/:user/memories/search"
	took, makes := by[post], by[made]
	if took == "" || makes == "" || took == makes {
		t.Errorf("the process %q takes what %q makes", took, makes)
	}
	for path, process := range map[string]string{
		post + "/append": took, post + "/append/put": took, made + "/read events": makes, made + "/extract": makes,
		made + "/consolidate": makes, made + "/apply/put": makes, made + "/apply/embed": makes, made + "/finish": makes,
		search: makes, search + "/search/embed": makes, search + "/search/find": makes,
	} {
		if by[path] != process {
			t.Errorf("the process %q has %s, want %q", by[path], path, process)
		}
	}
	if t.Failed() {
		t.Logf("the spans are %v", slices.Sorted(maps.Keys(by)))
	}
}

// checkTold fails the test unless docs/telemetry.md names the spans and attributes.
func checkTold(t *testing.T, all []otlptest.Span) {
	t.Helper()
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	told := func(name string) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/telemetry.md does not tell of %s", name)
		}
	}
	for _, s := range all {
		switch name, more, _ := strings.Cut(s.Name, " "); {
		case s.Kind == trace.Span_SPAN_KIND_SERVER: // named by its route
		case s.Kind == trace.Span_SPAN_KIND_CLIENT && more != "":
			told(name + " MODEL")
		default:
			told(s.Name)
		}
		for name := range s.Attributes {
			told(name)
		}
		for name := range s.Resource {
			told(name)
		}
	}
}

// With -trace-content spans show what was said and asked.
func TestTraceContent(t *testing.T) {
	t.Parallel()
	c := otlptest.Start(t)
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("# of the collector\nAuthorization: Bearer hush-hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir(), "-otlp-endpoint", c.URL, "-trace-content", "-otlp-headers-file", headers, "-otlp-signals", "traces")
	const scope = "/v1/apps/shop/users/ann"
	traced(t, p.url+scope+"/memories/ingest?wait=true", `{"sessionId": "s", "events": [{"author": "user", "content": "I adore marzipan."}]}`)
	traced(t, p.url+scope+"/memories/search", `{"query": "Which sweets?"}`)
	p.terminate(t)
	for _, words := range []string{"I adore marzipan.", "Which sweets?"} {
		if !strings.Contains(c.Raw(), words) {
			t.Errorf("no span has %q", words)
		}
	}
	if len(c.Metrics()) != 0 {
		t.Error("metrics are sent, although -otlp-signals names traces alone")
	}
	if h := c.Headers(); len(h) == 0 || h[0].Get("Authorization") != "Bearer hush-hush" {
		t.Errorf("the headers are %v", h)
	}
	if strings.Contains(p.logs.String(), "hush-hush") {
		t.Errorf("the log shows a header:\n%s", p.logs.String())
	}
}

// The metrics that go by OTLP have the names, labels and values of /metrics.
func TestMetricsByOTLP(t *testing.T) {
	t.Parallel()
	c := otlptest.Start(t)
	p := start(t, t.TempDir(), "-otlp-endpoint", c.URL, "-trace-ratio", "0")
	for range 3 {
		if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "figs"}, nil); code != 200 || err != nil {
			t.Fatal(code, err)
		}
	}
	shown := p.scraped(t)
	p.terminate(t)
	got := c.Metrics()
	compared := 0
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (memoryd_\w+) (\w+)$`).FindAllStringSubmatch(shown, -1) {
		if got[m[1]] == nil {
			t.Errorf("no metric %s", m[1])
		}
		compared++
	}
	if compared < 30 {
		t.Errorf("%d metrics were compared", compared)
	}
	for line, want := range map[string]float64{
		`memoryd_requests_total{code="200",method="POST",route="/v1/apps/:app/users/:user/memories/search"}`: 3,
		`memoryd_requests_in_progress_limit`:        2048,
		`memoryd_refusals_total{flag="queue-time"}`: 0,
	} {
		value := strings.TrimPrefix(regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(line)+` \S+$`).FindString(shown), line+" ")
		if v, err := strconv.ParseFloat(value, 64); err != nil || v != want {
			t.Errorf("/metrics has %s %s", line, value)
		}
		if v, ok := point(got, line); !ok || v != want {
			t.Errorf("%s is sent as %v (%t), want %v", line, v, ok, want)
		}
	}
	seen := uint64(0)
	for _, p := range got["memoryd_request_seconds"].GetHistogram().GetDataPoints() {
		seen += p.Count
	}
	if seen != 4 { // with that of /metrics
		t.Errorf("the histogram has %d requests", seen)
	}
	if n := len(c.Spans()); n != 0 {
		t.Errorf("%d spans are sent of a share of 0", n)
	}
}

// point finds the value of a metric with labels, as /metrics writes them.
func point(all map[string]*metrics.Metric, line string) (float64, bool) {
	name, _, _ := strings.Cut(line, "{")
	points := all[name].GetSum().GetDataPoints()
	if points == nil {
		points = all[name].GetGauge().GetDataPoints()
	}
	for _, p := range points {
		matches := strings.Count(line, `="`) == len(p.Attributes)
		for _, a := range p.Attributes {
			matches = matches && strings.Contains(line, fmt.Sprintf("%s=%q", a.Key, a.Value.GetStringValue()))
		}
		if matches {
			return p.GetAsDouble(), true
		}
	}
	return 0, false
}

// The standard variables alone send nothing anywhere. Mistakes in flags are named, and
// no secret is shown.
func TestTelemetryFlags(t *testing.T) {
	t.Parallel()
	c := otlptest.Start(t)
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_TRACES_EXPORTER=otlp"}, t.TempDir())
	traced(t, p.url+"/v1/apps/a/users/u/memories/search", `{"query": "figs"}`)
	p.terminate(t)
	if len(c.Headers()) != 0 || strings.Contains(p.logs.String(), "trace_id") {
		t.Error("traces are on without -otlp-endpoint")
	}
	dir := t.TempDir()
	file := func(text string) string {
		path := filepath.Join(dir, strconv.Itoa(len(text)))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, bad := range []struct {
		want string
		code int
		args []string
	}{
		{"-otlp-endpoint: want http://HOST:PORT", 2, []string{"-otlp-endpoint", "localhost:4318"}},
		{"-otlp-endpoint: want http://HOST:PORT", 2, []string{"-otlp-endpoint", "grpc://localhost:4317"}},
		{"-otlp-headers-file", 2, []string{"-otlp-endpoint", "http://me:hush@localhost:4318"}},
		{"cannot be read as a URL", 2, []string{"-otlp-endpoint", "http://hush hush:%zz"}},
		{"-trace-ratio 2: want 0 to 1", 2, []string{"-trace-ratio", "2"}},
		{"-trace-ratio NaN: want 0 to 1", 2, []string{"-trace-ratio", "NaN"}},
		{"-otlp-signals \"logs\": want traces", 2, []string{"-otlp-signals", "logs"}},
		{"line 1: want NAME: VALUE", 1, []string{"-otlp-headers-file", file("hush")}},
		{"line 2: memoryd sets the header Content-Type itself", 1, []string{"-otlp-headers-file", file("\ncontent-type: hush")}},
		{"line 2: the header X-Key is there twice", 1, []string{"-otlp-headers-file", file("x-key: hush\nX-KEY: hush")}},
		{"more than 65536 bytes", 1, []string{"-otlp-headers-file", file(strings.Repeat("hush", 20_000))}},
		{"no such file", 1, []string{"-otlp-headers-file", filepath.Join(dir, "none")}},
	} {
		args := bad.args
		if args[0] != "-otlp-endpoint" {
			args = append(args, "-otlp-endpoint", c.URL)
		}
		cmd := command(append(args, "-listen", "127.0.0.1:0", "-data", filepath.Join(dir, "data"))...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != bad.code || !strings.Contains(string(out), bad.want) || strings.Contains(string(out), "hush") {
			t.Errorf("memoryd %.100v: exit code %d, says\n%s\nwant %q", args, code, out, bad.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Error("a start that was refused leaves data behind")
	}
}

// A memoryd whose collector hangs serves, makes memories and stops.
func TestCollectorHangs(t *testing.T) {
	t.Parallel()
	c := otlptest.Start(t)
	c.Answer(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(5 * time.Minute):
		case <-r.Context().Done():
		}
	})
	p := startWith(t, []string{quicker}, t.TempDir(), "-otlp-endpoint", c.URL)
	for range 20 {
		traced(t, p.url+"/v1/apps/a/users/u/memories/ingest?wait=true", `{"sessionId": "s", "events": [{"author": "user", "content": "I like figs."}]}`)
	}
	began := time.Now()
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the stop takes %v", took)
	}
	if n := strings.Count(p.logs.String(), "level=WARN"); n > 4 {
		t.Errorf("%d warnings:\n%s", n, p.logs.String())
	}
}
