package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// Sizes of scenario search.
const (
	fillers    = 10    // clients that ingest
	vocabulary = 30000 // words that turns are made of
	aloneFor   = 5 * time.Second
)

// searches fills scopes with memories, and then has clients search them: each scope
// once right after a restart, all of them one after the other, and as many at a time
// as there are clients.
func (b *Bench) searches(ctx context.Context) error {
	o, r := b.opts, b.report
	b.scopes = newScopes(b.run, o.Users, o.Apps)
	stop := b.sampler.start(ctx, time.Second)
	defer stop()
	begin := time.Now()
	if err := b.fillScopes(ctx); err != nil {
		return err
	}
	r.figure(ratio(float64(o.Users*o.Events), time.Since(begin).Seconds()), "/s",
		"turns ingested by %d clients until their memories are made", fillers)
	if o.Process != nil {
		o.Process.Stop()
		if err := o.Process.Restart(ctx); err != nil {
			return err
		}
		b.stage("cold")
		for _, s := range b.scopes {
			b.ask(ctx, "cold search", s, rand.New(rand.NewPCG(o.Seed, 7)))
		}
		k := b.records.kind("cold search")
		r.figure(k.P50, "ms", "first search of a scope after a start, p50 of %d scopes of %d memories", o.Users,
			o.Events)
	}
	if o.Process == nil { // the indexes are made
		for _, s := range b.scopes {
			b.ask(ctx, "first search", s, rand.New(rand.NewPCG(o.Seed, 7)))
		}
	}
	for _, part := range []struct {
		kind    string
		clients int
		time    time.Duration
	}{{"warm up", o.Clients, aloneFor / 5}, {"one client", 1, aloneFor}, {"all clients", o.Clients, o.Duration}} {
		b.stage(part.kind)
		var n atomic.Int64
		within, cancel := context.WithTimeout(ctx, part.time)
		closedLoop(within, part.clients, func(client, i int) bool {
			random := rand.New(rand.NewPCG(o.Seed+uint64(client), uint64(i)))
			if b.ask(within, part.kind, b.scopes[random.IntN(len(b.scopes))], random) {
				n.Add(1)
			}
			return true
		})
		cancel()
		if part.kind == "warm up" {
			continue
		}
		k := b.records.kind(part.kind)
		r.figure(k.P50, "ms", "search, %s, p50", part.kind)
		r.figure(k.P99, "ms", "search, %s, p99", part.kind)
		r.figure(ratio(float64(n.Load()), part.time.Seconds()), "/s", "searches by %d clients", part.clients)
		r.most(0, float64(k.Sent-k.OK), "", "searches that were not answered")
	}
	x := b.sampler.sample(ctx)
	r.figure(x.Resident, "MB", "resident size after the searches")
	r.figure(ratio(b.sampler.metrics(ctx)["memoryd_cache_bytes"], float64(o.Users*o.Events)), "bytes",
		"index that a memory takes")
	return ctx.Err()
}

// fillScopes gives each scope its turns, a session of some in one request, and waits
// until the memories of all are made.
func (b *Bench) fillScopes(ctx context.Context) error {
	o := b.opts
	var sent atomic.Int64
	each := (o.Events + o.Batch - 1) / o.Batch // requests of a scope
	total := int64(each * o.Users)
	closedLoop(ctx, fillers, func(int, int) bool {
		n := sent.Add(1) - 1
		if n >= total {
			return false
		}
		if n%100 == 0 {
			o.Progress(Step{Stage: "fill", Done: n, Total: total, Note: b.sampler.note()})
		}
		s, session := b.scopes[int(n)%o.Users], fmt.Sprint("s", int(n)/o.Users)
		random := rand.New(rand.NewPCG(o.Seed, uint64(n)))
		var events []any
		for i := range min(o.Batch, o.Events-int(n)/o.Users*o.Batch) {
			events = append(events, map[string]any{"id": fmt.Sprint("e", i), "author": "user",
				"content": talk(random, 20)})
		}
		a := b.insist(ctx, "POST", s.path+"/memories/ingest", map[string]any{"sessionId": session, "events": events})
		b.records.add("ingest", a, 0)
		s.mu.Lock()
		s.sessions[session] = ""
		s.mu.Unlock()
		return a.ok()
	})
	v := &verifier{b: b}
	var sessions []func(context.Context)
	for _, s := range b.scopes {
		for session := range s.sessions {
			sessions = append(sessions, func(ctx context.Context) { v.drain(ctx, s, session) })
		}
	}
	b.all(ctx, "drain", sessions)
	b.report.Verified = v.v
	if v.v.Unfinished > 0 {
		return fmt.Errorf("%d sessions have no memories", v.v.Unfinished)
	}
	return ctx.Err()
}

// ask searches a scope for some words, and reports whether it was answered.
func (b *Bench) ask(ctx context.Context, kind string, s *scope, r *rand.Rand) bool {
	begin := time.Now()
	a := b.api.do(ctx, "POST", s.path+"/memories/search", map[string]any{"query": talk(r, 6), "topK": 10})
	if ctx.Err() != nil {
		return false // the part is over
	}
	b.records.add(kind, a, time.Since(begin))
	return a.ok()
}

// talk is some words, as unevenly used as in speech (Zipf).
func talk(r *rand.Rand, words int) string {
	zipf := rand.NewZipf(r, 1.1, 20, vocabulary-1)
	out := make([]string, words)
	for i := range out {
		out[i] = letters(int(zipf.Uint64())) + "ao"
	}
	return strings.Join(out, " ")
}
