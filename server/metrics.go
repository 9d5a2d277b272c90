package server

import (
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/memoryd/memoryd/tools"
)

// metrics are the metrics of one Server, in a registry of its own. No label
// holds text that a client sent: it could name a user, and the number of label
// values must stay small.
type metrics struct {
	serve    echo.HandlerFunc // answers GET /metrics
	calls    *prometheus.CounterVec
	preloads *prometheus.CounterVec
	seconds  prometheus.Histogram // of preloads
}

func newMetrics(renewalsFailed func() int64) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memoryd_tool_calls_total",
			Help: "Calls of tools by tool and outcome.",
		}, []string{"tool", "outcome"}),
		preloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memoryd_preloads_total",
			Help: "Searches made before a model is called, by outcome: found, empty, late or failed.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "memoryd_preload_seconds",
			Help:    "Duration of preloads in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 12), // 1 ms to 2 s
		}),
	}
	leases := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "memoryd_lease_renewals_failed_total",
		Help: "Renewals of scope leases that failed or timed out.",
	}, func() float64 { return float64(renewalsFailed()) })
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.calls, m.preloads, m.seconds, leases,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// An outcome that has not happened yet shows as 0. Otherwise it would be
	// absent, and a rate over it undefined.
	for _, o := range []tools.Outcome{tools.Found, tools.Empty, tools.Late, tools.Failed} {
		m.preloads.WithLabelValues(string(o))
	}
	m.serve = echo.WrapHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return m
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
