package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// triggerCases are the promises about Append.Trigger: when events that were asked for
// become work.
func triggerCases() []testCase {
	return []testCase{
		{"after some events", triggerCount},
		{"after an idle time", triggerIdle},
		{"at an interval", triggerEvery},
		{"a day at the latest", triggerDay},
		{"whichever comes first", triggerFirst},
		{"one operation for all that wait", triggerOneOperation},
		{"events sent again", triggerRepeated},
		{"flushed", triggerFlush},
		{"a request without a trigger", triggerNow},
		{"the session's own", triggerOwn},
		{"events that come while others are made", triggerWhileClaimed},
		{"after work was given up", triggerAfterFailure},
		{"retried", triggerRetry},
		{"since it is due", triggerOrder},
		{"many at once", triggerMany},
		{"survives a restart", triggerRestart},
		{"of a deleted session", triggerDeleted},
		{"of a session that expires", triggerExpired},
		{"of an erased session", triggerErased},
		{"in an archive", triggerArchive},
		{"in other memories", triggerRebind},
		{"refused", triggerRefused},
		{"concurrent appends", triggerTogether},
	}
}

// waitFor asks for memories of events when a trigger says so.
func (f *fixture) waitFor(
	key sessionstore.Key, t sessionstore.Trigger, events ...sessionstore.Event) sessionstore.Operation {
	f.t.Helper()
	return f.askLater(key, sessionstore.Append{Create: true, Trigger: &t}, events...)
}

// askLater is askWith for a request that may join the operation of those before it.
func (f *fixture) askLater(key sessionstore.Key, opts sessionstore.Append,
	events ...sessionstore.Event) sessionstore.Operation {
	f.t.Helper()
	f.asked++
	request := sessionstore.Request{}
	if opts.Request != nil {
		request = *opts.Request
	}
	request.ID = sessionstore.OperationID(key.Scope, fmt.Sprintf("operation-%d", f.asked))
	opts.Request = &request
	out := f.appendWith(key, opts, events...)
	if out.Operation == nil || out.Operation.Key != key {
		f.t.Fatalf("Append(%v) with a request answers operation %+v", key, out.Operation)
	}
	return *out.Operation
}

// waits checks that an operation waits for its trigger until due, and that no work is
// there.
func (f *fixture) waits(op sessionstore.Operation, due time.Time) {
	f.t.Helper()
	got := f.operation(op.Key.Scope, op.ID)
	f.equal("state", got.State, sessionstore.Pending)
	f.equal("due", got.DueTime, due)
	f.idle("the events wait for a trigger")
}

const minute = time.Minute

// With Count, the event that makes so many wait makes them work, whichever append brings
// it, and the count begins again.
func triggerCount(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 3}
	op := f.waitFor(key, t, f.said("e1"))
	f.waits(op, f.now().Add(sessionstore.MaxTriggerWait))
	f.equal("trigger", f.operation(ann, op.ID).Trigger, t)
	f.waitFor(key, t, f.said("e2"))
	f.idle("two of three")
	f.equal("operation", f.waitFor(key, t, f.said("e3")).ID, op.ID)
	got := f.operation(ann, op.ID)
	f.equal("events", got.EventsTotal, 3)
	f.equal("due", got.DueTime, time.Time{})
	f.equal("trigger", got.Trigger, sessionstore.Trigger{})
	f.finish(f.claimOne(key), 3)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.waitFor(key, t, f.said("e4"), f.said("e5"))
	f.idle("two of the next three")
	f.waitFor(key, t, f.said("e6"), f.said("e7"))
	work := f.claimOne(key)
	f.equal("work", []int64{work.Done, work.Requested}, []int64{3, 7})
	// Events that were stored before without a request count.
	f.finish(work, 7)
	f.append(key, f.said("e8"), f.said("e9"))
	f.waitFor(key, t, f.said("e10"))
	f.equal("requested", f.claimOne(key).Requested, int64(10))
}

