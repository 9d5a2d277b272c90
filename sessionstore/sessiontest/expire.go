package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// expireCases are the promises about sessions that expire, and of Expirer.
func expireCases() []testCase {
	return []testCase{
		{"reads as deleted", expiredHidden},
		{"the id is free again", expiredFreesID},
		{"shared state stays", expiredKeepsShared},
		{"the work is still done", expiredWorkDone},
		{"is removed", expiredRemoved},
		{"is removed once its work is done", expiredRemovedLater},
		{"does not count", expiredNotCounted},
		{"is erased", expiredErased},
		{"is not exported", expiredNotExported},
		{"is restored", expiredRestored},
		{"as the store has it", expiresByItself},
		{"a chosen time stays", expiresAsChosen},
	}
}

// expiring makes a session that expires in an hour.
func (f *fixture) expiring(key sessionstore.Key, events ...sessionstore.Event) {
	f.t.Helper()
	f.createWith(key, sessionstore.Details{ExpireTime: f.now().Add(time.Hour)}, events...)
}

// expire removes what has expired, and returns how much that was.
func (f *fixture) expire() (n int) {
	f.t.Helper()
	const some = 10
	for last := some; last >= some; n += last {
		var err error
		if last, err = f.Expire(f.t.Context(), some); err != nil {
			f.t.Fatal(err)
		}
	}
	return n
}

// stored returns the ids of all sessions that the store has, deleted ones too.
func (f *fixture) stored() (ids []string) {
	f.t.Helper()
	err := f.Audit(f.t.Context(), func(r sessionstore.SessionRecord) error {
		ids = append(ids, r.ID)
		return nil
	}, func(found memory.Finding) { f.t.Errorf("the audit finds %+v", found) })
	if err != nil {
		f.t.Fatal(err)
	}
	return ids
}

// From its ExpireTime on a session is in no answer, at once: nothing has to remove it
// first. A microsecond before, it is there.
func expiredHidden(f *fixture) {
	key := session(ann, "s1")
	f.expiring(key, f.said("e1"))
	f.clock.advance(time.Hour - time.Microsecond)
	f.hasEvents("before", f.get(key).Events, "e1")
	f.equal("removed before", f.expire(), 0)
	f.append(key, f.said("e2"))
	f.clock.advance(time.Microsecond)
	name := "late"
	f.isA("Update", f.Update(f.t.Context(), key, sessionstore.Patch{DisplayName: &name}), memory.ErrNotFound)
	f.hidden(key)
	f.delete(key)
	f.hidden(key)
}

// The id of an expired session is free, and the new session has nothing of the old one.
func expiredFreesID(f *fixture) {
	for name, again := range map[string]func(sessionstore.Key){
		"created":  func(key sessionstore.Key) { f.create(key, `{}`) },
		"appended": func(key sessionstore.Key) { f.appendWith(key, sessionstore.Append{Create: true}) },
		"removed": func(key sessionstore.Key) {
			f.equal("removed", f.expire(), 1)
			f.create(key, `{}`)
		},
	} {
		key := session(ann, name)
		f.createWith(key, sessionstore.Details{ExpireTime: f.now().Add(time.Hour), DisplayName: "old"},
			f.sets("e1", `{"k":1}`))
		f.clock.advance(time.Hour)
		again(key)
		f.equal("the new "+name, f.get(key), &sessionstore.Session{Key: key, State: sessionstore.State{},
			CreateTime: f.now(), LastUpdateTime: f.now()})
		f.clock.advance(100 * time.Hour)
		f.equal("removed later", f.expire(), 0)
		f.equal("it does not expire", f.get(key).ID, name)
	}
	f.equal("sessions", len(f.listApp("shop", 0)), 3)
}

// The state of the user and the app outlives an expired session.
func expiredKeepsShared(f *fixture) {
	key := session(ann, "s1")
	f.expiring(key, f.sets("e1", `{"app:a":1,"user:u":2,"s":3}`))
	f.clock.advance(time.Hour)
	f.equal("removed", f.expire(), 1)
	f.hasState("state", f.create(session(ann, "s2"), `{}`).State, `{"app:a":1,"user:u":2}`)
}

