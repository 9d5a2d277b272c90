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
// stream it. Both operations have the same events, for a user of their own each,
// and are watched for the duration of the options at most. Another user searches
// meanwhile.
func (b *Bench) streams(ctx context.Context) error {
	o := b.opts
	b.scopes = newScopes(b.run, 4, 4)
	other := b.scopes[3]
	for range 40 {
		b.ingestTogether(ctx, other, rand.New(rand.NewPCG(o.Seed, 0)), 1)
	}
	stop := b.sampler.start(ctx, 200*time.Millisecond)
	defer stop()
	// The first part is not counted: it fills caches.
	if _, err := b.watched(ctx, b.scopes[0], other, 0, "warm up"); err != nil {
		return err
	}
	alone, err := b.watched(ctx, b.scopes[1], other, 0, "search alone")
	if err != nil {
		return err
	}
	watched, err := b.watched(ctx, b.scopes[2], other, o.Clients, "search watched")
	if err != nil {
		return err
	}
	p50 := func(name string) float64 { return b.records.kind(name).P50 }
	r := b.report
	r.figure(float64(watched.streams), "", "streams that were open")
	r.figure(float64(watched.sent)/watched.seconds, "/s", "states that they were sent")
	r.figure(alone.perSecond, "/s", "events of the operation, without streams")
	r.figure(watched.perSecond, "/s", "events of the operation, with streams")
	r.least(.9, ratio(watched.perSecond, alone.perSecond), "x", "progress with streams to without")
	r.figure(watched.before, "MB", "resident size before the streams")
	r.figure(watched.peak, "MB", "resident size with streams, peak")
	r.most(50, watched.peak-max(watched.before, alone.peak), "MB", "growth over the peak without streams")
	r.figure(p50("search alone"), "ms", "another's search without streams, p50")
	r.figure(p50("search watched"), "ms", "another's search with streams, p50")
	r.most(2, ratio(p50("search watched"), p50("search alone")), "x", "another's search with streams to without")
	return nil
}

// progress is how an operation went on.
type progress struct {
	perSecond float64 // events
	seconds   float64
	streams   int64   // that were open
	sent      int64   // states that the streams were sent
	before    float64 // resident size in MB
	peak      float64
}

// watched ingests events and measures how fast they are worked on, while some
// clients stream the operation and another user searches.
func (b *Bench) watched(ctx context.Context, s, other *scope, clients int, search string) (p progress, err error) {
	o := b.opts
	b.stage(search)
	r := rand.New(rand.NewPCG(o.Seed, 1))
	events := make([]any, o.Events)
	for i := range events {
		events[i] = map[string]any{
			"id":      fmt.Sprintf("e%d", i),
			"author":  "user",
			"content": sentence(r, padding(r, 12)),
		}
	}
	p.before = b.sampler.sample(ctx).Resident
	b.sampler.resetPeak()
	a := b.api.do(ctx, "POST", s.path+"/memories/ingest", map[string]any{"sessionId": "watched", "events": events})
	var op operation
	if !a.into(&op) {
		return p, fmt.Errorf("ingest %d events: %s: %w: %.300s", o.Events, a.class(), errAnswer, a.body)
	}
	path := "/v1/operations/" + url.PathEscape(op.ID)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	var open, sent atomic.Int64
	for range clients {
		others.Go(func() { b.stream(within, path, &open, &sent) })
	}
	// The search goes on until the operation has ended or its time is over.
	others.Go(func() {
		b.openLoop(within, search, searchRate, o.Duration, func(i int, due time.Time) {
			a := b.api.do(
				within,
				"POST",
				other.path+"/memories/search",
				map[string]any{"query": "songs in the morning"},
			)
			if within.Err() == nil {
				b.records.add(search, a, time.Since(due))
			}
		})
	})
	begin := time.Now()
	first := b.eventsDone(ctx, path)
	for end := begin.Add(o.Duration); time.Now().Before(end) && !op.Done; {
		if !sleepUntil(ctx, time.Now().Add(500*time.Millisecond)) {
			return p, ctx.Err()
		}
		op = b.eventsDone(ctx, path)
		p.seconds = time.Since(begin).Seconds()
	}
	p.streams, p.sent = open.Load(), sent.Load()
	p.peak = b.sampler.peak()
	p.perSecond = ratio(float64(op.Metadata.EventsDone-first.Metadata.EventsDone), p.seconds)
	cancel()
	others.Wait()
	return p, nil
}

// operation is what the scenarios read of an operation.
type operation struct {
	ID       string
	Done     bool
	Metadata struct {
		State      string
		EventsDone int
	}
}

// eventsDone reads an operation.
func (b *Bench) eventsDone(ctx context.Context, path string) (op operation) {
	b.insist(ctx, "GET", path, nil).into(&op)
	return op
}

// stream reads an operation as server-sent events until it ends, and counts them.
func (b *Bench) stream(ctx context.Context, path string, open, sent *atomic.Int64) {
	req, err := http.NewRequestWithContext(ctx, "GET", b.api.base+path, nil)
	if err != nil {
		return
	}
	req.Header.Set("Accept", "text/event-stream")
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
	if !a.ok() {
		return
	}
	open.Add(1)
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