// With Idle, events become work once none has come for so long. An append without a
// request is no sign of life: nobody asks for memories of it.
func triggerIdle(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	op := f.waitFor(key, t, f.said("e1"))
	f.clock.advance(minute - time.Second)
	f.waitFor(key, t, f.said("e2"))
	f.clock.advance(minute - time.Second)
	f.waits(op, f.now().Add(time.Second))
	f.append(key, f.said("e3"))
	f.clock.advance(time.Second)
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(2))
	f.finish(work, 2)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.idle("the last event was not asked for")
}

// With Every, events become work so long after the first of them, however many follow,
// and the next ones so long after the first of those.
func triggerEvery(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Every: time.Hour}
	for round := range 2 {
		due := f.now().Add(time.Hour)
		for i := range 6 {
			f.waits(f.waitFor(key, t, f.said(fmt.Sprintf("e%d of %d", i, round))), due)
			f.clock.advance(10 * minute)
		}
		work := f.claimOne(key)
		f.equal("requested", work.Requested, int64(6*round+6))
		f.finish(work, work.Requested)
		f.clock.advance(25 * minute)
		f.idle("nothing waits")
	}
}

// Whatever the trigger says, events become work once none has come for a day. A
// conversation that ends before its trigger fires is not forgotten.
func triggerDay(f *fixture) {
	for i, t := range []sessionstore.Trigger{{Count: 100}, {Every: 72 * time.Hour}, {Count: 9, Idle: 24 * time.Hour}} {
		key := session(ann, fmt.Sprint("s", i))
		op := f.waitFor(key, t, f.said("e1"))
		f.clock.advance(23 * time.Hour)
		f.waitFor(key, t, f.said("e2"))
		f.waits(op, f.now().Add(24*time.Hour))
		f.clock.advance(24 * time.Hour)
		f.finish(f.claimOne(key), 2)
	}
}

// A trigger with several conditions fires with the first of them.
func triggerFirst(f *fixture) {
	t := sessionstore.Trigger{Count: 3, Idle: minute}
	f.waitFor(session(ann, "idle"), t, f.said("e1"))
	f.clock.advance(minute)
	f.finish(f.claimOne(session(ann, "idle")), 1)
	f.waitFor(session(ann, "count"), t, f.said("e1"), f.said("e2"), f.said("e3"))
	f.finish(f.claimOne(session(ann, "count")), 3)
	t = sessionstore.Trigger{Count: 3, Every: minute}
	f.waitFor(session(ann, "every"), t, f.said("e1"))
	f.clock.advance(minute)
	f.finish(f.claimOne(session(ann, "every")), 1)
}

// The appends that bring events while some wait have one operation: that of the first,
// with its request. It is about all events that wait, and ends with them. A client that
// sends each event by itself has one thing to look at.
func triggerOneOperation(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	first := f.askLater(key, sessionstore.Append{Create: true, Trigger: &t,
		Request: &sessionstore.Request{DisableConsolidation: true}}, f.said("e1"))
	f.equal("events", first.EventsTotal, 1)
	began := f.now()
	for i := range 3 {
		f.clock.advance(time.Second)
		again := f.waitFor(key, t, f.said(fmt.Sprint("e", i+2)))
		f.equal("operation", again.ID, first.ID)
		f.equal("events", again.EventsTotal, i+2)
		f.equal("since", again.CreateTime, began)
		f.equal("due", again.DueTime, f.now().Add(minute))
	}
	list, _, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
	if err != nil || len(list) != 1 {
		f.t.Fatalf("Operations gives %+v, %v", list, err)
	}
	f.equal("listed", &list[0], f.operation(ann, first.ID))
	f.clock.advance(minute)
	work := f.claimOne(key)
	f.equal("request", work.Request, sessionstore.Request{ID: first.ID, DisableConsolidation: true})
	f.equal("attempts", f.operation(ann, first.ID).Attempts, 1)
	f.finish(work, 2, change(1))
	f.equal("state", f.operation(ann, first.ID).State, sessionstore.Running)
	f.finish(f.claimOne(key), 4, change(4))
	f.hasChanges(first, change(1), change(4))
	next := f.waitFor(key, t, f.said("e5"))
	f.equal("events of the next", next.EventsTotal, 1)
	if next.ID == first.ID {
		f.t.Error("an operation that has ended is used again")
	}
}

