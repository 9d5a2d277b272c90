package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// findable has clients ingest turns one after the other, each in a session of its
// own user, and search for each right after its acknowledgement.
func (b *Bench) findable(ctx context.Context) error {
	o := b.opts
	b.scopes = newScopes(b.run, o.Users, o.Apps)
	stop := b.sampler.start(ctx, time.Second)
	var sent atomic.Int64
	begin := time.Now()
	var took atomic.Int64 // of the last acknowledgement, since begin
	b.stage("ingest and search")
	closedLoop(ctx, o.Clients, func(client, i int) bool {
		n := sent.Add(int64(o.Batch))
		if n > int64(o.Events) {
			return false
		}
		if n/int64(o.Batch)%100 == 0 {
			b.opts.Progress(Step{Stage: "ingest and search", Done: n, Total: int64(o.Events), Note: b.sampler.note()})
		}
		r := rand.New(rand.NewPCG(o.Seed, uint64(n)))
		b.ingestTogether(ctx, b.scopes[client%len(b.scopes)], r, o.Batch)
		took.Store(int64(time.Since(begin)))
		return true
	})
	seconds := time.Duration(took.Load()).Seconds()
	err := b.verify(ctx)
	stop()
	r := b.report
	f := b.records.find
	r.figure(float64(f.Checked), "", "turns acknowledged and searched by %d clients", o.Clients)
	r.figure(ratio(float64(f.Checked), seconds), "/s", "turns, each with its search")
	r.figure(float64(f.NotAtOnce), "", "turns not found right after their acknowledgement")
	r.figure(100*ratio(float64(f.NotAtOnce), float64(f.Checked)), "%", "share of all turns")
	r.most(0, float64(f.Untold), "", "turns of these whose answer did not say so")
	r.most(0, float64(r.Verified.Unfindable), "", "turns not found at the end")
	return err
}

// ingestTogether posts some turns in one request until they are acknowledged, and
// searches for each of them.
func (b *Bench) ingestTogether(ctx context.Context, s *scope, r *rand.Rand, n int) {
	s.mu.Lock()
	session := "i" + letters(len(s.turns)/turnsPerSession)
	var turns []*turn
	var events []any
	for range n {
		t := s.add(b.run, r, session, true)
		turns, events = append(turns, t), append(events, t.event())
	}
	s.mu.Unlock()
	body := map[string]any{"sessionId": session, "events": events}
	for ctx.Err() == nil {
		begin := time.Now()
		a := b.api.do(ctx, "POST", s.path+"/memories/ingest", body)
		b.records.add("ingest", a, time.Since(begin))
		if !a.ok() {
			sleepUntil(ctx, time.Now().Add(100*time.Millisecond))
			continue
		}
		var op struct {
			ID       string
			Findable *bool
		}
		a.into(&op)
		s.acknowledge(turns, op.ID)
		for _, t := range turns {
			b.find(ctx, s, t, op.Findable)
		}
		return
	}
}

// floodRate is how many writes in a second the others make.
const floodRate = 20

// flood compares the writes of users of other apps without and with an app that
// writes as fast as it is answered. Both parts have the duration of the options.
func (b *Bench) flood(ctx context.Context) error {
	o := b.opts
	b.scopes = newScopes(b.run, o.Users, o.Users) // each in an app of its own
	stop := b.sampler.start(ctx, time.Second)
	defer stop()
	others := func(ctx context.Context, kind string) {
		b.openLoop(ctx, kind, floodRate, o.Duration, func(i int, due time.Time) {
			r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
			s := b.scopes[i%len(b.scopes)]
			turns, body := b.ingestBody(s, r)
			a := b.api.do(ctx, "POST", s.path+"/memories/ingest", body)
			b.records.add(kind, a, time.Since(due))
			if a.ok() {
				s.acknowledge(turns, "")
			}
		})
	}
	// A first part is not counted: connections and caches are made in it.
	b.opts.Duration, o.Duration = o.Duration/5, o.Duration/5
	others(ctx, "warm up")
	o.Duration *= 5
	others(ctx, "others alone")

	flooding, cancel := context.WithCancel(ctx)
	var flood sync.WaitGroup
	begin := time.Now()
	flood.Go(func() { b.floodWrites(flooding, o.Clients) })
	others(ctx, "others in the flood")
	seconds := time.Since(begin).Seconds()
	cancel()
	flood.Wait()

	alone, during := b.records.kind("others alone"), b.records.kind("others in the flood")
	flooded := b.records.kind("flood")
	r := b.report
	r.figure(float64(flooded.OK)/seconds, "/s", "writes of the flood, by %d clients", o.Clients)
	r.figure(float64(flooded.Refused)/seconds, "/s", "writes of the flood that were refused")
	r.figure(alone.P50, "ms", "others' writes without the flood, p50")
	r.figure(during.P50, "ms", "others' writes in the flood, p50")
	r.figure(alone.P99, "ms", "others' writes without the flood, p99")
	r.figure(during.P99, "ms", "others' writes in the flood, p99")
	r.most(3, ratio(during.P50, alone.P50), "x", "p50 in the flood to without")
	r.most(10, ratio(during.P99, alone.P99), "x", "p99 in the flood to without")
	r.figure(100*ratio(float64(during.Refused), float64(during.Sent)), "%", "others' writes that were refused")
	r.most(0, float64(b.opts.Process.said("the lease on the scope is lost")), "", "leases lost")
	return b.verify(ctx)
}

// floodWrites has clients of one app write without a pause, but for that which a
// refusal asks for.
func (b *Bench) floodWrites(ctx context.Context, clients int) {
	app := "bench-" + b.run + "-flood"
	closedLoop(ctx, clients, func(client, i int) bool {
		r := rand.New(rand.NewPCG(b.opts.Seed, uint64(client)<<32|uint64(i)))
		path := fmt.Sprintf("/v1/apps/%s/users/u%d/memories/ingest", app, client)
		var events []any
		for n := range b.opts.Batch {
			events = append(events, map[string]any{
				"id": fmt.Sprintf("e%d.%d", i, n), "author": "user", "content": sentence(r, padding(r, 10))})
		}
		body := map[string]any{"sessionId": fmt.Sprintf("s%d", i/turnsPerSession), "events": events}
		begin := time.Now()
		a := b.api.do(ctx, "POST", path, body)
		if ctx.Err() == nil {
			b.records.add("flood", a, time.Since(begin))
		}
		if a.refused() { // a client that is told to come later comes later, if not much
			return sleepUntil(ctx, time.Now().Add(floodPause))
		}
		return true
	})
}

// floodPause is the wait of a flooding client after a refusal. It is shorter than
// any Retry-After: the flood does not behave well.
const floodPause = 50 * time.Millisecond
