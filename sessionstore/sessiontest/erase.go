package sessiontest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// eraseCases are the promises of Eraser, and of the erasing in access.Keys and
// access.Audit: what was erased is in no answer, and nowhere in the place.
func eraseCases() []testCase {
	return []testCase{
		{"a session", eraseSession},
		{"a deleted session with work", eraseDeletedWork},
		{"a one-shot session", eraseOneShot},
		{"a session that ended long ago", eraseFinished},
		{"events", eraseEvents},
		{"events of deleted work", eraseEventsOfWork},
		{"changes of others", eraseChanges},
		{"a user", eraseUser},
		{"while a worker is at it", eraseClaimed},
		{"of what is not there", eraseNothing},
		{"dry runs", eraseDryRuns},
		{"beside others", eraseBeside},
		{"and begin again", eraseAndBegin},
		{"users and apps", eraseLists},
		{"an app", eraseApp},
		{"keys of a user", eraseKeysOf},
		{"ids in the audit log", eraseAuditIDs},
	}
}

// The words and ids of these cases are found nowhere else.
var (
	zoe = memory.Scope{App: "shop", User: "zoe-quetzal"}
	zed = memory.Scope{App: "shop", User: "zoe-quetzal2"} // begins with the same
)

// keepsNone checks that the place has none of some texts.
func (f *fixture) keepsNone(texts ...string) {
	f.t.Helper()
	for _, text := range texts {
		if f.harness.Keeps(f.t, text) {
			f.t.Errorf("the place still has %q somewhere", text)
		}
	}
}

// keeps checks that the place has some texts, so that keepsNone means something.
func (f *fixture) keeps(texts ...string) {
	f.t.Helper()
	for _, text := range texts {
		if !f.harness.Keeps(f.t, text) {
			f.t.Errorf("the place has %q nowhere", text)
		}
	}
}

// eraseOf erases a session. A dry run before it counts the same.
func (f *fixture) eraseOf(key sessionstore.Key) sessionstore.Erased {
	f.t.Helper()
	return f.eraseBoth(fmt.Sprintf("EraseSession(%v)", key), func(dryRun bool) (sessionstore.Erased, error) {
		return f.EraseSession(f.t.Context(), key, dryRun)
	})
}

// eraseAll erases a user. A dry run before it counts the same.
func (f *fixture) eraseAll(scope memory.Scope) sessionstore.Erased {
	f.t.Helper()
	return f.eraseBoth(fmt.Sprintf("EraseUser(%v)", scope), func(dryRun bool) (sessionstore.Erased, error) {
		return f.EraseUser(f.t.Context(), scope, dryRun)
	})
}

// eraseBoth counts what an erasing takes by a dry run, and erases it.
func (f *fixture) eraseBoth(what string, erase func(dryRun bool) (sessionstore.Erased, error)) sessionstore.Erased {
	f.t.Helper()
	var out, counted sessionstore.Erased
	counted, err := erase(true)
	if err == nil {
		out, err = erase(false)
	}
	if err != nil {
		f.t.Fatalf("%s: %v", what, err)
	}
	f.equal("a dry run of "+what, counted, sessionstore.Erased{Sessions: out.Sessions, Events: out.Events})
	return out
}

// eraseEventsOf erases events of a session. A dry run before it counts the same.
func (f *fixture) eraseEventsOf(key sessionstore.Key, want int, events ...string) {
	f.t.Helper()
	for _, dryRun := range []bool{true, false} {
		if n, err := f.EraseEvents(f.t.Context(), key, events, dryRun); err != nil || n != want {
			f.t.Errorf("EraseEvents of %q, dry run %t: %d, %v, want %d", events, dryRun, n, err, want)
		}
	}
}

