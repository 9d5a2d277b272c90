package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/sessionstore"
)

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

	scopes, oldest, triggers *prometheus.Desc
}

func newBacklog(operations sessionstore.Operations, log *slog.Logger) *backlog {
	return &backlog{operations: operations, log: log,
		scopes: prometheus.NewDesc("memoryd_backlog_scopes",
			"Users, in an app each, whose sessions have events that memories are still to be made of.", nil, nil),
		oldest: prometheus.NewDesc("memoryd_backlog_oldest_seconds",
			"Age of the oldest work, since its request or its last batch; 0 without work.", nil, nil),
		triggers: prometheus.NewDesc("memoryd_waiting_sessions",
			"Sessions with events that memories are made of once a trigger fires.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	out <- b.scopes
	out <- b.oldest
	out <- b.triggers
}

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
	out <- prometheus.MustNewConstMetric(b.triggers, prometheus.GaugeValue, float64(last.Triggers))
	out <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds())
}

// read returns the present backlog.
func (b *backlog) read() (sessionstore.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil && time.Since(b.at) < backlogRest {
		return b.last, b.err
	}
	ctx, cancel := context.WithTimeout(access.With(context.Background(), access.System), backlogTime)
	defer cancel()
	b.last, b.err = b.operations.Backlog(ctx)
	b.at = time.Now()
	if b.err != nil {
		b.log.Warn("the backlog is missing in the metrics", "err", b.err)
	}
	return b.last, b.err
}
