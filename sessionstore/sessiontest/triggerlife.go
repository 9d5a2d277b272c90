package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// What waits is there after a restart, and becomes work while nobody has looked.
func triggerRestart(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 3, Every: time.Hour}
	op := f.waitFor(key, t, f.said("e1"))
	due := f.now().Add(time.Hour)
	f.reopen()
	f.waits(op, due)
	f.waits(f.waitFor(key, t, f.said("e2")), due)
	f.reopen()
	f.clock.advance(3 * time.Hour)
	f.reopen()
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(2))
	f.equal("request", work.Request.ID, op.ID)
	f.finish(work, 2)
}

// A delete requests what waits: the memories were asked for, and no event will follow.
func triggerDeleted(f *fixture) {
	key := session(ann, "s1")
	op := f.waitFor(key, sessionstore.Trigger{Count: 9}, f.said("e1"))
	f.append(key, f.said("e2"))
	f.delete(key)
	f.missing(key)
	f.create(key, `{}`, f.said("e1"))
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(1))
	f.equal("request", work.Request.ID, op.ID)
	f.finish(work, 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.gone(work)
	f.clock.advance(48 * time.Hour)
	f.idle("the new session has no trigger")
}

// An expiry requests what waits, as a delete does, whichever call meets it first. Until
// the memories are made there is no export, which would lack them.
func triggerExpired(f *fixture) {
	key := session(ann, "s1")
	for _, meets := range []func(){
		func() { f.equal("removed", f.expire(), 1) },
		func() { f.create(key, `{}`) },
	} {
		f.expiring(key)
		op := f.waitFor(key, sessionstore.Trigger{Count: 9}, f.said("e1"))
		f.clock.advance(time.Hour)
		err := f.Export(f.t.Context(), func(sessionstore.SessionRecord) error { return nil },
			func(sessionstore.SharedState) error { return nil })
		f.isA("Export", err, memory.ErrUnavailable)
		meets()
		work := f.claimOne(key)
		f.equal("request", work.Request.ID, op.ID)
		f.finish(work, 1)
		f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
		f.gone(work)
	}
}

// Erasing takes along what waits, with its operation.
func triggerErased(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Idle: minute}
	erase := []func() sessionstore.Erased{
		func() sessionstore.Erased { return f.eraseOf(key) },
		func() sessionstore.Erased { return f.eraseAll(ann) },
	}
	for _, do := range erase {
		op := f.waitFor(key, t, f.said("e1"))
		do()
		_, err := f.Status(f.t.Context(), ann, op.ID)
		f.isA("Status", err, memory.ErrNotFound)
		f.clock.advance(48 * time.Hour)
		f.idle("all was erased")
		f.equal("backlog", f.backlog(), sessionstore.Backlog{})
	}
}

// An export has the trigger of a session and what waits for it, and a restore has it wait
// until the same time. A move must not lose a request that was answered.
func triggerArchive(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 3, Idle: time.Hour, Overlap: 2}
	f.askLater(key, sessionstore.Append{Create: true, Trigger: &t, OwnTrigger: true}, f.said("e1"))
	came := f.now()
	f.clock.advance(minute)
	f.waitFor(key, sessionstore.Trigger{}, f.said("e2"))
	sessions, _ := f.export()
	want := sessionstore.Waiting{Trigger: t, Own: true, To: 2, Since: came, Last: f.now(), Due: f.now().Add(time.Hour)}
	if len(sessions) != 1 {
		f.t.Fatalf("an export has %+v", sessions)
	}
	f.equal("waiting", sessions[0].Waiting, want)

	record := sessions[0]
	record.Key = session(bob, "s2")
	f.appendWith(record.Key, sessionstore.Append{Create: true}, f.said("e1"), f.said("e2"))
	for range 2 {
		if err := f.Restore(f.t.Context(), record); err != nil {
			f.t.Fatal(err)
		}
		f.idle("it waits there too")
	}
	sessions, _ = f.export()
	f.equal("restored", sessions[1].Waiting, want)
	op := f.waitFor(record.Key, sessionstore.Trigger{}, f.said("e3"))
	f.equal("events", op.EventsTotal, 3)
	work := f.claimOne(record.Key)
	f.equal("work", work, sessionstore.Work{Key: record.Key, Ref: work.Ref, Requested: 3, Attempts: 1, Overlap: 2,
		Request: sessionstore.Request{ID: op.ID}})
	f.finish(work, 3)
	f.equal("state", f.operation(bob, op.ID).State, sessionstore.Succeeded)
	f.clock.advance(time.Hour)
	f.equal("requested", f.claimOne(key).Requested, int64(2))

	record.Waiting.To = 9
	f.isA("Restore of events that are not there", f.Restore(f.t.Context(), record), memory.ErrInvalid)
	record.Waiting.To, record.Waiting.Trigger.Count = 2, -1
	f.isA("Restore of no trigger", f.Restore(f.t.Context(), record), memory.ErrInvalid)
}

