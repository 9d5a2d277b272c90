package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Parts of a lease's time. A lease is renewed when a third of it is over, and a
// renewal may take another third, so that one that hangs does not lose the
// lease. A renewal that failed at once is tried again after a sixth.
const (
	renewPart = 3
	retryPart = 6
	lastPart  = 100 // for the last try, before the lease has run out
)

var errLeaseLost = errors.New("lost the lease on the scope")

// processLeased processes one batch, and meanwhile renews the lease on its scope,
// which was claimed at the given time. It stops the batch when the lease is lost.
// A panic counts as a failure of this batch alone.
func (s *Service) processLeased(ctx context.Context, w sessionstore.Work, claimed time.Time) (to int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &lease{scope: w.Key.Scope, ends: claimed.Add(s.opts.LeaseTTL), decided: make(chan struct{})}
	over := s.hold(l)
	defer over()
	var renewing conc.WaitGroup
	renewing.Go(func() {
		if err := s.renew(ctx, w.Key, l); err != nil {
			over()
			cancel(err)
		}
	})
	if panicked := panics.Try(func() { to, err = s.processInTurn(ctx, w) }); panicked != nil {
		err = panicked.AsError()
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errLeaseLost) {
		err = cause
	}
	cancel(nil) // ends a renewal under way, so that a store that hangs does not hold the worker
	renewing.Wait()
	return to, err
}

// lease is one that this process has. Its fields change under Service.mu.
type lease struct {
	scope   memory.Scope
	ends    time.Time     // by the clock of this process, if it is not renewed
	decided chan struct{} // closed when the lease is renewed, lost, or over
}

// hold notes that this process has a lease, until over is called.
func (s *Service) hold(l *lease) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leased[l] = true
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.leased, l)
		close(l.decided)
	})
}

// extend notes that a lease was renewed.
func (s *Service) extend(l *lease, ends time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.ends = ends
	close(l.decided)
	l.decided = make(chan struct{})
}

// decide waits until no lease of this process has run out, or until ctx ends. Each one
// that has is renewed or given up meanwhile, within a third of its time. A process that
// was stopped for longer than a lease would otherwise claim the scope of a batch that
// it is working on, and do that work twice.
func (s *Service) decide(ctx context.Context) {
	for {
		decided := s.overdue()
		if decided == nil {
			return
		}
		select {
		case <-decided:
		case <-ctx.Done():
			return
		}
	}
}

// overdue is the channel of a lease that has run out; nil if there is none.
func (s *Service) overdue() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leased {
		if !time.Now().Before(l.ends) {
			return l.decided
		}
	}
	return nil
}

// holds reports whether this process has the lease on a scope. No other process
// changes then how operations of the scope stand, except that it takes requests.
func (s *Service) holds(scope memory.Scope) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leased {
		if l.scope == scope {
			return true
		}
	}
	return false
}

// Turns returns the figures of the batches that compute, or wait to.
func (s *Service) Turns() fair.Stats { return s.gate.Stats() }

// processInTurn processes one batch when it is the turn of its scope.
func (s *Service) processInTurn(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	ctx, turn := s.gate.Begin(ctx, w.Key.Scope)
	defer turn.End()
	if err := fair.Ready(ctx); err != nil {
		return 0, err
	}
	return s.processBatch(ctx, w)
}

// renew extends the lease on the scope of a session until ctx is done. It returns
// errLeaseLost when another process holds the lease, or when the lease has run
// out by the clock of this process. That counts from the start of the call that
// last extended it, so that it is over no later than by the store's clock. A lease
// that is about to run out, or has, is renewed once more: a store in this process does
// that at once, and knows that nobody else has the lease.
func (s *Service) renew(ctx context.Context, key sessionstore.Key, l *lease) error {
	log := s.log(ctx, key)
	ttl := s.opts.LeaseTTL
	extended := l.ends.Add(-ttl)
	next := time.NewTimer(ttl / renewPart)
	defer next.Stop()
	over := time.NewTimer(time.Until(extended.Add(ttl - ttl/lastPart)))
	defer over.Stop()
	failing, last := false, false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-over.C:
			last = true
		case <-next.C:
		}
		began := time.Now()
		left := time.Until(extended.Add(ttl - ttl/lastPart))
		switch last = last || left <= 0; {
		case last && left <= -ttl/lastPart:
			left = ttl / renewPart // the process was stopped, and its time tells nothing any more
		case last:
			left = ttl / lastPart
		default:
			left = min(ttl/renewPart, left)
		}
		within, cancel := context.WithTimeout(ctx, left)
		err := s.sessions.Renew(within, key.Scope, s.owner, ttl)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, memory.ErrAborted), err != nil && last:
			return errLeaseLost
		case err != nil:
			s.renewalsFailed.Add(1)
			if !failing {
				log.Warn("the lease was not renewed", "runsOut", extended.Add(ttl), "err", err)
			}
			next.Reset(time.Until(began.Add(ttl / retryPart)))
		default:
			if failing {
				log.Info("the lease is renewed again")
			}
			extended, last = began, false
			s.extend(l, extended.Add(ttl))
			over.Reset(time.Until(extended.Add(ttl - ttl/lastPart)))
			next.Reset(time.Until(began.Add(ttl / renewPart)))
		}
		failing = err != nil
	}
}

// RenewalsFailed counts the renewals of leases that failed or hung since the
// process started. A lease that another process took over is not counted.
func (s *Service) RenewalsFailed() int64 { return s.renewalsFailed.Load() }
