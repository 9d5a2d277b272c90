// Package bench measures a memoryd over HTTP, and checks that it keeps its
// promises while it is under load and while it fails: no acknowledged write is
// lost or stored twice, every turn is found, and no scope sees another one's data.
//
// The load is an open loop: requests arrive at a fixed rate, whether or not earlier
// ones were answered, and a latency counts from the time at which the request was
// due. So a memoryd that stops answering for a second shows a second in the
// percentiles of every request that was due meanwhile, as users would see it.
//
// The package speaks the HTTP contract alone and imports nothing of memoryd. It can
// measure any version of it, also two versions one after the other.
package bench

import (
	"crypto/tls"
	"net/http"
	"time"
)

// Options configure New. The zero value is the default.
type Options struct {
	// Key is shown with every request, where the memoryd wants one.
	Key string
	// TLS is for a memoryd at an https URL. Defaults to what the system trusts.
	TLS *tls.Config
	// Process is the memoryd that Start has started. With it faults are possible.
	Process *Process
	// PID is the process of a memoryd that runs already, 0 if it is unknown. Its
	// resident size is read from /proc, and otherwise from GET /metrics.
	PID int

	// Kind is the kind of requests, one of Kinds. Defaults to Mixed.
	Kind string
	// Rate is the number of requests that arrive in a second. Defaults to 50.
	Rate float64
	// Duration is how long requests arrive. Defaults to a minute.
	Duration time.Duration
	// Users and Apps are the numbers of users, over all apps, and of apps. They
	// default to 100 and 5.
	Users, Apps int
	// Uniform makes all users equally busy. By default a few users make most of the
	// requests, as a Zipf distribution has it.
	Uniform bool
	// Seed determines texts, users and kinds of requests. Defaults to 1.
	Seed uint64
	// InFlight is how many requests may wait for their answer at a time. An arrival
	// beyond it is not sent, and counted. Defaults to 5,000.
	InFlight int
	// Drain bounds the wait for memoryd to finish its work before everything is
	// verified. Defaults to 2 minutes.
	Drain time.Duration
	// Faults happen while requests arrive.
	Faults Faults

	// Clients, Size, State and Events are the numbers of the scenarios. 0 is the
	// scenario's default, which Scenarios tells.
	Clients, Size, State, Events, Batch int

	// Progress is called about once a second. It may be nil.
	Progress func(Step)
}

// Step is how far a run is.
type Step struct {
	Stage       string // such as "load"
	Done, Total int64  // Total is 0 if it is unknown
	Note        string // a few figures
}

// Defaults of Options.
const (
	defaultRate     = 50
	defaultDuration = time.Minute
	defaultUsers    = 100
	defaultApps     = 5
	defaultInFlight = 5000
	defaultDrain    = 2 * time.Minute
)

// requestTime bounds a request. memoryd itself gives up after a minute.
const requestTime = 75 * time.Second

// Bench measures one memoryd. It is for one run.
type Bench struct {
	opts    Options
	run     string // in the names of apps and in markers
	api     *caller
	scopes  []*scope
	pick    picker
	records *records
	sampler *sampler
	crossed *crossings
	report  *Report
}

// New makes a measurement of the memoryd at a URL such as http://127.0.0.1:8080.
// New itself makes no call.
func New(url string, opts *Options) *Bench {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	b := &Bench{opts: o, run: newRun(), api: newCaller(url, o.Key, o.TLS), records: newRecords(), crossed: &crossings{}}
	b.sampler = &sampler{api: b.api, process: o.Process, pid: o.PID}
	b.report = &Report{Started: time.Now().UTC()}
	return b
}

// setDefaults replaces zero values. A scenario has set its own before.
func (o *Options) setDefaults() {
	if o.Kind == "" {
		o.Kind = Mixed
	}
	if o.Rate <= 0 {
		o.Rate = defaultRate
	}
	if o.Duration <= 0 {
		o.Duration = defaultDuration
	}
	if o.Users <= 0 {
		o.Users = defaultUsers
	}
	if o.Apps <= 0 {
		o.Apps = defaultApps
	}
	if o.InFlight <= 0 {
		o.InFlight = defaultInFlight
	}
	if o.Drain <= 0 {
		o.Drain = defaultDrain
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Progress == nil {
		o.Progress = func(Step) {}
	}
}

// newCaller returns a caller that keeps a connection for every client.
func newCaller(url, key string, tls *tls.Config) *caller {
	return &caller{base: url, key: key, http: &http.Client{
		Transport: &http.Transport{TLSClientConfig: tls, MaxIdleConnsPerHost: 10_000,
			IdleConnTimeout: 30 * time.Second},
		Timeout: requestTime,
	}}
}
