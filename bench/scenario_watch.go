package bench

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// searchRate is how many searches in a second another user makes.
const searchRate = 50

// streams compares the progress of an operation without and with clients that
// stream it. All operations have the same events, for a user of their own each, and
// are watched for the duration of the options at most. Another user searches
// meanwhile.
//
// Operations without and with streams come in pairs, and every second pair is in the
// other order. So what else the machine does, and what grows with the store, falls on
// both. The figures are medians over the pairs. A memoryd that bench has started is
// started again before each operation: what it keeps of the operations before would
// add to its size, and to what its collector lets the heap grow by.
func (b *Bench) streams(ctx context.Context) error {
	o := b.opts
	b.scopes = newScopes(b.run, 2+2*streamPairs, 1)
	other, users := b.scopes[0], b.scopes[1:]
	for range 40 {
		b.ingestTogether(ctx, other, rand.New(rand.NewPCG(o.Seed, 0)), 1)
	}
	stop := b.sampler.start(ctx, 200*time.Millisecond)
	defer stop()
	part := func(clients int, search string) (p progress, err error) {
		if b.opts.Process != nil {
			b.opts.Process.Stop()
			if err := b.opts.Process.Restart(ctx); err != nil {
				return p, err
			}
			b.api.http.CloseIdleConnections() // to the process before
		}
		p, err = b.watched(ctx, users[0], other, clients, search)
		users = users[1:]
		return p, err
	}
	// The first part is not counted: it fills caches of the machine.
	if _, err := part(0, "warm up"); err != nil {
		return err
	}
	var alone, watched [streamPairs]progress
	for i := range 2 * streamPairs {
		var err error
		if pair := i / 2; i%2 == pair%2 {
			alone[pair], err = part(0, "search alone")
		} else {
			watched[pair], err = part(o.Clients, "search watched")
		}
		if err != nil {
			return err
		}
	}
	b.compare(alone[:], watched[:])
	return nil
}

// compare reports the medians over pairs of operations without and with streams.
func (b *Bench) compare(alone, watched []progress) {
	over := func(of func(alone, watched progress) float64) float64 {
		values := make([]float64, len(alone))
		for i := range values {
			values[i] = of(alone[i], watched[i])
		}
		return median(values)
	}
	p50 := func(name string) float64 { return b.records.kind(name).P50 }
	r := b.report
	r.figure(over(func(_, w progress) float64 { return float64(w.streams) }), "", "streams that were open, of %d",
		b.opts.Clients)
	r.figure(over(func(_, w progress) float64 { return ratio(float64(w.sent), w.seconds) }), "/s",
		"states that they were sent")
	r.figure(over(func(a, _ progress) float64 { return a.rate() }), "/s", "events of the operation, without streams")
	r.figure(over(func(_, w progress) float64 { return w.rate() }), "/s", "events of the operation, with streams")
	r.least(.9, over(func(a, w progress) float64 { return ratio(w.rate(), a.rate()) }), "x",
		"progress with streams to without")
	// Unlike the progress, this does not depend on what else the machine does.
	r.figure(over(func(a, w progress) float64 { return ratio(w.cost(), a.cost()) }), "x",
		"processor time for an event, with streams to without")
	r.figure(over(func(a, _ progress) float64 { return a.grown() }), "MB", "growth to the peak, without streams")
	r.figure(over(func(_, w progress) float64 { return w.grown() }), "MB", "growth to the peak, with streams")
	r.most(50, over(func(a, w progress) float64 { return w.grown() - a.grown() }), "MB", "growth by the streams")
	r.figure(p50("search alone"), "ms", "another's search without streams, p50")
	r.figure(p50("search watched"), "ms", "another's search with streams, p50")
	r.most(2, ratio(p50("search watched"), p50("search alone")), "x", "another's search with streams to without")
}

// streamPairs is how often an operation without and one with streams are compared. It
// is even, so that each comes first as often as the other.
const streamPairs = 4

