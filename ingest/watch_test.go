package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// readSessions is a session store that counts the reads of operations, and lets a
// test replace them.
type readSessions struct {
	ingest.Sessions
	shared   bool // with other processes, by what Subscribe says
	statuses atomic.Int64
	changes  atomic.Int64 // reads of Changes

	mu     sync.Mutex
	status func(ctx context.Context) error // called before each Status, if it is set
}

func (r *readSessions) wrap(s ingest.Sessions) ingest.Sessions { r.Sessions = s; return r }

// before has f called before each Status.
func (r *readSessions) before(f func(ctx context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = f
}

func (r *readSessions) Status(ctx context.Context, s memory.Scope, id string) (*sessionstore.Operation, error) {
	r.statuses.Add(1)
	r.mu.Lock()
	f := r.status
	r.mu.Unlock()
	if f != nil {
		if err := f(ctx); err != nil {
			return nil, err
		}
	}
	return r.Sessions.Status(ctx, s, id)
}

func (r *readSessions) Changes(
	ctx context.Context, s memory.Scope, id string, after sessionstore.ChangePosition,
) ([]json.RawMessage, sessionstore.ChangePosition, error) {
	r.changes.Add(1)
	return r.Sessions.Changes(ctx, s, id, after)
}

func (r *readSessions) Subscribe(s memory.Scope, changed func(string)) (bool, func()) {
	all, cancel := r.Sessions.Subscribe(s, changed)
	return all && !r.shared, cancel
}

// watch begins to watch until the test ends.
func (b *bench) watch(op *sessionstore.Operation) *ingest.Watcher {
	b.Helper()
	w, err := b.service.Watch(scope, op.ID)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	return w
}

// next returns the next update of a watcher.
func (b *bench) next(w *ingest.Watcher) *ingest.Update {
	b.Helper()
	u, err := w.Next(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// nothingWatched checks that no watcher and no watched operation is left.
func (b *bench) nothingWatched() {
	b.Helper()
	if got := b.service.WatchStats(); got.Watchers != 0 || got.Operations != 0 {
		b.Errorf("left behind: %+v", got)
	}
}

// late finds facts once it is released.
type late struct {
	extract.Extractor
	*stalled
}

func (l *late) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	if _, err := l.stalled.Extract(ctx, b); err != nil {
		return extract.Found{}, err
	}
	return l.Extractor.Extract(ctx, b)
}

func (l *late) Name() string { return l.Extractor.Name() }
func (l *late) Budget() int  { return l.Extractor.Budget() }

// In the process that does the work, watchers cost nothing while nothing happens,
// and one read for all of them when something does.
func TestWatchersShareReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &late{rules.New(), &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}}
		r := &readSessions{}
		b := newBench(t, parts{extractor: s, sessions: r.wrap, opts: ingest.Options{Poll: time.Second}})
		op := b.ingest("s", event(t, "e1", 1, "I love figs."))
		const watchers = 500
		var ends [watchers]*ingest.Update
		var watching sync.WaitGroup
		for i := range watchers {
			w := b.watch(op)
			watching.Go(func() {
				defer w.Close()
				for {
					u, err := w.Next(t.Context())
					if err == io.EOF {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					ends[i] = u
				}
			})
		}
		b.run()
		<-s.begun
		time.Sleep(time.Hour)
		if n := r.statuses.Load(); n > 3 {
			t.Errorf("%d reads in an hour in which nothing changed", n)
		}
		if got := b.service.WatchStats(); got.Watchers != watchers || got.Operations != 1 {
			t.Errorf("while they watch: %+v", got)
		}
		close(s.release)
		watching.Wait()
		for i, u := range ends {
			if u == nil || u != ends[0] || !u.Done() {
				t.Fatalf("watcher %d ends with %+v, the first one with %+v", i, u, ends[0])
			}
		}
		if n := r.changes.Load(); n != 0 {
			t.Errorf("the changes were read %d times: an operation may have any number", n)
		}
		b.nothingWatched()
	})
}

