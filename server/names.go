package server

import (
	"regexp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sourcegraph/conc"
)

// Metrics returns all metrics of GET /metrics that are memoryd's own, by name, with
// the names of their labels, sorted. Some are missing from an answer: those of
// stores that are not in use, and those with a label that nothing has counted for
// yet. A histogram has its name here without _bucket, _sum and _count.
func Metrics() map[string][]string {
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
	// The library tells the parts of a description only as text.
	parts := regexp.MustCompile(`^Desc\{fqName: "(\w+)".*, constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	label := regexp.MustCompile(`(\w+)(?:="[^"]*")?(?:,|$)`)
	out := map[string][]string{}
	for d := range descs {
		found := parts.FindStringSubmatch(d.String())
		var labels []string
		for _, text := range found[2:] {
			for _, l := range label.FindAllStringSubmatch(text, -1) {
				labels = append(labels, l[1])
			}
		}
		slices.Sort(labels)
		out[found[1]] = labels
	}
	return out
}
