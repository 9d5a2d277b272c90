package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A lease is kept alive however long the work takes.
func TestLeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		b := newBench(t, parts{extractor: s, opts: ingest.Options{Poll: time.Second}})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		<-s.begun
		for range 10 {
			time.Sleep(9 * time.Second) // of the bubble's clock; a lease is 10 s
			if works, err := b.sessions.Claim(t.Context(), "other", time.Minute, 1); err != nil || len(works) != 0 {
				t.Fatalf("another owner claimed %+v, %v", works, err)
			}
		}
		close(s.release)
		b.succeeds(op)
	})
}

// lost is a session store where another process has taken every lease over.
type lost struct{ ingest.Sessions }

func (lost) Renew(context.Context, memory.Scope, string, time.Duration) error {
	return memory.ErrAborted
}

// A batch that has lost its lease stops, and records no failure: the work is
// another process's.
func TestLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		b := newBench(t, parts{extractor: s, opts: ingest.Options{Poll: time.Second},
			sessions: func(s ingest.Sessions) ingest.Sessions { return lost{s} }})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		<-s.begun
		time.Sleep(5 * time.Second) // past the first renewal
		got, err := b.sessions.Status(t.Context(), scope, op.ID)
		if err != nil || got.State != sessionstore.Running || got.LastError != "" {
			t.Errorf("operation %+v, %v", got, err)
		}
		<-s.begun // claimed again once the lease has run out
		close(s.release)
		b.succeeds(op)
	})
}

// renewer is a session store whose renewals of leases may fail or hang.
type renewer struct {
	ingest.Sessions
	renew func(ctx context.Context, n int64) error // n counts calls from 1
	calls *atomic.Int64
}

func (r renewer) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	if err := r.renew(ctx, r.calls.Add(1)); err != nil {
		return err
	}
	return r.Sessions.Renew(ctx, scope, owner, ttl)
}

func hang(ctx context.Context, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}

// A renewal that hangs neither holds its worker when the batch is done, nor
// keeps the next renewal from extending the lease.
func TestRenewalHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		b := newBench(t, parts{extractor: s, opts: ingest.Options{Poll: time.Second, Workers: 1},
			sessions: func(s ingest.Sessions) ingest.Sessions { return renewer{s, hang, new(atomic.Int64)} }})
		b.run()
		op := b.ingest("s", event(t, "e1", 1, "one"))
		<-s.begun
		time.Sleep(4 * time.Second) // into the first renewal
		close(s.release)
		b.succeeds(op)
		b.succeeds(b.ingest("s", event(t, "e2", 2, "two"))) // the only worker is free
	})
}

// Renewals that fail are counted, and logged when they begin and cease to. The
// work goes on as long as the lease has not run out.
func TestRenewalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		opts := ingest.Options{Poll: time.Second, Log: slog.New(slog.NewTextHandler(&log, nil))}
		b := newBench(t, parts{extractor: s, opts: opts,
			sessions: func(s ingest.Sessions) ingest.Sessions {
				return renewer{s, func(ctx context.Context, n int64) error {
					switch {
					case n%3 == 1:
						return fmt.Errorf("%w: out for lunch", memory.ErrUnavailable)
					case n%3 == 2:
						return hang(ctx, n)
					}
					return nil
				}, new(atomic.Int64)}
			}})
		b.run()
		op := b.ingest("s", event(t, "e1", 1, "one"))
		<-s.begun
		time.Sleep(24 * time.Second) // into the eighth renewal
		close(s.release)
		b.succeeds(op)
		if n := b.service.RenewalsFailed(); n != 5 {
			t.Errorf("%d renewals counted as failed, want 5", n)
		}
		for what, want := range map[string]int{
			"the lease was not renewed": 3, "the lease is renewed again": 2, "out for lunch": 3,
		} {
			if n := strings.Count(log.String(), what); n != want {
				t.Errorf("%q is logged %d times, want %d:\n%s", what, n, want, &log)
			}
		}
	})
}

// Work stops when its lease has run out by this process's clock, as another
// process may have claimed the scope by then.
func TestLeaseRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		stopped := make(chan struct{})
		b := newBench(t, parts{extractor: observed{s, stopped}, opts: ingest.Options{Poll: time.Minute},
			sessions: func(s ingest.Sessions) ingest.Sessions { return renewer{s, hang, new(atomic.Int64)} }})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		<-s.begun
		begun := time.Now()
		<-stopped
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("the work stopped after %v, and the lease is of 10 s", took)
		}
		got, err := b.sessions.Status(t.Context(), scope, op.ID)
		if err != nil || got.State != sessionstore.Running || got.LastError != "" {
			t.Errorf("operation %+v, %v", got, err)
		}
		close(s.release)
		b.succeeds(op) // claimed again
	})
}

// observed is an extractor that closes stopped when its first extraction is
// stopped.
type observed struct {
	*stalled
	stopped chan struct{}
}

func (o observed) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	found, err := o.stalled.Extract(ctx, b)
	if err != nil {
		close(o.stopped)
	}
	return found, err
}

// delayed is a session store whose first renewal comes late, as after a process was
// stopped for a while.
type delayed struct {
	ingest.Sessions
	once    *sync.Once
	claimed *atomic.Int64 // batches
}

func (l delayed) Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]sessionstore.Work, error) {
	works, err := l.Sessions.Claim(ctx, owner, ttl, limit)
	l.claimed.Add(int64(len(works)))
	return works, err
}

func (l delayed) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	l.once.Do(func() {
		time.Sleep(ttl) // of the bubble's clock, and longer than the lease has left
		ctx = context.WithoutCancel(ctx)
	})
	return l.Sessions.Renew(ctx, scope, owner, ttl)
}

// A process does not claim a scope whose batch it is working on, although the lease
// has run out, before it has tried to renew that.
func TestLateRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		claimed := new(atomic.Int64)
		b := newBench(t, parts{extractor: s, opts: ingest.Options{Poll: time.Second, Workers: 4},
			sessions: func(s ingest.Sessions) ingest.Sessions { return delayed{s, new(sync.Once), claimed} }})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		<-s.begun
		time.Sleep(25 * time.Second)
		close(s.release)
		b.succeeds(op)
		if n := claimed.Load(); n != 1 {
			t.Errorf("the work was claimed %d times", n)
		}
	})
}
