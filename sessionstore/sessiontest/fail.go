package sessiontest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// failCases are the promises of Progress.Fail and Operations.Retry: when failed
// work is due again.
func failCases() []testCase {
	return []testCase{
		{"due again at a time", failRetry},
		{"given up", failForGood},
		{"requested again", failRequest},
		{"retried", failRetried},
		{"does not delay others", failOthers},
		{"retry of what has not failed", failRetryNothing},
		{"retry of another's", failRetryAnothers},
	}
}

// Work that failed is due at the time given, not before. A model that asks for
// a pause gets it.
func failRetry(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "model away", f.now().Add(time.Minute))
	got := f.operation(ann, op.ID)
	f.equal("operation", got, &sessionstore.Operation{Request: sessionstore.Request{ID: op.ID}, Key: key,
		State: sessionstore.Running, CreateTime: f.now(), Attempts: 1, LastError: "model away", EventsTotal: 1})
	f.idle("too early")
	f.clock.advance(time.Minute - time.Microsecond)
	f.idle("still too early")
	f.clock.advance(time.Microsecond)
	work := f.claimOne(key)
	f.equal("attempts", work.Attempts, 2)
	f.fail(work, "model still away", f.now().Add(time.Hour))
	got = f.operation(ann, op.ID)
	f.equal("last error", got.LastError, "model still away")
	f.equal("state", got.State, sessionstore.Running)
	f.equal("attempts", got.Attempts, 2)
	f.clock.advance(time.Hour)
	f.finish(f.claimOne(key), 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
}

// Work that failed without a retry time is not due by itself, and the operation
// is FAILED. Work that can never succeed must not be tried forever.
func failForGood(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	f.finish(f.claimOne(key), 1, change(1))
	f.fail(f.claimOne(key), "cannot be done: <é>", time.Time{})
	f.idle("given up")
	f.clock.advance(24 * time.Hour)
	f.idle("given up")
	f.append(key, f.said("e4"))
	f.idle("an event alone asks for nothing")
	got := f.operation(ann, op.ID)
	f.equal("operation", got, &sessionstore.Operation{Request: sessionstore.Request{ID: op.ID}, Key: key,
		State: sessionstore.Failed, CreateTime: op.CreateTime,
		Attempts: 1, LastError: "cannot be done: <é>", EventsTotal: 3, EventsDone: 1})
	f.equal("changes", len(f.changes(ann, op.ID)), 1)
	if !got.Done() {
		f.t.Error("a failed operation is not done")
	}
}

// A new request makes failed work due at once and counts its attempts from the
// start. So the failed operation has another chance too. The cause may be gone,
// and the client shows that it still wants the memories.
func failRequest(f *fixture) {
	key := session(ann, "s1")
	first := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", f.now())
	f.fail(f.claimOne(key), "no", time.Time{})
	second := f.ask(key, f.said("e2"))
	f.equal("state of the new operation", second.Done(), false)
	work := f.claimOne(key)
	f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Requested: 2, Attempts: 1,
		Request: sessionstore.Request{ID: first.ID},
		Asked:   []sessionstore.Asked{{Operation: first.ID, Last: 1}, {Operation: second.ID, Last: 2}}})
	f.finish(work, 2)
	f.equal("state of the first", f.operation(ann, first.ID).State, sessionstore.Succeeded)
	f.equal("state of the second", f.operation(ann, second.ID).State, sessionstore.Succeeded)

	third := f.ask(key, f.said("e3"))
	f.fail(f.claimOne(key), "no", time.Time{})
	f.ask(key) // no new event
	f.finish(f.claimOne(key), 3)
	f.equal("state of the third", f.operation(ann, third.ID).State, sessionstore.Succeeded)
}

// Retry makes failed work due at once. An operator who has removed the cause
// calls it.
func failRetried(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	work := f.claimOne(key)
	f.save(work, 1, `"plan"`)
	f.fail(work, "no", time.Time{})
	got, err := f.Retry(f.t.Context(), ann, op.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("state", got.State, sessionstore.Running)
	f.equal("read", f.operation(ann, op.ID), got)
	work = f.claimOne(key)
	f.equal("plan", string(work.Plan), `"plan"`)
	f.equal("attempts of the operation", f.operation(ann, op.ID).Attempts, 2)
	f.finish(work, 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
}

// Work that waits to be tried again, or has failed, does not delay the other
// work of its scope. One conversation that a model refuses must not block all
// others of the user.
func failOthers(f *fixture) {
	for _, id := range []string{"s1", "s2", "s3"} {
		f.clock.advance(time.Second)
		f.ask(session(ann, id), f.said("e1"))
	}
	f.fail(f.claimOne(session(ann, "s1")), "no", f.now().Add(time.Hour))
	f.fail(f.claimOne(session(ann, "s2")), "no", time.Time{})
	f.finish(f.claimOne(session(ann, "s3")), 1)
	f.idle("the rest waits")
	f.clock.advance(time.Hour)
	f.finish(f.claimOne(session(ann, "s1")), 1)
	f.idle("s2 is given up")
}

// Retry of an operation that has not failed changes nothing, except that it no
// longer waits to be tried again. A second click must not start work twice.
func failRetryNothing(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	retry := func(what string) {
		f.t.Helper()
		want := f.operation(ann, op.ID)
		got, err := f.Retry(f.t.Context(), ann, op.ID)
		if err != nil {
			f.t.Fatalf("Retry of one that is %s: %v", what, err)
		}
		f.equal(what, got, want)
		f.equal(what+", read", f.operation(ann, op.ID), want)
	}
	retry("pending")
	work := f.claimOne(key)
	retry("running")
	f.idle("leased")
	f.fail(work, "no", f.now().Add(time.Hour))
	f.idle("not yet due")
	retry("to be tried again")
	work = f.claimOne(key) // at once
	f.equal("attempts", work.Attempts, 2)
	f.finish(work, 1, change(1))
	retry("succeeded")
	f.idle("done")
}

// Retry of another scope's operation, or of an unknown one, is ErrNotFound and
// does nothing. An operation's id is no permission.
func failRetryAnothers(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", time.Time{})
	for _, scope := range []memory.Scope{bob, {App: "bank", User: "ann"}} {
		_, err := f.Retry(f.t.Context(), scope, op.ID)
		f.isA("Retry", err, memory.ErrNotFound)
	}
	for _, id := range []string{"", "x", sessionstore.OperationID(ann, "unknown"), sessionstore.OperationID(bob,
		"operation-1")} {
		_, err := f.Retry(f.t.Context(), ann, id)
		f.isA("Retry", err, memory.ErrNotFound)
	}
	f.idle("given up")
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Failed)
}