// A session that was erased is missing, with its events, its state, its operation and
// the changes of that. The user's and the app's state stay, and so do other sessions. A
// person who asks to have one talk erased relies on it.
func eraseSession(f *fixture) {
	key, other := session(zoe, "talk-okapi"), session(zoe, "other")
	f.create(key, `{"mood-numbat":"quokka","user:kept":1,"app:kept":2}`, f.said("axolotl"))
	f.create(other, `{}`, f.said("stays"))
	op := f.ask(key, f.said("tapir"))
	work := f.claimOne(key)
	f.save(work, 2, `"pangolin"`)
	f.finish(work, 1, sessionstore.Change{Seq: 1, Doc: []byte(`"dugong"`)})
	f.keeps("axolotl", "tapir", "dugong", "talk-okapi", "numbat", "quokka")
	sessions, shared := f.export()

	out := f.eraseOf(key)
	f.equal("erased", out, sessionstore.Erased{Sessions: 1, Events: 2, Lives: []string{work.Life()}})
	f.missing(key)
	f.noOperation(zoe, op.ID)
	f.idle("its work is gone")
	f.keepsNone("axolotl", "tapir", "dugong", "talk-okapi", "numbat", "quokka", "pangolin", op.ID)
	f.hasEvents("the other session", f.get(other).Events, "stays")
	f.hasState("the other session", f.get(other).State, `{"user:kept":1,"app:kept":2}`)
	left, stillShared := f.export()
	f.equal("other sessions", left, sessions[1:])
	f.equal("shared state", stillShared, shared)
	f.reopen()
	f.missing(key)
}

// A session that was deleted keeps its events until its work is done. They are erased
// too, and so is the work.
func eraseDeletedWork(f *fixture) {
	key := session(zoe, "s-okapi")
	f.ask(key, f.said("axolotl"))
	f.delete(key)
	f.ask(key, f.said("tapir")) // the next session of that id
	f.delete(key)
	f.create(key, `{}`, f.said("dugong"))
	out := f.eraseOf(key)
	f.equal("sessions that could be read", out.Sessions, 1)
	f.equal("events of all lives", out.Events, 3)
	f.equal("lives", len(out.Lives), 3)
	f.idle("its work is gone")
	f.keepsNone("axolotl", "tapir", "dugong", "s-okapi")
}

// A one-shot session has the id that the caller gave it.
func eraseOneShot(f *fixture) {
	key := session(zoe, "s-okapi")
	f.askOneShot(key, f.said("axolotl"))
	f.askOneShot(session(zoe, "other"), f.said("stays"))
	f.equal("lives", len(f.eraseOf(key).Lives), 1)
	f.keepsNone("axolotl", "s-okapi")
	f.claimOne(session(zoe, "other"))
}

// What an operation reports stays readable for some days after its session was deleted
// and done with. It is erased too.
func eraseFinished(f *fixture) {
	key := session(zoe, "s-okapi")
	op := f.ask(key, f.said("axolotl"))
	f.finish(f.claimOne(key), 1, sessionstore.Change{Seq: 1, Doc: []byte(`"dugong"`)})
	f.delete(key)
	f.keeps("dugong", "s-okapi")
	f.eraseOf(key)
	f.noOperation(zoe, op.ID)
	f.keepsNone("axolotl", "dugong", "s-okapi", op.ID)
}

// Events that were erased keep their places, ids, authors and times, and nothing else: so
// the others stay in order, and what is sent once more is not stored again. Other events
// stay byte for byte.
func eraseEvents(f *fixture) {
	key := session(zoe, "s1")
	secret := f.event(`{"id":"e2","author":"numbat","invocationId":"okapi","content":{"parts":[{"text":"axolotl"}]},
		"actions":{"stateDelta":{"k":"v"}},"other":"quokka"}`)
	f.create(key, `{}`, f.said("e1"), secret, f.said("e3"))
	f.create(session(zoe, "s2"), `{}`, f.said("e2"))
	f.ask(key, f.said("e4"))
	work := f.claimOne(key)
	f.finish(work, 2, sessionstore.Change{Seq: 1, Doc: []byte(`"first"`)},
		sessionstore.Change{Seq: 2, Doc: []byte(`"dugong"`)})
	work = f.claimOne(key)
	f.save(work, 4, `"pangolin"`)
	before := f.get(key).Events
	f.keeps("axolotl", "okapi", "quokka", "dugong", "pangolin")

	f.eraseEventsOf(key, 1, "e2", "none")
	f.keepsNone("axolotl", "okapi", "quokka", "dugong", "pangolin")
	after := f.get(key).Events
	f.equal("events", len(after), 4)
	for i := range after {
		if after[i].ID != "e2" {
			f.equal("another event", after[i], before[i])
			continue
		}
		f.equal("author", after[i].Author, "numbat")
		f.equal("time", after[i].Timestamp, before[i].Timestamp)
	}
	f.isA("Finish", f.Finish(f.t.Context(), work, 4, nil), memory.ErrAborted)
	f.append(key, secret) // sent once more
	f.equal("events", len(f.get(key).Events), 4)
	f.keepsNone("axolotl")
	f.clock.advance(leaseTTL)
	work = f.claimOne(key)
	f.equal("its plan", string(work.Plan), "")
	f.equal("events to work on", len(f.events(work, work.Done, 10)), 2)
	f.eraseEventsOf(key, 0, "e2")
	f.hasEvents("the other session", f.get(session(zoe, "s2")).Events, "e2")
}

