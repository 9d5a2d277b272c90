package sessiontest

import (
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// deleteCases are the promises of Store.Delete about what clients see. What
// becomes of requested work is in deletedWorkCases.
func deleteCases() []testCase {
	return []testCase{
		{"hides the session", deleteHides},
		{"missing", deleteMissing},
		{"another user's", deleteAnothers},
		{"shared state survives", deleteKeepsShared},
		{"the id is free again", deleteFreesID},
		{"many lives", deleteManyLives},
	}
}

// A deleted session can be neither read, listed nor written to. From the answer
// on, no agent may see the conversation.
func deleteHides(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`, f.said("e1"))
	f.create(session(ann, "s2"), `{"k":2}`, f.said("e1"))
	f.delete(key)
	f.missing(key)
	_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said("e2")}, sessionstore.Append{})
	f.isA("Append", err, memory.ErrNotFound)
	f.equal("List", sessionIDs(f.list(ann, 0)), []string{"s2"})
	f.equal("ListApp", sessionIDs(f.listApp("shop", 0)), []string{"s2"})
	other := f.get(session(ann, "s2"))
	f.hasEvents("the other's events", other.Events, "e1")
	f.hasState("the other's state", other.State, `{"k":2}`)
}

// Deleting a missing session is no error, however often. A client that retries
// a delete gets no error.
func deleteMissing(f *fixture) {
	key := session(ann, "s1")
	f.delete(key)
	f.create(key, `{}`)
	f.delete(key)
	f.delete(key)
	f.missing(key)
}

// Deleting by another scope does nothing. Ids of sessions are easy to guess.
func deleteAnothers(f *fixture) {
	key := session(ann, "s1")
	want := f.create(key, `{"k":1,"user:k":1}`, f.said("e1"))
	for _, scope := range []memory.Scope{bob, {App: "bank", User: "ann"}, {App: "ann", User: "shop"},
		{App: "%", User: "%"}} {
		f.delete(session(scope, "s1"))
	}
	f.equal("Get", f.get(key), want)
}

// The state of user and app outlives their sessions, even the last one.
// Preferences of the user do not belong to one conversation.
func deleteKeepsShared(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"app:a":1,"user:u":1,"s":1}`)
	f.append(key, f.sets("e1", `{"app:b":2,"user:v":2,"t":2}`))
	f.delete(key)
	f.hasState("state", f.create(session(ann, "s2"), `{}`).State, `{"app:a":1,"app:b":2,"user:u":1,"user:v":2}`)
}

// After a delete the id is free. A new session of that id has nothing of the
// old one: the ids of its events are free too. Clients reuse ids such as
// "default".
func deleteFreesID(f *fixture) {
	for name, again := range map[string]func(sessionstore.Key){
		"created":  func(key sessionstore.Key) { f.create(key, `{}`) },
		"appended": func(key sessionstore.Key) { f.appendWith(key, sessionstore.Append{Create: true}) },
	} {
		key := session(ann, name)
		f.create(key, `{"k":1}`)
		f.append(key, f.sets("e1", `{"k":2}`), f.sets("e2", `{"l":2}`))
		f.delete(key)
		f.clock.advance(60e9)
		again(key)
		f.equal("the new "+name, f.get(key), &sessionstore.Session{Key: key, State: sessionstore.State{},
			CreateTime: f.now(), LastUpdateTime: f.now()})
		e := f.event(`{"id":"e1","author":"user","content":"new words","actions":{"stateDelta":{"k":3}}}`)
		out := f.append(key, e)
		f.equal("text of the event stored", out.Events[0].Text(), "new words")
		got := f.get(key)
		f.equal("events", got.Events, out.Events)
		f.hasState("state", got.State, `{"k":3}`)
	}
}

// An id may live many times. No life may see anything of an earlier one.
func deleteManyLives(f *fixture) {
	key := session(ann, "s1")
	for life := range 10 {
		f.create(key, fmt.Sprintf(`{"life":%d,"life %d":true}`, life, life), f.said("e1"),
			f.said(fmt.Sprintf("e1 of %d", life)))
		got := f.get(key)
		f.hasState("state", got.State, fmt.Sprintf(`{"life":%d,"life %d":true}`, life, life))
		f.hasEvents("events", got.Events, "e1", fmt.Sprintf("e1 of %d", life))
		f.delete(key)
		f.missing(key)
	}
	f.equal("sessions", len(f.list(ann, 0)), 0)
}
