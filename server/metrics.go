package server

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
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
	build    prometheus.Gauge
}

// own are the collectors of memoryd's own metrics that metrics counts itself.
func (m *metrics) own() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.running, m.latency, m.refusals, m.calls, m.preloads, m.seconds, m.build}
}

// refusingFlags are the flags whose limits refuse requests with a memory.Refusal.
func refusingFlags() []string {
	return append(quota.Flags(), "max-answers", "max-bodies", "max-watchers", "queue-time", "requests")
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
	m.build = prometheus.NewGauge(prometheus.GaugeOpts{Name: "memoryd_build_info",
		Help:        "1, with the version of memoryd and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}})
	m.build.Set(1)
	m.registry.MustRegister(m.own()...)
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// An outcome and a refusal that have not happened yet show as 0. Otherwise they
	// would be absent, and a rate would miss the first one.
	for _, o := range []tools.Outcome{tools.Found, tools.Empty, tools.Late, tools.Failed} {
		m.preloads.WithLabelValues(string(o))
	}
	for _, flag := range refusingFlags() {
		m.refusals.WithLabelValues(flag)
	}
	m.serve = echo.WrapHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return m
}

// ownFigures are the figures of the server itself and of ingestion.
func (s *Server) ownFigures() Figures {
	watch, batches, places := s.ingest.WatchStats, s.ingest.BatchStats, s.places.Stats
	return Figures{
		"ready":                              s.checked,
		"batches_running":                    func() map[string]float64 { return One(batches().Running) },
		"batches_total":                      func() map[string]float64 { return byLabel(batches().Ended) },
		"batch_seconds_total":                func() map[string]float64 { return One(batches().Busy.Seconds()) },
		"events_total":                       func() map[string]float64 { return One(batches().Events) },
		"redacted_total":                     s.ingest.Redactor().Counts,
		"findable_late_total":                func() map[string]float64 { return One(s.ingest.FindableLate()) },
		"lease_renewals_failed_total":        func() map[string]float64 { return One(s.ingest.RenewalsFailed()) },
		"watchers":                           func() map[string]float64 { return One(watch().Watchers) },
		"watchers_limit":                     func() map[string]float64 { return One(watch().Limit) },
		"watched_operations":                 func() map[string]float64 { return One(watch().Operations) },
		"watchers_refused_total":             func() map[string]float64 { return One(watch().Refused) },
		"turns_waiting":                      s.turns(func(t fair.Stats) float64 { return float64(t.Waiting) }),
		"turns_running":                      s.turns(func(t fair.Stats) float64 { return float64(t.Running) }),
		"turns_total":                        s.turns(func(t fair.Stats) float64 { return float64(t.Turns) }),
		"turns_waited_seconds_total":         s.turns(func(t fair.Stats) float64 { return t.Waited.Seconds() }),
		"turns_refused_total":                s.turns(func(t fair.Stats) float64 { return float64(t.Refused) }),
		"requests_in_progress":               func() map[string]float64 { return One(places().Used) },
		"requests_in_progress_limit":         func() map[string]float64 { return One(places().Total) },
		"requests_in_progress_refused_total": func() map[string]float64 { return One(places().Refused) },
		"bytes_in_flight":                    s.pools(func(p inflight.Stats) int64 { return p.Used }),
		"bytes_in_flight_limit":              s.pools(func(p inflight.Stats) int64 { return p.Size }),
		"bytes_in_flight_waiting":            s.pools(func(p inflight.Stats) int64 { return int64(p.Waiting) }),
		"bytes_in_flight_refused_total":      s.pools(func(p inflight.Stats) int64 { return p.Refused }),
	}
}

// checked reads the checks of /readyz, as 1 for one that succeeds. It makes them, so
// that an alert does not depend on who else asks.
func (s *Server) checked() map[string]float64 {
	failed := s.check(context.Background())
	out := map[string]float64{}
	for name := range s.opts.Checks {
		if out[name] = 1; failed[name] != nil {
			out[name] = 0
		}
	}
	return out
}

// byLabel returns the values of a metric with a label.
func byLabel[K ~string](values map[K]int64) map[string]float64 {
	out := map[string]float64{}
	for label, v := range values {
		out[string(label)] = float64(v)
	}
	return out
}

// pools reads one figure of each pool of bytes.
func (s *Server) pools(read func(inflight.Stats) int64) func() map[string]float64 {
	return func() map[string]float64 {
		return byLabel(map[string]int64{"bodies": read(s.bodies.Stats()), "small_bodies": read(s.smallOnes.Stats()),
			"answers": read(s.answers.Stats())})
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
	if !isStream(c) && c.QueryParam("wait") != "true" {
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