// Memories that were requested before are still made: the events are there until the
// work is done, whether Expire comes before or not.
func expiredWorkDone(f *fixture) {
	for _, sweep := range []bool{false, true} {
		key := session(ann, fmt.Sprint("s", sweep))
		f.expiring(key)
		op := f.ask(key, f.said("e1"), f.said("e2"))
		f.clock.advance(time.Hour)
		if sweep {
			f.equal("hidden by Expire", f.expire(), 1)
		}
		f.hidden(key)
		work := f.claimOne(key)
		f.equal("events", len(f.events(work, 0, 10)), 2)
		f.finish(work, 2)
		f.equal("operation", f.operation(ann, op.ID).State, sessionstore.Succeeded)
		f.idle("all is done")
		f.expire()
		f.gone(work)
	}
	f.equal("stored", f.stored(), []string(nil))
}

// Expire removes all that has expired, also in several calls, and leaves the others.
func expiredRemoved(f *fixture) {
	f.create(session(ann, "stays"), `{}`)
	for i := range 25 {
		scope := memory.Scope{App: "shop", User: fmt.Sprint("user", i%7)}
		f.expiring(session(scope, fmt.Sprint("s", i)), f.sets("e1", `{"k":1}`), f.said("e2"))
	}
	f.createWith(session(bob, "later"), sessionstore.Details{ExpireTime: f.now().Add(2 * time.Hour)})
	f.clock.advance(time.Hour)
	f.equal("removed", f.expire(), 25)
	f.equal("removed again", f.expire(), 0)
	f.equal("listed", sessionIDs(f.listApp("shop", 0)), []string{"later", "stays"})
	f.equal("stored", len(f.stored()), 2)
	f.reopen()
	f.clock.advance(time.Hour)
	f.equal("removed after a restart", f.expire(), 1)
	f.equal("listed", sessionIDs(f.listApp("shop", 0)), []string{"stays"})
}

// A session with work left is hidden by Expire once, and removed when the work is done.
// Work that was given up stays, as for a deleted session.
func expiredRemovedLater(f *fixture) {
	key := session(ann, "s1")
	f.expiring(key)
	op := f.ask(key, f.said("e1"))
	f.fail(f.claimOne(key), "no", time.Time{})
	f.clock.advance(time.Hour)
	f.equal("hidden", f.expire(), 1)
	f.equal("again", f.expire(), 0)
	f.equal("stored", f.stored(), []string{"s1"})
	if _, err := f.Retry(f.t.Context(), ann, op.ID); err != nil {
		f.t.Fatal(err)
	}
	f.finish(f.claimOne(key), 1)
	f.equal("stored", f.stored(), []string(nil))
}

// An expired session does not count against the limit on a user's sessions.
func expiredNotCounted(f *fixture) {
	for i := range MaxSessions {
		if i%2 == 0 {
			f.expiring(session(ann, fmt.Sprint("s", i)))
		} else {
			f.create(session(ann, fmt.Sprint("s", i)), `{}`)
		}
	}
	_, err := f.Create(f.t.Context(), session(ann, "more"), sessionstore.Create{})
	f.isA("one more", err, memory.ErrExhausted)
	f.clock.advance(time.Hour)
	f.create(session(ann, "more"), `{}`)
}

// Erasing removes expired sessions too. They are not among the sessions that it counts,
// as they could not be read.
func expiredErased(f *fixture) {
	f.expiring(session(ann, "s1"), f.said("words of one"))
	f.expiring(session(ann, "s2"), f.said("words of two"))
	f.create(session(ann, "s3"), `{}`)
	f.clock.advance(time.Hour)
	f.eraseOf(session(ann, "s1"))
	if f.harness.Keeps(f.t, "words of one") {
		f.t.Error("the store keeps an event of s1")
	}
	f.equal("sessions", f.eraseAll(ann).Sessions, 1)
	if f.harness.Keeps(f.t, "words of two") {
		f.t.Error("the store keeps an event of s2")
	}
	f.equal("removed later", f.expire(), 0)
}

