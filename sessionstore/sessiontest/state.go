package sessiontest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// stateCases are the rules of state: who sees a key, and how a delta changes
// it.
func stateCases() []testCase {
	return []testCase{
		{"shared by prefix", stateShared},
		{"null is a value", stateNull},
		{"in order of the call", stateInOrder},
		{"values to the byte", stateBytes},
		{"replaced whole", stateReplaced},
		{"prefixes", statePrefixes},
		{"odd keys", stateOddKeys},
		{"large", stateLarge},
		{"without a session", stateWithoutSession},
	}
}

// stateDelta reaches the app's state in all its sessions, the user's state in
// all sessions of that user in that app, and the session's state in that
// session only. Every read returns the merged view. This is ADK's rule for its
// prefixes, and what one user sets must never reach another.
func stateShared(f *fixture) {
	bank := memory.Scope{App: "bank", User: "ann"}
	keys := []sessionstore.Key{session(ann, "s1"), session(ann, "s2"), session(bob, "s1"), session(bank, "s1")}
	for _, key := range keys {
		f.create(key, `{}`)
	}
	f.append(keys[0], f.sets("e1", `{"app:a":1,"user:u":2,"s":3,"temp:t":4}`))
	wants := []string{`{"app:a":1,"user:u":2,"s":3}`, `{"app:a":1,"user:u":2}`, `{"app:a":1}`, `{}`}
	for i, key := range keys {
		f.hasState(fmt.Sprintf("Get(%v)", key), f.get(key).State, wants[i])
		f.hasState(fmt.Sprintf("Get(%v) of no events", key), f.getSome(key, sessionstore.Get{}).State, wants[i])
	}
	listed := map[sessionstore.Key]sessionstore.State{}
	for _, s := range append(f.listApp("shop", 0), f.listApp("bank", 0)...) {
		listed[s.Key] = s.State
	}
	for i, key := range keys {
		f.hasState(fmt.Sprintf("ListApp, %v", key), listed[key], wants[i])
	}
	for _, s := range f.list(ann, 0) {
		f.equal("List", texts(s.State), texts(listed[s.Key]))
	}

	f.append(keys[2], f.sets("e1", `{"app:a":10,"user:u":20}`))
	f.hasState("after bob's event", f.get(keys[0]).State, `{"app:a":10,"user:u":2,"s":3}`)
}

// The states of user and app are read without a session: before there is one, and after
// the last one was deleted. The state of a session is not among them.
func stateWithoutSession(f *fixture) {
	state := func(scope memory.Scope) sessionstore.State {
		f.t.Helper()
		got, err := f.State(f.t.Context(), scope, 0)
		if err != nil {
			f.t.Fatalf("State(%v): %v", scope, err)
		}
		return got
	}
	f.hasState("of nobody", state(ann), `{}`)
	key := session(ann, "s1")
	f.create(key, `{"app:a":1,"user:u":{"b": [2]},"s":3}`)
	f.append(key, f.sets("e1", `{"user:n":null,"temp:t":4}`))
	f.hasState("of ann", state(ann), `{"app:a":1,"user:u":{"b": [2]},"user:n":null}`)
	f.hasState("of bob, who has no session", state(bob), `{"app:a":1}`)
	f.hasState("of another app", state(memory.Scope{App: "bank", User: "ann"}), `{}`)
	f.delete(key)
	f.hasState("after the session", state(ann), `{"app:a":1,"user:u":{"b": [2]},"user:n":null}`)

	// Room counts both, as StateBytes does.
	parts := state(ann).Split()
	bytes := sessionstore.StateBytes(parts.User) + sessionstore.StateBytes(parts.App)
	if got, err := f.State(f.t.Context(), ann, bytes); err != nil || len(got) != 3 {
		f.t.Errorf("State with room for %d bytes: %v, %v", bytes, got, err)
	}
	_, err := f.State(f.t.Context(), ann, bytes-1)
	full := (*sessionstore.NoRoom)(nil)
	if !errors.As(err, &full) || full.Bytes != bytes {
		f.t.Errorf("State with room for %d bytes: %v, want NoRoom of %d", bytes-1, err, bytes)
	}
}

