package sessiontest

import (
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// detailCases are the promises about a session's name, labels and times, and of
// Store.Update.
func detailCases() []testCase {
	return []testCase{
		{"come back", detailsComeBack},
		{"are updated", detailsUpdated},
		{"change with events", detailsWithEvents},
		{"change with state", detailsWithState},
		{"bad ones are refused", detailsRefused},
		{"of a missing session", detailsMissing},
		{"are exported", detailsExported},
	}
}

// details are of a session that says everything.
func (f *fixture) details() sessionstore.Details {
	return sessionstore.Details{DisplayName: `Trams & "cake" 日`,
		Labels: map[string]string{"team": "blue", "a.b": "", "日": "<é>"}, ExpireTime: f.now().Add(time.Hour)}
}

// createWith makes a session with details.
func (f *fixture) createWith(key sessionstore.Key, d sessionstore.Details, events ...sessionstore.Event) {
	f.t.Helper()
	if _, err := f.Create(f.t.Context(), key, sessionstore.Create{Details: d, Events: events}); err != nil {
		f.t.Fatalf("Create(%v): %v", key, err)
	}
}

// update changes a session.
func (f *fixture) update(key sessionstore.Key, patch sessionstore.Patch) {
	f.t.Helper()
	if err := f.Update(f.t.Context(), key, patch); err != nil {
		f.t.Fatalf("Update(%v): %v", key, err)
	}
}

// Create, Get and both lists have the details and the time of making, which stay when
// events come, also after a restart. An append that makes a session sets the time too.
func detailsComeBack(f *fixture) {
	key, made, d := session(ann, "s1"), f.now(), f.details()
	got, err := f.Create(f.t.Context(), key, sessionstore.Create{Details: d})
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("Create", got.Details, d)
	f.equal("time of making", got.CreateTime, made)
	f.clock.advance(time.Minute)
	f.append(key, f.saidAt("e1", made.Add(-time.Hour)))
	f.appendWith(session(ann, "s2"), sessionstore.Append{Create: true}, f.saidAt("e1", made.Add(-time.Hour)))
	f.reopen()
	got = f.get(key)
	f.equal("Get", got.Details, d)
	f.equal("time of making", got.CreateTime, made)
	for name, all := range map[string][]sessionstore.Session{"List": f.list(ann, 0), "ListApp": f.listApp("shop", 0)} {
		f.equal(name+": sessions", sessionIDs(all), []string{"s2", "s1"})
		f.equal(name, all[1].Details, d)
		f.equal(name+": time of making", all[1].CreateTime, made)
		f.equal(name+": of a session without details", all[0].Details, sessionstore.Details{})
		f.equal(name+": time of making of an appended one", all[0].CreateTime, made.Add(time.Minute))
	}
}

// Update changes what the patch has, and nothing else. It counts as a change of the
// session. A cleared field is as if it had never been set.
func detailsUpdated(f *fixture) {
	key, want := session(ann, "s1"), f.details()
	f.createWith(key, want, f.said("e1"))
	name, labels, none := "another", map[string]string{"only": "this"}, ""
	later, never := f.now().Add(48*time.Hour), time.Time{}
	empty := map[string]string{}
	for _, step := range []struct {
		name   string
		patch  sessionstore.Patch
		change func()
	}{
		{"the name", sessionstore.Patch{DisplayName: &name}, func() { want.DisplayName = name }},
		{"labels", sessionstore.Patch{Labels: &labels}, func() { want.Labels = labels }},
		{"the time", sessionstore.Patch{ExpireTime: &later}, func() { want.ExpireTime = later }},
		{"nothing", sessionstore.Patch{}, func() {}},
		{"no name", sessionstore.Patch{DisplayName: &none}, func() { want.DisplayName = "" }},
		{"no labels", sessionstore.Patch{Labels: &empty}, func() { want.Labels = nil }},
		{"no time", sessionstore.Patch{ExpireTime: &never}, func() { want.ExpireTime = never }},
	} {
		f.clock.advance(time.Second)
		f.update(key, step.patch)
		step.change()
		got := f.get(key)
		f.equal(step.name, got.Details, want)
		f.equal(step.name+": time of the change", got.LastUpdateTime, f.now())
		f.equal(step.name+": time of making", got.CreateTime, sessionstore.Micros(start))
		f.hasEvents(step.name+": events", got.Events, "e1")
	}
	f.clock.advance(100 * time.Hour)
	f.equal("without a time", f.get(key).ID, "s1")
}

// The events of a patch are stored with their state in the step that changes the
// details. If they are refused, nothing has changed.
func detailsWithEvents(f *fixture) {
	key, name := session(ann, "s1"), "named"
	f.create(key, `{"k":1}`)
	f.clock.advance(time.Second)
	f.update(key, sessionstore.Patch{DisplayName: &name,
		Events: []sessionstore.Event{f.sets("e1", `{"k":2,"user:u":3,"app:a":4}`)}})
	got := f.get(key)
	f.equal("name", got.DisplayName, name)
	f.hasEvents("events", got.Events, "e1")
	f.hasState("state", got.State, `{"k":2,"user:u":3,"app:a":4}`)
	f.equal("time of the change", got.LastUpdateTime, got.Events[0].Timestamp)
	for _, owner := range []string{"", "user:", "app:"} {
		other := "never seen"
		large := f.sets("large", fmt.Sprintf(`{"%sx":"%s"}`, owner, strings.Repeat("x", MaxState)))
		err := f.Update(f.t.Context(), key,
			sessionstore.Patch{DisplayName: &other, Events: []sessionstore.Event{large}})
		f.isA("Update with too much state", err, memory.ErrInvalid)
		f.equal("after that", f.get(key), got)
	}
}

// The state of a patch takes the place of the session's own keys, before the events of the
// patch. Keys of the user and of the app are set, and none of theirs is removed. No event
// records it. If any state would be too large, nothing has changed.
func detailsWithState(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1,"gone":[1],"user:u":2,"user:stays":3,"app:a":4,"app:stays":5}`)
	f.create(session(ann, "s2"), `{"k":1}`)
	f.append(key, f.said("e1"))
	replace := func(state string, events ...sessionstore.Event) {
		f.t.Helper()
		f.clock.advance(time.Second)
		s := f.state(state)
		f.update(key, sessionstore.Patch{State: &s, Events: events})
	}
	const shared = `"user:stays":3,"app:stays":5}`
	for range 2 { // the same work twice
		replace(`{"k":null,"new":"é","user:u":20,"app:a":40,"temp:t":6}`)
		got := f.get(key)
		f.hasState("replaced", got.State, `{"k":null,"new":"é","user:u":20,"app:a":40,`+shared)
		f.equal("time of the change", got.LastUpdateTime, f.now())
		f.hasEvents("events", got.Events, "e1")
	}
	f.reopen()
	replace(`{"both":1,"only":2}`, f.sets("e2", `{"both":3,"user:u":21}`))
	f.hasState("with an event", f.get(key).State, `{"both":3,"only":2,"user:u":21,"app:a":40,`+shared)
	replace(`{}`)
	was := f.get(key)
	f.hasState("emptied", was.State, `{"user:u":21,"app:a":40,`+shared)
	f.hasEvents("events", was.Events, "e1", "e2")
	f.hasState("another session", f.get(session(ann, "s2")).State, `{"k":1,"user:u":21,"app:a":40,`+shared)

	// What goes makes room: two states of three fifths of the limit do not fit together.
	large := strings.Repeat("x", MaxState*3/5)
	replace(`{"first":"` + large + `"}`)
	replace(`{"second":"` + large + `"}`)
	f.isA("State that does not fit beside that", f.Update(f.t.Context(), key,
		sessionstore.Patch{Events: []sessionstore.Event{f.sets("third", `{"third":"`+large+`"}`)}}), memory.ErrInvalid)
	was = f.get(key)
	for _, owner := range []string{"", "user:", "app:"} {
		state := f.state(fmt.Sprintf(`{"a":1,"%sx":"%s"}`, owner, strings.Repeat("x", MaxState)))
		f.isA("Update with too much state", f.Update(f.t.Context(), key, sessionstore.Patch{State: &state}),
			memory.ErrInvalid)
		f.equal("after that", f.get(key), was)
	}
	f.isA("Update", f.Update(f.t.Context(), session(bob, "s1"), sessionstore.Patch{State: &sessionstore.State{}}),
		memory.ErrNotFound)
}

// Details that break a rule are ErrInvalid, and the error names the field. Nothing is
// stored.
func detailsRefused(f *fixture) {
	key := session(ann, "s1")
	f.createWith(key, f.details())
	was := f.get(key)
	many := map[string]string{}
	for i := range sessionstore.MaxLabels + 1 {
		many[fmt.Sprint("l", i)] = "x"
	}
	long := strings.Repeat("é", sessionstore.MaxLabelName+1)
	for _, bad := range []struct {
		field string
		d     sessionstore.Details
	}{
		{"displayName", sessionstore.Details{DisplayName: strings.Repeat("x", sessionstore.MaxDisplayName+1)}},
		{"displayName", sessionstore.Details{DisplayName: "a\nb"}},
		{"displayName", sessionstore.Details{DisplayName: "\xff"}},
		{"labels", sessionstore.Details{Labels: many}},
		{"labels", sessionstore.Details{Labels: map[string]string{"": "x"}}},
		{"labels", sessionstore.Details{Labels: map[string]string{long: "x"}}},
		{"labels", sessionstore.Details{Labels: map[string]string{"a\x00": "x"}}},
		{"labels.k", sessionstore.Details{Labels: map[string]string{"k": long}}},
		{"labels.k", sessionstore.Details{Labels: map[string]string{"k": "\xff"}}},
		{"expireTime", sessionstore.Details{ExpireTime: f.now()}},
		{"expireTime", sessionstore.Details{ExpireTime: f.now().Add(-time.Hour)}},
		{"expireTime", sessionstore.Details{ExpireTime: time.Date(1_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}},
	} {
		_, err := f.Create(f.t.Context(), session(ann, "s2"), sessionstore.Create{Details: bad.d})
		patch := sessionstore.Patch{DisplayName: &bad.d.DisplayName, Labels: &bad.d.Labels,
			ExpireTime: &bad.d.ExpireTime}
		for call, err := range map[string]error{"Create": err, "Update": f.Update(f.t.Context(), key, patch)} {
			f.isA(call+" with bad "+bad.field, err, memory.ErrInvalid)
			if err != nil && !strings.Contains(err.Error(), bad.field) {
				f.t.Errorf("%s: %v does not name %s", call, err, bad.field)
			}
		}
	}
	f.equal("after that", f.get(key), was)
	f.missing(session(ann, "s2"))
	whole := sessionstore.Details{DisplayName: strings.Repeat("x", sessionstore.MaxDisplayName),
		Labels: map[string]string{long[2:]: long[2:]}}
	f.createWith(session(ann, "s2"), whole)
	f.equal("the largest", f.get(session(ann, "s2")).Details, whole)
}

// Update of a session that the scope does not have is ErrNotFound, and makes none.
func detailsMissing(f *fixture) {
	f.create(session(bob, "s1"), `{}`)
	name := "mine"
	f.isA("Update", f.Update(f.t.Context(), session(ann, "s1"), sessionstore.Patch{DisplayName: &name}),
		memory.ErrNotFound)
	f.missing(session(ann, "s1"))
	f.equal("bob's", f.get(session(bob, "s1")).DisplayName, "")
	f.isA("Update of an id that is none", f.Update(f.t.Context(), session(ann, "a/b"), sessionstore.Patch{}),
		memory.ErrInvalid)
}

// An export has the details and the time of making, and a restore brings them back. A
// record of an early version, which has none, leaves what is there.
func detailsExported(f *fixture) {
	key, d, made := session(ann, "s1"), f.details(), f.now()
	f.createWith(key, d, f.said("e1"))
	sessions, _ := f.export()
	f.equal("exported", sessions[0].Details, d)
	f.equal("time of making", sessions[0].CreateTime, made)
	f.delete(key)
	f.clock.advance(time.Minute)
	f.appendWith(key, sessionstore.Append{Create: true, KeepState: true}, f.saidAt("e1", made))
	early := sessionstore.SessionRecord{Key: key, LastUpdateTime: made, Events: 1}
	for _, r := range []sessionstore.SessionRecord{sessions[0], sessions[0], early} {
		if err := f.Restore(f.t.Context(), r); err != nil {
			f.t.Fatal(err)
		}
		got := f.get(key)
		f.equal("restored", got.Details, d)
		f.equal("time of making", got.CreateTime, made)
	}
}
