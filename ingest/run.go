package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// drain is how long batches that have begun may go on after Run's ctx is done.
// The next process repeats those that are cut off then.
const drain = 20 * time.Second

// Run processes requests and removes expired sessions and memories until ctx is done. Then
// it lets the batches that have begun finish, for at most drain, and the reads of operations
// whose watchers have left, and returns. It acts as memoryd itself.
func (s *Service) Run(ctx context.Context) {
	ctx = access.With(ctx, access.System)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	workers := pool.New().WithMaxGoroutines(s.opts.Workers)
	var busy atomic.Int64
	var beside sync.WaitGroup
	beside.Go(func() { s.expireSessions(ctx) })
	beside.Go(func() { s.sweeping(ctx) })
	poll := time.NewTicker(s.opts.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		s.decide(ctx)
		began := time.Now()
		claimed, err := s.sessions.Claim(ctx, s.owner, s.opts.LeaseTTL, s.opts.Workers-int(busy.Load()))
		if err != nil && ctx.Err() == nil {
			s.opts.Log.Error("work was not claimed", "err", err)
		}
		for _, w := range claimed {
			busy.Add(1)
			workers.Go(func() {
				s.work(work, w, began)
				busy.Add(-1)
				s.wake() // a free worker may take more
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
	overrun := time.AfterFunc(drain, cancel)
	defer overrun.Stop()
	workers.Wait()
	beside.Wait()
	s.watches.wait()
}

// longestWait bounds the wait before the next attempt that a model may ask for.
const longestWait = time.Hour

// work processes one batch of one session, whose scope was leased at the given
// time, and records the result.
func (s *Service) work(ctx context.Context, w sessionstore.Work, claimed time.Time) {
	ctx, span := s.beginWork(ctx, w)
	log := s.log(ctx, w.Key)
	begin := s.opts.Now()
	to, err := s.processLeased(ctx, w, claimed)
	outcome := batchFailed
	switch {
	case err == nil:
		outcome = batchDone
		log.Debug("made memories", "from", w.Done+1, "to", to, "ms", s.opts.Now().Sub(begin).Milliseconds())
	case ctx.Err() != nil:
		outcome = batchStopped
		log.Info("stopped within a batch: the next start repeats it", "from", w.Done+1)
	case errors.Is(err, memory.ErrRevoked):
		outcome = batchLost
		log.Info("stopped: the session was erased", "from", w.Done+1)
	case errors.Is(err, errLeaseLost):
		outcome = batchLost
		log.Warn("stopped: the lease on the scope is lost, and the work is due again", "from", w.Done+1, "err", err)
	default:
		retry, wait := time.Time{}, min(memory.RetryAfter(err), longestWait)
		refused := errors.As(err, new(*memory.Refusal))
		if refused { // by a limit of memoryd itself, which knows when it ends
			wait = memory.RetryAfter(err)
		}
		// An unavailable memory store comes back, a limit ends, and the work is not given
		// up for them.
		if w.Attempts < s.opts.MaxAttempts || refused || errors.Is(err, errStoreUnavailable) {
			retry = s.opts.Now().Add(max(s.opts.Backoff(w.Attempts), wait))
		} else {
			outcome = batchGivenUp
		}
		log.Error("making memories failed", "from", w.Done+1, "attempt", w.Attempts, "retry", retry, "err", err)
		if err := s.sessions.Fail(ctx, w, err.Error(), retry); err != nil && !errors.Is(err, memory.ErrAborted) {
			log.Error("the failure was not recorded: the lease runs out by itself", "err", err)
		}
	}
	span.String("memoryd.outcome", string(outcome))
	span.End(err)
	s.count(outcome, to-w.Done, s.opts.Now().Sub(begin))
}

// backoff is half a second, doubling up to a minute, give or take a quarter, so
// that batches that failed together are not tried again together.
func backoff(attempt int) time.Duration {
	d := time.Minute
	if attempt < 8 {
		d = min(d, time.Second/2<<max(0, attempt-1))
	}
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}