// An export has no expired session, and fails while one has work left.
func expiredNotExported(f *fixture) {
	f.create(session(bob, "stays"), `{}`)
	key := session(ann, "s1")
	f.expiring(key)
	f.ask(key, f.said("e1"))
	f.clock.advance(time.Hour)
	err := f.Export(f.t.Context(), func(sessionstore.SessionRecord) error { return nil },
		func(sessionstore.SharedState) error { return nil })
	f.isA("Export", err, memory.ErrUnavailable)
	f.finish(f.claimOne(key), 1)
	sessions, _ := f.export()
	f.equal("exported", len(sessions), 1)
}

// A session that has expired since it was exported is restored as that: it is hidden.
func expiredRestored(f *fixture) {
	key := session(ann, "s1")
	f.appendWith(key, sessionstore.Append{Create: true, KeepState: true}, f.said("e1"))
	r := sessionstore.SessionRecord{Key: key, LastUpdateTime: f.now(), Events: 1}
	r.ExpireTime = f.now().Add(-time.Hour)
	if err := f.Restore(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
	f.hidden(key)
	f.expire()
	f.equal("stored", f.stored(), []string(nil))
}

// reopenTTL restarts the backend with another TTL.
func (f *fixture) reopenTTL(ttl time.Duration) {
	f.t.Helper()
	f.harness.Close(f.t, f.Backend)
	f.Backend = f.harness.OpenTTL(f.t, f.clock.now, ttl)
}

// With a TTL a session without a time of its own shows when it expires, and each append
// and update moves that. Sessions that were stored without the TTL get theirs with the
// next append, and without the TTL the next append takes it away.
func expiresByItself(f *fixture) {
	early, key, left := session(ann, "early"), session(ann, "s1"), session(ann, "left")
	f.create(early, `{}`)
	f.reopenTTL(time.Hour)
	f.create(key, `{}`)
	f.appendWith(left, sessionstore.Append{Create: true})
	f.equal("when it expires", f.get(key).ExpireTime, f.now().Add(time.Hour))
	f.equal("that of an early one", f.get(early).ExpireTime, time.Time{})
	f.append(early)
	f.clock.advance(40 * time.Minute)
	f.append(key, f.saidAt("e1", f.now().Add(-time.Hour)))
	f.equal("after an append", f.get(key).ExpireTime, f.now().Add(time.Hour))
	name, never := "a", time.Time{}
	f.update(early, sessionstore.Patch{DisplayName: &name})
	f.equal("after an update", f.list(ann, 0)[2].ExpireTime, f.now().Add(time.Hour))
	sessions, _ := f.export()
	for _, r := range sessions {
		f.equal("exported of "+r.ID, r.ExpireTime, never)
	}
	f.clock.advance(40 * time.Minute)
	f.equal("removed", f.expire(), 1)
	f.missing(left)
	f.update(key, sessionstore.Patch{ExpireTime: &never})
	f.equal("after a cleared time", f.get(key).ExpireTime, f.now().Add(time.Hour))
	f.reopenTTL(0)
	f.append(key)
	f.equal("without the TTL", f.get(key).ExpireTime, never)
	f.clock.advance(time.Hour)
	f.equal("removed without the TTL", f.expire(), 1)
	f.equal("left", sessionIDs(f.list(ann, 0)), []string{"s1"})
}

// A time that a client has chosen stays as it is when events come, with a TTL or not.
func expiresAsChosen(f *fixture) {
	f.reopenTTL(time.Hour)
	key, at := session(ann, "s1"), f.now().Add(5*time.Hour)
	f.createWith(key, sessionstore.Details{ExpireTime: at})
	for range 5 {
		f.append(key, f.said(fmt.Sprint("e", f.now().UnixMicro())))
		f.equal("when it expires", f.get(key).ExpireTime, at)
		f.clock.advance(59 * time.Minute)
	}
	f.clock.advance(5 * time.Minute)
	f.missing(key)
}
