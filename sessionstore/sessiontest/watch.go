package sessiontest

import (
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// watchCases are the promises of Operations that make it cheap to watch: a status
// without changes, word of each change, and the backlog.
func watchCases() []testCase {
	return []testCase{
		{"status", watchStatus},
		{"told of changes", watchTold},
		{"told by calls that fail", watchToldOfFailures},
		{"told when bound again", watchToldOfRebind},
		{"told of its own scope", watchToldScope},
		{"cancel", watchCancel},
		{"backlog", watchBacklog},
		{"backlog of given up work", watchBacklogFailed},
		{"counts", watchCounts},
	}
}

// Status is the operation's entry in the list, in every state. What it does not find
// has no changes either.
func watchStatus(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"))
	check := func(what string) {
		f.t.Helper()
		list, _, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
		if err != nil || len(list) != 1 {
			f.t.Fatalf("%s: Operations: %d of them, %v", what, len(list), err)
		}
		f.equal(what, f.operation(ann, op.ID), &list[0])
	}
	check("requested")
	work := f.claimOne(key)
	check("claimed")
	f.finish(work, 1, change(1))
	check("done in part")
	f.fail(f.claimOne(key), "no", time.Time{})
	check("failed")
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	check("retried")
	f.finish(f.claimOne(key), 2, change(2))
	check("done")
	f.hasChanges(op, change(1), change(2))
	f.delete(key)
	check("done, and the session deleted")
	for _, c := range []struct {
		scope memory.Scope
		id    string
	}{{bob, op.ID}, {ann, "x"}, {ann, sessionstore.OperationID(ann, "unknown")}} {
		f.noOperation(c.scope, c.id)
	}
	f.clock.advance(sessionstore.OperationTTL + time.Second)
	f.noOperation(ann, op.ID)
}

// noOperation checks that there is no operation, and no changes of it.
func (f *fixture) noOperation(scope memory.Scope, id string) {
	f.t.Helper()
	_, err := f.Status(f.t.Context(), scope, id)
	f.isA("Status", err, memory.ErrNotFound)
	_, _, err = f.Changes(f.t.Context(), scope, id, sessionstore.ChangePosition{})
	f.isA("Changes", err, memory.ErrNotFound)
}

// told collects what a subscription tells.
type told struct {
	mu       sync.Mutex
	sessions []string
}

// changed is the function to subscribe.
func (t *told) changed(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions = append(t.sessions, session)
}

// take returns the sessions told of since the last call, each once.
func (t *told) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.Compact(slices.Sorted(slices.Values(t.sessions)))
	t.sessions = nil
	return out
}

// subscribe subscribes to a scope until the test ends.
func (f *fixture) subscribe(scope memory.Scope) *told {
	f.t.Helper()
	t := &told{}
	all, cancel := f.Subscribe(scope, t.changed)
	f.t.Cleanup(cancel)
	f.equal("all changes are told", all, f.harness.Embedded)
	return t
}

// Each call that changes how operations stand tells the subscribers of its scope,
// with the session that the operations are of. Watchers in the process that works
// rely on it instead of reading again and again.
func watchTold(f *fixture) {
	key := session(ann, "s1")
	told := f.subscribe(ann)
	expect := func(call string) {
		f.t.Helper()
		f.equal("told after "+call, told.take(), []string{"s1"})
	}
	op := f.ask(key, f.said("e1"), f.said("e2"))
	told.take() // of one that is new, whose state nobody has read
	work := f.claimOne(key)
	expect("Claim")
	f.finish(work, 1)
	expect("Finish")
	work = f.claimOne(key)
	expect("Claim of the rest")
	f.fail(work, "no", time.Time{})
	expect("Fail")
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	expect("Retry")
	f.fail(f.claimOne(key), "no", time.Time{})
	told.take()
	f.ask(key, f.said("e3"))
	expect("a request that resumes failed work")
	f.delete(key)
	told.take()
	f.finish(f.claimOne(key), 3)
	expect("Finish of a deleted session")

	hidden := session(ann, "once")
	f.askOneShot(hidden, f.said("e1"))
	told.take()
	f.finish(f.claimOne(hidden), 1)
	f.equal("told of a one-shot session", told.take(), []string{"once"})
}

// A call that fails tells too: its effect may be there although its answer was
// lost.
func watchToldOfFailures(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	work := f.claimOne(key)
	told := f.subscribe(ann)
	work.Done = 7
	f.isA("Finish", f.Finish(f.t.Context(), work, 8, nil), memory.ErrAborted)
	f.equal("told after Finish", told.take(), []string{"s1"})
	f.isA("Fail", f.Fail(f.t.Context(), work, "no", time.Time{}), memory.ErrAborted)
	f.equal("told after Fail", told.take(), []string{"s1"})
}

// Rebind changes operations of all sessions and scopes.
func watchToldOfRebind(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	f.finish(f.claimOne(key), 1)
	anns, bobs := f.subscribe(ann), f.subscribe(bob)
	if _, err := f.Rebind(f.t.Context(), "another"); err != nil {
		f.t.Fatal(err)
	}
	f.equal("told", [][]string{anns.take(), bobs.take()}, [][]string{{""}, {""}})
}

