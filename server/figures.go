package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures are what other parts of memoryd count, by the name of the metric without
// "memoryd_". Each function returns the present values by the value of the metric's
// label, or by "" if it has none. It takes seconds at most. A name that the table of metrics
// lacks is ignored, and a metric without a function is left out.
type Figures map[string]func() map[string]float64

// One returns the value of a metric without a label.
func One[T int | int64 | float64](v T) map[string]float64 { return map[string]float64{"": float64(v)} }

// figure is a row of the table of metrics that Figures fill.
type figure struct {
	name  string // of a counter if it ends in "_total", else of a gauge
	label string // "" for none; its values are words of the program alone
	help  string
}

// figureTable is the table of metrics that Figures fill.
func figureTable() []figure {
	return []figure{
		{"ready", "check", "1 for each check of /readyz that succeeds, 0 for one that fails."},
		{"batches_running", "", "Batches of events that this process makes memories of now."},
		{"batches_total", "outcome",
			"Batches that have ended: done, failed (to be tried again), given_up, lease_lost or stopped."},
		{"batch_seconds_total", "", "Time that batches took, all together."},
		{"events_total", "", "Events that this process has made memories of."},
		{"operations_total", "state",
			"Operations that this process has brought into a state; PENDING counts new ones."},
		{"findable_late_total", "", "Requests answered before their turns could be found."},
		{"redacted_total", "kind",
			"Secrets that were replaced in what came in, as the configurations of apps ask for."},
		{"lease_renewals_failed_total", "", "Renewals of scope leases that failed or timed out."},
		{"watchers", "", "Streams of operations, and requests that wait for one."},
		{"watchers_limit", "", "How many there may be: -max-watchers."},
		{"watched_operations", "", "Operations that have watchers."},
		{"watchers_refused_total", "", "Watchers beyond -max-watchers."},

		{"bytes_in_flight", "of", "Bytes that requests hold: of bodies, small_bodies or answers."},
		{"bytes_in_flight_limit", "of", "How many they may hold."},
		{"bytes_in_flight_waiting", "of", "Requests that wait for room."},
		{"bytes_in_flight_refused_total", "of", "Requests that waited for room too long."},
		{"turns_waiting", "of", "What waits for a processor: requests or batches."},
		{"turns_running", "of", "What computes."},
		{"turns_total", "of", "Turns to compute: a request has one, and one more after each wait."},
		{"turns_waited_seconds_total", "of", "Time that turns to compute were waited for, all together."},
		{"turns_refused_total", "of", "Requests refused as they would have waited longer than -queue-time."},
		{"requests_in_progress", "", "Requests that take one of the places of -requests."},
		{"requests_in_progress_limit", "", "How many places there are."},
		{"requests_in_progress_refused_total", "", "Requests refused as their app has too many of the places."},

		{"store_failures_total", "store",
			"Calls of a store that failed as it could not serve: sessions or memories."},
		{"writes_waiting", "", "Writes that wait for the embedded file."},
		{"writes_total", "", "Writes to the embedded file."},
		{"write_wait_seconds_total", "", "Time that writes have waited for their turn, all together."},
		{"write_commits_total", "", "Commits of the embedded file, each of a group of writes."},
		{"write_slowest_seconds", "", "The longest that a group of writes and its commit took since the start."},
		{"rows_unreadable", "", "Rows of the embedded file met since the start that cannot be read."},
		{"files_damaged", "", "Embedded files that are known to be damaged."},
		{"cache_bytes", "", "Bytes of the indexes of users that searches keep in memory."},
		{"cache_limit_bytes", "", "What -cache-bytes allows them."},
		{"cache_scopes", "", "Users whose index is kept."},
		{"cache_hits_total", "", "Searches that found the index of their user."},
		{"cache_misses_total", "", "Searches that found none ready."},
		{"cache_loads_total", "", "Readings of an index from the file."},
	}
}

// figuresOf collects the figures of the table.
type figuresOf struct {
	rows  []figure
	descs []*prometheus.Desc
	read  Figures
}

func newFigures(read Figures) *figuresOf {
	out := &figuresOf{rows: figureTable(), read: read}
	for _, f := range out.rows {
		var labels []string
		if f.label != "" {
			labels = []string{f.label}
		}
		out.descs = append(out.descs, prometheus.NewDesc("memoryd_"+f.name, f.help, labels, nil))
	}
	return out
}

// Describe implements prometheus.Collector.
func (f *figuresOf) Describe(out chan<- *prometheus.Desc) {
	for _, d := range f.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (f *figuresOf) Collect(out chan<- prometheus.Metric) {
	for i, row := range f.rows {
		read := f.read[row.name]
		if read == nil {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(row.name, "_total") {
			kind = prometheus.CounterValue
		}
		values := read()
		for _, label := range slices.Sorted(maps.Keys(values)) {
			var labels []string
			if row.label != "" {
				labels = []string{label}
			}
			out <- prometheus.MustNewConstMetric(f.descs[i], kind, values[label], labels...)
		}
	}
}
