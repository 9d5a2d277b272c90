package server

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/memoryd/memoryd/sessionstore"
)

// Measure is a figure that another part of memoryd keeps, for GET /metrics.
type Measure struct {
	// Name follows "memoryd_" in the name of the metric. It ends in "_total" if the
	// figure only grows, and otherwise in its unit.
	Name string
	Help string // a sentence
	// Label is the name of the metric's label; "" if it has none.
	Label string
	// Read returns the present values, by the value of the label, or by "" without
	// one. Those are a few words of the program's own: never text of a client. Read
	// must not block.
	Read func() map[string]float64
}

// One is the result of Read for a Measure without a label.
func One[T int | int64 | float64](v T) map[string]float64 { return map[string]float64{"": float64(v)} }

// kind is a counter or a gauge.
func (m Measure) kind() prometheus.ValueType {
	if strings.HasSuffix(m.Name, "_total") {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// measured collects Measures.
type measured struct {
	all   []Measure
	descs []*prometheus.Desc
}

func newMeasured(all []Measure) *measured {
	out := &measured{all: all}
	for _, m := range all {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		out.descs = append(out.descs, prometheus.NewDesc("memoryd_"+m.Name, m.Help, labels, nil))
	}
	return out
}

// Describe implements prometheus.Collector.
func (m *measured) Describe(out chan<- *prometheus.Desc) {
	for _, d := range m.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *measured) Collect(out chan<- prometheus.Metric) {
	for i, one := range m.all {
		values := one.Read()
		for _, label := range slices.Sorted(maps.Keys(values)) {
			var labels []string
			if one.Label != "" {
				labels = []string{label}
			}
			out <- prometheus.MustNewConstMetric(m.descs[i], one.kind(), values[label], labels...)
		}
	}
}

const (
	backlogTime = time.Second // of one read of the backlog
	backlogRest = time.Second // after one that failed, in which scrapes do not read again
)

// backlog collects how much work waits. It has no figures while the session store
// cannot tell.
type backlog struct {
	operations sessionstore.Operations
	log        *slog.Logger

	mu   sync.Mutex // held during a read, so that there is one at a time
	last sessionstore.Backlog
	err  error
	at   time.Time // when the last read ended

	scopes, oldest *prometheus.Desc
}

func newBacklog(operations sessionstore.Operations, log *slog.Logger) *backlog {
	return &backlog{operations: operations, log: log,
		scopes: prometheus.NewDesc("memoryd_backlog_scopes",
			"Users, in an app each, whose sessions have events that memories are still to be made of.", nil, nil),
		oldest: prometheus.NewDesc("memoryd_backlog_oldest_seconds",
			"Age of the oldest work, since its request or its last batch; 0 without work.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(out chan<- *prometheus.Desc) { out <- b.scopes; out <- b.oldest }

// Collect implements prometheus.Collector.
func (b *backlog) Collect(out chan<- prometheus.Metric) {
	last, err := b.read()
	if err != nil {
		return
	}
	age := time.Duration(0)
	if !last.Oldest.IsZero() {
		age = max(0, time.Since(last.Oldest)) // the clock of a store may be ahead
	}
	out <- prometheus.MustNewConstMetric(b.scopes, prometheus.GaugeValue, float64(last.Scopes))
	out <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds())
}

// read returns the present backlog.
func (b *backlog) read() (sessionstore.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil && time.Since(b.at) < backlogRest {
		return b.last, b.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	b.last, b.err = b.operations.Backlog(ctx)
	b.at = time.Now()
	if b.err != nil {
		b.log.Warn("the backlog is missing in the metrics", "err", b.err)
	}
	return b.last, b.err
}