// A subscription hears of its own scope alone: other users' work must not wake it.
func watchToldScope(f *fixture) {
	anns := f.subscribe(ann)
	key := session(bob, "s1")
	f.ask(key, f.said("e1"))
	f.finish(f.claimOne(key), 1)
	f.equal("told", anns.take(), []string(nil))
}

// A cancelled subscription hears nothing more, and others of its scope go on.
func watchCancel(f *fixture) {
	key := session(ann, "s1")
	first, second := &told{}, f.subscribe(ann)
	_, cancel := f.Subscribe(ann, first.changed)
	f.ask(key, f.said("e1"))
	work := f.claimOne(key)
	f.equal("both are told", [][]string{first.take(), second.take()}, [][]string{{"s1"}, {"s1"}})
	cancel()
	cancel() // a second time does no harm
	f.finish(work, 1)
	f.equal("told after cancel", first.take(), []string(nil))
	f.equal("the other", second.take(), []string{"s1"})
}

// backlog reads the backlog.
func (f *fixture) backlog() sessionstore.Backlog {
	f.t.Helper()
	b, err := f.Backlog(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// The backlog counts the scopes with work, claimed or not, and has the time since
// when the oldest of it waits. Operators are warned by its age.
func watchBacklog(f *fixture) {
	f.equal("at first", f.backlog(), sessionstore.Backlog{})
	f.create(session(ann, "idle"), `{}`, f.said("e1"))
	f.equal("without a request", f.backlog(), sessionstore.Backlog{})
	began := f.now()
	f.ask(session(ann, "s1"), f.said("e1"), f.said("e2"))
	f.clock.advance(time.Second)
	f.ask(session(ann, "s2"), f.said("e1"))
	f.ask(session(bob, "s1"), f.said("e1"))
	f.equal("requested", f.backlog(), sessionstore.Backlog{Scopes: 2, Oldest: began})
	works := f.claim("worker", 10)
	f.equal("claimed", f.backlog(), sessionstore.Backlog{Scopes: 2, Oldest: began})
	for _, w := range works {
		f.finish(w, 1)
	}
	f.equal("the first batches done", f.backlog(), sessionstore.Backlog{Scopes: 1, Oldest: began.Add(time.Second)})
	for f.backlog().Scopes > 0 {
		for _, w := range f.claim("worker", 10) {
			f.finish(w, w.Requested)
		}
	}
	f.equal("all done", f.backlog(), sessionstore.Backlog{})
}

// Work that waits to be tried again is in the backlog since it was requested, and
// work that was given up is not: only a client brings it back.
func watchBacklogFailed(f *fixture) {
	key := session(ann, "s1")
	began := f.now()
	op := f.ask(key, f.said("e1"))
	f.clock.advance(time.Second)
	f.fail(f.claimOne(key), "no", f.now().Add(time.Hour))
	f.equal("to be tried again", f.backlog(), sessionstore.Backlog{Scopes: 1, Oldest: began})
	f.clock.advance(2 * time.Hour)
	f.fail(f.claimOne(key), "no", time.Time{})
	f.equal("given up", f.backlog(), sessionstore.Backlog{})
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	f.equal("retried", f.backlog(), sessionstore.Backlog{Scopes: 1, Oldest: f.now()})
}

// A store that counts operations counts each when it comes into a state: requested,
// succeeded, or given up. Operators see from it whether what is asked for gets done.
func watchCounts(f *fixture) {
	counter, ok := f.Backend.(interface {
		OperationCounts() map[sessionstore.OperationState]int64
	})
	if !ok {
		f.t.Skip("the store counts nothing")
	}
	expect := func(what string, requested, succeeded, failed int64) {
		f.t.Helper()
		f.equal(what, counter.OperationCounts(), map[sessionstore.OperationState]int64{
			sessionstore.Pending: requested, sessionstore.Succeeded: succeeded, sessionstore.Failed: failed})
	}
	key := session(ann, "s1")
	expect("at first", 0, 0, 0)
	f.ask(key, f.said("e1"))
	f.ask(key, f.said("e2"))
	last := f.ask(key, f.said("e3"))
	expect("requested", 3, 0, 0)
	f.finish(f.claimOne(key), 2)
	expect("two are done", 3, 2, 0)
	f.fail(f.claimOne(key), "no", f.now().Add(time.Second))
	expect("to be tried again", 3, 2, 0)
	f.clock.advance(time.Minute)
	f.fail(f.claimOne(key), "no", time.Time{})
	expect("given up", 3, 2, 1)
	if _, err := f.Retry(f.t.Context(), ann, last.ID); err != nil {
		f.t.Fatal(err)
	}
	work := f.claimOne(key)
	f.finish(work, 3)
	expect("retried and done", 3, 3, 1)
	f.isA("Finish again", f.Finish(f.t.Context(), work, 3, nil), memory.ErrAborted)
	f.ask(key)
	expect("one without work", 4, 4, 1)
}
