package sessiontest

import (
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// keyCases check that ids are opaque: any two different keys are different,
// whatever characters they have.
func keyCases() []testCase {
	return []testCase{
		{"scopes do not run into each other", keysScopes},
		{"session ids", keysSessions},
		{"event ids", keysEvents},
	}
}

// oddNames are valid ids that are risky for a store which builds keys,
// patterns, paths or queries from them. All are different.
func oddNames() []string {
	return []string{
		"a", "A", "b", "a:b", "a:b:c", "b:c", "a%3Ab", "a%b", "a_b", "axb", "%", "_", "*", "?", "[a]", "{a}", "{", "}",
		"a{b}c",
		`\`, `\\`, `a\:b`, `'`, `''`, `"`, "`", "'; DROP TABLE sessions; --", "$1", ":name", "@x", "ann@x.com",
		"ann%40x.com",
		"a b", "a  b", "a+b", "a%20b", "a,b", "a;b", "a|b", "a#b", "a~b", "a-b", "a.b", "...", "app:", "user:x",
		"temp:x", "null", "0", "00", "-1", "1e3",
		"é", "e\u0301", "É", "ß", "ss", "世界", "😀", "\u200b", "a\u200bb", "\u202etxt", "s", "\u017f", "K", "\u212a",
		"\ufeffa", "\ufffd",
	}
}

// Scopes with odd names, or with names that are the same once joined, share
// nothing: neither sessions, state, work nor operations. A store that joins ids
// with a separator mixes users here.
func keysScopes(f *fixture) {
	// Joined with a colon, a bar, a space or as JSON, some of these are the same,
	// and some only differ beyond the length that an index may cut keys to.
	scopes := []memory.Scope{
		{App: "a", User: "b:c"}, {App: "a:b", User: "c"}, {App: "a:b:c", User: "c"}, {App: "c", User: "a:b"},
		{App: "a ", User: "b"}, {App: "a", User: " b"}, {App: "a", User: "b"}, {App: "a|b", User: "c"},
		{App: "a", User: "b|c"},
		{App: `a"`, User: `","b`}, {App: `a","`, User: `"b`}, {App: strings.Repeat("x", memory.MaxID),
			User: strings.Repeat("y", memory.MaxID)},
		{App: strings.Repeat("x", memory.MaxID), User: strings.Repeat("y", memory.MaxID-1)},
	}
	for _, name := range oddNames() {
		scopes = append(scopes, memory.Scope{App: "app", User: name}, memory.Scope{App: name, User: "user"})
	}
	apps := map[string]int{}
	operations := map[memory.Scope]string{}
	for i, scope := range scopes {
		key := session(scope, "s")
		f.create(key, fmt.Sprintf(`{"n":%d,"user:n":%d}`, i, i))
		f.append(key, f.sets("e", fmt.Sprintf(`{"app:%d":1}`, i)))
		operations[scope] = f.ask(key).ID
		apps[scope.App]++
	}
	// Each scope has only its own data, and the app's state of its app's scopes.
	for i, scope := range scopes {
		got := f.get(session(scope, "s"))
		what := fmt.Sprintf("scope %.60q", scope)
		f.equal(what+" session state", string(got.State["n"]), fmt.Sprint(i))
		f.equal(what+" user state", string(got.State["user:n"]), fmt.Sprint(i))
		f.equal(what+" state in all", len(got.State), 2+apps[scope.App])
		if sessions := f.list(scope, 0); len(sessions) != 1 || sessions[0].Key != got.Key {
			f.t.Errorf("%s: List gives %v", what, sessions)
		}
		ops, _, err := f.Operations(f.t.Context(), scope, sessionstore.List{})
		if err != nil || len(ops) != 1 || ops[0].ID != operations[scope] || ops[0].Key != got.Key {
			f.t.Errorf("%s: Operations gives %v, %v", what, ops, err)
		}
	}
	for app, n := range apps {
		f.equal(fmt.Sprintf("sessions of app %.60q", app), len(f.listApp(app, 0)), n)
	}
	// And all of them have work, side by side.
	claimed := map[memory.Scope]bool{}
	for _, w := range f.claim("worker", len(scopes)+1) {
		claimed[w.Key.Scope] = true
	}
	f.equal("scopes claimed", len(claimed), len(scopes))
}

// Sessions of odd ids are all different. Wildcards, case folding and Unicode
// normalization must not make two ids one.
func keysSessions(f *fixture) {
	names := append(oddNames(), strings.Repeat("s", memory.MaxID), strings.Repeat("s", memory.MaxID-1))
	for i, name := range names {
		f.create(session(ann, name), fmt.Sprintf(`{"n":%d}`, i), f.said(name))
	}
	for i, name := range names {
		got := f.get(session(ann, name))
		f.equal(fmt.Sprintf("state of %.60q", name), string(got.State["n"]), fmt.Sprint(i))
		f.hasEvents(fmt.Sprintf("events of %.60q", name), got.Events, name)
	}
	f.equal("List", len(f.list(ann, 7)), len(names))
	for i, name := range names {
		f.delete(session(ann, name))
		f.missing(session(ann, name))
		f.equal("sessions left", len(f.list(ann, 0)), len(names)-i-1)
	}
}

// Events of odd ids are all different. Two events that were taken for one would
// lose a turn.
func keysEvents(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	names := append(oddNames(), " a", "a ", strings.Repeat("e", memory.MaxID), strings.Repeat("e", memory.MaxID-1))
	var events []sessionstore.Event
	for _, name := range names {
		raw, err := sessionstore.NewStateEvent("i", nil)
		if err != nil {
			f.t.Fatal(err)
		}
		events = append(events, raw.Stored(func() string { return name }, f.now()))
	}
	f.append(key, events...)
	f.append(key, events...)
	f.hasEvents("events", f.get(key).Events, names...)
}
