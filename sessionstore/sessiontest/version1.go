package sessiontest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Version1Now is a time for the clock of a store that has the data of Version1.
var Version1Now = time.Date(2024, 5, 8, 15, 0, 0, 0, time.UTC)

// Version1 checks that a store reads data that memoryd stored before it kept
// requests. The id of an operation then said what was requested, and one-shot
// sessions had reserved names and were deleted at once. Each backend has such data
// in its testdata, and opens a copy of it for this check. In the app "shop" it has,
// by user:
//
//   - ann: a finished session with state of all owners, and a pending one;
//   - ben: a pending session with two requests, the older without consolidation;
//   - cat: a finished session, and a pending range of it without consolidation;
//   - dan: pending facts;
//   - eve: work that failed after its plan was saved, to be tried again;
//   - fay: a deleted session with pending work;
//   - gus: work that was given up;
//   - hal: a finished range and finished facts, and a pending range.
func Version1(t *testing.T, b Backend) {
	f := &fixture{Backend: b, t: t, clock: clock{time: Version1Now}}
	user := func(name string) memory.Scope { return memory.Scope{App: "shop", User: name} }
	key := func(user, id string) sessionstore.Key {
		return sessionstore.Key{Scope: memory.Scope{App: "shop", User: user}, ID: id}
	}

	f.hasEvents("events", f.get(key("ann", "done")).Events, "e1", "e2")
	f.hasState("state", f.get(key("ann", "done")).State, `{"app:shop":"open","user:name":"Ann","k":1}`)
	f.equal("sessions of hal", sessionIDs(f.list(user("hal"), 0)), []string{"chat"})
	f.equal("sessions of fay", len(f.list(user("fay"), 0)), 0)
	f.equal("sessions of dan", len(f.list(user("dan"), 0)), 0)

	for name, want := range version1Operations() {
		ops, _, err := b.Operations(f.t.Context(), user(name), sessionstore.List{})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]storedOperation, len(ops))
		for i, op := range ops {
			got[i] = storedOperation{shortID(op.Key.ID), op.DisableConsolidation, op.Facts, op.State, op.EventsDone,
				op.EventsTotal}
		}
		f.equal("operations of "+name, got, want)
	}
	all, next, err := b.AppOperations(f.t.Context(), "shop", sessionstore.OperationList{})
	if err != nil {
		t.Fatal(err)
	}
	f.equal("operations of the app", []any{len(all), next}, []any{13, ""})
	done, _, err := b.Operations(f.t.Context(), user("ann"), sessionstore.List{})
	if err != nil {
		t.Fatal(err)
	}
	f.equal("changes of a finished operation", len(f.changes(user("ann"), done[1].ID)), 2)

	if _, err := b.Retry(f.t.Context(), user("gus"), version1ID(f, "gus")); err != nil {
		t.Fatal(err)
	}
	f.equal("work", version1Claims(f), version1Work())
	f.idle("all work that is due is done")
	for _, name := range []string{"ann", "ben", "cat", "dan", "eve", "fay", "gus", "hal"} {
		ops, _, err := b.Operations(f.t.Context(), user(name), sessionstore.List{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			f.equal("state of an operation of "+name, op.State, sessionstore.Succeeded)
		}
	}
}

// storedOperation has the fields of an operation that Version1 checks.
type storedOperation struct {
	Session     string
	Plain       bool
	Facts       bool
	State       sessionstore.OperationState
	Done, Total int
}

// version1Operations is the operations of each user, newest first.
func version1Operations() map[string][]storedOperation {
	const (
		pending   = sessionstore.Pending
		running   = sessionstore.Running
		succeeded = sessionstore.Succeeded
		failed    = sessionstore.Failed
	)
	return map[string][]storedOperation{
		"ann": {{"chat", false, false, pending, 0, 1}, {"done", false, false, succeeded, 2, 2}},
		"ben": {{"chat", false, false, pending, 0, 2}, {"chat", true, false, pending, 0, 1}},
		"cat": {{"chat", true, false, pending, 0, 1}, {"chat", true, false, succeeded, 3, 3}},
		"dan": {{"facts-", false, true, pending, 0, 2}},
		"eve": {{"chat", false, false, running, 0, 2}},
		"fay": {{"gone", false, false, pending, 0, 1}},
		"gus": {{"chat", true, false, failed, 0, 1}},
		"hal": {{"chat", false, false, pending, 0, 1}, {"facts-", true, true, succeeded, 1, 1}, {"chat", false, false,
			succeeded, 1, 1}},
	}
}

// storedWork has the fields of work that Version1 checks.
type storedWork struct {
	User, Session string
	Plain, Facts  bool
	Plan          bool
	Events        string
}

// version1Work is all work, by user.
func version1Work() []storedWork {
	return []storedWork{
		{User: "ann", Session: "chat", Events: "e1"},
		{User: "ben", Session: "chat", Plain: true, Events: "e1 e2"},
		{User: "cat", Session: "chat", Plain: true, Events: "e2"},
		{User: "dan", Session: "facts-", Facts: true, Events: "fact-1 fact-2"},
		{User: "eve", Session: "chat", Plan: true, Events: "e1 e2"},
		{User: "fay", Session: "gone", Events: "e1"},
		{User: "gus", Session: "chat", Plain: true, Events: "e1"},
		{User: "hal", Session: "chat", Events: "e1"},
	}
}

// version1Claims claims all work and finishes it.
func version1Claims(f *fixture) (out []storedWork) {
	f.t.Helper()
	for _, w := range f.claim("worker", 20) {
		var ids []string
		for _, e := range f.events(w, w.Done, 10) {
			ids = append(ids, e.ID)
		}
		out = append(out, storedWork{w.Key.User, shortID(w.Key.ID), w.Request.DisableConsolidation, w.Request.Facts,
			w.Plan != nil, strings.Join(ids, " ")})
		f.finish(w, w.Requested)
	}
	slices.SortFunc(out, func(a, b storedWork) int { return strings.Compare(a.User, b.User) })
	return out
}

// version1ID is the id of a user's only operation.
func version1ID(f *fixture, user string) string {
	f.t.Helper()
	ops, _, err := f.Operations(f.t.Context(), memory.Scope{App: "shop", User: user}, sessionstore.List{})
	if diff := cmp.Diff(1, len(ops)); err != nil || diff != "" {
		f.t.Fatalf("operations of %s: %v %s", user, err, diff)
	}
	return ops[0].ID
}

// shortID leaves the UUID out of the id of a session that memoryd has named.
func shortID(id string) string {
	const uuid = len("00000000-0000-0000-0000-000000000000")
	if strings.HasPrefix(id, "facts-") && len(id) > uuid {
		return id[:len(id)-uuid]
	}
	return id
}
