package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// drain is how long work that has begun may go on after Run's ctx is over.
// What is cut off then is done again by the next process.
const drain = 20 * time.Second

// Run works requests off until ctx is over, then lets what has begun finish,
// and returns.
func (s *Service) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(drain, cancel) })
	defer stop()

	workers := pool.New().WithMaxGoroutines(s.opts.Workers)
	defer workers.Wait()
	var busy atomic.Int64
	poll := time.NewTicker(s.opts.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		claimed, err := s.sessions.Claim(ctx, s.owner, s.opts.LeaseTTL, s.opts.Workers-int(busy.Load()))
		if err != nil && ctx.Err() == nil {
			s.opts.Log.Error("look for work", "err", err)
		}
		for _, w := range claimed {
			busy.Add(1)
			workers.Go(func() {
				s.do(work, w)
				busy.Add(-1)
				s.wake() // there may be more, now that a worker is free
			})
		}
		if len(claimed) > 0 {
			continue
		}
		select {
		case <-s.hint:
		case <-poll.C:
		case <-ctx.Done():
		}
	}
}

// longestWait is how long a model may ask to be left alone, at most.
const longestWait = time.Hour

// do works off one batch of one session, and records how it went.
func (s *Service) do(ctx context.Context, w sessionstore.Work) {
	log := s.opts.Log.With("session", w.Key.ID, "app", w.Key.App, "user", w.Key.User)
	begin := s.opts.Now()
	to, err := s.leased(ctx, w)
	switch {
	case err == nil:
		log.Debug("made memories", "from", w.Done+1, "to", to, "ms", s.opts.Now().Sub(begin).Milliseconds())
	case ctx.Err() != nil:
		log.Info("stopped on the way; the next start goes on", "from", w.Done+1)
	case errors.Is(err, errLeaseLost):
		log.Warn("another process has taken over", "from", w.Done+1, "err", err)
	default:
		retry := time.Time{}
		// A memory store that is away comes back: that is no fault of the work,
		// which is not given up for it.
		if w.Attempts < s.opts.MaxAttempts || errors.Is(err, errStoreAway) {
			retry = s.opts.Now().Add(max(s.opts.Backoff(w.Attempts), min(memory.RetryAfter(err), longestWait)))
		}
		log.Error("making memories failed", "from", w.Done+1, "attempt", w.Attempts, "retry", retry, "err", err)
		if err := s.sessions.Fail(ctx, w, err.Error(), retry); err != nil && !errors.Is(err, memory.ErrAborted) {
			log.Error("the failure was not recorded; the lease runs out by itself", "err", err)
		}
	}
	s.moved(w.Key.Scope)
}

var errLeaseLost = errors.New("lost the lease on the scope")

// leased walks one batch while it keeps the lease alive, and stops the walk
// if the lease is lost. A panic counts as a failure of this work alone.
func (s *Service) leased(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var renewals conc.WaitGroup
	defer renewals.Wait()
	over := make(chan struct{})
	defer close(over)
	renewals.Go(func() {
		tick := time.NewTicker(s.opts.LeaseTTL / 3)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if err := s.sessions.Renew(ctx, w.Key.Scope, s.owner, s.opts.LeaseTTL); errors.Is(err, memory.ErrAborted) {
					cancel(errLeaseLost)
					return
				}
			}
		}
	})
	if panicked := panics.Try(func() { to, err = s.walk(ctx, w) }); panicked != nil {
		err = panicked.AsError()
	}
	if errors.Is(context.Cause(ctx), errLeaseLost) {
		err = errLeaseLost
	}
	return to, err
}

// backoff is half a second, doubling up to a minute, give or take a quarter so
// that what failed together is not tried together.
func backoff(attempt int) time.Duration {
	d := time.Minute
	if attempt < 8 {
		d = min(d, time.Second/2<<max(0, attempt-1))
	}
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}