// Events that are sent again change nothing: neither when the trigger fires nor, if
// memories of all were made or asked for, what waits.
func triggerRepeated(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 3, Idle: minute}
	op := f.waitFor(key, t, f.said("e1"), f.said("e2"))
	due := f.now().Add(minute)
	f.clock.advance(30 * time.Second)
	f.waits(f.waitFor(key, t, f.said("e1"), f.said("e2")), due)
	f.waits(f.waitFor(key, t), due)
	f.clock.advance(30 * time.Second)
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(2))
	f.equal("events", f.waitFor(key, t, f.said("e2")).EventsTotal, 2)
	f.finish(work, 2)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.equal("state", f.waitFor(key, t, f.said("e1")).State, sessionstore.Succeeded)
	f.idle("all is done")
}

// Flush makes all that waits work at once.
func triggerFlush(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	op := f.waitFor(key, t, f.said("e1"))
	now := f.askLater(key, sessionstore.Append{Trigger: &t, Flush: true}, f.said("e2"))
	f.equal("due", []time.Time{now.DueTime, f.operation(ann, op.ID).DueTime}, make([]time.Time, 2))
	f.finish(f.claimOne(key), 2)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.equal("state", f.operation(ann, now.ID).State, sessionstore.Succeeded)
	f.waits(f.waitFor(key, t, f.said("e3")), f.now().Add(minute))
}

// A request without a trigger makes all that waits work at once, whatever trigger the
// session has, and leaves that trigger.
func triggerNow(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	op := f.askLater(key, sessionstore.Append{Create: true, Trigger: &t, OwnTrigger: true}, f.said("e1"))
	now := f.ask(key)
	f.equal("events", now.EventsTotal, 1)
	work := f.claimOne(key)
	f.equal("the oldest request", work.Request.ID, op.ID)
	f.finish(work, 1)
	for _, one := range []sessionstore.Operation{op, now} {
		f.equal("state", f.operation(ann, one.ID).State, sessionstore.Succeeded)
	}
	f.waits(f.waitFor(key, sessionstore.Trigger{}, f.said("e2")), f.now().Add(minute))
}

// The trigger that an append makes the session's own counts in place of those that others
// bring, until an append makes another its own. It counts for events that wait already.
func triggerOwn(f *fixture) {
	key := session(ann, "s1")
	own := func(t sessionstore.Trigger, events ...sessionstore.Event) sessionstore.Operation {
		f.t.Helper()
		return f.askLater(key, sessionstore.Append{Create: true, Trigger: &t, OwnTrigger: true}, events...)
	}
	byApp := sessionstore.Trigger{Count: 2, Overlap: 1}
	own(sessionstore.Trigger{Idle: minute})
	f.idle("nothing was asked for")
	op := f.waitFor(key, byApp, f.said("e1"), f.said("e2"))
	f.waits(op, f.now().Add(minute))
	f.reopen()
	f.waits(f.waitFor(key, byApp, f.said("e3")), f.now().Add(minute))
	f.waits(own(sessionstore.Trigger{Every: time.Hour}), f.now().Add(time.Hour))
	f.waits(own(sessionstore.Trigger{Count: 4, Overlap: 3}), f.now().Add(24*time.Hour))
	f.waitFor(key, byApp, f.said("e4"))
	work := f.claimOne(key)
	f.equal("overlap", work.Overlap, 3)
	f.finish(work, 4)
	f.equal("at once", own(sessionstore.Trigger{}, f.said("e5")).DueTime, time.Time{})
	f.finish(f.claimOne(key), 5)
	f.equal("still at once", f.waitFor(key, byApp, f.said("e6")).DueTime, time.Time{})
	work = f.claimOne(key)
	f.equal("overlap", work.Overlap, 0)

	other := session(bob, "s1")
	f.waitFor(other, sessionstore.Trigger{Idle: minute}, f.said("e1"))
	f.waitFor(other, byApp, f.said("e2"))
	f.equal("overlap of a trigger that is not the session's own", f.claimOne(other).Overlap, 1)
}

