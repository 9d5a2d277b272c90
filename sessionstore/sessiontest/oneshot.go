package sessiontest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// oneShotCases are the promises of Append.OneShot: events in a hidden session
// that exists for one request.
func oneShotCases() []testCase {
	return []testCase{
		{"is hidden", oneShotHidden},
		{"ends with its work", oneShotEnds},
		{"leaves the session of its key alone", oneShotBeside},
		{"leaves state alone", oneShotState},
		{"twice", oneShotTwice},
		{"without events", oneShotEmpty},
		{"failed", oneShotFailed},
		{"is not exported", oneShotExport},
		{"without a request", oneShotUnasked},
	}
}

// No read and no list has a one-shot session, before and after its work, and
// its id is free. The events belong to another session, or are facts: a client
// would not know this one.
func oneShotHidden(f *fixture) {
	key := session(ann, "s1")
	f.askOneShot(key, f.said("e1"))
	f.hidden(key)
	f.delete(key)
	f.reopen()
	f.hidden(key)
	f.create(key, `{"k":1}`, f.said("e3"))
	f.hasEvents("a session of its id", f.get(key).Events, "e3")
	f.delete(key)
	f.finish(f.claimOne(key), 1)
	f.hidden(key)
	f.idle("all is done")
}

// Its events can be read until its work is finished, after a restart too. The
// operation stays. It is its own request, so nothing needs it afterwards.
func oneShotEnds(f *fixture) {
	key := session(ann, "s1")
	op := f.askOneShot(key, f.said("e1"), f.said("e2"))
	f.equal("operation", op, sessionstore.Operation{Request: op.Request, Key: key, State: sessionstore.Pending,
		CreateTime: f.now(), EventsTotal: 2})
	f.reopen()
	work := f.claimOne(key)
	f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Requested: 2, Attempts: 1, Request: op.Request})
	f.save(work, 1, `"plan"`)
	f.finish(work, 1, change(1))
	work = f.claimOne(key)
	f.equal("events left", len(f.events(work, work.Done, 10)), 1)
	f.finish(work, 2, change(2))
	f.gone(work)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.hasChanges(op, change(1), change(2))
}

// A one-shot session and a session of its key each have their own events,
// positions and operations. A request for a range must not change what waits in
// the session itself.
func oneShotBeside(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`, f.said("e1"), f.said("e2"))
	want := f.get(key)
	f.clock.advance(time.Second)
	oneShot := f.askOneShot(key, want.Events[1])
	f.equal("the session", f.get(key), want)
	f.clock.advance(time.Second)
	all := f.ask(key, f.said("e3"))
	f.equal("events of the session's operation", all.EventsTotal, 3)
	first := f.claimOne(key)
	f.equal("request", first.Request.ID, oneShot.ID)
	f.equal("events", len(f.events(first, 0, 10)), 1)
	f.finish(first, 1, change(1))
	f.equal("state of the other", f.operation(ann, all.ID).State, sessionstore.Pending)
	second := f.claimOne(key)
	f.equal("request", second.Request.ID, all.ID)
	f.finish(second, 3, change(3))
	f.idle("all is done")
	f.hasChanges(oneShot, change(1))
	f.hasChanges(all, change(3))
	f.hasEvents("the session", f.get(key).Events, "e1", "e2", "e3")
}

// The stateDelta of its events changes no state. The events were applied when
// they were said.
func oneShotState(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1,"user:u":1,"app:a":1}`)
	f.askOneShot(key, f.sets("e1", `{"k":2,"user:u":2,"app:a":2}`))
	f.hasState("state", f.get(key).State, `{"k":1,"user:u":1,"app:a":1}`)
	f.finish(f.claimOne(key), 1)
	f.hasState("state", f.get(key).State, `{"k":1,"user:u":1,"app:a":1}`)
}

// The same events in two one-shot sessions of one key are two pieces of work.
// Two requests may cover the same events, and each has an operation to finish.
func oneShotTwice(f *fixture) {
	key := session(ann, "s1")
	for range 2 {
		f.askOneShot(key, f.said("e1"))
		f.clock.advance(time.Second)
	}
	first := f.claimOne(key)
	f.finish(first, 1)
	second := f.claimOne(key)
	if first.Ref == second.Ref {
		f.t.Errorf("both one-shot sessions are %q", first.Ref)
	}
	f.equal("events", len(f.events(second, 0, 10)), 1)
	f.finish(second, 1)
	f.idle("all is done")
}

// Without events to store, its operation has succeeded at once. A range may
// have no events, and its client still waits for the operation.
func oneShotEmpty(f *fixture) {
	key := session(ann, "s1")
	for _, events := range [][]sessionstore.Event{nil, {f.event(`{"id":"e1","author":"user","partial":true}`)}} {
		op := f.askOneShot(key, events...)
		f.equal("state", op.State, sessionstore.Succeeded)
		f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
		f.idle("there is nothing to do")
		f.missing(key)
	}
}

// Its work stays after it was given up, and Retry resumes it. It is treated
// like any other work.
func oneShotFailed(f *fixture) {
	key := session(ann, "s1")
	op := f.askOneShot(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", time.Time{})
	f.idle("it was given up")
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Failed)
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	work := f.claimOne(key)
	f.equal("events", len(f.events(work, 0, 10)), 1)
	f.finish(work, 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
}

// An export fails while its work is left, as with deleted sessions, and never
// has it among the sessions. An export could not name it.
func oneShotExport(f *fixture) {
	key := session(ann, "s1")
	f.askOneShot(key, f.said("e1"))
	export := func() (n int, err error) {
		err = f.Export(f.t.Context(), func(sessionstore.SessionRecord) error { n++; return nil },
			func(sessionstore.SharedState) error { return nil })
		return n, err
	}
	_, err := export()
	f.isA("Export", err, memory.ErrUnavailable)
	f.finish(f.claimOne(key), 1)
	if n, err := export(); n != 0 || err != nil {
		f.t.Errorf("Export gives %d sessions, %v; want none", n, err)
	}
}

// A one-shot session without a request is refused, and nothing is stored.
// Nothing would ever read or remove its events.
func oneShotUnasked(f *fixture) {
	key := session(ann, "s1")
	_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said("e1")}, sessionstore.Append{OneShot: true})
	f.isA("Append", err, memory.ErrInvalid)
	f.idle("nothing was requested")
}
