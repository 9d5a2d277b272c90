package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// deletedWorkCases check the work of deleted sessions: a delete hides a
// session, and its requests are still answered.
func deletedWorkCases() []testCase {
	return []testCase{
		{"is still done", deletedWorkDone},
		{"while claimed", deletedWhileClaimed},
		{"without a request", deletedUnasked},
		{"beside a new session", deletedBeside},
		{"failed", deletedFailed},
		{"by the user's other sessions", deletedOthers},
	}
}

// Memories that were requested before a delete are still made: the work is
// claimed and its events read. Then the events are gone, and the operation
// stays. The contract says that a delete of a session is no wish to forget it.
func deletedWorkDone(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	f.delete(key)
	f.hidden(key)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Pending)
	work := f.claimOne(key)
	f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Requested: 3, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
	f.equal("events", len(f.events(work, 0, 10)), 3)
	f.finish(work, 2, change(1))
	work = f.claimOne(key)
	f.equal("events left", len(f.events(work, work.Done, 10)), 1)
	f.finish(work, 3, change(3))
	f.idle("all is done")
	f.gone(work)
	got := f.operation(ann, op.ID)
	f.equal("operation", got, &sessionstore.Operation{Request: sessionstore.Request{ID: op.ID}, Key: key,
		State: sessionstore.Succeeded, CreateTime: op.CreateTime, EndTime: f.now(),
		Attempts: 1, EventsTotal: 3, EventsDone: 3})
	f.hasChanges(op, change(1), change(3))
	f.missing(key)
}

// hidden checks that no call reaches a session, the only one of its app.
func (f *fixture) hidden(key sessionstore.Key) {
	f.t.Helper()
	f.missing(key)
	f.equal("List", len(f.list(key.Scope, 0)), 0)
	f.equal("ListApp", len(f.listApp(key.App, 0)), 0)
	_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said("e")}, sessionstore.Append{})
	f.isA("Append", err, memory.ErrNotFound)
}

// gone checks that the events of the work are gone.
func (f *fixture) gone(work sessionstore.Work) {
	f.t.Helper()
	events, err := f.Events(f.t.Context(), work, 0, 10)
	if err != nil {
		f.isA("Events", err, memory.ErrNotFound)
	}
	f.equal("events of work that is gone", len(events), 0)
}

// A delete while the work is in progress disturbs neither. The worker has read
// events already, and its results are valid.
func deletedWhileClaimed(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"))
	work := f.claimOne(key)
	f.delete(key)
	f.equal("events", len(f.events(work, 0, 10)), 2)
	f.save(work, 2, `"plan"`)
	f.clock.advance(leaseTTL)
	work = f.claimOne(key)
	f.equal("plan", string(work.Plan), `"plan"`)
	f.finish(work, 2, change(2))
	f.gone(work)
	f.hasChanges(op, change(2))
}

// Events that no request covers go with the session: all of them without a
// request, otherwise those after it. Without a request there is no reason to
// keep a deleted conversation.
func deletedUnasked(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`, f.said("e1"))
	f.delete(key)
	f.idle("nothing was asked for")

	f.ask(key, f.said("e1"))
	f.append(key, f.said("e2"))
	f.delete(key)
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(1))
	f.finish(work, 1)
	f.idle("all is done")
	f.gone(work)

	f.ask(key, f.said("e1"))
	work = f.claimOne(key)
	f.finish(work, 1)
	f.delete(key)
	f.idle("all was done before")
	f.gone(work)
	f.create(key, `{}`, f.said("e1"))
	f.gone(work) // its Ref is not the new session's
}

// The pending work of deleted sessions exists beside a new session of the same
// id and its work. Each life has its own events, positions, plans, operations
// and event ids. Clients reuse ids, so both lives may wait at the same time.
func deletedBeside(f *fixture) {
	key := session(ann, "s1")
	const lives = 3
	var ops []sessionstore.Operation
	for life := range lives {
		f.clock.advance(time.Second)
		ops = append(ops, f.ask(key, f.saidAt("e1", f.now()), f.saidAt(fmt.Sprintf("e2 of %d", life), f.now())))
		f.delete(key)
	}
	f.clock.advance(time.Second)
	f.create(key, `{"k":1}`)
	ops = append(ops, f.ask(key, f.saidAt("e1", f.now()), f.saidAt(fmt.Sprintf("e2 of %d", lives), f.now())))
	want := f.get(key)

	// The lives are worked off from the oldest to the present one. Only the Ref
	// distinguishes them.
	refs := map[string]bool{}
	for life := range lives + 1 {
		work := f.claimOne(key)
		refs[work.Ref] = true
		f.equal("positions", []int64{work.Done, work.Requested}, []int64{0, 2})
		f.equal("plan", string(work.Plan), "")
		events := f.events(work, 0, 10)
		f.equal("events", []string{events[0].ID, events[1].ID}, []string{"e1", fmt.Sprintf("e2 of %d", life)})
		f.save(work, 1, fmt.Sprintf(`"plan of %d"`, life))
		f.finish(work, 2, sessionstore.Change{Seq: 1, Doc: fmt.Appendf(nil, `"life %d"`, life)})
		for i, op := range ops {
			f.equal(fmt.Sprintf("operation %d after life %d is done", i, life), f.operation(ann, op.ID).Done(),
				i <= life)
		}
		f.equal("the session", f.get(key), want)
	}
	f.equal("refs", len(refs), lives+1)
	f.idle("all is done")
	for i, op := range ops {
		f.hasChanges(op, sessionstore.Change{Doc: fmt.Appendf(nil, `"life %d"`, i)})
	}
}

// Failed work outlives the session too, until it is retried and done. Otherwise
// a delete would end a request that was answered.
func deletedFailed(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", time.Time{})
	f.delete(key)
	f.idle("given up")
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Failed)
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	work := f.claimOne(key)
	f.equal("events", len(f.events(work, 0, 10)), 1)
	f.finish(work, 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.gone(work)

	f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", f.now().Add(time.Hour))
	f.delete(key)
	f.clock.advance(time.Hour)
	f.finish(f.claimOne(key), 1)
	f.idle("all is done")
}

// Deleting one session leaves the work of the others. A delete must not touch
// the queue of the user.
func deletedOthers(f *fixture) {
	f.ask(session(ann, "s1"), f.said("e1"))
	f.clock.advance(time.Second)
	f.ask(session(ann, "s2"), f.said("e1"))
	f.delete(session(bob, "s1"))
	f.delete(session(ann, "s1"))
	f.finish(f.claimOne(session(ann, "s1")), 1)
	f.finish(f.claimOne(session(ann, "s2")), 1)
	f.hasEvents("the other", f.get(session(ann, "s2")).Events, "e1")
}
