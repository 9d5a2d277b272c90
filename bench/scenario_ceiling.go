package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Sizes of scenario ceiling, in bytes and numbers.
const (
	eventSize    = 256 << 10 // of an event of the large session
	bodySize     = 16 << 20  // of a request that appends some of them
	stateKeySize = 256 << 10 // of a value of the large state
	largeBody    = 31 << 20  // of the largest requests: memoryd takes 32 MiB
	otherCount   = 100       // sessions beside the large one, for lists
)

// largeTime bounds a request of scenario ceiling.
const largeTime = 5 * time.Minute

// ceilingMB is what memoryd is meant to stay below, in MB. At abortMB a part is
// ended, so that the machine survives a memoryd without bounds.
const (
	ceilingMB = 1024
	abortMB   = 6 * 1024
)

// part is one request that many clients make at once.
type part struct {
	name, method, path string
	body               []byte
}

// ceiling fills a session and its state, and then has clients make each request
// about them at once.
func (b *Bench) ceiling(ctx context.Context) error {
	o, r := b.opts, b.report
	path := "/v1/apps/bench-" + b.run + "/users/u"
	state, err := b.fillState(ctx, path)
	if err != nil {
		return err
	}
	size, err := b.fillSession(ctx, path)
	if err != nil {
		return err
	}
	r.figure(state/MB, "MB", "state")
	r.figure(size/MB, "MB", "session")
	x := b.sampler.sample(ctx)
	r.figure(x.Resident, "MB", "resident size before the requests")
	worst := 0.0
	parts := ceilingParts(path)
	for _, p := range parts {
		peak, err := b.atOnce(ctx, p.name, func(int) part { return p })
		if err != nil {
			return err
		}
		worst = max(worst, peak)
		k := b.records.kind(p.name)
		r.figure(peak, "MB", "%d x %s: %d done, %d refused", o.Clients, p.name, k.OK, k.Refused)
	}
	// The last one leaves work behind, and is left out of the mixture.
	parts = parts[:len(parts)-1]
	peak, err := b.atOnce(ctx, "mixture", func(client int) part { return parts[client%len(parts)] })
	if err != nil {
		return err
	}
	r.figure(peak, "MB", "%d of all of them, mixed", o.Clients)
	r.most(ceilingMB, max(worst, peak), "MB", "the highest of these peaks")
	return nil
}

// ceilingParts are the requests. That which leaves work behind comes last.
func ceilingParts(path string) []part {
	huge := strings.Repeat("a large text ", largeBody/len("a large text "))
	return []part{
		{"list sessions", "GET", path + "/sessions?pageSize=100", nil},
		{"list app's sessions", "GET", path[:strings.Index(path, "/users/")] + "/sessions?pageSize=100", nil},
		{"get session", "GET", path + "/sessions/large", nil},
		{"get session's end", "GET", path + "/sessions/large?numRecentEvents=1000", nil},
		{"patch session", "PATCH", path + "/sessions/large", []byte(`{"stateDelta": {"mood": "good"}}`)},
		{"append", "POST", path + "/sessions/large/events",
			[]byte(`{"id": "last", "author": "user", "content": "Hello"}`)},
		{"append 31 MB", "POST", path + "/sessions/s0/events",
			[]byte(`{"id": "huge", "author": "tool", "content": "` + huge + `"}`)},
		{"search 31 MB", "POST", path + "/memories/search", []byte(`{"query": "` + huge + `"}`)},
		{"render", "POST", path + "/sessions/large/render", []byte(`{"template": "Your mood: {mood?}"}`)},
		{"dry run 31 MB", "POST", path + "/memories/dryRun",
			[]byte(`{"sessionId": "d", "events": [{"author": "user", "content": "` + huge + `"}]}`)},
		{"search", "POST", path + "/memories/search", []byte(`{"query": "garden"}`)},
		{"list memories", "GET", path + "/memories?pageSize=1000", nil},
		{"list operations", "GET", path + "/operations?pageSize=1000", nil},
		{"remember session", "POST", path + "/sessions/large/memories", []byte(`{}`)},
	}
}

// errAnswer is the error of a request that a scenario cannot do without.
var errAnswer = errors.New("memoryd did not do it")

