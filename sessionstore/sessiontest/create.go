package sessiontest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// createCases are the promises of Store.Create: the id, the state and the
// events of a new session.
func createCases() []testCase {
	return []testCase{
		{"answers the session", createAnswers},
		{"answers without state", createNoState},
		{"splits state by prefix", createSplitsState},
		{"overwrites shared state", createOverwritesShared},
		{"blank id becomes a UUID", createBlankID},
		{"space around an id is trimmed", createTrimsID},
		{"duplicate id", createDuplicate},
		{"the same id in another scope", createElsewhere},
		{"with events", createWithEvents},
		{"invalid ids", createInvalid},
		{"an id of the whole app", createUnique},
		{"an id of the whole app, at the same time", createUniqueTogether},
	}
}

// NoState leaves the state out of the answer, and stores it all the same.
func createNoState(f *fixture) {
	key := session(ann, "s1")
	got, err := f.Create(f.t.Context(), key, sessionstore.Create{
		State: sessionstore.State{"k": []byte("1"), "app:k": []byte("2")}, NoState: true,
		Events: []sessionstore.Event{f.said("e1")},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("key", got.Key, key)
	f.hasEvents("the answer", got.Events, "e1")
	if got.State != nil {
		f.t.Errorf("the answer has state %v", got.State)
	}
	f.hasState("state", f.get(key).State, `{"k":1,"app:k":2}`)
}

// A new session is empty and was updated now. Get reads the same. A client can
// use the answer without another read.
func createAnswers(f *fixture) {
	key := session(ann, "s1")
	got := f.create(key, `{}`)
	f.equal("Create", got, &sessionstore.Session{Key: key, State: sessionstore.State{}, CreateTime: f.now(),
		LastUpdateTime: f.now()})
	f.clock.advance(60e9)
	f.equal("Get", f.get(key), got)
	if got.State == nil {
		f.t.Error("the state of an empty session is nil, which is null in JSON, not {}")
	}
}

// Initial state goes to the app, the user and the session by prefix, and temp:
// keys are dropped. The answer is the merged view with prefixes. ADK addresses
// state of three owners by prefix, and its clients pass initial state in one
// map.
func createSplitsState(f *fixture) {
	key := session(ann, "s1")
	got := f.create(key, `{"app:a":1,"user:u":"two","s":[3],"temp:t":4}`)
	f.hasState("Create", got.State, `{"app:a":1,"user:u":"two","s":[3]}`)
	f.hasState("Get", f.get(key).State, `{"app:a":1,"user:u":"two","s":[3]}`)

	f.hasState("another session", f.create(session(ann, "s2"), `{}`).State, `{"app:a":1,"user:u":"two"}`)
	f.hasState("another user", f.create(session(bob, "s1"), `{}`).State, `{"app:a":1}`)
	f.hasState("another app", f.create(session(memory.Scope{App: "bank", User: "ann"}, "s1"), `{}`).State, `{}`)
}

// Initial state overwrites the state of the app and the user key by key. A
// client that starts a session with app: or user: keys means to set them, as an
// event would. Keys that it does not name belong to others.
func createOverwritesShared(f *fixture) {
	f.create(session(ann, "s1"), `{"app:a":1,"app:b":1,"user:a":1,"user:b":1,"own":1}`)
	f.create(session(ann, "s2"), `{"app:a":2,"user:b":2,"own":2}`)
	f.hasState("first session", f.get(session(ann, "s1")).State, `{"app:a":2,"app:b":1,"user:a":1,"user:b":2,"own":1}`)
	f.hasState("second session", f.get(session(ann, "s2")).State, `{"app:a":2,"app:b":1,"user:a":1,"user:b":2,"own":2}`)
}

// A blank id is replaced by a UUID, a different one each time. Clients leave
// the choice of an id to the server, as ADK allows.
func createBlankID(f *fixture) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, blank := range []string{"", " ", "   "} {
		got := f.create(session(ann, blank), `{}`)
		if !uuid.MatchString(got.ID) || seen[got.ID] {
			f.t.Errorf("Create of id %q gives id %q, want a new UUID", blank, got.ID)
		}
		seen[got.ID] = true
		f.get(got.Key)
	}
}

// Space around an id is not part of it. ADK trims the ids that it is given, so
// the same id has to name the same session here.
func createTrimsID(f *fixture) {
	f.equal("key", f.create(session(ann, "  s 1 "), `{}`).Key, session(ann, "s 1"))
	f.get(session(ann, "s 1"))
	_, err := f.Create(f.t.Context(), session(ann, " s 1"), sessionstore.Create{})
	f.isA("Create of the same id", err, memory.ErrExists)
}

// A second Create of an id fails with ErrExists and changes nothing, not even
// shared state. Two clients that choose the same id must not share a session
// without knowing.
func createDuplicate(f *fixture) {
	key := session(ann, "s1")
	want := f.create(key, `{"app:a":1,"user:u":1,"s":1}`, f.said("e1"))
	f.clock.advance(60e9)
	_, err := f.Create(f.t.Context(), key, sessionstore.Create{
		State:  f.state(`{"app:a":2,"user:u":2,"s":2,"more":2}`),
		Events: []sessionstore.Event{f.said("e2")},
	})
	f.isA("Create", err, memory.ErrExists)
	f.equal("Get", f.get(key), want)
}

// An id is in use only within its scope. A user must not learn from an error
// that another user has a session of that id.
func createElsewhere(f *fixture) {
	f.create(session(ann, "s1"), `{"mine":"ann's"}`)
	f.create(session(bob, "s1"), `{"mine":"bob's"}`)
	f.create(session(memory.Scope{App: "bank", User: "ann"}, "s1"), `{}`)
	f.hasState("ann's", f.get(session(ann, "s1")).State, `{"mine":"ann's"}`)
	f.hasState("bob's", f.get(session(bob, "s1")).State, `{"mine":"bob's"}`)
}

// Create stores events as Append does: they get ids and times, their state is
// applied over the initial one, temp: is dropped, and partial and repeated
// events are not stored. The answer is the same as Get's. An import of a
// conversation needs one call, and no other event comes between.
func createWithEvents(f *fixture) {
	key := session(ann, "s1")
	later := f.saidAt("late", f.now().Add(1e9))
	got := f.create(key, `{"k":0,"kept":0}`,
		later,
		f.sets("early", `{"k":1,"user:k":1,"app:k":1,"temp:k":1}`),
		f.event(`{"id":"part","author":"user","partial":true,"actions":{"stateDelta":{"k":2}}}`),
		f.sets("late", `{"k":3}`),
	)
	f.hasState("state", got.State, `{"k":1,"kept":0,"user:k":1,"app:k":1}`)
	f.hasEvents("events", got.Events, "early", "late")
	if !got.LastUpdateTime.Equal(f.now()) {
		f.t.Errorf("LastUpdateTime is %v, want the time of the last event stored, %v", got.LastUpdateTime, f.now())
	}
	f.equal("Get", f.get(key), got)
	if doc := string(got.Events[0].Doc); strings.Contains(doc, "temp:") {
		f.t.Errorf("temp: state is stored: %s", doc)
	}

	other := session(ann, "s2")
	got = f.create(other, `{}`, f.event(`{"author":"user","content":"hello"}`))
	if len(got.Events) != 1 || got.Events[0].ID == "" || !got.Events[0].Timestamp.Equal(f.now()) {
		f.t.Errorf("an event without id and time is stored as %+v", got.Events)
	}
	f.equal("Get", f.get(other), got)
}

// Every method that would make a session refuses an invalid id, and every other
// method finds nothing. Ids become parts of keys and of URLs, so a store has to
// refuse them at the door, before anything is written.
func createInvalid(f *fixture) {
	long := strings.Repeat("x", memory.MaxID+1)
	for _, key := range []sessionstore.Key{
		{Scope: memory.Scope{App: "", User: "ann"}, ID: "s"},
		{Scope: memory.Scope{App: "shop", User: ""}, ID: "s"},
		{Scope: memory.Scope{App: long, User: "ann"}, ID: "s"},
		{Scope: memory.Scope{App: "shop", User: long}, ID: "s"},
		{Scope: memory.Scope{App: "a/b", User: "ann"}, ID: "s"},
		{Scope: memory.Scope{App: "shop", User: ".."}, ID: "s"},
		session(ann, long),
		session(ann, "a/b"),
		session(ann, "."),
		session(ann, "a\x00b"),
		session(ann, "a\xffb"),
	} {
		what := fmt.Sprintf("%.40q", key)
		_, err := f.Create(f.t.Context(), key, sessionstore.Create{})
		f.isA("Create of "+what, err, memory.ErrInvalid)
		_, err = f.Append(f.t.Context(), key, nil, sessionstore.Append{Create: true})
		f.isA("Append to "+what, err, memory.ErrInvalid)
		if _, err = f.Get(f.t.Context(), key, sessionstore.Get{}); err == nil {
			f.t.Errorf("Get of %s finds a session", what)
		}
	}
	f.equal("sessions", sessionIDs(f.listApp("shop", 0)), []string(nil))
}
