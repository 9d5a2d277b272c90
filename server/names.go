package server

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sourcegraph/conc"
)

// MetricNames returns the names of all metrics of GET /metrics that are memoryd's
// own, sorted. Some are missing from an answer: those of stores that are not in use,
// and those with a label that nothing has counted for yet. A histogram has its name
// here without _bucket, _sum and _count.
func MetricNames() []string {
	m := newMetrics("")
	descs := make(chan *prometheus.Desc)
	var describing conc.WaitGroup
	defer describing.Wait()
	describing.Go(func() {
		defer close(descs)
		for _, c := range append(m.own(), newFigures(nil), newBacklog(nil, nil)) {
			c.Describe(descs)
		}
	})
	var out []string
	for d := range descs {
		_, rest, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		out = append(out, name)
	}
	return slices.Sorted(slices.Values(out))
}
