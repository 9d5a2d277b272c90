package sessiontest

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// restartCases close the backend and open it again, as a restart does. All that
// was answered is there.
func restartCases() []testCase {
	return []testCase{
		{"keeps sessions", restartSessions},
		{"keeps work", restartWork},
		{"keeps operations", restartOperations},
		{"keeps the work of deleted sessions", restartDeleted},
		{"keeps the memory store it is bound to", restartBound},
		{"starts over with other memories", restartRebound},
	}
}

// Sessions, events, state and their order outlive a restart, and can be added
// to. An answered write is durable.
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

// The work list outlives a restart: positions, plans, attempts, retry times,
// and failed work. Sessions are the queue: there is no other place that knows
// what is left.
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
	f.equal("work", got, sessionstore.Work{Key: waiting, Ref: got.Ref, Done: 1, Requested: 2, Attempts: 1,
		Request: sessionstore.Request{ID: waitingOp.ID}})
	f.finish(got, 2)
	f.idle("the rest waits")
	f.clock.advance(time.Hour)
	got = f.claimOne(later)
	f.equal("work", got, sessionstore.Work{Key: later, Ref: work.Ref, Done: 1, Requested: 2, Attempts: 2,
		Request: sessionstore.Request{ID: laterOp.ID}, Plan: []byte(`"plan"`), PlanTo: 2})
	f.finish(got, 2)
	f.idle("the rest is done or given up")
}

// Operations outlive a restart, changes and all. A client polls across
// deployments of the server.
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

// The work of a deleted session outlives a restart, and the session stays
// deleted. A crash between delete and work must lose neither.
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

// The done positions refer to one memory store, the first they were bound to. A
// server that starts with other memories would take done events for remembered
// ones, so it is refused.
func restartBound(f *fixture) {
	bind := func(id, want string) {
		f.t.Helper()
		got, err := f.Bind(f.t.Context(), id)
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

// Rebind makes all requested events work again, from the start: those that were
// done, begun, given up, or not done when their session was deleted. Events
// without a request are not work. This is the way back after the memory store
// was lost.
func restartRebound(f *fixture) {
	if _, err := f.Bind(f.t.Context(), "m1"); err != nil {
		f.t.Fatal(err)
	}
	scope := func(user string) memory.Scope { return memory.Scope{App: "shop", User: user} }
	done, begun, failed, gone := session(scope("done"), "s"), session(scope("begun"), "s"), session(scope("failed"),
		"s"), session(scope("gone"), "s")
	for _, key := range []sessionstore.Key{done, begun, failed, gone} {
		f.ask(key, f.said("e1"), f.said("e2"))
	}
	f.create(session(scope("new"), "s"), `{}`, f.said("e1"))
	for _, work := range f.claim("owner", 4) {
		switch work.Key {
		case done:
			f.finish(work, 2, sessionstore.Change{Seq: 1, Doc: []byte(`"made"`)})
		case begun:
			f.finish(work, 1)
			f.save(f.claimOne(begun), 2, `"plan"`) // and dies
		case failed:
			f.fail(work, "no", time.Time{})
		}
	}
	f.delete(gone)
	f.clock.advance(leaseTTL)
	n, err := f.Rebind(f.t.Context(), "m2")
	if err != nil || n != 4 {
		f.t.Errorf("Rebind gives %d, %v; want 4 sessions", n, err)
	}
	f.reopen()
	if got, err := f.Bind(f.t.Context(), "m1"); got != "m2" || err != nil {
		f.t.Errorf("Bind after Rebind gives %q, %v; want m2", got, err)
	}
	var got []sessionstore.Work
	for range 4 {
		work := f.claim("owner", 1)[0]
		f.equal("events", len(f.events(work, 0, 10)), 2)
		f.finish(work, 2)
		work.Ref, work.Request = "", sessionstore.Request{}
		got = append(got, work)
	}
	slices.SortFunc(got, func(a, b sessionstore.Work) int { return strings.Compare(a.Key.User, b.Key.User) })
	var want []sessionstore.Work
	for _, key := range []sessionstore.Key{begun, done, failed, gone} {
		want = append(want, sessionstore.Work{Key: key, Requested: 2, Attempts: 1})
	}
	f.equal("work", got, want)
	f.idle("all is done again")
	f.missing(gone)
}
