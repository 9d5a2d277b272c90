package bench

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in microseconds, up to ten minutes, to three digits.
const (
	longest    = 10 * time.Minute
	precision  = 3
	maxExample = 5 // that a report names of each kind of fault
)

// records are the answers of a run, by kind of request.
type records struct {
	mu    sync.Mutex
	kinds map[string]*record
	find  Findable
}

// record is the answers to one kind of request.
type record struct {
	latency *hdrhistogram.Histogram
	kind    Kind
}

func newRecords() *records { return &records{kinds: map[string]*record{}} }

func (r *records) of(kind string) *record {
	k := r.kinds[kind]
	if k == nil {
		k = &record{latency: hdrhistogram.New(1, longest.Microseconds(), precision)}
		r.kinds[kind] = k
	}
	return k
}

// add records an answer, and how long it took since the request was due.
func (r *records) add(kind string, a answer, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.of(kind)
	k.kind.Sent++
	switch {
	case a.ok():
		k.kind.OK++
		k.latency.RecordValue(min(max(took.Microseconds(), 1), longest.Microseconds()))
	case a.refused():
		k.kind.Refused++
	default:
		if k.kind.Errors == nil {
			k.kind.Errors = map[string]int{}
		}
		k.kind.Errors[a.class()]++
		if len(k.kind.Examples) < maxExample && a.status != 0 {
			k.kind.Examples = append(k.kind.Examples, fmt.Sprintf("%d %.200s", a.status, bytes.TrimSpace(a.body)))
		}
	}
}

// drop records a request that was due and not sent, as too many were in flight.
func (r *records) drop(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(kind).kind.Dropped++
}

// found records a search for a turn that was just acknowledged.
func (r *records) found(found bool, said *bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.find.Checked++
	if !found {
		r.find.NotAtOnce++
		if said == nil || *said {
			r.find.Untold++
		}
	}
	switch {
	case said == nil:
	case !*said:
		r.find.SaidLater++
	case !found:
		r.find.SaidFindable++
	}
}

// summary returns the kinds with their percentiles.
func (r *records) summary(seconds float64) map[string]Kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]Kind{}
	for name, k := range r.kinds {
		kind := k.kind
		if seconds > 0 {
			kind.PerSecond = float64(kind.OK) / seconds
		}
		kind.P50, kind.P99, kind.P999 = k.quantile(50), k.quantile(99), k.quantile(99.9)
		kind.Max = float64(k.latency.Max()) / 1000
		out[name] = kind
	}
	return out
}

// quantile is a percentile in milliseconds, 0 without answers.
func (k *record) quantile(q float64) float64 { return float64(k.latency.ValueAtQuantile(q)) / 1000 }

// kind returns the figures of one kind.
func (r *records) kind(name string) Kind { return r.summary(0)[name] }

// has reports whether the body of an answer contains a marker.
func (a answer) has(marker string) bool { return a.ok() && bytes.Contains(a.body, []byte(marker)) }

// crossings are markers that were seen in another scope than theirs.
type crossings struct {
	mu       sync.Mutex
	n        int
	examples []string
}

// check looks for markers of other scopes in what was answered for a scope.
func (c *crossings) check(run string, scope int, body []byte) {
	want := run + "x" + letters(scope) + "x"
	for _, m := range markers.FindAll(body, -1) {
		if strings.HasPrefix(string(m[len("zx"):]), want) {
			continue
		}
		c.mu.Lock()
		c.n++
		if len(c.examples) < maxExample {
			c.examples = append(c.examples, fmt.Sprintf("%s was answered to scope %d", m, scope))
		}
		c.mu.Unlock()
	}
}

// count returns how many were seen, with a few of them.
func (c *crossings) count() (int, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.examples
}