// The events of a deleted session that waits for its memories are erased as well.
func eraseEventsOfWork(f *fixture) {
	key := session(zoe, "s1")
	f.ask(key, f.event(`{"id":"e1","content":{"parts":[{"text":"axolotl"}]}}`), f.said("stays"))
	f.delete(key)
	f.eraseEventsOf(key, 1, "e1")
	f.keepsNone("axolotl")
	f.equal("events", len(f.events(f.claimOne(key), 0, 10)), 2)
}

// All that there is of a user is gone, however much that is, and nothing of others. A
// platform that has to forget a person relies on it.
func eraseUser(f *fixture) {
	f.create(session(zed, "s1"), `{"user:a":"b","app:c":"d"}`, f.said("stays"))
	f.ask(session(zed, "s1"), f.said("stays too"))
	f.create(session(memory.Scope{App: "shop2", User: zoe.User}, "s1"), `{"user:a":1}`, f.said("of another app"))
	sessions, shared := f.export()
	var ops []string
	for i := range 120 {
		key := session(zoe, fmt.Sprintf("s%d-okapi", i))
		events := []sessionstore.Event{f.said("axolotl"), f.said(fmt.Sprintf("tapir%d", i))}
		switch i % 4 {
		case 0:
			f.create(key, `{"mood":"quokka","user:numbat":"dugong"}`, events...)
		case 1:
			ops = append(ops, f.ask(key, events...).ID)
		case 2:
			ops = append(ops, f.ask(key, events...).ID)
			f.delete(key)
		case 3:
			ops = append(ops, f.askOneShot(key, events...).ID)
		}
	}
	failing := f.claim("worker", 1)[0]
	f.fail(failing, "failed on pangolin", f.now())

	out := f.eraseAll(zoe)
	f.equal("sessions", out.Sessions, 60)
	f.equal("events", out.Events, 240)
	f.equal("lives", len(out.Lives), 120)
	f.equal("sessions of the user", len(f.list(zoe, 0)), 0)
	for _, id := range ops {
		f.noOperation(zoe, id)
	}
	f.keepsNone("axolotl", "tapir", "quokka", "numbat", "dugong", "pangolin", "okapi", ops[0])
	left, stillShared := f.export()
	f.equal("sessions of others", left, sessions)
	f.equal("shared state of others", stillShared, shared)
	f.claimOne(session(zed, "s1"))
	f.equal("again", f.eraseAll(zoe), sessionstore.Erased{})
}

// A worker that was at it when its session was erased can store nothing of it, and its
// lease on a user who was erased is over. Otherwise what it had read would come back.
func eraseClaimed(f *fixture) {
	for _, all := range []bool{false, true} {
		key := session(zoe, "s1")
		f.ask(key, f.said("axolotl"), f.said("tapir"))
		work := f.claimOne(key)
		var lives []string
		if all {
			lives = f.eraseAll(zoe).Lives
		} else {
			lives = f.eraseOf(key).Lives
		}
		f.equal("lives", lives, []string{work.Life()})
		f.gone(work)
		f.isA("Save", f.Save(f.t.Context(), work, 2, []byte(`"dugong"`)), memory.ErrAborted)
		f.isA("Finish", f.Finish(f.t.Context(), work, 2, []sessionstore.Change{{Seq: 1, Doc: []byte(`"dugong"`)}}),
			memory.ErrAborted)
		f.isA("Fail", f.Fail(f.t.Context(), work, "dugong", f.now()), memory.ErrAborted)
		f.isA("Renew", f.Renew(f.t.Context(), zoe, "worker", leaseTTL), memory.ErrAborted)
		f.keepsNone("axolotl", "tapir", "dugong")
		f.ask(key, f.said("new")) // which is work at once
		f.finish(f.claimOne(key), 1)
		f.hasEvents("the new session", f.get(key).Events, "new")
		f.delete(key)
	}
}

