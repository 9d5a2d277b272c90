package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Load sends requests at the rate of the options for their duration, with their
// faults, and verifies everything that was acknowledged. The error is one of the
// measurement itself; what memoryd did wrong is in the report.
func (b *Bench) Load(ctx context.Context) (*Report, error) {
	b.opts.setDefaults()
	o := b.opts
	b.report.Seed, b.report.Rate, b.report.Users, b.report.Apps = o.Seed, o.Rate, o.Users, o.Apps
	b.scopes = newScopes(b.run, b.opts.Users, b.opts.Apps)
	b.pick = newPicker(len(b.scopes), b.opts.Uniform)
	b.prepare(ctx)
	stop := b.sampler.start(ctx, time.Second)
	begin := time.Now()
	arriving, cancel := context.WithTimeout(ctx, b.opts.Duration)
	var faults sync.WaitGroup
	var faultErr error
	faults.Go(func() { faultErr = b.inject(arriving) })
	b.openLoop(ctx, "load", b.opts.Rate, b.opts.Duration, func(i int, due time.Time) { b.arrive(ctx, i, due) })
	cancel()
	faults.Wait()
	b.report.Seconds = time.Since(begin).Seconds()
	if faultErr != nil {
		stop()
		return nil, faultErr
	}
	err := b.verify(ctx)
	stop()
	b.finish()
	return b.report, err
}

// preparedTurns is how many turns each user has before a load that only reads, and
// preparedUsers how many users have them, the busiest first.
const (
	preparedTurns = 10
	preparedUsers = 500
)

// prepare gives users something to read, for a load that writes nothing. It is not
// measured.
func (b *Bench) prepare(ctx context.Context) {
	switch b.opts.Kind {
	case "search", "context", "preload", "get", "list", "operation":
	default:
		return
	}
	var calls []func(context.Context)
	for i, s := range b.scopes[:min(len(b.scopes), preparedUsers)] {
		calls = append(calls, func(ctx context.Context) {
			b.ingestTogether(ctx, s, rand.New(rand.NewPCG(b.opts.Seed, uint64(i))), preparedTurns)
		})
	}
	b.all(ctx, "prepare", calls)
	b.records = newRecords()
}

// finish fills in what is counted by the way.
func (b *Bench) finish() {
	b.report.Kinds = b.records.summary(b.report.Seconds)
	b.report.Findable = b.records.find
	b.report.Crossed, b.report.Verified.CrossedExamples = b.crossed.count()
	b.report.Resident = b.sampler.summary()
	b.report.LeasesLost = b.opts.Process.said("the lease on the scope is lost")
}

// arrive sends the request that is due at a time.
func (b *Bench) arrive(ctx context.Context, i int, due time.Time) {
	r := rand.New(rand.NewPCG(b.opts.Seed, uint64(i)))
	s := b.scopes[b.pick.pick(r)]
	name, a := choose(b.opts.Kind, r).send(b, ctx, s, r)
	if ctx.Err() != nil {
		return // the run was stopped
	}
	b.records.add(name, a, time.Since(due))
	b.crossed.check(b.run, s.index, a.body)
}

// openLoop calls do at a rate for a time, each call in a goroutine of its own, and
// waits for all of them. The i-th call is due i/rate seconds after the first one,
// however long the others take.
func (b *Bench) openLoop(
	ctx context.Context,
	stage string,
	rate float64,
	length time.Duration,
	do func(i int, due time.Time),
) {
	var calls sync.WaitGroup
	var inFlight, done atomic.Int64
	total := int64(rate * length.Seconds())
	begin := time.Now()
	shown := begin
	for i := range int(total) {
		due := begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if !sleepUntil(ctx, due) {
			break
		}
		if time.Since(shown) >= time.Second {
			shown = time.Now()
			b.opts.Progress(Step{Stage: stage, Done: int64(i), Total: total,
				Note: fmt.Sprintf("%d in flight, %s", inFlight.Load(), b.sampler.note())})
		}
		if inFlight.Load() >= int64(b.opts.InFlight) {
			b.records.drop("not sent")
			continue
		}
		inFlight.Add(1)
		calls.Go(func() {
			defer inFlight.Add(-1)
			do(i, due)
			done.Add(1)
		})
	}
	calls.Wait()
	b.opts.Progress(Step{Stage: stage, Done: total, Total: total, Note: b.sampler.note()})
}

// sleepUntil waits for a time. It reports whether ctx is not over.
func sleepUntil(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// closedLoop has clients call do again and again until it returns false or ctx is
// over. Each client waits for its answer before the next call.
func closedLoop(ctx context.Context, clients int, do func(client, i int) bool) {
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := 0; ctx.Err() == nil && do(c, i); i++ {
			}
		})
	}
	all.Wait()
}
