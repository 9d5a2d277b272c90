package sessiontest

import (
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

func restartCases() []testCase {
	return []testCase{
		{"keeps sessions", restartSessions},
		{"keeps work", restartWork},
		{"keeps operations", restartOperations},
		{"keeps what was deleted", restartDeleted},
		{"keeps what it is bound to", restartBound},
	}
}

// Sessions, events, state and their order outlive a restart, and go on.
func restartSessions(f *fixture) {
	f.create(session(ann, "s1"), `{"app:a":1,"user:u":1,"k":1}`, f.said("e1"))
	f.clock.advance(time.Second)
	f.create(session(ann, "s2"), `{}`)
	f.append(session(ann, "s1"), f.sets("e2", `{"user:u":2,"k":null}`), f.saidAt("e0", f.now().Add(-time.Hour)))
	f.create(session(ann, "s3"), `{}`)
	f.delete(session(ann, "s3"))
	want, wantList := f.get(session(ann, "s1")), f.list(ann, 0)
	f.reopen()
	f.equal("Get", f.get(session(ann, "s1")), want)
	f.equal("List", f.list(ann, 0), wantList)
	f.missing(session(ann, "s3"))
	again := f.append(session(ann, "s1"), f.sets("e2", `{"k":3}`), f.said("e3"))
	f.equal("a repeated event", again.Events[0], want.Events[2])
	got := f.get(session(ann, "s1"))
	f.hasEvents("events", got.Events, "e0", "e1", "e2", "e3")
	f.hasState("state", got.State, `{"app:a":1,"user:u":2,"k":null}`)
}

// The work list outlives a restart: marks, plans, attempts, the time of the
// next try, and what was given up.
func restartWork(f *fixture) {
	waiting, later, never, done := session(ann, "s1"), session(ann, "s2"), session(ann, "s3"), session(ann, "s4")
	f.ask(done, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(done), 2)
	f.ask(never, f.said("e1"), f.said("e2"))
	f.fail(f.claimOne(never), "no", time.Time{})
	laterOp := f.ask(later, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(later), 1)
	work := f.claimOne(later)
	f.save(work, 2, `"plan"`)
	f.fail(work, "not now", f.now().Add(time.Hour))
	waitingOp := f.ask(waiting, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(waiting), 1)
	f.reopen()
	got := f.claimOne(waiting)
	f.equal("work", got, sessionstore.Work{Key: waiting, Ref: got.Ref, Done: 1, Requested: 2, Attempts: 1, Operation: waitingOp.ID})
	f.finish(got, 2)
	f.idle("the rest waits")
	f.clock.advance(time.Hour)
	got = f.claimOne(later)
	f.equal("work", got, sessionstore.Work{Key: later, Ref: work.Ref, Done: 1, Requested: 2, Attempts: 2, Operation: laterOp.ID, Plan: []byte(`"plan"`), PlanTo: 2})
	f.finish(got, 2)
	f.idle("the rest is done or given up")
}

// Operations outlive a restart, changes and all.
func restartOperations(f *fixture) {
	done, failed, running, pending := session(ann, "s1"), session(ann, "s2"), session(ann, "s3"), session(ann, "s4")
	var ids []string
	var want []*sessionstore.Operation
	for _, key := range []sessionstore.Key{done, failed, running, pending} {
		f.clock.advance(time.Second)
		ids = append(ids, f.ask(key, f.said("e1"), f.said("e2")).ID)
	}
	f.finish(f.claimOne(done), 2, change(1), change(2))
	f.fail(f.claimOne(failed), "no", time.Time{})
	f.fail(f.claimOne(running), "not now", f.now().Add(time.Hour))
	for _, id := range ids {
		want = append(want, f.operation(ann, id))
	}
	list := f.operationIDs(2, func() {})
	f.reopen()
	for i, id := range ids {
		f.equal("operation", f.operation(ann, id), want[i])
	}
	f.equal("list", f.operationIDs(2, func() {}), list)
}

// The work of a deleted session outlives a restart, and so does its absence.
func restartDeleted(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("old"))
	f.delete(key)
	f.clock.advance(time.Second)
	f.ask(key, f.said("new"))
	f.reopen()
	f.hasEvents("the session", f.get(key).Events, "new")
	for _, id := range []string{"old", "new"} {
		work := f.claimOne(key)
		f.equal("event", f.events(work, 0, 10)[0].ID, id)
		f.finish(work, 1)
	}
	f.idle("all is done")
	f.hasEvents("the session", f.get(key).Events, "new")
}

// Done marks speak of one memory store, the first they were bound to.
func restartBound(f *fixture) {
	bind := func(id, want string) {
		f.t.Helper()
		got, err := f.Bind(f.ctx, id)
		if err != nil || got != want {
			f.t.Errorf("Bind to %q gives %q, %v; want %q", id, got, err, want)
		}
	}
	bind("m1", "m1")
	bind("m2", "m1")
	f.reopen()
	bind("m2", "m1")
	bind("m1", "m1")
}