// Erasing what is not there is no error: a call whose answer was lost can be repeated.
func eraseNothing(f *fixture) {
	f.equal("session", f.eraseOf(session(zoe, "none")), sessionstore.Erased{})
	f.equal("user", f.eraseAll(zoe), sessionstore.Erased{})
	if err := f.EraseApp(f.t.Context(), "none"); err != nil {
		f.t.Error(err)
	}
	if err := f.EraseKeys(f.t.Context(), "none", "none"); err != nil {
		f.t.Error(err)
	}
}

// Users are erased while others talk, and these lose nothing.
func eraseBeside(f *fixture) {
	const users, each = 6, 15
	f.together(2*users, func(i int) error {
		scope := memory.Scope{App: "shop", User: fmt.Sprintf("u%d", i)}
		for n := range each {
			key := session(scope, fmt.Sprintf("s%d", n%3))
			if _, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said(fmt.Sprintf("e%d", n))},
				sessionstore.Append{Create: true}); err != nil {
				return err
			}
			if i%2 == 0 && n%5 == 4 {
				if _, err := f.EraseUser(f.t.Context(), scope, false); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for i := range 2 * users {
		scope := memory.Scope{App: "shop", User: fmt.Sprintf("u%d", i)}
		if i%2 == 0 {
			f.equal("sessions of the erased user", len(f.list(scope, 0)), 0)
			continue
		}
		for n := range 3 {
			f.equal("events of another", len(f.get(session(scope, fmt.Sprintf("s%d", n))).Events), each/3)
		}
	}
}

// An erased user may come back, and starts with nothing: no state, no operations.
func eraseAndBegin(f *fixture) {
	key := session(zoe, "s1")
	f.create(key, `{"user:a":1,"b":2}`, f.said("axolotl"))
	f.eraseAll(zoe)
	f.create(key, `{}`, f.said("new"))
	f.hasState("state", f.get(key).State, `{}`)
	f.hasEvents("events", f.get(key).Events, "new")
	op := f.ask(key, f.said("newer"))
	f.finish(f.claimOne(key), 2, change(2))
	f.hasChanges(op, change(2))
	ops, _, err := f.Operations(f.t.Context(), zoe, sessionstore.List{})
	if err != nil || len(ops) != 1 {
		f.t.Errorf("%d operations, %v", len(ops), err)
	}
}

// usersOf and apps read lists in pages of two.
func (f *fixture) usersOf(app string) (out []string) {
	f.t.Helper()
	return f.names(func(after string) ([]string, error) { return f.Users(f.t.Context(), app, after, 2) })
}

func (f *fixture) apps() []string {
	f.t.Helper()
	return f.names(func(after string) ([]string, error) { return f.Apps(f.t.Context(), after, 2) })
}

func (f *fixture) names(page func(after string) ([]string, error)) (out []string) {
	f.t.Helper()
	for after := ""; ; {
		some, err := page(after)
		if err != nil {
			f.t.Fatal(err)
		}
		if len(some) > 2 {
			f.t.Fatalf("a page of 2 has %q", some)
		}
		if len(some) == 0 {
			return out
		}
		out, after = append(out, some...), some[len(some)-1]
	}
}

// Users and apps are those that have anything, in the order of their ids, also where the
// session of a user was deleted and state is left. Who looks for a person finds them.
func eraseLists(f *fixture) {
	f.equal("apps at first", len(f.apps()), 0)
	for _, scope := range []memory.Scope{{App: "b", User: "z"}, {App: "b", User: "ä"}, {App: "b", User: "a b"},
		{App: "b", User: "m"}, {App: "a-", User: "x"}, {App: "c", User: "y"}, {App: "ab", User: "x"}} {
		f.create(session(scope, "s"), `{"user:k":1}`, f.said("e"))
	}
	f.delete(session(memory.Scope{App: "b", User: "m"}, "s"))
	f.equal("users", f.usersOf("b"), []string{"a b", "m", "z", "ä"})
	f.equal("apps", f.apps(), []string{"a-", "ab", "b", "c"})
	f.eraseAll(memory.Scope{App: "b", User: "m"})
	f.eraseAll(memory.Scope{App: "c", User: "y"})
	f.equal("users", f.usersOf("b"), []string{"a b", "z", "ä"})
	f.equal("users of none", len(f.usersOf("none")), 0)
	if err := f.EraseApp(f.t.Context(), "c"); err != nil {
		f.t.Fatal(err)
	}
	f.equal("apps", f.apps(), []string{"a-", "ab", "b"})
	f.reopen()
	f.equal("users after a restart", f.usersOf("b"), []string{"a b", "z", "ä"})
}

// Once its users are erased, the rest of an app goes.
func eraseApp(f *fixture) {
	f.create(session(zoe, "s"), `{"app:numbat":"quokka"}`)
	f.create(session(memory.Scope{App: "shop2", User: "u"}, "s"), `{"app:kept":1}`)
	if _, err := f.PutConfig(f.t.Context(), "shop", []byte(`{"k":"tamarin"}`), 0); err != nil {
		f.t.Fatal(err)
	}
	f.eraseAll(zoe)
	if err := f.EraseApp(f.t.Context(), "shop"); err != nil {
		f.t.Fatal(err)
	}
	if doc, revision, err := f.Config(f.t.Context(), "shop"); err != nil || revision != 0 {
		f.t.Errorf("its configuration: %s, revision %d, %v", doc, revision, err)
	}
	f.keepsNone("numbat", "quokka", "zoe", "tamarin")
	f.hasState("of the other app", f.get(session(memory.Scope{App: "shop2", User: "u"}, "s")).State, `{"app:kept":1}`)
	f.hasState("begun again", f.create(session(zoe, "s"), `{}`).State, `{}`)
}

// Changes that operations report, and stored plans, can be erased by what they have: the
// work of one session changes memories of others. The operations stay, the plan's work is
// done again, and its worker is refused. Other changes and other scopes stay as they are.
func eraseChanges(f *fixture) {
	key, waits, beside := session(zoe, "s1"), session(zoe, "s2"), session(zed, "s1")
	words := func(word string) sessionstore.Change {
		return sessionstore.Change{Seq: 1, Doc: json.RawMessage(fmt.Sprintf(`{"fact":%q}`, word))}
	}
	op := f.ask(key, f.said("e1"))
	var all []sessionstore.Change
	for n := range 1200 {
		all = append(all, words(fmt.Sprintf("okapi %d", n)))
		if n%3 == 0 {
			all[n] = words(fmt.Sprintf("marimba %d", n))
		}
	}
	f.finish(f.claimOne(key), 1, all...)
	other := f.ask(beside, f.said("e1"))
	f.finish(f.claimOne(beside), 1, words("marimba of another"))
	planned := f.ask(waits, f.said("e1"))
	work := f.claimOne(waits)
	f.save(work, 1, `"a marimba is planned"`)
	f.keeps("marimba 999", "planned")
	has := func(doc json.RawMessage) bool { return strings.Contains(string(doc), "marimba") }
	for want := range 2 {
		n, err := f.EraseChanges(f.t.Context(), zoe, has)
		if err != nil || n != (1-want)*401 {
			f.t.Fatalf("EraseChanges: %d, %v", n, err)
		}
	}
	f.keepsNone("marimba 0", "marimba 3", "marimba 999", "planned")
	f.hasChanges(op, slices.DeleteFunc(all, func(c sessionstore.Change) bool { return has(c.Doc) })...)
	f.hasChanges(other, words("marimba of another"))
	f.isA("Finish with the plan", f.Finish(f.t.Context(), work, 1, nil), memory.ErrAborted)
	f.clock.advance(time.Hour) // the lease ends
	again := f.claimOne(waits)
	f.equal("plan", string(again.Plan), "")
	f.finish(again, 1)
	f.equal("state", f.operation(zoe, planned.ID).State, sessionstore.Succeeded)
}
