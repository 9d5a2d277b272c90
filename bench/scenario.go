package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is a measurement of one promise about load.
type scenario struct {
	name    string
	summary string
	// Defaults of Options, for those that the scenario uses.
	clients, users, size, state, events, batch int
	duration                                   time.Duration
	run                                        func(b *Bench, ctx context.Context) error
}

func scenarios() []scenario {
	return []scenario{
		{name: "streams", run: (*Bench).streams, clients: 500, events: 10_000, duration: 15 * time.Second,
			summary: "progress of an operation, resident size and another user's search while clients stream it"},
		{name: "absent", run: (*Bench).absent, clients: 16, users: 100_000,
			summary: "resident size while users without memories search, preload and read an unknown operation"},
		{name: "ceiling", run: (*Bench).ceiling, clients: 50, size: 360, state: 8,
			summary: "peak of the resident size while clients at once make each request about a large session"},
		{name: "findable", run: (*Bench).findable, clients: 100, events: 5000, batch: 20, users: 100,
			summary: "turns that a search right after their acknowledgement does not find"},
		{name: "flood", run: (*Bench).flood, clients: 280, users: 10, batch: 20, duration: 20 * time.Second,
			summary: "writes of others while one app writes as fast as it can"},
		{name: "search", run: (*Bench).searches, clients: 16, users: 10, events: 1000, batch: 20,
			duration: 10 * time.Second,
			summary:  "ingestion of scopes of some events each, and searches in them, cold and warm"},
	}
}

// Scenarios are the names of the scenarios, each with what it measures.
func Scenarios() (out []string) {
	for _, s := range scenarios() {
		out = append(out, s.name+": "+s.summary)
	}
	return out
}

var errScenario = errors.New("no such scenario")

// Scenario runs a scenario by its name. Options of 0 have its defaults. The error
// is one of the measurement itself.
func (b *Bench) Scenario(ctx context.Context, name string) (*Report, error) {
	all := scenarios()
	i := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
	if i < 0 {
		var names []string
		for _, s := range all {
			names = append(names, s.name)
		}
		return nil, fmt.Errorf("%w: %q: want one of %s", errScenario, name, strings.Join(names, ", "))
	}
	s := all[i]
	o := &b.opts
	for _, x := range []struct {
		option *int
		value  int
	}{{&o.Clients, s.clients}, {&o.Users, s.users}, {&o.Size, s.size}, {&o.State, s.state},
		{&o.Events, s.events}, {&o.Batch, s.batch}} {
		if *x.option <= 0 {
			*x.option = x.value
		}
	}
	if o.Duration <= 0 {
		o.Duration = s.duration
	}
	o.setDefaults()
	b.report.Scenario, b.report.Users = name, o.Users
	begin := time.Now()
	err := s.run(b, ctx)
	b.report.Seconds = time.Since(begin).Seconds()
	b.finish()
	return b.report, err
}

// stage tells that a stage of a scenario begins.
func (b *Bench) stage(name string) { b.opts.Progress(Step{Stage: name, Note: b.sampler.note()}) }

// ratio is a/b, 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// median is the middle of some values, between the two in the middle if they are even
// in number. It sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[n/2] + values[(n-1)/2]) / 2
}