// Events that come while a worker has those before wait for the trigger by themselves:
// neither the worker nor its failure takes them along.
func triggerWhileClaimed(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 2}
	one := f.waitFor(key, t, f.said("e1"), f.said("e2"))
	work := f.claimOne(key)
	two := f.waitFor(key, t, f.said("e3"))
	f.equal("events", two.EventsTotal, 1)
	f.fail(work, "no", f.now().Add(time.Second))
	f.clock.advance(time.Second)
	work = f.claimOne(key)
	f.equal("requested", work.Requested, int64(2))
	f.equal("request", work.Request.ID, one.ID)
	f.equal("attempts", []int{f.operation(ann, one.ID).Attempts, f.operation(ann, two.ID).Attempts}, []int{2, 0})
	f.finish(work, 2, change(2))
	f.equal("state", f.operation(ann, one.ID).State, sessionstore.Succeeded)
	f.idle("one of two")
	f.waitFor(key, t, f.said("e4"))
	f.finish(f.claimOne(key), 4, change(4))
	f.equal("state", f.operation(ann, two.ID).State, sessionstore.Succeeded)
	f.hasChanges(two, change(4))
}

// Events wait for their trigger also if the work before them was given up. When it fires,
// that is tried again too: batches go in order.
func triggerAfterFailure(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	one := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", time.Time{})
	two := f.waitFor(key, t, f.said("e2"))
	f.waits(two, f.now().Add(minute))
	f.equal("state", f.operation(ann, one.ID).State, sessionstore.Failed)
	f.clock.advance(minute)
	work := f.claimOne(key)
	f.equal("work", []int64{work.Done, work.Requested, int64(work.Attempts)}, []int64{0, 2, 1})
	f.finish(work, 2)
	for _, op := range []sessionstore.Operation{one, two} {
		f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	}
}

// Retry of an operation that waits for a trigger makes its events work at once.
func triggerRetry(f *fixture) {
	key := session(ann, "s1")
	op := f.waitFor(key, sessionstore.Trigger{Count: 9}, f.said("e1"))
	got, err := f.Retry(f.t.Context(), ann, op.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("due", got.DueTime, time.Time{})
	f.finish(f.claimOne(key), 1)
	f.idle("all is done")
}

// Events wait for a worker since their trigger fired, and not since they came: otherwise
// they would be taken before those of users who wait for theirs now. The backlog does not
// have them before.
func triggerOrder(f *fixture) {
	f.waitFor(session(ann, "s1"), sessionstore.Trigger{Idle: minute}, f.said("e1"))
	f.equal("backlog", f.backlog(), sessionstore.Backlog{Triggers: 1})
	f.clock.advance(minute - time.Second)
	asked := f.now()
	f.ask(session(bob, "s1"), f.said("e1"))
	f.equal("backlog", f.backlog(), sessionstore.Backlog{Scopes: 1, Oldest: asked, Triggers: 1})
	f.clock.advance(minute)
	works := f.claim("worker", 1)
	if len(works) != 1 || works[0].Key != session(bob, "s1") {
		f.t.Fatalf("Claim gives %+v, want bob's", works)
	}
	f.finish(works[0], 1)
	f.equal("backlog", f.backlog(), sessionstore.Backlog{Scopes: 1, Oldest: asked.Add(time.Second)})
	f.finish(f.claimOne(session(ann, "s1")), 1)
	f.equal("backlog", f.backlog(), sessionstore.Backlog{})
}

// Any number of triggers may be due at a time: claims find all of them.
func triggerMany(f *fixture) {
	const sessions = 250
	t := sessionstore.Trigger{Idle: minute}
	for i := range sessions {
		f.waitFor(session(memory.Scope{App: "app", User: fmt.Sprint("u", i)}, "s1"), t, f.said("e1"))
	}
	f.idle("all wait")
	f.clock.advance(minute)
	seen := map[string]bool{}
	for len(seen) < sessions {
		works := f.claim("worker", 100)
		if len(works) == 0 {
			f.t.Fatalf("%d of %d were claimed", len(seen), sessions)
		}
		for _, w := range works {
			seen[w.Key.User] = true
			f.finish(w, 1)
		}
	}
	f.idle("all are done")
}
