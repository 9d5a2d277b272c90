package server

import (
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/memoryd/memoryd/tools"
)

// metrics are what /metrics tells, of this server alone. No label has what a
// client sent: whose memory it is is nobody's business there, and labels must be
// few.
type metrics struct {
	serve    echo.HandlerFunc
	calls    *prometheus.CounterVec
	preloads *prometheus.CounterVec
	took     prometheus.Histogram
}

func newMetrics(renewalsFailed func() int64) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "memoryd_tool_calls_total",
			Help: "Calls of tools, by what came of them."}, []string{"tool", "outcome"}),
		preloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "memoryd_preloads_total",
			Help: "Searches before a model is called, by what came of them: found, empty, late or failed."}, []string{"outcome"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "memoryd_preload_seconds",
			Help: "How long preloads took.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 12)}), // 1 ms to 2 s
	}
	leases := prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "memoryd_lease_renewals_failed_total",
		Help: "Renewals of leases on scopes that failed or hung."}, func() float64 { return float64(renewalsFailed()) })
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.calls, m.preloads, m.took, leases, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, o := range []tools.Outcome{tools.Found, tools.Empty, tools.Late, tools.Failed} {
		m.preloads.WithLabelValues(string(o)) // so that nothing counted is 0, not absent
	}
	m.serve = echo.WrapHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return m
}

func (m *metrics) called(tool string, outcome tools.Outcome) {
	m.calls.WithLabelValues(tool, string(outcome)).Inc()
}

func (m *metrics) preloaded(outcome tools.Outcome, took time.Duration) {
	m.preloads.WithLabelValues(string(outcome)).Inc()
	m.took.Observe(took.Seconds())
}