// An answer is encoded once for all watchers.
func TestUpdateIsEncodedOnce(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	op := b.succeeds(b.ingest("s", event(t, "e1", 1, "I love figs.")))
	w, calls := b.watch(op), 0
	u := b.next(w)
	for range 3 {
		raw, err := u.Encoded(func(op *sessionstore.Operation) ([]byte, error) {
			calls++
			return []byte(op.ID), nil
		})
		if err != nil || string(raw) != op.ID {
			t.Errorf("%q, %v", raw, err)
		}
	}
	if calls != 1 {
		t.Errorf("encoded %d times", calls)
	}
	if _, err := w.Next(t.Context()); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

// Work of another session, and of another user, is not read for.
func TestWatchersOfOthersSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		r := &readSessions{}
		b := newBench(t, parts{extractor: s, sessions: r.wrap, opts: ingest.Options{Poll: time.Second}})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		<-s.begun
		w := b.watch(op)
		b.next(w)
		synctest.Wait()
		before := r.statuses.Load()
		for i := range 10 {
			b.ingest("other", event(t, fmt.Sprint("e", i), 1, "two"))
			bob := sessionstore.Key{Scope: memory.Scope{App: "app", User: "bob"}, ID: "s"}
			if _, err := b.service.Ingest(t.Context(), bob, nil, ingest.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if n := r.statuses.Load() - before; n != 0 {
			t.Errorf("%d reads for the work of others", n)
		}
		close(s.release)
		b.succeeds(op)
	})
}

// Where another process may do the work, all watchers of an operation share one
// poll. While this process has the lease there is none.
func TestWatchersPollTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
		r := &readSessions{shared: true}
		b := newBench(t, parts{extractor: s, sessions: r.wrap, opts: ingest.Options{Poll: time.Second}})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		first := b.watch(op)
		for range 40 {
			b.watch(op)
		}
		if u := b.next(first); u.State != sessionstore.Pending {
			t.Errorf("at first: %s", u.State)
		}
		polls := func(d time.Duration) int64 {
			before := r.statuses.Load()
			time.Sleep(d)
			return r.statuses.Load() - before
		}
		if n := polls(time.Minute); n < 200 || n > 241 {
			t.Errorf("%d polls in a minute", n)
		}
		// Another process works: only a poll can see it.
		works, err := r.Sessions.Claim(t.Context(), "another process", 10*time.Second, 1)
		if err != nil || len(works) != 1 {
			t.Fatal(works, err)
		}
		if u := b.next(first); u.State != sessionstore.Running {
			t.Errorf("claimed by another process: %s", u.State)
		}
		time.Sleep(11 * time.Second) // its lease is over
		b.run()
		<-s.begun
		synctest.Wait()
		if n := polls(time.Minute); n > 1 { // the claim may still be read
			t.Errorf("%d polls in a minute in which this process has the lease", n)
		}
		close(s.release)
		b.succeeds(op)
	})
}

// Many polled operations are read less often, so that all of them together take
// no more of the store.
func TestPollsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &readSessions{shared: true}
		b := newBench(t, parts{sessions: r.wrap})
		for i := range 500 / sparse { // with all of them the race detector itself fails
			b.watch(b.ingest(fmt.Sprint("s", i), event(t, "e1", 1, "one")))
		}
		synctest.Wait()
		before := r.statuses.Load()
		time.Sleep(10 * time.Second)
		if n := r.statuses.Load() - before; n > 10_000 {
			t.Errorf("%d reads in ten seconds", n)
		}
	})
}