// A null is stored as null, in any scope. It neither removes the key nor is
// skipped: rewinding relies on that.
func stateNull(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1,"user:k":1,"app:k":1,"from the start":null}`)
	f.append(key, f.sets("e1", `{"k":null,"user:k":null,"app:k":null,"new":null}`))
	f.hasState("null", f.get(key).State, `{"k":null,"user:k":null,"app:k":null,"new":null,"from the start":null}`)
	f.append(key, f.sets("e2", `{"k":2,"user:k":2}`))
	f.hasState("a value again", f.get(key).State, `{"k":2,"user:k":2,"app:k":null,"new":null,"from the start":null}`)
}

// The events of a call change state in the order of the call, whatever their
// timestamps. Calls change it one after another. Late events are common, and a
// client expects that its last call counts.
func stateInOrder(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	at := func(id string, seconds int, delta string) sessionstore.Event {
		return f.event(fmt.Sprintf(`{"id":%q,"author":"user","timestamp":%d,"actions":{"stateDelta":%s}}`, id,
			1715176560+seconds, delta))
	}
	f.append(key, at("e1", 20, `{"a":1,"b":1,"user:a":1}`), at("e2", 10, `{"b":2,"c":2,"user:a":2}`),
		at("e3", 30, `{"c":3}`))
	f.hasState("one call", f.get(key).State, `{"a":1,"b":2,"c":3,"user:a":2}`)
	f.append(key, at("e4", 0, `{"a":4}`))
	f.hasState("another", f.get(key).State, `{"a":4,"b":2,"c":3,"user:a":2}`)
}

// Values of any kind come back byte for byte. ADK in Python and in Go have to
// read the same value, also of large integers.
func stateBytes(f *fixture) {
	key := session(ann, "s1")
	values := []string{`0`, `-0.0`, `1.50`, `12345678901234567890`, `1e400`, `true`, `false`, `null`, `""`, `"null"`,
		`"é 😀 \u00e9 <>& \u0000"`,
		`[]`, `{}`, `{"b":1,"a":{"app:x":[1,2.0,null]}}`, `"` + strings.Repeat("long ", 20000) + `"`}
	var pairs []string
	for i, v := range values {
		pairs = append(pairs, fmt.Sprintf(`"k%d":%s,"user:k%d":%s,"app:k%d":%s`, i, v, i, v, i, v))
	}
	all := "{" + strings.Join(pairs, ",") + "}"
	f.hasState("Create", f.create(key, all).State, all)
	f.hasState("Get", f.get(key).State, all)
	f.append(session(ann, "s1"), f.sets("e1", all))
	f.hasState("Get after Append", f.get(key).State, all)
	f.hasState("List", f.list(ann, 0)[0].State, all)
}

// A value replaces the earlier one as a whole: objects are not merged. ADK's
// deltas are shallow. A deep merge would bring back removed fields.
func stateReplaced(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":{"a":1,"b":{"c":1}},"user:k":[1,2]}`)
	f.append(key, f.sets("e1", `{"k":{"b":{}},"user:k":[3]}`))
	f.hasState("state", f.get(key).State, `{"k":{"b":{}},"user:k":[3]}`)
}

// A prefix counts once, at the front, in lower case and with its colon. The
// names of the three owners share no keys, however similar they look.
func statePrefixes(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	all := `{"app:user:x":1,"user:app:x":2,"app:temp:x":3,"user:temp:x":4,"x":5,"app":6,"user":7,"temp":8,"App:x":9,
		"USER:x":10," app:x":11,"other:x":12,":x":13,"app:app:x":14,"user:user:x":15,"appx":16,"app:x":17,"user:x":18}`
	f.append(key, f.sets("e1", strings.TrimSuffix(strings.TrimSpace(all), "}")+`,"temp:x":19,"temp:app:x":20}`))
	f.hasState("the session", f.get(key).State, all)
	f.hasState("another session", f.create(session(ann, "s2"), `{}`).State,
		`{"app:user:x":1,"app:temp:x":3,"app:app:x":14,"app:x":17,"user:app:x":2,"user:temp:x":4,"user:user:x":15,`+
			`"user:x":18}`)
	f.hasState("another user", f.create(session(bob, "s1"), `{}`).State,
		`{"app:user:x":1,"app:temp:x":3,"app:app:x":14,"app:x":17}`)
}

// Keys with any characters are all different keys. Applications use sentences,
// paths and ids as keys.
func stateOddKeys(f *fixture) {
	key := session(ann, "s1")
	ids := slices.DeleteFunc(oddNames(), func(name string) bool {
		// as statePrefixes has them
		return strings.HasPrefix(name, "app:") || strings.HasPrefix(name, "user:") || strings.HasPrefix(name, "temp:")
	})
	names := append(ids, " a", "a ", " ", "a/b", "..", "tab\there", "new\nline", strings.Repeat("k", memory.MaxID))
	want := sessionstore.State{}
	for i, name := range names {
		for j, prefix := range []string{"", sessionstore.UserPrefix, sessionstore.AppPrefix} {
			want[prefix+name] = fmt.Appendf(nil, "%d", 3*i+j)
		}
	}
	e, err := sessionstore.NewStateEvent("i-1", want)
	if err != nil {
		f.t.Fatal(err)
	}
	f.create(key, `{}`)
	f.append(key, e)
	f.equal("state", texts(f.get(key).State), texts(want))
	s, err := f.Create(f.t.Context(), session(ann, "s2"), sessionstore.Create{State: want})
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("initial state", texts(s.State), texts(want))
}

// A session has room for thousands of keys. No limit of a database on columns
// or parameters may show.
func stateLarge(f *fixture) {
	key := session(ann, "s1")
	want := sessionstore.State{}
	for i := range 2000 {
		want[fmt.Sprintf("key %d", i)] = fmt.Appendf(nil, "%d", i)
	}
	if _, err := f.Create(f.t.Context(), key, sessionstore.Create{State: want}); err != nil {
		f.t.Fatal(err)
	}
	f.append(key, f.sets("e1", `{"key 7":"changed"}`))
	want["key 7"] = []byte(`"changed"`)
	f.equal("state", texts(f.get(key).State), texts(want))
}