// fillState stores state for the app, key by key, until it has the size of the
// options or memoryd refuses another key.
func (b *Bench) fillState(ctx context.Context, path string) (size float64, err error) {
	if a := b.insist(ctx, "POST", path+"/sessions", map[string]any{"id": "s0"}); !a.ok() {
		return 0, fmt.Errorf("create a session: %s: %w: %.300s", a.class(), errAnswer, a.body)
	}
	value := padding(rand.New(rand.NewPCG(b.opts.Seed, 0)), stateKeySize)
	for i := 0; size < float64(b.opts.State)*MB; i++ {
		b.opts.Progress(
			Step{Stage: "state", Done: int64(size), Total: int64(b.opts.State) * MB, Note: b.sampler.note()},
		)
		delta := map[string]any{fmt.Sprintf("app:blob%d", i): value}
		if a := b.insist(ctx, "PATCH", path+"/sessions/s0", map[string]any{"stateDelta": delta}); !a.ok() {
			if ctx.Err() != nil {
				return size, ctx.Err()
			}
			break // a limit, which the size tells
		}
		size += float64(len(value))
	}
	return size, nil
}

// fillSession makes the sessions, one of them large.
func (b *Bench) fillSession(ctx context.Context, path string) (size float64, err error) {
	for i := range otherCount {
		b.insist(ctx, "POST", path+"/sessions", map[string]any{"id": fmt.Sprintf("s%d", i+1)})
	}
	if a := b.insist(ctx, "POST", path+"/sessions", map[string]any{"id": "large"}); !a.ok() {
		return 0, fmt.Errorf("create a session: %s: %w: %.300s", a.class(), errAnswer, a.body)
	}
	text := padding(rand.New(rand.NewPCG(b.opts.Seed, 0)), eventSize)
	for n := 0; size < float64(b.opts.Size)*MB; {
		b.opts.Progress(
			Step{Stage: "session", Done: int64(size), Total: int64(b.opts.Size) * MB, Note: b.sampler.note()},
		)
		var events []any
		for range bodySize / eventSize {
			events = append(events, map[string]any{"id": fmt.Sprintf("e%d", n), "author": "user", "content": text})
			n++
		}
		a := b.insist(ctx, "POST", path+"/sessions/large/events", map[string]any{"events": events})
		if !a.ok() {
			return size, fmt.Errorf("append %d MB: %s: %w: %.300s", bodySize/MB, a.class(), errAnswer, a.body)
		}
		size += bodySize
	}
	return size, nil
}

// atOnce has all clients make a request at once, and returns the peak of the
// resident size until the last is answered, in MB.
func (b *Bench) atOnce(ctx context.Context, name string, of func(client int) part) (peak float64, err error) {
	b.stage(name)
	if b.opts.Process != nil { // each part has its own peak
		b.opts.Process.Stop()
		if err := b.opts.Process.Restart(ctx); err != nil {
			return 0, err
		}
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	b.sampler.resetPeak()
	// Large answers for many clients at once take longer than other requests.
	large := &caller{base: b.api.base, key: b.api.key,
		http: &http.Client{Transport: b.api.http.Transport, Timeout: largeTime}}
	aborted := make(chan bool, 1)
	go func() { aborted <- b.guard(within) }()
	closedLoop(within, b.opts.Clients, func(client, i int) bool {
		if i > 0 {
			return false
		}
		p := of(client)
		begin := time.Now()
		a := large.copy(within, p.method, p.path, p.body, io.Discard)
		b.records.add(name, a, time.Since(begin))
		return true
	})
	peak = b.sampler.peak()
	cancel()
	if <-aborted {
		peak = abortMB
		if b.opts.Process != nil {
			return peak, b.opts.Process.Restart(ctx)
		}
	}
	b.sampler.sample(ctx)
	return peak, ctx.Err()
}

// guard ends memoryd if it takes too much memory. It reports whether it did, when
// ctx is over.
func (b *Bench) guard(ctx context.Context) (aborted bool) {
	for sleepUntil(ctx, time.Now().Add(50*time.Millisecond)) {
		if size, ok := b.sampler.resident("VmRSS:"); ok && size > abortMB && b.opts.Process != nil && !aborted {
			aborted = true
			b.opts.Process.Kill()
		}
	}
	return aborted
}
