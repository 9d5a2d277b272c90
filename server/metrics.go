package server

import (
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/tools"
)

// metrics are the metrics of one Server, in a registry of its own. No label
// holds text that a client sent: it could name a user, and the number of label
// values must stay small.
type metrics struct {
	serve    echo.HandlerFunc // answers GET /metrics
	registry *prometheus.Registry
	routes   map[string]bool // the patterns of routes, as labels have them

	requests *prometheus.CounterVec
	running  prometheus.Gauge
	latency  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	calls    *prometheus.CounterVec
	preloads *prometheus.CounterVec
	seconds  prometheus.Histogram // of preloads
}

// requestSeconds are the buckets of requests: from a search of a small memory to
// the longest time of a request.
func requestSeconds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
}

func newMetrics(version string) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "memoryd_" + name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		routes:   map[string]bool{},
		requests: counter("requests_total", "Requests answered, by route and status.", "method", "route", "code"),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "memoryd_requests_running",
			Help: "Requests in progress.",
		}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "memoryd_request_seconds",
			Help:    "Duration of requests in seconds, except streams and those that wait for an operation.",
			Buckets: requestSeconds(),
		}, []string{"method", "route"}),
		refusals: counter("refusals_total", "Requests answered 429 by a limit of memoryd, by its flag.", "flag"),
		calls:    counter("tool_calls_total", "Calls of tools by tool and outcome.", "tool", "outcome"),
		preloads: counter("preloads_total",
			"Searches made before a model is called, by outcome: found, empty, late or failed.", "outcome"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "memoryd_preload_seconds",
			Help:    "Duration of preloads in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 12), // 1 ms to 2 s
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "memoryd_build_info",
		Help:        "1, with the version of memoryd and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.running, m.latency, m.refusals, m.calls, m.preloads, m.seconds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// An outcome that has not happened yet shows as 0. Otherwise it would be
	// absent, and a rate over it undefined.
	for _, o := range []tools.Outcome{tools.Found, tools.Empty, tools.Late, tools.Failed} {
		m.preloads.WithLabelValues(string(o))
	}
	m.serve = echo.WrapHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return m
}

// ingestMeasures are the figures of ingestion.
func ingestMeasures(s *ingest.Service) []Measure {
	return []Measure{
		{Name: "lease_renewals_failed_total", Help: "Renewals of scope leases that failed or timed out.",
			Read: func() map[string]float64 { return One(s.RenewalsFailed()) }},
		{Name: "watchers", Help: "Streams of operations, and requests that wait for one.",
			Read: func() map[string]float64 { return One(s.WatchStats().Watchers) }},
		{Name: "watched_operations", Help: "Operations that have watchers.",
			Read: func() map[string]float64 { return One(s.WatchStats().Operations) }},
		{Name: "watchers_refused_total", Help: "Watchers beyond -max-watchers.",
			Read: func() map[string]float64 { return One(s.WatchStats().Refused) }},
	}
}

// noRoute is the label of requests that no route takes.
const noRoute = "none"

// addRoutes makes the patterns of routes known as labels.
func (m *metrics) addRoutes(routes []*echo.Route) {
	for _, r := range routes {
		m.routes[r.Path] = true
	}
}

// answered counts and times a request that was answered.
func (m *metrics) answered(c echo.Context, status int, took time.Duration, err error) {
	method, route := c.Request().Method, c.Path()
	if !m.routes[route] || status == http.StatusMethodNotAllowed {
		method, route = noRoute, noRoute // both are a client's own text
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	if !wantsStream(c.Request()) && c.QueryParam("wait") != "true" {
		m.latency.WithLabelValues(method, route).Observe(took.Seconds())
	}
	if refusal := (*memory.Refusal)(nil); errors.As(err, &refusal) {
		m.refusals.WithLabelValues(refusal.Flag()).Inc()
	}
}

// called counts a call of a tool; see tools.Options.Called.
func (m *metrics) called(tool string, outcome tools.Outcome) {
	m.calls.WithLabelValues(tool, string(outcome)).Inc()
}

// preloaded counts and times a preload; see tools.Options.Preloaded.
func (m *metrics) preloaded(outcome tools.Outcome, took time.Duration) {
	m.preloads.WithLabelValues(string(outcome)).Inc()
	m.seconds.Observe(took.Seconds())
}