// A watcher beyond the limit is refused in words that name the flag. An app gets as
// many places as are free, so that another app finds some, and a user leaves some of
// its app's to other users. A place is free again when a watcher has left.
func TestMaxWatchers(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{MaxWatchers: 8}})
	op := b.ingest("s", event(t, "e1", 1, "one"))
	refused := func(who string, err error) {
		t.Helper()
		refusal := (*memory.Refusal)(nil)
		if !errors.As(err, &refusal) || refusal.Flag() != "max-watchers" {
			t.Errorf("%s: %v", who, err)
		}
	}
	first := b.watch(op)
	b.watch(op)
	_, err := b.service.Watch(scope, op.ID)
	refused("a third one of the same user", err)
	other := func(user string) error {
		s := memory.Scope{App: scope.App, User: user}
		w, err := b.service.Watch(s, sessionstore.OperationID(s, "unknown"))
		if err == nil {
			t.Cleanup(w.Close)
		}
		return err
	}
	if err := errors.Join(other("bob"), other("cleo")); err != nil {
		t.Errorf("other users of the app: %v", err)
	}
	refused("a fifth one of the same app", other("dan"))
	last, err := b.service.Wait(t.Context(), scope, op.ID, time.Hour)
	if refused("Wait", err); last != nil {
		t.Errorf("Wait gives %+v", last)
	}
	for _, s := range []memory.Scope{{App: "two", User: "ann"}, {App: "two", User: "bob"}, {App: "three", User: "ann"}} {
		w, err := b.service.Watch(s, sessionstore.OperationID(s, "unknown"))
		if err != nil {
			t.Errorf("%v: %v", s, err)
			continue
		}
		t.Cleanup(w.Close)
	}
	two := memory.Scope{App: "two", User: "cleo"}
	_, err = b.service.Watch(two, sessionstore.OperationID(two, "unknown"))
	refused("a third one of the second app", err)
	if got := b.service.WatchStats(); got.Watchers != 7 || got.Limit != 8 || got.Refused != 4 {
		t.Errorf("%+v", got)
	}
	_, err = b.service.Watch(scope, op.ID)
	refused("one more of the first app", err)
	first.Close()
	first.Close() // a second time does no harm
	_, err = b.service.Watch(scope, op.ID)
	refused("with two places free", err)
	four := memory.Scope{App: "four", User: "ann"}
	for range 2 {
		w, err := b.service.Watch(four, sessionstore.OperationID(four, "unknown"))
		if err != nil {
			break
		}
		defer w.Close()
	}
	if got := b.service.WatchStats().Watchers; got != 7 {
		t.Errorf("%d watchers, with one place that only another app may have", got)
	}
}

// A limit of one place serves one watcher.
func TestOneWatcher(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{MaxWatchers: 1}})
	op := b.ingest("s", event(t, "e1", 1, "one"))
	b.watch(op).Close()
	b.watch(op)
	if _, err := b.service.Watch(scope, op.ID); err == nil {
		t.Error("a second one is not refused")
	}
}

// Nothing is left of watchers of operations that are unknown or over.
func TestWatchersLeaveNothing(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	op := b.succeeds(b.ingest("s", event(t, "e1", 1, "one")))
	for i := range 50 {
		user := memory.Scope{App: "app", User: fmt.Sprint("user", i)}
		last, err := b.service.Wait(t.Context(), user, sessionstore.OperationID(user, "unknown"), time.Hour)
		if !errors.Is(err, memory.ErrNotFound) || last != nil {
			t.Fatalf("%+v, %v", last, err)
		}
		b.succeeds(op)
	}
	b.nothingWatched()
}