// progress is how an operation went on.
type progress struct {
	events, seconds float64 // between the first and the last look
	streams         int64   // that were open
	sent            int64   // states that the streams were sent
	before, peak    float64 // the resident size in MB, when the events came and at most
	processor       float64 // time that memoryd computed, in seconds
}

// rate is the events that were done in a second.
func (p progress) rate() float64 { return ratio(p.events, p.seconds) }

// cost is the processor time for an event, in seconds. It is also that of the searches.
func (p progress) cost() float64 { return ratio(p.processor, p.events) }

// grown is by how much the resident size grew, in MB.
func (p progress) grown() float64 { return p.peak - p.before }

// openTime bounds the wait for streams to be open, and endTime that for an operation
// to end after the last watcher has left.
const (
	openTime = 10 * time.Second
	endTime  = 2 * time.Minute
)

// watched ingests events and measures how fast they are worked on, while some
// clients stream the operation and another user searches.
func (b *Bench) watched(
	ctx context.Context, s, other *scope, clients int, search string,
) (p progress, err error) {
	o := b.opts
	b.stage(search)
	r := rand.New(rand.NewPCG(o.Seed, 1))
	events := make([]any, o.Events)
	for i := range events {
		text := sentence(r, padding(r, 12))
		events[i] = map[string]any{"id": fmt.Sprintf("e%d", i), "author": "user", "content": text}
	}
	b.sampler.resetPeak()
	p.before = b.sampler.sample(ctx).Resident
	a := b.api.do(ctx, "POST", s.path+"/memories/ingest", map[string]any{"sessionId": "watched", "events": events})
	var op operation
	if !a.into(&op) {
		return p, fmt.Errorf("ingest %d events: %s: %w: %.300s", o.Events, a.class(), errAnswer, a.body)
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	var open, sent, tried atomic.Int64
	for range clients {
		others.Go(func() { b.stream(within, "/v1/operations/"+url.PathEscape(op.ID), &open, &tried, &sent) })
	}
	for end := time.Now().Add(openTime); tried.Load() < int64(clients) && time.Now().Before(end); {
		sleepUntil(ctx, time.Now().Add(10*time.Millisecond))
	}
	p.streams = open.Load()
	// The search goes on until the operation has ended or its time is over.
	others.Go(func() {
		b.openLoop(within, search, searchRate, o.Duration, func(i int, due time.Time) {
			body := map[string]any{"query": "songs in the morning"}
			a := b.api.do(within, "POST", other.path+"/memories/search", body)
			if within.Err() == nil {
				b.records.add(search, a, time.Since(due))
			}
		})
	})
	sentBefore := sent.Load()
	p.events, p.seconds, p.processor = b.follow(ctx, s, o.Duration)
	p.sent = sent.Load() - sentBefore
	p.peak = b.sampler.peak()
	cancel()
	others.Wait()
	// The rest of the operation would slow down the next measurement.
	b.follow(ctx, s, endTime)
	return p, ctx.Err()
}

// processorTime is the metric of the time that memoryd has computed, in seconds.
const processorTime = "process_cpu_seconds_total"

// operation is what the scenarios read of an operation.
type operation struct {
	ID       string
	Done     bool
	Metadata struct{ EventsDone int }
}

// lookTime is the time between two looks at an operation. A list of operations is
// read for it, as that leaves out the memories that were made.
const lookTime = 200 * time.Millisecond

// follow looks at the only operation of a scope until it is done or a time is over.
// It returns how many events were done between the first look and the last at which
// the operation was not done yet, in which time, and how long memoryd computed in it.
func (b *Bench) follow(ctx context.Context, s *scope, most time.Duration) (events, seconds, processor float64) {
	begin := time.Now()
	first, computed := -1, 0.0
	for {
		var page struct{ Operations []operation }
		b.insist(ctx, "GET", s.path+"/operations?pageSize=1", nil).into(&page)
		at := time.Since(begin)
		if len(page.Operations) == 1 {
			op := page.Operations[0]
			if first < 0 {
				begin, at, first = time.Now(), 0, op.Metadata.EventsDone
				computed = b.sampler.metrics(ctx)[processorTime]
			}
			if op.Done && events > 0 {
				return events, seconds, processor
			}
			if events, seconds = float64(op.Metadata.EventsDone-first), at.Seconds(); op.Done {
				return events, seconds, processor
			}
			processor = b.sampler.metrics(ctx)[processorTime] - computed
		}
		if at > most || !sleepUntil(ctx, time.Now().Add(lookTime)) {
			return events, seconds, processor
		}
	}
}

// stream reads an operation as server-sent events until it ends, and counts them.
func (b *Bench) stream(ctx context.Context, path string, open, tried, sent *atomic.Int64) {
	req, err := http.NewRequestWithContext(ctx, "GET", b.api.base+path, nil)
	if err != nil {
		return
	}
	req.Header.Set("Accept", "text/event-stream")
	b.api.showKey(req)
	client := &http.Client{Transport: b.api.http.Transport} // a stream has no limit of time
	begin := time.Now()
	res, err := client.Do(req)
	a := answer{err: err}
	if err == nil {
		defer res.Body.Close()
		a.status = res.StatusCode
	}
	if ctx.Err() == nil {
		b.records.add("stream", a, time.Since(begin))
	}
	if a.ok() {
		open.Add(1)
	}
	if tried.Add(1); !a.ok() {
		return
	}
	// Lines can be as long as an operation with all its changes.
	lines := bufio.NewReaderSize(res.Body, 4<<10)
	for {
		line, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		if len(line) > 5 && string(line[:5]) == "data:" {
			sent.Add(1)
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
	}
}

// absent has users without memories search, preload and read an operation that does
// not exist. Nothing of them should remain.
func (b *Bench) absent(ctx context.Context) error {
	o := b.opts
	app := "bench-" + b.run
	r := b.report
	first := 0.0
	const parts = 5
	for part := range parts {
		var next atomic.Int64
		share := o.Users / parts
		closedLoop(ctx, o.Clients, func(int, int) bool {
			i := int(next.Add(1)) - 1
			if i >= share {
				return false
			}
			if i%1000 == 0 {
				b.opts.Progress(
					Step{
						Stage: "users without memories",
						Done:  int64(part*share + i),
						Total: int64(o.Users),
						Note:  b.sampler.note(),
					},
				)
			}
			b.visit(ctx, app, fmt.Sprintf("u%d", part*share+i))
			return true
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// Two collections of garbage would be needed to see what is left. A load
		// has caused hundreds of them, and the heap after the last one tells.
		x := b.sampler.sample(ctx)
		r.figure(x.Resident, "MB", "resident size after %d users", (part+1)*share)
		r.figure(x.Heap, "MB", "heap in use after %d users", (part+1)*share)
		if part == 0 {
			first = x.Resident
		}
		if part == parts-1 {
			r.figure(x.Resident-first, "MB", "growth after the first %d users", share)
			r.most(1.1, ratio(x.Resident, first), "x", "resident size at the end to that after %d users", share)
		}
	}
	return nil
}

// visit makes the three requests of a user without memories.
func (b *Bench) visit(ctx context.Context, app, user string) {
	path := "/v1/apps/" + app + "/users/" + user
	for _, c := range []struct {
		kind, method, path string
		body               any
	}{
		{"search", "POST", path + "/memories/search", map[string]any{"query": "What do I like?"}},
		{"preload", "POST", path + "/tools/preload_memory",
			map[string]any{"args": map[string]any{"query": "What do I like?"}}},
		{"unknown", "GET", "/v1/operations/" + operationID(app, user), nil},
	} {
		begin := time.Now()
		a := b.api.do(ctx, c.method, c.path, c.body)
		if a.status == http.StatusNotFound && c.kind == "unknown" {
			a.status = http.StatusOK // as it should be
		}
		if ctx.Err() == nil {
			b.records.add(c.kind, a, time.Since(begin))
		}
	}
}

// operationID is an id of the form of those that memoryd makes, for an operation of
// a scope that does not exist.
func operationID(app, user string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(app + "\x00" + user + "\x00none"))
}