// After a Rebind, what waits for its trigger goes on to wait, and what was requested is
// work again.
func triggerRebind(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 2}
	if _, err := f.Bind(f.t.Context(), "one"); err != nil {
		f.t.Fatal(err)
	}
	f.waitFor(key, t, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(key), 2)
	op := f.waitFor(key, t, f.said("e3"))
	f.waitFor(session(bob, "s1"), t, f.said("e1"))
	if n, err := f.Rebind(f.t.Context(), "two"); err != nil || n != 1 {
		f.t.Fatalf("Rebind gives %d, %v", n, err)
	}
	work := f.claimOne(key)
	f.equal("work", []int64{work.Done, work.Requested}, []int64{0, 2})
	f.finish(work, 2)
	f.waits(op, f.now().Add(24*time.Hour))
	f.waitFor(key, t, f.said("e4"))
	f.finish(f.claimOne(key), 4)
}

// A trigger that contradicts itself, or that has nothing to trigger, is refused, and
// nothing is stored.
func triggerRefused(f *fixture) {
	r := &sessionstore.Request{ID: sessionstore.OperationID(ann, "r")}
	for _, a := range []sessionstore.Append{
		{Trigger: &sessionstore.Trigger{Count: 2}},
		{Request: r, OneShot: true, Trigger: &sessionstore.Trigger{Count: 2}},
		{Request: r, OwnTrigger: true},
		{Request: r, Trigger: &sessionstore.Trigger{Count: -1}},
		{Request: r, Trigger: &sessionstore.Trigger{Count: sessionstore.MaxTriggerCount + 1}},
		{Request: r, Trigger: &sessionstore.Trigger{Idle: minute, Every: minute}},
		{Request: r, Trigger: &sessionstore.Trigger{Idle: sessionstore.MaxTriggerWait + 1}},
		{Request: r, Trigger: &sessionstore.Trigger{Every: sessionstore.MaxTriggerEvery + 1}},
		{Request: r, Trigger: &sessionstore.Trigger{Idle: -1}},
		{Request: r, Trigger: &sessionstore.Trigger{Count: 2, Overlap: 2}},
		{Request: r, Trigger: &sessionstore.Trigger{Idle: minute, Overlap: sessionstore.MaxOverlap + 1}},
	} {
		a.Create = true
		_, err := f.Append(f.t.Context(), session(ann, "s1"), []sessionstore.Event{f.said("e1")}, a)
		f.isA(fmt.Sprintf("Append with %+v", a.Trigger), err, memory.ErrInvalid)
	}
	f.missing(session(ann, "s1"))
}

// Of appends at the same time, each event is counted once, and one brings the last one.
func triggerTogether(f *fixture) {
	key, t := session(ann, "s1"), sessionstore.Trigger{Count: 8}
	f.create(key, `{}`)
	f.together(8, func(i int) error {
		_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said(fmt.Sprint("e", i))},
			sessionstore.Append{Trigger: &t,
				Request: &sessionstore.Request{ID: sessionstore.OperationID(ann, fmt.Sprint("op", i))}})
		return err
	})
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(8))
	f.finish(work, 8)
	f.idle("all is done")
	list, _, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, op := range list {
		f.equal("state", op.State, sessionstore.Succeeded)
	}
}