// Wait returns at its limit whatever the store does: here a read hangs that does
// not heed its context.
func TestWaitWhileStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &readSessions{shared: true}
		b := newBench(t, parts{sessions: r.wrap})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		hang := make(chan struct{})
		for _, known := range []bool{false, true} {
			began := time.Now()
			hangs := func(context.Context) error { <-hang; return nil }
			r.before(hangs) // before there is a watcher, which reads at once
			if known {
				r.before(nil)
			}
			w := b.watch(op)
			if known {
				b.next(w)
				r.before(hangs)
			}
			last, err := b.service.Wait(t.Context(), scope, op.ID, 30*time.Second)
			if took := time.Since(began); took > 31*time.Second {
				t.Errorf("known %t: took %v", known, took)
			}
			if known && (err != nil || last == nil || last.State != sessionstore.Pending) {
				t.Errorf("after a first read: %+v, %v", last, err)
			}
			if !known && (last != nil || !errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("without a first read: %+v, %v", last, err)
			}
			w.Close()
		}
		b.nothingWatched()
		// Run ends only after the reads that were left, so that the store may be closed.
		stop := b.run()
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		time.Sleep(time.Second)
		select {
		case <-stopped:
			t.Error("Run has ended during a read")
		default:
		}
		close(hang)
		<-stopped
	})
}

// A store that hangs and heeds its context fails its watchers after a while, so
// that a client without a limit of its own learns of it.
func TestWatchWhileStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &readSessions{}
		r.before(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		b := newBench(t, parts{sessions: r.wrap})
		w := b.watch(b.ingest("s", event(t, "e1", 1, "one")))
		if u, err := w.Next(t.Context()); u != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// An error of the store in the middle of a wait ends it, with the state that was
// seen before. So does a panic.
func TestWaitFails(t *testing.T) {
	for _, fail := range []func(context.Context) error{
		func(context.Context) error { return errBroken },
		func(context.Context) error { panic(errBroken) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &readSessions{shared: true}
			b := newBench(t, parts{sessions: r.wrap})
			op := b.ingest("s", event(t, "e1", 1, "one"))
			b.next(b.watch(op))
			r.before(fail)
			last, err := b.service.Wait(t.Context(), scope, op.ID, time.Minute)
			if last == nil || last.State != sessionstore.Pending || !errors.Is(err, errBroken) {
				t.Errorf("%+v, %v", last, err)
			}
			r.before(nil)
			b.run()
			b.succeeds(op) // the next watcher reads anew
		})
	}
}

// Wait returns when its caller leaves, with the state that was seen before.
func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, parts{})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		last, err := b.service.Wait(ctx, scope, op.ID, time.Minute)
		if last == nil || last.ID != op.ID || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", last, err)
		}
		synctest.Wait()
		b.nothingWatched()
	})
}

// A watcher that reads nothing holds up neither the others nor the work, and then
// sees the latest state alone.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, parts{opts: ingest.Options{BatchEvents: 1}})
		var events []sessionstore.Event
		for i := range 20 {
			events = append(events, event(t, fmt.Sprint("e", i), i, "I love figs."))
		}
		op := b.ingest("s", events...)
		slow := b.watch(op)
		b.next(slow)
		b.run()
		fast := b.watch(op)
		seen := 0
		for {
			u, err := fast.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if u.EventsDone < seen {
				t.Errorf("from %d to %d events done", seen, u.EventsDone)
			}
			seen = u.EventsDone
		}
		if u := b.next(slow); u.State != sessionstore.Succeeded {
			t.Errorf("the slow one sees %s", u.State)
		}
	})
}

// A watcher of an operation that has failed sees that, and one after its retry
// sees how it goes on.
func TestWatchRetried(t *testing.T) {
	m := &fuse{left: 1}
	b := newBench(t, parts{opts: ingest.Options{MaxAttempts: 1},
		sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, m} }})
	op := b.ingest("s", event(t, "e1", 1, "one"))
	early := b.watch(op)
	b.run()
	if got := b.done(op); got.State != sessionstore.Failed {
		t.Fatalf("%+v", got)
	}
	if _, err := b.service.Retry(t.Context(), scope, op.ID); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		b.succeeds(op)
	}
	for {
		u, err := early.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if u.Done() && u.State != sessionstore.Failed {
			t.Errorf("the early one ends with %s", u.State)
		}
	}
}
