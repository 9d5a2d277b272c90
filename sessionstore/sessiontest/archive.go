package sessiontest

import (
	"errors"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// archiveCases are the promises of Archive: an export and a restore move
// sessions with their work to another store.
func archiveCases() []testCase {
	return []testCase{
		{"has everything", archiveTellsAll},
		{"reads as it yields", archiveReadsOneByOne},
		{"restores a session", archiveRestores},
		{"restores work", archiveRestoresWork},
		{"leaves sessions that have gone on", archiveLeaves},
		{"merges into sessions that have gone on", archiveMerges},
		{"restores missing shared state", archiveShares},
		{"loses no work", archiveLeavesNothingBehind},
		{"odd ids", archiveOddIDs},
		{"restores no stale plan", archiveStalePlan},
		{"refuses forged records", archiveForged},
	}
}

// export collects all that an export yields.
func (f *fixture) export() (sessions []sessionstore.SessionRecord, shared []sessionstore.SharedState) {
	f.t.Helper()
	err := f.Export(f.t.Context(), func(a sessionstore.SessionRecord) error {
		a.Ref = ""
		sessions = append(sessions, a)
		return nil
	}, func(s sessionstore.SharedState) error { shared = append(shared, s); return nil })
	if err != nil {
		f.t.Fatal(err)
	}
	return sessions, shared
}

// An export has the own state, times and positions of every session, in the
// order of their making, and separately the state of users and apps. It has no
// deleted sessions, and ends when a yield fails. The order is that of lists, so
// an import makes the same lists.
func archiveTellsAll(f *fixture) {
	f.create(session(ann, "s1"), `{"app:a":1,"user:u":{"x":[1.0]},"k":null}`, f.said("e1"))
	f.clock.advance(time.Second)
	f.create(session(ann, "gone"), `{}`)
	f.create(session(bob, "s2"), `{"user:v":2}`)
	f.delete(session(ann, "gone"))
	f.ask(session(ann, "s1"), f.said("e2"))
	f.finish(f.claimOne(session(ann, "s1")), 1)
	work := f.claimOne(session(ann, "s1"))
	f.save(work, 2, `"plan"`)
	one, two := f.get(session(ann, "s1")), f.get(session(bob, "s2"))
	sessions, shared := f.export()
	f.equal("sessions", sessions, []sessionstore.SessionRecord{
		{Key: one.Key, State: sessionstore.State{"k": []byte("null")}, CreateTime: one.CreateTime,
			LastUpdateTime: one.LastUpdateTime, Events: 2, Requested: 2, Done: 1, Plan: []byte(`"plan"`), PlanTo: 2},
		{Key: two.Key, State: sessionstore.State{}, CreateTime: two.CreateTime, LastUpdateTime: two.LastUpdateTime},
	})
	f.equal("shared state", shared, []sessionstore.SharedState{
		{Scope: memory.Scope{App: "shop"}, State: sessionstore.State{"a": []byte("1")}},
		{Scope: ann, State: sessionstore.State{"u": []byte(`{"x":[1.0]}`)}},
		{Scope: bob, State: sessionstore.State{"v": []byte("2")}},
	})
	stop := errors.New("enough")
	if err := f.Export(f.t.Context(), func(sessionstore.SessionRecord) error { return stop },
		func(sessionstore.SharedState) error { return nil }); !errors.Is(err, stop) {
		f.t.Errorf("an export that is stopped ends with %v", err)
	}
}

// An export reads each state when it yields it, so that it holds one of them and not
// all: what changes meanwhile shows in what comes later.
func archiveReadsOneByOne(f *fixture) {
	f.create(session(ann, "s1"), `{"user:u":1}`)
	f.create(session(bob, "s2"), `{"user:v":1}`)
	var states, ids []string
	err := f.Export(f.t.Context(), func(a sessionstore.SessionRecord) error {
		if ids = append(ids, a.ID); len(ids) == 1 {
			f.delete(session(bob, "s2"))
		}
		return nil
	}, func(s sessionstore.SharedState) error {
		if states = append(states, string(s.State["u"])+string(s.State["v"])); len(states) == 1 {
			f.append(session(bob, "s2"), f.sets("e1", `{"user:v":2}`))
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("states", states, []string{"1", "2"})
	f.equal("sessions", ids, []string{"s1"})
}

// Restore gives a session whose events were appended its own state and time,
// and positions that leave nothing to do. Memories are moved separately, so
// done work must not be done again.
func archiveRestores(f *fixture) {
	key := session(ann, "s1")
	f.appendWith(key, sessionstore.Append{Create: true, KeepState: true}, f.sets("e1", `{"k":1}`), f.said("e2"))
	at := f.now().Add(-time.Hour)
	a := sessionstore.SessionRecord{Key: key, State: sessionstore.State{"k": []byte("5"), "n": []byte("null")},
		LastUpdateTime: at, Events: 2, Requested: 2, Done: 2}
	for range 2 {
		if err := f.Restore(f.t.Context(), a); err != nil {
			f.t.Fatal(err)
		}
		got := f.get(key)
		f.hasState("state", got.State, `{"k":5,"n":null}`)
		f.equal("time", got.LastUpdateTime, at)
		f.idle("all was done")
	}
	f.equal("events left", f.ask(key).EventsTotal, 0)
	a.ID = "missing"
	f.isA("Restore of a session that is not there", f.Restore(f.t.Context(), a), memory.ErrNotFound)
}

// Work that was left resumes where it was, with its plan. Work that was given
// up stays so until the next request. A move must not lose a request that was
// answered.
func archiveRestoresWork(f *fixture) {
	left, failed := session(ann, "left"), session(bob, "failed")
	for _, key := range []sessionstore.Key{left, failed} {
		f.appendWith(key, sessionstore.Append{Create: true}, f.said("e1"), f.said("e2"), f.said("e3"))
	}
	if err := f.Restore(f.t.Context(), sessionstore.SessionRecord{Key: left, LastUpdateTime: f.now(), Events: 3,
		Requested: 3, Done: 1, Plan: []byte(`"plan"`), PlanTo: 2}); err != nil {
		f.t.Fatal(err)
	}
	if err := f.Restore(f.t.Context(), sessionstore.SessionRecord{Key: failed, LastUpdateTime: f.now(), Events: 3,
		Requested: 3, Failed: true, LastError: "no"}); err != nil {
		f.t.Fatal(err)
	}
	work := f.claimOne(left)
	f.equal("work", work, sessionstore.Work{Key: left, Ref: work.Ref, Done: 1, Requested: 3, Attempts: 1,
		Plan: []byte(`"plan"`), PlanTo: 2})
	f.finish(work, 3)
	f.idle("the other was given up")
	f.ask(failed)
	f.equal("requested again", f.claimOne(failed).Requested, int64(3))
}

// A session that has gone on since is left as it is, and positions never go
// back. An import may run again after the new store is in use.
func archiveLeaves(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`, f.said("e1"))
	f.ask(key)
	f.finish(f.claimOne(key), 1)
	if err := f.Restore(f.t.Context(), sessionstore.SessionRecord{Key: key, LastUpdateTime: f.now(), Events: 1,
		Requested: 1, Done: 0}); err != nil {
		f.t.Fatal(err)
	}
	f.idle("done stays done")
	f.append(key, f.sets("e2", `{"k":2}`))
	want := f.get(key)
	if err := f.Restore(f.t.Context(), sessionstore.SessionRecord{Key: key, State: sessionstore.State{"k": []byte("1")},
		LastUpdateTime: f.now(), Events: 1, Requested: 1, Done: 1}); err != nil {
		f.t.Fatal(err)
	}
	f.equal("the session", f.get(key), want)
}

// A record to merge adds to a session what it lacks, requests the events that were
// appended, and takes nothing back. Other programs have only the latest messages of a
// session, so a second import has fewer events than the session.
func archiveMerges(f *fixture) {
	key, keep := session(ann, "s1"), sessionstore.Append{Create: true, KeepState: true}
	f.create(key, `{"k":1}`, f.said("e1"), f.said("e2"))
	f.ask(key)
	f.finish(f.claimOne(key), 2)
	before := f.get(key)
	r := sessionstore.SessionRecord{Key: key, Details: sessionstore.Details{DisplayName: "Trip"},
		State: sessionstore.State{"k": []byte("2"), "n": []byte("3")}, CreateTime: f.now().Add(-2 * time.Hour),
		LastUpdateTime: f.now().Add(-time.Hour), Events: 1, Requested: 1, Merge: true}
	merge := func() {
		f.t.Helper()
		if err := f.Restore(f.t.Context(), r); err != nil {
			f.t.Fatal(err)
		}
	}
	merge()
	f.idle("nothing is new")
	f.clock.advance(time.Minute)
	f.appendWith(key, keep, f.said("e2"), f.said("e3"))
	r.Events, r.Requested, r.DisplayName = 2, 2, "Other"
	r.CreateTime = f.now()
	merge()
	got := f.get(key)
	f.hasState("state", got.State, `{"k":1,"n":3}`)
	f.equal("name", got.DisplayName, "Trip")
	f.equal("createTime", got.CreateTime, before.LastUpdateTime.Add(-2*time.Hour))
	f.equal("lastUpdateTime", got.LastUpdateTime, f.now())
	work := f.claimOne(key)
	f.equal("done and requested", []int64{work.Done, work.Requested}, []int64{2, 3})
	f.finish(work, 3)
	r.LastUpdateTime = f.now().Add(time.Hour)
	merge()
	f.equal("a later lastUpdateTime", f.get(key).LastUpdateTime, r.LastUpdateTime)
	f.idle("all is done")
	r.Events, r.Requested = 4, 4
	f.isA("more events than there are", f.Restore(f.t.Context(), r), memory.ErrInvalid)
}

// RestoreShared sets the missing keys of a user's and an app's state, and
// nothing else. Values that were set since the move are newer.
func archiveShares(f *fixture) {
	f.create(session(ann, "s1"), `{"user:u":1,"app:a":1}`)
	for _, s := range []sessionstore.SharedState{
		{Scope: ann, State: sessionstore.State{"u": []byte("2"), "new": []byte(`{"x": 1.0}`)}},
		{Scope: memory.Scope{App: "shop"}, State: sessionstore.State{"a": []byte("2"), "new": []byte("null")}},
	} {
		if err := f.RestoreShared(f.t.Context(), s); err != nil {
			f.t.Fatal(err)
		}
	}
	f.hasState("state", f.get(session(ann, "s1")).State, `{"user:u":1,"user:new":{"x": 1.0},"app:a":1,"app:new":null}`)
}

// An export fails while memories of a deleted session are still to be made. No
// record names such a session, so its work would be lost.
func archiveLeavesNothingBehind(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	f.delete(key)
	err := f.Export(f.t.Context(), func(sessionstore.SessionRecord) error { return nil },
		func(sessionstore.SharedState) error { return nil })
	f.isA("Export", err, memory.ErrUnavailable)
	f.finish(f.claimOne(key), 1)
	f.export()
}

// Ids that look like keys of a store are exported like any others. A store that
// finds sessions by the names of its keys has to parse them.
func archiveOddIDs(f *fixture) {
	for _, odd := range []string{"a}:user:b", "a}:session:b", "{a:x}:state", "}:live:{", "*?[a-z]", ":::", "état 🎉",
		"memoryd:{1}"} {
		f.create(session(memory.Scope{App: odd, User: odd}, odd), `{"k":1,"user:u":2,"app:a":3}`, f.said("e1"))
		sessions, shared := f.export()
		n := f.asked + 1
		f.asked++
		f.equal("sessions with "+odd, len(sessions), n)
		f.equal("shared states with "+odd, len(shared), 2*n)
		at := sessions[len(sessions)-1]
		for _, s := range sessions {
			if s.ID == odd {
				at = s
			}
		}
		f.equal("its key", at.Key, session(memory.Scope{App: odd, User: odd}, odd))
	}
}

// Positions that move on leave no plan of finished events. Otherwise the plan
// would be applied to other events.
func archiveStalePlan(f *fixture) {
	key := session(ann, "s1")
	f.appendWith(key, sessionstore.Append{Create: true}, f.said("e1"), f.said("e2"), f.said("e3"))
	a := sessionstore.SessionRecord{Key: key, LastUpdateTime: f.now(), Events: 3, Requested: 3, Done: 0,
		Plan: []byte(`"plan"`), PlanTo: 1}
	for range 2 {
		if err := f.Restore(f.t.Context(), a); err != nil {
			f.t.Fatal(err)
		}
		a.Done, a.Plan, a.PlanTo = 2, nil, 0
	}
	work := f.claimOne(key)
	f.equal("plan", string(work.Plan), "")
	f.isA("Finish to what is done", f.Finish(f.t.Context(), work, 2, nil), memory.ErrAborted)
	f.isA("Finish to less", f.Finish(f.t.Context(), work, 1, nil), memory.ErrAborted)
	f.finish(work, 3)
}

// A record that breaks a rule is refused, and changes nothing: positions beyond the
// events would count events as done that are not, and state of others would be
// shown as the session's own.
func archiveForged(f *fixture) {
	key := session(ann, "s1")
	f.appendWith(key, sessionstore.Append{Create: true}, f.said("e1"), f.said("e2"))
	own := func(key, value string) sessionstore.State { return sessionstore.State{key: []byte(value)} }
	good := sessionstore.SessionRecord{Key: key, State: own("k", "1"), LastUpdateTime: f.now(), Events: 2,
		Requested: 2, Done: 1}
	before := f.get(key)
	for what, forge := range map[string]func(r *sessionstore.SessionRecord){
		"done ahead of requested":   func(r *sessionstore.SessionRecord) { r.Done = 3 },
		"requested ahead of events": func(r *sessionstore.SessionRecord) { r.Requested = 3 },
		"all ahead of the events":   func(r *sessionstore.SessionRecord) { r.Events, r.Requested, r.Done = 9, 9, 9 },
		"negative":                  func(r *sessionstore.SessionRecord) { r.Done = -1 },
		"negative events":           func(r *sessionstore.SessionRecord) { r.Events, r.Requested, r.Done = -1, -1, -1 },
		"temp: state":               func(r *sessionstore.SessionRecord) { r.State = own("temp:x", "1") },
		"user: state":               func(r *sessionstore.SessionRecord) { r.State = own("user:x", "1") },
		"app: state":                func(r *sessionstore.SessionRecord) { r.State = own("app:x", "1") },
		"state that is not JSON":    func(r *sessionstore.SessionRecord) { r.State = own("x", "{") },
		"a time long ago":           func(r *sessionstore.SessionRecord) { r.LastUpdateTime = time.Unix(-1e10, 0) },
		"a time far ahead":          func(r *sessionstore.SessionRecord) { r.LastUpdateTime = time.Unix(1e12, 0) },
		"a plan of done events":     func(r *sessionstore.SessionRecord) { r.Plan, r.PlanTo = []byte(`{}`), 1 },
		"a plan of no events":       func(r *sessionstore.SessionRecord) { r.Plan, r.PlanTo = []byte(`{}`), 3 },
		"a plan that is not JSON":   func(r *sessionstore.SessionRecord) { r.Plan, r.PlanTo = []byte(`{`), 2 },
		"no user":                   func(r *sessionstore.SessionRecord) { r.User = "" },
		"an id that is none":        func(r *sessionstore.SessionRecord) { r.ID = "a/b" },
	} {
		r := good
		forge(&r)
		f.isA(what, f.Restore(f.t.Context(), r), memory.ErrInvalid)
		f.equal("the session after "+what, f.get(key), before)
		f.idle(what)
	}
	for what, s := range map[string]sessionstore.SharedState{
		"shared state that is not JSON": {Scope: ann, State: own("x", "{")},
		"shared state of no app":        {Scope: memory.Scope{User: "ann"}, State: own("x", "1")},
	} {
		f.isA(what, f.RestoreShared(f.t.Context(), s), memory.ErrInvalid)
	}
	f.equal("the session in the end", f.get(key), before)
	if err := f.Restore(f.t.Context(), good); err != nil {
		f.t.Error(err)
	}
	f.hasState("restored", f.get(key).State, `{"k":1}`)
}
